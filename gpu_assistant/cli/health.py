"""The command `health`: its options, and the test with its progress."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from .output import Output


MAX_LOAD_MINUTES = 7 * 24 * 60.0  # a week
MAX_UNCOVERED_AREAS = 3  # of what a verdict does not cover
LOAD_TEST_LEVEL = 3  # the level that keeps a card under load for as long as is asked


def add_health_options(
    command: argparse._ArgumentGroup, translate: Callable[[str], str], device: Callable[[str], str]
) -> None:
    """What can be typed after `health`; `device` is the parser's own check."""

    def single_device(text: str) -> str:
        """A benchmark's "cuda" is the largest card; a health test is of one that is named, or of all."""
        if (name := device(text)) == "cuda":
            raise argparse.ArgumentTypeError(translate("range.device"))
        return name

    def minutes(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= MAX_LOAD_MINUTES:
            raise argparse.ArgumentTypeError(translate("range.minutes"))
        return value

    command.add_argument("--level", type=int, choices=(1, 2, 3), default=1, help=translate("opt.level"))
    command.add_argument("--minutes", type=minutes, metavar="M", help=translate("opt.minutes"))
    command.add_argument("--device", metavar="cpu|cuda:N", type=single_device, help=translate("opt.test-device"))


def run_health_test(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Test the cards; more thoroughly with each level."""
    from contextlib import closing

    from msgspec.structs import replace

    from ..health.job import select_headline
    from .arguments import run_job
    from .progress import HealthStatusLine
    from .render import setup

    if arguments.minutes is not None and arguments.level != LOAD_TEST_LEVEL:
        raise UsageError("health-minutes", level=arguments.level, loaded=LOAD_TEST_LEVEL)
    environment: Path | None = app.setup.environment_path(arguments.env)
    if arguments.env is None and arguments.level == 1 and environment is not None and not environment.exists():
        environment = None  # there is none yet, and the driver can be asked without
    seconds = 60 * arguments.minutes if arguments.minutes else None
    with closing(app.monitoring.sampler()) as sampler, HealthStatusLine(output) as line:
        job = app.monitoring.health_test(
            environment, sampler, level=arguments.level, device=arguments.device, load_seconds=seconds
        )
        checks = run_job(job, on_event=line.show_progress)
    if output.json:
        output.write_json(output.texts.localize_checks(checks))
    else:
        folded_checks = replace(checks, checks=setup.fold_checks(checks.checks, output.texts))
        scope = output.texts.scope_text(checks, max_items=MAX_UNCOVERED_AREAS, more_code="health.more-json")
        setup.render_checks(
            replace(output.texts.localize_checks(folded_checks), scope=scope), output, select_headline(checks)
        )
    return 1 if checks.verdict == "fail" else 0
