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
from .plan_command import PLAN_NAME, install_words, needs_file
from .plan_row import PlanRow
from .road import Road


class PlanList(Card):
    """One row for each step; below them the command and the way to a file."""

    def __init__(self, road: Road) -> None:
        super().__init__(padding=8)
        self._road = road
        self._drawn: object = None
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.rows: list[PlanRow] = []
        self._ready: list[PlanRow] = []
        self._same, self._note = label("small-strong"), label("small")
        self.command = CommandBox()
        self.save = Button(icon="file")
        self.save.clicked.connect(self.choose_file)
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(self.save)
        line.addWidget(self._note, 1, Qt.AlignmentFlag.AlignVCenter)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 10, 8, 8)
        foot.setSpacing(8)
        for widget in (self._same, self.command):
            foot.addWidget(widget)
        foot.addLayout(line)
        self.column.addLayout(self._rows)
        self.column.addLayout(foot)

    @property
    def controls(self) -> list[QWidget]:
        """What Tab reaches, in the order of reading."""
        found: list[QWidget] = []
        for row in self.rows:
            boxes = [box for box in (row.command, row.other) if box is not None]
            found += [row.toggle, *(part for box in boxes for part in (box.text, box.copy))]
        return [*found, self.command.text, self.command.copy, self.save]

    def draw(self) -> None:
        """The plan of now, or the same in another language."""
        road, facts = self._road, self._road.flow.facts
        plan, machine, texts = facts.plan, facts.machine, road.language.texts()
        if plan is None:
            return
        system = machine.os.system if machine is not None else road.app.system.name
        if self._drawn != (plan, texts.language):
            self._drawn = (plan, texts.language)
            self._fill([self._row(step, texts, system) for step in texts.plan(plan).steps])
        words = install_words(road.app, facts)
        self._same.setText(
            self.tr("The same on the command line, once the plan is saved")
            if needs_file(words)
            else self.tr("The same on the command line")
        )
        self.command.set_text((texts.terminal or Terminal(system=road.app.system.name)).line(words))
        self.save.setText(self.tr("Save the plan"))
        error = road.errors.get("save")
        if error is not None:
            self._note.setText(said.error(texts, error))
        elif road.saved is not None:
            self._note.setText(self.tr("Saved: {path}").format(path=road.saved))
        else:
            self._note.setText(self.tr("As a JSON file, to be read or carried out elsewhere."))

    def ahead(self) -> list[Callable[[], object]]:
        """What makes the plan's rows before somebody opens it, one a call."""
        road, facts = self._road, self._road.flow.facts
        plan, machine, texts = facts.plan, facts.machine, road.language.texts()
        if plan is None or self._drawn == (plan, texts.language):
            return []
        system = machine.os.system if machine is not None else road.app.system.name
        steps = texts.plan(plan).steps
        for row in [each for each in self._ready if not any(each.shows(step, texts, system) for step in steps)]:
            self._ready.remove(row)
            row.deleteLater()
        return [partial(self._prepare, step, texts, system) for step in steps]

    def _prepare(self, step: Step, texts: Texts, system: str) -> None:
        if not any(row.shows(step, texts, system) for row in self._ready):
            row = PlanRow(step, texts, system, self)
            row.hide()
            row.grab()  # what its texts and icons keep of their looks is there from then on
            self._ready.append(row)

    def _row(self, step: Step, texts: Texts, system: str) -> PlanRow:
        """The row that was made ahead, or a new one."""
        row = next((each for each in self._ready if each.shows(step, texts, system)), None)
        if row is None:
            return PlanRow(step, texts, system, self)
        self._ready.remove(row)
        return row

    def _fill(self, rows: list[PlanRow]) -> None:
        opened = {old.step for old in self.rows if old.opened}
        for old in self.rows:
            self._rows.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.rows = rows
        for row in rows:
            self._rows.addWidget(row)
            row.show()
            if row.step in opened:
                row.unfold()

    def choose_file(self) -> None:
        """Ask where the plan shall lie."""
        dialog = save_dialog(self, self.tr("Where shall the plan be saved?"), "JSON (*.json)", PLAN_NAME)
        dialog.fileSelected.connect(lambda file: self._road.save_plan(Path(file)))
        dialog.open()
