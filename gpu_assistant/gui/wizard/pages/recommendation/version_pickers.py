"""Choosing versions: the drop-downs of one card, their entries, and what a choice changed besides.

    advise.options.Options -> PartOptions of a card (part_options_for_card) -> VersionPickers -> build_entries
        -> Dropdown -> version_chosen -> WizardController.choose_version -> new recommendation -> side_effects_text

A refused entry cannot be chosen: the card then says why, and offers the nearest version that can be, or the same one
without the other choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .....core.message import Message
from .....core.recommendation import Choice, Recommendation, RecommendationWarning
from .....core.versions import Version
from .....texts.format import UNKNOWN_VALUE, join_list
from .....texts.localized import Texts
from .... import messages
from ....language import texts as current_texts
from ....widgets.base import Themed
from ....widgets.buttons import Button
from ....widgets.icons import IconWidget
from ....widgets.inputs import Dropdown, DropdownEntry
from ....widgets.layouts import FlowLayout
from ....widgets.text import label
from ...choices import dropped_choices
from ...state import OptionNotes, Release, UndoState
from .options_bar import CHANNEL_NAMES

if TYPE_CHECKING:
    from .....advise.options import Option, Options, PartName, PartOptions

translate = QCoreApplication.translate

LIST_SPACING = 8  # pixels between two lists
GROUP_MIN_SIZE = 2  # so many options with the same reason get a common heading
CARD_OF_PART: Mapping[PartName, str] = {
    "driver": "driver",
    "cuda_toolkit": "cuda",
    "toolkit_way": "cuda",
    "cudnn": "cudnn",
    "pytorch": "torch",
    "variant": "torch",
    "python": "torch",
    "tensorflow": "tensorflow",
}
# The card of a warning by its code's prefix; another warning is shown at the choice that causes it.
CARD_OF_WARNING: Mapping[str, str] = {
    "warning.driver-": "driver",
    "warning.toolkit-": "cuda",
    "warning.msvc-": "cuda",
    "warning.gcc-": "cuda",
    "warning.cudnn-alone": "cudnn",
    "warning.tensorflow-": "tensorflow",
}


class VersionPickers(Themed, QWidget):
    """The drop-downs of a card, on `lists`, which the card puts in its column of the planned version; on the widget
    itself, below the columns, what is to be said of a choice.

    `version_chosen` brings the part's name, its value (None: the recommended one), and whether all other choices are
    dropped. `warning_codes` are the codes of the warnings that are shown here. `recommendation_note` says whether the
    values are the recommended ones, or which are.
    """

    version_chosen = Signal(str, object, bool)

    def __init__(self) -> None:
        super().__init__()
        self.pickers: dict[PartName, Dropdown] = {}
        self.lists: QWidget = QWidget()
        self._lists_layout = FlowLayout(self.lists, spacing=LIST_SPACING, fill=True)
        self.recommendation_note: str = ""
        self._refused_entry: tuple[PartName, DropdownEntry] | None = None
        self.warning_codes: tuple[str, ...] = ()
        self._parts: tuple[PartOptions, ...] = ()
        self._option_notes = OptionNotes()
        self._fallback: tuple[PartName, str, bool] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(6)
        self.refusal_line, self.warning_line, self.side_effects_line = (
            _IconLine("error"),
            _IconLine("warn"),
            _IconLine("info", "soft"),
        )
        column.addWidget(self.refusal_line)
        self.fallback_button = Button(kind="ghost", trailing_icon="right", flush="left")
        self.fallback_button.clicked.connect(self._choose_fallback)
        self.fallback_button.hide()
        column.addWidget(self.fallback_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.warning_line)
        column.addWidget(self.side_effects_line)
        self.apply_theme()

    def set(
        self,
        parts: tuple[PartOptions, ...],
        option_notes: OptionNotes,
        texts: Texts,
        warnings: Sequence[RecommendationWarning] = (),
    ) -> None:
        """Show the options, and localized warnings about them."""
        if parts != self._parts:
            self._refused_entry = None
        self._parts, self._option_notes = parts, option_notes
        for part in parts:
            if part.name not in self.pickers:
                self._add_picker(part.name)
            picker, title = self.pickers[part.name], part_title(part.name)
            value = part.selected or part.recommended
            text = list_text(part.name, value, option_notes)
            picker.set_entries(partial(build_entries, part, option_notes, texts), part.selected, text, title)
            picker.setAccessibleName(f"{title}: {display_value(part.name, value, option_notes)}")
            picker.setToolTip(title)
        names = {part.name for part in parts}
        for name, picker in self.pickers.items():
            picker.setVisible(name in names)
        self.recommendation_note = recommendation_note(parts, option_notes)
        self._update_refusal()
        self._update_warnings(texts, warnings)

    def set_side_effects(self, changes: str) -> None:
        """Show what the last choice changed besides; an empty text hides the line."""
        text = translate("VersionPickers", "Changed along with it: {changes}").format(changes=changes)
        self.side_effects_line.set_text(text if changes else "")
        self._update_visibility()

    def set_shown(self, shown: bool) -> None:
        """Show the drop-downs and what is to be said of them, or hide them."""
        self.lists.setVisible(shown)
        self._update_visibility()

    def _update_visibility(self) -> None:
        """Without anything to say the card is no higher than its lists."""
        lines = (self.refusal_line, self.warning_line, self.side_effects_line)
        self.setVisible(not self.lists.isHidden() and any(not line.isHidden() for line in lines))

    def set_lists_width(self, width: int) -> None:
        """Lay out for a column of this width in pixels: side by side, or below each other."""
        for picker in self.pickers.values():
            picker.set_max_width(width)

    def _add_picker(self, name: PartName) -> None:
        picker = Dropdown()
        picker.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        picker.chosen.connect(lambda value, name=name: self.version_chosen.emit(name, value, False))
        picker.refused_entry_chosen.connect(lambda entry, name=name: self._show_refusal(name, entry))
        self._lists_layout.addWidget(picker)
        added = {**self.pickers, name: picker}
        self.pickers = {part: added[part] for part in CARD_OF_PART if part in added}
        self._lists_layout.reorder(list(self.pickers.values()))

    def _show_refusal(self, name: PartName, entry: DropdownEntry) -> None:
        self._refused_entry = (name, entry)
        newest_allowed = self._newest_allowed(name, str(entry.value))
        if newest_allowed is None:
            template = translate("VersionPickers", "{version} is not available: {why}.")
        else:
            template = translate(
                "VersionPickers", "{version} is not available: {why}; the newest that is available is {newest}."
            )
        # An entry that is not a version number is put in quotation marks.
        version_text = (
            entry.text
            if Version.parse(entry.text)
            else translate("VersionPickers", "“{words}”").format(words=entry.text)
        )
        self.refusal_line.set_text(template.format(version=version_text, why=entry.detail, newest=newest_allowed))
        self._fallback = self._find_fallback(name, str(entry.value))
        self.fallback_button.setVisible(self._fallback is not None)
        if self._fallback is not None:
            exclusive_template = translate("VersionPickers", "{version}, the rest as recommended")
            instead_template = translate("VersionPickers", "Instead: {version}")
            version = display_value(name, self._fallback[1], self._option_notes)
            self.fallback_button.setText(
                (exclusive_template if self._fallback[2] else instead_template).format(version=version)
            )
        self._update_visibility()

    def _newest_allowed(self, name: PartName, value: str) -> str | None:
        """The newest version that is not refused, if `value` was refused for its own sake."""
        if name == "variant" or (name, value) in self._option_notes.excluded_by_choices:
            return None
        part = next((each for each in self._parts if each.name == name), None)
        allowed = [option.value for option in part.options if option.state != "refused"] if part is not None else []
        return next((each for each in allowed if Version.parse(each) is not None), None)

    def _find_fallback(self, name: PartName, value: str) -> tuple[PartName, str, bool] | None:
        """What to choose instead of a refused value: the same one without the other choices (True), or the nearest."""
        if (name, value) in self._option_notes.excluded_by_choices:
            return name, value, True
        part = next((each for each in self._parts if each.name == name), None)
        nearest = nearest_version(part, value) if part is not None else None
        return (name, nearest, False) if nearest is not None else None

    def _choose_fallback(self) -> None:
        if self._fallback is not None:
            self.version_chosen.emit(*self._fallback)

    def _update_refusal(self) -> None:
        """Keep the refusal of the entry that was tried last while it is refused."""
        if self._refused_entry is not None:
            name, refused_entry = self._refused_entry
            entry = next((each for each in self.pickers[name].entries if each.value == refused_entry.value), None)
            if entry is not None and entry.state == "refused":
                self._show_refusal(name, entry)
                return
        self.refusal_line.set_text("")
        self.fallback_button.hide()
        self._update_visibility()

    def _update_warnings(self, texts: Texts, warnings: Sequence[RecommendationWarning]) -> None:
        """Show the warnings of the chosen option and those about this card, each once."""
        warned_options = (
            candidate
            for part in self._parts
            for candidate in part.options
            if candidate.value == part.selected and candidate.state == "warned"
        )
        option = next((option for option in warned_options if self._concerns_this_card(option)), None)
        option_warnings = option_messages(option) if option is not None else ()
        sentences: list[str | None] = []
        for each in option_warnings:
            fix = each.code.removesuffix(".text") + ".fix"
            sentences += [
                messages.message_text(texts, each),
                texts.translate(fix, each.data) if texts.has_text(fix) else "",
            ]
        codes = [each.code for each in option_warnings]
        for warning in warnings if any(part.selected is not None for part in self._parts) else ():
            if (code := f"warning.{warning.code}.text") not in codes:
                codes.append(code)
                sentences += [warning.text, warning.fix]
        self.warning_codes = tuple(codes)
        self.warning_line.set_text(messages.join_sentences(*sentences))
        self._update_visibility()

    def _concerns_this_card(self, option: Option) -> bool:
        card = _card_of_warning(f"{option.code}")
        return card is None or card in {CARD_OF_PART[part.name] for part in self._parts}


class _IconLine(QWidget):
    """An icon and a text; hidden while the text is empty."""

    def __init__(self, icon: str, token: str | None = None) -> None:
        super().__init__()
        self._label = label("small", "", "text")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(IconWidget(icon, token or icon, 16))
        row.addWidget(self._label, 1)
        self.hide()

    def set_text(self, text: str) -> None:
        self._label.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        return self._label.text()


def warnings_for_card(card: str, warnings: Sequence[RecommendationWarning]) -> tuple[RecommendationWarning, ...]:
    """The warnings about a card's part."""
    return tuple(each for each in warnings if _card_of_warning(f"warning.{each.code}") == card)


