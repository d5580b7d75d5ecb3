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
from ..conda_sandbox import CondaSandbox
from ..sandbox import RELEASE, end, states

# What differs on Windows is tried there, too.
once_is_enough = pytest.mark.skipif(sys.platform == "win32", reason="each copies a whole Python there")


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CondaSandbox]:
    with fault_server() as server:
        sandbox = CondaSandbox(tmp_path, server)
        monkeypatch.setenv("UV_DEFAULT_INDEX", sandbox.general)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(sandbox.home))
        yield sandbox


def uninstall(sandbox: CondaSandbox) -> list[Event]:
    events: list[Event] = []
    UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext(report=events.append))
    return events


def test_conda_environment_is_installed(sandbox: CondaSandbox) -> None:
    base = sandbox.conda.files()
    events = sandbox.install()
    assert end(events).state == "done"
    assert states(events) == dict.fromkeys(("space", "python", "resolve", "download", "pytorch", "verify"), "done")
    assert [entry.name for entry in sandbox.environment.parent.iterdir()] == ["env"]
    assert whole(sandbox.environment)
    assert listed(sandbox.home) == [str(sandbox.environment)]
    assert sandbox.conda.files() == base
    python = sandbox.system.environment_python(sandbox.environment)
    completed = subprocess.run(
        [python, "-I", "-c", "import torch, sys; print(torch.__version__, sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert completed == [f"{RELEASE}+cpu", str(sandbox.environment)]


@once_is_enough
def test_lockfile_and_manifest_match_a_uv_environment(sandbox: CondaSandbox) -> None:
    sandbox.install()
    record = inventory.read_manifest(sandbox.environment)
    assert record is not None
    assert (record.torch, record.python) == (RELEASE, sys.version.split()[0])
    lock = tomllib.loads((sandbox.environment / inventory.LOCK_FILE).read_text(encoding="utf-8"))
    hashes = {row["name"]: row["wheels"][0]["hashes"]["sha256"] for row in lock["packages"]}
    assert hashes["torch"] == sandbox.torch.sha256
    (known,) = location.list_environments(sandbox.data)
    assert (known.path, known.torch) == (str(sandbox.environment), RELEASE)


def test_conda_gets_expected_arguments(sandbox: CondaSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    sandbox.install()
    (call,) = sandbox.conda.calls
    command, settings = call["arguments"], call["settings"]
    assert isinstance(command, list)
    assert isinstance(settings, dict)
    texts = ["create", "--prefix", str(sandbox.environment), "--override-channels", "--channel", "conda-forge"]
    assert command[:6] == texts
    assert command[6:8] == ["--yes", f"python={SERIES}"]
    assert settings["CONDA_PKGS_DIRS"] == str(sandbox.data.conda)
    assert settings["CONDA_REPORT_ERRORS"] == "false"
    assert "PYTHONPATH" not in settings


def test_conda_environment_can_be_activated(sandbox: CondaSandbox) -> None:
    sandbox.install()
    line = sandbox.system.activation_command(sandbox.environment)
    command = f'{line} && python -c "import sys; print(sys.prefix)"'
    shell = f'cmd /d /s /c "call {command}"' if sys.platform == "win32" else ["bash", "-c", command]
    done = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sandbox.environment)


@once_is_enough
def test_second_install_only_verifies(sandbox: CondaSandbox) -> None:
    sandbox.install()
    events = sandbox.install()
    assert states(events)["python"] == states(events)["pytorch"] == "skipped"
    assert len(sandbox.conda.calls) == 1


def test_uninstall_keeps_user_files(sandbox: CondaSandbox) -> None:
    sandbox.home.joinpath(".conda").mkdir()
    sandbox.home.joinpath(".conda/environments.txt").write_text("/another\n", encoding="utf-8")
    sandbox.install()
    own = sandbox.environment / "thesis.txt"
    own.write_text("all of it", encoding="utf-8")
    events = uninstall(sandbox)
    assert end(events).state == "done"
    assert [path.name for path in sandbox.environment.rglob("*")] == ["thesis.txt"]
    assert listed(sandbox.home) == ["/another"]
    assert location.list_environments(sandbox.data) == ()
    own.unlink()
    sandbox.environment.rmdir()
    assert end(sandbox.install()).state == "done"


@once_is_enough
def test_uninstall_leaves_nothing(sandbox: CondaSandbox) -> None:
    sandbox.install()
    uninstall(sandbox)
    assert not sandbox.environment.exists()
    assert listed(sandbox.home) == []


@once_is_enough
def test_two_environments_are_uninstalled_separately(sandbox: CondaSandbox) -> None:
    sandbox.install()
    first = sandbox.environment
    sandbox.environment = sandbox.root / "place" / "other"
    sandbox.install()
    sandbox.environment = first
    uninstall(sandbox)
    assert not first.exists()
    assert listed(sandbox.home) == [str(sandbox.root / "place" / "other")]


@once_is_enough
def test_externally_managed_python_gets_packages(sandbox: CondaSandbox) -> None:
    sandbox.conda.mode("managed")
    assert end(sandbox.install()).state == "done"


def test_unreachable_channel_is_a_network_error(sandbox: CondaSandbox) -> None:
    sandbox.conda.mode("offline")
    with pytest.raises(NetworkError) as caught:
        sandbox.install()
    assert caught.value.code == "conda-offline"
    assert "HTTP 000" in Texts("en").translate("error.conda-offline", caught.value.data)
    assert not sandbox.environment.exists()
    assert log.interrupted_install(sandbox.data) is not None
    sandbox.conda.mode("")
    assert end(sandbox.install()).state == "done"


@once_is_enough
def test_python_missing_from_channel_is_named(sandbox: CondaSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_assistant.install.steps.context.InstallContext.python_series", "3.99")
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "conda-failed"
    assert not sandbox.environment.exists()


@once_is_enough
def test_conda_environment_is_reused_after_failed_download(sandbox: CondaSandbox) -> None:
    plan, index = sandbox.plan(), sandbox.server.files.copy()
    sandbox.server.files.clear()
    with pytest.raises(AppError):
        sandbox.install(plan)
    assert staging.folder_state(sandbox.environment) == "partial"
    assert location.list_environments(sandbox.data) == ()
    assert inventory.read_manifest(sandbox.environment) is None
    sandbox.server.files.update(index)
    events = sandbox.install(plan)
    assert states(events)["python"] == "skipped"
    assert len(sandbox.conda.calls) == 1


@once_is_enough
def test_partial_environment_can_be_uninstalled(sandbox: CondaSandbox) -> None:
    sandbox.server.files.clear()
    with pytest.raises(AppError):
        sandbox.install()
    assert end(uninstall(sandbox)).state == "done"
    assert not sandbox.environment.exists()
    assert listed(sandbox.home) == []


@once_is_enough
def test_environment_of_two_runs_is_uninstalled_once(sandbox: CondaSandbox) -> None:
    index = sandbox.server.files.copy()
    sandbox.server.files.clear()
    with pytest.raises(AppError):
        sandbox.install()
    sandbox.server.files.update(index)
    sandbox.install()
    (sandbox.environment / "thesis.txt").touch()
    events = uninstall(sandbox)
    codes = {event.code for event in events if isinstance(event, StepEvent) and event.id == "environment"}
    assert "progress.left-files" in codes
    assert [path.name for path in sandbox.environment.rglob("*")] == ["thesis.txt"]
    assert listed(sandbox.home) == []


@once_is_enough
def test_partial_conda_environment_is_replaced_by_venv(sandbox: CondaSandbox) -> None:
    index = sandbox.server.files.copy()
    sandbox.server.files.clear()
    with pytest.raises(AppError):
        sandbox.install()
    sandbox.server.files.update(index)
    assert end(sandbox.install(sandbox.plain_plan())).state == "done"
    assert not whole(sandbox.environment)


@once_is_enough
def test_venv_is_not_taken_for_conda_environment(sandbox: CondaSandbox) -> None:
    sandbox.install(sandbox.plain_plan())
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "environment-differs"
    assert (sandbox.environment / "pyvenv.cfg").is_file()


@once_is_enough
def test_foreign_folder_is_kept(sandbox: CondaSandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    (sandbox.environment / "thesis.txt").touch()
    (sandbox.environment / inventory.UNFINISHED_MARK).touch()
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "environment-occupied"
    assert (sandbox.environment / "thesis.txt").is_file()


@once_is_enough
def test_uninstall_restores_empty_folder(sandbox: CondaSandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    sandbox.install()
    uninstall(sandbox)
    assert list(sandbox.environment.iterdir()) == []


@pytest.mark.parametrize(("bundle", "error"), [(False, "conda-missing"), (True, "conda-needs-network")])
@once_is_enough
def test_unplannable_conda_environments_raise(sandbox: CondaSandbox, bundle: bool, error: str) -> None:
    with pytest.raises((AppError, UsageError)) as caught:
        sandbox.plan(conda=None, bundle=sandbox.root if bundle else None)
    assert caught.value.code == error


@once_is_enough
def test_damaged_conda_environment_is_kept_with_advice(sandbox: CondaSandbox) -> None:
    """conda writes its folder's path into its files: a better one cannot be made beside it."""
    sandbox.install()
    (torch,) = sandbox.environment.rglob("torch/__init__.py")
    torch.unlink()
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert caught.value.code == "environment-damaged"
    assert str(torch.relative_to(sandbox.environment).as_posix()) in Texts("en").error_text(caught.value)
    uninstall(sandbox)
    assert end(sandbox.install()).state == "done"
    assert torch.is_file()
