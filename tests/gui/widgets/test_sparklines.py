"""Small lines keep their shape when the computer's clock is set: speeds follow a clock that only goes on."""

from __future__ import annotations

import time

import pytest

from gpu_assistant.fetch.rate import SpeedMeter
from gpu_assistant.gui.widgets.charts import Sparkline, SpeedSparkline
from gpu_assistant.gui.wizard.pages.install.progress import InstallProgress

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("jump", [-7200.0, 7200.0])
def test_speed_uses_monotonic_clock(qtbot, monkeypatch, jump: float) -> None:
    line, speed = SpeedSparkline(), SpeedMeter()
    qtbot.addWidget(line)
    progress = InstallProgress(None)
    line.add(5e6)
    speed.add(0)
    began = progress._clock()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    end = time.monotonic() + 0.25
    while time.monotonic() < end:
        pass
    line.add(5e6)
    speed.add(1_000_000)
    (first, _), (second, _) = line.points()
    assert 0.25 <= second - first < 60
    assert 0.25 <= progress._clock() - began < 60
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
