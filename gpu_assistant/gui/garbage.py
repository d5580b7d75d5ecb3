"""Python's cyclic garbage is collected in the window's thread alone.

Python collects in whichever thread happens to allocate. A widget, a text layout or a timer that ends in a worker's
thread takes Qt's data apart while the window's thread uses them, and the process dies, seldom and anywhere.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

COLLECT_INTERVAL_MS = 200
DEFAULT_LIMIT = 10  # a Python that collects in small steps names no limit; this is the others'


class GarbageCollector(QObject):
    """From `start` on Python's own collector rests, and a timer does its work by the same thresholds until `stop`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=COLLECT_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over. What is loaded by now stays for good and need not be looked through again."""
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """The window is closed. Python's own collector goes on resting: a thread that was left behind may still run,
        and would take apart what the window leaves.
        """
        self._timer.stop()

    def collect(self) -> None:
        """Collect the oldest generation that is due by now, and with it all younger ones.

        Between two beats Python would have collected many times; those count as if they had been.
        """
        youngest, middle, oldest = gc.get_count()
        limits = [limit or DEFAULT_LIMIT for limit in gc.get_threshold()]
        missed = youngest // limits[0]
        middle += missed
        oldest += middle // limits[1]
        if oldest > limits[2]:
            gc.collect(2)
        elif middle > limits[1]:
            gc.collect(1)
        elif missed:
            gc.collect(0)
