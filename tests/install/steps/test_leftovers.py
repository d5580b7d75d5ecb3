"""What a removal left of the user's does not stand in the way of the next install, and is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.texts.localized import Texts

from ..files.test_foreign_files import added_to, last, remains, shown, told
from ..jobs.test_uninstall import uninstall
from ..world import World, end


def kept(world: World, number: str = "") -> Path:
    return world.environment.with_name(f"env-kept{number}")


def left(world: World) -> None:
    """An environment was here, and a file of the user's in it still is."""
    world.install()
    added_to(world.environment / "thesis.txt")
    uninstall(world)
    assert remains(world.environment) == ["thesis.txt"]


def test_leftovers_move_aside_and_return_on_uninstall(world: World) -> None:
    left(world)
    events = world.install()
    space: Any = last(events, "space")
    assert (end(events).state, space.code, space.data["to"]) == ("done", "progress.moved-aside", str(kept(world)))
    for language in ("en", "zh_CN"):
        assert str(kept(world)) in str(Texts(language).localize_event(space).message)  # type: ignore[union-attr]
    assert remains(kept(world)) == ["thesis.txt"]
    assert not (world.environment / "thesis.txt").exists()
    assert [each.code for each in shown(world)] == ["remove-environment", "move-back", "leave-filled"]
    for language in ("en", "zh_CN"):
        assert str(kept(world)) in told(Texts(language), shown(world)[1])
    uninstall(world)
    assert remains(world.environment) == ["thesis.txt"]
    assert not kept(world).exists()


def test_leftovers_stay_aside_if_place_is_taken(world: World) -> None:
    left(world)
    world.install()
    added_to(world.environment / "second.txt")
    assert [each.code for each in shown(world)] == ["remove-environment-files", "leave-taken", "leave-filled"]
    uninstall(world)
    assert remains(world.environment) == ["second.txt"]
    assert remains(kept(world)) == ["thesis.txt"]
    world.install()
    assert remains(kept(world, "-2")) == ["second.txt"]


def test_kill_after_move_is_recovered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    left(world)
    rename = Path.rename

    def cut(self: Path, target: Path) -> Path:
        rename(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", cut)
        patched.setattr(Journal, "end_run", lambda *_given: None)
        with pytest.raises(KeyboardInterrupt):
            world.install()
    assert end(world.install()).state == "done"
    uninstall(world)
    assert remains(world.environment) == ["thesis.txt"]


def test_foreign_folder_is_never_moved(world: World) -> None:
    world.environment.mkdir(parents=True)
    added_to(world.environment / "thesis.txt")
    with pytest.raises(AppError) as caught:
        world.install()
    assert caught.value.code == "environment-occupied"
    assert not kept(world).exists()
