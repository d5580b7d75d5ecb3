from __future__ import annotations

import pytest

from gpu_assistant.gui.monitor.plot import time_axis

pytestmark = pytest.mark.gui


@pytest.fixture
def axis(qtbot):
    axis = time_axis.TimeAxis(now=lambda: axis.time)
    axis.time = 10_000.0
    return axis


def test_live_shows_the_last_span(axis):
    axis.choose(60)
    assert axis.view() == (9940.0, 10_000.0)
    axis.time = 10_005.0
    assert axis.view() == (9945.0, 10_005.0)


def test_pause_stands_still_then_resumes_at_now(axis):
    axis.pause(True)
    axis.time = 10_100.0
    assert axis.view()[1] == 10_000.0
    axis.pause(False)
    assert axis.view()[1] == 10_100.0


def test_range_chosen_while_paused_ends_at_pause(axis):
    axis.pause(True)
    axis.time = 10_100.0
    axis.choose(time_axis.SPANS[0])
    assert axis.view() == (9940.0, 10_000.0)


def test_zoom_keeps_time_under_pointer(axis):
    axis.choose(600)
    axis.pan(-1000)
    start, end = axis.view()
    at = start + 0.25 * (end - start)
    axis.zoom(0.5, at)
    start, end = axis.view()
    assert end - start == pytest.approx(300)
    assert (at - start) / (end - start) == pytest.approx(0.25)


def test_zoom_ends_at_ten_seconds_and_at_thirty_days(axis):
    for _ in range(50):
        axis.zoom(0.5, 9990.0)
    assert axis.span == 10
    for _ in range(50):
        axis.zoom(2, 9990.0)
    assert axis.span == 30 * 86_400


def test_zoom_at_the_right_edge_stays_live(axis):
    axis.zoom(0.8, axis.view()[1])
    assert axis.live


def test_panning_back_to_now_is_live_again(axis):
    axis.pan(-100)
    assert not axis.live
    assert axis.view()[1] == 9900.0
    axis.pan(+100)
    assert axis.live


def test_reset_is_live_with_the_chosen_range(axis, qtbot):
    axis.choose(60)
    axis.zoom(0.5, 9950.0)
    axis.point(9960.0)
    axis.pause(True)
    with qtbot.waitSignal(axis.paused_changed):
        axis.reset()
    assert (axis.live, axis.span, axis.cursor, axis.paused) == (True, 60, None, False)


def test_crosshair_steps_within_view(axis):
    axis.choose(600)
    axis.step(-1)
    assert axis.cursor == 9994.0
    axis.step(+5)
    assert axis.cursor == 10_000.0
    axis.point(0.0)
    assert axis.cursor == 9400.0
    axis.point(None)
    assert axis.cursor is None


def test_as_chosen_after_pan_zoom_and_reset(axis):
    axis.choose(600)
    axis.pause(True)
    assert axis.as_chosen
    axis.pan(-50)
    assert not axis.as_chosen
    axis.reset()
    axis.zoom(0.5, axis.view()[1])
    assert not axis.as_chosen
    axis.choose(600)
    assert axis.as_chosen


def test_pause_in_past_keeps_view(axis):
    axis.choose(600)
    axis.zoom(0.5, 9700.0)
    axis.pan(-100)
    seen = axis.view()
    axis.pause(True)
    axis.time = 10_100.0
    assert axis.view() == seen
    assert not axis.as_chosen
    axis.pause(False)
    assert axis.view()[1] == 10_100.0
