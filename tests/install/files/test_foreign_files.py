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
from ..sandbox import Sandbox
from ..step_kinds import SmallSandbox, step


def site(sandbox: Sandbox) -> Path:
    (result,) = [
        *sandbox.environment.glob("Lib/site-packages"),
        *sandbox.environment.glob("lib/python3*/site-packages"),
    ]
    return result


def put(sandbox: Sandbox, wheel: tiny_wheels.Wheel) -> None:
    """As pip does: unpacked, with its record."""
    with zipfile.ZipFile(io.BytesIO(wheel.data)) as packed:
        packed.extractall(site(sandbox))


def upgraded(sandbox: Sandbox) -> None:
    shutil.rmtree(site(sandbox) / "numpy")
    shutil.rmtree(site(sandbox) / "numpy-1.0.dist-info")
    put(sandbox, tiny_wheels.wheel("numpy", "2.0"))


def added_to(path: Path, text: str = "# mine\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def shown(sandbox: Sandbox, environment: Path | None = None) -> tuple[Step, ...]:
    return UninstallJob(environment or sandbox.environment, sandbox.data, sandbox.system).steps()


def last(events: list[Event], name: str) -> StepEvent:
    return [event for event in events if isinstance(event, StepEvent) and event.id == name][-1]


def step_text(texts: Texts, each: Step) -> str:
    return (
        texts.translate(f"step.{each.code}.title", each.data)
        + " "
        + texts.translate(f"step.{each.code}.what", each.data)
    )


def remains(folder: Path) -> list[str]:
    """But for Python's own copies of sources."""
    return sorted(name for name in inventory.walk(folder) if not inventory.is_bytecode(name))


def test_user_packages_are_removed_and_named(sandbox: Sandbox) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    upgraded(sandbox)
    first = shown(sandbox)[0]
    assert (first.code, first.data["packages"], first.data["count"]) == (
        "remove-environment-packages",
        "numpy 2.0, tinyhat 3.0",
        2,
    )
    for language in ("en", "zh_CN"):
        assert "tinyhat 3.0" in step_text(Texts(language), first)
    end = last(uninstall(sandbox), "environment")
    assert (end.state, end.code, end.data["packages"]) == ("done", "progress.gone-packages", "numpy 2.0, tinyhat 3.0")
    assert not sandbox.environment.exists()


def test_user_files_are_kept_and_named(sandbox: Sandbox) -> None:
    sandbox.install()
    scripts = sandbox.system.environment_program(sandbox.environment, "pip").parent
    added_to(scripts / "activate")
    added_to(site(sandbox) / "torch" / "__init__.py")
    added_to(sandbox.environment / "thesis.txt")
    (sandbox.environment / "mydata" / "empty").mkdir(parents=True)
    (site(sandbox) / "own").mkdir()
    added_to(site(sandbox) / "own" / "a.py")
    added_to(site(sandbox) / "own" / "b.py")
    first = shown(sandbox)[0]
    assert first.code == "remove-environment-files"
    activate, own = (path.relative_to(sandbox.environment).as_posix() for path in (scripts / "activate", site(sandbox)))
    named = {activate, "thesis.txt", "mydata/", f"{own}/own/", f"{own}/torch/__init__.py"}
    assert set(str(first.data["files"]).split(", ")) == named
    assert first.data["kept"] == 5
    end = last(uninstall(sandbox), "environment")
    assert (end.code, end.data["files"]) == ("progress.left-files", first.data["files"])
    for language in ("en", "zh_CN"):
        assert str(sandbox.environment) in str(Texts(language).localize_event(end).message)  # type: ignore[union-attr]
    assert remains(sandbox.environment) == sorted(
        [activate, "thesis.txt", "mydata/empty/", f"{own}/own/a.py", f"{own}/own/b.py", f"{own}/torch/__init__.py"]
    )


def test_changed_file_of_user_package_is_kept(sandbox: Sandbox) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    record = site(sandbox) / "tinyhat-3.0.dist-info" / "RECORD"
    os.utime(record, ns=(record.stat().st_mtime_ns, record.stat().st_mtime_ns - 10**9))
    added_to(site(sandbox) / "tinyhat" / "__init__.py")
    assert shown(sandbox)[0].code == "remove-environment-packages-files"
    assert last(uninstall(sandbox), "environment").code == "progress.left-files-packages"
    assert [name.rpartition("/")[2] for name in remains(sandbox.environment)] == ["__init__.py"]


def test_touched_but_unchanged_file_is_removed(sandbox: Sandbox) -> None:
    sandbox.install()
    (site(sandbox) / "torch" / "__init__.py").touch()
    assert shown(sandbox)[0].code == "remove-environment"
    uninstall(sandbox)
    assert not sandbox.environment.exists()


def test_unmodified_environment_reports_nothing_foreign(sandbox: Sandbox) -> None:
    sandbox.install()
    assert [each.code for each in shown(sandbox)] == ["remove-environment", "remove-empty"]
    uninstall(sandbox)
    assert not sandbox.environment.parent.exists()


@pytest.mark.parametrize("moved", [False, True])
def test_killed_removal_resumes_with_same_result(
    sandbox: Sandbox, moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    added_to(sandbox.environment / "pyvenv.cfg")

    def cut(folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(staging, "remove_listed_files" if moved else "trash_path", cut)
        with pytest.raises(KeyboardInterrupt):
            UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
    assert trash_path(sandbox.environment).exists() == moved
    uninstall(sandbox)
    assert remains(sandbox.environment) == ["pyvenv.cfg"]


def test_folder_with_user_files_names_them(sandbox: Sandbox) -> None:
    sandbox.install()
    added_to(sandbox.environment.parent / "neighbour.txt")
    folder = shown(sandbox)[1]
    assert (folder.code, folder.data["files"]) == ("leave-filled", "neighbour.txt")
    end = last(uninstall(sandbox), folder.id)
    assert (end.state, end.code, end.data["files"]) == ("skipped", "progress.left-filled", "neighbour.txt")
    assert "need" not in Texts("en").translate(end.code or "", end.data)


def test_folder_with_another_environment_names_it(sandbox: Sandbox) -> None:
    sandbox.install()
    other = sandbox.environment.with_name("other")
    sandbox.asks()
    sandbox.install(sandbox.plan(environment=other))
    folder = shown(sandbox)[1]
    assert (folder.code, folder.data["by"]) == ("leave-needed", str(other))
    end = last(uninstall(sandbox), folder.id)
    assert (end.code, end.data["by"]) == ("progress.left-needed", str(other))
    assert [each.code for each in shown(sandbox, other)] == ["remove-environment", "remove-empty"]


def compared(small: SmallSandbox) -> dict[str, str | None]:
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
    small = SmallSandbox(tmp_path)
    small.install()
    added_to(small.outside / "note.txt")
    small.variables.set("CUDA_PATH", "/my/own")
    items = compared(small)
    assert items["leave-changed"] == "progress.left-changed"
    assert {code for before, code in items.items() if before != "leave-changed"} == {None}


def test_shared_effects_are_previewed_once(tmp_path: Path) -> None:
    small = SmallSandbox(tmp_path)
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
