"""What a test says first: its verdict, and whether a card was tested at all; pure."""

from __future__ import annotations

from typing import Literal

from ..core.results import Checks
from .cards import NO_CARD

Headline = Literal["nothing", "no-card", "besides", "untold", "asked", "asked-warn", "pass", "warn", "fail"]

# What can also be said of the processor.
WITHOUT_CARD = {"driver", "cpu-compute", "matmul-bits-cpu", "memory-test-cpu", "load-cpu"}
# What a card tells of itself, besides that it is there.
TOLD = {"card-link", "card-memory", "card-errors", "card-xid", "card-fan", "card-heat", "card-held-back"}
COMPUTED = {"device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load"}


def headline(checks: Checks) -> Headline:
    """The text `health.verdict.<headline>`. "no-card": a driver, but no card; "besides": no card was tested, the rest
    is right; "untold": the driver was asked, and knows of the card no more than that it is there; "asked": what it
    tells is right, and nothing was computed.
    """
    if checks.verdict == "fail":
        return "fail"
    worries = [check for check in checks.checks if check.state == "warn"]
    if worries and all(check.data.get("case") == NO_CARD for check in worries):
        return "no-card"
    asked = not COMPUTED.intersection(checks.covers)
    if checks.verdict == "warn":
        return "asked-warn" if asked else "warn"
    if WITHOUT_CARD.issuperset(checks.covers):
        return "besides" if checks.covers else "nothing"
    if asked:
        return "asked" if TOLD.intersection(checks.covers) else "untold"
    return "pass"


def tested(which: Headline) -> bool:
    """Whether any card was tested."""
    return which not in ("nothing", "no-card", "besides", "untold")
