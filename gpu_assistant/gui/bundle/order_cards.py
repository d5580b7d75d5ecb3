"""What is asked before a folder is made: for which computer, and where."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...texts import Texts
from ...texts.format import format_size
from ..components import Button, Card, SegmentedControl, label
from ..wizard.facts import WizardState
from ..wizard.rows import system_name

THIS_COMPUTER, OTHER_COMPUTER = range(2)


class TargetComputerCard(Card):
    """For this computer, or for one that a file tells of; `chosen` comes when that changes."""

    target_changed = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.target = THIS_COMPUTER
        self.target_segments = SegmentedControl(["", ""])
        self.target_segments.chosen.connect(self._on_target_chosen)
        self._description_label, self._path_label, self._status_label = label("body"), label("strong"), label("small")
        self.file_button = Button(icon_name="file")
        self.save_button = Button(kind="ghost", icon_name="share")
        self._no_internet_label = label("small")
        align_left = Qt.AlignmentFlag.AlignLeft
        choices_layout = QVBoxLayout()
        choices_layout.setSpacing(10)
        choices_layout.addWidget(self.target_segments, 0, align_left)
        choices_layout.addWidget(self._description_label)
        choices_layout.addWidget(self._path_label)
        choices_layout.addWidget(self.file_button, 0, align_left)
        choices_layout.addWidget(self._no_internet_label)
        choices_layout.addWidget(self.save_button, 0, align_left)
        choices_layout.addWidget(self._status_label)
        self.column.addLayout(choices_layout)
        self._status_label.hide()

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        return (*self.target_segments.buttons, self.file_button, self.save_button)

    def set(self, state: WizardState, file: Path | None, texts: Texts, *, simulated: bool, fallback_text: str = "") -> None:
        """What is known by now; `unknown` is said of this computer before it was looked at."""
        is_this_computer = self.target == THIS_COMPUTER
        self.set_title(self.tr("For which computer?"))
        this_text = self.tr("The one of the machine file") if simulated else self.tr("This one")
        self.target_segments.set_options([this_text, self.tr("Another one")])
        self.target_segments.set_current(self.target)
        self.target_segments.setAccessibleName(self.tr("For which computer?"))
        self._description_label.setText((self._this_computer_text(state, texts) or fallback_text) if is_this_computer else self._other_computer_text())
        self._path_label.setVisible(not is_this_computer and file is not None)
        self._path_label.setText(str(file) if file is not None else "")
        self.file_button.setText(self.tr("Choose another file…") if file is not None else self.tr("Choose its file…"))
        self.file_button.setVisible(not is_this_computer)
        self._no_internet_label.setText(self.tr("No internet on this one? Take its details to one that has it, as a file."))
        self.save_button.setText(self.tr("Save its details…"))
        for widget in (self._no_internet_label, self.save_button):
            widget.setVisible(is_this_computer and not simulated and state.machine is not None)
        self._status_label.setVisible(is_this_computer and bool(self._status_label.text()))

    def set_status(self, text: str) -> None:
        """How saving went."""
        self._status_label.setText(text)
        self._status_label.setVisible(bool(text))

    def _this_computer_text(self, state: WizardState, texts: Texts) -> str:
        machine, recommendation = state.machine, state.recommendation
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
            "Open GPU Assistant on that computer, come to this page there, save its details as a file, and choose that "
            "file here. What suits it is worked out from the file."
        )

    def _on_target_chosen(self, index: int) -> None:
        self.target = index
        self.target_changed.emit()


class BundleFolderCard(Card):
    """The folder."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._path_label, self._description_label = label("strong"), label("body", "", "soft")
        self.choose_button = Button(icon_name="folder")
        self.column.addWidget(self._path_label)
        self.column.addWidget(self._description_label)
        self.column.addSpacing(2)
        self.column.addWidget(self.choose_button, 0, Qt.AlignmentFlag.AlignLeft)

    def set(self, folder: Path | None, needed_bytes: int | None) -> None:
        """The folder, and how many bytes it will hold where that is known."""
        self.set_title(self.tr("Into which folder?"))
        self._path_label.setText(str(folder) if folder is not None else "")
        self._path_label.setVisible(folder is not None)
        line = self.tr("An empty or a new folder, or one that was begun here before: that one is gone on with.")
        if needed_bytes:
            line = self.tr("About {size}. {line}").format(size=format_size(needed_bytes), line=line)
        self._description_label.setText(line)
        text = self.tr("Choose another folder…") if folder is not None else self.tr("Choose the folder…")
        self.choose_button.setText(text)
