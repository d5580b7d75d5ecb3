"""Going on by itself after a restart: one command at the next login, which the next start takes away again."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..core import paths
from ..core.errors import AppError
from ..core.paths import DataDir
from ..system.base import System
from .effects import LoginCommandSet
from .journal import Journal
from .ledger import observe_state, active_effects
from .place import Host

LOGIN_EFFECT_KIND = "at-login"
GUI_PROGRAM = "GPU Assistant"  # as installers/windows builds it, beside the console's program


def resume_at_login(command: Sequence[str], host: Host, journal: Journal) -> str:
    """Have the command run after the next login; gives the code for what the user is told.

    "restart-by-hand" where there is no command, or no way to have it run.
    """
    if not command:
        return "restart-by-hand"
    try:
        with journal.effect(LOGIN_EFFECT_KIND, LoginCommandSet(words=tuple(command))):
            host.system.login_command.set(command)
    except AppError as error:
        host.reporter.log(f"{error.code}: {error.data}")
        return "restart-by-hand"
    return "restart-needed"


def clear_login_command(host: Host, journal: Journal) -> None:
    """Take it away where it is ours; raises AppError."""
    for active in active_effects(host.data):
        if isinstance(active.effect, LoginCommandSet):
            journal.start_undo(active.run, active.number)
            is_applied = observe_state(active, host) == "made"
            if is_applied:
                host.system.login_command.clear()
            journal.finish_undo(active.run, active.number, None if is_applied else "changed")


def resume_command(data: DataDir, system: System, *, gui: bool) -> tuple[str, ...]:
    """How this very copy of the program goes on after a restart, from the same data folder."""
    home = paths.install_dir()
    if home is None:
        program = [sys.executable, "-m", "gpu_assistant"]
    else:
        name = GUI_PROGRAM if gui and system.name == "windows" else "gpu-assistant"
        program = [str(home / system.executable(name))]
    options = [] if data.root == paths.data_dir(None, {}).root else ["--data-dir", str(data.root)]
    return (*program, *options, "--resume") if gui else (*program, "install", "--resume", "--yes", *options)
