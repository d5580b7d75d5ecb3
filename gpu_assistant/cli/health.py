"""The command `health`: its options, and the test with its progress."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import CallError

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from .output import Output

LONGEST_LOAD_MIN = 7 * 24 * 60.0  # a week
MOST_TOLD = 3  # of what a verdict does not cover
LOADED = 3  # the level that keeps a card under load for as long as is asked


def options(command: argparse._ArgumentGroup, say: Callable[[str], str], device: Callable[[str], str]) -> None:
    """What can be typed after `health`; `device` is the parser's own check."""

    def one_device(text: str) -> str:
        """A benchmark's "cuda" is the largest card; a health test is of one that is named, or of all."""
        if (name := device(text)) == "cuda":
            raise argparse.ArgumentTypeError(say("range.device"))
        return name

    def minutes(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= LONGEST_LOAD_MIN:
            raise argparse.ArgumentTypeError(say("range.minutes"))
        return value

    command.add_argument("--level", type=int, choices=(1, 2, 3), default=1, help=say("opt.level"))
    command.add_argument("--minutes", type=minutes, metavar="M", help=say("opt.minutes"))
    command.add_argument("--device", metavar="cpu|cuda:N", type=one_device, help=say("opt.test-device"))


def health(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Test the cards; more thoroughly with each level."""
    from contextlib import closing

    from msgspec.structs import replace

    from ..health.headline import headline
    from . import folded, show
    from .jobs import run_job
    from .progress import HealthLine

    if arguments.minutes is not None and arguments.level != LOADED:
        raise CallError("health-minutes", level=arguments.level, loaded=LOADED)
    environment: Path | None = app.environment_path(arguments.env)
    if arguments.env is None and arguments.level == 1 and environment is not None and not environment.exists():
        environment = None  # there is none yet, and the driver can be asked without
    seconds = 60 * arguments.minutes if arguments.minutes else None
    with closing(app.sampler()) as sampler, HealthLine(output) as line:
        job = app.health(environment, sampler, level=arguments.level, device=arguments.device, load_seconds=seconds)
        found = run_job(job, on_news=line.news)
    if output.json:
        output.value(output.texts.checks(found))
    else:
        alike = replace(found, checks=folded.checks(found.checks, output.texts))
        scope = output.texts.scope(found, most=MOST_TOLD, more="health.more-json")
        show.checks(replace(output.texts.checks(alike), scope=scope), output, headline(found))
    return 1 if found.verdict == "fail" else 0
