from __future__ import annotations

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter

np = pytest.importorskip("numpy")
series = pytest.importorskip("gpu_assistant.gui.monitor.history_model")
strokes = pytest.importorskip("gpu_assistant.gui.monitor.strokes")

pytestmark = pytest.mark.gui


def curve(t, y, step=1.0):
    return series.SeriesCurve(t=t, mean=y, low=y, high=y, step=step)


def test_missing_samples_become_gap():
    y = np.array([1.0, 2, 3, 4, 5])
    drawn = series.downsample_curve(curve(np.array([0.0, 1, 2, 60, 61]), y), 0.1)
    assert len(series.finite_slices(drawn.mean)) == 2
    assert np.array_equal(drawn.mean[np.isfinite(drawn.mean)], y)
    assert (np.diff(drawn.t) > 0).all()


def test_late_samples_are_no_gap():
    late = curve(np.array([0.0, 1, 4, 5]), np.arange(4.0))
    assert series.downsample_curve(late, 0.1) is late


def test_unknown_values_split_line():
    runs = series.finite_slices(np.array([math.nan, 1, 2, math.nan, 3]))
    assert runs == [slice(1, 3), slice(4, 5)]
    assert series.finite_slices(np.array([math.nan])) == []
    assert series.finite_slices(np.array([])) == []


def thin(t, y, column):
    drawn = series.downsample_curve(curve(t, y), column)
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
    assert len(series.finite_slices(mean)) == 2
    assert np.isnan(low).sum() == np.isnan(mean).sum() == np.isnan(high).sum() > 0


def test_downsampled_bins_do_not_move():
    t, y = np.arange(2000.0), np.random.default_rng(1).random(2000)
    first = thin(t[:1000], y[:1000], 10.0)[0]
    second = thin(t[3:1003], y[3:1003], 10.0)[0]
    assert len(np.intersect1d(first.round(6), second.round(6))) >= 98


def test_nearest_value_within_tolerance():
    line = curve(np.array([1.0, 2.0, 3.0]), np.array([10.0, math.nan, 30.0]))
    assert line.value_at(1.2, 1) == 10.0
    assert line.value_at(2.0, 1) is None
    assert line.value_at(9.0, 1) is None
    assert line.value_at(3.4, 1) == 30.0
    assert series.EMPTY_CURVE.value_at(1.0, 1) is None


def test_newer_bins_replace_open_ones():
    old = curve(np.array([0.5, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]))
    whole = old.merge_newer(curve(np.array([2.5, 3.5]), np.array([9.0, 4.0])))
    assert whole.t.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert whole.mean.tolist() == [1.0, 2.0, 9.0, 4.0]
    assert old.merge_newer(series.EMPTY_CURVE) is old


@pytest.fixture
def painted(qapp):
    """What a stroke leaves on a white ground of 100 by 20 pixels: 1 where there is colour."""

    def made(stroke):
        image = QImage(100, 20, QImage.Format.Format_Grayscale8)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setPen(QColor("black"))
        stroke(painter)
        painter.end()
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(20, image.bytesPerLine())
        return (rows[:, :100] < 255).astype(int)

    return made


def test_filled_area_leaves_gaps(painted):
    x, y = np.arange(100.0), np.full(100, 5.0)
    y[40:60] = math.nan
    seen = painted(lambda painter: strokes.area(painter, x, y * 0 + 20, y, height=20, colour=QColor("black")))
    assert not seen[:, 40:59].any()
    assert seen[5:, :39].all()
    assert not seen[:5].any()


def test_a_band_reaches_from_lowest_to_highest(painted):
    x = np.arange(100.0)
    seen = painted(lambda painter: strokes.area(painter, x, x * 0 + 12, x * 0 + 8, height=20, colour=QColor("black")))
    assert seen[:, 50].tolist() == [0] * 8 + [1] * 4 + [0] * 8


def test_dash_patterns_differ_and_move(painted):
    x, y = np.arange(0.0, 100, 7), np.full(15, 10.0)
    y[7] = math.nan
    kinds = [painted(lambda painter, dash=dash: strokes.line(painter, x, y, dash=dash))[10] for dash in range(4)]
    assert kinds[0][:42].all()
    assert not any(kind[43:55].any() for kind in kinds)
    assert len({kind.tobytes() for kind in kinds}) == 4
    moved = painted(lambda painter: strokes.line(painter, x - 3, y, dash=1, origin=-3.0))[10]
    assert moved[:35].tolist() == kinds[1][3:38].tolist()


def test_nothing_to_draw_is_no_error(painted):
    nothing = np.empty(0)
    assert not painted(lambda painter: strokes.line(painter, nothing, nothing, dash=1)).any()
    assert not painted(
        lambda painter: strokes.area(painter, nothing, nothing, nothing, height=20, colour=QColor("black"))
    ).any()
