"""The plan to be read before anything happens: its steps, the equivalent command line, and saving it as a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import asdict
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from .....core import paths
from .....core.plan import PlanFile, Step, alternative_command, requirements_text, steps_before_restart
from .....core.plan_cost import minimum_disk_bytes
from .....core.recommendation import Choice
from .....texts.format import format_size
from .....texts.localized import Texts, duration_text, step_download_text
from .....texts.terminal import Terminal
from .....texts.translate import explain_terms
from .... import messages, theme
from ....widgets.base import Themed
from ....widgets.buttons import Button
from ....widgets.cards import Card, InsetPanel
from ....widgets.console import CommandBox
from ....widgets.dialogs import save_dialog
from ....widgets.progress import StepRow
from ....widgets.text import label
from ...controller import WizardController
from ...state import WizardState

if TYPE_CHECKING:
    from .....app import App

translate = QCoreApplication.translate
NARROW_BELOW = 560

# The options of `gpu-assistant install` for chosen versions; a plan with other choices is installed from a file.
COMMAND_OPTIONS = {
    "pytorch": "--pytorch",
    "variant": "--variant",
    "python": "--python",
    "toolkit_way": "--toolkit",
    "wsl": "--wsl2",
}
PLAN_FILE_NAME = "gpu-assistant-plan.json"


class PlanList(Card):
    """One row for each step; below them the command line, and a button that saves the plan."""

    def __init__(self, controller: WizardController) -> None:
        super().__init__(padding=8)
        self._controller = controller
        self._drawn_key: object = None
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(2)
        self.rows: list[PlanRow] = []
        self.restart_rows: list[StepRow] = []
        self._command_label, self._save_status = label("small-strong"), label("small")
        self._save_status.setObjectName("planSaveStatus")
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
        """All focusable widgets in reading order."""
        widgets: list[QWidget] = []
        for row in self.rows:
            boxes = [box for box in (row.command_box, row.alternative_box) if box is not None]
            widgets += [row.details_button, *(part for box in boxes for part in (box.text_edit, box.copy_button))]
        return [*widgets, self.command_box.text_edit, self.command_box.copy_button, self.save_button]

    def draw(self) -> None:
        """Show the current plan."""
        controller, state = self._controller, self._controller.flow.state
        plan, machine, texts = state.plan, state.machine, controller.language.texts()
        if plan is None:
            return
        system = machine.os.system if machine is not None else controller.app.system.name
        if self._drawn_key != (plan, texts.language):
            self._drawn_key = (plan, texts.language)
            self._set_rows(
                [PlanRow(step, texts, system, self) for step in texts.localize_plan(plan).steps],
                steps_before_restart(plan),
            )
        arguments = install_command(controller.app, state)
        self._command_label.setText(
            self.tr("The same on the command line, once the plan is saved")
            if needs_plan_file(arguments)
            else self.tr("The same on the command line")
        )
        self.command_box.set_text(
            (texts.terminal or Terminal(system=controller.app.system.name)).command_line(arguments)
        )
        self.save_button.setText(self.tr("Save the plan"))
        error = controller.errors.get("save-plan")
        if error is not None:
            self._save_status.setText(messages.error_text(texts, error))
        elif controller.saved_path is not None:
            self._save_status.setText(self.tr("Saved: {path}").format(path=controller.saved_path))
        else:
            self._save_status.setText(self.tr("As a JSON file, to be read or carried out elsewhere."))

    def _set_rows(self, rows: list[PlanRow], before_restart: Collection[str]) -> None:
        expanded_ids = {old_row.step_id for old_row in self.rows if old_row.is_expanded}
        for old_row in (*self.rows, *self.restart_rows):
            self._rows_layout.removeWidget(old_row)
            old_row.hide()
            old_row.deleteLater()
        self.rows, self.restart_rows = rows, []
        for row in rows:
            self._rows_layout.addWidget(row)
            row.show()
            if row.step_id in expanded_ids:
                row.toggle_details()
            if row.step_id in before_restart:
                restart_row = StepRow(planned=True, parent=self)
                restart_row.set_title(self.tr("Restart the computer"))
                restart_row.set_state("waiting", self.tr("Setup continues afterwards."), "")
                self._rows_layout.addWidget(restart_row)
                restart_row.show()
                self.restart_rows.append(restart_row)

    def choose_file(self) -> None:
        """Open the dialog for the plan's file."""
        dialog = save_dialog(self, self.tr("Save plan"), "JSON (*.json)", PLAN_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self._controller.save_plan(Path(file)))
        dialog.open()


