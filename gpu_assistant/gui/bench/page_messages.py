"""Texts of the benchmark's page: what is being measured, and how long a run takes."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench import scaling
from ...bench.child_protocol import BenchmarkProgress
from ...core.types import short_device_name
from ...reports import messages
from ...texts.benchmark import dimensions_text
from ...texts.format import format_duration
from .. import language
from ..machine_facts import InstalledEnvironment
from .running import ActivityText

translate = QCoreApplication.translate


def activity(report: BenchmarkProgress) -> ActivityText:
    """What is being measured."""
    size = dimensions_text(report.size) if report.workload == "matmul" else ""
    label = messages.workload_label(report.workload, report.dtype, report.device)
    return ActivityText(f"{label} · {short_device_name(report.device)}", size)


def duration_text(installed: InstalledEnvironment, *, full: bool = False) -> str:
    """How long a run takes, and that the fans get loud."""
    is_cpu_build = installed.variant == "cpu"
    if full and is_cpu_build:
        return translate("BenchmarkPage", "Up to 15 minutes. The fan may get loud.")
    if is_cpu_build:
        return translate("BenchmarkPage", "About 1 minute. The fan may get loud.")
    if full:
        template = translate(
            "BenchmarkPage",
            "Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to {time} more for all of "
            "them together. The fans may get loud.",
        )
    else:
        template = translate(
            "BenchmarkPage",
            "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to {time} more for all of them "
            "together. The fans may get loud.",
        )
    return template.format(time=format_duration(scaling.max_total_s(full=full), language.texts().language))


def running_note(installed: InstalledEnvironment, *, full: bool) -> str:
    """The note that is shown during a run: how long it takes, and what disturbs it."""
    other_programs = translate("BenchmarkPage", "Other running programs lower the results.")
    return f"{duration_text(installed, full=full)}\n{other_programs}"


def full_test_label(installed: InstalledEnvironment) -> str:
    """The text of the full test's button."""
    if installed.variant == "cpu":
        return translate("BenchmarkPage", "Full test: up to 15 minutes…")
    return translate("BenchmarkPage", "Full test: up to 15 minutes, and 15 for each GPU…")
