"""Python's cyclic garbage is collected in the window's thread alone.

Python collects in whichever thread happens to allocate. A widget, a text layout or a timer that ends in a worker's
thread takes Qt's data apart while the window's thread uses them, and the process dies, seldom and anywhere.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 200
OLDEST = 2


class Garbage(QObject):
    """From `start` to `stop` Python's own collector rests, and a timer does its work by the same thresholds."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over. What is loaded by now stays for good and need not be looked through again."""
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Hand back."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def collect(self) -> None:
        """Collect the oldest generation that is due, and with it all younger ones."""
        counts, limits = gc.get_count(), gc.get_threshold()
        for generation in range(OLDEST, -1, -1):
            if counts[generation] > limits[generation]:
                gc.collect(generation)
                return