def _card_of_warning(code: str) -> str | None:
    return next((card for prefix, card in CARD_OF_WARNING.items() if code.startswith(prefix)), None)


def part_options_for_card(
    card: str, options: Options | None, previous: VersionPickers | None, recommendation: Recommendation
) -> tuple[PartOptions, ...]:
    """The options of a card. An existing drop-down stays, with the only value that the other choices allow."""
    from .....advise.options import PartOptions, selected_value

    if options is None:
        return ()
    options_by_part = {part.name: part for part in options.parts if CARD_OF_PART[part.name] == card}
    for name in previous.pickers if previous is not None else ():
        value = selected_value(recommendation, name)
        if name not in options_by_part and value is not None:
            options_by_part[name] = PartOptions(name=name, options=(), recommended=value, selected=None)
    return tuple(options_by_part[name] for name in CARD_OF_PART if name in options_by_part)


def build_entries(part: PartOptions, option_notes: OptionNotes, texts: Texts) -> list[DropdownEntry]:
    """The entries of a part: the recommended version, then all others; the recommended one is repeated among them only
    if it was chosen explicitly.
    """
    recommended_text = translate("VersionPickers", "As recommended ({version})")
    if option_notes.chosen_parts - {part.name}:
        # Other choices can change which version fits.
        recommended_text = translate("VersionPickers", "What fits your other choices ({version})")
    recommended_text = recommended_text.format(version=display_value(part.name, part.recommended, option_notes))
    release = option_notes.releases.get((part.name, part.recommended or ""))
    recommended_entry = DropdownEntry(
        value=None, text=recommended_text, hint=_entry_hint(part.name, part.recommended, release)
    )
    others = [option for option in part.options if option.value != part.recommended or option.value == part.selected]
    headings = _group_headings(others, texts)
    # Options with a common heading stand together below it; otherwise their order is kept.
    group_keys = list(dict.fromkeys(map(_group_key, others)))
    position_of_group = {key: group_keys.index(key) if key in headings else -1 for key in group_keys}
    others.sort(key=lambda option: (option.state == "refused", position_of_group[_group_key(option)]))
    return [
        recommended_entry,
        *(
            _build_entry(part.name, option, option_notes, texts, headings.get(_group_key(option), ""))
            for option in others
        ),
    ]


