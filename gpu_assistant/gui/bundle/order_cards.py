"""What is asked before a folder is made: for which computer, and where."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...texts import Texts
from ...texts.format import size
from ..components import Button, Card, Segments, label
from ..wizard.facts import Facts
from ..wizard.rows import system_name

FOR_THIS, FOR_ANOTHER = range(2)


class WhichCard(Card):
    """For this computer, or for one that a file tells of; `chosen` comes when that changes."""

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.current = FOR_THIS
        self.segments = Segments(["", ""])
        self.segments.chosen.connect(self._choose)
        self._line, self._path, self._told = label("body"), label("strong"), label("small")
        self.file = Button(icon="file")
        self.save = Button(kind="ghost", icon="share")
        self._without = label("small")
        left = Qt.AlignmentFlag.AlignLeft
        box = QVBoxLayout()
        box.setSpacing(10)
        box.addWidget(self.segments, 0, left)
        box.addWidget(self._line)
        box.addWidget(self._path)
        box.addWidget(self.file, 0, left)
        box.addWidget(self._without)
        box.addWidget(self.save, 0, left)
        box.addWidget(self._told)
        self.column.addLayout(box)
        self._told.hide()

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        return (*self.segments.buttons, self.file, self.save)

    def set(self, facts: Facts, file: Path | None, texts: Texts, *, simulated: bool, unknown: str = "") -> None:
        """What is known by now; `unknown` is said of this computer before it was looked at."""
        this = self.current == FOR_THIS
        self.set_title(self.tr("For which computer?"))
        mine = self.tr("The one of the machine file") if simulated else self.tr("This one")
        self.segments.set_options([mine, self.tr("Another one")])
        self.segments.set_current(self.current)
        self.segments.setAccessibleName(self.tr("For which computer?"))
        self._line.setText((self._own(facts, texts) or unknown) if this else self._other())
        self._path.setVisible(not this and file is not None)
        self._path.setText(str(file) if file is not None else "")
        self.file.setText(self.tr("Choose another file…") if file is not None else self.tr("Choose its file…"))
        self.file.setVisible(not this)
        self._without.setText(self.tr("No internet on this one? Take its details to one that has it, as a file."))
        self.save.setText(self.tr("Save its details…"))
        for widget in (self._without, self.save):
            widget.setVisible(this and not simulated and facts.machine is not None)
        self._told.setVisible(this and bool(self._told.text()))

    def tell(self, words: str) -> None:
        """How saving went."""
        self._told.setText(words)
        self._told.setVisible(bool(words))

    def _own(self, facts: Facts, texts: Texts) -> str:
        machine, found = facts.machine, facts.recommendation
        if machine is None or found is None:
            return ""
        parts = [gpu.name for gpu in machine.gpus if gpu.name] or [self.tr("no graphics card")]
        torch, flow = found.pytorch, found.tensorflow
        what = [f"PyTorch {torch.version} ({texts.variant(torch.variant)})"] if torch is not None else []
        what += [f"TensorFlow {flow.version}"] if flow is not None else []
        return self.tr("{system} · {card} · {what}").format(
            system=system_name(machine), card=parts[0], what=" · ".join(what)
        )

    def _other(self) -> str:
        return self.tr(
            "Open GPU Assistant on that computer, come to this page there, save its details as a file, and choose that "
            "file here. What suits it is worked out from the file."
        )

    def _choose(self, index: int) -> None:
        self.current = index
        self.chosen.emit()


class PlaceCard(Card):
    """The folder."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._path, self._line = label("strong"), label("body", "", "soft")
        self.choose = Button(icon="folder")
        self.column.addWidget(self._path)
        self.column.addWidget(self._line)
        self.column.addSpacing(2)
        self.column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)

    def set(self, folder: Path | None, needed: int | None) -> None:
        """The folder, and how many bytes it will hold where that is known."""
        self.set_title(self.tr("Into which folder?"))
        self._path.setText(str(folder) if folder is not None else "")
        self._path.setVisible(folder is not None)
        line = self.tr("An empty or a new folder, or one that was begun here before: that one is gone on with.")
        if needed:
            line = self.tr("About {size}. {line}").format(size=size(needed), line=line)
        self._line.setText(line)
        words = self.tr("Choose another folder…") if folder is not None else self.tr("Choose the folder…")
        self.choose.setText(words)
