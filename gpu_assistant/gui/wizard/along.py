"""What a pick or a wish changed besides what was asked for: nothing changes unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from ...core.recommendation import Recommendation
from .entries import shown, title
from .facts import Turn

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
        if name != turn.part and before != after:
            changed.append(f"{title(name)} {shown(name, before, notes)} → {shown(name, after, notes)}")
    return translate("Choosers", "; ").join(changed)


def fallen_words(fell: tuple[tuple[PartName, str], ...]) -> tuple[str, str]:
    """That picks did not go with another wish, and which: a title and a line."""
    gone = translate("Choosers", "; ").join(f"{title(name)} {shown(name, value)}" for name, value in fell)
    line = translate("Choosers", "Left to us again: {picks}. What else you picked stays.").format(picks=gone)
    return translate("Choosers", "Not all that you picked goes with this"), line
