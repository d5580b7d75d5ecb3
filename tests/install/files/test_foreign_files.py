"""What a user did inside of what we made: told before a removal, told after it in the same words, and never lost."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, Step, StepEvent
from gpu_assistant.install.files import inventory, staging
from gpu_assistant.install.files.staging import trash_path
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..jobs.test_uninstall import uninstall
from ..step_kinds import SmallWorld, step
from ..world import World


def site(world: World) -> Path:
    (result,) = [*world.environment.glob("Lib/site-packages"), *world.environment.glob("lib/python3*/site-packages")]
    return result


def put(world: World, wheel: tiny_wheels.Wheel) -> None:
    """As pip does: unpacked, with its record."""
    with zipfile.ZipFile(io.BytesIO(wheel.data)) as packed:
        packed.extractall(site(world))


def upgraded(world: World) -> None:
    shutil.rmtree(site(world) / "numpy")
    shutil.rmtree(site(world) / "numpy-1.0.dist-info")
    put(world, tiny_wheels.wheel("numpy", "2.0"))


def added_to(path: Path, text: str = "# mine\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def shown(world: World, environment: Path | None = None) -> tuple[Step, ...]:
    return UninstallJob(environment or world.environment, world.data, world.system).steps()


def last(events: list[Event], name: str) -> StepEvent:
    return [event for event in events if isinstance(event, StepEvent) and event.id == name][-1]


def told(texts: Texts, each: Step) -> str:
    return (
        texts.translate(f"step.{each.code}.title", each.data)
        + " "
        + texts.translate(f"step.{each.code}.what", each.data)
    )


def remains(folder: Path) -> list[str]:
    """But for Python's own copies of sources."""
    return sorted(name for name in inventory.walk(folder) if not inventory.is_bytecode(name))


def test_user_packages_are_removed_and_named(world: World) -> None:
    world.install()
    put(world, tiny_wheels.wheel("tinyhat", "3.0"))
    upgraded(world)
    first = shown(world)[0]
    assert (first.code, first.data["packages"], first.data["count"]) == (
        "remove-environment-packages",
        "numpy 2.0, tinyhat 3.0",
        2,
    )
    for language in ("en", "zh_CN"):
        assert "tinyhat 3.0" in told(Texts(language), first)
    end = last(uninstall(world), "environment")
    assert (end.state, end.code, end.data["packages"]) == ("done", "progress.gone-packages", "numpy 2.0, tinyhat 3.0")
    assert not world.environment.exists()


def test_user_files_are_kept_and_named(world: World) -> None:
    world.install()
    scripts = world.system.environment_program(world.environment, "pip").parent
    added_to(scripts / "activate")
    added_to(site(world) / "torch" / "__init__.py")
    added_to(world.environment / "thesis.txt")
    (world.environment / "mydata" / "empty").mkdir(parents=True)
    (site(world) / "own").mkdir()
    added_to(site(world) / "own" / "a.py")
    added_to(site(world) / "own" / "b.py")
    first = shown(world)[0]
    assert first.code == "remove-environment-files"
    activate, own = (path.relative_to(world.environment).as_posix() for path in (scripts / "activate", site(world)))
    named = {activate, "thesis.txt", "mydata/", f"{own}/own/", f"{own}/torch/__init__.py"}
    assert set(str(first.data["files"]).split(", ")) == named
    assert first.data["kept"] == 5
    end = last(uninstall(world), "environment")
    assert (end.code, end.data["files"]) == ("progress.left-files", first.data["files"])
    for language in ("en", "zh_CN"):
        assert str(world.environment) in str(Texts(language).localize_event(end).message)  # type: ignore[union-attr]
    assert remains(world.environment) == sorted(
        [activate, "thesis.txt", "mydata/empty/", f"{own}/own/a.py", f"{own}/own/b.py", f"{own}/torch/__init__.py"]
    )


def test_changed_file_of_user_package_is_kept(world: World) -> None:
    world.install()
    put(world, tiny_wheels.wheel("tinyhat", "3.0"))
    record = site(world) / "tinyhat-3.0.dist-info" / "RECORD"
    os.utime(record, ns=(record.stat().st_mtime_ns, record.stat().st_mtime_ns - 10**9))
    added_to(site(world) / "tinyhat" / "__init__.py")
    assert shown(world)[0].code == "remove-environment-packages-files"
    assert last(uninstall(world), "environment").code == "progress.left-files-packages"
    assert [name.rpartition("/")[2] for name in remains(world.environment)] == ["__init__.py"]


