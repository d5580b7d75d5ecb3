from __future__ import annotations

import pytest

from gpu_assistant.gui.monitor.clock import SPANS, Clock

pytestmark = pytest.mark.gui


@pytest.fixture
def clock(qtbot):
    clock = Clock(now=lambda: clock.time)
    clock.time = 10_000.0
    return clock


def test_live_shows_the_last_span(clock):
    clock.choose(60)
    assert clock.view() == (9940.0, 10_000.0)
    clock.time = 10_005.0
    assert clock.view() == (9945.0, 10_005.0)


def test_pause_freezes_and_resumes_at_now(clock):
    clock.pause(True)
    clock.time = 10_100.0
    assert clock.view()[1] == 10_000.0
    clock.pause(False)
    assert clock.view()[1] == 10_100.0


def test_range_chosen_while_paused_keeps_end(clock):
    clock.pause(True)
    clock.time = 10_100.0
    clock.choose(SPANS[0])
    assert clock.view() == (9940.0, 10_000.0)


def test_zoom_keeps_time_under_pointer(clock):
    clock.choose(600)
    clock.pan(-1000)
    start, end = clock.view()
    at = start + 0.25 * (end - start)
    clock.zoom(0.5, at)
    start, end = clock.view()
    assert end - start == pytest.approx(300)
    assert (at - start) / (end - start) == pytest.approx(0.25)


def test_zoom_ends_at_ten_seconds_and_at_thirty_days(clock):
    for _ in range(50):
        clock.zoom(0.5, 9990.0)
    assert clock.span == 10
    for _ in range(50):
        clock.zoom(2, 9990.0)
    assert clock.span == 30 * 86_400


def test_zoom_at_the_right_edge_stays_live(clock):
    clock.zoom(0.8, clock.view()[1])
    assert clock.live


def test_pan_to_past_pauses_and_reset_resumes(clock):
    clock.pan(-100)
    assert not clock.live
    assert clock.view()[1] == 9900.0
    clock.pan(+100)
    assert clock.live


def test_reset_restores_chosen_range(clock, qtbot):
    clock.choose(60)
    clock.zoom(0.5, 9950.0)
    clock.point(9960.0)
    clock.pause(True)
    with qtbot.waitSignal(clock.paused_changed):
        clock.reset()
    assert (clock.live, clock.span, clock.cursor, clock.paused) == (True, 60, None, False)


def test_crosshair_steps_within_view(clock):
    clock.choose(600)
    clock.step(-1)
    assert clock.cursor == 9994.0
    clock.step(+5)
    assert clock.cursor == 10_000.0
    clock.point(0.0)
    assert clock.cursor == 9400.0
    clock.point(None)
    assert clock.cursor is None


def test_as_chosen_reports_chosen_range(clock):
    clock.choose(600)
    clock.pause(True)
    assert clock.as_chosen
    clock.pan(-50)
    assert not clock.as_chosen
    clock.reset()
    clock.zoom(0.5, clock.view()[1])
    assert not clock.as_chosen
    clock.choose(600)
    assert clock.as_chosen


def test_pause_in_past_keeps_view(clock):
    clock.choose(600)
    clock.zoom(0.5, 9700.0)
    clock.pan(-100)
    seen = clock.view()
    clock.pause(True)
    clock.time = 10_100.0
    assert clock.view() == seen
    assert not clock.as_chosen
    clock.pause(False)
    assert clock.view()[1] == 10_100.0
