"""The time that a whole run may take, whatever it is doing when that is up."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

AIR_S = 1.0  # what a measurement that ends by itself may be late


def clock_of(since: Optional[float]) -> float:
    """The clock `time.perf_counter` at that moment of the epoch; now, where it is not given or cannot be."""
    spent = 0.0 if since is None else time.time() - since
    return time.perf_counter() - (spent if 0 <= spent < 3600 else 0.0)


def at(moment: float, stop: Callable[[], Any]) -> None:
    """Call `stop` when the clock `time.perf_counter` shows `moment`, beside whatever torch computes."""
    timer = threading.Timer(max(0.0, moment - time.perf_counter()), stop)
    timer.daemon = True
    timer.start()
