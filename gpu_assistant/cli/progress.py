"""Progress on stderr: drawn by rich or over one line in a terminal, else plain lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..bench.child_protocol import TorchLoading
from ..core.plan import Event, LogEvent, PlanEvent, StepEvent
from ..core.results import BenchResult, Check
from ..core.types import device_name
from ..texts.format import format_percent, format_size, format_speed
from ..verify.job import FileProgress
from .output import Output, display_width
from .streams import write_stderr

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..bench.child_protocol import BenchmarkProgress
    from ..health.child_protocol import HealthProgress


class StepProgressDisplay:
    """Progress of jobs with steps: a bar for the running step, a line for each one that has ended."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._titles: dict[str, str] = {}
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._is_pending = False

    def __enter__(self) -> Self:
        if not self._output.quiet and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=30),
                TextColumn("{task.fields[figures]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show_event(self, event: Event) -> None:
        """Show an event; lines of a step's log go to the program's log."""
        localized = self._output.texts.localize_event(event)
        if isinstance(localized, PlanEvent):
            self._titles = {step.id: step.title or step.id for step in localized.steps}
        elif isinstance(localized, StepEvent):
            self._show_step(localized)
        elif isinstance(localized, LogEvent):
            import logging

            logging.getLogger("gpu_assistant.install").info("%s: %s", localized.id, localized.line)

    def _show_step(self, step: StepEvent) -> None:
        title = self._titles.get(step.id, step.id)
        if step.state == "running":
            self._show_running_step(step, title)
            return
        if self._bar is not None and self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        if step.state != "waiting":
            mark = {"done": "✓", "skipped": "–", "failed": "✗", "cancelled": "■"}[step.state]
            # Why a step failed or was cancelled, the error at the end says.
            message = f": {step.message}" if step.message and step.state in ("done", "skipped") else ""
            self._output.write_note(f"{mark} {title}{message}")

    def _show_running_step(self, step: StepEvent, title: str) -> None:
        # Said once each time it begins: nothing else changes while it lasts.
        was_pending, self._is_pending = self._is_pending, step.bottleneck in ("elsewhere", "mending")
        if self._is_pending and not was_pending:
            self._output.write_note(f"… {step.message}")
        if self._bar is None:
            return
        figures = ""
        if step.unit == "bytes" and step.done is not None:
            figures = format_size(step.done) + (f" / {format_size(step.total)}" if step.total else "")
            figures += f"  {format_speed(step.speed)}" if step.speed else ""
        if self._task is None:
            self._task = self._bar.add_task(title, total=step.total, figures=figures)
        self._bar.update(self._task, completed=step.done or 0, total=step.total, figures=figures)


class StatusLine:
    """A line that each progress overwrites; nothing if stderr is not a terminal.

    Overwritten with blanks: Windows' console shows escape sequences as they are, unless a program asks for more
    (learn.microsoft.com/windows/console/console-virtual-terminal-sequences).
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._width = 0  # cells of what is shown
        self._interactive = not output.quiet and sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        if self._interactive:
            width = display_width(text)
            blanks = " " * (self._width - width)
            self._width = width
            write_stderr(f"\r{text}{blanks}" if text else f"\r{blanks}\r", end="")


class FileStatusLine(StatusLine):
    """How much of an environment's files is compared."""

    def show_progress(self, event: object) -> None:
        """Show one that tells of files."""
        if isinstance(event, FileProgress):
            self._show(f"{format_size(event.done)} / {format_size(event.total)}")


class BenchmarkStatusLine(StatusLine):
    """What the benchmark is measuring.

    `announce` is called with the first progress; with `wait_for_device` only after PyTorch has loaded, because the
    requested device may not exist.
    """

    def __init__(self, output: Output, announce: Callable[[], None], *, wait_for_device: bool) -> None:
        super().__init__(output)
        self._announce: Callable[[], None] | None = announce
        self._wait_for_device = wait_for_device

    def show_progress(self, progress: TorchLoading | BenchmarkProgress | BenchResult) -> None:
        """Show what is being measured; results are shown at the end."""
        if isinstance(progress, BenchResult):
            return
        if self._announce is not None and not (self._wait_for_device and isinstance(progress, TorchLoading)):
            self._show("")
            self._announce()
            self._announce = None
        if isinstance(progress, TorchLoading):
            has_limit = progress.limit_s is not None
            self._show(
                self._output.translate("bench-loading" if has_limit else "bench-loads", limit_seconds=progress.limit_s)
            )
            return
        from .render.benchmark import workload_label

        workload = workload_label(progress, self._output)
        self._show(
            self._output.translate(
                "measuring", n=progress.index, of=progress.total, what=workload, device=device_name(progress.device)
            )
        )


class HealthStatusLine(StatusLine):
    """What the health test is checking, how far it is, and the GPU's temperature.

    If stderr is not a terminal, a line for each check that begins.
    """

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self._current: tuple[str, str | None] | None = None

    def show_progress(self, progress: HealthProgress | Check) -> None:
        """Show what is being checked; results are shown at the end."""
        if isinstance(progress, Check):
            return
        text_code = f"health.area.{progress.check}"
        area_name = (
            self._output.texts.translate(text_code) if self._output.texts.has_text(text_code) else progress.check
        )
        parts = [area_name, *([device_name(progress.device)] if progress.device is not None else [])]
        if not self._interactive:
            # Progress without a device belongs to the device of the one before.
            check, device = self._current or (None, None)
            if progress.check != check or progress.device not in (None, device):
                self._current = (progress.check, progress.device)
                self._output.write_note("… " + " · ".join(parts))
            return
        if progress.done is not None:
            parts.append(format_percent(100 * progress.done))
        if progress.temp is not None:
            parts.append(f"{progress.temp} °C")
        self._show(" · ".join(parts))
