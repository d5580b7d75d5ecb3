"""What a pick or a wish changed besides what was asked for: nothing changes unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from ...core.recommendation import Choice, Recommendation
from .entries import display_value, part_title
from .facts import UndoState
from .kept_picks import dropped_choices

if TYPE_CHECKING:
    from ...advise.options import PartName
    from .option_notes import OptionNotes

translate = QCoreApplication.translate


def side_effects_text(undo_state: UndoState | None, recommendation: Recommendation, notes: OptionNotes | None) -> str:
    """The other parts that are not what they were, each as before → after; nothing where none is."""
    if undo_state is None or undo_state.recommendation is None:
        return ""
    from ...advise.options import PARTS, selected_value

    changes = []
    for name in PARTS:
        before, after = selected_value(undo_state.recommendation, name), selected_value(recommendation, name)
        # Without a toolkit there is no way to it, and one that comes anew is said by itself.
        if name == "toolkit_way" and None in (before, after):
            continue
        if name != undo_state.part and before != after:
            changes.append(f"{part_title(name)} {display_value(name, before, notes)} → {display_value(name, after, notes)}")
    return translate("Choosers", "; ").join(changes)


def reset_choices_text(choice: Choice) -> tuple[str, str]:
    """That all picks were let go, and which: a title and a line."""
    return translate("Choosers", "All as recommended again"), translate("Choosers", "Let go: {picks}.").format(
        picks=_format_choices(dropped_choices(choice, None))
    )


def dropped_choices_text(dropped: tuple[tuple[PartName, str], ...]) -> tuple[str, str]:
    """That picks did not go with another wish, and which: a title and a line."""
    line = translate("Choosers", "Left to us again: {picks}. What else you picked stays.").format(picks=_format_choices(dropped))
    return translate("Choosers", "Not all that you picked goes with this"), line


def _format_choices(choices: tuple[tuple[PartName, str], ...]) -> str:
    return translate("Choosers", "; ").join(f"{part_title(name)} {display_value(name, value)}" for name, value in choices)
