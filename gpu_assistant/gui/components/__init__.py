"""The parts that pages are made of."""

from __future__ import annotations

from .banner import Banner
from .bars import Bars
from .base import KeyboardFocus, Live, announce, boxed, focus_ring, moving, rounded, soft_edge
from .button import Button
from .card import Card, Column, Divider, PressableCard
from .command_box import CommandBox, MonoText
from .confirm import ConfirmDialog
from .empty_state import EmptyState
from .footer import Footer
from .hero import Hero
from .lines import SparkLine, SpeedLine
from .log_drawer import LogDrawer
from .menus import LanguageMenu, ThemeMenu
from .metric_tile import Figure, MetricTile
from .nav_rail import NavRail
from .page import Page
from .picture import Icon, draw_icon
from .pill import Pill
from .progress_bar import ProgressBar
from .rail import Brand, Rail
from .rail_button import RailButton
from .segments import Segments
from .shape import Shape
from .step_list import StepList
from .step_rail import StepRail
from .text import Text, label
from .value_row import ValueRow
from .why import Inset, Why

__all__ = [
    "Banner",
    "Bars",
    "Brand",
    "Button",
    "Card",
    "Column",
    "CommandBox",
    "ConfirmDialog",
    "Divider",
    "EmptyState",
    "Figure",
    "Footer",
    "Hero",
    "Icon",
    "Inset",
    "KeyboardFocus",
    "LanguageMenu",
    "Live",
    "LogDrawer",
    "MetricTile",
    "MonoText",
    "NavRail",
    "Page",
    "Pill",
    "PressableCard",
    "ProgressBar",
    "Rail",
    "RailButton",
    "Segments",
    "Shape",
    "SparkLine",
    "SpeedLine",
    "StepList",
    "StepRail",
    "Text",
    "ThemeMenu",
    "ValueRow",
    "Why",
    "announce",
    "boxed",
    "draw_icon",
    "focus_ring",
    "label",
    "moving",
    "rounded",
    "soft_edge",
]
