"""The commands, each a few lines over `App`: ask, run, print, return the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core import json
from ..core.errors import AppError, CallError, Cancelled
from ..core.paths import plain
from ..core.plan import Event, Interrupted, Plan
from . import show, show_machine
from .bundle import bundle, plan_from
from .catalog import age, catalog
from .choice import recommended
from .download import download
from .health import health
from .idle import WISHES, refuse_beside
from .jobs import run_job
from .monitor import monitor
from .output import Output
from .targets import is_plan, vacant
from .use import use

if TYPE_CHECKING:
    from ..app import App
    from ..install.farewell import FarewellJob
    from ..install.uninstall import UninstallJob

Command = Callable[["App", argparse.Namespace, Output], int]


def detect(app: App, _arguments: argparse.Namespace, output: Output) -> int:
    """Look at this machine."""
    machine = run_job(app.detect())
    if output.json:
        output.value(machine)
    else:
        show_machine.machine(machine, output)
    return 0


def recommend(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Decide versions."""
    machine, recommendation = recommended(app, arguments)
    spoken = output.texts.recommendation(recommendation)
    if output.json:
        output.value(spoken)
    else:
        show.recommendation(spoken, machine, age(spoken.catalog_date) if spoken.catalog_date else None, output)
    return 0


def plan(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Show the ordered steps."""
    target = vacant(arguments.output, is_plan) if arguments.output else None
    made = _plan(app, arguments)
    spoken = output.texts.plan(made)
    if target is not None:
        json.write_file(target, json.encode_pretty(spoken) + "\n")
    if output.json:
        output.value(spoken)
    else:
        show.plan(spoken, output)
    return 0


def install(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Carry a plan out."""
    work = _plan_to_install(app, arguments, output)
    dry = arguments.dry_run or work.simulated
    if not (dry or arguments.yes):
        _agree(output, lambda: show.plan_brief(output.texts.plan(work), output))
    job = app.install(work, dry_run=dry, resume=app.resume_words(window=False))
    if dry and not output.json:
        run_job(job, stopped="cancelled")  # what must not run is refused here, too
        show.plan(output.texts.plan(work), output)
    else:
        _run_events(output, work.env, lambda report: run_job(job, on_news=report, stopped="cancelled"))
    if not dry and not app.settings.setup_done:
        # The window need not ask what is there already.
        app.save_settings(replace(app.settings, setup_done=True))
    if output.json:
        return 0
    if dry:
        output.line(output.say("simulated" if work.simulated else "dry-run"))
    else:
        output.line(output.say("installed", env=work.env))
        output.line("  " + app.system.activation(Path(work.env)))
    return 0


def uninstall(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Take an environment back, or everything."""
    if arguments.all:
        return _farewell(app, arguments, output)
    if arguments.keep_environments:
        raise CallError("keep-without-all")
    environment = app.environment_path(arguments.env)
    job = app.uninstall(environment, dry_run=arguments.dry_run)
    if not _remove(job, str(environment), "uninstall-what", arguments, output):
        left = environment.is_dir() and any(environment.iterdir())
        output.line(output.say("uninstalled-files" if left else "uninstalled", env=str(environment)))
    return 0


def _farewell(app: App, arguments: argparse.Namespace, output: Output) -> int:
    keep = arguments.keep_environments
    job = app.farewell(keep_environments=keep, dry_run=arguments.dry_run)
    if not _remove(job, str(app.data.root), "farewell-keeping" if keep else "farewell-what", arguments, output):
        output.line(output.say("farewell-done"))
    return 0


def _remove(
    job: UninstallJob | FarewellJob, folder: str, what: str, arguments: argparse.Namespace, output: Output
) -> bool:
    """Ask, unless it is agreed to or only shown, and take back; says whether all is said that there is to say."""

    def explain(say: Callable[[str], None]) -> None:
        steps = job.steps()  # where it must not be, nothing is announced
        say(output.say(what, env=folder, data=folder))
        for number, step in enumerate(steps, 1):
            say(f"{number}. " + output.texts.say(f"step.{step.code}.title", step.data))
            say("   " + output.texts.say(f"step.{step.code}.what", step.data))

    if arguments.dry_run and not output.json:
        explain(output.line)
        output.line(output.say("dry-run"))
        return True
    if not (arguments.dry_run or arguments.yes):
        _agree(output, lambda: explain(output.note))
    _run_events(output, folder, lambda report: run_job(job, on_news=report))
    return output.json


def verify(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Prove an environment."""
    checks = output.texts.checks(run_job(app.verify(app.environment_path(arguments.env))))
    if output.json:
        output.value(checks)
    else:
        show.checks(checks, output)
    return 1 if checks.verdict == "fail" else 0


def bench(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Measure an environment's devices; 1 where it ended too soon, a device failed, or the result was not saved. Raises
    Cancelled, after it showed what is kept of a full test.
    """
    from ..bench.lines import CANCELLED, UNSAVED
    from . import show_bench
    from .progress import BenchLine

    if arguments.history:
        return _bench_history(app, arguments, output)
    environment, device = app.environment_path(arguments.env), arguments.device
    job = app.bench(environment, full=arguments.full, device=device)
    # What is refused is not announced; whether a card is there is known only when PyTorch is loaded.
    announce = partial(show_bench.before, environment, output, full=arguments.full, device=device)
    with BenchLine(output, announce, asked=device not in (None, "cpu")) as line:
        result = run_job(job, on_news=line.news)
    trouble = show_bench.trouble(result, output)
    if output.json:
        output.value(result)
        for sentence in trouble:
            output.note(sentence)
    else:
        show_bench.benchmark(result, output)
    if CANCELLED in result.notes:
        raise Cancelled("stopped" if UNSAVED in result.notes else "bench-kept")
    return 1 if trouble else 0


def _bench_history(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """What was measured before; nothing is measured."""
    from ..bench.past import past
    from . import show_past

    for name in ("device", "env"):
        if getattr(arguments, name) is not None:
            raise CallError("bench-history-beside", option=f"--{name}")
    told = past(*app.benchmarks())
    if output.json:
        output.value(told)
    else:
        show_past.benchmarks(told, output)
    return 0


def _plan(app: App, arguments: argparse.Namespace) -> Plan:
    folder = app.environment_path(arguments.env, arguments.goal)
    app.refuse_folder(folder)
    machine, recommendation = recommended(app, arguments)
    made = app.plan(machine, recommendation, folder, made_by=arguments.environment)
    if getattr(arguments, "online", False):
        run_job(app.price(machine, made))
        made = app.plan(machine, recommendation, folder, made_by=arguments.environment)
    return made


def _plan_to_install(app: App, arguments: argparse.Namespace, output: Output) -> Plan:
    if arguments.bundle:
        if arguments.environment == "conda":
            raise CallError("conda-needs-network", path=arguments.bundle)
        return plan_from(app, arguments, plain(arguments.bundle))
    if arguments.resume:
        refuse_beside(arguments, "--resume", ("plan", *WISHES, "env", "machine", "wheelhouse"))
        interrupted = app.interrupted()
        if interrupted is None:
            raise AppError("nothing-to-resume")
        _say_where(interrupted, output)
        return app.look_ahead(interrupted.plan)
    if arguments.plan:
        refuse_beside(arguments, "--plan", (*WISHES, "env", "machine", "wheelhouse"))
        found = app.read_plan(Path(arguments.plan))
        if not found.simulated:
            app.refuse_folder(Path(found.env))
        elif not arguments.dry_run:
            # Who asks for no simulation in this very call must not believe that something was installed.
            raise CallError("plan-simulated", path=arguments.plan)
        return found
    return _plan(app, arguments)


def _say_where(stopped: Interrupted, output: Output) -> None:
    """At which step the interrupted install stopped."""
    place = next((n for n, step in enumerate(stopped.plan.steps) if step.id == stopped.step), 0)
    step = stopped.plan.steps[place]
    title = output.texts.say(f"step.{step.code}.title", step.data)
    output.note(output.say("stopped-at", n=place + 1, of=len(stopped.plan.steps), title=title, env=stopped.plan.env))


def _agree(output: Output, explain: Callable[[], None]) -> None:
    """Show what will happen and ask; raises when nobody can be asked or the answer is no."""
    if not output.json:
        explain()
    if output.json or sys.stdin is None or not sys.stdin.isatty():
        raise CallError("needs-yes")
    print(output.say("go-on"), end=" ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes", "是", "好"):
        raise Cancelled("declined")


def _run_events(output: Output, environment: str, work: Callable[[Callable[[Event], None]], object]) -> None:
    """Show a job's events; with --json each one is a line, and an `end` always comes last."""
    if output.json:
        try:
            work(output.event)
        except AppError as error:
            output.end(error, environment)
            raise
        return
    from .progress import StepLines

    with StepLines(output) as lines:
        work(lines.event)


COMMANDS: dict[str, Command] = {
    "detect": detect,
    "recommend": recommend,
    "plan": plan,
    "install": install,
    "uninstall": uninstall,
    "verify": verify,
    "bench": bench,
    "health": health,
    "monitor": monitor,
    "download": download,
    "bundle": bundle,
    "use": use,
    "catalog": catalog,
}
# What --json prints: one object, and a refusal is one, too; or events, and the last of them says how it ended.
ONE_ANSWER = ("detect", "recommend", "plan", "verify", "bench", "health", "use", "catalog")
EVENTS = ("install", "uninstall", "download", "bundle")
