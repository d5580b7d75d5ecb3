"""From samples to the history, in the thread that takes them: reading a month from the disk takes a moment.

Numpy is imported with the history, not here: a window that just opened samples without it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import AppError
from ..core.results import Sample
from .series import SeriesExtractor

if TYPE_CHECKING:
    from .history import History


LOAD_DELAY_S = 1.0  # a window that just opened is painted first; no GPU is called healthy until the history is read


class HistoryWriter:
    """Writes samples to the history, which (with numpy) is loaded with the first sample that is `load_delay_s` seconds
    after the first one, or follows `load_now`.

    `history` is None until then. Other threads may read it while one thread calls the methods here.
    """

    def __init__(self, create_history: Callable[[], History], *, load_delay_s: float = LOAD_DELAY_S) -> None:
        self._create_history = create_history
        self._load_delay_s = load_delay_s
        self._load_requested = threading.Event()
        self._pending: list[Sample] = []
        self._reported_codes: set[str] = set()
        self._extractor = SeriesExtractor()
        self.history: History | None = None

    def load_now(self) -> None:
        """Load the history with the next sample, because it is to be shown."""
        self._load_requested.set()

    def add_sample(self, sample: Sample) -> None:
        """Add a sample. Raises AppError where the disk cannot be read or written, once for each error code."""
        history = self.history
        if history is None:
            self._pending.append(sample)
            if not self._load_requested.is_set() and sample.t - self._pending[0].t < self._load_delay_s:
                return
            self.history = history = self._create_history()
            try:
                self._report_once(lambda: history.load(repair=True))
            finally:
                self._extractor.register_series(history.names)
                for pending_sample in self._pending:
                    history.add(pending_sample.t, self._extractor.values(pending_sample))
                self._pending = []
            self._report_once(lambda: history.gpu_names.update(sample.gpus))
            self._report_once(lambda: _raise_for_damage(history))
            return
        history.add(sample.t, self._extractor.values(sample))
        self._report_once(lambda: history.gpu_names.update(sample.gpus))
        self._report_once(history.write)

    def flush(self) -> None:
        """Write everything to the disk, because sampling pauses. Raises as `add_sample` does."""
        if self.history is not None:
            history = self.history
            self._report_once(lambda: history.write(force=True))

    def close(self) -> None:
        """Write everything, the current bucket included. Raises as `add_sample` does."""
        if self.history is not None:
            self._report_once(self.history.close)

    def _report_once(self, action: Callable[[], None]) -> None:
        try:
            action()
        except AppError as error:
            # The plots go on without the disk; a full one is reported once and not each second.
            if error.code not in self._reported_codes:
                self._reported_codes.add(error.code)
                raise


def _raise_for_damage(history: History) -> None:
    """Raise AppError("history-damaged") where `load` left something out."""
    if history.damaged_count:
        raise AppError("history-damaged", count=history.damaged_count, path=str(history.folder))
