"""The commands, each a few lines over `App`: run a job, write the result, return the exit code.

What a command raises, `main` turns into a text and an exit code.
"""

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
from ..core.plan import InterruptedInstall, Plan, plan_for_file
from .arguments import (
    PLAN_OPTIONS,
    choice_from_arguments,
    detect_and_recommend,
    is_plan,
    new_file_path,
    reject_conflicting_options,
)
from .bundle import plan_from_bundle, run_bundle
from .catalog import age_in_days, run_catalog
from .download import run_download
from .example import run_example
from .fit import run_fit
from .health import run_health
from .jobs import run_job, run_with_events
from .monitor import run_monitor
from .output import Output
from .render import health, machine, setup
from .report import report_path, save_report
from .streams import write_stderr
from .use import run_use

if TYPE_CHECKING:
    from ..app import App
    from ..core.results import Benchmark
    from ..install.jobs.purge import PurgeJob
    from ..install.jobs.uninstall import UninstallJob

CommandFunction = Callable[["App", argparse.Namespace, Output], int]
YES_ANSWERS = ("y", "yes", "是", "好")


def run_detect(app: App, _arguments: argparse.Namespace, output: Output) -> int:
    """Show this machine."""
    detected = run_job(app.setup.detect())
    if output.json:
        output.write_json(detected)
    else:
        machine.render_machine(detected, output)
    return 0


