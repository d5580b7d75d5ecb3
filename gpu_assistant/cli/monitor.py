"""`gpu-assistant monitor`: samples as lines, as CSV and for a Prometheus server; and the history as CSV."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from ipaddress import ip_address
from typing import TYPE_CHECKING

from ..core.errors import AppError, CallError
from . import folded, show
from .jobs import stop_signals
from .targets import placed, vacant

if TYPE_CHECKING:
    from ..app import App
    from ..core.health import HealthState
    from ..core.results import Sample
    from .output import Output

LONGEST_INTERVAL = 86_400.0  # a day: nobody waits longer between two samples
INTERVAL = 1.0
OF_SAMPLES = ("interval", "count", "processes", "serve_metrics", "metrics_address")
UNITS = {"m": 60, "h": 3600, "d": 86_400}
HIGHEST_PORT = 65_535
ALARM_MARKS = {"info": "•", "warn": "!", "error": "✗", "well": "✓", "watching": "…", "untold": "•"}
LOOPBACK = "127.0.0.1"
WAITING = ("slow", "hung")  # the driver was asked, and has not answered yet
WAITING_S = 10.0  # how often that is said
LEAST_WAITS = 2  # one answer that is late may be a slip


def options(command: argparse._ArgumentGroup, say: Callable[[str], str], path: Callable[[str], str]) -> None:
    """What can be typed after `monitor`; `path` is the parser's own check."""

    def interval(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= LONGEST_INTERVAL:
            raise argparse.ArgumentTypeError(say("range.interval"))
        return value

    def count(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise argparse.ArgumentTypeError(say("range.count"))
        return int(text)

    def port(text: str) -> int:
        if not text.isdecimal() or int(text) > HIGHEST_PORT:
            raise argparse.ArgumentTypeError(say("range.port"))
        return int(text)

    def span(text: str) -> int:
        found = re.fullmatch(r"([1-9]\d{0,4})([mhd])", text, re.ASCII)
        if found is None:
            raise argparse.ArgumentTypeError(say("range.span"))
        return int(found[1]) * UNITS[found[2]]

    command.add_argument("--interval", type=interval, metavar="S", help=say("opt.interval"))
    command.add_argument("--count", type=count, metavar="N", help=say("opt.count"))
    command.add_argument("--processes", action="store_true", help=say("opt.processes"))
    command.add_argument("--csv", metavar="FILE", type=path, help=say("opt.csv"))
    command.add_argument("--history", metavar="SPAN", type=span, help=say("opt.history"))
    command.add_argument("--serve-metrics", metavar="PORT", type=port, help=say("opt.serve-metrics"))
    command.add_argument("--metrics-address", metavar="ADDRESS", help=say("opt.metrics-address"))


def monitor(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Print samples until Ctrl+C or until enough of them; or write what was seen before."""
    _refuse(arguments)
    if arguments.history is not None:
        return _history(app, arguments, output)
    from ..monitor.sampler import due_after

    interval = INTERVAL if arguments.interval is None else arguments.interval

    with stop_signals() as stop, ExitStack() as parts:
        sampler = parts.enter_context(closing(app.sampler()))
        table = latest = None
        if arguments.csv:
            from ..monitor.csv import CsvFile

            table = parts.enter_context(closing(CsvFile(placed(arguments.csv))))
        if arguments.serve_metrics is not None:
            from ..monitor.metrics import Server

            address = LOOPBACK if arguments.metrics_address is None else arguments.metrics_address
            server = parts.enter_context(Server(arguments.serve_metrics, address))
            latest = server.latest
            latest.sample = sampler.sample(programs=False)
            output.note(output.say("serving", url=server.url))
            if not _loopback(address):
                output.note(output.say("serving-open"))
        spoken = not (output.json or output.quiet or latest)
        programs = output.json or (spoken and arguments.processes)
        left = arguments.count
        lines = Lines(output, programs=arguments.processes)
        due = time.monotonic() + interval
        alarms = Alarms(app, output) if spoken else None
        while not stop.wait(max(due - time.monotonic(), 0)):
            sample = sampler.sample(programs=programs)
            due = due_after(due, time.monotonic(), interval)
            if table is not None:
                table.write(sample)
            if latest is not None:
                latest.sample = sample
            if output.json:
                output.value(sample)
            elif alarms is not None:
                lines.show(sample)
                alarms.look(sample)
            left = left and left - 1
            if left == 0:
                break
    return 0


def _refuse(arguments: argparse.Namespace) -> None:
    """Raise CallError for an address at which nothing is offered, and for what is meant for samples to come beside what
    was seen before.
    """
    if arguments.history is not None:
        for name in OF_SAMPLES:
            if (given := getattr(arguments, name)) is not None and given is not False:
                raise CallError("history-beside", option="--" + name.replace("_", "-"))
    if arguments.metrics_address is not None and arguments.serve_metrics is None:
        raise CallError("address-without-metrics")


def _loopback(address: str) -> bool:
    """Whether only this computer reaches it."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


class Lines:
    """Says samples, and who uses the cards where `programs` are wanted; of a driver that is waited for only now and
    then.
    """

    def __init__(self, output: Output, *, programs: bool = False) -> None:
        self._output = output
        self._programs = programs
        self._hinted = False
        self._before: Sample | None = None
        self._waits_since = self._told_at = 0.0

    def show(self, sample: Sample) -> bool:
        """Say one; False where it would say again what the one before it said."""
        before, self._before = self._before, sample
        waited = None
        if sample.nvml in WAITING:
            if before is None or before.nvml not in WAITING:
                self._waits_since = sample.t
            elif before.nvml == sample.nvml:
                if 0 <= sample.t - self._told_at < WAITING_S:
                    return False
                waited = sample.t - self._waits_since
        self._told_at = sample.t
        show.sample(sample, self._output, before, waited=waited)
        if self._programs:
            show.processes(sample, self._output)
            if not self._hinted and any(gpu.state == "ready" and gpu.processes is None for gpu in sample.gpus):
                self._hinted = True
                self._output.line("    " + self._output.say("processes-untold-why"))
        return True


class Alarms:
    """Says when an alarm begins or ends, when something has yet to last, and when all is well (again)."""

    def __init__(self, app: App, output: Output) -> None:
        from ..app.judging import Judge

        self._judge = Judge(app.health_watch, app.remember_past)
        self._output = output
        self._history = app.history()
        try:
            self._history.load()
        except AppError as error:  # the cards are watched all the same
            output.note(output.texts.error(error))
        self._known: set[tuple[str, int | None]] = set()
        self._state: HealthState = "unknown"
        self._waits = 0  # samples in a row without an answer, since it was well

    def look(self, sample: Sample) -> None:
        """Judge a sample and say what is new."""
        texts = self._output.texts
        judged = self._judge.look(sample, self._history)
        if judged is None:
            return
        health = texts.health(judged)
        new = [alarm for alarm in health.alarms if (alarm.id, alarm.gpu) not in self._known]
        for alarm in map(texts.alarm, folded.alarms(new, texts, health.cards)):
            told = texts.say("health.told", {"title": alarm.title, "evidence": alarm.evidence})
            self._output.line(f"{ALARM_MARKS[alarm.level]} {told}")
            self._output.line(f"    {alarm.fix}")
            if alarm.source:
                self._output.line("    " + self._output.say("alarm-source", url=alarm.source))
        self._known = {(alarm.id, alarm.gpu) for alarm in health.alarms}
        self._wait(sample, health.state)
        turned = health.state != self._state
        if not (turned and health.state == "well"):  # that says of all alarms that they are over
            for alarm in map(texts.alarm, folded.alarms(health.ended, texts, health.cards)):
                of = "-of" if alarm.gpu is not None and health.cards > 1 else ""
                over = texts.say(f"health.over{of}", {"title": alarm.title, "name": alarm.data.get("name")})
                self._output.line(f"{ALARM_MARKS['well']} {over}")
        if turned and health.state in ("well", "watching", "untold"):
            self._output.line(f"{ALARM_MARKS[health.state]} {health.text}")
        if health.state != "slow":  # a driver that is slow time and again would have its good news told each time
            self._state = health.state

    def _wait(self, sample: Sample, state: HealthState) -> None:
        """Say what to do about a driver that did not answer twice; once, until it is well again."""
        if sample.nvml == "slow":
            self._waits += 1
            if self._waits == LEAST_WAITS:
                texts = self._output.texts
                self._output.line(f"{ALARM_MARKS['warn']} {texts.say('health.state.slow')}")
                self._output.line(f"    {texts.say('health.slow.fix')}")
        elif state != "slow" or self._waits < LEAST_WAITS:
            self._waits = 0


def _history(app: App, arguments: argparse.Namespace, output: Output) -> int:
    from ..monitor.history_csv import export
    from ..monitor.known_cards import card_name
    from ..monitor.series import card

    if not arguments.csv:
        raise CallError("history-without-csv")
    path = vacant(arguments.csv)
    history = app.history()
    history.load()
    # Cards are called as they are now; one that is gone as it was last.
    with closing(app.sampler()) as sampler:
        names = {card(gpu): card_name(gpu) for gpu in sampler.sample(looking=False).gpus}
    rows = export(history, path, arguments.history, names=names)
    if history.damaged:
        output.note(output.say("history-damaged", count=history.damaged))
    if not output.json:
        output.line(output.say("exported", table_rows=rows, path=str(path)))
        output.note(output.say("history-precision"))
    return 0
