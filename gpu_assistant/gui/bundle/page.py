"""The page that creates an offline folder, for the setup of a computer without internet.

First it asks for which computer (TargetComputerCard) and into which folder (BundleFolderCard); while BundleCreator
works (create.py) it shows the running step; at the end what to do next (next_steps.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from ...core import json
from ...core.errors import AppError, UsageError
from ...core.machine import Machine
from ...core.plan import Event, StepEvent
from ...core.plan_cost import plan_cost
from ...core.recommendation import RETRYABLE_CODES, Recommendation
from ...core.types import Channel, Goal
from ...texts.format import format_estimated_duration, format_size
from ...texts.localized import Texts
from .. import messages
from ..saving import FileSaver
from ..widgets.base import announce
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner, Card, Hero
from ..widgets.dialogs import ConfirmDialog, folder_dialog, open_dialog, save_dialog
from ..widgets.layouts import WrappingRow
from ..widgets.text import label
from ..wizard.controller import WizardController
from ..wizard.page import WizardPage, set_tab_order
from ..wizard.pages.install.page import NoteCard
from ..wizard.pages.install.progress_panel import CurrentStepPanel
from ..wizard.pages.machine_summary import system_name
from ..wizard.state import WizardState
from ..worker import JobRunner
from .create import BundleCreator, BundleOrder, CreationState, DescribedComputer, MachineFileJob
from .next_steps import BundleReadyCard

THIS_COMPUTER, OTHER_COMPUTER = range(2)

MACHINE_FILE_NAME = "computer.json"
OCCUPIED_CODE = "bundle-folder-occupied"  # of the error by which the chosen folder holds other files


class CreateBundlePage(WizardPage):
    """`leave_requested` asks for the page that this one was opened from."""

    leave_requested = Signal()

    def __init__(self, controller: WizardController, creator: BundleCreator) -> None:
        self.creator = creator
        self._folder: Path | None = None
        self._machine_file: Path | None = None
        self._described: DescribedComputer | None = None
        self._file_error: AppError | None = None
        self._read_for: tuple[Path | None, Goal, Channel] | None = None
        self._shown_state: CreationState | None = None
        self.opened_from_main_area = False
        super().__init__(controller)
        self._file_reader = JobRunner(self)
        self._file_reader.done.connect(self._on_file_read)
        self._file_reader.failed.connect(self._on_file_refused)
        self._file_reader.finished.connect(self.draw_if_visible)
        creator.changed.connect(self._ask_sources_again)
        creator.changed.connect(self.draw_if_visible)
        creator.step_changed.connect(self._on_step_changed)

    def build(self) -> None:
        column = self.page.column
        self.verdict_hero = Hero("ok")
        self.target_card, self.folder_card = TargetComputerCard(), BundleFolderCard()
        self.step_panel, self.note_card, self.ready_card = CurrentStepPanel(), NoteCard(), BundleReadyCard()
        for widget in (
            self.verdict_hero,
            self.step_panel,
            self.note_card,
            self.target_card,
            self.folder_card,
            self.ready_card,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self.target_card.target_changed.connect(self.draw)
        self.target_card.file_button.clicked.connect(lambda: self.create_file_dialog().open())
        self.target_card.save_button.clicked.connect(lambda: self.create_save_dialog().open())
        self.folder_card.choose_button.clicked.connect(lambda: self.create_folder_dialog().open())
        self.ready_card.another_button.clicked.connect(self.creator.reset)
        self.ready_card.unfolded.connect(self.page.scroll_to)
        self.step_panel.download_controls.pause_toggled.connect(self.creator.set_paused)
        self.step_panel.download_controls.limit_picker.chosen.connect(self._set_speed_limit)
        self.file_saver = FileSaver(self)
        self.file_saver.saved.connect(
            lambda path: self.target_card.set_status(self.tr("Saved: {path}").format(path=path))
        )
        self.file_saver.failed.connect(
            lambda error: self.target_card.set_status(messages.error_text(self.texts, error))
        )
        self.back_button = self.footer.add_button(Button())
        self.back_button.clicked.connect(self.leave_requested)
        self.cancel_button = self.footer.add_button(Button())
        self.cancel_button.clicked.connect(self.confirm_stop)
        self.footer.add_button(self.primary_button)

    # Answers of the user

    def create_folder_dialog(self) -> QFileDialog:
        """The dialog for the folder."""
        dialog = folder_dialog(self, self.tr("Choose a folder for the files"))
        dialog.fileSelected.connect(lambda folder: self.use_folder(Path(folder)))
        return dialog

    def create_file_dialog(self) -> QFileDialog:
        """The dialog for the other computer's machine file."""
        dialog = open_dialog(self, self.tr("Choose the other computer's details file"), "JSON (*.json)")
        dialog.fileSelected.connect(lambda file: self.use_machine_file(Path(file)))
        return dialog

    def create_save_dialog(self) -> QFileDialog:
        """The dialog for where to save this computer's machine file."""
        title = self.tr("Save this computer's details")
        dialog = save_dialog(self, title, "JSON (*.json)", MACHINE_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self.save_machine(Path(file)))
        return dialog

    def use_folder(self, folder: Path) -> None:
        """Create the bundle in this folder."""
        self._folder = folder
        self._on_answer()

    def use_machine_file(self, file: Path) -> None:
        """Create the bundle for the computer that this file describes."""
        self._machine_file, self._read_for = file, None
        self._on_answer()

    def _read_machine_file(self) -> None:
        """Read the file in a thread, again where the goal is another one by now; what was read before is forgotten."""
        file, state = self._machine_file, self.controller.flow.state
        wanted = file, state.goal, state.channel
        if self.target_card.target == THIS_COMPUTER or file is None or wanted == self._read_for:
            return
        self._described = self._file_error = None
        if not self._file_reader.running:  # else its end draws the page once more
            self._read_for = wanted
            self._file_reader.start(MachineFileJob(self.controller.app, file, state.goal, state.channel))

    def _on_file_read(self, described: DescribedComputer) -> None:
        if self._read_for is not None:
            self._described = described

    def _on_file_refused(self, error: AppError) -> None:
        if self._read_for is not None:
            self._file_error = error
            announce(self.target_card, messages.error_text(self.texts, error))

    def _on_answer(self) -> None:
        """A failure belonged to the old answers."""
        if self.creator.state == "failed":
            self.creator.reset()
        self.draw()
        self.focus_primary()

    def save_machine(self, path: Path) -> None:
        """Save this computer's machine file, to be used on a computer with internet."""
        machine = self.controller.flow.state.machine
        if machine is not None:
            self.file_saver.write(path, lambda: json.write_file(path, json.encode_pretty(machine) + "\n"))

    def _ask_sources_again(self) -> None:
        """Where what was shown for this computer can no longer be downloaded, the recommendation is made anew."""
        order, error = self.creator.order, self.creator.error
        was_shown = order is not None and order.recommendation is not None
        if self.creator.state == "failed" and was_shown and error is not None and error.code in RETRYABLE_CODES:
            self.controller.check_sources()

    def current_order(self) -> BundleOrder | None:
        """The order by the answers so far; None while one is missing."""
        wizard_state = self.controller.flow.state
        is_this_computer = self.target_card.target == THIS_COMPUTER
        machine = wizard_state.machine if is_this_computer else self._machine_file
        # What is shown for the computer of a machine file was not asked for at the sources.
        is_asked = is_this_computer and not self.controller.flow.simulated
        if self._folder is None or machine is None or (is_this_computer and wizard_state.recommendation is None):
            return None
        return BundleOrder(
            folder=self._folder,
            machine=machine,
            goal=wizard_state.goal,
            channel=wizard_state.channel,
            recommendation=wizard_state.recommendation if is_asked else None,
            choice=wizard_state.choice if is_this_computer else None,
        )

    def run_primary_action(self) -> None:
        """Ask for an answer that is missing, start or continue the order; when it is done, show the folder."""
        state, order, missing = self.creator.state, self.current_order(), self._missing_answer
        if missing is not None:
            (self.create_file_dialog() if missing == "file" else self.create_folder_dialog()).open()
        elif state == "done":
            self._open_folder()
        elif state in ("failed", "stopped") and order == self.creator.order:
            self.creator.retry()
        elif order is not None:
            self.creator.start(order)

    def confirm_stop(self) -> None:
        """Ask whether to stop, and stop."""
        line = self.tr("You can continue in the same folder later.")
        if self.creator.has_downloads:
            line = self.tr("Your download is kept. You can continue in the same folder later.")
        if ConfirmDialog.ask(
            self,
            self.tr("Stop here?"),
            line,
            self.tr("Stop"),
            self.tr("Continue"),
            dismiss_signal=self.creator.runner.finished,
        ):
            self.creator.stop()

    # Display

    def draw(self) -> None:
        state = self.creator.state
        is_editable = state in ("idle", "failed", "stopped")
        for widget in (self.target_card, self.folder_card):
            widget.setVisible(is_editable)
        self._read_machine_file()
        self.ready_card.setVisible(state == "done")
        self.note_card.setVisible(self.creator.is_running)
        self._update_title(state)
        self._update_order_cards()
        self._update_verdict(state)
        self._update_progress()
        if self.creator.bundle is not None:
            self.ready_card.set_bundle(self.creator.bundle, self.texts)
        self._update_footer(state)
        set_tab_order(
            self.primary_button,
            *self.target_card.controls,
            self.folder_card.choose_button,
            *self.ready_card.controls,
            self.cancel_button,
            self.back_button,
        )
        if state != self._shown_state:
            self._shown_state = state
            self.focus_primary()
            if not self.verdict_hero.isHidden():
                announce(self.verdict_hero, self.verdict_hero.accessibleName())

    def _update_title(self, state: CreationState) -> None:
        title = self.tr("Prepare for a computer without internet")
        line = self.tr("All the files its setup needs, in one folder for a USB stick or disk.")
        if state == "done":
            line = ""
        elif state == "running":
            title, line = self.tr("Preparing the folder"), self.tr("You can keep working, or minimise this window.")
        elif state == "stopping":
            title, line = self.tr("Stopping…"), self.tr("It stops as soon as that is safe.")
        self.page.set_title(title, line)

    def _update_order_cards(self) -> None:
        state = self.controller.flow.state
        error = self.controller.errors.get("detect") or self.controller.errors.get("recommend")
        fallback_text = messages.error_text(self.texts, error) if error is not None else self._detection_text()
        missing = self._missing_answer
        self.target_card.set(
            state,
            self._machine_file,
            self.texts,
            simulated=self.controller.flow.simulated,
            is_file_wrong=missing == "file",
            fallback_text=fallback_text,
            described=self._described,
            file_error=self._file_error,
        )
        self.folder_card.set(self._folder, self._needed_bytes(), is_wrong=missing == "folder")

    def _needed_bytes(self) -> int | None:
        """About how many bytes the folder will hold; None where that is not known."""
        state, described = self.controller.flow.state, self._described
        if self.target_card.target == THIS_COMPUTER:
            return plan_cost(state.plan).bytes if state.plan is not None else None
        return described.needed_bytes if described is not None else None

    def _update_verdict(self, state: CreationState) -> None:
        bundle, error = self.creator.bundle, self.creator.error
        self.verdict_hero.setVisible(state in ("done", "failed", "stopped"))
        if state == "done" and bundle is not None:
            text = self.tr("The folder is ready: {size}").format(size=format_size(bundle.contents.bytes))
            lines = (self.ready_card.internet_text(bundle), str(bundle.order.folder))
            self.verdict_hero.set("ok", text, "\n".join(filter(None, lines)))
        elif state == "failed" and error is not None:
            is_occupied = error.code == OCCUPIED_CODE
            title = self.tr("This folder is not empty") if is_occupied else self.tr("The folder is not ready")
            self.verdict_hero.set("error", title, messages.error_text(self.texts, error))
        elif state == "stopped":
            text = self.tr("Continue any time, even after a restart.")
            if self.creator.has_downloads:
                text = self.tr("Your download is kept. Continue any time, even after a restart.")
            self.verdict_hero.set("neutral", self.tr("You stopped preparing the folder"), text, icon="info")

    def _update_progress(self) -> None:
        creator = self.creator
        step = creator.progress.running_step if creator.progress is not None else None
        self.step_panel.setVisible(creator.is_running and step is not None)
        is_stopping = creator.state == "stopping"
        self.note_card.set(
            "ok",
            self.tr("You can continue later") if is_stopping else self.tr("Safe to interrupt"),
            self.tr("You can continue in the same folder any time, even tomorrow."),
        )
        if step is None or not creator.is_running:
            return
        if creator.rate_limiter is not None:
            self.step_panel.download_controls.set(paused=creator.rate_limiter.paused, rate=creator.rate_limiter.limit)
        self.step_panel.set_step(step, self.texts, is_stopping=is_stopping)
        number, remaining_s = creator.progress.step_number if creator.progress is not None else 1, step.seconds_left
        position = {"n": str(number), "of": str(len(creator.progress.steps) if creator.progress is not None else 1)}
        line = self.tr("Step {n} of {of}. You can keep working, or minimise this window.").format(**position)
        if remaining_s is not None and not self.step_panel.download_controls.paused:
            line = self.tr("Step {n} of {of} · about {time} left. You can keep working, or minimise this window.")
            line = line.format(time=format_estimated_duration(remaining_s, self.texts.language), **position)
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
        leads_to_setup = state == "done" and not self.opened_from_main_area
        self.back_button.setText(self.tr("Back to the setup") if leads_to_setup else self.tr("Back"))
        self.back_button.setVisible(not running)
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setVisible(running)
        self.cancel_button.set_busy(state == "stopping")
        order, missing = self.current_order(), self._missing_answer
        can_continue = state in ("failed", "stopped") and order == self.creator.order
        primary_texts = {
            "failed": self.tr("Try again"),
            "stopped": self.tr("Continue"),
            "done": self.tr("Show the folder"),
        }
        primary = primary_texts[state] if can_continue or state == "done" else self.tr("Prepare the folder")
        icon = "folder" if state == "done" else "download"
        if missing == "file":
            is_first, icon = self._machine_file is None, "file"
            primary = self.tr("Choose its details file…") if is_first else self.tr("Choose another file…")
        elif missing == "folder":
            is_first, icon = self._folder is None, "folder"
            primary = self.tr("Choose the folder…") if is_first else self.tr("Choose another folder…")
        self.primary_button.setText(primary)
        self.primary_button.set_icon(icon)
        self.primary_button.setVisible(not running)
        is_ready = state == "done" or missing is not None or order is not None
        self.primary_button.setEnabled(is_ready)
        self.footer.set_hint("" if is_ready or running else self._detection_text())

    def _detection_text(self) -> str:
        """What has to end before a folder for this computer can be prepared; "" where nothing is running."""
        is_running = self.controller.is_detecting or self.controller.is_recommending
        return self.tr("Checking this computer…") if is_running else ""

    @property
    def _missing_answer(self) -> Literal["file", "folder"] | None:
        """The first answer that is missing or wrong; None without one, or while no question is shown."""
        if self.creator.state not in ("idle", "failed", "stopped"):
            return None
        error = self.creator.error
        # Wrong arguments: repeating the same order cannot help.
        wrong = error if isinstance(error, UsageError) and self.current_order() == self.creator.order else None
        lacks_file = self.target_card.target == OTHER_COMPUTER and (
            self._machine_file is None or self._file_error is not None
        )
        if lacks_file or (wrong is not None and wrong.data.get("path") == str(self._machine_file)):
            return "file"
        return "folder" if self._folder is None or wrong is not None else None

    def focus_primary(self) -> None:
        """Focus the primary button; while the order runs, the page."""
        if self.cancel_button.isVisible():
            self.page.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_primary()

    def _set_speed_limit(self, rate: int | None) -> None:
        self.creator.set_speed_limit(rate)
        self.controller.speed_limit_changed.emit(rate)

    def _open_folder(self) -> None:
        bundle = self.creator.bundle
        if bundle is not None:  # from outside, where it can be copied as a whole
            self.ready_card.show_folder(self.controller.app.system, bundle.order.folder.parent)


