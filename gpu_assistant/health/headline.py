"""The first sentence of a health test's result: its verdict, and whether a GPU was tested at all. Pure."""

from __future__ import annotations

from typing import Literal

from ..core.results import Check, Checks
from .checks import CASE_NO_GPU, REASON_NO_GPU

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

# Areas that the CPU alone can cover.
CPU_ONLY_AREAS = {"driver", "cpu-compute", "matmul-bits-cpu", "memory-test-cpu", "load-cpu"}
# Areas that the GPU itself reports.
REPORTED_AREAS = {"card-link", "card-memory", "card-errors", "card-xid", "card-fan", "card-heat", "card-held-back"}
# Checks of the setup and of the test itself: their failure is not the GPU's.
SETUP_CHECKS = {"torch-import", "torch-build", "torch-cuda"}
END_CHECKS = {"test-end"}
COMPUTED_AREAS = {"device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load"}


def select_headline(checks: Checks) -> Headline:
    """The code of the text `health.verdict.<headline>`.

    "no-card": a driver, but no GPU. "besides": no GPU was tested, everything else passed ("besides-no-card": there is
    none). "untold": the driver reports nothing of the GPU but its name. "asked": what it reports is good, and nothing
    was computed. Failures that are not the GPU's: "unused" (PyTorch cannot use it), "no-torch" (there was no GPU to
    use), "ended" (the test was interrupted).
    """
    check_warnings = [check for check in checks.checks if check.state == "warn"]
    if checks.verdict == "fail":
        return _headline_for_failure(checks, check_warnings)
    if check_warnings and all(check.data.get("case") == CASE_NO_GPU for check in check_warnings):
        return "no-card"
    driver_only = not COMPUTED_AREAS.intersection(checks.covers)
    if checks.verdict == "warn" and (check_warnings or checks.covers):  # else "warn" means that nothing was tested
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
    """Whether a GPU may have failed."""
    return headline == "fail"


def has_tested_gpu(headline: Headline) -> bool:
    """Whether any GPU was tested."""
    return headline not in ("nothing", "no-card", "besides", "besides-no-card", "untold")
