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
from ..conda_world import CondaWorld
from ..world import end, states

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
from tests.install.conda_world import system
from tests.install.world import QUICK, RELEASE, Imports, catalog_with

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


def made(patch: pytest.MonkeyPatch, root: Path, served: FaultServer) -> CondaWorld:
    world = CondaWorld(root, served)
    patch.setenv("HOME", str(world.home))
    patch.setenv("UV_DEFAULT_INDEX", world.general)
    patch.setenv("UV_HTTP_RETRIES", "0")
    patch.setenv("NO_PROXY", "127.0.0.1")
    return world


@pytest.fixture(scope="module")
def model(served: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, str]]:
    """What the lines of a whole run's journal are of, and its packages."""
    with pytest.MonkeyPatch.context() as patch:
        world = made(patch, tmp_path_factory.mktemp("model"), served)
        world.install()
    (path,) = log.journal_paths(world.data)
    lines = [
        f"{type(record).__name__} {getattr(record, 'step', None) or ''}".strip() for record in log.read_records(path)
    ]
    return lines, hashes(world)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: FaultServer) -> CondaWorld:
    return made(monkeypatch, tmp_path, served)


def hashes(world: CondaWorld) -> dict[str, str]:
    """The packages of the environment's lock."""
    lock = tomllib.loads((world.environment / inventory.LOCK_FILE).read_text(encoding="utf-8"))
    return {row["name"]: row["wheels"][0]["hashes"]["sha256"] for row in lock["packages"]}


def start(world: CondaWorld, stop: int) -> subprocess.Popen[bytes]:
    plan = world.root / "plan.json"
    plan.write_bytes(json.encode(world.plan()))
    command = [plan, world.data.root, world.torch_index, world.conda.program, stop]
    return subprocess.Popen([sys.executable, "-c", CHILD, *map(str, command)], cwd=ROOT)


def truths(world: CondaWorld) -> None:
    """Each effect that the journal calls done is there."""
    host = Host(world.system, world.data)
    for each in active_effects(world.data):
        if each.is_confirmed:
            assert observe_state(each, host, STEP_KINDS) == "applied", each


def goes_on(world: CondaWorld) -> dict[str, str]:
    events = world.install()
    assert end(events).state == "done"
    truths(world)
    assert [entry.name for entry in world.environment.parent.iterdir()] == ["env"]
    assert not (world.environment / inventory.UNFINISHED_MARK).exists()
    assert listed(world.home) == [str(world.environment)]
    return states(events)


# conda's part; the downloads' end; the packages in it; the proof; the name.
MOMENTS = (
    *("EffectStarted python", "StepFinished python", "StepStarted pytorch"),
    *("StepFinished pytorch", "StepStarted verify", "EffectDone"),
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_at_each_journal_line_is_recovered(
    world: CondaWorld, model: tuple[list[str], dict[str, str]], moment: str
) -> None:
    lines, packages = model
    stop = len(lines) - lines[::-1].index(moment)
    named = moment == "EffectDone"
    with start(world, stop) as child:
        assert child.wait(200) == 9
    truths(world)
    assert (inventory.read_manifest(world.environment) is not None) == named
    assert bool(location.list_environments(world.data)) == named
    # What conda made is used again as long as nothing was put beside it.
    again = moment in ("StepFinished pytorch", "StepStarted verify")
    requested = len(world.conda.calls)
    done = goes_on(world)
    assert done["pytorch"] == ("skipped" if named else "done")
    assert len(world.conda.calls) - requested == (1 if again or requested == 0 else 0)
    assert hashes(world) == packages


@pytest.mark.timeout(300)
def test_kill_during_conda_create_is_recovered(world: CondaWorld) -> None:
    world.conda.mode("stuck")
    pipe = world.conda.root / "half"
    os.mkfifo(pipe)
    with start(world, 0) as child:
        assert pipe.read_text(encoding="utf-8") == "half"
        child.kill()
    assert staging.folder_state(world.environment) == "partial"
    assert (world.environment / "conda-meta" / "history").is_file()
    assert location.list_environments(world.data) == ()
    world.conda.mode("")
    assert goes_on(world)["python"] == "done"