def part_title(name: PartName) -> str:
    """The label of a part's drop-down."""
    return {
        "driver": translate("VersionPickers", "Driver"),
        "cuda_toolkit": "CUDA Toolkit",
        "toolkit_way": translate("VersionPickers", "How to install it"),
        "cudnn": "cuDNN",
        "pytorch": "PyTorch",
        "variant": translate("VersionPickers", "Build"),
        "python": "Python",
        "tensorflow": "TensorFlow",
    }[name]


def display_value(name: PartName, value: str | None, option_notes: OptionNotes | None = None) -> str:
    """A value as the drop-down's button shows it; with `option_notes` a driver that stays has its version."""
    if name == "variant" and value is not None:
        variant_text = current_texts().variant_name(value)
        return variant_text[:1].upper() + variant_text[1:]
    if name == "driver" and value == "keep" and option_notes is not None and option_notes.installed_driver is not None:
        return translate("VersionPickers", "Keep {version}").format(version=option_notes.installed_driver)
    if name == "driver" and value == "keep":
        return translate("VersionPickers", "Keep the current one")
    if name == "toolkit_way" and value is not None:
        return {
            "wheels": translate("VersionPickers", "Into the environment (no prompt)"),
            "archives": translate("VersionPickers", "Into your own folder (no prompt)"),
            "installer": translate("VersionPickers", "With NVIDIA's installer"),
        }[value]
    if name in ("cuda_toolkit", "cudnn") and value == "none":
        return translate("VersionPickers", "Nothing extra")
    return value or UNKNOWN_VALUE


