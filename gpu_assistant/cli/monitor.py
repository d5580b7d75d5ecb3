"""`gpu-assistant monitor`: samples as lines, as CSV and for a Prometheus server; the history as CSV."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack, closing
from ipaddress import ip_address
from typing import TYPE_CHECKING

from ..app.monitoring import HealthEvaluator
from ..core.errors import AppError, UsageError
from .arguments import new_file_path, output_path
from .jobs import cancel_on_signal
from .render import health as render

if TYPE_CHECKING:
    from ..app import App
    from ..core.results import HealthState, Sample
    from .output import Output


DEFAULT_INTERVAL_S = 1.0
LIVE_OPTIONS = ("interval", "count", "processes", "serve_metrics", "metrics_address")
ALARM_MARKS = {"info": "•", "warn": "!", "error": "✗", "well": "✓", "watching": "…", "untold": "•"}
LOOPBACK = "127.0.0.1"
PENDING_STATES = ("slow", "hung")  # the driver has not answered yet
PENDING_NOTICE_S = 10.0  # seconds between two lines about that
MIN_SLOW_SAMPLES = 2  # a single late answer is not reported


def run_monitor(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Print samples until Ctrl+C or --count; with --history, export the stored ones."""
    _check_options(arguments)
    if arguments.history is not None:
        return _export_history(app, arguments, output)
    from ..monitor.sampler import next_due

    interval = DEFAULT_INTERVAL_S if arguments.interval is None else arguments.interval

    with cancel_on_signal() as stop_event, ExitStack() as resources:
        sampler = resources.enter_context(closing(app.monitoring.sampler()))
        csv_file = latest = None
        if arguments.csv:
            from ..monitor.sample_csv import SampleCsvWriter

            csv_file = resources.enter_context(closing(SampleCsvWriter(output_path(arguments.csv))))
        if arguments.serve_metrics is not None:
            from ..monitor.prometheus import MetricsServer

            address = LOOPBACK if arguments.metrics_address is None else arguments.metrics_address
            server = resources.enter_context(MetricsServer(arguments.serve_metrics, address))
            latest = server.collector
            latest.sample = sampler.sample(processes=False)
            output.write_note(output.translate("serving", url=server.url))
            if not _is_loopback(address):
                output.write_note(output.translate("serving-open"))
        human_output = not (output.json or output.quiet or latest)
        processes = output.json or (human_output and arguments.processes)
        remaining = arguments.count
        sample_printer = SamplePrinter(output, processes=arguments.processes)
        due_at = time.monotonic() + interval
        alarm_printer = AlarmPrinter(app, output) if human_output else None
        while not stop_event.wait(max(due_at - time.monotonic(), 0)):
            sample = sampler.sample(processes=processes)
            due_at = next_due(due_at, time.monotonic(), interval)
            if csv_file is not None:
                csv_file.write(sample)
            if latest is not None:
                latest.sample = sample
            if output.json:
                output.write_json(sample)
            elif alarm_printer is not None:
                sample_printer.print_sample(sample)
                alarm_printer.update(sample)
            remaining = remaining and remaining - 1
            if remaining == 0:
                break
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options of live samples beside --history, and for an address without a port to serve."""
    if arguments.history is not None:
        for name in LIVE_OPTIONS:
            if (value := getattr(arguments, name)) is not None and value is not False:
                raise UsageError("history-beside", option="--" + name.replace("_", "-"))
    if arguments.metrics_address is not None and arguments.serve_metrics is None:
        raise UsageError("address-without-metrics")


def _is_loopback(address: str) -> bool:
    """Whether only this computer can reach the address."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


class SamplePrinter:
    """Prints samples, with `processes` also the programs on each GPU; while the driver does not answer, less often."""

    def __init__(self, output: Output, *, processes: bool = False) -> None:
        self._output = output
        self._processes = processes
        self._hint_shown = False
        self._previous: Sample | None = None
        self._pending_since = self._printed_at = 0.0

    def print_sample(self, sample: Sample) -> bool:
        """Print a sample; returns False if it would repeat that the driver does not answer."""
        previous, self._previous = self._previous, sample
        pending_s = None
        if sample.nvml in PENDING_STATES:
            if previous is None or previous.nvml not in PENDING_STATES:
                self._pending_since = sample.t
            elif previous.nvml == sample.nvml:
                if 0 <= sample.t - self._printed_at < PENDING_NOTICE_S:
                    return False
                pending_s = sample.t - self._pending_since
        self._printed_at = sample.t
        render.render_sample(sample, self._output, previous, pending_s=pending_s)
        if self._processes:
            render.render_processes(sample, self._output)
            if not self._hint_shown and any(gpu.state == "ready" and gpu.processes is None for gpu in sample.gpus):
                self._hint_shown = True
                self._output.write_line("    " + self._output.translate("processes-untold-why"))
        return True


