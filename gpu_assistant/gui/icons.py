"""Our icons: SVG drawings on a 24 grid, coloured with a token, sharp at every screen ratio."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ..core.paths import resources
from . import theme

MARK_RADIUS = 0.22
APP = "gpu-assistant"
APP_SMALL_BELOW = 32  # pixels; below it the chip's lines would be thinner than a pixel


def names() -> tuple[str, ...]:
    """All icons that are drawn in a token's colour."""
    return tuple(sorted(path.stem for path in (resources() / "icons").glob("*.svg") if not path.stem.startswith(APP)))


def icon(name: str, token: str = "text", size: int = 18) -> QIcon:
    """An icon in a token's colour of now, greyed when disabled; ask again when the theme changes."""
    made = QIcon(pixmap(name, token, size))
    made.addPixmap(pixmap(name, "disabled", size), QIcon.Mode.Disabled)
    return made


def pixmap(
    name: str,
    token: str = "text",
    size: int = 18,
    ratio: float | None = None,
) -> QPixmap:
    """An icon as a picture of `size` × text scale pixels at the screen's ratio; raises KeyError if unknown."""
    return _drawn(name, theme.color(token).name(), theme.px(size), ratio or _ratio())


def mark(size: int = 30, ratio: float | None = None) -> QPixmap:
    """The product's mark: an accent square with a chip whose core is a tick."""
    ratio = ratio or _ratio()
    side = theme.px(size)
    made = _empty(side, ratio)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent"))
    painter.drawRoundedRect(QRectF(0, 0, side, side), side * MARK_RADIUS, side * MARK_RADIUS)
    inner = side * 0.86
    edge = (side - inner) / 2
    _renderer("mark", theme.color("on_accent").name()).render(painter, QRectF(edge, edge, inner, inner))
    painter.end()
    return made


def app_icon() -> QIcon:
    """The program's own icon in the sizes that task bars ask for; the same in every theme, as on its shortcut."""
    made = QIcon()
    for size in (16, 20, 24, 32, 40, 48, 64, 128, 256):
        made.addPixmap(QPixmap.fromImage(app_picture(size)))
    return made


def app_picture(side: int) -> QImage:
    """The program's own icon, `side` × `side` pixels; `installers/icon.py` makes its files from this."""
    made = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(QByteArray(_source(f"{APP}-small" if side < APP_SMALL_BELOW else APP).encode())).render(painter)
    painter.end()
    return made


def _ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


def _empty(side: int, ratio: float) -> QPixmap:
    made = QPixmap(QSize(round(side * ratio), round(side * ratio)))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    return made


@lru_cache(maxsize=512)
def _drawn(name: str, colour: str, side: int, ratio: float) -> QPixmap:
    renderer = _renderer(name, colour)
    made = _empty(side, ratio)
    painter = QPainter(made)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return made


def _renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode()))


@lru_cache(maxsize=128)
def _source(name: str) -> str:
    path = resources() / "icons" / f"{name}.svg"
    if not path.is_file():
        raise KeyError(name)
    return path.read_text(encoding="utf-8")
