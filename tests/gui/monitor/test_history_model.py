from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy")
series = pytest.importorskip("gpu_assistant.gui.monitor.history_model")

pytestmark = pytest.mark.gui


def curve(t, y, step=1.0):
    return series.Curve(t=t, mean=y, low=y, high=y, step=step)


def test_missing_samples_become_gap():
    y = np.array([1.0, 2, 3, 4, 5])
    drawn = series.thinned(curve(np.array([0.0, 1, 2, 60, 61]), y), 0.1)
    assert len(series.pieces(drawn.mean)) == 2
    assert np.array_equal(drawn.mean[np.isfinite(drawn.mean)], y)
    assert (np.diff(drawn.t) > 0).all()


def test_late_samples_are_no_gap():
    late = curve(np.array([0.0, 1, 4, 5]), np.arange(4.0))
    assert series.thinned(late, 0.1) is late


def test_unknown_values_split_line():
    runs = series.pieces(np.array([math.nan, 1, 2, math.nan, 3]))
    assert runs == [slice(1, 3), slice(4, 5)]
    assert series.pieces(np.array([math.nan])) == []
    assert series.pieces(np.array([])) == []


def thin(t, y, column):
    drawn = series.thinned(curve(t, y), column)
    return drawn.t, drawn.mean, drawn.low, drawn.high


def test_downsampling_keeps_mean_and_extremes():
    t = np.arange(3600.0)
    y = np.sin(t / 50)
    y[100] = 40.0
    at, mean, low, high = thin(t, y, 9.0)
    assert len(at) <= 402
    assert np.nanmax(high) == 40.0
    assert np.nanmin(low) == y.min()
    assert ((low <= mean) & (mean <= high)).all()
    assert np.average(mean) == pytest.approx(y.mean(), abs=0.02)


def test_downsampling_keeps_gaps():
    t = np.arange(1000.0)
    y = np.ones(1000)
    y[400:600] = math.nan
    _, mean, low, high = thin(t, y, 10.0)
    assert len(series.pieces(mean)) == 2
    assert np.isnan(low).sum() == np.isnan(mean).sum() == np.isnan(high).sum() > 0


def test_downsampled_bins_do_not_move():
    t, y = np.arange(2000.0), np.random.default_rng(1).random(2000)
    first = thin(t[:1000], y[:1000], 10.0)[0]
    second = thin(t[3:1003], y[3:1003], 10.0)[0]
    assert len(np.intersect1d(first.round(6), second.round(6))) >= 98


def test_nearest_value_within_tolerance():
    line = curve(np.array([1.0, 2.0, 3.0]), np.array([10.0, math.nan, 30.0]))
    assert line.at(1.2, 1) == 10.0
    assert line.at(2.0, 1) is None
    assert line.at(9.0, 1) is None
    assert line.at(3.4, 1) == 30.0
    assert series.EMPTY.at(1.0, 1) is None


def test_newer_bins_replace_open_ones():
    old = curve(np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]))
    whole = old.then(curve(np.array([2.5, 3.5]), np.array([9.0, 4.0])))
    assert whole.t.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert whole.mean.tolist() == [1.0, 2.0, 9.0, 4.0]
    assert old.then(series.EMPTY) is old
