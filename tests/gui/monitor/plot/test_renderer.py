"""The curves of a plot move on as if they had been painted anew each time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.plot import renderer
from gpu_assistant.gui.monitor.plot.curves import STRONG_WIDTH, THIN_WIDTH, LineStyle, SeriesCurve

pytestmark = pytest.mark.gui


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


def black(width=1.0) -> QPen:
    pen = QPen(QColor("black"), width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def drawn_line(x, y, **options):
    """Paint a line in black."""
    return lambda painter: renderer.CurvesItem().paint_line(painter, x, y, black(), **options)


def filled(x, low, high):
    """Fill in black."""
    return lambda painter: renderer.fill_between(painter, x, low, high, height=20, colour=QColor("black"))


def test_filled_area_leaves_gaps(painted):
    x, y = np.arange(100.0), np.full(100, 5.0)
    y[40:60] = math.nan
    seen = painted(filled(x, y * 0 + 20, y))
    assert not seen[:, 40:59].any()
    assert seen[5:, :39].all()
    assert not seen[:5].any()


def test_a_band_reaches_from_lowest_to_highest(painted):
    x = np.arange(100.0)
    seen = painted(filled(x, x * 0 + 12, x * 0 + 8))
    assert seen[:, 50].tolist() == [0] * 8 + [1] * 4 + [0] * 8


def test_dashes_differ_and_move_along(painted):
    x, y = np.arange(0.0, 100, 7), np.full(15, 10.5)
    y[7] = math.nan
    kinds = [painted(drawn_line(x, y, dash=dash))[10] for dash in range(4)]
    assert kinds[0][:42].all()
    assert not any(kind[43:55].any() for kind in kinds)
    assert len({kind.tobytes() for kind in kinds}) == 4
    moved = painted(drawn_line(x - 3, y, dash=1, origin=-3.0))[10]
    assert moved[:35].tolist() == kinds[1][3:38].tolist()


def test_nothing_to_draw_is_no_error(painted):
    nothing = np.empty(0)
    assert not painted(drawn_line(nothing, nothing, dash=1)).any()
    assert not painted(filled(nothing, nothing, nothing)).any()


def pixels(item):
    return np.frombuffer(item.picture.toImage().constBits(), np.uint8).astype(int)


def test_curves_that_coincide_take_turns_to_be_seen(qapp):
    t = np.arange(200.0)
    flat = np.full(200, 50.0)
    curve = SeriesCurve(t=t, mean=flat, low=flat, high=flat, step=1.0)
    view = renderer.ViewRange(width=200, height=100, first=0, column=1.0, ticks=(0, 100))
    item = renderer.CurvesItem()
    tokens = ("s1", "s2", "s3")
    lines = [LineStyle(colour_token=token, dash=dash, fill=False, width=2) for dash, token in enumerate(tokens)]
    item.repaint(view, [(line, curve) for line in lines])
    row = int(view.y(50.0))
    image = item.picture.toImage()
    seen = [image.pixelColor(column, row).name() for column in range(1, 199)]
    shares = [seen.count(theme.color(line.colour_token).name()) / len(seen) for line in lines]
    assert min(shares) > 0.25


@pytest.mark.parametrize("strips", [1, 3])
@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
def test_an_advanced_picture_is_as_a_repainted_one(qapp, ratio, strips):
    """Also where a pixel has a fraction of a device pixel more, and in strips whose height is no whole number."""
    t = np.arange(2000.0)
    wave = 50 + 40 * np.sin(t / 40)
    wave[700:740] = math.nan
    lines = [LineStyle(colour_token="s1"), LineStyle(colour_token="s2", dash=1, fill=False)]
    lines += [LineStyle(colour_token="s3", dash=2, fill=False)] * (strips - len(lines))
    moving, anew = renderer.CurvesItem(), renderer.CurvesItem()
    width, column = round(300 * ratio), 2.0 / ratio

    def view(end: float):
        first = math.ceil(end / column) - width
        return renderer.ViewRange(
            width=width, height=100, first=first, column=column, ticks=(0, 100), ratio=ratio, strips=strips
        )

    def curves(until: float):
        cut = t <= until
        curve = SeriesCurve(t=t[cut], mean=wave[cut], low=wave[cut], high=wave[cut], step=1.0)
        return [(line, curve) for line in lines]

    before = view(1000)
    moving.repaint(before, curves(1000))
    for now in range(1004, 1200, 7):
        after = view(now)
        moving.advance(after.first - before.first, now - 12, after, curves(now))
        anew.repaint(after, curves(now))
        before = after
        assert np.abs(pixels(moving) - pixels(anew)).max() <= 24, now


def test_a_strong_line_is_on_top_of_a_thin_one(qapp):
    """Also where it is solid, which is painted first among lines of one width."""
    t = np.arange(300.0)
    flat = np.full(300, 50.0)
    crossing = 100.0 * (t % 2)
    curve, other = (SeriesCurve(t=t, mean=values, low=values, high=values, step=1.0) for values in (flat, crossing))
    view = renderer.ViewRange(width=300, height=100, first=0, column=1.0, ticks=(0, 100))
    strong = LineStyle(colour_token="s1", fill=False, width=STRONG_WIDTH)
    thin = LineStyle(colour_token="s2", dash=1, fill=False, width=THIN_WIDTH)
    pictures = []
    for lines in ([(strong, curve)], [(strong, curve), (thin, other)]):
        item = renderer.CurvesItem()
        item.repaint(view, lines)
        row = int(view.y(50))
        pictures.append([item.picture.toImage().pixelColor(x, row).name() for x in range(50, 250)])
    assert pictures[0] == pictures[1]


def test_each_curve_of_a_view_with_strips_is_in_its_own(qapp):
    """At the same value as in the others, solid and filled down to its base, with its gap."""
    t = np.arange(300.0)
    full = np.full(300, 100.0)
    full[100:150] = math.nan
    curve = SeriesCurve(t=t, mean=full, low=full, high=full, step=1.0)
    nothing = SeriesCurve(t=t, mean=full * math.nan, low=full * math.nan, high=full * math.nan, step=1.0)
    view = renderer.ViewRange(width=300, height=120, first=0, column=1.0, ticks=(0, 100), strips=4)
    dashed = LineStyle(colour_token="s1", dash=1, fill=False)
    item = renderer.CurvesItem()
    rows = []
    for strip in range(4):
        item.repaint(view, [(dashed, curve if each == strip else nothing) for each in range(4)])
        image = item.picture.toImage()
        painted = np.array([[image.pixelColor(x, y).alpha() for x in range(300)] for y in range(120)]) > 0
        assert not painted[:, 105:145].any()
        assert painted[:, 160:290].any(axis=1).tolist() == painted[:, 160:290].all(axis=1).tolist()
        rows.append(np.flatnonzero(painted[:, 200]))
    assert [(found.max() + 1) / 30 for found in rows] == [1, 2, 3, 4]
    assert all(found.min() > 30 * strip for strip, found in enumerate(rows))
    assert all(np.array_equal(found, rows[0] + 30 * strip) for strip, found in enumerate(rows))
