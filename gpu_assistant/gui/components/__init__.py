"""The parts that pages are made of, each loaded when it is first asked for, so that the first window opens fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .banner import Banner
    from .bars import Bars
    from .base import KeyboardFocus, Live, announce, boxed, focus_ring, moving, rounded, soft_edge
    from .button import Button
    from .card import Card, Column, Divider, PressableCard
    from .command_box import CommandBox, MonoText
    from .confirm import ConfirmDialog
    from .empty_state import EmptyState
    from .flow import Flow
    from .footer import Footer
    from .hero import Hero
    from .lines import SparkLine, SpeedLine
    from .log_drawer import LogDrawer
    from .menu import Menu
    from .menus import LanguageMenu, ThemeMenu
    from .metric_tile import Figure, MetricTile
    from .nav_rail import NavRail
    from .number_box import NumberBox
    from .page import Page
    from .picture import Icon, draw_icon
    from .pill import Pill
    from .progress_bar import ProgressBar
    from .rail import Brand, Rail, beside_rail
    from .rail_button import RailButton
    from .scroll_bar import ScrollBar, scroll_slim
    from .segments import Segments
    from .shape import Shape
    from .step_list import StepList
    from .step_rail import StepRail
    from .table import Table
    from .text import Text, label
    from .value_row import ValueRow
    from .why import Claim, Inset, Why

_PLACES = {
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
    "Bars",
    "Brand",
    "Button",
    "Card",
    "Claim",
    "Column",
    "CommandBox",
    "ConfirmDialog",
    "Divider",
    "EmptyState",
    "Figure",
    "Flow",
    "Footer",
    "Hero",
    "Icon",
    "Inset",
    "KeyboardFocus",
    "LanguageMenu",
    "Live",
    "LogDrawer",
    "Menu",
    "MetricTile",
    "MonoText",
    "NavRail",
    "NumberBox",
    "Page",
    "Pill",
    "PressableCard",
    "ProgressBar",
    "Rail",
    "RailButton",
    "ScrollBar",
    "Segments",
    "Shape",
    "SparkLine",
    "SpeedLine",
    "StepList",
    "StepRail",
    "Table",
    "Text",
    "ThemeMenu",
    "ValueRow",
    "Why",
    "announce",
    "beside_rail",
    "boxed",
    "draw_icon",
    "focus_ring",
    "label",
    "moving",
    "rounded",
    "scroll_slim",
    "soft_edge",
]


def __getattr__(name: str) -> object:
    """A part, from the module that holds it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = found
    return found
