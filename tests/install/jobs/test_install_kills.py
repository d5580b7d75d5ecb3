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
from ..sandbox import Sandbox, end, states

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
from tests.install.sandbox import INTERPRETER, QUICK, RELEASE, Imports, catalog_with

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


def start(sandbox: Sandbox, stop: int) -> subprocess.Popen[str]:
    plan = sandbox.root / "plan.json"
    plan.write_bytes(json.encode(sandbox.plan()))
    command = [sys.executable, "-c", CHILD, str(plan), str(sandbox.data.root), sandbox.torch_index, str(stop)]
    root = Path(__file__).resolve().parents[3]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_kill_during_download_is_recovered(sandbox: Sandbox) -> None:
    path = tiny_wheels.file_path("torch", sandbox.torch)
    sandbox.server.files[path].faults.append(Fault("stall", after=300_000))
    with start(sandbox, 0) as child:
        assert sandbox.server.stalled.wait(120)
        child.kill()
    assert not sandbox.environment.exists()
    stopped = log.interrupted_install(sandbox.data)
    assert stopped is not None
    assert (stopped.plan, stopped.step, stopped.state) == (sandbox.plan(), "download", None)
    sandbox.server.let_go.set()
    assert end(sandbox.install()).state == "done"


# Began, six times begun and ended with the effects' two lines between them, ended.
# Under Wine, where each process takes seconds to start, one before, one amid and one after the effects.
@pytest.mark.parametrize("line", range(2, 19) if sys.platform == "linux" else (4, 13, 16))
def test_kill_at_each_journal_line_is_recovered(sandbox: Sandbox, line: int) -> None:
    with start(sandbox, line) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "here"
        child.kill()
    complete = inventory.read_manifest(sandbox.environment) is not None
    # The environment has its name only once it was proven, which is where the last step ends.
    assert complete == (line >= 16)
    assert [environment.path for environment in location.list_environments(sandbox.data)] == (
        [str(sandbox.environment)] if complete else []
    )
    assert (log.interrupted_install(sandbox.data) is None) == (line == 18)
    sandbox.asks()
    events = sandbox.install()
    assert end(events).state == "done"
    assert states(events)["pytorch"] == ("skipped" if complete else "done")
    if line > 10:
        assert not [requested for requested in sandbox.asks() if requested.endswith(".whl")]
    assert [entry.name for entry in sandbox.environment.parent.iterdir()] == ["env"]
