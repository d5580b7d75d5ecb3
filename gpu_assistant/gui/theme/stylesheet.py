"""Style sheets of single widgets, rendered from the theme's tokens.

One sheet for the application would polish every widget again at each change of theme; these are set on the few
widgets that Qt paints. A sheet cannot colour an icon: where one is needed, the widget paints it.
"""

from __future__ import annotations

from functools import lru_cache
from string import Template

from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleOption, QWidget

from ...core.theme import Tokens
from .theme import current, px

SCROLL_BAR_WIDTH, MENU_ICON_SIZE = 11, 14

# A handle on whatever ground is below, without arrows.
SCROLL_BAR = f"""
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: {SCROLL_BAR_WIDTH}px; }}
QScrollBar:horizontal {{ height: {SCROLL_BAR_WIDTH}px; }}
QScrollBar::handle {{ background: $control; border-radius: 2px; margin: 3px; }}
QScrollBar::handle:hover, QScrollBar::handle:pressed {{ background: $soft; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::handle:vertical {{ min-height: 36px; }}
QScrollBar::handle:horizontal {{ min-width: 36px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""

LINE_EDIT = """
QLineEdit {
    background: $card; color: $text; border: ${line_width}px solid $control; border-radius: 6px; padding: 0 9px;
    selection-background-color: $accent; selection-color: $on_accent; placeholder-text-color: $soft;
}
QLineEdit:focus { border: 2px solid $focus; padding: 0 8px; }
"""

# The tick of a checked entry is its icon.
MENU = """
QMenu { background: $card; border: ${line_width}px solid $control; padding: 4px; }
QMenu::item { background: transparent; color: $text; padding: 8px 29px 8px 7px; border-radius: 6px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { background: transparent; color: $disabled; }
QMenu::icon { position: absolute; left: 6px; }
QMenu::indicator { width: 0; height: 0; }
"""


def set_style_sheet(widget: QWidget, template: str) -> None:
    """Set a template in the current theme's colours, on the same base style on every system."""
    sheet = _render(template, current())
    if widget.styleSheet() != sheet:
        widget.setStyle(_base_style())
        widget.setStyleSheet(sheet)


@lru_cache(maxsize=16)
def _render(template: str, tokens: Tokens) -> str:
    return Template(template).substitute(tokens.colours(), line_width=tokens.line_width)


class _BaseStyle(QProxyStyle):
    """The size of a menu's icons, which a sheet cannot set."""

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        if metric == QStyle.PixelMetric.PM_SmallIconSize:
            return px(MENU_ICON_SIZE)
        return super().pixelMetric(metric, option, widget)


@lru_cache(maxsize=1)
def _base_style() -> _BaseStyle:
    style = _BaseStyle("fusion")
    style.setParent(QApplication.instance())
    return style
