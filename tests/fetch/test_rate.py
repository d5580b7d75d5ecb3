"""The speed limit, pause and resume, and the speed that is shown."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from gpu_assistant.fetch.downloader import Downloader, Totals
from gpu_assistant.fetch.rate import RateLimiter, SpeedMeter
from gpu_assistant.fetch.request import Limits
from tests.fakes.fault_server import FaultServer

from .downloads import LARGE, request


def test_speed_is_of_the_last_seconds() -> None:
    now = 0.0
    speed = SpeedMeter(window=4.0, clock=lambda: now)
    assert speed.rate() is None
    for second in range(20):
        now = float(second)
        speed.add(second * (100 if second < 10 else 50))
    assert speed.rate() == pytest.approx(50, rel=0.01)


def test_no_limit_means_large_chunks_and_no_waiting() -> None:
    rate = RateLimiter()
    started = time.monotonic()
    rate.throttle(10**12, threading.Event())
    assert (rate.chunk_size(2**20), time.monotonic() - started < 1) == (2**20, True)


def test_a_limit_makes_chunks_small() -> None:
    assert RateLimiter(200_000).chunk_size(2**20) == 10_000
    assert RateLimiter(100).chunk_size(2**20) == 1024


def test_a_stop_ends_the_waiting() -> None:
    stopped = threading.Event()
    threading.Timer(0.1, stopped.set).start()
    started = time.monotonic()
    RateLimiter(1000).throttle(1_000_000, stopped)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("limit", [None, 10**9])
def test_another_limit_ends_the_waiting(limit: int | None) -> None:
    """A chunk that came before a low limit was set would else be waited for, whatever the user chooses next."""
    rate = RateLimiter(1000)
    waiting = threading.Thread(target=rate.throttle, args=(1_000_000, threading.Event()), daemon=True)
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    rate.limit = limit
    waiting.join(2)
    assert not waiting.is_alive()


def test_limit_takes_no_notice_of_a_clock_that_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1e9 * (-1) ** number for number in range(1000)])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    rate, stopped = RateLimiter(100_000), threading.Event()
    started = time.monotonic()
    for _ in range(10):
        rate.throttle(5_000, stopped)
    assert 0.3 <= time.monotonic() - started < 5


def test_pause_resume_and_limit_of_a_download(server: FaultServer, path: Path, more_tries: Limits) -> None:
    # Before anything is held back, each of eight connections has a chunk, and a tenth of a second's bytes are free.
    rate = RateLimiter(4_000_000)
    free = more_tries.connections * rate.chunk_size(2**20) + 4_000_000 // 10
    paused: list[float] = []

    def progress(totals: Totals) -> None:
        if totals.done > 6_000_000 and not paused:
            rate.pause()
            paused.append(time.monotonic())
        elif paused and len(paused) == 1 and time.monotonic() - paused[0] > 0.5:
            paused.append(totals.done)
            rate.limit = None
            rate.resume()

    started = time.monotonic()
    todo = [request(path, server.add("/file", LARGE), data=LARGE)]
    Downloader(todo, cancel=threading.Event(), progress=progress, limits=more_tries, rate=rate).run()
    assert paused[0] - started > (6_000_000 - free) / 4_000_000
    assert paused[1] < len(LARGE)
    assert path.read_bytes() == LARGE
