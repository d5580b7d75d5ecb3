"""While something is measured: what runs, how far it is, for how long it has run; Cancel.

What is said before a benchmark, and above its result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...bench import scaling
from ...bench.child_protocol import TorchLoading
from ...core.results import Benchmark
from ...texts.format import format_duration
from .. import language
from ..main.machine_facts import InstalledEnvironment
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.dialogs import ConfirmDialog
from ..widgets.progress import ProgressBar
from ..widgets.text import label

CLOCK_INTERVAL_MS = 1000


class CountedReport(Protocol):
    """The `n`th of `of`."""

    @property
    def index(self) -> int:
        """From 1."""

    @property
    def total(self) -> int:
        """All."""


ReportT = TypeVar("ReportT", bound=CountedReport)


class ActivityText(NamedTuple):
    """What runs in words, and what stands beside how far it is; "" for nothing."""

    title: str
    detail: str = ""


class RunningView(Themed, QWidget, Generic[ReportT]):
    """`begin`, then `show_progress` with each news; the clock goes on by itself. `words` says what a news is about.

    `stop_wanted` comes with Cancel and with Escape while this is seen; who heeds it calls `set_stopping`.
    """

    stop_requested = Signal()

    def __init__(self, describe: Callable[[ReportT], ActivityText], *, level: str = "heading") -> None:
        self._describe = describe
        self._report: ReportT | None = None
        self._loading: TorchLoading | None = None
        self._make_note: Callable[[], str] = str
        self._stopping = self._ready = False
        self._started = 0.0
        super().__init__()
        self.title_label, self.count_label, self.note_label = label(level), label("small"), label("small")
        self.progress_bar, self.cancel_button = ProgressBar(), Button(icon_name="cross")
        footer = QHBoxLayout()
        footer.addWidget(self.note_label, 1)
        footer.addWidget(self.cancel_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.title_label, self.count_label, self.progress_bar):
            column.addWidget(widget)
        column.addLayout(footer)
        self._clock_timer = QTimer(self, interval=CLOCK_INTERVAL_MS)
        self._clock_timer.timeout.connect(self._update_count)
        self._escape_shortcut = QShortcut(QKeySequence("Esc"), self, context=Qt.ShortcutContext.WindowShortcut)
        self._escape_shortcut.activated.connect(self.stop_requested)
        self.cancel_button.clicked.connect(self.stop_requested)
        self._ready = True
        self.apply_theme()

    def showEvent(self, event: QShowEvent) -> None:
        """The clock goes while it is seen."""
        super().showEvent(event)
        self._clock_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody reads it."""
        super().hideEvent(event)
        self._clock_timer.stop()

    @property
    def report(self) -> ReportT | None:
        """What it is about just now; None before its first news."""
        return self._report

    @property
    def has_focus_within(self) -> bool:
        """Whether the keyboard is in here."""
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self or self.isAncestorOf(focused))

    def start(self, note: Callable[[], str]) -> None:
        """A new run; `note` says what is known of it beforehand."""
        self._report, self._loading = None, None
        self._stopping, self._started = False, time.monotonic()
        self._make_note = note
        self.retranslate()

    def take_focus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """The keyboard to Cancel, and the page to its top.

        When a button that had the keyboard goes, Qt scrolls to the next one, somewhere below.
        """
        self.cancel_button.setFocus(reason)
        scroll_to_top(self)

    def show_progress(self, report: ReportT | TorchLoading) -> None:
        """What it does now."""
        if isinstance(report, TorchLoading):
            self._loading = report
        else:
            self._report = report
        self.retranslate()

    def set_stopping(self) -> None:
        """It was told to stop."""
        if self.cancel_button.hasFocus():  # it goes grey, and Qt would give the keyboard to whatever comes next
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._stopping = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        self.cancel_button.setText(self.tr("Stopping…") if self._stopping else self.tr("Cancel"))
        self.cancel_button.setEnabled(not self._stopping)
        self.note_label.setText(self._make_note())
        if self._report is None:
            self.title_label.setText(self.tr("PyTorch is loading…"))
            self.progress_bar.set_fraction(None)
        else:
            self.title_label.setText(self._describe(self._report).title)
            self.progress_bar.set_fraction((self._report.index - 1) / max(self._report.total, 1))
        self._update_count()

    def _update_count(self) -> None:
        """How far it is, and for how long it has run by now."""
        language_code = language.texts().language
        elapsed = format_duration(max(time.monotonic() - self._started, 1.0), language_code)
        parts = [self.tr("running for {time}").format(time=elapsed)]
        if self._report is None and self._loading is not None and self._loading.limit_s is not None:
            limit = format_duration(self._loading.limit_s, language_code)
            parts = [self.tr("the first time takes up to {time}").format(time=limit), *parts]
        elif self._report is not None:
            counter = self.tr("{n} of {of}").format(n=self._report.index, of=self._report.total)
            parts = [counter, self._describe(self._report).detail, *parts]
        self.count_label.setText(" · ".join(part for part in parts if part))


def scroll_to_top(widget: QWidget) -> None:
    """Scroll the page that this lies on to its top."""
    page = widget.parentWidget()
    while page is not None and not isinstance(page, QScrollArea):
        page = page.parentWidget()
    if page is not None:
        page.verticalScrollBar().setValue(0)


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
