"""When to let go of a laptop's idle card: an open driver keeps it awake, which costs hours of battery.

Sources: a card sleeps 6 to 10 s after the last program let go of it (cosmic-applets issue 38); 16 W asked each
second and 10 W asleep, on one laptop (beszel-docs issue 35).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.results import GpuSample

IDLE_SAMPLES = 5
RELEASE_S = 15.0  # longer than a card needs to fall asleep
RETRY_AFTER_S = 600.0  # a card that stayed awake is held by somebody else: the next try is so late, then twice as late
IDLE_PSTATE = 5  # nvml.h: 0 is the fastest, 15 the slowest; a card that is worked with stands below


class IdleRelease:
    """Counts idle samples; says when to let go and for how long. Times in seconds, of one steady clock."""

    def __init__(self) -> None:
        self._idle_samples = 0
        self._released_until: float | None = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S

    def is_released(self, now: float) -> bool:
        """Whether the driver is let go of just now."""
        if self._released_until is not None and now >= self._released_until:
            self._released_until = None
            self._not_before = now + self._retry_after_s
            self._retry_after_s *= 2
        return self._released_until is not None

    def should_release(self, samples: Sequence[GpuSample], now: float) -> bool:
        """Whether a rest begins after these samples."""
        self._idle_samples = self._idle_samples + 1 if samples and all(map(_is_idle, samples)) else 0
        if self._idle_samples < IDLE_SAMPLES or now < self._not_before:
            return False
        self._idle_samples = 0
        self._released_until = now + RELEASE_S
        return True

    def confirm_sleep(self) -> None:
        """The cards did fall asleep, so that the next rest may come at once."""
        self._released_until = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S
        self._idle_samples = 0


def _is_idle(sample: GpuSample) -> bool:
    if sample.state in ("asleep", "gone"):
        return True
    is_active = sample.pstate is not None and sample.pstate < IDLE_PSTATE
    return sample.state == "ready" and sample.util == 0 and not is_active
