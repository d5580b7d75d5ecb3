"""How far a health test is: what it is at, what is still to come, and the share of the whole that is done.

The reports of `health.job` say only how much of one check is done. A test goes through its areas in one order
(`PROGRAM_AREAS`, then `SAMPLED_AREAS`), those of the second level once for each GPU.
"""

from __future__ import annotations

from collections.abc import Collection

from ..core.results import Check
from .child_protocol import HealthProgress
from .job import PROGRAM_AREAS, SAMPLED_AREAS

LOAD_AREA = "load"
LEAST_DONE, LEAST_SPENT_S = 0.05, 5.0  # share and seconds of a calculation after which its pace is known
GPU_AREAS = ("copy-bandwidth", "matmul-bits", "memory-test")  # of one GPU after the other


class HealthTestProgress:
    """Follows one test of these `areas`; `gpu_count` GPUs are tested (0: unknown, or the CPU), and
    `load_seconds` is how long they are loaded (None: not at all). `current` is the latest report; None between two
    checks.
    """

    def __init__(self, areas: Collection[str], *, gpu_count: int = 1, load_seconds: float | None = None) -> None:
        self._areas = tuple(area for area in (*PROGRAM_AREAS, *SAMPLED_AREAS) if area in areas)
        self._load_seconds = load_seconds
        self._gpu_count = max(gpu_count, 1)
        self._devices: list[str] = []  # in the order in which the areas of one GPU came to them
        self._reached = 0  # index of the area that is tested now, or comes next
        self._has_begun = False
        self._load_started: float | None = None
        self._current_started = 0.0  # when the current check of the current device began, in seconds of the test
        self._largest = 0.0
        self.current: HealthProgress | None = None

    @property
    def current_area(self) -> str | None:
        """What is tested now; between two checks what comes next, None before the first and after the last."""
        if self.current is not None:
            return self.current.check
        return next(iter(self.areas_to_come), None) if self._has_begun else None

    @property
    def areas_to_come(self) -> tuple[str, ...]:
        """The areas after the current one."""
        is_at_area = self.current is not None and self.current.check in self._areas
        return self._areas[self._reached + 1 if is_at_area else self._reached :]

    def update(self, report: HealthProgress | Check, elapsed_s: float) -> None:
        """Take in a report, `elapsed_s` seconds after the start of the test."""
        self._has_begun = True
        area = report.check if isinstance(report, HealthProgress) else report.id
        if isinstance(report, HealthProgress):
            if self.current is None or (self.current.check, self.current.device) != (area, report.device):
                self._current_started = elapsed_s
            self.current = report
            if area in self._areas:
                self._reached = self._areas.index(area)
            if area in GPU_AREAS and report.device is not None and report.device not in self._devices:
                self._devices.append(report.device)
            if area == LOAD_AREA and self._load_started is None:
                self._load_started = elapsed_s
            return
        if self.current is not None and self.current.check == area:
            self.current = None
        if area in self._areas:
            self._reached = max(self._reached, self._areas.index(area) + 1)

    def seconds_left(self, elapsed_s: float) -> float | None:
        """How long the test still takes: the last calculation at its pace so far, what is read from the samples takes
        no time of its own, and the load a known one. None while other calculations are to come, or before a pace shows.
        """
        current = self.current
        if current is None or current.done is None:
            return None
        if current.check == LOAD_AREA and self._load_seconds is not None:
            return (1 - current.done) * self._load_seconds
        to_come = {*self.areas_to_come} - {*SAMPLED_AREAS, LOAD_AREA}
        is_last_gpu = current.check not in GPU_AREAS or len(self._devices) >= self._gpu_count
        spent_s = elapsed_s - self._current_started
        if to_come or not is_last_gpu or current.done < LEAST_DONE or spent_s < LEAST_SPENT_S:
            return None
        return spent_s * (1 - current.done) / current.done + (self._load_seconds or 0.0)

    def fraction(self, elapsed_s: float) -> float:
        """The share of the whole test that is done, 0 to 1; it never falls.

        Without load it is one of time as soon as it is known how long the test still takes; before, each area counts
        the same. The load takes a known time, so with it the share is one of time: what comes before the load goes on
        at the pace so far.
        """
        done = self.current.done or 0.0 if self.current is not None else 0.0
        left_s = self.seconds_left(elapsed_s)
        if self._load_seconds is None and left_s is not None:
            share = elapsed_s / (elapsed_s + left_s)
        elif self._load_seconds is None:
            share = self._share_of(self._areas, done)
        elif self._load_started is not None:
            loaded = done if self.current is not None and self.current.check == LOAD_AREA else float(self._is_loaded())
            share = (self._load_started + loaded * self._load_seconds) / (self._load_started + self._load_seconds)
        else:
            before = self._share_of(self._areas[: self._areas.index(LOAD_AREA)], done)
            share = elapsed_s / (elapsed_s / before + self._load_seconds) if before > 0 and elapsed_s > 0 else 0.0
        self._largest = max(self._largest, min(share, 1.0))
        return self._largest

    def _is_loaded(self) -> bool:
        return self._reached > self._areas.index(LOAD_AREA)

    def _share_of(self, areas: tuple[str, ...], done: float) -> float:
        """The share of these areas, the first ones; an area of one GPU after the other counts once for each."""
        counts = [self._gpu_count if area in GPU_AREAS else 1 for area in areas]
        finished = sum(counts[: self._reached])
        repeated = [index for index, area in enumerate(areas) if area in GPU_AREAS]
        if repeated and repeated[0] <= self._reached <= repeated[-1]:
            gpus_before = max(len(self._devices) - 1, 0)
            finished = repeated[0] + gpus_before * len(repeated) + self._reached - repeated[0]
        elif repeated and self._reached == repeated[-1] + 1 and len(self._devices) < self._gpu_count:
            finished = repeated[0] + len(self._devices) * len(repeated)  # the next GPU follows
        return min((finished + done) / sum(counts), 1.0) if counts else 0.0
