"""The parts that pages are made of, each loaded when it is first asked for, so that the first window opens fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .banner import Banner
    from .bars import BarChart
    from .base import KeyboardFocus, Themed, announce, draw_box, draw_focus_ring, animations_enabled, draw_rounded_rect, tint_border
    from .button import Button
    from .card import Card, TopAlignedLayout, Divider, ClickableCard
    from .command_box import CommandBox, MonospaceText
    from .confirm import ConfirmDialog
    from .empty_state import EmptyState
    from .flow import FlowLayout
    from .footer import Footer
    from .hero import Hero
    from .lines import Sparkline, SpeedSparkline
    from .log_drawer import LogDrawer
    from .menu import Menu
    from .menus import LanguageMenu, ThemeMenu
    from .metric_tile import MetricValue, MetricTile
    from .nav_rail import NavigationRail
    from .number_box import SpinBox
    from .page import Page
    from .picture import IconWidget, draw_icon
    from .pill import Pill
    from .progress_bar import ProgressBar
    from .rail import Brand, Rail, lay_out_with_rail
    from .rail_button import RailButton
    from .scroll_bar import ScrollBar, use_slim_scroll_bars
    from .segments import SegmentedControl
    from .shape import Breakpoints
    from .step_list import StepList
    from .step_rail import StepRail
    from .table import DataTable
    from .text import TextLabel, label
    from .value_row import ValueRow
    from .why import SourcedClaim, InsetPanel, Disclosure

_MODULES = {
    "Banner": "banner",
    "Bars": "bars",
    "Brand": "rail",
    "Button": "button",
    "Card": "card",
    "Claim": "why",
    "Column": "card",
    "CommandBox": "command_box",
    "ConfirmDialog": "confirm",
    "Divider": "card",
    "EmptyState": "empty_state",
    "Figure": "metric_tile",
    "Flow": "flow",
    "Footer": "footer",
    "Hero": "hero",
    "Icon": "picture",
    "Inset": "why",
    "KeyboardFocus": "base",
    "LanguageMenu": "menus",
    "Live": "base",
    "LogDrawer": "log_drawer",
    "Menu": "menu",
    "MetricTile": "metric_tile",
    "MonoText": "command_box",
    "NavRail": "nav_rail",
    "NumberBox": "number_box",
    "Page": "page",
    "Pill": "pill",
    "PressableCard": "card",
    "ProgressBar": "progress_bar",
    "Rail": "rail",
    "RailButton": "rail_button",
    "ScrollBar": "scroll_bar",
    "Segments": "segments",
    "Shape": "shape",
    "SparkLine": "lines",
    "SpeedLine": "lines",
    "StepList": "step_list",
    "StepRail": "step_rail",
    "Table": "table",
    "Text": "text",
    "ThemeMenu": "menus",
    "ValueRow": "value_row",
    "Why": "why",
    "announce": "base",
    "beside_rail": "rail",
    "boxed": "base",
    "draw_icon": "picture",
    "focus_ring": "base",
    "label": "text",
    "moving": "base",
    "rounded": "base",
    "scroll_slim": "scroll_bar",
    "soft_edge": "base",
}

__all__ = [
    "Banner",
    "BarChart",
    "Brand",
    "Button",
    "Card",
    "SourcedClaim",
    "TopAlignedLayout",
    "CommandBox",
    "ConfirmDialog",
    "Divider",
    "EmptyState",
    "MetricValue",
    "FlowLayout",
    "Footer",
    "Hero",
    "IconWidget",
    "InsetPanel",
    "KeyboardFocus",
    "LanguageMenu",
    "Themed",
    "LogDrawer",
    "Menu",
    "MetricTile",
    "MonospaceText",
    "NavigationRail",
    "SpinBox",
    "Page",
    "Pill",
    "ClickableCard",
    "ProgressBar",
    "Rail",
    "RailButton",
    "ScrollBar",
    "SegmentedControl",
    "Breakpoints",
    "Sparkline",
    "SpeedSparkline",
    "StepList",
    "StepRail",
    "DataTable",
    "TextLabel",
    "ThemeMenu",
    "ValueRow",
    "Disclosure",
    "announce",
    "lay_out_with_rail",
    "draw_box",
    "draw_icon",
    "draw_focus_ring",
    "label",
    "animations_enabled",
    "draw_rounded_rect",
    "use_slim_scroll_bars",
    "tint_border",
]


def __getattr__(name: str) -> object:
    """A part, from the module that holds it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    attribute: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = attribute
    return attribute
