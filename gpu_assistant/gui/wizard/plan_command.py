"""The command line that does the same as the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from ...core import paths
from ...core.recommendation import Choice
from .facts import WizardState

if TYPE_CHECKING:
    from ...app import App

# The parts of a choice that `install` takes; what else is chosen by hand travels in a saved plan.
# What the command line has an option for.
COMMAND_OPTIONS = {
    "pytorch": "--pytorch",
    "variant": "--variant",
    "python": "--python",
    "toolkit_way": "--toolkit",
    "wsl": "--wsl2",
}
PLAN_FILE_NAME = "gpu-assistant-plan.json"


def install_command(app: App, state: WizardState) -> tuple[str, ...]:
    """What `gpu-assistant` is told to install just this choice, here; of a simulated machine it only shows it, as the
    window does.
    """
    choice = state.choice or Choice()
    chosen_versions = {name: value for name, value in asdict(choice).items() if value is not None}
    arguments = ["gpu-assistant", "install"]
    if state.bundle is not None:
        arguments += ["--bundle", state.bundle]
        arguments += ["--env", state.environment] if state.environment is not None else []
    elif not chosen_versions.keys() <= COMMAND_OPTIONS.keys():
        arguments += ["--plan", PLAN_FILE_NAME]
    else:
        arguments += ["--goal", state.goal]
        arguments += ["--channel", state.channel] if state.channel != "studio" else []
        for name, value in chosen_versions.items():
            arguments += [COMMAND_OPTIONS[name], value]
        arguments += ["--environment", state.environment_kind] if state.environment_kind != "venv" else []
        arguments += ["--env", state.environment] if state.environment is not None else []
    if app.machine_file is not None:
        arguments += ["--machine", app.machine_file]
    if app.wheelhouse is not None:
        arguments += ["--wheelhouse", str(app.wheelhouse)]
    if app.data.root != paths.data_dir(None, {}).root:
        arguments += ["--data-dir", str(app.data.root)]
    return tuple(arguments)


def needs_plan_file(arguments: Sequence[str]) -> bool:
    """Whether the plan has to be saved before the command can be typed."""
    return "--plan" in arguments
