"""The command line that does the same as the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from ...core import paths
from ...core.recommendation import Choice
from .facts import Facts

if TYPE_CHECKING:
    from ...app import App

# The parts of a choice that `install` takes; what else is chosen by hand travels in a saved plan.
# What the command line has an option for.
OPTIONS = {
    "pytorch": "--pytorch",
    "variant": "--variant",
    "python": "--python",
    "toolkit_way": "--toolkit",
    "wsl": "--wsl2",
}
PLAN_NAME = "gpu-assistant-plan.json"


def install_words(app: App, facts: Facts) -> tuple[str, ...]:
    """What `gpu-assistant` is told to install just this choice, here; of a simulated machine it only shows it, as the
    window does.
    """
    choice = facts.choice or Choice()
    chosen = {name: value for name, value in asdict(choice).items() if value is not None}
    words = ["gpu-assistant", "install"]
    if facts.bundle is not None:
        words += ["--bundle", facts.bundle]
        words += ["--env", facts.environment] if facts.environment is not None else []
    elif not chosen.keys() <= OPTIONS.keys():
        words += ["--plan", PLAN_NAME]
    else:
        words += ["--goal", facts.goal]
        words += ["--channel", facts.channel] if facts.channel != "studio" else []
        for name, value in chosen.items():
            words += [OPTIONS[name], value]
        words += ["--environment", facts.made_by] if facts.made_by != "venv" else []
        words += ["--env", facts.environment] if facts.environment is not None else []
    if app.machine_file is not None:
        words += ["--machine", app.machine_file]
    if app.wheelhouse is not None:
        words += ["--wheelhouse", str(app.wheelhouse)]
    if app.data.root != paths.data_dir(None, {}).root:
        words += ["--data-dir", str(app.data.root)]
    return tuple(words)


def needs_file(words: Sequence[str]) -> bool:
    """Whether the plan has to be saved before the command can be typed."""
    return "--plan" in words
