"""Every byte that an install fetches goes through the pace that its owner may hold or slow."""

from __future__ import annotations

import threading

from gpu_assistant.fetch.rate import RateLimiter

from ..sandbox import Sandbox, states


class Counting(RateLimiter):
    """Counts what it was asked to let through."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def throttle(self, count: int, stopped: threading.Event) -> None:
        self.bytes += count
        super().throttle(count, stopped)


def test_every_byte_passes_the_rate_limiter(sandbox: Sandbox) -> None:
    pace = Counting()
    done = sandbox.install(rate_limiter=pace)
    assert states(done)["download"] == "done"
    assert pace.bytes >= sum(len(wheel.data) for wheel in (sandbox.torch, *sandbox.others))