def test_touched_but_unchanged_file_is_removed(world: World) -> None:
    world.install()
    (site(world) / "torch" / "__init__.py").touch()
    assert shown(world)[0].code == "remove-environment"
    uninstall(world)
    assert not world.environment.exists()


def test_unmodified_environment_reports_nothing_foreign(world: World) -> None:
    world.install()
    assert [each.code for each in shown(world)] == ["remove-environment", "remove-empty"]
    uninstall(world)
    assert not world.environment.parent.exists()


@pytest.mark.parametrize("moved", [False, True])
def test_killed_removal_resumes_with_same_result(world: World, moved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    world.install()
    put(world, tiny_wheels.wheel("tinyhat", "3.0"))
    added_to(world.environment / "pyvenv.cfg")

    def cut(folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(staging, "remove_listed_files" if moved else "trash_path", cut)
        with pytest.raises(KeyboardInterrupt):
            UninstallJob(world.environment, world.data, world.system).run(JobContext())
    assert trash_path(world.environment).exists() == moved
    uninstall(world)
    assert remains(world.environment) == ["pyvenv.cfg"]


def test_folder_with_user_files_names_them(world: World) -> None:
    world.install()
    added_to(world.environment.parent / "neighbour.txt")
    folder = shown(world)[1]
    assert (folder.code, folder.data["files"]) == ("leave-filled", "neighbour.txt")
    end = last(uninstall(world), folder.id)
    assert (end.state, end.code, end.data["files"]) == ("skipped", "progress.left-filled", "neighbour.txt")
    assert "need" not in Texts("en").translate(end.code or "", end.data)


def test_folder_with_another_environment_names_it(world: World) -> None:
    world.install()
    other = world.environment.with_name("other")
    world.asks()
    world.install(world.plan(environment=other))
    folder = shown(world)[1]
    assert (folder.code, folder.data["by"]) == ("leave-needed", str(other))
    end = last(uninstall(world), folder.id)
    assert (end.code, end.data["by"]) == ("progress.left-needed", str(other))
    assert [each.code for each in shown(world, other)] == ["remove-environment", "remove-empty"]


def compared(small: SmallWorld) -> dict[str, str | None]:
    """What is said after, by what was said before; both say what it is about."""
    before = UninstallJob(small.environment, small.data, small.system).steps()
    after = {event.id: event for event in small.uninstall() if isinstance(event, StepEvent)}
    assert list(after) == [each.id for each in before]
    for each in before:
        event = after[each.id]
        assert event.code is None or str(each.data["thing"]) in Texts("en").translate(event.code, event.data)
        assert (event.state == "skipped") == (each.code in ("leave-needed", "leave-filled"))
    return {each.code: after[each.id].code for each in before}


def test_changed_effects_are_previewed_as_reported(tmp_path: Path) -> None:
    small = SmallWorld(tmp_path)
    small.install()
    added_to(small.outside / "note.txt")
    small.variables.set("CUDA_PATH", "/my/own")
    items = compared(small)
    assert items["leave-changed"] == "progress.left-changed"
    assert {code for before, code in items.items() if before != "leave-changed"} == {None}


def test_shared_effects_are_previewed_once(tmp_path: Path) -> None:
    small = SmallWorld(tmp_path)
    other = small.outside / "other"
    small.install()
    small.install(small.plan(step("more", "test-file", path=str(small.outside / "b.txt"), text="b"), environment=other))
    assert compared(small) == {"leave-needed": "progress.left-needed"}
    left = UninstallJob(other, small.data, small.system).steps()
    assert left
    assert not any(each.code.startswith("leave-") for each in left)


def test_file_manifest_keeps_undecodable_names(tmp_path: Path) -> None:
    names = ["a\tb", "c\t1\t2", "plain", "e/f g"] if os.name == "posix" else ["plain", "e/f g"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    inventory.write_file_manifest(tmp_path)
    result = inventory.read_file_manifest(tmp_path)
    assert set(result) == {*names, "empty/"}
    assert all(inventory.is_unchanged(str(tmp_path), name, result[name]) for name in names)
    added_to(tmp_path / "plain")
    assert not inventory.is_unchanged(str(tmp_path), "plain", result["plain"])
