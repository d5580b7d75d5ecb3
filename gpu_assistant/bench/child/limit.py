"""The time that a whole run may take, whatever it is doing when that is up."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

EXIT_MARGIN_S = 1.0  # what a measurement that ends by itself may be late


def clock_at_epoch(epoch_seconds: Optional[float]) -> float:
    """The clock `time.perf_counter` at that moment of the epoch; now, where it is not given or cannot be."""
    elapsed = 0.0 if epoch_seconds is None else time.time() - epoch_seconds
    return time.perf_counter() - (elapsed if 0 <= elapsed < 3600 else 0.0)


def call_at(deadline: float, callback: Callable[[], Any]) -> None:
    """Call `stop` when the clock `time.perf_counter` shows `moment`, beside whatever torch computes."""
    timer = threading.Timer(max(0.0, deadline - time.perf_counter()), callback)
    timer.daemon = True
    timer.start()
