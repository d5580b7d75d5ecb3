"""The page of the computer: what have I got? A verdict, one row a part, and further notes.

Texts come from machine_summary.py. During a detection the rows are filled as its partial results arrive.
"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ....core.errors import AppError, InsufficientDiskSpace
from ....core.machine import Machine
from ....core.recommendation import Recommendation
from ....texts.guide import load_guide
from ... import messages, theme
from ...widgets.base import announce
from ...widgets.buttons import Button
from ...widgets.cards import Banner, Card, Divider, Hero, HeroKind, ValueRow
from ...widgets.icons import IconWidget
from ...widgets.text import label
from ..page import WizardPage
from . import machine_summary
from .machine_summary import ALREADY_WORKING_CODES, MachineNote, is_partial, machine_notes

HELP_TOPIC = "computer"  # its last heading is about a card that is missing
ALIGNED_MIN_WIDTH = 480  # times the text scale
ELAPSED_INTERVAL_MS, COPIED_NOTE_MS = 200, 2000


class ComputerPage(WizardPage):
    """Verdict, rows and notes of the detected machine."""

    def build(self) -> None:
        column = self.page.column
        self.error_banner = Banner("error")
        self.error_banner.hide()
        self.hero = Hero("neutral", icon="search")
        self.card = Card(padding=16)
        self.card.column.setSpacing(0)
        self.rows: dict[str, ValueRow] = {}
        self._dividers: list[Divider] = []
        for name in machine_summary.ROW_ORDER:
            if self.rows:
                self._dividers.append(Divider())
                self.card.column.addWidget(self._dividers[-1])
            self.rows[name] = ValueRow(machine_summary.ROW_ICONS[name])
            self.card.column.addWidget(self.rows[name])
        self.notes_card = MachineNotesCard()
        self.notes_card.hide()
        for widget in (self.error_banner, self.hero, self.card, self.notes_card):
            column.addWidget(widget)
        column.addStretch(1)
        self.detect_button = self.footer.add_left_button(Button(kind="ghost", icon_name="restart", flush="left"))
        self.copy_button = self.footer.add_left_button(Button(kind="ghost", icon_name="copy"))
        self.back_button = self.add_back_button()
        self.footer.add_button(self.primary_button)
        self.detect_button.clicked.connect(self.controller.detect)
        self.copy_button.clicked.connect(self._copy_details)
        self.hero.button.clicked.connect(self._show_help_on_missing_card)
        self._partial_machine: Machine | None = None
        self._announced_machine: Machine | None = None
        self._elapsed_timer = QTimer(self)
        self._elapsed_timer.setInterval(ELAPSED_INTERVAL_MS)
        self._elapsed_timer.timeout.connect(self._update_elapsed)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.setInterval(COPIED_NOTE_MS)
        self._copied_timer.timeout.connect(self.draw)
        self.controller.detection_progress.connect(self._on_detection_progress)
        self.page.breakpoints.changed.connect(self._update_layout)
        self._update_layout()

    def draw(self) -> None:
        controller, state = self.controller, self.controller.flow.state
        detecting = controller.is_detecting
        if detecting and not self._elapsed_timer.isActive():
            self._partial_machine = None
            self._elapsed_timer.start()
        elif not detecting:
            self._elapsed_timer.stop()
        self.detect_button.setText(self.tr("Check again"))
        self.copy_button.setText(self.tr("Copied") if self._copied_timer.isActive() else self.tr("Copy details"))
        self.copy_button.set_icon("check" if self._copied_timer.isActive() else "copy")
        self.back_button.setText(self.tr("Back"))
        self.primary_button.setText(self.tr("See recommendation"))
        self.detect_button.setEnabled(not detecting)
        self.copy_button.setEnabled(state.machine is not None and not detecting)
        was_enabled = self.primary_button.isEnabled()
        self.primary_button.setEnabled(state.machine is not None and not detecting)
        self._update_title()
        self._update_verdict()
        self._update_rows()
        error = controller.errors.get("detect")
        self.error_banner.setVisible(error is not None)
        if error is not None:
            self.error_banner.set("error", messages.error_text(self.texts, error))
        if self.primary_button.isEnabled() and not was_enabled and self.isVisible():
            self.focus_primary()

    def _update_layout(self) -> None:
        """In a low window all rows are seen at once."""
        low = self.page.breakpoints.is_low
        self.page.column.setSpacing(8 if low else 12)
        self.card.column.setContentsMargins(16, 4 if low else 12, 16, 4 if low else 12)
        for row in self.rows.values():
            row.set_compact(low)
        self._align_details()
        self._update_verdict()

    def _align_details(self) -> None:
        """The details end at one place, unless large text needs the room beside shorter pills."""
        pills = [row.pill.sizeHint().width() for row in self.rows.values() if not row.pill.isHidden()]
        has_room = self.page.available_width() >= theme.px(ALIGNED_MIN_WIDTH)
        for row in self.rows.values():
            row.set_pill_width(max(pills, default=0) if has_room else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._align_details)

    def refresh(self) -> None:
        super().refresh()
        QTimer.singleShot(0, self, self._align_details)

    def _update_title(self) -> None:
        title = self.tr("Simulated computer") if self.controller.flow.simulated else self.tr("This computer")
        seconds = self.controller.detection_seconds
        if self.controller.is_detecting:
            self._update_elapsed()
        elif self.controller.flow.simulated:
            self.page.set_title(title, self.tr("Read from a details file; this computer was not checked."))
        elif seconds is not None:
            subtitle = self.tr("Checked in {seconds} seconds. Nothing was changed or sent.")
            self.page.set_title(title, subtitle.format(seconds=f"{seconds:.1f}"))
        else:
            self.page.set_title(title)

    def _update_elapsed(self) -> None:
        seconds = round(self.controller.detection_elapsed(time.monotonic()))
        self.page.set_title(self.tr("This computer"), self.tr("Checking… {seconds} s").format(seconds=seconds))

    def _update_verdict(self) -> None:
        machine = self.controller.flow.state.machine
        if machine is None or self.controller.is_detecting:
            self.hero.set("neutral", self.tr("Checking this computer"), self.tr("Takes a few seconds."), icon="search")
            return
        kind, title, detail = self.compute_verdict(machine)
        has_recommendation = self.controller.flow.state.recommendation is not None
        neutral_icon = "cpu" if has_recommendation else "search"
        may_miss_card = kind == "neutral" and has_recommendation and not self.controller.flow.simulated
        action = self.tr("Card not found?") if may_miss_card and machine.os.system != "darwin" else ""
        self.hero.set(kind, title, detail, action, neutral_icon if kind == "neutral" else None)
        if (has_recommendation or kind == "warn") and machine is not self._announced_machine and self.isVisible():
            self._announced_machine = machine
            announce(self.hero, title)

    def _show_help_on_missing_card(self) -> None:
        from ...help import open_help

        open_help(self.controller.app, self, HELP_TOPIC, load_guide(self.texts.language)[HELP_TOPIC].anchors[-1])

    def compute_verdict(self, machine: Machine) -> tuple[HeroKind, str, str]:
        """Kind, sentence and explanation of what this machine can do."""
        state, nvidia = self.controller.flow.state, machine.gpus_of("nvidia")
        recommendation = state.recommendation
        if recommendation is None or isinstance(state.blocking_error, InsufficientDiskSpace):
            return self._verdict_without_install(state.blocking_error)
        if not nvidia and recommendation.accelerator == "cpu":
            headline = self.tr("PyTorch will run on your CPU")
            description = self.tr("No NVIDIA graphics card was found.")
            if not self.page.breakpoints.is_low:
                line = self.tr("Your CPU is enough for first steps and small models.")
                description = messages.join_sentences(description, line)
            return "neutral", headline, description
        if recommendation.accelerator == "cpu":
            warnings = self.texts.localize_recommendation(recommendation).warnings
            detail = warnings[0].text if warnings else ""
            return "warn", self.tr("PyTorch works here, but on the CPU only"), detail or ""
        headline = self.tr("Good news: this computer can train on its GPU")
        if self.controller.flow.simulated:
            headline = self.tr("Good news: it can train on its GPU")
        return "ok", headline, self._training_detail(recommendation)

    def _training_detail(self, recommendation: Recommendation) -> str:
        """What is ready for training on the GPU, or what is missing."""
        driver = recommendation.driver.action
        if any(each.code in ALREADY_WORKING_CODES for each in recommendation.alternatives):
            return self.tr("The PyTorch on this computer already uses it; the next page shows what is newer.")
        if driver == "update" and any(way.id == "works-now" for way in recommendation.ways):
            tool = "TensorFlow" if recommendation.pytorch is None else "PyTorch"
            return self.tr("Your driver works. A newer one lets you use the newest {tool}.").format(tool=tool)
        older_version_reason = next(
            (each for each in recommendation.reasons if each.code == "version-newest-with-code"), None
        )
        if driver == "keep" and older_version_reason is not None:
            sentence = self.tr(
                "Your card and driver are ready for PyTorch {version}; the newest, {newest}, no longer "
                "supports this card."
            )
            return sentence.format(
                version=older_version_reason.data["version"], newest=older_version_reason.data["newest"]
            )
        return {
            "update": self.tr("It just needs a newer driver; the next page shows which one."),
            "back": self.tr(
                "It just needs an older driver, because yours is too new for the card; the next page shows which one."
            ),
            "install": self.tr("Only the driver is missing; the next page shows which one you need."),
            "keep": self.tr("Your card and driver are ready."),
            "none": self.tr("PyTorch has a build for this graphics chip."),
        }[driver]

    def _verdict_without_install(self, blocking_error: AppError | None) -> tuple[HeroKind, str, str]:
        if blocking_error is not None:
            return "warn", self.tr("The disk is too full"), messages.error_text(self.texts, blocking_error)
        error = self.controller.errors.get("recommend")
        if error is None:
            return "neutral", self.tr("Preparing your recommendation"), ""
        return "warn", self.tr("No recommendation yet"), messages.error_text(self.texts, error)

    def _update_rows(self) -> None:
        state = self.controller.flow.state
        detecting = self.controller.is_detecting
        machine = self._partial_machine if detecting else state.machine
        recommendation, plan = (None, None) if detecting else (state.recommendation, state.plan)
        rows = machine_summary.machine_rows(machine, recommendation, plan) if machine is not None else ()
        rows_by_id = {row.id: row for row in rows}
        # Until the card is known, the row of its driver keeps the place of the processor's.
        shown = [name for name in machine_summary.ROW_ORDER if (name in rows_by_id if rows else name != "processor")]
        for index, name in enumerate(machine_summary.ROW_ORDER):
            self.rows[name].setVisible(name in shown)
            if index:
                self._dividers[index - 1].setVisible(name in shown)
        for name, row_label in machine_summary.row_labels().items():
            row = rows_by_id.get(name)
            widget = self.rows[name]
            if row is None or (detecting and row.value is None):
                widget.set(row_label, "…" if detecting else None)
            elif name == "space" and self.controller.is_checking_sources and not row.reason:
                # What the sources have decides how large it is.
                widget.set(row.label, row.value, self.tr("Working out how much is needed…"))
            else:
                widget.set(row.label, row.value, row.detail or row.reason, row.pill, row.reason)
        self._align_details()

        self._update_notes(machine if not detecting else None)

    def _update_notes(self, machine: Machine | None) -> None:
        """A row that could be read only in part has its reason here."""
        row_probes = {note.probe for note in machine.notes if not is_partial(note)} if machine is not None else set()
        in_rows = frozenset(row_probes & set(machine_summary.PROBE_OF_ROW.values()))
        self.notes_card.set_notes(
            self.tr("Good to know"), machine_notes(machine, in_rows) if machine is not None else ()
        )

    def _on_detection_progress(self, progress: Any) -> None:  # noqa: ANN401 - whatever the job reports
        if isinstance(progress, Machine):
            self._partial_machine = progress
            self._update_rows()

    def _copy_details(self) -> None:
        state = self.controller.flow.state
        if state.machine is None:
            return
        known_rows = machine_summary.machine_rows(state.machine, state.recommendation, state.plan)
        rows_text = machine_summary.rows_as_text(known_rows)
        note_texts = [
            note.text for note in machine_notes(state.machine, frozenset(machine_summary.PROBE_OF_ROW.values()))
        ]
        QGuiApplication.clipboard().setText("\n".join((rows_text, *note_texts)))
        self._copied_timer.start()
        self.draw()
        announce(self.copy_button, self.copy_button.text())


class MachineNotesCard(Card):
    """The notes on a machine; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setSpacing(4)
        self._row_widgets: list[QWidget] = []
        self._shown_notes: tuple[MachineNote, ...] | None = None

    def set_notes(self, title: str, notes: tuple[MachineNote, ...]) -> None:
        self.set_title(title)
        self.setVisible(bool(notes))
        if notes == self._shown_notes:
            return
        self._shown_notes = notes
        for row in self._row_widgets:
            self.column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._row_widgets = [self._add_row(note) for note in notes]

    def _add_row(self, note: MachineNote) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 4)
        layout.setSpacing(12)
        color = "warn" if note.kind == "warn" else "soft"
        layout.addWidget(IconWidget(note.kind, color, 18), 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(label("small", note.text, "text"), 1)
        row.setAccessibleName(note.text)
        self.column.addWidget(row)
        row.show()
        return row
