"""The wizard's short help: what it does, and what the keys do.

The short help: what the keys do.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from . import theme
from .widgets.buttons import Button
from .widgets.text import label

translate = QCoreApplication.translate


def wizard_shortcuts() -> tuple[tuple[str, str], ...]:
    """(what it does, key) in the language that is on."""
    return (
        (translate("WizardHelp", "Press the filled button"), "Enter"),
        (translate("WizardHelp", "Next and previous control"), "Tab, Shift+Tab"),
        (translate("WizardHelp", "Back to the page before"), "Alt+←"),
        (translate("WizardHelp", "Look at the computer again"), "F5"),
        (translate("WizardHelp", "Stop the install, after a question"), "Esc"),
        (translate("WizardHelp", "This help"), "F1"),
    )


class WizardHelpDialog(QDialog):
    """A few sentences and the keys; Esc closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("WizardHelp", "Help"))
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(14)
        column.addWidget(label("title", translate("WizardHelp", "From here to a working PyTorch")))
        introduction = translate(
            "WizardHelp",
            "We look at this computer, suggest versions that fit together, install them into a folder of their own, "
            "and prove that they work. Nothing is changed before you press Install, and you can stop at any moment.",
        )
        column.addWidget(label("body", introduction, "soft"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(40)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        for row, (action, key) in enumerate(wizard_shortcuts()):
            grid.addWidget(label("body", action), row, 0)
            grid.addWidget(label("strong", key), row, 1)
        column.addLayout(grid)
        column.addSpacing(4)
        self.close_button = Button(translate("WizardHelp", "Close"), kind="primary")
        self.close_button.clicked.connect(self.accept)
        column.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignRight)
        self.setMinimumWidth(theme.px(520))
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)


def main_shortcuts() -> tuple[tuple[str, str], ...]:
    """(what it does, key) in the language that is on."""
    translate = QCoreApplication.translate
    return (
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


class MainHelpDialog(QDialog):
    """What the keys do, and where to begin."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        translate = QCoreApplication.translate
        self.setWindowTitle(translate("Help", "Help"))
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(16)
        column.addWidget(label("title", translate("Help", "Keys that help")))
        grid = QGridLayout()
        grid.setHorizontalSpacing(40)
        grid.setVerticalSpacing(8)
        for row, (action, key) in enumerate(main_shortcuts()):
            grid.addWidget(label("body", action), row, 0)
            grid.addWidget(label("strong", key), row, 1)
        column.addLayout(grid)
        close_button = Button(translate("Help", "Close"), kind="primary")
        close_button.clicked.connect(self.accept)
        column.addWidget(close_button, 0, Qt.AlignmentFlag.AlignRight)
        close_button.setFocus()

    @classmethod
    def open_for(cls, parent: QWidget) -> None:
        """Show it above `parent` and let it go when closed."""
        dialog = cls(parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
