"""`gpu-assistant bundle create|check DIR`: a folder with all files for a computer without internet."""

from __future__ import annotations

import argparse
import getpass
import sys
from functools import partial
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
    from ..core.recommendation import Recommendation
    from ..install.bundle.missing_driver import MissingDriver
    from ..install.jobs.create_bundle import CreateBundleJob

# What proves who made a bundle.
ORIGIN_OPTIONS = ("expect", "public_key")


def run_bundle(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Create a bundle, or verify all of its files."""
    folder = normalize_path(arguments.folder)
    if arguments.action == "check":
        reject_conflicting_options(arguments, "bundle check", (*PLAN_OPTIONS, "machine", "mirrors", "limit_rate"))
        for name in ("dry_run", "sign"):
            if getattr(arguments, name):
                raise UsageError("choice-beside", option="bundle check", choice=f"--{name.replace('_', '-')}")
        app.bundles.check_origin(folder, sha256=arguments.expect, public_key=arguments.public_key)
        run_with_events(app.bundles.check(folder), output)
        return 0
    reject_conflicting_options(arguments, "bundle create", ORIGIN_OPTIONS)
    require_parent_folder(folder)
    if arguments.environment == "conda":
        raise UsageError("conda-needs-network", path=str(folder))
    machine, recommendation = detect_and_recommend(app, arguments)
    choice = choice_from_arguments(arguments)
    signing_key = None
    if arguments.sign is not None:
        key_path = normalize_path(arguments.sign)
        signing_key = app.bundles.read_signing_key(key_path, partial(_ask_password, key_path, output))
    if app.may_ask_sources:
        found = run_job(
            app.bundles.available_setup(machine, goal=arguments.goal, channel=arguments.channel, choice=choice)
        )
        recommendation = found.recommendation
        if not arguments.dry_run and (error := app.setup.availability_error(found.plan)) is not None:
            raise error
        if not output.json:
            setup.render_source_notices(output.texts.localize_plan(found.plan), output.write_note)
    job = app.bundles.create(
        machine, recommendation, folder, channel=arguments.channel, choice=choice, signing_key=signing_key
    )
    if arguments.dry_run:
        job.preview(JobContext(report=output.write_event if output.json else None))  # raises what the job would raise
        if not output.json:
            setup.render_bundle_plan(job, output)
            setup.render_missing_driver(_missing_driver(app, job, recommendation), output)
            output.write_line(output.translate("dry-run"))
        return 0
    contents = run_with_events(job, output, cancel_code="cancelled")
    if not output.json:
        output.write_line(
            output.translate("bundle-made", path=str(folder), release=contents.request.label, bytes=contents.bytes)
        )
        setup.render_left_out(contents.excluded_codes, output)
        setup.render_missing_driver(_missing_driver(app, job, recommendation), output)
    return 0


def _missing_driver(app: App, job: CreateBundleJob, recommendation: Recommendation) -> MissingDriver | None:
    from ..install.bundle.missing_driver import find_missing_driver

    return find_missing_driver(
        recommendation, job.plan, app.catalog, excluded_codes=job.excluded_codes, system=job.platform.system
    )


def _ask_password(path: Path, output: Output) -> str:
    """The password of a signing key, from the terminal; raises UsageError("signing-locked") without one."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("signing-locked", path=str(path))
    return getpass.getpass(output.translate("signing-password", path=str(path)) + " ")


def plan_from_bundle(app: App, arguments: argparse.Namespace, folder: Path) -> Plan:
    """The plan for this computer that takes all files from a bundle; raises UsageError for conflicting options."""
    if arguments.resume:
        raise UsageError("choice-beside", option="--bundle", choice="--resume")
    reject_conflicting_options(
        arguments,
        "--bundle",
        ("plan", *(name for name in PLAN_OPTIONS if name != "goal"), "wheelhouse", "mirrors", "limit_rate"),
    )
    sha256 = app.bundles.check_origin(folder, sha256=arguments.expect, public_key=arguments.public_key)
    contents = app.bundles.read(folder)
    if arguments.goal not in (contents.goal, "pytorch"):
        raise UsageError("bundle-other-wish", path=str(folder), made_for=contents.request.label)
    machine = run_job(app.setup.detect())
    recommendation = app.bundles.recommend(folder, machine)
    environment = app.setup.environment_path(arguments.env, contents.goal)
    app.setup.check_folder(environment)
    return app.bundles.plan(folder, machine, recommendation, environment, sha256=sha256)