def list_text(name: PartName, value: str | None, option_notes: OptionNotes) -> str:
    """A value as its drop-down shows it beside those of other parts."""
    text = display_value(name, value, option_notes)
    return f"Python {text}" if name == "python" else text


def recommendation_note(parts: Sequence[PartOptions], option_notes: OptionNotes) -> str:
    """Whether a card's values are the recommended ones; where some are not, which those are. Empty where the other
    choices are impossible together, so that nothing can be recommended beside them.
    """
    if any(part.recommended is None for part in parts):
        return ""
    has_other_choices = bool(option_notes.chosen_parts - {part.name for part in parts})
    replaced = [part for part in parts if part.selected not in (None, part.recommended)]
    if not replaced and has_other_choices:
        return translate("VersionPickers", "Fits your other choices")
    if not replaced:
        return translate("VersionPickers", "Recommended")
    values = [list_text(part.name, part.recommended, option_notes) for part in replaced]
    # Words are those of an entry, which a build's name is, too.
    quoted = [
        text
        if part.name in ("variant", "python") or Version.parse(text)
        else translate("VersionPickers", "“{words}”").format(words=text)
        for part, text in zip(replaced, values, strict=True)
    ]
    template = translate("VersionPickers", "Recommended: {versions}")
    if has_other_choices:
        template = translate("VersionPickers", "Recommended with your other choices: {versions}")
    return template.format(versions=join_list(quoted, current_texts().language))


def _group_key(option: Option) -> tuple[object, ...]:
    """Equal for options whose reason differs only in the version."""
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
    """The heading of each group of options with a common reason."""
    headings = {}
    for key, count in Counter(map(_group_key, options)).items():
        group = [option for option in options if _group_key(option) == key]
        shared_texts = [_shared_sentence(each, group, texts) for each in option_messages(group[0])]
        if count < GROUP_MIN_SIZE or group[0].code is None:
            continue
        if group[0].state == "refused":
            template = translate("VersionPickers", "Not available: {why}.")
            headings[key] = template.format(why=option_text(group[0], texts))
        elif all(shared_texts):
            headings[key] = messages.join_sentences(*shared_texts)
    if headings:
        # Next to groups, a single option with a warning has a heading of its own.
        group_sizes = Counter(map(_group_key, options))
        single_options = {
            _group_key(candidate): candidate
            for candidate in options
            if candidate.state == "warned" and group_sizes[_group_key(candidate)] < GROUP_MIN_SIZE
        }
        headings |= {key: option_text(option, texts) for key, option in single_options.items()}
    return headings


