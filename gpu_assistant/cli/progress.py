"""Progress on a terminal's stderr, by rich; plain lines where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..bench.lines import Loading
from ..core.names import device_name
from ..core.plan import Event, LogEvent, PlanEvent, StepEvent
from ..core.results import BenchResult, Check
from ..texts.format import size, speed
from .output import Output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..bench.parent import BenchProgress
    from ..health.listening import HealthProgress


class StepLines:
    """Install and uninstall: one bar for the running step, one line for each that ended."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._titles: dict[str, str] = {}
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._waits = False

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

    def event(self, event: Event) -> None:
        """Show one event."""
        spoken = self._output.texts.event(event)
        if isinstance(spoken, PlanEvent):
            self._titles = {step.id: step.title or step.id for step in spoken.steps}
        elif isinstance(spoken, StepEvent):
            self._step(spoken)
        elif isinstance(spoken, LogEvent):
            import logging

            logging.getLogger("gpu_assistant.install").info("%s: %s", spoken.id, spoken.line)

    def _step(self, step: StepEvent) -> None:
        title = self._titles.get(step.id, step.id)
        if step.state == "running":
            self._running(step, title)
            return
        if self._bar is not None and self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        if step.state != "waiting":
            mark = {"done": "✓", "skipped": "–", "failed": "✗", "cancelled": "■"}[step.state]
            # Why a step failed or stopped is said once, at the very end.
            message = f": {step.message}" if step.message and step.state in ("done", "skipped") else ""
            self._output.note(f"{mark} {title}{message}")

    def _running(self, step: StepEvent, title: str) -> None:
        # Said once each time: it may last, and nothing else moves meanwhile.
        waits, self._waits = self._waits, step.bottleneck in ("elsewhere", "mending")
        if self._waits and not waits:
            self._output.note(f"… {step.message}")
        if self._bar is None:
            return
        figures = ""
        if step.unit == "bytes" and step.done is not None:
            figures = size(step.done) + (f" / {size(step.total)}" if step.total else "")
            figures += f"  {speed(step.speed)}" if step.speed else ""
        if self._task is None:
            self._task = self._bar.add_task(title, total=step.total, figures=figures)
        self._bar.update(self._task, completed=step.done or 0, total=step.total, figures=figures)


class OneLine:
    """What is going on, on one line that is written over; nothing where stderr is no terminal."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = not output.quiet and sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        if self._live:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class BenchLine(OneLine):
    """The benchmark: what is being measured. `announce` says what comes, when it begins; with `asked` for a card that
    may not be there only when it is found.
    """

    def __init__(self, output: Output, announce: Callable[[], None], *, asked: bool) -> None:
        super().__init__(output)
        self._announce: Callable[[], None] | None = announce
        self._asked = asked

    def news(self, news: Loading | BenchProgress | BenchResult) -> None:
        """Show what runs now; results are shown together at the end."""
        if isinstance(news, BenchResult):
            return
        if self._announce is not None and not (self._asked and isinstance(news, Loading)):
            self._show("")
            self._announce()
            self._announce = None
        if isinstance(news, Loading):
            known = news.limit_s is not None
            self._show(self._output.say("bench-loading" if known else "bench-loads", limit_seconds=news.limit_s))
            return
        from .show_bench import measured

        what = measured(news, self._output)
        self._show(self._output.say("measuring", n=news.n, of=news.of, what=what, device=device_name(news.device)))


class HealthLine(OneLine):
    """The health test: what is being tested, how far it is, and how hot the card is; where stderr is no terminal, a
    line for each thing that is being tested.
    """

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self._begun: tuple[str, str | None] | None = None

    def news(self, news: HealthProgress | Check) -> None:
        """Show what runs now; checks are shown together at the end."""
        if isinstance(news, Check):
            return
        area = f"health.area.{news.check}"
        what = self._output.texts.say(area) if self._output.texts.has(area) else news.check
        parts = [what, *([device_name(news.device)] if news.device is not None else [])]
        if not self._live:
            # What is told without its device is still that of the one before.
            check, device = self._begun or (None, None)
            if news.check != check or news.device not in (None, device):
                self._begun = (news.check, news.device)
                self._output.note("… " + " · ".join(parts))
            return
        if news.done is not None:
            parts.append(f"{100 * news.done:.0f} %")
        if news.temp is not None:
            parts.append(f"{news.temp} °C")
        self._show(" · ".join(parts))
