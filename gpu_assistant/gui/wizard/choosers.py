"""The drop-downs of one card when the user chooses versions: what there is, what it would cost, what cannot work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...catalog.versions import numbers
from ...core.recommendation import Recommendation
from ...core.recommendation import Warning as Caution
from ...texts import Texts
from .. import theme
from ..components import Button, Icon, label
from ..components.base import Live
from ..components.picker import Entry, Picker
from . import words as said
from .entries import entries_of, neighbour, shown, title, told
from .option_notes import OptionNotes

if TYPE_CHECKING:
    from ...advise.options import Option, Options, PartName, PartOptions

translate = QCoreApplication.translate

LEVEL, SIDE, GAP, LEAST = 560, 16, 8, 160
CARDS: Mapping[PartName, str] = {
    "driver": "driver",
    "cuda_toolkit": "cuda",
    "toolkit_way": "cuda",
    "cudnn": "cudnn",
    "pytorch": "torch",
    "variant": "torch",
    "python": "torch",
    "tensorflow": "tensorflow",
}
# Which card a warning is about; one about none of them stands where what brings it was picked.
SUBJECTS: Mapping[str, str] = {
    "warning.driver-": "driver",
    "warning.toolkit-": "cuda",
    "warning.msvc-": "cuda",
    "warning.gcc-": "cuda",
    "warning.cudnn-alone": "cudnn",
    "warning.tensorflow-": "tensorflow",
}


class Choosers(Live, QWidget):
    """`picked` brings the part's name and its new value; None leaves it to us. `alone` brings the same where all
    that was picked before shall be let go. `noted` are the codes of the warnings that are said here.
    """

    picked = Signal(str, object)
    alone = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.pickers: dict[PartName, Picker] = {}
        self._names: dict[PartName, tuple[QWidget, QBoxLayout]] = {}
        self._refused: tuple[PartName, Entry] | None = None
        self.noted: tuple[str, ...] = ()
        self._parts: tuple[PartOptions, ...] = ()
        self._notes = OptionNotes()
        self._way: tuple[PartName, str, bool] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 4)
        column.setSpacing(6)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(16)
        self._end = QWidget()
        self._row.addWidget(self._end, 1)
        column.addLayout(self._row)
        self.refusal, self.note, self.along = _Line("error"), _Line("warn"), _Line("info", "soft")
        column.addWidget(self.refusal)
        self.way = Button(kind="ghost", after="right")
        self.way.clicked.connect(self._take_way)
        self.way.hide()
        column.addWidget(self.way, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.note)
        column.addWidget(self.along)
        self.follow()

    def set(
        self, parts: tuple[PartOptions, ...], notes: OptionNotes, texts: Texts, cautions: Sequence[Caution] = ()
    ) -> None:
        """What there is to choose now, what is worth knowing of it, and what is spoken of in warning about it."""
        if parts != self._parts:
            self._refused = None
        self._parts, self._notes = parts, notes
        for number, part in enumerate(parts):
            if part.name not in self.pickers:
                self._add(part.name, number)
            words, entries = title(part.name), partial(entries_of, part, notes, texts)
            holds = part.picked or part.recommended
            self.pickers[part.name].set(entries, part.picked, shown(part.name, holds, notes), words)
            text = self._names[part.name][0]
            text.setText(words)  # type: ignore[attr-defined]
        self._again()
        self._warn(texts, cautions)

    def set_along(self, changes: str) -> None:
        """What changed along with the pick; nothing hides it."""
        words = translate("Choosers", "Changed along with it: {changes}").format(changes=changes)
        self.along.say(words if changes else "")

    def set_room(self, room: int) -> None:
        """How wide the card may be: side by side, or below each other."""
        level = room >= theme.px(LEVEL)
        way = QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(way)
        self._end.setVisible(level)
        margins = self.contentsMargins()
        within = room - margins.left() - margins.right() - 2 * SIDE
        for picker, (words, _) in zip(self.pickers.values(), self._names.values(), strict=True):
            picker.set_room(max(within - words.sizeHint().width() - GAP, theme.px(LEAST)))

    def _add(self, name: PartName, number: int) -> None:
        picker, words = Picker(), label("small")
        picker.chosen.connect(lambda value, name=name: self.picked.emit(name, value))
        picker.refused.connect(lambda entry, name=name: self._refuse(name, entry))
        pair = QHBoxLayout()
        pair.setSpacing(GAP)
        pair.addWidget(words)
        pair.addWidget(picker)
        pair.addStretch(1)
        self._row.insertLayout(number, pair)
        self.pickers[name], self._names[name] = picker, (words, pair)

    def _refuse(self, name: PartName, entry: Entry) -> None:
        self._refused = (name, entry)
        newest = self._newest(name, str(entry.value))
        if newest is None:
            words = translate("Choosers", "{version} cannot be taken: {why}.")
        else:
            words = translate("Choosers", "{version} cannot be taken: {why}; the newest that can is {newest}.")
        # What is no number is a clause of its own: it stands in quotation marks.
        named = entry.text if numbers(entry.text) else translate("Choosers", "“{words}”").format(words=entry.text)
        self.refusal.say(words.format(version=named, why=entry.detail, newest=newest))
        self._way = self._way_out(name, str(entry.value))
        self.way.setVisible(self._way is not None)
        if self._way is not None:
            whole = translate("Choosers", "{version}, the rest as recommended")
            other = translate("Choosers", "Instead: {version}")
            version = shown(name, self._way[1], self._notes)
            self.way.setText((whole if self._way[2] else other).format(version=version))

    def _newest(self, name: PartName, value: str) -> str | None:
        """The newest version that can be taken where one was refused for its own sake."""
        if name == "variant" or (name, value) in self._notes.alone:
            return None
        part = next((each for each in self._parts if each.name == name), None)
        able = [option.value for option in part.offered if option.state != "refused"] if part is not None else []
        return next((each for each in able if numbers(each) is not None), None)

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

    def _again(self) -> None:
        """What was refused is said as long as it cannot be taken."""
        if self._refused is not None:
            name, refused = self._refused
            entry = next((each for each in self.pickers[name].entries if each.value == refused.value), None)
            if entry is not None and entry.state == "refused":
                self._refuse(name, entry)
                return
        self.refusal.say("")
        self.way.hide()

    def _warn(self, texts: Texts, cautions: Sequence[Caution]) -> None:
        """What a pick of this card is warned of, and what else holds for it, in one place; what concerns another card
        is said there, or in the open.
        """
        warned = (o for part in self._parts for o in part.offered if o.value == part.picked and o.state == "warned")
        option = next((option for option in warned if self._concerns(option)), None)
        mine = told(option) if option is not None else ()
        words: list[str | None] = []
        for each in mine:
            fix = each.code.removesuffix(".text") + ".fix"
            words += [said.say(texts, each), texts.say(fix, each.data) if texts.has(fix) else ""]
        codes = [each.code for each in mine]
        for caution in cautions if any(part.picked is not None for part in self._parts) else ():
            if (code := f"warning.{caution.code}.text") not in codes:
                codes.append(code)
                words += [caution.text, caution.fix]
        self.noted = tuple(codes)
        self.note.say(said.joined(*words))

    def _concerns(self, option: Option) -> bool:
        subject = _subject(f"{option.code}")
        return subject is None or subject in {CARDS[part.name] for part in self._parts}


def about(card: str, cautions: Sequence[Caution]) -> tuple[Caution, ...]:
    """The warnings that are about a card's part."""
    return tuple(each for each in cautions if _subject(f"warning.{each.code}") == card)


def _subject(code: str) -> str | None:
    return next((card for prefix, card in SUBJECTS.items() if code.startswith(prefix)), None)


class _Line(QWidget):
    """A sentence behind its sign; not there while it has nothing to say."""

    def __init__(self, sign: str, token: str | None = None) -> None:
        super().__init__()
        self._words = label("small", "", "text")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(Icon(sign, token or sign, 16))
        row.addWidget(self._words, 1)
        self.hide()

    def say(self, words: str) -> None:
        self._words.setText(words)
        self.setVisible(bool(words))

    def text(self) -> str:
        return self._words.text()


def of_card(
    card: str, options: Options | None, before: Choosers | None, now: Recommendation
) -> tuple[PartOptions, ...]:
    """What a card has to choose from; what it had before stays, with the one value that goes with the other picks."""
    from ...advise.options import PartOptions, value_of

    if options is None:
        return ()
    found = {part.name: part for part in options.parts if CARDS[part.name] == card}
    for name in before.pickers if before is not None else ():
        value = value_of(now, name)
        if name not in found and value is not None:
            found[name] = PartOptions(name=name, offered=(), recommended=value, picked=None)
    return tuple(found[name] for name in CARDS if name in found)
