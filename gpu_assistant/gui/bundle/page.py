"""Prepare for a computer without internet: for which, where, how far, and what to do there."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog

from ...core import json
from ...core.errors import CallError
from ...core.plan import Event, StepEvent
from ...core.price import price
from ...texts.format import duration, size
from ..components import Button, ConfirmDialog, Hero, announce
from ..components.dialogs import folder_dialog, open_dialog, save_dialog
from ..main.file_saver import FileSaver
from ..wizard import words as said
from ..wizard.base import WizardPage, chain
from ..wizard.note_card import NoteCard
from ..wizard.road import Road
from ..wizard.step_block import StepBlock
from .after_card import AfterCard
from .making import Making, Order, State
from .order_cards import FOR_THIS, PlaceCard, WhichCard

MACHINE_FILE = "computer.json"


class PreparePage(WizardPage):
    """`left` asks for the page that it was opened from."""

    left = Signal()

    def __init__(self, road: Road, making: Making) -> None:
        self.making = making
        self._folder: Path | None = None
        self._file: Path | None = None
        self._state: State | None = None
        self.guest = False  # whether it was opened from the main area
        super().__init__(road)
        making.changed.connect(self.draw_if_seen)
        making.stepped.connect(self._stepped)

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        self.verdict = Hero("ok")
        self.which, self.place = WhichCard(), PlaceCard()
        self.block, self.note, self.after = StepBlock(), NoteCard(), AfterCard()
        for widget in (self.verdict, self.block, self.note, self.which, self.place, self.after):
            column.addWidget(widget)
        column.addStretch(1)
        self.which.chosen.connect(self.draw)
        self.which.file.clicked.connect(lambda: self.file_dialog().open())
        self.which.save.clicked.connect(lambda: self.save_dialog().open())
        self.place.choose.clicked.connect(lambda: self.folder_dialog().open())
        self.after.open.clicked.connect(self._open_folder)
        self.after.another.clicked.connect(self.making.forget)
        self.block.controls.held.connect(self.making.hold)
        self.block.controls.limit.chosen.connect(self._limit)
        self.saver = FileSaver(self)
        self.saver.saved.connect(lambda path: self.which.tell(self.tr("Saved: {path}").format(path=path)))
        self.saver.failed.connect(lambda error: self.which.tell(said.error(self.texts, error)))
        self.back = self.footer.add(Button())
        self.back.clicked.connect(self.left)
        self.cancel = self.footer.add(Button())
        self.cancel.clicked.connect(self.ask_to_stop)
        self.footer.add(self.primary)

    # What the user answers

    def folder_dialog(self) -> QFileDialog:
        """The question for the folder."""
        dialog = folder_dialog(self, self.tr("Which folder shall hold the files?"))
        dialog.fileSelected.connect(lambda folder: self.use_folder(Path(folder)))
        return dialog

    def file_dialog(self) -> QFileDialog:
        """The question for the other computer's file."""
        dialog = open_dialog(self, self.tr("Which file tells of the other computer?"), "JSON (*.json)")
        dialog.fileSelected.connect(lambda file: self.use_file(Path(file)))
        return dialog

    def save_dialog(self) -> QFileDialog:
        """The question for a place of this computer's own file."""
        title = self.tr("Where shall this computer's details be saved?")
        dialog = save_dialog(self, title, "JSON (*.json)", MACHINE_FILE)
        dialog.fileSelected.connect(lambda file: self.save_machine(Path(file)))
        return dialog

    def use_folder(self, folder: Path) -> None:
        """Make it in this folder."""
        self._folder = folder
        self._answered()

    def use_file(self, file: Path) -> None:
        """Make it for the computer that this file tells of."""
        self._file = file
        self._answered()

    def _answered(self) -> None:
        """What went wrong before went wrong with other answers."""
        if self.making.state == "failed":
            self.making.forget()
        self.draw()
        self.focus_primary()

    def save_machine(self, path: Path) -> None:
        """Save what this computer is, to be chosen where there is internet."""
        machine = self.road.flow.facts.machine
        if machine is not None:
            self.saver.write(path, lambda: json.write_file(path, json.encode_pretty(machine) + "\n"))

    def order(self) -> Order | None:
        """What is asked for by now; None while something is missing."""
        facts = self.road.flow.facts
        this = self.which.current == FOR_THIS
        machine = facts.machine if this else self._file
        if self._folder is None or machine is None or (this and facts.recommendation is None):
            return None
        return Order(
            folder=self._folder,
            machine=machine,
            goal=facts.goal,
            channel=facts.channel,
            recommendation=facts.recommendation if this else None,
            choice=facts.choice if this else None,
        )

    def go_on(self) -> None:
        """Begin, go on, or back to where it was opened."""
        state, order = self.making.state, self.order()
        if state == "done":
            self.left.emit()
        elif state in ("failed", "stopped") and order == self.making.order:
            self.making.again()
        elif order is not None:
            self.making.start(order)

    def ask_to_stop(self) -> None:
        """Cancel, after a question; nothing is lost."""
        line = self.tr("The same folder goes on from here later.")
        if self.making.came:
            line = self.tr("What is downloaded is kept. The same folder goes on from here later.")
        if ConfirmDialog.ask(
            self,
            self.tr("Stop here?"),
            line,
            self.tr("Stop"),
            self.tr("Go on"),
        ):
            self.making.stop()

    # What is shown

    def draw(self) -> None:
        """Everything of now."""
        state = self.making.state
        asking = state in ("idle", "failed", "stopped")
        for widget in (self.which, self.place):
            widget.setVisible(asking)
        self.after.setVisible(state == "done")
        self.note.setVisible(self.making.running)
        self._titles(state)
        self._order_cards()
        self._verdict(state)
        self._progress()
        if self.making.made is not None:
            self.after.set(self.making.made, self.texts)
        self._foot(state)
        chain(self.primary, *self.which.controls, self.place.choose, *self.after.controls, self.cancel, self.back)
        if state != self._state:
            self._state = state
            self.focus_primary()
            if not self.verdict.isHidden():
                announce(self.verdict, self.verdict.accessibleName())

    def _titles(self, state: State) -> None:
        title = self.tr("Prepare for a computer without internet")
        line = self.tr("All files that its setup needs, in one folder: for a USB stick or a disk.")
        if state == "running":
            title, line = self.tr("Preparing the folder"), self.tr("You may go on working, or minimise this window.")
        elif state == "stopping":
            title, line = self.tr("Stopping…"), self.tr("It ends at the next safe place.")
        self.page.set_title(title, line)

    def _order_cards(self) -> None:
        facts = self.road.flow.facts
        error = self.road.errors.get("look") or self.road.errors.get("reckon")
        looking = self.tr("Looking at this computer…") if self.road.looking or self.road.reckoning else ""
        unknown = said.error(self.texts, error) if error is not None else looking
        self.which.set(facts, self._file, self.texts, simulated=self.road.flow.simulated, unknown=unknown)
        plan = facts.plan
        known = price(plan).bytes if plan is not None and self.which.current == FOR_THIS else None
        self.place.set(self._folder, known)

    def _verdict(self, state: State) -> None:
        made, error = self.making.made, self.making.error
        self.verdict.setVisible(state in ("done", "failed", "stopped"))
        if state == "done" and made is not None:
            words = self.tr("The folder is ready: {size}").format(size=size(made.contents.bytes))
            self.verdict.set("ok", words, str(made.order.folder))
        elif state == "failed" and error is not None:
            self.verdict.set("error", self.tr("The folder is not ready"), said.error(self.texts, error))
        elif state == "stopped":
            words = self.tr("Go on whenever you like, also after a restart.")
            if self.making.came:
                words = self.tr("What is downloaded is kept. Go on whenever you like, also after a restart.")
            self.verdict.set("neutral", self.tr("Stopped where you said"), words, icon="info")

    def _progress(self) -> None:
        making = self.making
        step = making.progress.running if making.progress is not None else None
        self.block.setVisible(making.running and step is not None)
        self.note.set(
            "ok", self.tr("Safe to interrupt"), self.tr("The same folder goes on where it stopped, also tomorrow.")
        )
        if step is None or not making.running:
            return
        if making.pace is not None:
            self.block.controls.set(holding=making.pace.paused, rate=making.pace.most)
        self.block.set_step(step, self.texts)
        number, left = making.progress.number if making.progress is not None else 1, step.seconds_left
        counted = {"n": str(number), "of": str(len(making.progress.steps) if making.progress is not None else 1)}
        line = self.tr("Step {n} of {of}. You may go on working, or minimise this window.").format(**counted)
        if left is not None and not self.block.controls.holding:
            line = self.tr("Step {n} of {of} · about {time} left. You may go on working, or minimise this window.")
            line = line.format(time=duration(left, self.texts.language), **counted)
        if making.state == "running":
            self.page.set_title(self.tr("Preparing the folder"), line)

    def _stepped(self, event: Event) -> None:
        if not isinstance(event, StepEvent):
            return
        if event.unit == "bytes" and event.state == "running":
            self.block.line.add(event.speed)
        if self.isVisible():
            self._progress()

    def _foot(self, state: State) -> None:
        running = self.making.running
        self.back.setText(self.tr("Back"))
        self.back.setVisible(not running and state != "done")
        self.cancel.setText(self.tr("Cancel"))
        self.cancel.setVisible(running)
        self.cancel.set_busy(state == "stopping")
        order = self.order()
        going_on = state in ("failed", "stopped") and order == self.making.order
        back = self.tr("Back") if self.guest else self.tr("Back to the setup")
        words = {"failed": self.tr("Try again"), "stopped": self.tr("Go on"), "done": back}
        primary = words[state] if going_on or state == "done" else self.tr("Prepare the folder")
        self.primary.setText(primary)
        self.primary.set_icon(None if state == "done" else "download")
        self.primary.setVisible(not running)
        # A call that is wrong stays wrong however often it is made.
        wrong = going_on and isinstance(self.making.error, CallError)
        self.primary.setEnabled(state == "done" or (order is not None and not wrong))
        hint = ""
        if state != "done" and not running and order is None:
            file = "" if self.which.current == FOR_THIS else self.tr("Choose its file first.")
            hint = self.tr("Choose a folder first.") if self._folder is None else file
        elif wrong:
            hint = self.tr("Choose another folder or file.")
        self.footer.set_hint(hint)

    def focus_primary(self) -> None:
        """Where the way goes on: what is still to be chosen, else the primary; Cancel while it runs."""
        if self.cancel.isVisible():
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        elif not self.primary.isEnabled() and self.place.choose.isVisible():
            lacks_file = self.which.file.isVisible() and self._file is None and self._folder is not None
            (self.which.file if lacks_file else self.place.choose).setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_primary()

    def _limit(self, rate: int | None) -> None:
        self.making.limit(rate)
        self.road.limited.emit(rate)

    def _open_folder(self) -> None:
        made = self.making.made
        if made is not None:
            self.after.show_folder(self.road.app.system, made.order.folder)
