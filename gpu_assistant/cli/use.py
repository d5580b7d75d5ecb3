"""`gpu-assistant use`: how an environment is used, and what other programs are told of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.paths import plain
from .jobs import run_job
from .output import Output
from .targets import is_lock, vacant

if TYPE_CHECKING:
    from ..app import App


def options(command: argparse._ArgumentGroup, say: Callable[[str], str], path: Callable[[str], str]) -> None:
    """What can be typed after `use`; `path` is the parser's own check."""
    command.add_argument("--menu", action="store_true", help=say("opt.menu"))
    command.add_argument("--kernel", action="store_true", help=say("opt.kernel"))
    command.add_argument("--editor", metavar="FOLDER", type=path, help=say("opt.editor"))
    command.add_argument("--lock", metavar="FILE", type=path, help=say("opt.lock"))


def use(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Do what was asked for, in the order of the options; then, or with none, say how the environment is used."""
    environment = app.environment_path(arguments.env)
    ways = app.ways(environment)
    target = vacant(arguments.lock, is_lock) if arguments.lock else None
    made: dict[str, str] = {}
    if arguments.menu:
        made["menu"] = str(run_job(app.menu_entry(environment)))
    if arguments.kernel:
        made["kernel"] = str(run_job(app.kernel(environment)))
    if arguments.editor:
        made["editor"] = str(run_job(app.open_in_editor(environment, plain(arguments.editor))))
    if target is not None:
        app.share_lock(environment, target)
        made["lock"] = str(target)
    if output.json:
        found: dict[str, Any] = {
            "schema": "gpu-assistant/use/1",
            "env": str(environment),
            "python": str(ways.python),
            "activation": ways.activation,
            "editor": str(ways.editor) if ways.editor is not None else None,
            "kernel": ways.kernel,
            "lock": str(ways.lock),
            "made": made,
        }
        output.value(found)
        return 0
    for name, path in made.items():
        output.line(output.say(f"use-made.{name}", path=path))
    if not made:
        # On a line of its own, for who copies the whole line.
        output.line(output.say("use.activation"))
        output.line(ways.activation)
        output.table([(output.say(f"use.{name}"), str(getattr(ways, name))) for name in ("python", "lock")])
    return 0
