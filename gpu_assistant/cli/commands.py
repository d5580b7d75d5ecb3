"""The commands, each a few lines over `App`: ask, run, print, return the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from ..core import json
from ..core.errors import AppError, Cancelled, UsageError
from ..core.paths import normalize_path
from ..core.plan import Event, InterruptedInstall, Plan
from .arguments import PLAN_OPTIONS, detect_and_recommend, is_plan, new_file_path, reject_conflicting_options, run_job
from .bundle import plan_from_bundle, run_bundle_command
from .catalog import age_in_days, run_catalog_command
from .download import download
from .health import run_health_test
from .monitor import run_monitor
from .output import Output
from .render import machine as render_machine
from .render import setup
from .use import use

if TYPE_CHECKING:
    from ..app import App
    from ..install.jobs.purge import PurgeJob
    from ..install.jobs.uninstall import UninstallJob


CommandFunction = Callable[["App", argparse.Namespace, Output], int]


def detect(app: App, _arguments: argparse.Namespace, output: Output) -> int:
    """Look at this machine."""
    machine = run_job(app.setup.detect())
    if output.json:
        output.write_json(machine)
    else:
        render_machine.render_machine(machine, output)
    return 0


def recommend(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Decide versions."""
    machine, recommendation = detect_and_recommend(app, arguments)
    localized = output.texts.localize_recommendation(recommendation)
    if output.json:
        output.write_json(localized)
    else:
        setup.render_recommendation(
            localized, machine, age_in_days(localized.catalog_date) if localized.catalog_date else None, output
        )
    return 0


