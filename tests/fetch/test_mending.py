"""While wrong bytes are looked for: the speed limit, pause and Cancel hold, a bad line loses nothing, and the reserve
helps where nobody else can.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Wanted
from tests.fakes.fault_server import Fault, FaultServer
from tests.fetch.test_liars import DATA, MIB, SHA256, come, flipped, patient

__all__ = ["patient"]

HALF = len(DATA) // 2


class Work(threading.Thread):
    """A download in a thread of its own, which can be paused, limited and stopped."""

    def __init__(self, path: Path, limits: Limits, *urls: str, reserve: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.pace, self.stopped = Pace(), threading.Event()
        self.error: AppError | None = None
        wanted = Wanted(url=urls[0], mirrors=urls[1:], reserve=reserve, slow_bytes=1, path=path, sha256=SHA256)
        self.download = Download(wanted, Common(limits, self.stopped, self.pace))

    def run(self) -> None:
        try:
            self.download.run()
        except AppError as error:
            self.error = error

    def until(self, come_true: Callable[[], bool]) -> None:
        ending = time.monotonic() + 20
        while not come_true():
            assert time.monotonic() < ending
            self.join(0.01)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.bin"


def liar(server: FaultServer, path: Path, *places: int) -> str:
    """A source whose bytes are all here, and wrong in these places."""
    wrong = flipped(*places)
    bad = server.add("/bad", wrong)
    come(path, *((at, at + MIB, bad, wrong) for at in range(0, len(DATA), MIB)))
    return bad


def test_the_speed_limit_holds(server: FaultServer, path: Path, patient: Limits) -> None:
    work = Work(path, patient, liar(server, path, len(DATA) - 1), server.add("/good", DATA))
    work.pace.most = 12 * MIB
    began = time.monotonic()
    work.start()
    work.until(lambda: work.download.slow_now() == "mending")
    work.join(30)
    # All of it is compared; a tenth of a second's bytes are free each time.
    assert time.monotonic() - began > 1.5
    assert (work.error, path.read_bytes() == DATA) == (None, True)


def test_a_pause_asks_for_nothing_and_costs_no_source(server: FaultServer, path: Path, patient: Limits) -> None:
    work = Work(path, patient, liar(server, path, len(DATA) - 1), server.add("/good", DATA, rate=8e6))
    work.start()
    for step in (1, 2, 3, 4):
        work.until(lambda step=step: work.download.fetched > step * 2 * MIB)  # type: ignore[misc]
        work.pace.pause()
        work.until(lambda: server.files["/good"].now == 0)
        fetched = work.download.fetched
        work.join(0.2)
        assert work.download.fetched == fetched
        work.pace.resume()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)


def test_cancel_ends_a_silent_read_at_once_and_nothing_is_lost(
    server: FaultServer, path: Path, patient: Limits
) -> None:
    bad, good = liar(server, path, 5 * MIB, 9 * MIB), server.add("/good", DATA)
    server.files["/good"].faults = [Fault("drop", after=2**40)] * 2 + [Fault("stall", after=MIB)]
    silent = Limits(stall_seconds=60)
    work = Work(path, silent, bad, good)
    work.start()
    assert server.stalled.wait(10)
    asked = time.monotonic()
    work.stopped.set()
    work.join(10)
    assert time.monotonic() - asked < 1
    assert isinstance(work.error, Cancelled)
    again = Work(path, patient, bad, good)
    again.start()
    again.join(30)
    assert (again.error, path.read_bytes() == DATA) == (None, True)
    # One block was exchanged before, and counts.
    assert (again.download.reused, again.download.fetched) == (len(DATA), 12 * MIB)


def test_a_line_that_breaks_is_not_called_a_wrong_file_and_loses_nothing(
    server: FaultServer, path: Path, patient: Limits
) -> None:
    wrong = flipped(len(DATA) - 1)
    bad, good = server.add("/bad", wrong), server.add("/good", DATA)
    server.files["/good"].faults = [Fault("drop", after=HALF)] + [Fault("reset")] * 99
    quick = Limits(tries=2, pause_seconds=0.01, stall_seconds=5, probe_seconds=0.2)
    come(path, (0, HALF, good, DATA), (HALF, len(DATA), bad, wrong))
    work = Work(path, quick, bad, server.url + "/away", good)
    server.files["/bad"].faults = [Fault("reset")] * 99
    work.start()
    work.join(30)
    assert isinstance(work.error, NetworkError)
    assert work.error.data["have_bytes"] == len(DATA)
    server.files["/good"].faults = []
    again = Work(path, patient, bad, good)
    again.start()
    again.join(30)
    assert (again.error, path.read_bytes() == DATA) == (None, True)
    assert again.download.reused == len(DATA)


@pytest.mark.parametrize("fault", [Fault("drop", after=100), Fault("status"), Fault("reset")], ids=lambda f: f.kind)
def test_a_source_that_fails_once_in_a_while_still_mends(
    server: FaultServer, path: Path, limits: Limits, fault: Fault
) -> None:
    bad, good = liar(server, path, len(DATA) - 1), server.add("/good", DATA)
    server.files["/good"].faults = [fault, fault, Fault("drop", after=2**40), fault, fault]
    work = Work(path, limits, bad, good)
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)
    assert work.download.fetched <= len(DATA) + 4 * 100


def test_the_reserve_settles_what_two_disagree_on(server: FaultServer, path: Path, patient: Limits) -> None:
    # Both are wrong in the same block, each in its own way, and beside it too.
    one, two = flipped(MIB, HALF), flipped(MIB + 1, 13 * MIB, 20 * MIB)
    first, second = server.add("/one", one), server.add("/two", two)
    come(path, (0, HALF, first, one), (HALF, len(DATA), second, two))
    work = Work(path, patient, first, second, reserve=(server.add("/reserve", DATA),))
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)
    # Of the reserve only the two blocks in which nobody was right.
    assert len(server.gets("/reserve")) == 2


def test_the_reserve_mends_what_the_only_source_gave(server: FaultServer, path: Path, patient: Limits) -> None:
    bad = server.add("/bad", flipped(MIB))
    work = Work(path, patient, bad, reserve=(server.add("/reserve", DATA),))
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)
    assert work.download.fetched <= len(DATA) + 4 * MIB


def test_the_reserve_is_left_alone_where_the_others_settle_it(server: FaultServer, path: Path, patient: Limits) -> None:
    work = Work(path, patient, liar(server, path, 7), server.add("/good", DATA), reserve=(server.add("/third", DATA),))
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)
    assert server.gets("/third") == []


def test_one_answer_that_ignores_the_range_costs_nothing(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", DATA, faults=[Fault("drop", after=12 * MIB), Fault("ignore-range")])
    work = Work(path, limits, url)
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == DATA) == (None, True)
    assert work.download.fetched == len(DATA)
