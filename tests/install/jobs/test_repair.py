"""A finished environment that was damaged since: the same install makes it anew, and loses nothing of the user's."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import Event
from gpu_assistant.install.files.staging import old_path
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.plan.planner import preview
from gpu_assistant.install.steps import verify as proof
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..files.test_foreign_files import added_to, last, put, remains, shown, site, upgraded
from ..world import World, end, states
from .test_uninstall import uninstall

BALLAST = bytes(range(256)) * 2000


def damage(world: World) -> None:
    """One file gone, one cut short in its place, which is the same file as the one that uv keeps unpacked."""
    (site(world) / "tinydep" / "__init__.py").unlink()
    with (site(world) / "torch" / "ballast.bin").open("r+b") as file:
        file.truncate(10)


def furnish(world: World) -> None:
    """What a user puts into an environment."""
    put(world, tiny_wheels.wheel("tinyhat", "3.0"))
    added_to(world.environment / "thesis.txt")
    (world.environment / "mydata" / "empty").mkdir(parents=True, exist_ok=True)


def is_sound(world: World) -> None:
    assert (site(world) / "tinydep" / "__init__.py").is_file()
    assert (site(world) / "torch" / "ballast.bin").read_bytes() == BALLAST
    assert (site(world) / "tinyhat" / "__init__.py").is_file()
    assert (site(world) / "tinyhat-3.0.dist-info" / "RECORD").is_file()
    assert (world.environment / "thesis.txt").is_file()
    assert (world.environment / "mydata" / "empty").is_dir()


def beside(world: World) -> set[str]:
    return {path.name for path in world.environment.parent.iterdir()}


def repaired(world: World) -> Event:
    events = world.install()
    assert (end(events).state, states(events)["pytorch"]) == ("done", "done")
    return last(events, "verify")


def test_damaged_environment_is_rebuilt_with_user_files(world: World) -> None:
    world.install()
    furnish(world)
    damage(world)
    text: Any = repaired(world)
    is_sound(world)
    assert text.code == "progress.repaired-kept"
    assert {Path(name).name for name in text.data["files"].split(", ")} == {"__init__.py", "ballast.bin"}
    remaining = world.environment.with_name("env-kept")
    assert text.data["path"] == str(remaining)
    assert [Path(name).name for name in remains(remaining)] == ["ballast.bin"]
    assert beside(world) == {"env", "env-kept"}
    for language in ("en", "zh_CN"):
        assert str(remaining) in str(Texts(language).localize_event(text).message)  # type: ignore[union-attr]
    # It is as good as new: the next one finds nothing to do, and a removal takes all of it.
    assert states(world.install())["pytorch"] == "skipped"
    assert shown(world)[0].data["packages"] == "tinyhat 3.0"
    uninstall(world)
    assert remains(world.environment) == ["mydata/empty/", "thesis.txt"]


def test_repair_of_missing_files_leaves_nothing_aside(world: World) -> None:
    world.install()
    (site(world) / "tinydep" / "__init__.py").unlink()
    text: Any = repaired(world)
    assert text.code == "progress.repaired"
    assert beside(world) == {"env"}
    uninstall(world)
    assert not world.environment.parent.exists()


def test_missing_package_is_reinstalled(world: World) -> None:
    world.install()
    for name in ("numpy", "numpy-1.0.dist-info"):
        shutil.rmtree(site(world) / name)
    text: Any = repaired(world)
    assert text.data["files"] == "numpy"
    assert (site(world) / "numpy" / "__init__.py").is_file()


def test_user_changes_are_not_damage(world: World) -> None:
    world.install()
    upgraded(world)
    furnish(world)
    scripts = world.system.environment_program(world.environment, "pip").parent
    added_to(scripts / "activate")
    (site(world) / "torch" / "__init__.py").touch()
    assert states(world.install())["pytorch"] == "skipped"
    assert (site(world) / "numpy-2.0.dist-info").is_dir()


def test_damaged_environment_stays_if_new_one_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.install()
    furnish(world)
    damage(world)
    before = remains(world.environment)

    def refuse(*_given: object) -> None:
        raise AppError("environment-broken", path=str(world.environment), detail="pip")

    with monkeypatch.context() as patched:
        patched.setattr(proof, "check_environment_starts", refuse)
        with pytest.raises(AppError):
            world.install()
    assert remains(world.environment) == before
    assert not old_path(world.environment).exists()
    repaired(world)
    is_sound(world)


def test_kill_at_each_rename_loses_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename
    world.install()
    for stop in count(1):
        furnish(world)
        damage(world)
        moves = count(1)

        def cut(self: Path, target: Path, moves: count[int] = moves, stop: int = stop) -> Path:
            if any(part.startswith(".env.") for part in (*self.parts, *Path(target).parts)) and next(moves) == stop:
                raise KeyboardInterrupt
            return rename(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", cut)
            patched.setattr(Journal, "end_run", lambda *_given: None)
            try:
                world.install()
            except KeyboardInterrupt:
                pass
            else:
                break
        world.install()
        is_sound(world)
        assert not [name for name in beside(world) if name.startswith(".")]
        for path in world.environment.parent.glob("env-kept*"):
            assert [Path(name).name for name in remains(path)] == ["ballast.bin"]
    assert stop > 5


def test_truncated_cache_is_rebuilt(world: World) -> None:
    """Another environment's damage must not come into a new one by way of what uv keeps unpacked."""
    world.install()
    with (site(world) / "torch" / "ballast.bin").open("r+b") as file:
        file.truncate(10)
    uninstall(world)
    other = world.environment.with_name("other")
    world.install(world.plan(environment=other))
    (ballast,) = other.rglob("torch/ballast.bin")
    assert ballast.read_bytes() == BALLAST


@pytest.mark.parametrize(
    ("note", "text"), [("gpu-assistant.json", "{"), ("gpu-assistant.json", None), ("pylock.toml", None)]
)
def test_environment_with_damaged_metadata_is_rebuilt(world: World, note: str, text: str | None) -> None:
    world.install()
    furnish(world)
    (world.environment / note).unlink()
    if text is not None:
        (world.environment / note).write_text(text, encoding="utf-8")
    plan = preview(world.plan(), PreviewContext(world.system, world.data, world.catalog))
    now = {step.id: step.now for step in plan.steps}["pytorch"]
    assert now is not None
    assert (now.code, now.data["files"]) == ("now.damaged", note)
    label: Any = repaired(world)
    assert (label.code, label.data["files"]) == ("progress.repaired", note)
    assert beside(world) == {"env"}
    is_sound(world)
    assert states(world.install())["pytorch"] == "skipped"


def test_damaged_metadata_is_not_replaced_by_other_versions(world: World) -> None:
    world.install()
    (world.environment / "gpu-assistant.json").write_text("{", encoding="utf-8")
    tiny_wheels.index(world.server, "torch", [world.torch, tiny_wheels.torch("9.0.0+cpu")])
    with pytest.raises(AppError) as caught:
        world.install(world.plan(version="9.0.0"))
    assert caught.value.code == "environment-differs"
    uninstall(world)
    assert not world.environment.exists()


def test_environment_without_file_manifest_is_refused(world: World) -> None:
    world.install()
    for note in ("gpu-assistant.json", "gpu-assistant-files.txt"):
        (world.environment / note).unlink()
    before = remains(world.environment)
    for act in (world.install, lambda: uninstall(world), lambda: shown(world)):
        with pytest.raises(AppError) as caught:
            act()
        assert caught.value.code == "environment-without-notes"
    assert remains(world.environment) == before
    shutil.rmtree(world.environment)
    assert states(world.install())["pytorch"] == "done"
