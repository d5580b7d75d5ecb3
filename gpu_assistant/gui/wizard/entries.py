"""A part's list to choose from: its versions as people name them, and what is worth knowing of each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from ...catalog.versions import numbers
from ...core.message import Message
from ...texts import Texts
from ...texts.format import UNKNOWN
from ..components.picker import Entry
from ..language import texts as spoken
from . import words as said
from .option_notes import OptionNotes, Release
from .wishes import CHANNELS

if TYPE_CHECKING:
    from ...advise.options import Option, PartName, PartOptions

translate = QCoreApplication.translate

# So many of one kind stand below one sentence instead of each with its own.
MANY = 2


def title(name: PartName) -> str:
    """What a drop-down is about."""
    return {
        "driver": translate("Choosers", "Driver"),
        "cuda_toolkit": "CUDA Toolkit",
        "toolkit_way": translate("Choosers", "How it gets here"),
        "cudnn": "cuDNN",
        "pytorch": "PyTorch",
        "variant": translate("Choosers", "Build"),
        "python": "Python",
        "tensorflow": "TensorFlow",
    }[name]


def shown(name: PartName, value: str | None, notes: OptionNotes | None = None) -> str:
    """A value as it stands on the button; with `notes` a driver that is kept has its version."""
    if name == "variant" and value is not None:
        kind = spoken().variant(value)
        return kind[:1].upper() + kind[1:]
    if name == "driver" and value == "keep" and notes is not None and notes.driver is not None:
        return translate("Choosers", "Keep {version}").format(version=notes.driver)
    if name == "driver" and value == "keep":
        return translate("Choosers", "Keep the one that is there")
    if name == "toolkit_way" and value is not None:
        archives = translate("Choosers", "Your own folder, no administrator")
        return archives if value == "archives" else translate("Choosers", "With NVIDIA's installer")
    if name in ("cuda_toolkit", "cudnn") and value == "none":
        return translate("Choosers", "Not installed separately")
    return value or UNKNOWN


def entries_of(part: PartOptions, notes: OptionNotes, texts: Texts) -> list[Entry]:
    """A part's list: what we take, then all else; what we take stands twice only where it was picked itself."""
    words = translate("Choosers", "As recommended ({version})")
    if notes.picked - {part.name}:
        # What goes with other picks is not what is recommended without them.
        words = translate("Choosers", "What goes with your other picks ({version})")
    words = words.format(version=shown(part.name, part.recommended, notes))
    known = notes.releases.get((part.name, part.recommended or ""))
    ours = Entry(value=None, text=words, hint=_hint(part.name, part.recommended, known))
    others = [option for option in part.offered if option.value != part.recommended or option.value == part.picked]
    heads = _heads(others, texts)
    # Those that share a sentence stand together below it; the order is theirs otherwise.
    kinds = list(dict.fromkeys(map(_kind, others)))
    place = {kind: kinds.index(kind) if kind in heads else -1 for kind in kinds}
    others.sort(key=lambda option: (option.state == "refused", place[_kind(option)]))
    return [ours, *(_entry(part.name, option, notes, texts, heads.get(_kind(option), "")) for option in others)]


def _kind(option: Option) -> tuple[object, ...]:
    """What a sentence about an option says, but for the version."""
    return (
        option.state,
        option.code,
        *sorted((key, f"{what}") for key, what in option.data.items() if what != option.value),
        *(
            (each.code, *sorted((key, f"{what}") for key, what in each.data.items() if what != option.value))
            for each in option.also
        ),
    )


def _heads(offered: list[Option], texts: Texts) -> dict[tuple[object, ...], str]:
    """The sentence above each kind of options of which there are many."""
    found = {}
    for kind, count in Counter(map(_kind, offered)).items():
        of_kind = [option for option in offered if _kind(option) == kind]
        shared = [_of_all(each, of_kind, texts) for each in told(of_kind[0])]
        if count < MANY or of_kind[0].code is None:
            continue
        if of_kind[0].state == "refused":
            words = translate("Choosers", "Cannot be taken: {why}.")
            found[kind] = words.format(why=sentence(of_kind[0], texts))
        elif all(shared):
            found[kind] = said.joined(*shared)
    if found:
        # Below others' sentence a single one has its own above it, too, and keeps its place.
        counted = Counter(map(_kind, offered))
        single = {_kind(o): o for o in offered if o.state == "warned" and counted[_kind(o)] < MANY}
        found |= {kind: sentence(option, texts) for kind, option in single.items()}
    return found


def _of_all(message: Message, of_kind: list[Option], texts: Texts) -> str:
    """A sentence for several options at once; empty where each has its own."""
    if texts.has(f"option.these.{message.code}"):
        return texts.say(f"option.these.{message.code}", message.data)
    each = {said.say(texts, own) for option in of_kind for own in told(option) if own.code == message.code}
    return each.pop() if len(each) == 1 else ""


def _entry(name: PartName, option: Option, notes: OptionNotes, texts: Texts, head: str) -> Entry:
    return Entry(
        value=option.value,
        text=shown(name, option.value, notes),
        hint=_hint(name, option.value, notes.releases.get((name, option.value))),
        detail=sentence(option, texts),
        under=head,
        state=option.state,
    )


def _hint(name: PartName, value: str | None, release: Release | None) -> str:
    """When it came out, and which kinds of driver it is; pip's tag of a build."""
    if name == "variant":
        return value if value is not None and value != shown(name, value) else ""
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


def sentence(option: Option, texts: Texts) -> str:
    """Why an option is warned of or refused; nothing where it is fine."""
    return said.joined(*(said.say(texts, message) for message in told(option)))


def told(option: Option) -> tuple[Message, ...]:
    """All that an option is warned of or refused for."""
    return (Message(option.code, option.data), *option.also) if option.code is not None else ()
