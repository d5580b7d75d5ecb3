"""The install page: what is happening, how long it takes, whether one may leave.

    WizardController.step_changed -> InstallPage -- StepList, one row a step
                                        |---------- CurrentStepPanel or ErrorPanel (progress_panel.py)
                                        |---------- NoteCard: notes from messages.py
                                        `---------- LogDrawer: the output of the tools

In a narrow window InstallLayout puts the running step above the list; so it does with what stopped or failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .....core.plan import Event, StepEvent
from .....core.types import Value
from .....texts.format import format_estimated_duration
from ....messages import message_text
from ....widgets.base import announce
from ....widgets.buttons import Button
from ....widgets.cards import Card, Hero
from ....widgets.console import LogDrawer
from ....widgets.dialogs import ConfirmDialog
from ....widgets.icons import IconWidget
from ....widgets.progress import StepList
from ....widgets.text import label
from ...page import WizardPage, set_tab_order
from ...state import InstallStage
from ..recommendation.plan_view import PlanList
from . import messages
from .progress import REPEATED_STEP_KINDS, InstallProgress, StepProgress
from .progress_panel import FILE_NAME_CODE, CurrentStepPanel, ErrorPanel

ALIGN_TOP = Qt.AlignmentFlag.AlignTop

DRIVER_STEP = "nvidia-driver"  # a kind of step that the driver's own installer does, in a time that is not known
RESTART_ROW = "restart-after-"  # the id of a restart's row, with that of the step before it
ANNOUNCED_STATES = ("done", "failed", "skipped")


class InstallPage(WizardPage):
    """The list of steps beside the running one. `folder_requested` asks for another folder."""

    folder_requested = Signal()

    def build(self) -> None:
        column = self.page.column
        self.step_list = StepList()
        self.step_panel = CurrentStepPanel()
        self.error_panel = ErrorPanel()
        self.stopped_hero = Hero("neutral", icon="pause")
        self.note_cards = (NoteCard(), NoteCard())
        self.log_drawer = LogDrawer()
        self._list_card = Card(padding=8)
        self._list_card.column.addWidget(self.step_list)
        self.plan_list = PlanList(self.controller)
        self._columns = InstallLayout(
            (self._list_card, self.plan_list),
            (self.error_panel, self.stopped_hero, self.step_panel),
            self.note_cards,
            self.log_drawer,
        )
        column.addLayout(self._columns)
        column.addStretch(1)
        self._progress: InstallProgress | None = None
        self.page.breakpoints.changed.connect(self._update_layout)
        self._update_layout()
        self.back_button = self.add_back_button()
        self.cancel_button = self.footer.add_button(Button())
        self.retry_button = self.footer.add_button(Button())
        self.retry_button.clicked.connect(self.controller.install)
        self.footer.add_button(self.primary_button)
        self.cancel_button.clicked.connect(self.confirm_stop)
        self.error_panel.alternative_chosen.connect(self.controller.accept_alternative)
        self.error_panel.folder_requested.connect(self.folder_requested)
        self.step_panel.download_controls.pause_toggled.connect(self.controller.set_paused)
        self.step_panel.download_controls.limit_picker.chosen.connect(self.controller.set_speed_limit)
        self.controller.step_changed.connect(self._on_step_changed)
        self.controller.lines_logged.connect(self._on_lines_logged)
        self._row_keys: tuple[tuple[str, bool], ...] = ()
        self._shown_stage: InstallStage | None = None
        self._logged_name = ""

    def draw(self) -> None:
        controller, state = self.controller, self.controller.flow.state
        stage = state.stage
        progress = controller.progress
        if progress is not self._progress:
            self._progress = progress
            self.log_drawer.clear()
            self.step_panel.speed_line.clear()
            self._fill_rows_from_progress()
        self._update_heading(progress)
        running = stage in ("running", "stopping")
        self._update_plan_list()
        self._update_layout()
        stopped = stage == "cancelled" and not controller.flow.simulated
        self.stopped_hero.setVisible(stopped)
        if stopped:
            self.stopped_hero.set("neutral", *messages.stopped_texts(progress), icon="pause")
        self.step_panel.setVisible(running and progress is not None and progress.running_step is not None)
        self.error_panel.setVisible(state.failure is not None)
        if state.failure is not None:
            unchanged = progress is not None and progress.has_installed_nothing
            self.error_panel.set_failure(state.failure, self.texts, nothing_installed=unchanged)
        self._update_footer(stage)
        if stage != self._shown_stage:
            self._on_stage_changed(stage)

    def run_primary_action(self) -> None:
        """Next page, install, what cures a failure, or close the window before a restart, by the stage."""
        state = self.controller.flow.state
        failure = state.failure if state.stage == "failed" else None
        remedy = failure.remedies[0] if failure is not None else None
        if state.stage == "done" or self.controller.flow.is_environment_verified:
            self.controller.go_next()
        elif state.stage == "reboot-needed":
            self.window().close()
        elif failure is not None and remedy == "alternative":
            self.controller.accept_alternative(failure.alternatives[0])
        elif remedy == "folder":
            self.folder_requested.emit()
        elif remedy == "back":
            self.controller.go_back()
        else:
            self.controller.install()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._update_widths)

    def refresh(self) -> None:
        super().refresh()
        QTimer.singleShot(0, self, self._update_widths)

    def _update_widths(self) -> None:
        self.error_panel.set_available_width(self.page.available_width())

    def confirm_stop(self) -> None:
        """Ask whether to stop the install, and stop it."""
        message = messages.kept_work_text(self._progress, only_download_kept=self._only_download_kept)
        confirmed = ConfirmDialog.ask(
            self,
            self.tr("Stop here?"),
            message,
            self.tr("Stop"),
            self.tr("Continue"),
            dismiss_signal=self.controller.runners.install.finished,
        )
        if confirmed:
            self.controller.stop()

    def _update_plan_list(self) -> None:
        """Show the plan with its commands instead of progress for a simulated computer."""
        simulated, plan = self.controller.flow.simulated, self.controller.flow.state.plan
        for widget in (self._columns.right, self.log_drawer, self._list_card):
            widget.setVisible(not simulated)
        self.plan_list.setVisible(simulated)
        if simulated and plan is not None:
            self.plan_list.draw()

    def _on_lines_logged(self, lines: list[str]) -> None:
        self.log_drawer.append(lines)
        # A closed drawer shows no last line: the output of tools can look like errors.
        self.log_drawer.header.set_last("")

    def _fill_rows_from_progress(self) -> None:
        steps = self._progress.steps.values() if self._progress is not None else ()
        self._fill_rows((step.id, step.code, step.data, step.needs_admin) for step in steps)

    def _fill_rows(self, steps: Iterable[tuple[str, str, dict[str, Value], bool]]) -> None:
        """Make a row for each (id, code, data, needs_admin); nothing changes if they are there already."""
        rows = tuple(steps)
        keys = tuple((step_id, needs_admin) for step_id, _, _, needs_admin in rows)
        if keys != self._row_keys:
            self._row_keys = keys
            self.step_list.clear()
            for step_id, code, data, needs_admin in rows:
                self.step_list.add_step(step_id, self.texts.translate(f"step.{code}.title", data), admin=needs_admin)
                if self._progress is not None and step_id in self._progress.before_restart:
                    self.step_list.add_step(RESTART_ROW + step_id, messages.restart_title())

    def _update_row(self, step: StepProgress) -> None:
        texts = self.texts
        if step.id not in self.step_list.rows:
            self._fill_rows_from_progress()
        self.step_list.set_title(step.id, texts.translate(f"step.{step.code}.title", step.data))
        # The error panel says why a step failed; its row does where the install continued without it.
        message_shown = self.controller.flow.state.stage == "steps-skipped" or step.state != "failed"
        detail, amount = (
            messages.step_detail(step, texts, message_shown=message_shown),
            messages.step_amount(step, texts),
        )
        if step.state == "waiting" and not self._is_compact:
            detail, amount = amount, ""  # beside it, a long title would wrap
        self.step_list.set_state(step.id, step.state, detail, amount)
        progress, state = self._progress, self.controller.flow.state
        if progress is not None and step.id in progress.before_restart:
            restart = progress.restart_state(step.id, resumed=state.resumed)
            due = self.tr("due now") if state.stage == "reboot-needed" and step.id == progress.current_id else ""
            self.step_list.set_title(RESTART_ROW + step.id, messages.restart_title())
            # It is less alarming with what follows.
            is_ahead = restart == "waiting" and not due
            then = self.tr("You choose when; setup then continues.") if is_ahead else ""
            detail, due = ("", due or then) if self._is_compact else (then, due)
            self.step_list.set_state(RESTART_ROW + step.id, restart, detail, due)

    def _on_step_changed(self, event: Event) -> None:
        progress = self.controller.progress
        if not isinstance(event, StepEvent) or progress is None:
            return
        if event.unit == "bytes" and event.state == "running":
            self.step_panel.speed_line.add(event.speed)
        self._log_file_name(progress, event)
        if not self.isVisible():
            return
        if progress is not self._progress or event.id not in progress.steps:
            self.draw()
            return
        for changed in {event.id, *progress.before_restart}:  # a restart depends on the steps after it
            self._update_row(progress.steps[changed])
        self._update_heading(progress)
        self._update_notes()
        self.step_panel.setVisible(progress.running_step is not None and self.controller.flow.is_locked)
        if event.state in ANNOUNCED_STATES:
            announce(self.step_list, self.step_list.rows[event.id].accessibleName())

    def _log_file_name(self, progress: InstallProgress, event: StepEvent) -> None:
        """The names of the files that are downloaded are details."""
        message = progress.steps[event.id].message if event.id in progress.steps else None
        if event.state == "running" and message is not None and message.code == FILE_NAME_CODE:
            name = message_text(self.texts, message)
            if name != self._logged_name:
                self._logged_name = name
                self._on_lines_logged([name])

    def _update_heading(self, progress: InstallProgress | None) -> None:
        stage = self.controller.flow.state.stage
        title, line = messages.stage_title(self.controller.flow.state), ""
        if self.controller.flow.simulated and stage == "done":
            title, line = (
                self.tr("This is what an installation would do"),
                self.tr("Preview only: nothing was executed."),
            )
        running = progress.running_step if progress is not None else None
        if progress is not None and stage == "running":
            line = self._progress_text(progress)
        elif stage == "stopping":
            line = self.tr("It stops as soon as that is safe.")
        elif progress is not None and stage in ("failed", "cancelled") and progress.current_id in progress.steps:
            step = progress.steps[progress.current_id]
            line = self.tr("Step {n} of {of}: {title}").format(
                n=progress.step_number,
                of=progress.step_count,
                title=self.texts.translate(f"step.{step.code}.title", step.data),
            )
        if running is not None and stage in ("running", "stopping"):
            rate_limiter = self.controller.rate_limiter
            if rate_limiter is not None:
                self.step_panel.download_controls.set(paused=rate_limiter.paused, rate=rate_limiter.limit)
            self.step_panel.set_step(running, self.texts, is_stopping=stage == "stopping")
        self.page.set_title(title, line)

    def _progress_text(self, progress: InstallProgress) -> str:
        position = {"n": str(max(progress.step_number, 1)), "of": str(progress.step_count)}
        known_s, unknown = progress.time_left
        if self.step_panel.download_controls.paused or not known_s or progress.running_step in unknown:
            line = self.tr("Step {n} of {of}. You can minimise this window.")
            return line.format(**position)
        line = self.tr("Step {n} of {of} · about {time} left. You can minimise this window.")
        if unknown and all(step.kind == DRIVER_STEP for step in unknown):
            line = self.tr("Step {n} of {of} · about {time} left, plus the driver. You can minimise this window.")
        elif unknown:
            line = self.tr("Step {n} of {of} · more than {time} left. You can minimise this window.")
        return line.format(time=format_estimated_duration(known_s, self.texts.language), **position)

    def _update_notes(self) -> None:
        state, simulated = self.controller.flow.state, self.controller.flow.simulated
        notes = (
            ()
            if simulated
            else messages.install_notes(state, self._progress, self.texts, only_download_kept=self._only_download_kept)
        )
        # In a low window a note below the list of steps would not be seen: the last one stands in the footer.
        in_footer = self.page.breakpoints.is_low and self.controller.flow.is_locked and bool(notes)
        hint, icon = "", "info"
        if in_footer:
            hint = self.tr("{title}. {text}").format(title=notes[-1].title, text=notes[-1].text)
            icon, notes = notes[-1].icon, notes[:-1]
        self.footer.set_hint(hint, icon)
        for index, card in enumerate(self.note_cards):
            card.setVisible(index < len(notes))
            if index < len(notes):
                card.set(notes[index].icon, notes[index].title, notes[index].text)

    @property
    def _only_download_kept(self) -> bool:
        """Whether a stopped install would repeat the running step."""
        running = self._progress.running_step if self._progress is not None else None
        return running is not None and running.kind in REPEATED_STEP_KINDS

    def _update_footer(self, stage: InstallStage) -> None:
        running = stage in ("running", "stopping")
        self.back_button.setText(self.tr("Back"))
        self.back_button.setVisible(not running)
        self.cancel_button.setText(self.tr("Stopping…") if stage == "stopping" else self.tr("Cancel"))
        self.cancel_button.setVisible(running)
        self.cancel_button.set_busy(stage == "stopping")
        is_verified = self.controller.flow.is_environment_verified
        failure = self.controller.flow.state.failure if stage == "failed" else None
        is_retry_offered = failure is not None and "retry" in failure.remedies[1:]
        self.retry_button.setText(self.tr("Try again") if failure is not None else self.tr("Ask again"))
        self.retry_button.setVisible(is_verified or is_retry_offered)
        primary_texts = {"cancelled": self.tr("Continue installing"), "reboot-needed": self.tr("Close")}
        if stage == "steps-skipped" and not is_verified:
            primary_texts["steps-skipped"] = self.tr("Ask again")
        if failure is not None:
            primary_texts["failed"] = messages.primary_remedy_text(failure)
            self.back_button.setVisible(failure.remedies[0] != "back")
        self.primary_button.setText(primary_texts.get(stage, self.tr("Next")))
        # What is pressed while an install runs is Cancel; its end opens the next page by itself.
        self.primary_button.setEnabled(not running)
        self.primary_button.setVisible(not running)

    def _on_stage_changed(self, stage: InstallStage) -> None:
        self._shown_stage = stage
        self.focus_primary()
        failure = self.controller.flow.state.failure
        if failure is not None:
            announce(self.error_panel, message_text(self.texts, failure.message))
        set_tab_order(
            *self.error_panel.buttons,
            *self.step_panel.download_controls.controls,
            self.step_list.fold_button,
            self.log_drawer.header,
        )

    def _update_layout(self) -> None:
        narrow, running = self.page.breakpoints.is_tight, self.controller.flow.is_locked
        stage = self.controller.flow.state.stage
        # What has ended is a verdict over the list of steps; what runs stands beside it.
        has_verdict = stage in ("failed", "cancelled")
        self._is_compact = narrow or has_verdict
        low = self.page.breakpoints.is_low
        self.page.column.setSpacing(8 if low else 12)
        self._columns.arrange(narrow=self._is_compact, running=running)
        self._columns.setSpacing(8 if low else 12 if self._is_compact else 16)
        self.step_panel.set_compact(narrow)
        self._list_card.column.setContentsMargins(8, *((6, 8, 6) if narrow else (12, 8, 12)))
        # What there is to read after a stop fits in a low window.
        is_crowded = low and stage == "cancelled"
        self.step_list.set_compact(
            self._is_compact,
            fold_done=narrow and (running or is_crowded),
            hide_waiting=stage == "failed",  # what follows is another way
        )
        self.log_drawer.setVisible(not is_crowded and not self.controller.flow.simulated)
        self._update_notes()
        if self._progress is not None:
            for step in self._progress.steps.values():
                self._update_row(step)


class InstallLayout(QBoxLayout):
    """Lists at the left, progress, notes and log at the right; or all in one column, progress first."""

    def __init__(
        self,
        list_widgets: Sequence[QWidget],
        progress_widgets: Sequence[QWidget],
        notes: Sequence[QWidget],
        log: QWidget,
    ) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._note_widgets, self._log_widget = tuple(notes), log
        self.left, self.right = QWidget(), QWidget()
        self._columns = {box: QVBoxLayout(box) for box in (self.left, self.right)}
        for box, widgets in ((self.left, list_widgets), (self.right, (*progress_widgets, *notes, log))):
            self._columns[box].setContentsMargins(0, 0, 0, 0)
            self._columns[box].setSpacing(12)
            for widget in widgets:
                self._columns[box].addWidget(widget)
        self.addWidget(self.left, 40, ALIGN_TOP)
        self.addWidget(self.right, 60, ALIGN_TOP)
        self._arranged_for: tuple[bool, bool] | None = None

    def arrange(self, *, narrow: bool, running: bool) -> None:
        """In one column the notes follow the list while the install runs, and precede it otherwise; the log is last."""
        if (narrow, running) == self._arranged_for:
            return
        self._arranged_for = narrow, running
        down, across = QBoxLayout.Direction.BottomToTop, QBoxLayout.Direction.LeftToRight
        self.setDirection(down if narrow else across)
        for note in self._note_widgets:
            self._columns[self.left if narrow and running else self.right].addWidget(note)
        self._columns[self.left if narrow else self.right].addWidget(self._log_widget)


class NoteCard(Card):
    """An icon, a title and a text."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 10, 16, 10)
        row, column = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(14)
        column.setSpacing(1)
        self._icon_label = IconWidget("ok", "ok", 18)
        self._title_label, self._text_label = label("small-strong"), label("small")
        column.addWidget(self._title_label)
        column.addWidget(self._text_label)
        row.addWidget(self._icon_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.column.addLayout(row)

    def set(self, icon: str, title: str, text: str) -> None:
        """Show a note."""
        self._icon_label.set(icon, "ok" if icon == "ok" else "accent")
        self._title_label.setText(title)
        self._text_label.setText(text)
        self.setAccessibleName(f"{title}. {text}")
