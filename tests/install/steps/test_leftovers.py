"""What a removal left of the user's does not stand in the way of the next install, and is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.texts.localized import Texts

from ..files.test_foreign_files import added_to, last, remains, shown, step_text
from ..jobs.test_uninstall import uninstall
from ..sandbox import Sandbox, end


def backup_path(sandbox: Sandbox, number: str = "") -> Path:
    return sandbox.environment.with_name(f"env-kept{number}")


def left(sandbox: Sandbox) -> None:
    """An environment was here, and a file of the user's in it still is."""
    sandbox.install()
    added_to(sandbox.environment / "thesis.txt")
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["thesis.txt"]


def test_leftovers_move_aside_and_return_on_uninstall(sandbox: Sandbox) -> None:
    left(sandbox)
    events = sandbox.install()
    space: Any = last(events, "space")
    assert (end(events).state, space.code, space.data["to"]) == (
        "done",
        "progress.moved-aside",
        str(backup_path(sandbox)),
    )
    for language in ("en", "zh_CN"):
        assert str(backup_path(sandbox)) in str(Texts(language).localize_event(space).message)  # type: ignore[union-attr]
    assert remains(backup_path(sandbox)) == ["thesis.txt"]
    assert not (sandbox.environment / "thesis.txt").exists()
    assert [each.code for each in shown(sandbox)] == ["remove-environment", "move-back", "leave-filled"]
    for language in ("en", "zh_CN"):
        assert str(backup_path(sandbox)) in step_text(Texts(language), shown(sandbox)[1])
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["thesis.txt"]
    assert not backup_path(sandbox).exists()


def test_leftovers_stay_aside_if_place_is_taken(sandbox: Sandbox) -> None:
    left(sandbox)
    sandbox.install()
    added_to(sandbox.environment / "second.txt")
    assert [each.code for each in shown(sandbox)] == ["remove-environment-files", "leave-taken", "leave-filled"]
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["second.txt"]
    assert remains(backup_path(sandbox)) == ["thesis.txt"]
    sandbox.install()
    assert remains(backup_path(sandbox, "-2")) == ["second.txt"]


def test_kill_after_move_is_recovered(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    left(sandbox)
    rename = Path.rename

    def cut(self: Path, target: Path) -> Path:
        rename(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", cut)
        patched.setattr(Journal, "end_run", lambda *_given: None)
        with pytest.raises(KeyboardInterrupt):
            sandbox.install()
    assert end(sandbox.install()).state == "done"
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["thesis.txt"]


def test_foreign_folder_is_never_moved(sandbox: Sandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    added_to(sandbox.environment / "thesis.txt")
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "environment-occupied"
    assert not backup_path(sandbox).exists()