class AlarmPrinter:
    """Prints when an alarm begins or ends, when one may follow, and when all GPUs are healthy (again)."""

    def __init__(self, app: App, output: Output) -> None:
        self._evaluator = HealthEvaluator(app.monitoring.health_monitor, app.monitoring.load_baselines)
        self._output = output
        self._history = app.monitoring.history()
        try:
            self._history.load()
        except AppError as error:  # alarms work without history
            output.write_note(output.texts.error_text(error))
        if self._history.damaged_count:
            output.write_note(output.translate("history-damaged", count=self._history.damaged_count))
        self._active: set[tuple[str, int | None]] = set()
        self._state: HealthState = "unknown"
        self._slow_samples = 0  # samples in a row for which the driver was slow

    def update(self, sample: Sample) -> None:
        """Evaluate a sample and print what has changed."""
        texts = self._output.texts
        evaluation = self._evaluator.evaluate(sample, self._history)
        if evaluation is None:
            return
        health = texts.localize_health(evaluation)
        new_alarms = [alarm for alarm in health.alarms if (alarm.id, alarm.gpu) not in self._active]
        for alarm in map(texts.localize_alarm, render.fold_alarms(new_alarms, texts, health.cards)):
            text = texts.translate("health.told", {"title": alarm.title, "evidence": alarm.evidence})
            self._output.write_line(f"{ALARM_MARKS[alarm.level]} {text}")
            self._output.write_line(f"    {alarm.fix}")
            if alarm.source:
                self._output.write_line("    " + self._output.translate("alarm-source", url=alarm.source))
        self._active = {(alarm.id, alarm.gpu) for alarm in health.alarms}
        self._update_slow_driver(sample, health.state)
        state_changed = health.state != self._state
        if not (state_changed and health.state == "well"):  # "well" implies that all alarms have ended
            for alarm in map(texts.localize_alarm, render.fold_alarms(health.ended, texts, health.cards)):
                suffix = "-of" if alarm.gpu is not None and health.cards > 1 else ""
                text_ended = texts.translate(
                    f"health.over{suffix}", {"title": alarm.title, "name": alarm.data.get("name")}
                )
                self._output.write_line(f"{ALARM_MARKS['well']} {text_ended}")
        if state_changed and health.state in ("well", "watching", "untold"):
            self._output.write_line(f"{ALARM_MARKS[health.state]} {health.text}")
        if health.state != "slow":  # otherwise a driver that is slow now and then would be reported as well each time
            self._state = health.state

    def _update_slow_driver(self, sample: Sample, state: HealthState) -> None:
        """Print once what to do about a driver that was slow twice in a row, until it is well again."""
        if sample.nvml == "slow":
            self._slow_samples += 1
            if self._slow_samples == MIN_SLOW_SAMPLES:
                texts = self._output.texts
                self._output.write_line(f"{ALARM_MARKS['warn']} {texts.translate('health.state.slow')}")
                self._output.write_line(f"    {texts.translate('health.slow.fix')}")
        elif state != "slow" or self._slow_samples < MIN_SLOW_SAMPLES:
            self._slow_samples = 0


def _export_history(app: App, arguments: argparse.Namespace, output: Output) -> int:
    from ..monitor.history_export import export_history
    from ..monitor.series import gpu_key, gpu_label

    if not arguments.csv:
        raise UsageError("history-without-csv")
    path = new_file_path(arguments.csv)
    history = app.monitoring.history()
    history.load()
    # A GPU that is present has its current name; another one its last.
    with closing(app.monitoring.sampler()) as sampler:
        names = {gpu_key(gpu): gpu_label(gpu) for gpu in sampler.sample(detailed=False).gpus}
    rows = export_history(history, path, arguments.history, names=names)
    if history.damaged_count:
        output.write_note(output.translate("history-damaged", count=history.damaged_count))
    if not output.json:
        output.write_line(output.translate("exported", table_rows=rows, path=str(path)))
        output.write_note(output.translate("history-precision"))
    return 0
