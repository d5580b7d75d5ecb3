"""`gpu-assistant bundle create|check DIR`: a folder with everything for a computer without internet."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.jobs import JobContext
from ..core.paths import normalize_path
from .arguments import (
    PLAN_OPTIONS,
    choice_from_arguments,
    detect_and_recommend,
    reject_conflicting_options,
    require_parent_folder,
    run_job,
)
from .output import Output
from .render import setup

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from ..core.plan import Event, Plan
    from ..install.bundle.format import BundleContents


BUNDLE_ACTIONS = ("create", "check")


def add_bundle_options(
    command: argparse._ArgumentGroup, translate: Callable[[str], str], path: Callable[[str], str]
) -> None:
    """What can be typed after `bundle`; `path` is the parser's own check."""
    command.add_argument(
        "action", choices=BUNDLE_ACTIONS, metavar="|".join(BUNDLE_ACTIONS), help=translate("opt.bundle-action")
    )
    command.add_argument("folder", metavar="DIR", type=path, help=translate("opt.bundle-folder"))
    command.add_argument("--dry-run", action="store_true", help=translate("opt.dry-run"))


def run_bundle_command(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Make a bundle, or read one through."""
    folder = normalize_path(arguments.folder)
    if arguments.action == "check":
        reject_conflicting_options(arguments, "bundle check", (*PLAN_OPTIONS, "machine", "mirrors", "limit_rate"))
        if arguments.dry_run:
            raise UsageError("choice-beside", option="bundle check", choice="--dry-run")
        job = app.bundles.check(folder)
        _run_with_events(output, lambda report: run_job(job, on_event=report))
        return 0
    require_parent_folder(folder)
    if arguments.environment == "conda":
        raise UsageError("conda-needs-network", path=str(folder))
    machine, recommendation = detect_and_recommend(app, arguments)
    choice = choice_from_arguments(arguments)
    create_job = app.bundles.create(machine, recommendation, folder, channel=arguments.channel, choice=choice)
    if arguments.dry_run:
        if output.json:
            _run_with_events(output, lambda report: create_job.preview(JobContext(report=report)))
            return 0
        create_job.preview(JobContext())  # what must not run is refused here, too
        setup.render_bundle_plan(create_job, output)
        output.write_line(output.translate("dry-run"))
        return 0
    created: list[BundleContents] = []
    _run_with_events(
        output, lambda report: created.append(run_job(create_job, on_event=report, cancel_code="cancelled"))
    )
    if not output.json:
        (contents,) = created
        output.write_line(
            output.translate("bundle-made", path=str(folder), release=contents.wish.label, bytes=contents.bytes)
        )
        setup.render_left_out(contents.left_out, output)
    return 0


def plan_from_bundle(app: App, arguments: argparse.Namespace, folder: Path) -> Plan:
    """The plan for this computer whose files are all in a bundle; raises CallError for what it was not made for."""
    if arguments.resume:
        raise UsageError("choice-beside", option="--bundle", choice="--resume")
    reject_conflicting_options(
        arguments,
        "--bundle",
        ("plan", *(name for name in PLAN_OPTIONS if name != "goal"), "wheelhouse", "mirrors", "limit_rate"),
    )
    contents = app.bundles.read(folder)
    if arguments.goal not in (contents.goal, "pytorch"):
        raise UsageError("bundle-other-wish", path=str(folder), made_for=contents.wish.label)
    machine = run_job(app.setup.detect())
    recommendation = app.bundles.recommend(folder, machine)
    environment = app.setup.environment_path(arguments.env, contents.goal)
    app.setup.check_folder(environment)
    return app.bundles.plan(folder, machine, recommendation, environment)


def _run_with_events(output: Output, start: Callable[[Callable[[Event], None]], object]) -> None:
    if output.json:
        start(output.write_event)
        return
    from .progress import StepProgressDisplay

    with StepProgressDisplay(output) as lines:
        start(lines.show_event)
