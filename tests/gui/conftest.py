"""What every test of the window shares: no Qt object ends in a worker's thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from gpu_assistant.gui.garbage import Garbage


@pytest.fixture(autouse=True)
def garbage(qapp: QApplication) -> Iterator[Garbage]:
    made = Garbage(qapp)
    made.start()
    yield made
    made.stop()
    made.deleteLater()
