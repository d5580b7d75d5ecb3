"""What typed arguments mean for several commands: choices for a plan, files to write to.

Options without an effect are refused, so that nobody believes they had one. A file is written only into an existing
folder, and replaces nothing but an empty file or one of the same kind.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..core import filesystem, json
from ..core.errors import UsageError
from ..core.paths import normalize_path
from ..core.recommendation import Choice
from .jobs import run_job

if TYPE_CHECKING:
    from ..app import App
    from ..core.machine import Machine
    from ..core.recommendation import Recommendation


# The options that decide a plan; a plan from a file or a bundle has them already.
PLAN_OPTIONS = ("goal", "channel", "pytorch", "variant", "python", "toolkit", "wsl2", "way", "environment")
# Those of them with a default (`parser.StoreExplicit` notes whether they were typed).
OPTIONS_WITH_DEFAULT = ("goal", "channel", "environment")
DEFAULT_CHANNEL = "studio"


def choice_from_arguments(arguments: argparse.Namespace) -> Choice | None:
    """The versions chosen by hand; None without any."""
    choice = Choice(
        pytorch=arguments.pytorch,
        variant=arguments.variant,
        python=arguments.python,
        toolkit_way=arguments.toolkit,
        wsl=arguments.wsl2,
        way=arguments.way,
    )
    return None if choice == Choice() else choice


def detect_and_recommend(app: App, arguments: argparse.Namespace) -> tuple[Machine, Recommendation]:
    """This machine and its recommendation. Raises UsageError for a choice that is impossible or has no effect."""
    machine = run_job(app.setup.detect())
    choice = choice_from_arguments(arguments)
    recommendation = app.setup.recommend(machine, goal=arguments.goal, channel=arguments.channel, choice=choice)
    reject_unused_options(arguments, machine, recommendation)
    return machine, recommendation


def reject_conflicting_options(arguments: argparse.Namespace, option: str, conflicting: Sequence[str]) -> None:
    """Raise UsageError("choice-beside") for the first conflicting option that was typed beside `option` ("--plan")."""
    values = vars(arguments)
    explicit: set[str] = values.get("given", set())
    for name in conflicting:
        if name in explicit or (name not in OPTIONS_WITH_DEFAULT and values.get(name) is not None):
            raise UsageError("choice-beside", option=option, choice=f"--{name.replace('_', '-')}")


def reject_unused_options(arguments: argparse.Namespace, machine: Machine, recommendation: Recommendation) -> None:
    """Raise UsageError("choice-idle") for a choice that has no effect on the recommendation."""
    goal, tensorflow, toolkit = recommendation.goal, recommendation.tensorflow, recommendation.cuda_toolkit
    for option in ("pytorch", "variant"):
        if goal == "tensorflow" and getattr(arguments, option, None) is not None:
            raise _unused_option(f"--{option}", "torch-goal", goal)
    if getattr(arguments, "wsl2", None) is not None and not (tensorflow is not None and tensorflow.wsl):
        reason = "wsl-windows" if machine.os.system != "windows" else "wsl-goal"
        raise _unused_option("--wsl2", reason, goal)
    if getattr(arguments, "toolkit", None) is not None and toolkit.action != "install":
        reason = "toolkit-goal" if goal not in ("cuda-dev", "all") else "toolkit-here"
        raise _unused_option(
            "--toolkit", reason if toolkit.action != "none" or reason == "toolkit-goal" else "toolkit-none", goal
        )
    if getattr(arguments, "way", None) is not None and not recommendation.ways:
        raise _unused_option("--way", "way-single", goal)
    if arguments.channel != DEFAULT_CHANNEL:
        if machine.os.system != "windows" and not machine.os.wsl:
            raise _unused_option("--channel", "channel-windows", goal)
        if not machine.gpus_of("nvidia"):
            raise _unused_option("--channel", "channel-nvidia", goal)


def _unused_option(option: str, reason: str, goal: str) -> UsageError:
    return UsageError("choice-idle", choice=option, why=f"@idle.{reason}", goal=goal)


def require_parent_folder(path: Path) -> None:
    """Raise UsageError("no-folder") if the parent folder does not exist: a mistyped one must not be created."""
    if not path.parent.is_dir():
        raise UsageError("no-folder", path=str(path.parent))


def output_path(typed_path: str) -> Path:
    """The absolute path of a file to write to; raises UsageError("file-is-folder") or ("no-folder")."""
    path = normalize_path(typed_path)
    if path.is_dir():
        raise UsageError("file-is-folder", path=str(path))
    require_parent_folder(path)
    return path


def new_file_path(typed_path: str, may_replace: Callable[[bytes], bool] = lambda _data: False) -> Path:
    """The path of a file that does not exist, is empty, or has a content that `may_replace` allows to replace.

    Raises what `output_path` raises, and UsageError("file-exists").
    """
    path = output_path(typed_path)
    if os.path.lexists(path) and not _is_replaceable(path, may_replace):
        raise UsageError("file-exists", path=str(path))
    return path


def is_plan(data: bytes) -> bool:
    """Whether a file's content is a plan, of whatever version."""
    try:
        document = json.decode(data, dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return str(document.get("schema")).startswith("gpu-assistant/plan/")


def is_exported_lockfile(data: bytes) -> bool:
    """Whether a file's content is a lock file that this program exported, not one of the user's own projects."""
    from ..install.environment.integrations import LOCK_COMMENT

    return data.startswith(LOCK_COMMENT)


def _is_replaceable(path: Path, may_replace: Callable[[bytes], bool]) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            data = filesystem.read_up_to(file, json.MAX_FILE_BYTES + 1)
    except OSError:
        return False
    return not data or (len(data) <= json.MAX_FILE_BYTES and may_replace(data))
