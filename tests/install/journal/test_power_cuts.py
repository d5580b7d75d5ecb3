"""The power is cut before and after every line of the journal: the next run ends the same, and no line lies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.install.host import Host
from gpu_assistant.install.journal import log
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.journal.recovery import active_effects, observe_state
from gpu_assistant.install.steps.kinds import STEP_KINDS

from ..child_process import ChildProcess
from ..sandbox import end
from ..step_kinds import SmallSandbox


def run_until(root: str, what: str, stop: str, when: str) -> int:
    """Install or uninstall; die before or after the `stop`th write of the journal, as of SIGKILL: without cleaning up.

    Returns how many writes there were.
    """
    count, append = 0, Journal.append

    def counted(self: Journal, record: Any) -> None:
        nonlocal count
        count += 1
        if count == int(stop) and when == "before":
            os._exit(9)
        append(self, record)
        if count == int(stop):
            os._exit(9)

    Journal.append = counted  # type: ignore[method-assign]
    sandbox = SmallSandbox(Path(root))
    sandbox.install() if what == "install" else sandbox.uninstall()
    return count


@pytest.fixture(scope="module")
def child() -> Iterator[ChildProcess]:
    with ChildProcess(__name__, "run_until") as process:
        yield process


def furnish(root: Path) -> SmallSandbox:
    """A sandbox with a file and variables of the user's own."""
    sandbox = SmallSandbox(root)
    (sandbox.outside / "note.txt").write_text("old", encoding="utf-8")
    sandbox.variables.set("CUDA_PATH", "%OLD%", expand=True)
    sandbox.variables.set("PATH", "first;;second;", expand=True)
    return sandbox


def truths(sandbox: SmallSandbox) -> None:
    """Each effect that the journal calls done is there."""
    host = Host(sandbox.system, sandbox.data)
    for each in active_effects(sandbox.data):
        if each.is_confirmed:
            assert observe_state(each, host, STEP_KINDS) == "applied", each


def writes(child: ChildProcess, tmp_path: Path, what: str) -> int:
    sandbox = furnish(tmp_path / "count")
    if what == "uninstall":
        sandbox.install()
    done = child.run(sandbox.root, what, 0, "after")
    assert done.returncode == 0
    return int(done.output)


# Under Wine, where each process takes seconds to start, every fifth.
STEP = 1 if sys.platform == "linux" else 5


@pytest.mark.timeout(600)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["install", "uninstall"])
def test_power_cut_at_each_journal_line_is_recovered(child: ChildProcess, tmp_path: Path, what: str, when: str) -> None:
    count = writes(child, tmp_path, what)
    assert count > 15
    model = furnish(tmp_path / "model")
    before = model.seen()
    model.install()
    complete = {name: data for name, data in model.seen().items() if name != "outside/variables.json"}
    for stop in range(1, count + 1, STEP):
        sandbox = furnish(tmp_path / str(stop))
        if what == "uninstall":
            sandbox.install()
        assert child.run(sandbox.root, what, stop, when).returncode == 9
        truths(sandbox)
        if what == "install":
            stopped = log.interrupted_install(sandbox.data)
            assert (stopped is None) == ((stop, when) in ((count, "after"), (1, "before"))), stop
            assert end(sandbox.install()).state == "done"
            truths(sandbox)
            assert {name: data for name, data in sandbox.seen().items() if name in complete} == complete
            assert sandbox.variables.is_on_path(sandbox.data.toolkits / "cuda" / "bin")
        if (what, when, stop) != ("uninstall", "after", count):
            undo(sandbox)
        assert sandbox.seen() == {**before, "data/toolkits": None} or sandbox.seen() == before, stop
        assert not [each for each in active_effects(sandbox.data) if each.is_confirmed]


def undo(sandbox: SmallSandbox) -> None:
    from gpu_assistant.core.errors import AppError

    try:
        assert end(sandbox.uninstall()).state == "done"
    except AppError as error:
        # Everything was taken back already; only the run's own last line was lost.
        assert error.code == "environment-missing"  # noqa: PT017


def test_effects_not_applied_are_recorded_as_absent(tmp_path: Path) -> None:
    sandbox = SmallSandbox(tmp_path)
    before = sandbox.seen()
    sandbox.install()
    assert sandbox.variables.is_on_path(sandbox.data.toolkits / "cuda" / "lib")
    sandbox.uninstall()
    assert sandbox.seen() == before
