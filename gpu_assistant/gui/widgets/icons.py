"""Icons: SVG drawings on a grid of 24, in a token's colour, sharp at every device pixel ratio; as pixmaps and as
widgets.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage, QPainter, QPaintEvent, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...core.paths import resources_dir
from .. import theme
from .base import Themed, draw_rounded_rect, tint_border

ON_TINT_ALPHA = 0.18
STATE_ICONS = {"ok": "ok", "warn": "warn", "error": "error", "accent": "info", "neutral": "moon"}


class IconWidget(Themed, QWidget):
    """An icon in a token's colour; `background` "square" or "disc" puts it on a ground of `background_size` pixels.

    Without `background_color` the ground stands out from a tinted one: it has the colour of cards, in a dark theme a
    shade of the icon's own. `beside` is the kind of a text at whose first line the icon stands: it is as high as that
    line.
    """

    def __init__(
        self,
        name: str,
        token: str = "accent",
        size: int = 18,
        *,
        background: str | None = None,
        background_size: int = 34,
        background_color: str | None = "accent_soft",
        beside: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.name, self.token, self.icon_size, self.beside = name, token, size, beside
        self.background, self.background_size, self.background_color = background, background_size, background_color
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        # Decoration: the text beside it says the same.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.apply_theme()

    def set(self, name: str, token: str | None = None, background_color: str | None = None) -> None:
        """Show another icon; None keeps a colour as it is."""
        self.name, self.token = name, token or self.token
        self.background_color = background_color or self.background_color
        self.refresh()

    def sizeHint(self) -> QSize:
        side = theme.px(self.background_size if self.background else self.icon_size)
        return QSize(side, side if self.beside is None else max(side, theme.text_height(self.beside)))

    def _ground(self) -> QColor:
        if self.background_color is not None:
            return theme.color(self.background_color)
        return theme.color(self.token, ON_TINT_ALPHA) if theme.current().dark else theme.color("card")

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.background:
            radius = rect.width() / 2 if self.background == "disc" else 8.0
            border = tint_border(self.token)
            draw_rounded_rect(
                painter,
                rect,
                radius,
                self._ground(),
                theme.color(border) if border else None,
                width=1.5,
            )
        draw_icon(painter, self.name, self.token if self.isEnabled() else "disabled", self.icon_size, rect)


def draw_icon(painter: QPainter, name: str, token: str, size: int, rect: QRectF) -> None:
    """Draw an icon centred in `rect`, on whole pixels."""
    icon_pixmap = pixmap(name, token, size, painter.device().devicePixelRatio())
    side = theme.px(size)
    painter.drawPixmap(
        round(rect.x() + (rect.width() - side) / 2), round(rect.y() + (rect.height() - side) / 2), icon_pixmap
    )


BRAND_MARK_RADIUS = 0.22
APP_ICON = "gpu-assistant"
SMALL_APP_ICON_BELOW = 32  # pixels; below it the chip's lines would be thinner than a pixel


def icon_names() -> tuple[str, ...]:
    """The names of all icons that are drawn in a token's colour."""
    return tuple(
        sorted(path.stem for path in (resources_dir() / "icons").glob("*.svg") if not path.stem.startswith(APP_ICON))
    )


def icon(name: str, token: str = "text", size: int = 18) -> QIcon:
    """An icon in a token's current colour, grey when disabled; ask again when the theme changes."""
    result = QIcon(pixmap(name, token, size))
    result.addPixmap(pixmap(name, "disabled", size), QIcon.Mode.Disabled)
    return result


def pixmap(
    name: str,
    token: str = "text",
    size: int = 18,
    ratio: float | None = None,
) -> QPixmap:
    """An icon of `size` × text scale pixels at the screen's ratio. Raises KeyError for an unknown name."""
    return _cached_pixmap(name, theme.color(token).name(), theme.px(size), ratio or _device_pixel_ratio())


def brand_mark(size: int = 30, ratio: float | None = None) -> QPixmap:
    """The product's mark: a chip with a tick on a square of the accent colour."""
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
    """The program's icon in the sizes that task bars ask for; the same in every theme, as on its shortcut."""
    result = QIcon()
    for size in (16, 20, 24, 32, 40, 48, 64, 128, 256):
        result.addPixmap(QPixmap.fromImage(app_image(size)))
    return result


def app_image(side: int) -> QImage:
    """The program's icon, `side` × `side` pixels; `installers/icon.py` creates its files from this."""
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
