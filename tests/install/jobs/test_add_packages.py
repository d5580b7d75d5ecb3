"""Packages that are added to a finished environment: with hashes, beside what is there, and removed again exactly."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import EndEvent, StepEvent
from gpu_assistant.install.files.inventory import iter_files
from gpu_assistant.install.jobs.add_packages import AddPackagesJob, RemovePackagesJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal.log import Journal, PackagesAdded
from gpu_assistant.install.journal.recovery import active_effects
from gpu_assistant.install.journal.validation import INTEGRATION_KIND
from tests.install import tiny_wheels
from tests.install.sandbox import QUICK, Sandbox

ADDED = ("notelab==2.0", "notekernel==1.5")


@pytest.fixture
def environment(sandbox: Sandbox) -> Path:
    sandbox.install()
    lab = tiny_wheels.wheel(
        "notelab", "2.0", requires=("notekernel", "tinydep"), source="def main(): pass\n", script="main"
    )
    kernel = tiny_wheels.wheel("notekernel", "1.5", ballast=bytes(100_000))
    sandbox.general = tiny_wheels.index(sandbox.server, "simple", [*sandbox.others, lab, kernel])
    return sandbox.environment


def add(sandbox: Sandbox, *packages: str, **context: Any) -> tuple[str, ...]:
    job = AddPackagesJob(
        sandbox.environment,
        packages or ("notelab",),
        sandbox.system,
        sandbox.data,
        sandbox.catalog,
        name="jupyter",
        limits=QUICK,
    )
    return job.run(JobContext(**context))


def take_out(sandbox: Sandbox) -> tuple[str, ...]:
    return RemovePackagesJob(sandbox.environment, sandbox.system, sandbox.data).run(JobContext())


def files_of(folder: Path) -> set[str]:
    return {name for name in iter_files(folder) if not name.endswith(".pyc")}


def imports(sandbox: Sandbox, module: str) -> bool:
    python = sandbox.system.environment_python(sandbox.environment)
    return subprocess.run([python, "-I", "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def test_packages_are_added_beside_what_is_there_and_exactly_they_are_removed(
    sandbox: Sandbox, environment: Path
) -> None:
    before = files_of(environment)
    events: list[Any] = []
    assert sorted(add(sandbox, report=events.append)) == sorted(ADDED)
    assert imports(sandbox, "notelab, notekernel, torch, tinydep")
    assert (environment / "pylock.jupyter.toml").is_file()
    assert [each.id for each in events if isinstance(each, StepEvent) and each.state == "done"] == [
        *("resolve", "download", "install")
    ]
    assert isinstance(events[-1], EndEvent)
    assert events[-1].state == "done"
    assert sorted(take_out(sandbox)) == sorted(ADDED)
    assert files_of(environment) == before
    assert imports(sandbox, "torch, tinydep")
    assert take_out(sandbox) == ()


def test_second_time_nothing_is_downloaded_or_changed(sandbox: Sandbox, environment: Path) -> None:
    add(sandbox)
    sandbox.asks()
    before = files_of(environment)
    add(sandbox)
    assert [path for path in sandbox.asks() if path.endswith(".whl")] == []
    assert files_of(environment) == before


def test_what_the_environment_was_made_with_keeps_its_version(sandbox: Sandbox, environment: Path) -> None:
    newer = tiny_wheels.wheel("tinydep", "99.0")
    needy = tiny_wheels.wheel("needy", "1.0", requires=("tinydep>=99",))
    sandbox.general = tiny_wheels.index(sandbox.server, "simple", [*sandbox.others, newer, needy])
    before = files_of(environment)
    with pytest.raises(AppError) as caught:
        add(sandbox, "needy")
    assert caught.value.code == "added-nowhere"
    assert files_of(environment) == before


def test_wrong_bytes_are_not_installed(sandbox: Sandbox, environment: Path) -> None:
    kernel = tiny_wheels.wheel("notekernel", "1.5", ballast=bytes(100_000))
    before = files_of(environment)
    add(sandbox)  # the lock file is cached with the right hashes
    take_out(sandbox)
    for path in sandbox.data.files.rglob(kernel.name):
        path.write_bytes(b"something else")
    for path, served in sandbox.server.files.items():
        if path.endswith(kernel.name):
            served.data = bytes(len(served.data))
    with pytest.raises(AppError):
        add(sandbox)
    assert files_of(environment) == before


def test_cancel_before_the_install_changes_nothing(sandbox: Sandbox, environment: Path) -> None:
    before, cancel = files_of(environment), threading.Event()

    def stop(event: object) -> None:
        if isinstance(event, StepEvent) and event.id == "download":
            cancel.set()

    with pytest.raises(Cancelled):
        add(sandbox, report=stop, cancel=cancel)
    assert files_of(environment) == before


def test_file_that_the_user_changed_stays(sandbox: Sandbox, environment: Path) -> None:
    add(sandbox)
    (module,) = environment.rglob("notelab/__init__.py")
    module.write_text("mine = 1\n", encoding="utf-8")
    take_out(sandbox)
    assert module.read_text(encoding="utf-8") == "mine = 1\n"
    assert not list(environment.rglob("notekernel"))


@pytest.fixture
def killed(sandbox: Sandbox, environment: Path) -> tuple[set[str], set[str]]:
    """As a kill in uv's midst leaves it: the effect has begun, one package lacks a file, the other its RECORD.

    The files before, and those of the whole.
    """
    before = files_of(environment)
    add(sandbox)
    whole = files_of(environment)
    take_out(sandbox)
    with Journal(sandbox.data, environment=str(environment)) as journal:
        journal.start_effect(
            INTEGRATION_KIND, PackagesAdded(path=str(environment), packages=ADDED, lock="pylock.jupyter.toml")
        )
    add(sandbox)  # what it puts there, without its own records
    for path in sorted(sandbox.data.journal.iterdir())[-1:]:
        path.unlink()
    (record,) = environment.rglob("notekernel-1.5.dist-info/RECORD")
    record.unlink()
    (module,) = environment.rglob("notelab/__init__.py")
    module.unlink()
    return before, whole


def test_next_run_completes_one_that_was_killed(
    sandbox: Sandbox, environment: Path, killed: tuple[set[str], set[str]]
) -> None:
    before, whole = killed
    add(sandbox)
    assert files_of(environment) == whole
    take_out(sandbox)
    assert files_of(environment) == before


@pytest.mark.usefixtures("killed")
def test_uninstall_after_a_kill_leaves_nothing(sandbox: Sandbox, environment: Path) -> None:
    UninstallJob(environment, sandbox.data, sandbox.system).run(JobContext())
    assert not environment.exists(), files_of(environment)


def test_uninstall_takes_everything(sandbox: Sandbox, environment: Path) -> None:
    add(sandbox)
    steps = UninstallJob(environment, sandbox.data, sandbox.system).steps()
    assert "remove-packages" in [step.code for step in steps]
    UninstallJob(environment, sandbox.data, sandbox.system).run(JobContext())
    assert not environment.exists()
    assert not list(environment.parent.glob("*-packages*.txt")), "what was added by us is no package of the user's"
    assert not [each for each in active_effects(sandbox.data) if isinstance(each.effect, PackagesAdded)]


def test_forged_journal_removes_nothing_of_the_environment(sandbox: Sandbox, environment: Path) -> None:
    before = files_of(environment)
    with (
        Journal(sandbox.data, environment=str(environment)) as journal,
        journal.effect(
            INTEGRATION_KIND,
            PackagesAdded(path=str(environment), packages=("torch==9.1.0+cpu",), lock="pylock.jupyter.toml"),
        ),
    ):
        pass
    assert take_out(sandbox) == ()
    assert files_of(environment) == before
