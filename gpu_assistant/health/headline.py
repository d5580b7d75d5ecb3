"""What a test says first: its verdict, and whether a card was tested at all; pure."""

from __future__ import annotations

from typing import Literal

from ..core.results import Check, Checks
from .cards import CASE_NO_GPU, REASON_NO_GPU

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
CPU_ONLY_AREAS = {"driver", "cpu-compute", "matmul-bits-cpu", "memory-test-cpu", "load-cpu"}
# What a card tells of itself, besides that it is there.
REPORTED_AREAS = {"card-link", "card-memory", "card-errors", "card-xid", "card-fan", "card-heat", "card-held-back"}
# Faults of the setup, and of the test itself: no card is to blame for them.
SETUP_CHECKS = {"torch-import", "torch-build", "torch-cuda"}
END_CHECKS = {"test-end"}
COMPUTED_AREAS = {"device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load"}


def select_headline(checks: Checks) -> Headline:
    """The text `health.verdict.<headline>`. "no-card": a driver, but no card; "besides": no card was tested, the rest
    is right ("besides-no-card": there is none); "untold": the driver was asked, and knows of the card no more than that
    it is there; "asked": what it tells is right, and nothing was computed. What failed but says nothing against a card:
    "unused" (PyTorch cannot use it), "no-torch" (no card was there to be used), "ended" (the test was ended).
    """
    check_warnings = [check for check in checks.checks if check.state == "warn"]
    if checks.verdict == "fail":
        return _headline_for_failure(checks, check_warnings)
    if check_warnings and all(check.data.get("case") == CASE_NO_GPU for check in check_warnings):
        return "no-card"
    driver_only = not COMPUTED_AREAS.intersection(checks.covers)
    if checks.verdict == "warn" and (check_warnings or checks.covers):  # else it is one because nothing was tested
        return "asked-warn" if driver_only else "warn"
    if CPU_ONLY_AREAS.issuperset(checks.covers):
        return _headline_without_gpu(checks)
    if driver_only:
        return "asked" if REPORTED_AREAS.intersection(checks.covers) else "untold"
    return "pass"


def _headline_without_gpu(checks: Checks) -> Headline:
    if not checks.covers:
        return "nothing"
    return "besides-no-card" if any(_is_no_gpu_check(check) for check in checks.checks) else "besides"


def _headline_for_failure(checks: Checks, check_warnings: list[Check]) -> Headline:
    failed = {check.id for check in checks.checks if check.state == "fail"}
    if failed <= END_CHECKS:
        return "ended"
    if not failed <= SETUP_CHECKS:
        return "fail"
    if not any(check.id == "card-answers" for check in checks.checks):
        return "no-torch"
    return "unused-warn" if check_warnings else "unused"


def _is_no_gpu_check(check: Check) -> bool:
    return check.id == "driver" and check.data.get("reason") == REASON_NO_GPU


def blames_gpu(headline: Headline) -> bool:
    """Whether what failed may be the card."""
    return headline == "fail"


def has_tested_gpu(headline: Headline) -> bool:
    """Whether any card was tested."""
    return headline not in ("nothing", "no-card", "besides", "besides-no-card", "untold")
