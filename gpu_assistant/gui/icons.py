"""Our icons: SVG drawings on a 24 grid, coloured with a token, sharp at every screen ratio."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ..core.paths import resources_dir
from . import theme

BRAND_MARK_RADIUS = 0.22
APP_ICON = "gpu-assistant"
SMALL_APP_ICON_BELOW = 32  # pixels; below it the chip's lines would be thinner than a pixel


def icon_names() -> tuple[str, ...]:
    """All icons that are drawn in a token's colour."""
    return tuple(
        sorted(path.stem for path in (resources_dir() / "icons").glob("*.svg") if not path.stem.startswith(APP_ICON))
    )


def icon(name: str, token: str = "text", size: int = 18) -> QIcon:
    """An icon in a token's colour of now, greyed when disabled; ask again when the theme changes."""
    result = QIcon(pixmap(name, token, size))
    result.addPixmap(pixmap(name, "disabled", size), QIcon.Mode.Disabled)
    return result


def pixmap(
    name: str,
    token: str = "text",
    size: int = 18,
    ratio: float | None = None,
) -> QPixmap:
    """An icon as a picture of `size` × text scale pixels at the screen's ratio; raises KeyError if unknown."""
    return _cached_pixmap(name, theme.color(token).name(), theme.px(size), ratio or _device_pixel_ratio())


def brand_mark(size: int = 30, ratio: float | None = None) -> QPixmap:
    """The product's mark: an accent square with a chip whose core is a tick."""
    ratio = ratio or _device_pixel_ratio()
    side = theme.px(size)
    result = _transparent_pixmap(side, ratio)
    painter = QPainter(result)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent"))
    painter.drawRoundedRect(QRectF(0, 0, side, side), side * BRAND_MARK_RADIUS, side * BRAND_MARK_RADIUS)
    inner = side * 0.86
    edge = (side - inner) / 2
    _svg_renderer("mark", theme.color("on_accent").name()).render(painter, QRectF(edge, edge, inner, inner))
    painter.end()
    return result


def app_icon() -> QIcon:
    """The program's own icon in the sizes that task bars ask for; the same in every theme, as on its shortcut."""
    result = QIcon()
    for size in (16, 20, 24, 32, 40, 48, 64, 128, 256):
        result.addPixmap(QPixmap.fromImage(app_image(size)))
    return result


def app_image(side: int) -> QImage:
    """The program's own icon, `side` × `side` pixels; `installers/icon.py` makes its files from this."""
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(
        QByteArray(_svg_source(f"{APP_ICON}-small" if side < SMALL_APP_ICON_BELOW else APP_ICON).encode())
    ).render(painter)
    painter.end()
    return image


def _device_pixel_ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


def _transparent_pixmap(side: int, ratio: float) -> QPixmap:
    result = QPixmap(QSize(round(side * ratio), round(side * ratio)))
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    return result


@lru_cache(maxsize=512)
def _cached_pixmap(name: str, colour: str, side: int, ratio: float) -> QPixmap:
    renderer = _svg_renderer(name, colour)
    result = _transparent_pixmap(side, ratio)
    painter = QPainter(result)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return result


def _svg_renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_svg_source(name).replace("currentColor", colour).encode()))


@lru_cache(maxsize=128)
def _svg_source(name: str) -> str:
    path = resources_dir() / "icons" / f"{name}.svg"
    if not path.is_file():
        raise KeyError(name)
    return path.read_text(encoding="utf-8")
