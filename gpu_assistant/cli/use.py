"""`gpu-assistant use`: how an environment is used, and its entries in the menu, Jupyter and the editor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.paths import normalize_path
from .arguments import is_exported_lockfile, new_file_path
from .jobs import run_job
from .output import Output
from .progress import StepProgressDisplay

if TYPE_CHECKING:
    from ..app import App
    from ..core.types import Addition
    from ..examples.programs import ExampleName

FIRST_PROGRAM: ExampleName = "first-program"


def run_use(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Do what the options request, in their order; without any, describe how the environment is used."""
    environment = app.setup.environment_path(arguments.env)
    actions = app.integrations.actions(environment)
    lockfile = new_file_path(arguments.lock, is_exported_lockfile) if arguments.lock else None
    created: dict[str, str] = {}
    if arguments.menu:
        created["menu"] = str(run_job(app.integrations.create_menu_entry(environment)))
    if arguments.remove_added:
        removed = run_job(app.integrations.remove_added_packages(environment))
        created["removed"] = ", ".join(removed) or output.translate("use.none")
    if arguments.add is not None:
        created["added"] = ", ".join(_add(app, environment, arguments.add, output)) or output.translate("use.none")
    if arguments.kernel and not actions.has_kernel:
        _add(app, environment, "kernel", output)
    if arguments.jupyter:
        created["jupyter"] = str(_open_in_jupyter(app, environment, output))
    if arguments.kernel:
        created["kernel"] = str(run_job(app.integrations.register_kernel(environment)))
    if arguments.editor:
        created["editor"] = str(run_job(app.integrations.open_in_editor(environment, normalize_path(arguments.editor))))
    if lockfile is not None:
        app.integrations.export_lockfile(environment, lockfile)
        created["lock"] = str(lockfile)
    if output.json:
        document: dict[str, Any] = {
            "schema": "gpu-assistant/use/1",
            "env": str(environment),
            "python": str(actions.python),
            "activation": actions.activation,
            "editor": str(actions.editor) if actions.editor is not None else None,
            "kernel": actions.has_kernel,
            "lock": str(actions.lock),
            "made": created,
        }
        output.write_json(document)
        return 0
    for name, path in created.items():
        output.write_line(output.translate(f"use-made.{name}", path=path))
    if not created:
        # The command has a line of its own, so that the whole line can be copied.
        output.write_line(output.translate("use.activation"))
        output.write_line(actions.activation)
        output.write_table(
            [(output.translate(f"use.{name}"), str(getattr(actions, name))) for name in ("python", "lock")]
        )
    return 0


def _add(app: App, environment: Path, addition: Addition, output: Output) -> tuple[str, ...]:
    """Put packages into the environment; returns what was added, as "name==version"."""
    with StepProgressDisplay(output) as display:
        return run_job(app.integrations.add_packages(environment, addition), on_event=display.show_event)


def _open_in_jupyter(app: App, environment: Path, output: Output) -> Path:
    """Open the first program as a notebook of the present folder."""
    notebook = app.integrations.program_notebook(environment, FIRST_PROGRAM, output.texts.language)
    with StepProgressDisplay(output) as display:
        return run_job(app.integrations.open_in_jupyter(environment, Path.cwd(), notebook), on_event=display.show_event)
