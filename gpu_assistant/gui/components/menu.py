"""A menu in the theme's colours, its rows as high as a finger needs them."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QProxyStyle, QStyle, QStyleOption, QWidget

from .. import theme
from .base import Themed, application, draw_rounded_rect
from .picture import draw_icon

MENU_PADDING, MENU_ITEM_LEFT, MENU_ITEM_RIGHT, MENU_ITEM_PADDING = 4, 25, 33, 16  # the menu's padding, room beside the words, what a row is higher than them


class Menu(Themed, QMenu):
    """Entries of words, of which one may be ticked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setStyle(_menu_style())
        self.apply_theme()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("body"))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, edge, and the entries."""
        del event
        painter = QPainter(self)
        painter.setFont(self.font())
        width = theme.current().line_width
        painter.fillRect(self.rect(), theme.color("card"))
        draw_rounded_rect(painter, QRectF(self.rect()), 0, None, theme.color("control"), width=width)
        for action in self.actions():
            self._paint_entry(painter, action, self.actionGeometry(action))

    def _paint_entry(self, painter: QPainter, action: QAction, rect: QRect) -> None:
        if action == self.activeAction() and action.isEnabled():
            draw_rounded_rect(painter, QRectF(rect), 6, theme.color("hover"))
        foreground = "text" if action.isEnabled() else "disabled"
        if action.isChecked():
            draw_icon(painter, "check", foreground, 14, QRectF(rect.x() + 4, rect.y(), MENU_ITEM_LEFT - 8, rect.height()))
        painter.setPen(theme.color(foreground))
        painter.drawText(rect.adjusted(MENU_ITEM_LEFT, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), action.text())


class _MenuStyle(QProxyStyle):
    """Only how large things are: the menu paints itself."""

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, widget: QWidget | None = None
    ) -> QSize:
        if widget is not None and kind == QStyle.ContentsType.CT_MenuItem:
            return QSize(size.width() + MENU_ITEM_LEFT + MENU_ITEM_RIGHT, widget.fontMetrics().height() + MENU_ITEM_PADDING)
        return size if widget is None else super().sizeFromContents(kind, option, size, widget)

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        if metric in (QStyle.PixelMetric.PM_MenuHMargin, QStyle.PixelMetric.PM_MenuVMargin):
            return MENU_PADDING + theme.current().line_width
        if metric == QStyle.PixelMetric.PM_MenuPanelWidth:
            return 0
        return super().pixelMetric(metric, option, widget)


@lru_cache(maxsize=1)
def _menu_style() -> _MenuStyle:
    """One for all menus, on the style that every system has."""
    style = _MenuStyle("fusion")
    style.setParent(application())
    return style