class PlanRow(Themed, QWidget):
    """One step: what, size, duration; on demand its commands, its files and how it is undone.

    `step` is localized; `system` decides how its commands are quoted.
    """

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
        self.step_row = StepRow(admin=step.needs_admin, planned=True)
        self.step_row.set_title(step.title or step.id)
        self._cost_text, self._cost_notes, self._narrow = (
            step_cost_text(step, texts),
            step_cost_notes(step),
            False,
        )
        self.cost_label = label("small")
        self._update_costs()
        self.details_button = Button(kind="ghost", trailing_icon="down")
        self.details_button.clicked.connect(self.toggle_details)
        self._details_inset: InsetPanel | None = None
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 8, 0)
        head.setSpacing(0)
        head.addWidget(self.step_row, 1)
        head.addWidget(self.details_button, 0, Qt.AlignmentFlag.AlignTop)
        self._details_layout = QVBoxLayout()
        self._details_layout.addWidget(self.cost_label)
        column.addLayout(head)
        column.addLayout(self._details_layout)
        self.apply_theme()

    def refresh(self) -> None:
        # The text below is in line with the title.
        super().refresh()
        self._details_layout.setContentsMargins(theme.px(26) + 24, 0, 8, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
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
        self.details_button.setText(self.tr("Details"))
        self.details_button.setAccessibleName(f"{self.details_button.text()}: {self._step.title or self._step.id}")
        self.details_button.setAccessibleDescription(self.tr("expanded") if self.is_expanded else self.tr("collapsed"))

    @property
    def is_expanded(self) -> bool:
        """Whether the details are shown."""
        return self._details_inset is not None and not self._details_inset.isHidden()

    @property
    def step_id(self) -> str:
        """The id of the step that this row shows."""
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
        # Built on demand, so that a plan of many steps is shown faster.
        step, inset = self._step, InsetPanel()
        if step.commands:
            are_pages = all(len(command) == 1 and urlsplit(command[0]).scheme == "https" for command in step.commands)
            title = self.tr("Where to get it") if are_pages else self.tr("The exact command")
            inset.column.addWidget(label("small-strong", title))
            self.command_box = CommandBox("\n".join(self._terminal.command_line(command) for command in step.commands))
            inset.column.addWidget(self.command_box)
        requirements = requirements_text(step)
        if requirements is not None:
            inset.column.addWidget(label("small-strong", self.tr("Contents of requirements.in")))
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
        inset.column.addWidget(label("small-strong", self.tr("How to undo it")))
        inset.column.addWidget(label("small", step.undo or "", "text"))
        if self._terms:
            inset.column.addWidget(label("small-strong", self.tr("What the words mean")))
            inset.column.addWidget(label("small", "\n".join(self._terms), "text"))
        self._details_layout.addWidget(inset)
        inset.show()
        return inset


def install_command(app: App, state: WizardState) -> tuple[str, ...]:
    """The arguments that install the same plan from the command line; for a simulated computer they only show it."""
    choice = state.choice or Choice()
    chosen_versions = {name: value for name, value in asdict(choice).items() if value is not None}
    arguments = ["gpu-assistant", "install"]
    if state.bundle is not None:
        arguments += ["--bundle", state.bundle]
        arguments += ["--env", state.environment] if state.environment is not None else []
    elif not chosen_versions.keys() <= COMMAND_OPTIONS.keys():
        arguments += ["--plan", PLAN_FILE_NAME]
    else:
        arguments += ["--goal", state.goal]
        arguments += ["--channel", state.channel] if state.channel != "studio" else []
        for name, value in chosen_versions.items():
            arguments += [COMMAND_OPTIONS[name], value]
        arguments += ["--environment", state.environment_kind] if state.environment_kind != "venv" else []
        arguments += ["--env", state.environment] if state.environment is not None else []
    if app.machine_file is not None:
        arguments += ["--machine", app.machine_file]
    if app.wheelhouse is not None:
        arguments += ["--wheelhouse", str(app.wheelhouse)]
    if app.data.root != paths.data_dir(None, {}).root:
        arguments += ["--data-dir", str(app.data.root)]
    return tuple(arguments)


def needs_plan_file(arguments: Sequence[str]) -> bool:
    """Whether the plan has to be saved before the command can be typed."""
    return "--plan" in arguments


def step_cost_text(step: Step, texts: Texts) -> str:
    """Download size, disk space and expected duration of a step, as far as they are known."""
    download_size = step_download_text(step.code, step.bytes, step.data, texts)
    parts = [download_size] if download_size else []
    min_bytes = minimum_disk_bytes(step)
    if min_bytes:
        size_text = (
            format_size(min_bytes) if step.disk_bytes else texts.translate("price.at-least", {"bytes": min_bytes})
        )
        parts.append(translate("PlanRow", "{size} on disk").format(size=size_text))
    if step.minutes:
        parts.append(duration_text(step.minutes, texts, at_least=step.minutes_least))
    return " · ".join(parts)


def step_cost_notes(step: Step) -> list[str]:
    """What is there already, and administrator consent. A restart is named by the step's own text."""
    notes = [step.now.text] if step.now is not None and step.now.text else []
    if step.needs_admin:
        notes.append(translate("PlanRow", "shows an administrator prompt"))
    return notes


def _file_text(file: PlanFile) -> str:
    parts = [file.name, *([format_size(file.bytes)] if file.bytes else []), urlsplit(file.url).hostname or ""]
    return " · ".join(each for each in parts if each)
