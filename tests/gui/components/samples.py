"""One of each component, as a page would make it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from gpu_assistant.gui import components as ui
from gpu_assistant.gui.components.picker import DropdownEntry, Dropdown
from gpu_assistant.gui.language import Language


def _steps() -> ui.StepList:
    steps = ui.StepList()
    steps.add_step("download", "Download PyTorch", "from the official source", "740 MB", admin=True)
    return steps


def _tile() -> ui.MetricTile:
    tile = ui.MetricTile("chip", "Load")
    tile.set_value("97", "%", 0.97)
    return tile


def _figure() -> ui.MetricValue:
    figure = ui.MetricValue()
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


def _row() -> ui.ValueRow:
    row = ui.ValueRow("card")
    row.set("Graphics card", "RTX 4060", "8 GB", ("ok", "fits PyTorch"))
    return row


def _step_rail() -> ui.StepRail:
    rail = ui.StepRail([("Welcome", "Language"), ("This computer", "What is in it"), ("Done", "")])
    rail.set_current(1)
    return rail


def _log() -> ui.LogDrawer:
    drawer = ui.LogDrawer()
    drawer.append(["one", "two"])
    return drawer


def samples(language: Language) -> dict[str, Callable[[], QWidget]]:
    return {
        "Banner": lambda: ui.Banner("simulated", "Simulated machine."),
        "Bars": lambda: ui.BarChart([("CPU", 1.0, "1 TFLOP/s", "s5"), ("GPU", 8.0, "8 TFLOP/s", "accent")]),
        "Button primary": lambda: ui.Button("Install", "primary", "download"),
        "Button secondary": lambda: ui.Button("Back"),
        "Button ghost": lambda: ui.Button("Show live graphs", "ghost", trailing_icon="right"),
        "Card": lambda: ui.Card("Installed"),
        "CommandBox": lambda: ui.CommandBox("python train.py"),
        "EmptyState": lambda: ui.EmptyState("chip", "No NVIDIA GPU.", "Look again"),
        "Figure": _figure,
        "Footer": ui.Footer,
        "Hero": lambda: ui.Hero("ok", "Your GPU is well", "41 °C", action="Show"),
        "LanguageMenu": lambda: ui.LanguageMenu(language),
        "LogDrawer": _log,
        "MetricTile": _tile,
        "NavRail": lambda: ui.NavigationRail([("home", "Home"), ("monitor", "Monitor")], [("settings", "Settings")]),
        "Page": lambda: ui.Page("Home", "A card"),
        "Picker": _picker,
        "Pill": lambda: ui.Pill("warn", "update advised"),
        "PressableCard": lambda: ui.ClickableCard("play", "Run a first script", "in 1 min"),
        "ProgressBar": ui.ProgressBar,
        "Segments": lambda: ui.SegmentedControl(["1 min", "10 min"], 1, name="Time"),
        "SpeedLine": ui.SpeedSparkline,
        "StepList": _steps,
        "StepRail": _step_rail,
        "ThemeMenu": ui.ThemeMenu,
        "ValueRow": _row,
        "Why": lambda: ui.Disclosure(ui.SourcedClaim(text="Because it fits.")),
    }


NAMES = tuple(samples(None))  # type: ignore[arg-type]


def heard(signal: SignalInstance) -> list:
    """What a signal brings from now on, its first value each time."""
    found: list = []
    signal.connect(lambda *args: found.append(args[0] if args else None))
    return found
