"""What a test says first: its verdict, and whether a card was tested at all; pure."""

from __future__ import annotations

from typing import Literal

from ..core.results import Check, Checks
from .cards import NO_CARD, NO_CARD_REASON

Headline = Literal[
    "nothing",
    "no-card",
    "besides",
    "besides-no-card",
    "untold",
    "asked",
    "asked-warn",
    "pass",
    "warn",
    "fail",
    "unused",
    "unused-warn",
    "no-torch",
    "ended",
]

# What can also be said of the processor.
WITHOUT_CARD = {"driver", "cpu-compute", "matmul-bits-cpu", "memory-test-cpu", "load-cpu"}
# What a card tells of itself, besides that it is there.
TOLD = {"card-link", "card-memory", "card-errors", "card-xid", "card-fan", "card-heat", "card-held-back"}
# Faults of the setup, and of the test itself: no card is to blame for them.
SETUP = {"torch-import", "torch-build", "torch-cuda"}
ENDED = {"test-end"}
COMPUTED = {"device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load"}


def headline(checks: Checks) -> Headline:
    """The text `health.verdict.<headline>`. "no-card": a driver, but no card; "besides": no card was tested, the rest
    is right ("besides-no-card": there is none); "untold": the driver was asked, and knows of the card no more than that
    it is there; "asked": what it tells is right, and nothing was computed. What failed but says nothing against a card:
    "unused" (PyTorch cannot use it), "no-torch" (no card was there to be used), "ended" (the test was ended).
    """
    worries = [check for check in checks.checks if check.state == "warn"]
    if checks.verdict == "fail":
        return _failed(checks, worries)
    if worries and all(check.data.get("case") == NO_CARD for check in worries):
        return "no-card"
    asked = not COMPUTED.intersection(checks.covers)
    if checks.verdict == "warn" and (worries or checks.covers):  # else it is one because nothing was tested
        return "asked-warn" if asked else "warn"
    if WITHOUT_CARD.issuperset(checks.covers):
        return _besides(checks)
    if asked:
        return "asked" if TOLD.intersection(checks.covers) else "untold"
    return "pass"


def _besides(checks: Checks) -> Headline:
    if not checks.covers:
        return "nothing"
    return "besides-no-card" if any(_none_there(check) for check in checks.checks) else "besides"


def _failed(checks: Checks, worries: list[Check]) -> Headline:
    failed = {check.id for check in checks.checks if check.state == "fail"}
    if failed <= ENDED:
        return "ended"
    if not failed <= SETUP:
        return "fail"
    if not any(check.id == "card-answers" for check in checks.checks):
        return "no-torch"
    return "unused-warn" if worries else "unused"


def _none_there(check: Check) -> bool:
    return check.id == "driver" and check.data.get("reason") == NO_CARD_REASON


def blames(which: Headline) -> bool:
    """Whether what failed may be the card."""
    return which == "fail"


def tested(which: Headline) -> bool:
    """Whether any card was tested."""
    return which not in ("nothing", "no-card", "besides", "besides-no-card", "untold")
