"""Whether the cards are well, asked of every sample on the thread that takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import AppError

if TYPE_CHECKING:
    from ..core.health import Health
    from ..core.results import Sample
    from ..health.watch import HealthMonitor
    from ..monitor.history import History

BASELINE_REFRESH_S = 3600.0  # how hot a card usually is changes over days
PROVISIONAL_STATES = ("well", "watching", "untold")  # what the past may turn into an alarm


class HealthEvaluator:
    """Makes the watch with the first sample, and tells it what the history knows of the cards: of each one as soon as
    it is there, and of all once an hour. Until then nobody is called well.

    `cuda` is the outcome of the last check of CUDA ("pass", "fail"); any thread may set it. After a rule that cannot
    be read nothing is judged any more.
    """

    def __init__(
        self,
        create_monitor: Callable[[], HealthMonitor],
        load_baselines: Callable[[HealthMonitor, History, Sample], None],
    ) -> None:
        self._create_monitor = create_monitor
        self._load_baselines = load_baselines
        self._monitor: HealthMonitor | None = None
        self._next_refresh: float | None = None
        self._gpus_with_baseline: frozenset[str | int] = frozenset()  # the cards of which the past was told
        self._rules_failed = False
        self.cuda_state: str | None = None

    def evaluate(self, sample: Sample, history: History | None) -> Health | None:
        """How things stand now, `history` being None until it is read; None where nobody can say. Raises AppError once,
        where the rules cannot be read.
        """
        if self._rules_failed:
            return None
        if self._monitor is None:
            try:
                self._monitor = self._create_monitor()
            except AppError:
                self._rules_failed = True
                raise
        self._monitor.cuda_state = self.cuda_state
        if history is None:
            health = self._monitor.update(sample)
            return replace(health, state="unknown") if health.state in PROVISIONAL_STATES else health
        gpu_keys = frozenset(gpu.uuid or gpu.index for gpu in sample.gpus)
        due = self._next_refresh is None or not 0 < self._next_refresh - sample.t <= BASELINE_REFRESH_S
        if due or not gpu_keys <= self._gpus_with_baseline:  # a driver that takes its time names its cards later
            self._next_refresh = sample.t + BASELINE_REFRESH_S
            self._gpus_with_baseline = gpu_keys if due else self._gpus_with_baseline | gpu_keys
            self._load_baselines(self._monitor, history, sample)
        return self._monitor.update(sample)
