"""Curves: gaps, downsampling, values at a moment."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_assistant.gui.monitor.plot.curves import EMPTY_CURVE, SeriesCurve, downsample_curve, finite_slices

pytestmark = pytest.mark.gui


def curve(t, y, step=1.0):
    return SeriesCurve(t=t, mean=y, low=y, high=y, step=step)


def test_missing_samples_become_gap():
    y = np.array([1.0, 2, 3, 4, 5])
    line = downsample_curve(curve(np.array([0.0, 1, 2, 60, 61]), y), 0.1)
    assert len(finite_slices(line.mean)) == 2
    assert np.array_equal(line.mean[np.isfinite(line.mean)], y)
    assert (np.diff(line.t) > 0).all()


def test_late_samples_are_no_gap():
    late = curve(np.array([0.0, 1, 4, 5]), np.arange(4.0))
    assert downsample_curve(late, 0.1) is late


def test_unknown_values_split_line():
    slices = finite_slices(np.array([math.nan, 1, 2, math.nan, 3]))
    assert slices == [slice(1, 3), slice(4, 5)]
    assert finite_slices(np.array([math.nan])) == []
    assert finite_slices(np.array([])) == []


def downsample(t, y, column):
    line = downsample_curve(curve(t, y), column)
    return line.t, line.mean, line.low, line.high


def test_downsampling_keeps_mean_and_extremes():
    t = np.arange(3600.0)
    y = np.sin(t / 50)
    y[100] = 40.0
    times, mean, low, high = downsample(t, y, 9.0)
    assert len(times) <= 402
    assert np.nanmax(high) == 40.0
    assert np.nanmin(low) == y.min()
    assert ((low <= mean) & (mean <= high)).all()
    assert np.average(mean) == pytest.approx(y.mean(), abs=0.02)


def test_downsampling_keeps_gaps():
    t = np.arange(1000.0)
    y = np.ones(1000)
    y[400:600] = math.nan
    _, mean, low, high = downsample(t, y, 10.0)
    assert len(finite_slices(mean)) == 2
    assert np.isnan(low).sum() == np.isnan(mean).sum() == np.isnan(high).sum() > 0


def test_downsampled_bins_do_not_move():
    t, y = np.arange(2000.0), np.random.default_rng(1).random(2000)
    first = downsample(t[:1000], y[:1000], 10.0)[0]
    second = downsample(t[3:1003], y[3:1003], 10.0)[0]
    assert len(np.intersect1d(first.round(6), second.round(6))) >= 98


def test_nearest_value_within_tolerance():
    line = curve(np.array([1.0, 2.0, 3.0]), np.array([10.0, math.nan, 30.0]))
    assert line.value_at(1.2, 1) == 10.0
    assert line.value_at(2.0, 1) is None
    assert line.value_at(9.0, 1) is None
    assert line.value_at(3.4, 1) == 30.0
    assert EMPTY_CURVE.value_at(1.0, 1) is None


def test_newer_bins_replace_open_ones():
    old = curve(np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]))
    merged = old.merge_newer(curve(np.array([2.5, 3.5]), np.array([9.0, 4.0])))
    assert merged.t.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert merged.mean.tolist() == [1.0, 2.0, 9.0, 4.0]
    assert old.merge_newer(EMPTY_CURVE) is old
