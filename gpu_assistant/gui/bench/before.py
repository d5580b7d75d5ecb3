"""What is said before a benchmark, and above its result."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from ...bench import scaling
from ...core.results import Benchmark
from ...texts.format import format_duration
from .. import language
from ..components import ConfirmDialog
from ..main.facts import InstalledEnvironment

translate = QCoreApplication.translate


def duration_text(installed: InstalledEnvironment, *, full: bool = False) -> str:
    """How long it takes, and what one notices of it."""
    cpu = installed.variant == "cpu"
    if full and cpu:
        return translate("Before", "Up to 15 minutes. The fan may get loud.")
    if cpu:
        return translate("Before", "About 1 minute. The fan may get loud.")
    if full:
        template = translate(
            "Before",
            "Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to {time} more for all of "
            "them together. The fans may get loud.",
        )
    else:
        template = translate(
            "Before",
            "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to {time} more for all of them "
            "together. The fans may get loud.",
        )
    return template.format(time=format_duration(scaling.max_total_s(full=full), language.texts().language))


def running_note(installed: InstalledEnvironment, *, full: bool) -> str:
    """What is said while it runs."""
    other = translate("Before", "Other programs that work meanwhile make the figures lower.")
    return f"{duration_text(installed, full=full)}\n{other}"


def full_test_label(installed: InstalledEnvironment) -> str:
    """The full test on its button, with how long it takes."""
    if installed.variant == "cpu":
        return translate("Before", "Full test: up to 15 minutes…")
    return translate("Before", "Full test: up to 15 minutes, and 15 for each GPU…")


def full_test_dialog(parent: QWidget, installed: InstalledEnvironment) -> ConfirmDialog:
    """The question before the full test: what it has more, and how long it takes."""
    details = translate(
        "Before",
        "It measures more sizes, and each of them for longer. Close other programs meanwhile; “Cancel” ends it within "
        "a second and keeps what was measured until then.",
    )
    dialog = ConfirmDialog(
        parent,
        translate("Before", "Start the full test?"),
        f"{duration_text(installed, full=True)} {details}",
        translate("Before", "Start the full test"),
        translate("Before", "Not now"),
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def result_subtitle(benchmark: Benchmark) -> str:
    """PyTorch and CUDA, how thorough it was and how long it took, and when that was."""
    parts = [f"PyTorch {benchmark.torch.partition('+')[0]}"]
    if "cuda" in benchmark.versions:
        parts.append(f"CUDA {benchmark.versions['cuda']}")
    if benchmark.seconds is not None:
        duration_label = format_duration(benchmark.seconds, language.texts().language)
        full = benchmark.scope == "full"
        template = translate("Before", "full test, {time}") if full else translate("Before", "quick test, {time}")
        parts.append(template.format(time=duration_label))
    parts.append(_date_text(benchmark))
    return " · ".join(part for part in parts if part)


def _date_text(benchmark: Benchmark) -> str:
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    if local_time[:3] == time.localtime()[:3]:
        return translate("Before", "today {time}").format(time=time.strftime("%H:%M", local_time))
    return time.strftime("%Y-%m-%d %H:%M", local_time)
