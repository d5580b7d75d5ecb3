"""The wizard's short help: what it does, and what the keys do."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from .. import theme
from ..components import Button, label

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
