"""The plan's steps to read before anything happens, the same as one command, and the plan as a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.plan import Step
from ...texts import Texts
from ...texts.terminal import Terminal
from ..components import Button, Card, CommandBox, label
from ..components.dialogs import save_dialog
from . import words as said
from .plan_command import PLAN_FILE_NAME, install_command, needs_plan_file
from .plan_row import PlanRow
from .road import WizardController


class PlanList(Card):
    """One row for each step; below them the command and the way to a file."""

    def __init__(self, controller: WizardController) -> None:
        super().__init__(padding=8)
        self._controller = controller
        self._drawn_key: object = None
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(2)
        self.rows: list[PlanRow] = []
        self._preloaded_rows: list[PlanRow] = []
        self._command_label, self._save_status = label("small-strong"), label("small")
        self.command_box = CommandBox()
        self.save_button = Button(icon_name="file")
        self.save_button.clicked.connect(self.choose_file)
        save_row = QHBoxLayout()
        save_row.setSpacing(12)
        save_row.addWidget(self.save_button)
        save_row.addWidget(self._save_status, 1, Qt.AlignmentFlag.AlignVCenter)
        footer_layout = QVBoxLayout()
        footer_layout.setContentsMargins(12, 10, 8, 8)
        footer_layout.setSpacing(8)
        for widget in (self._command_label, self.command_box):
            footer_layout.addWidget(widget)
        footer_layout.addLayout(save_row)
        self.column.addLayout(self._rows_layout)
        self.column.addLayout(footer_layout)

    @property
    def controls(self) -> list[QWidget]:
        """What Tab reaches, in the order of reading."""
        widgets: list[QWidget] = []
        for row in self.rows:
            boxes = [box for box in (row.command_box, row.alternative_box) if box is not None]
            widgets += [row.details_button, *(part for box in boxes for part in (box.text_edit, box.copy_button))]
        return [*widgets, self.command_box.text_edit, self.command_box.copy_button, self.save_button]

    def draw(self) -> None:
        """The plan of now, or the same in another language."""
        controller, state = self._controller, self._controller.flow.state
        plan, machine, texts = state.plan, state.machine, controller.language.texts()
        if plan is None:
            return
        system = machine.os.system if machine is not None else controller.app.system.name
        if self._drawn_key != (plan, texts.language):
            self._drawn_key = (plan, texts.language)
            self._set_rows([self._take_row(step, texts, system) for step in texts.localize_plan(plan).steps])
        arguments = install_command(controller.app, state)
        self._command_label.setText(
            self.tr("The same on the command line, once the plan is saved")
            if needs_plan_file(arguments)
            else self.tr("The same on the command line")
        )
        self.command_box.set_text((texts.terminal or Terminal(system=controller.app.system.name)).command_line(arguments))
        self.save_button.setText(self.tr("Save the plan"))
        error = controller.errors.get("save")
        if error is not None:
            self._save_status.setText(said.error_text(texts, error))
        elif controller.saved_path is not None:
            self._save_status.setText(self.tr("Saved: {path}").format(path=controller.saved_path))
        else:
            self._save_status.setText(self.tr("As a JSON file, to be read or carried out elsewhere."))

    def preload_steps(self) -> list[Callable[[], object]]:
        """What makes the plan's rows before somebody opens it, one a call."""
        controller, state = self._controller, self._controller.flow.state
        plan, machine, texts = state.plan, state.machine, controller.language.texts()
        if plan is None or self._drawn_key == (plan, texts.language):
            return []
        system = machine.os.system if machine is not None else controller.app.system.name
        steps = texts.localize_plan(plan).steps
        for row in [each for each in self._preloaded_rows if not any(each.is_for(step, texts, system) for step in steps)]:
            self._preloaded_rows.remove(row)
            row.deleteLater()
        return [partial(self._preload_row, step, texts, system) for step in steps]

    def _preload_row(self, step: Step, texts: Texts, system: str) -> None:
        if not any(row.is_for(step, texts, system) for row in self._preloaded_rows):
            row = PlanRow(step, texts, system, self)
            row.hide()
            row.grab()  # what its texts and icons keep of their looks is there from then on
            self._preloaded_rows.append(row)

    def _take_row(self, step: Step, texts: Texts, system: str) -> PlanRow:
        """The row that was made ahead, or a new one."""
        row = next((each for each in self._preloaded_rows if each.is_for(step, texts, system)), None)
        if row is None:
            return PlanRow(step, texts, system, self)
        self._preloaded_rows.remove(row)
        return row

    def _set_rows(self, rows: list[PlanRow]) -> None:
        expanded_ids = {old_row.step_id for old_row in self.rows if old_row.is_expanded}
        for old_row in self.rows:
            self._rows_layout.removeWidget(old_row)
            old_row.hide()
            old_row.deleteLater()
        self.rows = rows
        for row in rows:
            self._rows_layout.addWidget(row)
            row.show()
            if row.step_id in expanded_ids:
                row.toggle_details()

    def choose_file(self) -> None:
        """Ask where the plan shall lie."""
        dialog = save_dialog(self, self.tr("Where shall the plan be saved?"), "JSON (*.json)", PLAN_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self._controller.save_plan(Path(file)))
        dialog.open()
