"""What a pick or a wish changed besides what was asked for: nothing changes unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from ...core.recommendation import Choice, Recommendation
from .entries import shown, title
from .facts import Turn
from .kept_picks import fallen

if TYPE_CHECKING:
    from ...advise.options import PartName
    from .option_notes import OptionNotes

translate = QCoreApplication.translate


def along(turn: Turn | None, now: Recommendation, notes: OptionNotes | None) -> str:
    """The other parts that are not what they were, each as before → after; nothing where none is."""
    if turn is None or turn.recommendation is None:
        return ""
    from ...advise.options import PARTS, value_of

    changed = []
    for name in PARTS:
        before, after = value_of(turn.recommendation, name), value_of(now, name)
        # Without a toolkit there is no way to it, and one that comes anew is said by itself.
        if name == "toolkit_way" and None in (before, after):
            continue
        if name != turn.part and before != after:
            changed.append(f"{title(name)} {shown(name, before, notes)} → {shown(name, after, notes)}")
    return translate("Choosers", "; ").join(changed)


def let_go_words(choice: Choice) -> tuple[str, str]:
    """That all picks were let go, and which: a title and a line."""
    return translate("Choosers", "All as recommended again"), translate("Choosers", "Let go: {picks}.").format(
        picks=_named(fallen(choice, None))
    )


def fallen_words(fell: tuple[tuple[PartName, str], ...]) -> tuple[str, str]:
    """That picks did not go with another wish, and which: a title and a line."""
    line = translate("Choosers", "Left to us again: {picks}. What else you picked stays.").format(picks=_named(fell))
    return translate("Choosers", "Not all that you picked goes with this"), line


def _named(picks: tuple[tuple[PartName, str], ...]) -> str:
    return translate("Choosers", "; ").join(f"{title(name)} {shown(name, value)}" for name, value in picks)