def _shared_sentence(message: Message, options: list[Option], texts: Texts) -> str:
    """One sentence about several options; empty if each needs its own."""
    if texts.has_text(f"option.these.{message.code}"):
        return texts.translate(f"option.these.{message.code}", message.data)
    sentences = {
        messages.message_text(texts, other)
        for option in options
        for other in option_messages(option)
        if other.code == message.code
    }
    return sentences.pop() if len(sentences) == 1 else ""


def _build_entry(
    name: PartName, option: Option, option_notes: OptionNotes, texts: Texts, heading: str
) -> DropdownEntry:
    return DropdownEntry(
        value=option.value,
        text=display_value(name, option.value, option_notes),
        hint=_entry_hint(name, option.value, option_notes.releases.get((name, option.value))),
        detail=option_text(option, texts),
        group=heading,
        state=option.state,
    )


def _entry_hint(name: PartName, value: str | None, release: Release | None) -> str:
    """Kinds of driver and release date; for a build its tag."""
    if name == "variant":
        return value if value is not None and value != display_value(name, value) else ""
    if release is None:
        return ""
    channels_text = "/".join(CHANNEL_NAMES[channel] for channel in release.channels)
    return " · ".join(part for part in (channels_text, release.date) if part)


def nearest_version(part: PartOptions, value: str) -> str | None:
    """The nearest version that works, preferably a newer one; None if it is chosen already."""
    allowed = [option.value for option in part.options if option.state == "fine"]
    target = Version.parse(value)
    by_version = {number: each for each in allowed if (number := Version.parse(each)) is not None}
    nearest = allowed[0] if allowed else None
    if target is not None and by_version:
        newer = [number for number in by_version if number > target]
        nearest = by_version[min(newer) if newer else max(by_version)]
    return nearest if nearest != (part.selected or part.recommended) else None


def option_text(option: Option, texts: Texts) -> str:
    """Why an option has a warning or is refused; empty if it is fine."""
    return messages.join_sentences(*(messages.message_text(texts, message) for message in option_messages(option)))


def option_messages(option: Option) -> tuple[Message, ...]:
    """All warnings of an option, or why it is refused."""
    return (Message(option.code, option.data), *option.further_warnings) if option.code is not None else ()


def side_effects_text(undo_state: UndoState | None, recommendation: Recommendation, notes: OptionNotes | None) -> str:
    """What else the last change changed, each as "before → after"; empty if nothing."""
    if undo_state is None or undo_state.recommendation is None:
        return ""
    from .....advise.options import PARTS, selected_value

    changes = []
    for name in PARTS:
        before, after = selected_value(undo_state.recommendation, name), selected_value(recommendation, name)
        # Without a toolkit there is no way to install it; a new toolkit is named by itself.
        if name == "toolkit_way" and None in (before, after):
            continue
        if name != undo_state.part and before != after:
            changes.append(
                f"{part_title(name)} {display_value(name, before, notes)} → {display_value(name, after, notes)}"
            )
    return translate("VersionPickers", "; ").join(changes)


def reset_choices_text(choice: Choice) -> tuple[str, str]:
    """Title and text after all choices were dropped."""
    picks = [_format_choices(dropped_choices(choice, None))]
    if choice.way is not None:
        name = current_texts().translate(f"way.{choice.way}.name")
        picks.append(translate("VersionPickers", "the way “{name}”").format(name=name))
    title, named = translate("VersionPickers", "Recommendation restored"), [pick for pick in picks if pick]
    if not named:
        return title, ""
    line = translate("VersionPickers", "Dropped: {picks}")
    return title, line.format(picks=translate("VersionPickers", "; ").join(named))


def dropped_choices_text(dropped: tuple[tuple[PartName, str], ...]) -> tuple[str, str]:
    """Title and text after some choices did not go with other options."""
    line = translate("VersionPickers", "Dropped: {picks}. Your other choices stay.").format(
        picks=_format_choices(dropped)
    )
    return translate("VersionPickers", "Some of your choices do not work together"), line


def _format_choices(choices: tuple[tuple[PartName, str], ...]) -> str:
    return translate("VersionPickers", "; ").join(
        f"{part_title(name)} {display_value(name, value)}" for name, value in choices
    )
