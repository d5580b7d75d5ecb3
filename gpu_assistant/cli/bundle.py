"""`gpu-assistant bundle create|check DIR`: a folder with everything for a computer without internet."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import CallError
from ..core.jobs import JobContext
from ..core.paths import plain
from . import show
from .choice import picked, recommended
from .idle import WISHES, refuse_beside
from .jobs import run_job
from .output import Output
from .targets import in_folder

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from ..core.plan import Event, Plan
    from ..install.bundle.contents import Contents

ACTIONS = ("create", "check")


def options(command: argparse._ArgumentGroup, say: Callable[[str], str], path: Callable[[str], str]) -> None:
    """What can be typed after `bundle`; `path` is the parser's own check."""
    command.add_argument("action", choices=ACTIONS, metavar="|".join(ACTIONS), help=say("opt.bundle-action"))
    command.add_argument("folder", metavar="DIR", type=path, help=say("opt.bundle-folder"))
    command.add_argument("--dry-run", action="store_true", help=say("opt.dry-run"))


def bundle(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Make a bundle, or read one through."""
    folder = plain(arguments.folder)
    if arguments.action == "check":
        refuse_beside(arguments, "bundle check", (*WISHES, "machine", "mirrors", "limit_rate"))
        if arguments.dry_run:
            raise CallError("choice-beside", option="bundle check", choice="--dry-run")
        job = app.check_bundle(folder)
        _run(output, lambda report: run_job(job, on_news=report))
        return 0
    in_folder(folder)
    if arguments.environment == "conda":
        raise CallError("conda-needs-network", path=str(folder))
    machine, recommendation = recommended(app, arguments)
    choice = picked(arguments)
    create = app.create_bundle(machine, recommendation, folder, channel=arguments.channel, choice=choice)
    if arguments.dry_run:
        if output.json:
            _run(output, lambda report: create.rehearse(JobContext(report=report)))
            return 0
        create.rehearse(JobContext())  # what must not run is refused here, too
        show.bundle(create, output)
        output.line(output.say("dry-run"))
        return 0
    made: list[Contents] = []
    _run(output, lambda report: made.append(run_job(create, on_news=report, stopped="cancelled")))
    if not output.json:
        (contents,) = made
        output.line(output.say("bundle-made", path=str(folder), release=contents.wish.label, bytes=contents.bytes))
        show.not_in_it(contents.left_out, output)
    return 0


def plan_from(app: App, arguments: argparse.Namespace, folder: Path) -> Plan:
    """The plan for this computer whose files are all in a bundle; raises CallError for what it was not made for."""
    if arguments.resume:
        raise CallError("choice-beside", option="--bundle", choice="--resume")
    refuse_beside(
        arguments,
        "--bundle",
        ("plan", *(name for name in WISHES if name != "goal"), "wheelhouse", "mirrors", "limit_rate"),
    )
    contents = app.read_bundle(folder)
    if arguments.goal not in (contents.goal, "pytorch"):
        raise CallError("bundle-other-wish", path=str(folder), made_for=contents.wish.label)
    machine = run_job(app.detect())
    recommendation = app.recommend_from(folder, machine)
    environment = app.environment_path(arguments.env, contents.goal)
    app.refuse_folder(environment)
    return app.plan_from(folder, machine, recommendation, environment)


def _run(output: Output, work: Callable[[Callable[[Event], None]], object]) -> None:
    if output.json:
        work(output.event)
        return
    from .progress import StepLines

    with StepLines(output) as lines:
        work(lines.event)
