"""The view of a running measurement, with a clock of its own."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer

from gpu_assistant.bench.child_protocol import MemoryFitProgress
from gpu_assistant.gui.bench.running import ActivityText, RunningView

pytestmark = pytest.mark.gui


class Clock:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_elapsed_time_updates_without_reports(qtbot, language):
    clock = Clock()
    view = RunningView(lambda report: ActivityText("Title", report.variant), monotonic=clock)
    qtbot.addWidget(view)
    view.start(lambda: "About 1 minute")
    clock.seconds += 46
    view.findChild(QTimer, "clockTimer").timeout.emit()
    assert view.count_label.text() == "running for 46 seconds"
    view.show_progress(MemoryFitProgress(index=2, total=5, variant="mixed"))
    assert view.count_label.text() == "2 of 5 · mixed · running for 46 seconds"
    assert view.note_label.text() == "About 1 minute"


def test_the_longest_time_left_counts_from_the_first_report(qtbot, language):
    clock = Clock()
    view = RunningView(lambda report: ActivityText("Title", limit_s=54.0), monotonic=clock)
    qtbot.addWidget(view)
    view.start(lambda: "")
    clock.seconds += 20  # PyTorch is loading
    view.show_progress(MemoryFitProgress(index=1, total=5, variant="plain"))
    assert view.count_label.text() == "1 of 5 · running for 20 seconds · at most 54 seconds left"
    clock.seconds += 30
    view.show_progress(MemoryFitProgress(index=2, total=5, variant="mixed"))
    assert view.count_label.text() == "2 of 5 · running for 50 seconds · at most 24 seconds left"
    clock.seconds += 30  # late: nothing is promised any more
    view.findChild(QTimer, "clockTimer").timeout.emit()
    assert view.count_label.text() == "2 of 5 · running for 80 seconds"
