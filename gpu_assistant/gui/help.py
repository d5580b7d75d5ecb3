"""The help of F1: what the keys do, and in the wizard what it does."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from . import theme
from .widgets.buttons import Button
from .widgets.text import label

Shortcuts = tuple[tuple[str, str], ...]  # (what it does, key)


class HelpDialog(QDialog):
    """A title, a few sentences, and keys."""

    def __init__(self, parent: QWidget, title: str, shortcuts: Shortcuts, introduction: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(QCoreApplication.translate("Help", "Help"))
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(16)
        column.addWidget(label("title", title))
        if introduction:
            column.addWidget(label("body", introduction, "soft"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(40)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        for row, (action, key) in enumerate(shortcuts):
            grid.addWidget(label("body", action), row, 0)
            grid.addWidget(label("strong", key), row, 1)
        column.addLayout(grid)
        self.close_button = Button(QCoreApplication.translate("Help", "Close"), kind="primary")
        self.close_button.clicked.connect(self.accept)
        column.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignRight)
        self.setMinimumWidth(theme.px(520))
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)


def open_wizard_help(parent: QWidget) -> None:
    """Show the wizard's help above `parent`."""
    translate = QCoreApplication.translate
    introduction = translate(
        "WizardHelp",
        "We look at this computer, suggest versions that fit together, install them into a folder of their own, "
        "and prove that they work. Nothing is changed before you press Install, and you can stop at any moment.",
    )
    shortcuts = (
        (translate("WizardHelp", "Press the filled button"), "Enter"),
        (translate("WizardHelp", "Next and previous control"), "Tab, Shift+Tab"),
        (translate("WizardHelp", "Back to the page before"), "Alt+←"),
        (translate("WizardHelp", "Look at the computer again"), "F5"),
        (translate("WizardHelp", "Stop the install, after a question"), "Esc"),
        (translate("WizardHelp", "This help"), "F1"),
    )
    HelpDialog(parent, translate("WizardHelp", "From here to a working PyTorch"), shortcuts, introduction).open()


def open_main_help(parent: QWidget) -> None:
    """Show the main area's help above `parent`."""
    translate = QCoreApplication.translate
    shortcuts = (
        (translate("Help", "Home, Monitor, Benchmark"), "Ctrl+1 … Ctrl+3"),
        (translate("Help", "Settings"), "Ctrl+,"),
        (translate("Help", "Back to the page before"), "Alt+←"),
        (translate("Help", "Look again"), "F5"),
        (translate("Help", "Next and previous control"), "Tab, Shift+Tab"),
        (translate("Help", "Monitor: move the cross-hair"), "← →, Home, End"),
        (translate("Help", "Monitor: stretch time"), translate("Help", "+, −, Ctrl + wheel")),
        (translate("Help", "Monitor: earlier and later"), "Page ↑, Page ↓"),
        (translate("Help", "Monitor: back to now"), "0"),
        (translate("Help", "Monitor: figures as a table"), "T"),
        (translate("Help", "Monitor: pause"), "P"),
        (translate("Help", "This help"), "F1"),
    )
    HelpDialog(parent, translate("Help", "Keys that help"), shortcuts).open()
