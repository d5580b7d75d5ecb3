"""The row that tells whether what is recommended can be downloaded: it is being asked, was asked, or was stopped."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout

from .....core.plan import Plan
from ....widgets.buttons import Button
from ....widgets.cards import Card
from ....widgets.icons import IconWidget
from ....widgets.text import label
from ...controller import WizardController


class SourceCheckRow(Card):
    """`check_requested` and `stop_requested` come from its one button."""

    check_requested = Signal()
    stop_requested = Signal()

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 4, 16, 4)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.text_label, self.button = label("small"), Button(kind="ghost")
        row.addWidget(IconWidget("net", "soft", 20))
        row.addWidget(self.text_label, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(row)
        self._running = False
        self.button.clicked.connect(self._emit)

    def draw(self, controller: WizardController) -> None:
        """Show the state of the check; hidden where there is nothing to tell."""
        self._running = controller.is_checking_sources
        plan = controller.flow.state.plan
        text, action = "", ""
        if controller.is_retrying_sources:
            text, action = self.tr("No answer yet, still waiting…"), self.tr("Stop")
        elif self._running:
            text, action = self.tr("Checking that everything can be downloaded…"), self.tr("Stop")
        elif controller.was_source_check_stopped:
            text, action = self.tr("Not checked yet whether everything can be downloaded."), self.tr("Check")
        elif plan is not None and is_confirmed(plan) and not controller.flow.state.already_installed:
            text, action = self.tr("Checked: everything can be downloaded."), self.tr("Check again")
        self.text_label.setText(text)
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.setAccessibleName(text)
        self.setVisible(bool(text))

    def _emit(self) -> None:
        (self.stop_requested if self._running else self.check_requested).emit()


def is_confirmed(plan: Plan) -> bool:
    """Whether PyTorch's wheel and all files that publishers were asked for are there."""
    files = [(step.kind, file) for step in plan.steps for file in step.files]
    return all(file.checked for _, file in files) and any(
        kind == "download" and file.source in ("index", "general", "mirror") for kind, file in files
    )
