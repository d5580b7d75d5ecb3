"""The plan's steps to read before anything happens: what, how much, how long, and the exact commands."""

from __future__ import annotations

import shlex

from PySide6.QtWidgets import QVBoxLayout

from ...core.plan import Plan, Step
from ...texts import Texts
from ...texts.format import size
from ..components import Card, CommandBox
from ..components.step_list import StepRow


class PlanList(Card):
    """One row for each step, its commands below it."""

    def __init__(self) -> None:
        super().__init__(padding=8)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.column.addLayout(self._rows)
        self.rows: list[StepRow] = []
        self.commands: list[CommandBox] = []

    def set_plan(self, plan: Plan, texts: Texts) -> None:
        """Another plan, or the same in another language."""
        for widget in (*self.rows, *self.commands):
            self._rows.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.rows, self.commands = [], []
        for step in texts.plan(plan).steps:
            row = StepRow(admin=step.needs_admin)
            row.set_title(step.title or step.id)
            row.set_state("waiting", step.what or "", right(step, texts))
            self._rows.addWidget(row)
            row.show()
            self.rows.append(row)
            if step.commands:
                box = CommandBox("\n".join(shlex.join(command) for command in step.commands))
                self._rows.addWidget(box)
                box.show()
                self.commands.append(box)


def right(step: Step, texts: Texts) -> str:
    """Size and expected time of a step, as far as they are known."""
    known = [size(step.bytes)] if step.bytes else []
    if step.minutes:
        known.append(texts.value("seconds", 60 * step.minutes))
    return " · ".join(known)
