"""Installs that go well, and what they leave on the disk."""

from __future__ import annotations

import shutil
import subprocess
import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import Event, LogEvent, PlanEvent, StepEvent
from gpu_assistant.fetch.partial_file import lock_path
from gpu_assistant.install.environment import location
from gpu_assistant.install.files import installed_packages, inventory
from gpu_assistant.install.journal import log
from gpu_assistant.install.steps import python_packages
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.system.locks import file_lock
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..sandbox import RELEASE, Sandbox, end, states


def hidden(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".")]


def test_fresh_install_creates_environment(sandbox: Sandbox) -> None:
    events = sandbox.install()
    assert isinstance(events[0], PlanEvent)
    assert [step.id for step in events[0].steps] == ["space", "python", "resolve", "download", "pytorch", "verify"]
    assert states(events) == {
        "space": "done",
        "python": "skipped",
        "resolve": "done",
        "download": "done",
        "pytorch": "done",
        "verify": "done",
    }
    assert end(events).state == "done"
    assert end(events).env == str(sandbox.environment)
    assert any(isinstance(event, LogEvent) and "torch==" in event.line for event in events)
    last = [event for event in events if isinstance(event, StepEvent) and event.id == "download"][-2]
    assert last.unit == "bytes"
    assert last.done == last.total == sum(len(one.data) for one in (sandbox.torch, *sandbox.others))

    python = sandbox.system.environment_python(sandbox.environment)
    command = [str(python), "-I", "-c", "import torch, sys; print(torch.__version__, sys.prefix)"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(maxsplit=1)
    assert lines[0] == f"{RELEASE}+cpu"
    assert Path(lines[1].strip()).samefile(sandbox.environment)
    pip = python.with_name(sandbox.system.executable("pip"))
    assert subprocess.run([str(pip)], capture_output=True, text=True, check=True).stdout.strip() == "pip 1.0"
    assert hidden(sandbox.environment.parent) == []


def test_manifest_and_lockfile_are_written(sandbox: Sandbox) -> None:
    sandbox.install()
    record = inventory.read_manifest(sandbox.environment)
    assert record is not None
    assert (record.torch, record.variant) == (RELEASE, "cpu")
    assert record.packages == {"torch": f"{RELEASE}+cpu", "numpy": "1.0", "pip": "1.0", "tinydep": "1.0"}
    assert record.bytes is not None
    assert record.bytes > len(sandbox.torch.data)
    lock = tomllib.loads((sandbox.environment / inventory.LOCK_FILE).read_text(encoding="utf-8"))
    hashes = {row["name"]: row["wheels"][0]["hashes"]["sha256"] for row in lock["packages"]}
    assert hashes["torch"] == sandbox.torch.sha256
    constraints = (sandbox.environment / installed_packages.CONSTRAINTS_FILE).read_text(encoding="utf-8")
    assert constraints == f"torch=={RELEASE}+cpu\n"
    (environment,) = location.list_environments(sandbox.data)
    assert (environment.path, environment.name, environment.torch) == (str(sandbox.environment), "env", RELEASE)
    assert log.interrupted_install(sandbox.data) is None


def test_what_comes_after_the_comparison_with_the_wheels_is_not_ours(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = python_packages.write_metadata

    def change_and_write(context: InstallContext, scan: inventory.FolderScan) -> None:
        package = next(context.partial.rglob("tinydep/__init__.py"))
        package.unlink()  # a hard link to uv's cache
        package.write_text("__version__ = '1.0'  # changed\n", encoding="utf-8")
        package.with_name("late.py").write_text("", encoding="utf-8")
        write(context, scan)

    monkeypatch.setattr(python_packages, "write_metadata", change_and_write)
    sandbox.install()
    listed = inventory.read_file_manifest(sandbox.environment)
    (package,) = (name for name in listed if name.endswith("tinydep/__init__.py"))
    assert not inventory.is_unchanged(str(sandbox.environment), package, listed[package])
    assert f"{package.removesuffix('__init__.py')}late.py" not in listed
    assert inventory.is_unchanged(str(sandbox.environment), inventory.LOCK_FILE, listed[inventory.LOCK_FILE])


def test_second_install_only_verifies(sandbox: Sandbox) -> None:
    sandbox.install()
    before = (sandbox.environment / inventory.MANIFEST_FILE).read_bytes()
    sandbox.asks()
    events = sandbox.install()
    assert states(events) == {
        "space": "done",
        "python": "skipped",
        "resolve": "skipped",
        "download": "skipped",
        "pytorch": "skipped",
        "verify": "done",
    }
    assert sandbox.asks() == []
    assert (sandbox.environment / inventory.MANIFEST_FILE).read_bytes() == before


def test_cached_files_make_second_environment_offline(sandbox: Sandbox) -> None:
    sandbox.install()
    sandbox.server.close()
    other = sandbox.root / "an other place" / "环境"
    events = sandbox.install(sandbox.plan(environment=other))
    assert end(events).state == "done"
    assert {environment.path for environment in location.list_environments(sandbox.data)} == {
        str(sandbox.environment),
        str(other),
    }


def test_complete_wheelhouse_needs_no_index(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(sandbox.root / "my wheels", [sandbox.torch, *sandbox.others])
    events = sandbox.install(sandbox.plan(wheelhouse=house))
    assert end(events).state == "done"
    assert sandbox.asks() == []
    # Files that are here already are used where they lie.
    assert not list(sandbox.data.files.rglob("*.whl"))


def test_wheelhouse_with_torch_uses_general_index_for_rest(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(sandbox.root / "my wheels", [sandbox.torch])
    assert end(sandbox.install(sandbox.plan(wheelhouse=house))).state == "done"
    requested = sandbox.asks()
    assert any(path.startswith("/simple/") for path in requested)
    assert not any(path.startswith("/torch/") for path in requested)


def test_lockfile_with_missing_local_files_is_resolved_anew(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(sandbox.root / "wheels", [sandbox.torch])
    plan = sandbox.plan(wheelhouse=house)
    sandbox.install(plan)
    shutil.rmtree(sandbox.environment)
    (house / sandbox.torch.name).unlink()
    events = sandbox.install(plan)
    assert states(events)["resolve"] == "done"
    assert any(path.startswith("/torch/") for path in sandbox.asks())


def test_a_dry_run_touches_nothing(sandbox: Sandbox) -> None:
    for events in (sandbox.install(dry_run=True), sandbox.install(sandbox.plan(simulated=True))):
        assert set(states(events).values()) == {"skipped"}
        assert end(events).state == "done"
    assert not sandbox.data.root.exists()
    assert not sandbox.environment.parent.exists()
    assert sandbox.asks() == []


def test_empty_folder_is_used(sandbox: Sandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    assert end(sandbox.install()).state == "done"


def test_temporary_files_of_stopped_uv_are_removed(sandbox: Sandbox) -> None:
    left = sandbox.data.claim(sandbox.data.uv_cache) / ".tmpA1b2C3"
    left.mkdir(parents=True)
    (left / "half.bin").write_bytes(b"half")
    sandbox.install()
    assert not left.exists()


def test_computer_stays_awake_only_during_install(sandbox: Sandbox) -> None:
    awake: list[int] = []

    class Watch:
        def __init__(self, environment: Path, system: object, _toolkit: object = None) -> None:
            awake.append(sandbox.system.awake)
            from ..sandbox import Imports

            self.run = Imports(environment, sandbox.system).run

    sandbox.install(verifier=Watch)
    assert awake == [1]
    assert sandbox.system.awake == 0


def test_concurrent_download_of_same_wheel_is_awaited(sandbox: Sandbox) -> None:
    """The other one gives up: the install says for whom it waits, then fetches the wheel itself."""
    path = sandbox.data.claim(sandbox.data.files) / sandbox.torch.sha256[:16] / sandbox.torch.name
    path.parent.mkdir(parents=True)
    held, text, given_up = threading.Event(), threading.Event(), threading.Event()

    def other() -> None:
        with file_lock(lock_path(path), AppError("download-elsewhere", name=path.name)):
            held.set()
            given_up.wait(60)

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and event.code == "progress.elsewhere":
            assert path.name in Texts("en").translate(event.code, event.data)
            text.set()
            given_up.set()

    holder = threading.Thread(target=other)
    holder.start()
    assert held.wait(60)
    try:
        assert end(sandbox.install(watch=watch)).state == "done"
    finally:
        given_up.set()
        holder.join(30)
    assert text.is_set()


@pytest.mark.parametrize("broken", [("pip",), ("pip", "python")])
def test_what_does_not_start_under_the_final_name_is_named(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, broken: tuple[str, ...]
) -> None:
    run = sandbox.system.run

    def refused(argv: Sequence[str | Path], **more: Any) -> ProcessResult:
        program = Path(argv[0])
        result = run(argv, **more)
        if program.is_relative_to(sandbox.environment) and program.stem in broken:
            return msgspec.structs.replace(result, returncode=1)
        return result

    monkeypatch.setattr(sandbox.system, "run", refused)
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "environment-broken"
    assert Path(str(caught.value.data["detail"])).stem == broken[-1]
    assert not sandbox.environment.exists()
