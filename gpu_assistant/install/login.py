"""Going on by itself after a restart: one command at the next login, which the next start takes away again."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..core import paths
from ..core.errors import AppError
from ..core.paths import DataDir
from ..system.base import System
from .effects import LoginSet
from .journal import Journal
from .ledger import look, standing
from .place import Place

KIND = "at-login"
WINDOW_PROGRAM = "GPU Assistant"  # as installers/windows builds it, beside the console's program


def go_on_after_login(words: Sequence[str], place: Place, book: Journal) -> str:
    """Have the command run after the next login; gives the code for what the user is told.

    "restart-by-hand" where there is no command, or no way to have it run.
    """
    if not words:
        return "restart-by-hand"
    try:
        with book.effect(KIND, LoginSet(words=tuple(words))):
            place.system.at_login.set(words)
    except AppError as error:
        place.reporter.log(f"{error.code}: {error.data}")
        return "restart-by-hand"
    return "restart-needed"


def clear_login(place: Place, book: Journal) -> None:
    """Take it away where it is ours; raises AppError."""
    for each in standing(place.data):
        if isinstance(each.effect, LoginSet):
            book.undoes(each.run, each.n)
            ours = look(each, place) == "made"
            if ours:
                place.system.at_login.clear()
            book.undid(each.run, each.n, None if ours else "changed")


def resume_words(data: DataDir, system: System, *, window: bool) -> tuple[str, ...]:
    """How this very copy of the program goes on after a restart, from the same data folder."""
    home = paths.installed_home()
    if home is None:
        start = [sys.executable, "-m", "gpu_assistant"]
    else:
        name = WINDOW_PROGRAM if window and system.name == "windows" else "gpu-assistant"
        start = [str(home / system.executable(name))]
    more = [] if data.root == paths.data_dir(None, {}).root else ["--data-dir", str(data.root)]
    return (*start, *more, "--resume") if window else (*start, "install", "--resume", "--yes", *more)
