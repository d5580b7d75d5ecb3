"""Killed at any moment, the next run goes on, and nothing half made is ever taken for whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.core import json
from gpu_assistant.install.environment import location
from gpu_assistant.install.files import inventory
from gpu_assistant.install.journal import log

from ...fakes.fault_server import Fault
from .. import tiny_wheels
from ..world import World, end, states

# Carries a plan out in a process of its own and waits for its end at one of the journal's lines.
CHILD = """
import sys, threading
from pathlib import Path
from gpu_assistant.core import json
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Plan
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.system import current_system
from tests.fakes.system import FakeSystem
from tests.install.world import INTERPRETER, QUICK, RELEASE, Imports, catalog_with

plan, data, index, stop = sys.argv[1:]
count, append = 0, Journal.append

def counted(self, record):
    global count
    append(self, record)
    count += 1
    if count == int(stop):
        print("here", flush=True)
        threading.Event().wait()

Journal.append = counted
system = FakeSystem(name=current_system().name, python_candidates=(INTERPRETER,))
plan = json.decode(Path(plan).read_bytes(), Plan)
catalog = catalog_with(RELEASE, index)
InstallJob(plan, system, DataDir(Path(data)), catalog, verifier=Imports, limits=QUICK).run(JobContext())
print("end", flush=True)
"""


def start(world: World, stop: int) -> subprocess.Popen[str]:
    plan = world.root / "plan.json"
    plan.write_bytes(json.encode(world.plan()))
    command = [sys.executable, "-c", CHILD, str(plan), str(world.data.root), world.torch_index, str(stop)]
    root = Path(__file__).resolve().parents[3]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_kill_during_download_is_recovered(world: World) -> None:
    path = tiny_wheels.file_path("torch", world.torch)
    world.server.files[path].faults.append(Fault("stall", after=300_000))
    with start(world, 0) as child:
        assert world.server.stalled.wait(30)
        child.kill()
    assert not world.environment.exists()
    stopped = log.interrupted_install(world.data)
    assert stopped is not None
    assert (stopped.plan, stopped.step, stopped.state) == (world.plan(), "download", None)
    world.server.let_go.set()
    assert end(world.install()).state == "done"


# Began, six times begun and ended with the effects' two lines between them, ended.
# Under Wine, where each process takes seconds to start, one before, one amid and one after the effects.
@pytest.mark.parametrize("line", range(2, 19) if sys.platform == "linux" else (4, 13, 16))
def test_kill_at_each_journal_line_is_recovered(world: World, line: int) -> None:
    with start(world, line) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "here"
        child.kill()
    complete = inventory.read_manifest(world.environment) is not None
    # The environment has its name only once it was proven, which is where the last step ends.
    assert complete == (line >= 16)
    assert [environment.path for environment in location.list_environments(world.data)] == (
        [str(world.environment)] if complete else []
    )
    assert (log.interrupted_install(world.data) is None) == (line == 18)
    world.asks()
    events = world.install()
    assert end(events).state == "done"
    assert states(events)["pytorch"] == ("skipped" if complete else "done")
    if line > 10:
        assert not [requested for requested in world.asks() if requested.endswith(".whl")]
    assert [entry.name for entry in world.environment.parent.iterdir()] == ["env"]
