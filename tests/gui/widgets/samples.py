"""One of each component, as a page would make it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from gpu_assistant.gui.language import Language
from gpu_assistant.gui.widgets.buttons import Button, SegmentedControl
from gpu_assistant.gui.widgets.cards import (
    Banner,
    Card,
    ClickableCard,
    EmptyState,
    Hero,
    MetricTile,
    MetricValue,
    Pill,
    ValueRow,
)
from gpu_assistant.gui.widgets.charts import BarChart, SpeedSparkline
from gpu_assistant.gui.widgets.claims import ClaimList, SourcedClaim
from gpu_assistant.gui.widgets.console import CommandBox, LogDrawer
from gpu_assistant.gui.widgets.inputs import Dropdown, DropdownEntry
from gpu_assistant.gui.widgets.menus import LanguageMenu, ThemeMenu
from gpu_assistant.gui.widgets.navigation import NavigationRail, StepRail
from gpu_assistant.gui.widgets.numbered_steps import NumberedStep, NumberedSteps
from gpu_assistant.gui.widgets.page import Footer, Page
from gpu_assistant.gui.widgets.progress import ProgressBar, StepList


def _steps() -> StepList:
    steps = StepList()
    steps.add_step("download", "Download PyTorch", "from the official source", "740 MB", admin=True)
    return steps


def _numbered_steps() -> NumberedSteps:
    step = NumberedStep()
    step.set_texts("Double-click the installer.", "Skip this if it is installed already.", "gpu-assistant.deb")
    steps = NumberedSteps([step])
    steps.set_heading("On the other computer")
    steps.number_from(3)
    return steps


def _tile() -> MetricTile:
    tile = MetricTile("chip", "Load")
    tile.set_value("97", "%", 0.97)
    return tile


def _figure() -> MetricValue:
    figure = MetricValue()
    figure.set("97", "%")
    return figure


def _picker() -> Dropdown:
    picker = Dropdown()
    picker.set_entries(
        [DropdownEntry(value="2.15.0", text="2.15.0"), DropdownEntry(value="2.0", text="2.0", state="refused")],
        "2.15.0",
        "2.15.0",
        "PyTorch",
    )
    return picker


def _row() -> ValueRow:
    row = ValueRow("card")
    row.set("Graphics card", "RTX 4060", "8 GB", ("ok", "works with PyTorch"))
    return row


def _step_rail() -> StepRail:
    rail = StepRail([("Welcome", "Language"), ("This computer", "What is in it"), ("Done", "")])
    rail.set_current(1)
    return rail


def _log() -> LogDrawer:
    drawer = LogDrawer()
    drawer.append(["one", "two"])
    return drawer


def samples(language: Language) -> dict[str, Callable[[], QWidget]]:
    return {
        "Banner": lambda: Banner("simulated", "Simulated computer."),
        "Bars": lambda: BarChart([("CPU", 1.0, "1 TFLOP/s", "s5"), ("GPU", 8.0, "8 TFLOP/s", "accent")]),
        "Button primary": lambda: Button("Install", "primary", "download"),
        "Button secondary": lambda: Button("Back"),
        "Button ghost": lambda: Button("Show live graphs", "ghost", trailing_icon="right"),
        "Card": lambda: Card("Installed"),
        "CommandBox": lambda: CommandBox("python train.py"),
        "EmptyState": lambda: EmptyState("chip", "No NVIDIA GPU.", "Check again"),
        "Figure": _figure,
        "Footer": Footer,
        "Hero": lambda: Hero("ok", "Your GPU is healthy", "41 °C", action="Show"),
        "LanguageMenu": lambda: LanguageMenu(language),
        "LogDrawer": _log,
        "MetricTile": _tile,
        "NavRail": lambda: NavigationRail([("home", "Home"), ("monitor", "Monitor")], [("settings", "Settings")]),
        "Page": lambda: Page("Home", "A card"),
        "Picker": _picker,
        "Pill": lambda: Pill("warn", "update recommended"),
        "PressableCard": lambda: ClickableCard("play", "Run a first script", "in 1 min"),
        "NumberedSteps": _numbered_steps,
        "ProgressBar": ProgressBar,
        "Segments": lambda: SegmentedControl(["1 min", "10 min"], 1, name="Time"),
        "SpeedLine": SpeedSparkline,
        "StepList": _steps,
        "StepRail": _step_rail,
        "ThemeMenu": ThemeMenu,
        "ValueRow": _row,
        "ClaimList": lambda: ClaimList(SourcedClaim(text="Because it fits.")),
    }


NAMES = tuple(samples(None))  # type: ignore[arg-type]


def heard(signal: SignalInstance) -> list:
    """What a signal brings from now on, its first value each time."""
    received: list = []
    signal.connect(lambda *args: received.append(args[0] if args else None))
    return received
