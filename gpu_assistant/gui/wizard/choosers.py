"""The drop-downs of one card when the user chooses versions: what there is, what it would cost, what cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.message import Message
from ...texts import Texts
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Icon, label
from ..components.base import Live
from ..components.picker import Entry, Picker
from . import words as said

if TYPE_CHECKING:
    from ...advise.options import Option, PartName, PartOptions

translate = QCoreApplication.translate

INDENT, LEVEL = 52, 560
CARDS: Mapping[PartName, str] = {
    "driver": "driver",
    "cuda_toolkit": "cuda",
    "cudnn": "cudnn",
    "pytorch": "torch",
    "variant": "torch",
    "python": "torch",
    "tensorflow": "tensorflow",
}


class Choosers(Live, QWidget):
    """`picked` brings the part's name and its new value; None leaves it to us."""

    picked = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.pickers: dict[PartName, Picker] = {}
        self._names: dict[PartName, tuple[QWidget, QBoxLayout]] = {}
        self._refused: tuple[PartName, Entry] | None = None
        self._parts: tuple[PartOptions, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(INDENT, 2, 0, 4)
        column.setSpacing(6)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(16)
        self._end = QWidget()
        self._row.addWidget(self._end, 1)
        column.addLayout(self._row)
        self._sign, self.note = Icon("warn", "warn", 16), label("small", "", "text")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._sign)
        row.addWidget(self.note, 1)
        column.addLayout(row)
        self.follow()

    def set(self, parts: tuple[PartOptions, ...], texts: Texts) -> None:
        """What there is to choose now."""
        if parts != self._parts:
            self._refused = None
        self._parts = parts
        for number, part in enumerate(parts):
            if part.name not in self.pickers:
                self._add(part.name, number)
            words, entries = title(part.name), tuple(_entries(part, texts))
            holds = part.picked or part.recommended
            self.pickers[part.name].set(entries, part.picked, shown(part.name, holds), words)
            text = self._names[part.name][0]
            text.setText(words)  # type: ignore[attr-defined]
        self._note(texts)

    def set_room(self, room: int) -> None:
        """How wide the card may be: side by side, or below each other."""
        level = room >= theme.px(LEVEL)
        way = QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(way)
        self._end.setVisible(level)

    def _add(self, name: PartName, number: int) -> None:
        picker, words = Picker(), label("small")
        picker.chosen.connect(lambda value, name=name: self.picked.emit(name, value))
        picker.refused.connect(lambda entry, name=name: self._refuse(name, entry))
        pair = QHBoxLayout()
        pair.setSpacing(8)
        pair.addWidget(words)
        pair.addWidget(picker)
        pair.addStretch(1)
        self._row.insertLayout(number, pair)
        self.pickers[name], self._names[name] = picker, (words, pair)

    def _refuse(self, name: PartName, entry: Entry) -> None:
        self._refused = (name, entry)
        words = translate("Choosers", "{version} cannot be taken: {why}.")
        self._say("error", words.format(version=entry.text, why=entry.detail))

    def _note(self, texts: Texts) -> None:
        if self._refused is not None:
            name = self._refused[0]
            entry = next((e for e in self.pickers[name].entries if e.value == self._refused[1].value), None)
            if entry is not None and entry.state == "refused":
                self._refuse(name, entry)
                return
        warned = (o for part in self._parts for o in part.offered if o.value == part.picked and o.state == "warned")
        option = next(warned, None)
        self._say("warn", _sentence(option, texts) if option is not None else "")

    def _say(self, kind: str, words: str) -> None:
        self.note.setText(words)
        self._sign.set(kind, kind)
        for widget in (self.note, self._sign):
            widget.setVisible(bool(words))


def title(name: PartName) -> str:
    """What a drop-down is about."""
    return {
        "driver": translate("Choosers", "Driver"),
        "cuda_toolkit": "CUDA Toolkit",
        "cudnn": "cuDNN",
        "pytorch": "PyTorch",
        "variant": translate("Choosers", "Build"),
        "python": "Python",
        "tensorflow": "TensorFlow",
    }[name]


def shown(name: PartName, value: str | None) -> str:
    """A value as it stands on the button."""
    if name == "variant" and value == "cpu":
        return translate("Choosers", "CPU")
    if name == "driver" and value == "keep":
        return translate("Choosers", "Keep the one that is there")
    if name in ("cuda_toolkit", "cudnn") and value == "none":
        return translate("Choosers", "None of its own")
    return value or UNKNOWN


def _entries(part: PartOptions, texts: Texts) -> list[Entry]:
    words = translate("Choosers", "As recommended ({version})").format(version=shown(part.name, part.recommended))
    ours = Entry(value=None, text=words)
    return [ours, *(_entry(part.name, option, texts) for option in part.offered)]


def _entry(name: PartName, option: Option, texts: Texts) -> Entry:
    return Entry(
        value=option.value, text=shown(name, option.value), detail=_sentence(option, texts), state=option.state
    )


def _sentence(option: Option, texts: Texts) -> str:
    return said.say(texts, Message(option.code, option.data)) if option.code is not None else ""