def run_recommend(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the recommended versions and their reasons."""
    detected, recommendation = detect_and_recommend(app, arguments)
    localized = output.texts.localize_recommendation(recommendation)
    if output.json:
        output.write_json(localized)
    else:
        age_days = age_in_days(localized.catalog_date) if localized.catalog_date else None
        setup.render_recommendation(localized, detected, age_days, output, why=arguments.why, simulated=app.simulated)
    return 0


def run_plan(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the steps of an install; a file, if one is given, also gets the machine of a simulated plan."""
    output_file = new_file_path(arguments.output, is_plan) if arguments.output else None
    plan = _make_plan(app, arguments)
    if output.json or output_file is not None:
        plan = app.setup.with_checksums(plan)
    localized = output.texts.localize_plan(plan)
    if output_file is not None:
        json.write_file(output_file, json.encode_pretty(plan_for_file(localized)) + "\n")
    if output.json:
        output.write_json(replace(localized, machine=UNSET))
    else:
        setup.render_plan(localized, output)
    return 0


def run_install(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Install a plan: a new one, one from a file or a bundle, or the one that was interrupted."""
    plan = _plan_to_install(app, arguments, output)
    simulate = arguments.dry_run or plan.simulated
    if not simulate and (error := app.setup.availability_error(plan)) is not None:
        raise error
    if arguments.yes and not output.json:
        setup.render_source_notices(output.texts.localize_plan(plan), output.write_note)
    if not (simulate or arguments.yes):
        _confirm(output, lambda: setup.render_plan_summary(output.texts.localize_plan(plan), output))
    job = app.setup.install(plan, dry_run=simulate, resume=app.setup.resume_command(window=False))
    if simulate and not output.json:
        run_job(job, cancel_code="cancelled")  # raises what the install would raise
        setup.render_plan(output.texts.localize_plan(plan), output)
    else:
        run_with_events(job, output, environment=plan.env, cancel_code="cancelled")
    if not simulate and not app.settings.setup_done:
        # The window then starts with its home page instead of the setup.
        app.save_settings(replace(app.settings, setup_done=True))
    if output.json:
        return 0
    if simulate:
        output.write_line(output.translate("simulated" if plan.simulated else "dry-run"))
    else:
        output.write_line(output.translate("installed", env=plan.env))
        output.write_line("  " + app.system.activation_command(Path(plan.env)))
        if (line := app.system.powershell_activation(Path(plan.env))) is not None:
            output.write_line(output.translate("in-powershell"))
            output.write_line("  " + line)
    return 0


def _plan_to_install(app: App, arguments: argparse.Namespace, output: Output) -> Plan:
    if arguments.bundle:
        if arguments.environment == "conda":
            raise UsageError("conda-needs-network", path=arguments.bundle)
        return plan_from_bundle(app, arguments, normalize_path(arguments.bundle))
    if arguments.expect is not None or arguments.public_key is not None:
        raise UsageError("origin-without-bundle", option="--expect" if arguments.expect is not None else "--public-key")
    if arguments.resume:
        reject_conflicting_options(arguments, "--resume", ("plan", *PLAN_OPTIONS, "env", "machine", "wheelhouse"))
        interrupted = app.setup.interrupted_install()
        if interrupted is None:
            raise AppError("nothing-to-resume")
        _print_resume_point(interrupted, output)
        return interrupted.plan
    if arguments.plan:
        reject_conflicting_options(arguments, "--plan", (*PLAN_OPTIONS, "env", "machine", "wheelhouse"))
        return _replan(app, arguments, output)
    return _make_plan(app, arguments)


def _replan(app: App, arguments: argparse.Namespace, output: Output) -> Plan:
    """The plan that this program makes for what a plan file requests; raises UsageError if it differs, and Cancelled
    where its folders are not to be used.
    """
    plan_file = app.setup.read_plan(Path(arguments.plan))
    if not plan_file.simulated:
        app.setup.check_folder(Path(plan_file.env))
        plan = app.setup.replan(plan_file, run_job(app.setup.detect()))
        if not arguments.dry_run:
            _confirm_folders(app, plan_file, arguments, output)
        return plan
    if not arguments.dry_run:
        # Without --dry-run the user expects an install; simulating it silently would mislead.
        raise UsageError("plan-simulated", path=arguments.plan)
    if not plan_file.machine:
        raise UsageError("plan-refused", part="@plan.part.computer", detail="machine")
    return app.setup.replan(plan_file, plan_file.machine)


def _confirm_folders(app: App, plan_file: Plan, arguments: argparse.Namespace, output: Output) -> None:
    """Ask for each folder of a plan file without checksums whether it is to be used: --yes agrees to a plan, and this
    one does not say what is installed from there.
    """
    for folder, writers in app.setup.unproven_folders(plan_file).items():
        names = "@writers.everybody" if writers.everybody else ", ".join(writers.accounts)
        if arguments.yes or not _can_ask(output):
            raise UsageError("folder-unproven", path=str(folder), writers=names)
        output.write_note(output.translate("folder-unproven", path=str(folder), writers=names))
        _ask(output)


def _make_plan(app: App, arguments: argparse.Namespace) -> Plan:
    """The plan; what it names is asked for at its sources, unless that is switched off."""
    folder = app.setup.environment_path(arguments.env, arguments.goal)
    app.setup.check_folder(folder)
    detected, recommendation = detect_and_recommend(app, arguments)
    if app.may_ask_sources and not getattr(arguments, "offline", False):
        job = app.setup.available_setup(
            detected,
            folder,
            goal=arguments.goal,
            channel=arguments.channel,
            choice=choice_from_arguments(arguments),
            made_by=arguments.environment,
            retries=arguments.command == "install",
        )
        found = run_job(job)
        recommendation, plan = found.recommendation, found.plan
    else:
        plan = app.setup.plan(detected, recommendation, folder, made_by=arguments.environment)
    if getattr(arguments, "online", False):
        run_job(app.setup.probe_sizes(detected, plan))
        plan = app.setup.plan(detected, recommendation, folder, made_by=arguments.environment)
    return plan


def _print_resume_point(interrupted: InterruptedInstall, output: Output) -> None:
    position = next((n for n, step in enumerate(interrupted.plan.steps) if step.id == interrupted.step), 0)
    step = interrupted.plan.steps[position]
    title = output.texts.translate(f"step.{step.code}.title", step.data)
    output.write_note(
        output.translate(
            "stopped-at", n=position + 1, of=len(interrupted.plan.steps), title=title, env=interrupted.plan.env
        )
    )


def run_uninstall(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Remove an environment, or with --all the data of the program."""
    if arguments.all:
        return _purge(app, arguments, output)
    if arguments.keep_environments:
        raise UsageError("keep-without-all")
    environment = app.setup.environment_path(arguments.env)
    job = app.setup.uninstall(environment, dry_run=arguments.dry_run, driver=arguments.driver)
    if _run_removal(job, str(environment), "uninstall-what", arguments, output):
        files_remain = environment.is_dir() and any(environment.iterdir())
        output.write_line(
            output.translate("uninstalled-files" if files_remain else "uninstalled", env=str(environment))
        )
    return 0


def _purge(app: App, arguments: argparse.Namespace, output: Output) -> int:
    keep_environments = arguments.keep_environments
    job = app.setup.purge(keep_environments=keep_environments, dry_run=arguments.dry_run, driver=arguments.driver)
    question_code = "farewell-keeping" if keep_environments else "farewell-what"
    if _run_removal(job, str(app.data.root), question_code, arguments, output):
        output.write_line(output.translate("farewell-done"))
    return 0


def _run_removal(
    job: UninstallJob | PurgeJob, folder: str, question_code: str, arguments: argparse.Namespace, output: Output
) -> bool:
    """Describe the removal, ask unless --yes was given, and run it; returns whether its outcome is still to be told."""
    from ..install.jobs.removal_summary import summarize_removal

    def summarize() -> None:
        steps = job.steps()  # raises before anything is written
        output.write_note(output.translate(question_code, env=folder, data=folder))
        for line in summarize_removal(steps):
            output.write_note(f"  - {output.texts.message_text(line)}")
        output.write_note(output.translate("removal-details"))

    def describe(write: Callable[[str], None]) -> None:
        steps = job.steps()
        write(output.translate(question_code, env=folder, data=folder))
        for position, step in enumerate(steps, 1):
            write(f"{position}. " + output.texts.translate(f"step.{step.code}.title", step.data))
            write("   " + output.texts.translate(f"step.{step.code}.what", step.data))

    if arguments.dry_run and not output.json:
        describe(output.write_line)
        output.write_line(output.translate("dry-run"))
        return False
    if not (arguments.dry_run or arguments.yes):
        _confirm(output, summarize)
    run_with_events(job, output, environment=folder)
    return not output.json


def _confirm(output: Output, describe: Callable[[], None]) -> None:
    """Describe what will happen and ask. Raises UsageError without a terminal, Cancelled for any answer but yes."""
    if not output.json:
        describe()
    if not _can_ask(output):
        raise UsageError("needs-yes")
    _ask(output)


def _can_ask(output: Output) -> bool:
    return not output.json and sys.stdin is not None and sys.stdin.isatty()


def _ask(output: Output) -> None:
    """Ask whether to go on; raises Cancelled for any answer but yes."""
    write_stderr(output.translate("go-on"), end=" ")
    if sys.stdin.readline().strip().lower() not in YES_ANSWERS:
        raise Cancelled("declined")


def run_verify(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Check an environment; returns 1 if a check fails."""
    from .progress import FileStatusLine

    job = app.setup.verify(app.setup.environment_path(arguments.env), files=arguments.files)
    with FileStatusLine(output) as line:
        checks = output.texts.localize_checks(run_job(job, on_event=line.show_progress))
    if output.json:
        output.write_json(checks)
    else:
        health.render_checks(checks, output)
    return 1 if checks.verdict == "fail" else 0


def run_bench(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Measure an environment's devices, with --history show the stored results, with --judge a result in a file.

    Returns 1 if the test ended early, a device failed, or the result could not be stored. Raises Cancelled after the
    results of a cancelled full test have been shown.
    """
    from ..bench.child_protocol import CANCELLED_NOTE, UNSAVED_NOTE
    from .progress import BenchmarkStatusLine
    from .render import benchmark

    if arguments.history:
        return _show_benchmark_history(app, arguments, output)
    if arguments.judge is not None:
        return _judge_benchmark_file(app, arguments, output)
    report = report_path(arguments)
    environment, device = app.setup.environment_path(arguments.env), arguments.device
    job = app.monitoring.benchmark(environment, full=arguments.full, device=device)
    # Announced by the first progress, so that a test that is refused is not. Whether a GPU exists PyTorch tells.
    announce = partial(benchmark.render_announcement, environment, output, full=arguments.full, device=device)
    with BenchmarkStatusLine(output, announce, wait_for_device=device not in (None, "cpu")) as line:
        result = run_job(job, on_event=line.show_progress)
    problems = benchmark.failure_texts(result, output)
    if output.json:
        output.write_json(result)
        for text in problems:
            output.write_note(text)
    else:
        benchmark.render_benchmark(result, output)
    save_report(report, lambda: _benchmark_report(app, result), output)
    if CANCELLED_NOTE in result.notes:
        raise Cancelled("stopped" if UNSAVED_NOTE in result.notes else "bench-kept")
    return 1 if problems else 0


def _show_benchmark_history(app: App, arguments: argparse.Namespace, output: Output) -> int:
    from ..bench.history import benchmark_history
    from .render import benchmark

    for name in ("device", "env", "report"):
        if getattr(arguments, name) is not None:
            raise UsageError("bench-history-beside", option=f"--{name}")
    history = benchmark_history(*app.monitoring.stored_benchmarks())
    if output.json:
        output.write_json(history)
    else:
        benchmark.render_benchmark_history(history, output)
    return 0


def _judge_benchmark_file(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the result in a file, of any computer, beside the usual ranges of its GPUs."""
    from ..bench.expected_ranges import judge_benchmark
    from ..bench.history import read_benchmark_file
    from .render import benchmark

    reject_conflicting_options(arguments, "--judge", ("device", "env"))
    report = report_path(arguments)
    judged = judge_benchmark(read_benchmark_file(Path(arguments.judge)), app.catalog)
    if output.json:
        output.write_json(judged)
    else:
        benchmark.render_judgement(judged, output)
    save_report(report, lambda: _benchmark_report(app, judged, with_history=False), output)
    return 0


def _benchmark_report(app: App, benchmark: Benchmark, *, with_history: bool = True) -> str:
    """The window's report; `with_history`: beside the earlier benchmarks of this computer."""
    from ..reports.benchmark import render_html
    from ..reports.expected_ranges import read_range_source

    stored = app.monitoring.stored_benchmarks().benchmarks if with_history else ()
    return render_html(benchmark, stored, read_range_source(app.catalog))


COMMANDS: dict[str, CommandFunction] = {
    "detect": run_detect,
    "recommend": run_recommend,
    "plan": run_plan,
    "install": run_install,
    "uninstall": run_uninstall,
    "verify": run_verify,
    "bench": run_bench,
    "fit": run_fit,
    "example": run_example,
    "health": run_health,
    "monitor": run_monitor,
    "download": run_download,
    "bundle": run_bundle,
    "use": run_use,
    "catalog": run_catalog,
}
# With --json these print one object, or samples; their refusal is one object. The others print events, the last of
# which is the end.
OBJECT_COMMANDS = frozenset(
    {"detect", "recommend", "plan", "verify", "bench", "fit", "example", "health", "use", "catalog", "monitor"}
)
