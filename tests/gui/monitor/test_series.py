from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy")
series = pytest.importorskip("gpu_assistant.gui.monitor.series")

pytestmark = pytest.mark.gui


def test_a_hole_in_time_becomes_a_gap():
    t = np.array([0.0, 1, 2, 60, 61])
    y = np.array([1.0, 2, 3, 4, 5])
    with_t, with_y = series.with_gaps(t, y, 1.0)
    assert len(series.pieces(with_y)) == 2
    assert np.array_equal(with_y[np.isfinite(with_y)], y)
    assert (np.diff(with_t) > 0).all()


def test_late_samples_are_no_gap():
    t = np.array([0.0, 1, 4, 5])
    assert series.with_gaps(t, t, 1.0)[0] is t


def test_unknown_values_part_the_line():
    runs = series.pieces(np.array([math.nan, 1, 2, math.nan, 3]))
    assert runs == [slice(1, 3), slice(4, 5)]
    assert series.pieces(np.array([math.nan])) == []
    assert series.pieces(np.array([])) == []


def test_reducing_keeps_mean_lowest_and_highest():
    t = np.arange(3600.0)
    y = np.sin(t / 50)
    y[100] = 40.0
    at, mean, low, high = series.reduced(t, y, 400)
    assert len(at) <= 402
    assert np.nanmax(high) == 40.0
    assert np.nanmin(low) == y.min()
    assert ((low <= mean) & (mean <= high)).all()
    assert np.average(mean) == pytest.approx(y.mean(), abs=0.02)


def test_a_stretch_without_values_stays_a_gap_when_reduced():
    t = np.arange(1000.0)
    y = np.ones(1000)
    y[400:600] = math.nan
    _, mean, low, high = series.reduced(t, y, 100)
    assert len(series.pieces(mean)) == 2
    assert np.isnan(low).sum() == np.isnan(mean).sum() == np.isnan(high).sum() > 0


def test_reduced_stretches_do_not_move_with_the_window():
    t, y = np.arange(2000.0), np.random.default_rng(1).random(2000)
    first = series.reduced(t[:1000], y[:1000], 100)[0]
    second = series.reduced(t[3:1003], y[3:1003], 100)[0]
    assert len(np.intersect1d(first.round(6), second.round(6))) >= 98


def test_the_nearest_value_within_reach(qtbot):
    line = series.Series(series.Line(colour="s1"))
    line.set_data(np.array([1.0, 2.0, 3.0]), np.array([10.0, math.nan, 30.0]), base=0, column=1.0)
    assert line.at(1.2, 1) == 10.0
    assert line.at(2.0, 1) is None
    assert line.at(9.0, 1) is None
    assert line.at(3.4, 1) == 30.0


def test_nothing_to_draw_is_no_error(qtbot):
    line = series.Series(series.Line(colour="s1"))
    line.set_data(np.empty(0), np.empty(0), base=0, column=1.0)
    assert line.at(1.0, 1) is None


def test_the_area_leaves_the_gaps_open(qtbot):
    t = np.arange(100.0)
    y = np.full(100, 5.0)
    y[40:60] = math.nan
    line = series.Series(series.Line(colour="s1"))
    line.set_data(t, y, base=0, column=0.5)
    columns = line._area.ndarray()
    assert len(columns) == 2 * 39 * 2
    assert not ((columns[:, 0] > 39) & (columns[:, 0] < 60)).any()
    assert (columns[:, 3] == 5.0).all()


def test_a_band_reaches_from_lowest_to_highest(qtbot):
    t = np.arange(10.0)
    line = series.Series(series.Line(colour="s1", fill=False))
    line.set_data(t, t, base=0, column=1.0, low=t - 1, high=t + 1)
    assert line._area.ndarray()[:, 3] == pytest.approx(2.0)
