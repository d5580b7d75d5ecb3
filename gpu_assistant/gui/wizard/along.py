"""What a pick changed besides the part that was picked: nothing changes unsaid."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.recommendation import Recommendation
from .choosers import shown, title
from .facts import Turn

translate = QCoreApplication.translate


def along(turn: Turn | None, now: Recommendation) -> str:
    """The other parts that are not what they were, each as before → after; nothing where none is."""
    if turn is None or turn.part is None or turn.recommendation is None:
        return ""
    from ...advise.options import PARTS, value_of

    changed = []
    for name in PARTS:
        before, after = value_of(turn.recommendation, name), value_of(now, name)
        if name != turn.part and before != after:
            changed.append(f"{title(name)} {shown(name, before)} → {shown(name, after)}")
    return translate("Choosers", "; ").join(changed)