class TargetComputerCard(Card):
    """This computer, or another one described by a machine file; `target_changed` comes when the user changes it."""

    target_changed = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.target = THIS_COMPUTER
        self.target_segments = SegmentedControl(["", ""])
        self.target_segments.chosen.connect(self._on_target_chosen)
        self.description_label, self._path_label, self._status_label = label("body"), label("strong"), label("small")
        self.file_button = Button(icon_name="file")
        self.save_button = Button(kind="ghost", icon_name="share", small=True, flush="right")
        self._no_internet_label = label("small")
        choices_layout = QVBoxLayout()
        choices_layout.setSpacing(10)
        choices_layout.addWidget(self.target_segments, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        choices_layout.addWidget(self.description_label)
        self._file_banner = Banner("error", inset=True)
        self._file_banner.hide()
        choices_layout.addWidget(self._file_banner)
        choices_layout.addLayout(WrappingRow(self._path_label, self.file_button))
        choices_layout.addLayout(WrappingRow(self._no_internet_label, self.save_button))
        choices_layout.addWidget(self._status_label)
        self.column.addLayout(choices_layout)
        self._status_label.hide()

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        return (*self.target_segments.buttons, self.file_button, self.save_button)

    def set(
        self,
        state: WizardState,
        file: Path | None,
        texts: Texts,
        *,
        simulated: bool,
        is_file_wrong: bool,
        fallback_text: str = "",
        described: DescribedComputer | None = None,
        file_error: AppError | None = None,
    ) -> None:
        """Show the target; `fallback_text` stands for this computer until it is detected, `described` is the one of the
        file, once it was read. Of a file that is wrong the page's primary button asks for another.
        """
        is_this_computer = self.target == THIS_COMPUTER
        self.set_title(self.tr("Which computer is it for?"))
        this_text = self.tr("The one in the details file") if simulated else self.tr("This computer")
        self.target_segments.set_options([this_text, self.tr("Another computer")])
        self.target_segments.set_current(self.target)
        self.target_segments.setAccessibleName(self.tr("Which computer is it for?"))
        has_file = not is_this_computer and file is not None
        if is_this_computer:
            description = self._computer_text(state.machine, state.recommendation, texts) or fallback_text
        elif not has_file:
            description = self._other_computer_text()
        else:
            description = self._computer_text(described.machine, described.recommendation, texts) if described else ""
        self.description_label.setText(description)
        self.description_label.setVisible(bool(description))
        is_refused = has_file and file_error is not None
        self._file_banner.set("error", messages.error_text(texts, file_error) if file_error is not None else "")
        self._file_banner.setVisible(is_refused)
        self._path_label.setVisible(has_file)
        self.file_button.setVisible(has_file and not is_file_wrong)
        self._path_label.setText(str(file) if file is not None else "")
        self.file_button.setText(self.tr("Choose another file…"))
        self._no_internet_label.setText(
            self.tr("No internet here? Save the details file and take it to a computer with internet.")
        )
        self.save_button.setText(self.tr("Save this computer's details…"))
        for widget in (self._no_internet_label, self.save_button):
            widget.setVisible(is_this_computer and not simulated and state.machine is not None)
        self._status_label.setVisible(is_this_computer and bool(self._status_label.text()))

    def set_status(self, text: str) -> None:
        """Show how saving the machine file went."""
        self._status_label.setText(text)
        self._status_label.setVisible(bool(text))

    def _computer_text(self, machine: Machine | None, recommendation: Recommendation | None, texts: Texts) -> str:
        """A computer and what suits it; "" until both are known."""
        if machine is None or recommendation is None:
            return ""
        parts = [gpu.name for gpu in machine.gpus if gpu.name] or [self.tr("no graphics card")]
        torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
        packages = [f"PyTorch {torch.version} ({texts.variant_name(torch.variant)})"] if torch is not None else []
        packages += [f"TensorFlow {tensorflow.version}"] if tensorflow is not None else []
        return self.tr("{system} · {card} · {what}").format(
            system=system_name(machine), card=parts[0], what=" · ".join(packages)
        )

    def _other_computer_text(self) -> str:
        return self.tr(
            "On that computer, open this page in GPU Assistant and press “Save this computer's details…”. Then choose "
            "that file here: the recommendation is based on it."
        )

    def _on_target_chosen(self, index: int) -> None:
        self.target = index
        self.target_changed.emit()


class BundleFolderCard(Card):
    """The folder to create, and its expected size; `choose_button` is for another one than the chosen one."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._path_label, self._description_label = label("strong"), label("body", "", "soft")
        self.choose_button = Button(icon_name="folder")
        self.column.addLayout(WrappingRow(self._path_label, self.choose_button))
        self.column.addWidget(self._description_label)

    def set(self, folder: Path | None, needed_bytes: int | None, *, is_wrong: bool) -> None:
        """Show the folder, and how many bytes it will hold, if that is known; of one that `is_wrong` the page's primary
        button asks for another.
        """
        self.set_title(self.tr("Folder for the files"))
        self._path_label.setText(str(folder) if folder is not None else "")
        self._path_label.setVisible(folder is not None)
        self.choose_button.setVisible(folder is not None and not is_wrong)
        self.choose_button.setText(self.tr("Choose another folder…"))
        text = "" if folder is not None else self.tr("Choose an empty or new folder, or an unfinished one to continue.")
        if needed_bytes:
            template = self.tr("About {size}. {line}") if text else self.tr("About {size}")
            text = template.format(size=format_size(needed_bytes), line=text)
        self._description_label.setText(text)
        self._description_label.setVisible(bool(text))
