"""The unprivileged side: when a cancel is heard, and when what has begun comes to its end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.install.elevation.client import ElevationClient
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
