"""The unprivileged side: when a cancel is heard, and when what has begun comes to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import Cancelled, ElevationDenied
from gpu_assistant.install.elevation.client import LATE_AFTER_S, ConfirmReason, ElevationClient
from gpu_assistant.install.elevation.protocol import ANSWER_FILE, HelperAnswer
from tests.fakes.system import FakeSystem
from tests.install.elevation.in_process import InsideRights


class Asked:
    """The system's question, at whose place the test cancels, before or after the helper has begun."""

    def __init__(self, base: Path, *, has_begun: bool) -> None:
        self.cancel, self.rights, self.has_begun = threading.Event(), InsideRights(base), has_begun
        self.kept_running = 0

    def run_as_admin(self, command: Sequence[str], *, cancel: threading.Event, **_: Any) -> int:
        request = Path(command[-2])
        folder = self.rights.private_folder_path(request.stem)
        if self.has_begun:
            folder.mkdir(parents=True)
        self.cancel.set()
        if cancel.is_set():
            raise Cancelled
        json.write_file(folder / ANSWER_FILE, json.encode(HelperAnswer(exit_code=1)))
        while request.exists():  # until the client has read the answer
            assert not cancel.is_set()
        return 0

    def keep_running(self) -> None:
        self.kept_running += 1

    def client(self, folder: Path) -> ElevationClient:
        return ElevationClient(
            folder,
            FakeSystem(),
            rights=self.rights,
            run_as_admin=self.run_as_admin,
            command=("helper",),
            cancel=self.cancel,
            on_kept_running=self.keep_running,
        )


def test_cancel_ends_the_question(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "base", has_begun=False)
    with pytest.raises(Cancelled):
        asked.client(tmp_path / "own").enable_wsl_platform()
    assert asked.kept_running == 0
    assert not list((tmp_path / "own").iterdir())


def test_cancel_after_the_start_is_said_and_waits_for_the_end(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "base", has_begun=True)
    assert asked.client(tmp_path / "own").enable_wsl_platform().exit_code == 1
    assert asked.kept_running == 1
    assert not list((tmp_path / "own").iterdir())


class Prompt:
    """A window whose user gives these answers, one after the other."""

    window = 4711

    def __init__(self, *answers: bool, clicked_ago_s: float = 0.0) -> None:
        self.answers, self._clicked_ago_s = list(answers), clicked_ago_s
        self.reasons: list[ConfirmReason] = []

    @property
    def clicked_at(self) -> float:
        """Counted from now, not from the collection of the tests."""
        return time.monotonic() - self._clicked_ago_s

    def confirm(self, reason: ConfirmReason, cancel: threading.Event) -> bool:
        assert not cancel.is_set()
        self.reasons.append(reason)
        return self.answers.pop(0)


class Windows:
    """Windows' question: how it ends each time, None for a yes."""

    def __init__(self, base: Path, *ends: str | None) -> None:
        self.rights, self.ends = InsideRights(base), list(ends)
        self.windows: list[int | None] = []

    def run_as_admin(self, command: Sequence[str], *, window: int | None = None, **_: Any) -> int:
        self.windows.append(window)
        end = self.ends.pop(0)
        if end is not None:
            raise ElevationDenied(end)
        request = Path(command[-2])
        json.write_file(
            self.rights.private_folder_path(request.stem) / ANSWER_FILE, json.encode(HelperAnswer(exit_code=7))
        )
        return 0

    def client(self, folder: Path, prompt: Prompt) -> ElevationClient:
        return ElevationClient(
            folder,
            FakeSystem(),
            rights=self.rights,
            run_as_admin=self.run_as_admin,
            command=("helper",),
            prompt=prompt,
        )


@pytest.mark.parametrize(
    ("ends", "prompt", "reasons"),
    [
        ((None,), Prompt(), []),
        ((None,), Prompt(True, clicked_ago_s=LATE_AFTER_S + 1), ["late"]),
        (("rights-unanswered", None), Prompt(True), ["unanswered"]),
        (("rights-unanswered", "rights-unanswered", None), Prompt(True, True), ["unanswered", "unanswered"]),
    ],
)
def test_question_belongs_to_the_window_and_is_asked_again(
    tmp_path: Path, ends: tuple[str | None, ...], prompt: Prompt, reasons: list[str]
) -> None:
    windows = Windows(tmp_path / "base", *ends)
    assert windows.client(tmp_path / "own", prompt).enable_wsl_platform().exit_code == 7
    assert prompt.reasons == reasons
    assert windows.windows == [4711] * len(ends)


@pytest.mark.parametrize(
    ("ends", "prompt", "asked"),
    [
        (("rights-refused",), Prompt(), 1),  # a no is a no
        (("rights-unanswered",), Prompt(False), 1),
        ((), Prompt(False, clicked_ago_s=LATE_AFTER_S + 1), 0),
    ],
)
def test_no_is_not_asked_again(tmp_path: Path, ends: tuple[str, ...], prompt: Prompt, asked: int) -> None:
    windows = Windows(tmp_path / "base", *ends)
    with pytest.raises(ElevationDenied) as caught:
        windows.client(tmp_path / "own", prompt).enable_wsl_platform()
    assert caught.value.code == "rights-refused"
    assert len(windows.windows) == asked
