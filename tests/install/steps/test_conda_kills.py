"""Killed while conda makes an environment, and after it: the next run ends the same, and nothing half made counts."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core import json
from gpu_assistant.install.environment import location
from gpu_assistant.install.files import inventory, staging
from gpu_assistant.install.host import Host
from gpu_assistant.install.journal import log
from gpu_assistant.install.journal.recovery import active_effects, observe_state
from gpu_assistant.install.steps.kinds import STEP_KINDS

from ...fakes.conda import listed
from ...fakes.fault_server import FaultServer, fault_server
from ..conda_sandbox import CondaSandbox
from ..sandbox import end, states

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="conda is an .exe there, which no test can write")

# Carries a plan out in a process of its own, which dies of SIGKILL's own kind at one of the journal's lines.
CHILD = """
import os, sys
from pathlib import Path
from gpu_assistant.core import json
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Plan
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.journal.log import Journal
from tests.install.conda_sandbox import system
from tests.install.sandbox import QUICK, RELEASE, Imports, catalog_with

plan, data, index, conda, stop = sys.argv[1:]
count, append = 0, Journal.append

def counted(self, record):
    global count
    append(self, record)
    count += 1
    if count == int(stop):
        os._exit(9)

Journal.append = counted
plan = json.decode(Path(plan).read_bytes(), Plan)
catalog, place = catalog_with(RELEASE, index), DataDir(Path(data))
InstallJob(plan, system(Path(conda)), place, catalog, verifier=Imports, limits=QUICK).run(JobContext())
"""
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def served() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


def made(patch: pytest.MonkeyPatch, root: Path, served: FaultServer) -> CondaSandbox:
    sandbox = CondaSandbox(root, served)
    patch.setenv("HOME", str(sandbox.home))
    patch.setenv("UV_DEFAULT_INDEX", sandbox.general)
    patch.setenv("UV_HTTP_RETRIES", "0")
    patch.setenv("NO_PROXY", "127.0.0.1")
    return sandbox


@pytest.fixture(scope="module")
def model(served: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, str]]:
    """What the lines of a whole run's journal are of, and its packages."""
    with pytest.MonkeyPatch.context() as patch:
        sandbox = made(patch, tmp_path_factory.mktemp("model"), served)
        sandbox.install()
    (path,) = log.journal_paths(sandbox.data)
    lines = [
        f"{type(record).__name__} {getattr(record, 'step', None) or ''}".strip() for record in log.read_records(path)
    ]
    return lines, hashes(sandbox)


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: FaultServer) -> CondaSandbox:
    return made(monkeypatch, tmp_path, served)


def hashes(sandbox: CondaSandbox) -> dict[str, str]:
    """The packages of the environment's lock."""
    lock = tomllib.loads((sandbox.environment / inventory.LOCK_FILE).read_text(encoding="utf-8"))
    return {row["name"]: row["wheels"][0]["hashes"]["sha256"] for row in lock["packages"]}


def start(sandbox: CondaSandbox, stop: int) -> subprocess.Popen[bytes]:
    plan = sandbox.root / "plan.json"
    plan.write_bytes(json.encode(sandbox.plan()))
    command = [plan, sandbox.data.root, sandbox.torch_index, sandbox.conda.program, stop]
    return subprocess.Popen([sys.executable, "-c", CHILD, *map(str, command)], cwd=ROOT)


def truths(sandbox: CondaSandbox) -> None:
    """Each effect that the journal calls done is there."""
    host = Host(sandbox.system, sandbox.data)
    for each in active_effects(sandbox.data):
        if each.is_confirmed:
            assert observe_state(each, host, STEP_KINDS) == "applied", each


def goes_on(sandbox: CondaSandbox) -> dict[str, str]:
    events = sandbox.install()
    assert end(events).state == "done"
    truths(sandbox)
    assert [entry.name for entry in sandbox.environment.parent.iterdir()] == ["env"]
    assert not (sandbox.environment / inventory.UNFINISHED_MARK).exists()
    assert listed(sandbox.home) == [str(sandbox.environment)]
    return states(events)


# conda's part; the downloads' end; the packages in it; the proof; the name.
MOMENTS = (
    *("EffectStarted python", "StepFinished python", "StepStarted pytorch"),
    *("StepFinished pytorch", "StepStarted verify", "EffectDone"),
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_at_each_journal_line_is_recovered(
    sandbox: CondaSandbox, model: tuple[list[str], dict[str, str]], moment: str
) -> None:
    lines, packages = model
    stop = len(lines) - lines[::-1].index(moment)
    named = moment == "EffectDone"
    with start(sandbox, stop) as child:
        assert child.wait(200) == 9
    truths(sandbox)
    assert (inventory.read_manifest(sandbox.environment) is not None) == named
    assert bool(location.list_environments(sandbox.data)) == named
    # What conda made is used again as long as nothing was put beside it.
    again = moment in ("StepFinished pytorch", "StepStarted verify")
    requested = len(sandbox.conda.calls)
    done = goes_on(sandbox)
    assert done["pytorch"] == ("skipped" if named else "done")
    assert len(sandbox.conda.calls) - requested == (1 if again or requested == 0 else 0)
    assert hashes(sandbox) == packages


@pytest.mark.timeout(300)
def test_kill_during_conda_create_is_recovered(sandbox: CondaSandbox) -> None:
    sandbox.conda.mode("stuck")
    pipe = sandbox.conda.root / "half"
    os.mkfifo(pipe)
    with start(sandbox, 0) as child:
        assert pipe.read_text(encoding="utf-8") == "half"
        child.kill()
    assert staging.folder_state(sandbox.environment) == "partial"
    assert (sandbox.environment / "conda-meta" / "history").is_file()
    assert location.list_environments(sandbox.data) == ()
    sandbox.conda.mode("")
    assert goes_on(sandbox)["python"] == "done"
