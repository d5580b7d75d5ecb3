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
from .rows import main_card

translate = QCoreApplication.translate


class ProofRow(Struct, frozen=True, kw_only=True):
    """One check: its sentence, its figure in mono, and what mends it where it did not pass."""

    state: CheckState
    text: str
    value: str = ""
    fix: str = ""


class ProofVerdict(Struct, frozen=True, kw_only=True):
    """The hero's words, and how many of how many checks passed."""

    kind: HeroKind
    title: str
    detail: str
    passed: int
    counted: int


def rows(checks: Checks, texts: Texts) -> tuple[ProofRow, ...]:
    """The checks that say something, those that did not pass first."""
    spoken = texts.checks(checks).checks
    worst = sorted((check for check in spoken if check.state != "skip"), key=_weight)
    return tuple(
        ProofRow(state=check.state, text=check.text or check.id, value=_shown(check, texts), fix=check.fix or "")
        for check in worst
    )


def verdict(checks: Checks, recommendation: Recommendation | None, machine: Machine | None) -> ProofVerdict:
    """What was proven, in one sentence."""
    counted = [check for check in checks.checks if check.state != "skip"]
    passed = sum(check.state == "pass" for check in counted)
    wanted = recommendation.accelerator if recommendation is not None else "cpu"
    on_gpu = any(check.id == "device-compute" and check.state == "pass" for check in checks.checks)
    gpu = main_card(machine, recommendation) if machine is not None else None
    name = short_name(gpu.name) if gpu is not None and gpu.name else translate("Proof", "GPU")
    kind: HeroKind = {"pass": "ok", "warn": "warn", "fail": "error"}[checks.verdict]  # type: ignore[assignment]
    title = translate("Proof", "PyTorch does not work yet")
    if checks.verdict != "fail":
        title = translate("Proof", "PyTorch works on your CPU")
        if on_gpu:
            title = translate("Proof", "PyTorch works on your {gpu}").format(gpu=name)
        elif wanted == "cuda":
            kind, title = "warn", translate("Proof", "It works, but on the CPU")
    detail = translate("Proof", "Proven just now, in its own Python.")
    return ProofVerdict(kind=kind, title=title, detail=detail, passed=passed, counted=len(counted))


def _weight(check: Check) -> int:
    return {"fail": 0, "warn": 1, "pass": 2, "skip": 3}[check.state]


def _shown(check: Check, texts: Texts) -> str:
    """The figure, unless the sentence says it already or there is none worth showing."""
    value = check.value
    said = texts.value("value", value) if isinstance(value, str) else ""
    return said if said not in (check.text or "") else ""
