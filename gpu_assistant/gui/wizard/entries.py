"""A part's list to choose from: its versions as people name them, and what is worth knowing of each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from ...catalog.versions import parse_version
from ...core.message import Message
from ...texts import Texts
from ...texts.format import UNKNOWN_VALUE
from ..components.picker import DropdownEntry
from ..language import texts as spoken
from . import words as said
from .option_notes import OptionNotes, Release
from .wishes import CHANNEL_NAMES

if TYPE_CHECKING:
    from ...advise.options import Option, PartName, PartOptions

translate = QCoreApplication.translate

# So many of one kind stand below one sentence instead of each with its own.
GROUP_MIN_SIZE = 2


def part_title(name: PartName) -> str:
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


def display_value(name: PartName, value: str | None, option_notes: OptionNotes | None = None) -> str:
    """A value as it stands on the button; with `notes` a driver that is kept has its version."""
    if name == "variant" and value is not None:
        variant_text = spoken().variant_name(value)
        return variant_text[:1].upper() + variant_text[1:]
    if name == "driver" and value == "keep" and option_notes is not None and option_notes.installed_driver is not None:
        return translate("Choosers", "Keep {version}").format(version=option_notes.installed_driver)
    if name == "driver" and value == "keep":
        return translate("Choosers", "Keep the one that is there")
    if name == "toolkit_way" and value is not None:
        archives_text = translate("Choosers", "Your own folder, no administrator")
        return archives_text if value == "archives" else translate("Choosers", "With NVIDIA's installer")
    if name in ("cuda_toolkit", "cudnn") and value == "none":
        return translate("Choosers", "Not installed separately")
    return value or UNKNOWN_VALUE


def build_entries(part: PartOptions, option_notes: OptionNotes, texts: Texts) -> list[DropdownEntry]:
    """A part's list: what we take, then all else; what we take stands twice only where it was picked itself."""
    recommended_text = translate("Choosers", "As recommended ({version})")
    if option_notes.chosen_parts - {part.name}:
        # What goes with other picks is not what is recommended without them.
        recommended_text = translate("Choosers", "What goes with your other picks ({version})")
    recommended_text = recommended_text.format(version=display_value(part.name, part.recommended, option_notes))
    release = option_notes.releases.get((part.name, part.recommended or ""))
    recommended_entry = DropdownEntry(value=None, text=recommended_text, hint=_entry_hint(part.name, part.recommended, release))
    others = [option for option in part.options if option.value != part.recommended or option.value == part.selected]
    headings = _group_headings(others, texts)
    # Those that share a sentence stand together below it; the order is theirs otherwise.
    group_keys = list(dict.fromkeys(map(_group_key, others)))
    position_of_group = {key: group_keys.index(key) if key in headings else -1 for key in group_keys}
    others.sort(key=lambda option: (option.state == "refused", position_of_group[_group_key(option)]))
    return [recommended_entry, *(_build_entry(part.name, option, option_notes, texts, headings.get(_group_key(option), "")) for option in others)]


def _group_key(option: Option) -> tuple[object, ...]:
    """What a sentence about an option says, but for the version."""
    return (
        option.state,
        option.code,
        *sorted((key, f"{item}") for key, item in option.data.items() if item != option.value),
        *(
            (each.code, *sorted((key, f"{item}") for key, item in each.data.items() if item != option.value))
            for each in option.further_warnings
        ),
    )


def _group_headings(options: list[Option], texts: Texts) -> dict[tuple[object, ...], str]:
    """The sentence above each kind of options of which there are many."""
    headings = {}
    for key, count in Counter(map(_group_key, options)).items():
        group = [option for option in options if _group_key(option) == key]
        shared_texts = [_shared_sentence(each, group, texts) for each in option_messages(group[0])]
        if count < GROUP_MIN_SIZE or group[0].code is None:
            continue
        if group[0].state == "refused":
            template = translate("Choosers", "Cannot be taken: {why}.")
            headings[key] = template.format(why=option_text(group[0], texts))
        elif all(shared_texts):
            headings[key] = said.join_sentences(*shared_texts)
    if headings:
        # Below others' sentence a single one has its own above it, too, and keeps its place.
        group_sizes = Counter(map(_group_key, options))
        single_options = {_group_key(candidate): candidate for candidate in options if candidate.state == "warned" and group_sizes[_group_key(candidate)] < GROUP_MIN_SIZE}
        headings |= {key: option_text(option, texts) for key, option in single_options.items()}
    return headings


def _shared_sentence(message: Message, options: list[Option], texts: Texts) -> str:
    """A sentence for several options at once; empty where each has its own."""
    if texts.has_text(f"option.these.{message.code}"):
        return texts.translate(f"option.these.{message.code}", message.data)
    sentences = {said.message_text(texts, other) for option in options for other in option_messages(option) if other.code == message.code}
    return sentences.pop() if len(sentences) == 1 else ""


def _build_entry(name: PartName, option: Option, option_notes: OptionNotes, texts: Texts, heading: str) -> DropdownEntry:
    return DropdownEntry(
        value=option.value,
        text=display_value(name, option.value, option_notes),
        hint=_entry_hint(name, option.value, option_notes.releases.get((name, option.value))),
        detail=option_text(option, texts),
        group=heading,
        state=option.state,
    )


def _entry_hint(name: PartName, value: str | None, release: Release | None) -> str:
    """When it came out, and which kinds of driver it is; pip's tag of a build."""
    if name == "variant":
        return value if value is not None and value != display_value(name, value) else ""
    if release is None:
        return ""
    channels_text = "/".join(CHANNEL_NAMES[channel] for channel in release.channels)
    return " · ".join(part for part in (channels_text, release.date) if part)


def nearest_version(part: PartOptions, value: str) -> str | None:
    """What works and comes nearest to a value, a newer one first; None where that is what holds already."""
    allowed = [option.value for option in part.options if option.state == "fine"]
    target = parse_version(value)
    by_version = {number: each for each in allowed if (number := parse_version(each)) is not None}
    nearest = allowed[0] if allowed else None
    if target is not None and by_version:
        newer = [number for number in by_version if number > target]
        nearest = by_version[min(newer) if newer else max(by_version)]
    return nearest if nearest != (part.selected or part.recommended) else None


def option_text(option: Option, texts: Texts) -> str:
    """Why an option is warned of or refused; nothing where it is fine."""
    return said.join_sentences(*(said.message_text(texts, message) for message in option_messages(option)))


def option_messages(option: Option) -> tuple[Message, ...]:
    """All that an option is warned of or refused for."""
    return (Message(option.code, option.data), *option.further_warnings) if option.code is not None else ()
