"""`gpu-assistant bundle create|check DIR`: a folder with all files for a computer without internet."""

from __future__ import annotations

import argparse
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
)
from .jobs import run_job, run_with_events
from .output import Output
from .render import setup

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from ..core.plan import Plan


def run_bundle(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Create a bundle, or verify all of its files."""
    folder = normalize_path(arguments.folder)
    if arguments.action == "check":
        reject_conflicting_options(arguments, "bundle check", (*PLAN_OPTIONS, "machine", "mirrors", "limit_rate"))
        if arguments.dry_run:
            raise UsageError("choice-beside", option="bundle check", choice="--dry-run")
        run_with_events(app.bundles.check(folder), output)
        return 0
    require_parent_folder(folder)
    if arguments.environment == "conda":
        raise UsageError("conda-needs-network", path=str(folder))
    machine, recommendation = detect_and_recommend(app, arguments)
    choice = choice_from_arguments(arguments)
    job = app.bundles.create(machine, recommendation, folder, channel=arguments.channel, choice=choice)
    if arguments.dry_run:
        job.preview(JobContext(report=output.write_event if output.json else None))  # raises what the job would raise
        if not output.json:
            setup.render_bundle_plan(job, output)
            output.write_line(output.translate("dry-run"))
        return 0
    contents = run_with_events(job, output, cancel_code="cancelled")
    if not output.json:
        output.write_line(
            output.translate("bundle-made", path=str(folder), release=contents.request.label, bytes=contents.bytes)
        )
        setup.render_left_out(contents.excluded_codes, output)
    return 0


def plan_from_bundle(app: App, arguments: argparse.Namespace, folder: Path) -> Plan:
    """The plan for this computer that takes all files from a bundle; raises UsageError for conflicting options."""
    if arguments.resume:
        raise UsageError("choice-beside", option="--bundle", choice="--resume")
    reject_conflicting_options(
        arguments,
        "--bundle",
        ("plan", *(name for name in PLAN_OPTIONS if name != "goal"), "wheelhouse", "mirrors", "limit_rate"),
    )
    contents = app.bundles.read(folder)
    if arguments.goal not in (contents.goal, "pytorch"):
        raise UsageError("bundle-other-wish", path=str(folder), made_for=contents.request.label)
    machine = run_job(app.setup.detect())
    recommendation = app.bundles.recommend(folder, machine)
    environment = app.setup.environment_path(arguments.env, contents.goal)
    app.setup.check_folder(environment)
    return app.bundles.plan(folder, machine, recommendation, environment)
