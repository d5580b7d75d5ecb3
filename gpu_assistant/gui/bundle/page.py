"""Prepare for a computer without internet: for which, where, how far, and what to do there."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog

from ...core import json
from ...core.errors import UsageError
from ...core.plan import Event, StepEvent
from ...core.price import plan_cost
from ...texts.format import format_duration, format_size
from ..components import Button, ConfirmDialog, Hero, announce
from ..components.dialogs import folder_dialog, open_dialog, save_dialog
from ..main.file_saver import FileSaver
from ..wizard import words as said
from ..wizard.base import WizardPage, set_tab_order
from ..wizard.note_card import NoteCard
from ..wizard.road import WizardController
from ..wizard.step_block import CurrentStepPanel
from .after_card import BundleReadyCard
from .making import BundleCreator, BundleOrder, CreationState
from .order_cards import THIS_COMPUTER, BundleFolderCard, TargetComputerCard

MACHINE_FILE_NAME = "computer.json"


class CreateBundlePage(WizardPage):
    """`left` asks for the page that it was opened from."""

    leave_requested = Signal()

    def __init__(self, controller: WizardController, creator: BundleCreator) -> None:
        self.creator = creator
        self._folder: Path | None = None
        self._machine_file: Path | None = None
        self._shown_state: CreationState | None = None
        self.opened_from_main_area = False  # whether it was opened from the main area
        super().__init__(controller)
        creator.changed.connect(self.draw_if_visible)
        creator.step_changed.connect(self._on_step_changed)

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        self.verdict_hero = Hero("ok")
        self.target_card, self.folder_card = TargetComputerCard(), BundleFolderCard()
        self.step_panel, self.note_card, self.ready_card = CurrentStepPanel(), NoteCard(), BundleReadyCard()
        for widget in (self.verdict_hero, self.step_panel, self.note_card, self.target_card, self.folder_card, self.ready_card):
            column.addWidget(widget)
        column.addStretch(1)
        self.target_card.target_changed.connect(self.draw)
        self.target_card.file_button.clicked.connect(lambda: self.create_file_dialog().open())
        self.target_card.save_button.clicked.connect(lambda: self.create_save_dialog().open())
        self.folder_card.choose_button.clicked.connect(lambda: self.create_folder_dialog().open())
        self.ready_card.open_button.clicked.connect(self._open_folder)
        self.ready_card.another_button.clicked.connect(self.creator.reset)
        self.step_panel.download_controls.pause_toggled.connect(self.creator.set_paused)
        self.step_panel.download_controls.limit_picker.chosen.connect(self._set_speed_limit)
        self.file_saver = FileSaver(self)
        self.file_saver.saved.connect(lambda path: self.target_card.set_status(self.tr("Saved: {path}").format(path=path)))
        self.file_saver.failed.connect(lambda error: self.target_card.set_status(said.error_text(self.texts, error)))
        self.back_button = self.footer.add_button(Button())
        self.back_button.clicked.connect(self.leave_requested)
        self.cancel_button = self.footer.add_button(Button())
        self.cancel_button.clicked.connect(self.confirm_stop)
        self.footer.add_button(self.primary_button)

    # What the user answers

    def create_folder_dialog(self) -> QFileDialog:
        """The question for the folder."""
        dialog = folder_dialog(self, self.tr("Which folder shall hold the files?"))
        dialog.fileSelected.connect(lambda folder: self.use_folder(Path(folder)))
        return dialog

    def create_file_dialog(self) -> QFileDialog:
        """The question for the other computer's file."""
        dialog = open_dialog(self, self.tr("Which file tells of the other computer?"), "JSON (*.json)")
        dialog.fileSelected.connect(lambda file: self.use_machine_file(Path(file)))
        return dialog

    def create_save_dialog(self) -> QFileDialog:
        """The question for a place of this computer's own file."""
        title = self.tr("Where shall this computer's details be saved?")
        dialog = save_dialog(self, title, "JSON (*.json)", MACHINE_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self.save_machine(Path(file)))
        return dialog

    def use_folder(self, folder: Path) -> None:
        """Make it in this folder."""
        self._folder = folder
        self._on_answer()

    def use_machine_file(self, file: Path) -> None:
        """Make it for the computer that this file tells of."""
        self._machine_file = file
        self._on_answer()

    def _on_answer(self) -> None:
        """What went wrong before went wrong with other answers."""
        if self.creator.state == "failed":
            self.creator.reset()
        self.draw()
        self.focus_primary()

    def save_machine(self, path: Path) -> None:
        """Save what this computer is, to be chosen where there is internet."""
        machine = self.controller.flow.state.machine
        if machine is not None:
            self.file_saver.write(path, lambda: json.write_file(path, json.encode_pretty(machine) + "\n"))

    def current_order(self) -> BundleOrder | None:
        """What is asked for by now; None while something is missing."""
        wizard_state = self.controller.flow.state
        is_this_computer = self.target_card.target == THIS_COMPUTER
        machine = wizard_state.machine if is_this_computer else self._machine_file
        if self._folder is None or machine is None or (is_this_computer and wizard_state.recommendation is None):
            return None
        return BundleOrder(
            folder=self._folder,
            machine=machine,
            goal=wizard_state.goal,
            channel=wizard_state.channel,
            recommendation=wizard_state.recommendation if is_this_computer else None,
            choice=wizard_state.choice if is_this_computer else None,
        )

    def run_primary_action(self) -> None:
        """Begin, go on, or back to where it was opened."""
        state, order = self.creator.state, self.current_order()
        if state == "done":
            self.leave_requested.emit()
        elif state in ("failed", "stopped") and order == self.creator.order:
            self.creator.retry()
        elif order is not None:
            self.creator.start(order)

    def confirm_stop(self) -> None:
        """Cancel, after a question; nothing is lost."""
        line = self.tr("The same folder goes on from here later.")
        if self.creator.has_downloads:
            line = self.tr("What is downloaded is kept. The same folder goes on from here later.")
        if ConfirmDialog.ask(
            self,
            self.tr("Stop here?"),
            line,
            self.tr("Stop"),
            self.tr("Go on"),
        ):
            self.creator.stop()

    # What is shown

    def draw(self) -> None:
        """Everything of now."""
        state = self.creator.state
        is_editable = state in ("idle", "failed", "stopped")
        for widget in (self.target_card, self.folder_card):
            widget.setVisible(is_editable)
        self.ready_card.setVisible(state == "done")
        self.note_card.setVisible(self.creator.is_running)
        self._update_title(state)
        self._update_order_cards()
        self._update_verdict(state)
        self._update_progress()
        if self.creator.bundle is not None:
            self.ready_card.set_bundle(self.creator.bundle, self.texts)
        self._update_footer(state)
        set_tab_order(self.primary_button, *self.target_card.controls, self.folder_card.choose_button, *self.ready_card.controls, self.cancel_button, self.back_button)
        if state != self._shown_state:
            self._shown_state = state
            self.focus_primary()
            if not self.verdict_hero.isHidden():
                announce(self.verdict_hero, self.verdict_hero.accessibleName())

    def _update_title(self, state: CreationState) -> None:
        title = self.tr("Prepare for a computer without internet")
        line = self.tr("All files that its setup needs, in one folder: for a USB stick or a disk.")
        if state == "running":
            title, line = self.tr("Preparing the folder"), self.tr("You may go on working, or minimise this window.")
        elif state == "stopping":
            title, line = self.tr("Stopping…"), self.tr("It ends at the next safe place.")
        self.page.set_title(title, line)

    def _update_order_cards(self) -> None:
        state = self.controller.flow.state
        error = self.controller.errors.get("look") or self.controller.errors.get("reckon")
        progress_text = self.tr("Looking at this computer…") if self.controller.is_detecting or self.controller.is_recommending else ""
        fallback_text = said.error_text(self.texts, error) if error is not None else progress_text
        self.target_card.set(state, self._machine_file, self.texts, simulated=self.controller.flow.simulated, fallback_text=fallback_text)
        plan = state.plan
        download_bytes = plan_cost(plan).bytes if plan is not None and self.target_card.target == THIS_COMPUTER else None
        self.folder_card.set(self._folder, download_bytes)

    def _update_verdict(self, state: CreationState) -> None:
        bundle, error = self.creator.bundle, self.creator.error
        self.verdict_hero.setVisible(state in ("done", "failed", "stopped"))
        if state == "done" and bundle is not None:
            text = self.tr("The folder is ready: {size}").format(size=format_size(bundle.contents.bytes))
            self.verdict_hero.set("ok", text, str(bundle.order.folder))
        elif state == "failed" and error is not None:
            self.verdict_hero.set("error", self.tr("The folder is not ready"), said.error_text(self.texts, error))
        elif state == "stopped":
            text = self.tr("Go on whenever you like, also after a restart.")
            if self.creator.has_downloads:
                text = self.tr("What is downloaded is kept. Go on whenever you like, also after a restart.")
            self.verdict_hero.set("neutral", self.tr("Stopped where you said"), text, icon="info")

    def _update_progress(self) -> None:
        creator = self.creator
        step = creator.progress.running_step if creator.progress is not None else None
        self.step_panel.setVisible(creator.is_running and step is not None)
        self.note_card.set(
            "ok", self.tr("Safe to interrupt"), self.tr("The same folder goes on where it stopped, also tomorrow.")
        )
        if step is None or not creator.is_running:
            return
        if creator.rate_limiter is not None:
            self.step_panel.download_controls.set(paused=creator.rate_limiter.paused, rate=creator.rate_limiter.most)
        self.step_panel.set_step(step, self.texts)
        number, remaining_s = creator.progress.step_number if creator.progress is not None else 1, step.seconds_left
        position = {"n": str(number), "of": str(len(creator.progress.steps) if creator.progress is not None else 1)}
        line = self.tr("Step {n} of {of}. You may go on working, or minimise this window.").format(**position)
        if remaining_s is not None and not self.step_panel.download_controls.paused:
            line = self.tr("Step {n} of {of} · about {time} left. You may go on working, or minimise this window.")
            line = line.format(time=format_duration(remaining_s, self.texts.language), **position)
        if creator.state == "running":
            self.page.set_title(self.tr("Preparing the folder"), line)

    def _on_step_changed(self, event: Event) -> None:
        if not isinstance(event, StepEvent):
            return
        if event.unit == "bytes" and event.state == "running":
            self.step_panel.speed_line.add(event.speed)
        if self.isVisible():
            self._update_progress()

    def _update_footer(self, state: CreationState) -> None:
        running = self.creator.is_running
        self.back_button.setText(self.tr("Back"))
        self.back_button.setVisible(not running and state != "done")
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setVisible(running)
        self.cancel_button.set_busy(state == "stopping")
        order = self.current_order()
        can_continue = state in ("failed", "stopped") and order == self.creator.order
        back_text = self.tr("Back") if self.opened_from_main_area else self.tr("Back to the setup")
        primary_texts = {"failed": self.tr("Try again"), "stopped": self.tr("Go on"), "done": back_text}
        primary = primary_texts[state] if can_continue or state == "done" else self.tr("Prepare the folder")
        self.primary_button.setText(primary)
        self.primary_button.set_icon(None if state == "done" else "download")
        self.primary_button.setVisible(not running)
        # A call that is wrong stays wrong however often it is made.
        is_call_wrong = can_continue and isinstance(self.creator.error, UsageError)
        self.primary_button.setEnabled(state == "done" or (order is not None and not is_call_wrong))
        hint = ""
        if state != "done" and not running and order is None:
            file = "" if self.target_card.target == THIS_COMPUTER else self.tr("Choose its file first.")
            hint = self.tr("Choose a folder first.") if self._folder is None else file
        elif is_call_wrong:
            hint = self.tr("Choose another folder or file.")
        self.footer.set_hint(hint)

    def focus_primary(self) -> None:
        """Where the way goes on: what is still to be chosen, else the primary; Cancel while it runs."""
        if self.cancel_button.isVisible():
            self.cancel_button.setFocus(Qt.FocusReason.OtherFocusReason)
        elif not self.primary_button.isEnabled() and self.folder_card.choose_button.isVisible():
            needs_file = self.target_card.file_button.isVisible() and self._machine_file is None and self._folder is not None
            (self.target_card.file_button if needs_file else self.folder_card.choose_button).setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_primary()

    def _set_speed_limit(self, rate: int | None) -> None:
        self.creator.set_speed_limit(rate)
        self.controller.speed_limit_changed.emit(rate)

    def _open_folder(self) -> None:
        bundle = self.creator.bundle
        if bundle is not None:
            self.ready_card.show_folder(self.controller.app.system, bundle.order.folder)
