"""Sparklines and bars: gaps, clocks that are set, and room for every value."""

from __future__ import annotations

import time

import pytest

from gpu_assistant.core.plan import PlanEvent, StepEvent, StepSummary
from gpu_assistant.fetch.rate import SpeedMeter
from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.charts import BarChart, Sparkline, SpeedSparkline
from gpu_assistant.gui.wizard.pages.install.progress import InstallProgress

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("jump", [-7200.0, 7200.0])
def test_speed_uses_monotonic_clock(qtbot, monkeypatch, jump: float) -> None:
    line, speed = SpeedSparkline(), SpeedMeter()
    qtbot.addWidget(line)
    progress = InstallProgress(None)
    progress.handle_event(PlanEvent(steps=(StepSummary(id="a", code="download"),)))
    line.add(5e6)
    speed.add(0)
    progress.handle_event(StepEvent(id="a", state="running"))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    end = time.monotonic() + 0.25
    while time.monotonic() < end:
        pass
    line.add(5e6)
    speed.add(1_000_000)
    (first, _), (second, _) = line.points()
    assert 0.25 <= second - first < 60
    progress.handle_event(StepEvent(id="a", state="done"))
    assert 0.25 <= progress.steps["a"].seconds < 60
    rate = speed.rate()
    assert rate is not None
    assert 1_000_000 / 60 < rate <= 4_000_000


def test_points_before_clock_set_back_are_dropped(qtbot) -> None:
    line = Sparkline()
    qtbot.addWidget(line)
    line.set_points([(100.0, 1.0), (130.0, 2.0), (100.0, 3.0), (101.0, 4.0)])
    assert line.points() == ((100.0, 3.0), (101.0, 4.0))
    line.set_points([(100.0, 1.0), (101.0, None), (102.0, 3.0)])
    assert len(line.points()) == 3
    line.set_points([])
    assert line.points() == ()


def test_speed_sparkline_keeps_90_seconds_and_gaps() -> None:
    now = [0.0]
    line = SpeedSparkline(clock=lambda: now[0])
    for second in range(200):
        now[0] = float(second)
        line.add(None if second == 150 else 1e6)
    points = line.points()
    assert points[0][0] == 109.0
    assert points[-1] == (199.0, 1e6)
    assert [x for x, value in points if value is None] == [150.0]
    line.resize(300, 60)
    assert not line.grab().isNull()
    line.clear()
    assert line.points() == ()


def test_bar_chart_is_drawn_and_named(show) -> None:
    bars = show(BarChart([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", None, "—", "accent")]))
    assert bars.accessibleName() == "CPU: 8.4 images/s, GPU: —"
    before = bars.grab().toImage()
    bars.set_bars([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", 262.0, "262 images/s", "accent")])
    assert bars.grab().toImage() != before


def test_narrow_bar_chart_cuts_no_value(show) -> None:
    name, value = "11-22 10:55, full", "8.40 images/s *"
    bars = show(BarChart([(name, 8.4, value, "s5")]))
    labels, values = theme.advance("small", name), theme.advance("small-strong", value)
    bars.resize(int(labels + values) + 200, bars.height())
    beside = bars.sizeHint().height()
    bars.resize(int(max(labels, values)) + 60, bars.height())
    assert bars.sizeHint().height() > beside
    ink = bars.grab().toImage()
    edge = [ink.pixel(ink.width() - 1, y) for y in range(ink.height())]
    assert len(set(edge)) == 1  # no letter ends at the edge
