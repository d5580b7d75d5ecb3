"""An environment that the user's conda makes, and the way back; the conda is one of the tests'."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, NetworkError, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, StepEvent
from gpu_assistant.install.environment import location
from gpu_assistant.install.files import inventory, staging
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal import log
from gpu_assistant.texts.localized import Texts

from ...fakes.conda import SERIES, listed, whole
from ...fakes.fault_server import fault_server
from ..conda_world import CondaWorld
from ..world import RELEASE, end, states

# What differs on Windows is tried there, too.
once_is_enough = pytest.mark.skipif(sys.platform == "win32", reason="each copies a whole Python there")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CondaWorld]:
    with fault_server() as server:
        world = CondaWorld(tmp_path, server)
        monkeypatch.setenv("UV_DEFAULT_INDEX", world.general)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(world.home))
        yield world


def uninstall(world: CondaWorld) -> list[Event]:
    events: list[Event] = []
    UninstallJob(world.environment, world.data, world.system).run(JobContext(report=events.append))
    return events


def test_conda_environment_is_installed(world: CondaWorld) -> None:
    base = world.conda.files()
    events = world.install()
    assert end(events).state == "done"
    assert states(events) == dict.fromkeys(("space", "python", "resolve", "download", "pytorch", "verify"), "done")
    assert [entry.name for entry in world.environment.parent.iterdir()] == ["env"]
    assert whole(world.environment)
    assert listed(world.home) == [str(world.environment)]
    assert world.conda.files() == base
    python = world.system.environment_python(world.environment)
    completed = subprocess.run(
        [python, "-I", "-c", "import torch, sys; print(torch.__version__, sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert completed == [f"{RELEASE}+cpu", str(world.environment)]


@once_is_enough
def test_lockfile_and_manifest_match_a_uv_environment(world: CondaWorld) -> None:
    world.install()
    record = inventory.read_manifest(world.environment)
    assert record is not None
    assert (record.torch, record.python) == (RELEASE, sys.version.split()[0])
    lock = tomllib.loads((world.environment / inventory.LOCK_FILE).read_text(encoding="utf-8"))
    hashes = {row["name"]: row["wheels"][0]["hashes"]["sha256"] for row in lock["packages"]}
    assert hashes["torch"] == world.torch.sha256
    (known,) = location.list_environments(world.data)
    assert (known.path, known.torch) == (str(world.environment), RELEASE)


def test_conda_gets_expected_arguments(world: CondaWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    world.install()
    (call,) = world.conda.calls
    command, settings = call["words"], call["settings"]
    assert isinstance(command, list)
    assert isinstance(settings, dict)
    texts = ["create", "--prefix", str(world.environment), "--override-channels", "--channel", "conda-forge"]
    assert command[:6] == texts
    assert command[6:8] == ["--yes", f"python={SERIES}"]
    assert settings["CONDA_PKGS_DIRS"] == str(world.data.conda)
    assert settings["CONDA_REPORT_ERRORS"] == "false"
    assert "PYTHONPATH" not in settings


def test_conda_environment_can_be_activated(world: CondaWorld) -> None:
    world.install()
    line = world.system.activation_command(world.environment)
    command = f'{line} && python -c "import sys; print(sys.prefix)"'
    shell = f'cmd /d /s /c "call {command}"' if sys.platform == "win32" else ["bash", "-c", command]
    done = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(world.environment)


@once_is_enough
def test_second_install_only_verifies(world: CondaWorld) -> None:
    world.install()
    events = world.install()
    assert states(events)["python"] == states(events)["pytorch"] == "skipped"
    assert len(world.conda.calls) == 1


def test_uninstall_keeps_user_files(world: CondaWorld) -> None:
    world.home.joinpath(".conda").mkdir()
    world.home.joinpath(".conda/environments.txt").write_text("/another\n", encoding="utf-8")
    world.install()
    own = world.environment / "thesis.txt"
    own.write_text("all of it", encoding="utf-8")
    events = uninstall(world)
    assert end(events).state == "done"
    assert [path.name for path in world.environment.rglob("*")] == ["thesis.txt"]
    assert listed(world.home) == ["/another"]
    assert location.list_environments(world.data) == ()
    own.unlink()
    world.environment.rmdir()
    assert end(world.install()).state == "done"


@once_is_enough
def test_uninstall_leaves_nothing(world: CondaWorld) -> None:
    world.install()
    uninstall(world)
    assert not world.environment.exists()
    assert listed(world.home) == []


@once_is_enough
def test_two_environments_are_uninstalled_separately(world: CondaWorld) -> None:
    world.install()
    first = world.environment
    world.environment = world.root / "place" / "other"
    world.install()
    world.environment = first
    uninstall(world)
    assert not first.exists()
    assert listed(world.home) == [str(world.root / "place" / "other")]


@once_is_enough
def test_externally_managed_python_gets_packages(world: CondaWorld) -> None:
    world.conda.mode("managed")
    assert end(world.install()).state == "done"


def test_unreachable_channel_is_a_network_error(world: CondaWorld) -> None:
    world.conda.mode("offline")
    with pytest.raises(NetworkError) as caught:
        world.install()
    assert caught.value.code == "conda-offline"
    assert "HTTP 000" in Texts("en").translate("error.conda-offline", caught.value.data)
    assert not world.environment.exists()
    assert log.interrupted_install(world.data) is not None
    world.conda.mode("")
    assert end(world.install()).state == "done"


@once_is_enough
def test_python_missing_from_channel_is_named(world: CondaWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_assistant.install.steps.context.InstallContext.python_series", "3.99")
    with pytest.raises(AppError) as caught:
        world.install()
    assert caught.value.code == "conda-failed"
    assert not world.environment.exists()


@once_is_enough
def test_conda_environment_is_reused_after_failed_download(world: CondaWorld) -> None:
    plan, index = world.plan(), world.server.files.copy()
    world.server.files.clear()
    with pytest.raises(AppError):
        world.install(plan)
    assert staging.folder_state(world.environment) == "partial"
    assert location.list_environments(world.data) == ()
    assert inventory.read_manifest(world.environment) is None
    world.server.files.update(index)
    events = world.install(plan)
    assert states(events)["python"] == "skipped"
    assert len(world.conda.calls) == 1


@once_is_enough
def test_partial_environment_can_be_uninstalled(world: CondaWorld) -> None:
    world.server.files.clear()
    with pytest.raises(AppError):
        world.install()
    assert end(uninstall(world)).state == "done"
    assert not world.environment.exists()
    assert listed(world.home) == []


@once_is_enough
def test_environment_of_two_runs_is_uninstalled_once(world: CondaWorld) -> None:
    index = world.server.files.copy()
    world.server.files.clear()
    with pytest.raises(AppError):
        world.install()
    world.server.files.update(index)
    world.install()
    (world.environment / "thesis.txt").touch()
    events = uninstall(world)
    codes = {event.code for event in events if isinstance(event, StepEvent) and event.id == "environment"}
    assert "progress.left-files" in codes
    assert [path.name for path in world.environment.rglob("*")] == ["thesis.txt"]
    assert listed(world.home) == []


@once_is_enough
def test_partial_conda_environment_is_replaced_by_venv(world: CondaWorld) -> None:
    index = world.server.files.copy()
    world.server.files.clear()
    with pytest.raises(AppError):
        world.install()
    world.server.files.update(index)
    assert end(world.install(world.plain_plan())).state == "done"
    assert not whole(world.environment)


@once_is_enough
def test_venv_is_not_taken_for_conda_environment(world: CondaWorld) -> None:
    world.install(world.plain_plan())
    with pytest.raises(AppError) as caught:
        world.install()
    assert caught.value.code == "environment-differs"
    assert (world.environment / "pyvenv.cfg").is_file()


@once_is_enough
def test_foreign_folder_is_kept(world: CondaWorld) -> None:
    world.environment.mkdir(parents=True)
    (world.environment / "thesis.txt").touch()
    (world.environment / inventory.UNFINISHED_MARK).touch()
    with pytest.raises(AppError) as caught:
        world.install()
    assert caught.value.code == "environment-occupied"
    assert (world.environment / "thesis.txt").is_file()


@once_is_enough
def test_uninstall_restores_empty_folder(world: CondaWorld) -> None:
    world.environment.mkdir(parents=True)
    world.install()
    uninstall(world)
    assert list(world.environment.iterdir()) == []


@pytest.mark.parametrize(("bundle", "error"), [(False, "conda-missing"), (True, "conda-needs-network")])
@once_is_enough
def test_unplannable_conda_environments_raise(world: CondaWorld, bundle: bool, error: str) -> None:
    with pytest.raises((AppError, UsageError)) as caught:
        world.plan(conda=None, bundle=world.root if bundle else None)
    assert caught.value.code == error


@once_is_enough
def test_damaged_conda_environment_is_kept_with_advice(world: CondaWorld) -> None:
    """conda writes its folder's path into its files: a better one cannot be made beside it."""
    world.install()
    (torch,) = world.environment.rglob("torch/__init__.py")
    torch.unlink()
    with pytest.raises(AppError) as caught:
        world.install()
    assert caught.value.code == "environment-damaged"
    assert str(torch.relative_to(world.environment).as_posix()) in Texts("en").error_text(caught.value)
    uninstall(world)
    assert end(world.install()).state == "done"
    assert torch.is_file()
