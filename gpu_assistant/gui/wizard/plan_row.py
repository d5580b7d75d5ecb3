"""One step of a plan to read: what, how much, how long; unfolded also its command, its files and the way back."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.plan import PlanFile, Step, alternative_command, requirements_text
from ...core.price import minimum_disk_bytes
from ...texts import Texts
from ...texts.format import format_size
from ...texts.price import duration_text, step_download_text
from ...texts.terminal import Terminal
from ...texts.terms import explain_terms
from .. import theme
from ..components import Button, CommandBox, label
from ..components.base import Themed
from ..components.step_list import StepRow
from ..components.why import InsetPanel

translate = QCoreApplication.translate
NARROW_BELOW = 560


class PlanRow(Themed, QWidget):
    """`step` has its sentences; `system` is the one on which its commands are typed."""

    def __init__(self, step: Step, texts: Texts, system: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step, self._system, self._language = step, system, texts.language
        self._terminal = texts.terminal or Terminal(system=system)
        self._terms = explain_terms(texts, step.title or "", step.what or "")
        self.command_box: CommandBox | None = None
        self.requirements_box: CommandBox | None = None
        self.alternative_box: CommandBox | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.step_row = StepRow(admin=step.needs_admin)
        self.step_row.set_title(step.title or step.id)
        self._cost_text, self._cost_notes, self._narrow = step_cost_text(step, texts), step_cost_notes(step, texts), False
        self.cost_label = label("small")
        self._update_costs()
        self.details_button = Button(kind="ghost", trailing_icon="down")
        self.details_button.clicked.connect(self.toggle_details)
        self._details_inset: InsetPanel | None = None
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 8, 0)
        head.setSpacing(0)
        head.addWidget(self.step_row, 1)
        head.addWidget(self.details_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._details_layout = QVBoxLayout()
        self._details_layout.addWidget(self.cost_label)
        column.addLayout(head)
        column.addLayout(self._details_layout)
        self.apply_theme()

    def is_for(self, step: Step, texts: Texts, system: str) -> bool:
        """Whether it is the row of a step, in a language."""
        return (step, texts.language, system) == (self._step, self._language, self._system)

    def refresh(self) -> None:
        """The words below begin where the title does."""
        super().refresh()
        self._details_layout.setContentsMargins(theme.px(26) + 24, 0, 8, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Size and time stand at the right, or below where there is no room."""
        super().resizeEvent(event)
        if (self.width() < theme.px(NARROW_BELOW)) != self._narrow:
            self._narrow = not self._narrow
            self._update_costs()

    def _update_costs(self) -> None:
        self.step_row.set_state("waiting", self._step.what or "", "" if self._narrow else self._cost_text)
        costs = [self._cost_text, *self._cost_notes] if self._narrow and self._cost_text else self._cost_notes
        self.cost_label.setText(" · ".join(costs))
        self.cost_label.setVisible(bool(costs))

    def retranslate(self) -> None:
        """The button's words; the plan brings the sentences."""
        self.details_button.setText(self.tr("Details"))
        self.details_button.setAccessibleName(f"{self.details_button.text()}: {self._step.title or self._step.id}")
        self.details_button.setAccessibleDescription(self.tr("open") if self.is_expanded else self.tr("closed"))

    @property
    def is_expanded(self) -> bool:
        """Whether the details are shown."""
        return self._details_inset is not None and not self._details_inset.isHidden()

    @property
    def step_id(self) -> str:
        """The step's id."""
        return self._step.id

    def toggle_details(self) -> None:
        """Show the details, or hide them."""
        if self._details_inset is None:
            self._details_inset = self._build_details()
        else:
            self._details_inset.setVisible(self._details_inset.isHidden())
        self.details_button.set_icon(None, "up" if self.is_expanded else "down")
        self.retranslate()

    def _build_details(self) -> InsetPanel:
        # Made when somebody wants them: a plan of many steps stands on the screen the sooner.
        step, inset = self._step, InsetPanel()
        if step.commands:
            are_pages = all(len(command) == 1 and urlsplit(command[0]).scheme == "https" for command in step.commands)
            title = self.tr("Where to get it") if are_pages else self.tr("The exact command")
            inset.column.addWidget(label("small-strong", title))
            self.command_box = CommandBox("\n".join(self._terminal.command_line(command) for command in step.commands))
            inset.column.addWidget(self.command_box)
        requirements = requirements_text(step)
        if requirements is not None:
            inset.column.addWidget(label("small-strong", self.tr("What stands in requirements.in")))
            self.requirements_box = CommandBox(requirements)
            inset.column.addWidget(self.requirements_box)
        alternative_text = alternative_command(step)
        if alternative_text is not None:
            inset.column.addWidget(label("small-strong", self.tr("The other way")))
            self.alternative_box = CommandBox(alternative_text)
            inset.column.addWidget(self.alternative_box)
        if step.files:
            inset.column.addWidget(label("small-strong", self.tr("Files from the internet")))
            for file in step.files:
                inset.column.addWidget(label("small", _file_text(file), "text"))
        inset.column.addWidget(label("small-strong", self.tr("How it is undone")))
        inset.column.addWidget(label("small", step.undo or "", "text"))
        if self._terms:
            inset.column.addWidget(label("small-strong", self.tr("What the words mean")))
            inset.column.addWidget(label("small", "\n".join(self._terms), "text"))
        self._details_layout.addWidget(inset)
        inset.show()
        return inset


def step_cost_text(step: Step, texts: Texts) -> str:
    """Size and expected time of a step, as far as they are known."""
    download_size = step_download_text(step.code, step.bytes, step.data, texts)
    parts = [download_size] if download_size else []
    if step.minutes:
        parts.append(duration_text(step.minutes, texts, at_least=step.minutes_least))
    return " · ".join(parts)


def step_cost_notes(step: Step, texts: Texts) -> list[str]:
    """What else a step costs: space, a consent. A restart is part of what its sentence says."""
    notes = [step.now.text] if step.now is not None and step.now.text else []
    min_bytes = minimum_disk_bytes(step)
    if min_bytes:
        size_text = format_size(min_bytes) if step.disk_bytes else texts.translate("price.at-least", {"bytes": min_bytes})
        notes.append(translate("PlanRow", "{size} on the disk").format(size=size_text))
    if step.needs_admin:
        notes.append(translate("PlanRow", "asks for your consent as administrator"))
    return notes


def _file_text(file: PlanFile) -> str:
    parts = [file.name, *([format_size(file.bytes)] if file.bytes else []), urlsplit(file.url).hostname or ""]
    return " · ".join(each for each in parts if each)