def plan(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the ordered steps."""
    output_file = new_file_path(arguments.output, is_plan) if arguments.output else None
    new_plan = _make_plan(app, arguments)
    localized = output.texts.localize_plan(new_plan)
    if output_file is not None:
        json.write_file(output_file, json.encode_pretty(localized) + "\n")
    if output.json:
        output.write_json(replace(localized, machine=UNSET))
    else:
        setup.render_plan(localized, output)
    return 0


def install(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Carry a plan out."""
    install_plan = _plan_to_install(app, arguments, output)
    simulate = arguments.dry_run or install_plan.simulated
    if not (simulate or arguments.yes):
        _confirm(output, lambda: setup.render_plan_summary(output.texts.localize_plan(install_plan), output))
    job = app.setup.install(install_plan, dry_run=simulate, resume=app.setup.resume_command(window=False))
    if simulate and not output.json:
        run_job(job, cancel_code="cancelled")  # what must not run is refused here, too
        setup.render_plan(output.texts.localize_plan(install_plan), output)
    else:
        _run_with_events(
            output, install_plan.env, lambda report: run_job(job, on_event=report, cancel_code="cancelled")
        )
    if not simulate and not app.settings.setup_done:
        # The window need not ask what is there already.
        app.save_settings(replace(app.settings, setup_done=True))
    if output.json:
        return 0
    if simulate:
        output.write_line(output.translate("simulated" if install_plan.simulated else "dry-run"))
    else:
        output.write_line(output.translate("installed", env=install_plan.env))
        output.write_line("  " + app.system.activation_command(Path(install_plan.env)))
    return 0


def uninstall(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Take an environment back, or everything."""
    if arguments.all:
        return _purge(app, arguments, output)
    if arguments.keep_environments:
        raise UsageError("keep-without-all")
    environment = app.setup.environment_path(arguments.env)
    job = app.setup.uninstall(environment, dry_run=arguments.dry_run)
    if not _run_removal(job, str(environment), "uninstall-what", arguments, output):
        files_remain = environment.is_dir() and any(environment.iterdir())
        output.write_line(
            output.translate("uninstalled-files" if files_remain else "uninstalled", env=str(environment))
        )
    return 0


def _purge(app: App, arguments: argparse.Namespace, output: Output) -> int:
    keep_environments = arguments.keep_environments
    job = app.setup.purge(keep_environments=keep_environments, dry_run=arguments.dry_run)
    if not _run_removal(
        job, str(app.data.root), "farewell-keeping" if keep_environments else "farewell-what", arguments, output
    ):
        output.write_line(output.translate("farewell-done"))
    return 0


def _run_removal(
    job: UninstallJob | PurgeJob, folder: str, question_code: str, arguments: argparse.Namespace, output: Output
) -> bool:
    """Ask, unless it is agreed to or only shown, and take back; says whether all is said that there is to say."""

    def describe(write: Callable[[str], None]) -> None:
        steps = job.steps()  # where it must not be, nothing is announced
        write(output.translate(question_code, env=folder, data=folder))
        for position, step in enumerate(steps, 1):
            write(f"{position}. " + output.texts.translate(f"step.{step.code}.title", step.data))
            write("   " + output.texts.translate(f"step.{step.code}.what", step.data))

    if arguments.dry_run and not output.json:
        describe(output.write_line)
        output.write_line(output.translate("dry-run"))
        return True
    if not (arguments.dry_run or arguments.yes):
        _confirm(output, lambda: describe(output.write_note))
    _run_with_events(output, folder, lambda report: run_job(job, on_event=report))
    return output.json


def verify(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Prove an environment."""
    checks = output.texts.localize_checks(run_job(app.setup.verify(app.setup.environment_path(arguments.env))))
    if output.json:
        output.write_json(checks)
    else:
        setup.render_checks(checks, output)
    return 1 if checks.verdict == "fail" else 0


def benchmark(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Measure an environment's devices; 1 where it ended too soon, a device failed, or the result was not saved. Raises
    Cancelled, after it showed what is kept of a full test.
    """
    from ..bench.child_protocol import CANCELLED_NOTE, UNSAVED_NOTE
    from .progress import BenchmarkStatusLine
    from .render import benchmark as render_benchmark

    if arguments.history:
        return _benchmark_history(app, arguments, output)
    environment, device = app.setup.environment_path(arguments.env), arguments.device
    job = app.monitoring.benchmark(environment, full=arguments.full, device=device)
    # What is refused is not announced; whether a card is there is known only when PyTorch is loaded.
    announce = partial(render_benchmark.render_announcement, environment, output, full=arguments.full, device=device)
    with BenchmarkStatusLine(output, announce, wait_for_device=device not in (None, "cpu")) as line:
        result = run_job(job, on_event=line.show_progress)
    problems = render_benchmark.failure_texts(result, output)
    if output.json:
        output.write_json(result)
        for sentence in problems:
            output.write_note(sentence)
    else:
        render_benchmark.render_benchmark(result, output)
    if CANCELLED_NOTE in result.notes:
        raise Cancelled("stopped" if UNSAVED_NOTE in result.notes else "bench-kept")
    return 1 if problems else 0


def _benchmark_history(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """What was measured before; nothing is measured."""
    from ..bench.results import benchmark_history
    from .render import benchmark as render_benchmark

    for name in ("device", "env"):
        if getattr(arguments, name) is not None:
            raise UsageError("bench-history-beside", option=f"--{name}")
    history = benchmark_history(*app.monitoring.stored_benchmarks())
    if output.json:
        output.write_json(history)
    else:
        render_benchmark.render_benchmark_history(history, output)
    return 0


def _make_plan(app: App, arguments: argparse.Namespace) -> Plan:
    folder = app.setup.environment_path(arguments.env, arguments.goal)
    app.setup.check_folder(folder)
    machine, recommendation = detect_and_recommend(app, arguments)
    new_plan = app.setup.plan(machine, recommendation, folder, made_by=arguments.environment)
    if getattr(arguments, "online", False):
        run_job(app.setup.probe_sizes(machine, new_plan))
        new_plan = app.setup.plan(machine, recommendation, folder, made_by=arguments.environment)
    return new_plan


def _plan_to_install(app: App, arguments: argparse.Namespace, output: Output) -> Plan:
    if arguments.bundle:
        if arguments.environment == "conda":
            raise UsageError("conda-needs-network", path=arguments.bundle)
        return plan_from_bundle(app, arguments, normalize_path(arguments.bundle))
    if arguments.resume:
        reject_conflicting_options(arguments, "--resume", ("plan", *PLAN_OPTIONS, "env", "machine", "wheelhouse"))
        interrupted = app.setup.interrupted_install()
        if interrupted is None:
            raise AppError("nothing-to-resume")
        _print_resume_point(interrupted, output)
        return app.setup.preview(interrupted.plan)
    if arguments.plan:
        reject_conflicting_options(arguments, "--plan", (*PLAN_OPTIONS, "env", "machine", "wheelhouse"))
        return _plan_again(app, arguments)
    return _make_plan(app, arguments)


def _plan_again(app: App, arguments: argparse.Namespace) -> Plan:
    """What a plan file asks for, planned here."""
    given = app.setup.read_plan(Path(arguments.plan))
    if not given.simulated:
        app.setup.check_folder(Path(given.env))
        return app.setup.plan_again(given, run_job(app.setup.detect()))
    if not arguments.dry_run:
        # Who asks for no simulation in this very call must not believe that something was installed.
        raise UsageError("plan-simulated", path=arguments.plan)
    if not given.machine:
        raise UsageError("plan-refused", part="@plan.part.computer", detail="machine")
    return app.setup.plan_again(given, given.machine)


def _print_resume_point(interrupted: InterruptedInstall, output: Output) -> None:
    """At which step the interrupted install stopped."""
    position = next((n for n, step in enumerate(interrupted.plan.steps) if step.id == interrupted.step), 0)
    step = interrupted.plan.steps[position]
    title = output.texts.translate(f"step.{step.code}.title", step.data)
    output.write_note(
        output.translate(
            "stopped-at", n=position + 1, of=len(interrupted.plan.steps), title=title, env=interrupted.plan.env
        )
    )


def _confirm(output: Output, describe: Callable[[], None]) -> None:
    """Show what will happen and ask; raises when nobody can be asked or the answer is no."""
    if not output.json:
        describe()
    if output.json or sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("needs-yes")
    print(output.translate("go-on"), end=" ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes", "是", "好"):
        raise Cancelled("declined")


def _run_with_events(output: Output, environment: str, start: Callable[[Callable[[Event], None]], object]) -> None:
    """Show a job's events; with --json each one is a line, and an `end` always comes last."""
    if output.json:
        try:
            start(output.write_event)
        except AppError as error:
            output.write_end_event(error, environment)
            raise
        return
    from .progress import StepProgressDisplay

    with StepProgressDisplay(output) as lines:
        start(lines.show_event)


COMMANDS: dict[str, CommandFunction] = {
    "detect": detect,
    "recommend": recommend,
    "plan": plan,
    "install": install,
    "uninstall": uninstall,
    "verify": verify,
    "bench": benchmark,
    "health": run_health_test,
    "monitor": run_monitor,
    "download": download,
    "bundle": run_bundle_command,
    "use": use,
    "catalog": run_catalog_command,
}
# What --json prints: one object, and a refusal is one, too; or events, and the last of them says how it ended.
SINGLE_RESULT_COMMANDS = ("detect", "recommend", "plan", "verify", "bench", "health", "use", "catalog")
EVENT_COMMANDS = ("install", "uninstall", "download", "bundle")
