"""`gpu-assistant health`: tests the GPUs in one of three levels, and shows the checks."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import UsageError
from .jobs import run_job
from .render import health as render
from .report import report_path, save_report

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from .output import Output


LOAD_TEST_LEVEL = 3  # the level whose duration --minutes sets
MAX_UNCOVERED_AREAS = 3  # how many areas that the test does not cover are named


def run_health(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Test the GPUs; returns 1 if a check fails."""
    from ..health.headline import select_headline
    from ..reports.health import render_html
    from .progress import HealthStatusLine

    if arguments.minutes is not None and arguments.level != LOAD_TEST_LEVEL:
        raise UsageError("health-minutes", loaded=LOAD_TEST_LEVEL)
    report = report_path(arguments)
    environment: Path | None = app.setup.environment_path(arguments.env)
    if arguments.env is None and arguments.level == 1 and environment is not None and not environment.exists():
        environment = None  # level 1 can do without one and query the driver only
    seconds = 60 * arguments.minutes if arguments.minutes else None
    with closing(app.monitoring.sampler()) as sampler, HealthStatusLine(output) as line:
        job = app.monitoring.health_test(
            environment, sampler, level=arguments.level, device=arguments.device, load_seconds=seconds
        )
        checks = run_job(job, on_event=line.show_progress)
    if output.json:
        output.write_json(output.texts.localize_checks(checks))
    else:
        folded_checks = replace(checks, checks=render.fold_checks(checks.checks, output.texts))
        scope = output.texts.scope_text(checks, max_items=MAX_UNCOVERED_AREAS)
        render.render_checks(
            replace(output.texts.localize_checks(folded_checks), scope=scope), output, select_headline(checks)
        )
    save_report(report, partial(render_html, checks, time.time()), output)
    return 1 if checks.verdict == "fail" else 0
