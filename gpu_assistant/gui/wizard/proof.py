"""What the checks come to: the verdict, and one row for each check."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from ...core.machine import Machine
from ...core.recommendation import Recommendation
from ...core.results import Check, Checks, CheckState
from ...texts import Texts
from ...texts.format import short_name
from ..components.hero import HeroKind
from .rows import main_gpu

translate = QCoreApplication.translate


class VerificationRow(Struct, frozen=True, kw_only=True):
    """One check: its sentence, its figure in mono, and what mends it where it did not pass."""

    state: CheckState
    text: str
    value: str = ""
    fix: str = ""


class VerificationVerdict(Struct, frozen=True, kw_only=True):
    """The hero's words, and how many of how many checks passed."""

    kind: HeroKind
    title: str
    detail: str
    passed: int
    total: int


def verification_rows(checks: Checks, texts: Texts) -> tuple[VerificationRow, ...]:
    """The checks that say something, those that did not pass first."""
    localized = texts.localize_checks(checks).checks
    sorted_checks = sorted((check for check in localized if check.state != "skip"), key=_severity_rank)
    return tuple(
        VerificationRow(state=check.state, text=check.text or check.id, value=_value_text(check, texts), fix=check.fix or "")
        for check in sorted_checks
    )


def verification_verdict(checks: Checks, recommendation: Recommendation | None, machine: Machine | None) -> VerificationVerdict:
    """What was proven, in one sentence."""
    counted_checks = [check for check in checks.checks if check.state != "skip"]
    passed = sum(check.state == "pass" for check in counted_checks)
    accelerator = recommendation.accelerator if recommendation is not None else "cpu"
    on_gpu = any(check.id == "device-compute" and check.state == "pass" for check in checks.checks)
    gpu = main_gpu(machine, recommendation) if machine is not None else None
    name = short_name(gpu.name) if gpu is not None and gpu.name else translate("Proof", "GPU")
    kind: HeroKind = {"pass": "ok", "warn": "warn", "fail": "error"}[checks.verdict]  # type: ignore[assignment]
    title = translate("Proof", "PyTorch does not work yet")
    if checks.verdict != "fail":
        title = translate("Proof", "PyTorch works on your CPU")
        if on_gpu:
            title = translate("Proof", "PyTorch works on your {gpu}").format(gpu=name)
        elif accelerator == "cuda":
            kind, title = "warn", translate("Proof", "It works, but on the CPU")
    detail = translate("Proof", "Proven just now, in its own Python.")
    return VerificationVerdict(kind=kind, title=title, detail=detail, passed=passed, total=len(counted_checks))


def _severity_rank(check: Check) -> int:
    return {"fail": 0, "warn": 1, "pass": 2, "skip": 3}[check.state]


def _value_text(check: Check, texts: Texts) -> str:
    """The figure, unless the sentence says it already or there is none worth showing."""
    value = check.value
    text = texts.format_value("value", value) if isinstance(value, str) else ""
    return text if text not in (check.text or "") else ""
