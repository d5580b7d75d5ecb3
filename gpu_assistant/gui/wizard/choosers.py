"""The drop-downs of one card when the user chooses versions: what there is, what it would cost, what cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...catalog.versions import numbers
from ...core.message import Message
from ...texts import Texts
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Icon, label
from ..components.base import Live
from ..components.picker import Entry, Picker
from . import words as said
from .option_notes import OptionNotes, Release
from .wishes import CHANNELS

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
    """`picked` brings the part's name and its new value; None leaves it to us. `alone` brings the same where all
    that was picked before shall be let go.
    """

    picked = Signal(str, object)
    alone = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.pickers: dict[PartName, Picker] = {}
        self._names: dict[PartName, tuple[QWidget, QBoxLayout]] = {}
        self._refused: tuple[PartName, Entry] | None = None
        self._parts: tuple[PartOptions, ...] = ()
        self._notes = OptionNotes()
        self._way: tuple[PartName, str, bool] | None = None
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
        self.way = Button(kind="ghost", after="right")
        self.way.clicked.connect(self._take_way)
        self.way.hide()
        column.addWidget(self.way, 0, Qt.AlignmentFlag.AlignLeft)
        self._also, self.along = Icon("info", "soft", 16), label("small", "", "text")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._also)
        row.addWidget(self.along, 1)
        column.addLayout(row)
        self.set_along("")
        self.follow()

    def set(self, parts: tuple[PartOptions, ...], notes: OptionNotes, texts: Texts) -> None:
        """What there is to choose now, and what is worth knowing of it."""
        if parts != self._parts:
            self._refused = None
        self._parts, self._notes = parts, notes
        for number, part in enumerate(parts):
            if part.name not in self.pickers:
                self._add(part.name, number)
            words, entries = title(part.name), tuple(entries_of(part, notes, texts))
            holds = part.picked or part.recommended
            self.pickers[part.name].set(entries, part.picked, shown(part.name, holds), words)
            text = self._names[part.name][0]
            text.setText(words)  # type: ignore[attr-defined]
        self._note(texts)

    def set_along(self, changes: str) -> None:
        """What changed along with the pick; nothing hides it."""
        self.along.setText(translate("Choosers", "Changed along with it: {changes}").format(changes=changes))
        for widget in (self._also, self.along):
            widget.setVisible(bool(changes))

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
        self._way = self._way_out(name, str(entry.value))
        if self._way is not None:
            whole = translate("Choosers", "Take {version} and leave the rest to us")
            other = translate("Choosers", "Take {version} instead")
            version = shown(name, self._way[1])
            self.way.setText((whole if self._way[2] else other).format(version=version))
            self.way.show()

    def _way_out(self, name: PartName, value: str) -> tuple[PartName, str, bool] | None:
        """What can be had instead of what was refused: the same without the other picks (True), or its neighbour."""
        if (name, value) in self._notes.alone:
            return name, value, True
        part = next((each for each in self._parts if each.name == name), None)
        near = neighbour(part, value) if part is not None else None
        return (name, near, False) if near is not None else None

    def _take_way(self) -> None:
        if self._way is not None:
            name, value, alone = self._way
            (self.alone if alone else self.picked).emit(name, value)

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
        self.way.hide()
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


def entries_of(part: PartOptions, notes: OptionNotes, texts: Texts) -> list[Entry]:
    """A part's list: what we take, then all else; what we take stands twice only where it was picked itself."""
    words = translate("Choosers", "As recommended ({version})").format(version=shown(part.name, part.recommended))
    known = notes.releases.get((part.name, part.recommended or ""))
    ours = Entry(value=None, text=words, hint=_hint(known))
    others = [option for option in part.offered if option.value != part.recommended or option.value == part.picked]
    return [ours, *(_entry(part.name, option, notes, texts) for option in others)]


def _entry(name: PartName, option: Option, notes: OptionNotes, texts: Texts) -> Entry:
    return Entry(
        value=option.value,
        text=shown(name, option.value),
        hint=_hint(notes.releases.get((name, option.value))),
        detail=_sentence(option, texts),
        state=option.state,
    )


def _hint(release: Release | None) -> str:
    """When it came out, and which kinds of driver it is."""
    if release is None:
        return ""
    kinds = "/".join(CHANNELS[channel] for channel in release.channels)
    return " · ".join(part for part in (kinds, release.date) if part)


def neighbour(part: PartOptions, value: str) -> str | None:
    """What works and comes nearest to a value, a newer one first; None where that is what holds already."""
    fine = [option.value for option in part.offered if option.state == "fine"]
    wanted = numbers(value)
    by_version = {found: each for each in fine if (found := numbers(each)) is not None}
    near = fine[0] if fine else None
    if wanted is not None and by_version:
        newer = [found for found in by_version if found > wanted]
        near = by_version[min(newer) if newer else max(by_version)]
    return near if near != (part.picked or part.recommended) else None


def _sentence(option: Option, texts: Texts) -> str:
    return said.say(texts, Message(option.code, option.data)) if option.code is not None else ""
