"""What was typed and would change nothing: it is refused, so that nobody believes that it did something.

Runs a job for the command line: Ctrl+C and SIGTERM ask it to stop, and wait until it has.

What was picked on the command line, and what is recommended then; the same for every command that plans.

Where a command is told to write: in a folder that is there, and never over a file that is not of the same kind.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..core import json
from ..core.errors import Cancelled, UsageError
from ..core.jobs import Job, JobContext
from ..core.paths import normalize_path
from ..core.recommendation import Choice

if TYPE_CHECKING:
    from ..app import App
    from ..core.machine import Machine
    from ..core.recommendation import Recommendation


# What decides a plan: one that is there already has it in it.
PLAN_OPTIONS = ("goal", "channel", "pytorch", "variant", "python", "toolkit", "wsl2", "environment")

DEFAULT_CHANNEL = "studio"
# Those of them that have a value without being typed.
OPTIONS_WITH_DEFAULT = ("goal", "channel", "environment")


class StoreExplicit(argparse.Action):
    """Stores a value as usual, and that it was typed: a default looks the same."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        """As argparse calls it for each option."""
        setattr(namespace, self.dest, values)
        namespace.given = {*getattr(namespace, "given", ()), self.dest}


def reject_conflicting_options(arguments: argparse.Namespace, option: str, conflicting: Sequence[str]) -> None:
    """Raise CallError("choice-beside") for the first of the others that was typed beside a word ("--plan")."""
    values = vars(arguments)
    explicit: set[str] = values.get("given", set())
    for name in conflicting:
        if name in explicit or (name not in OPTIONS_WITH_DEFAULT and values.get(name) is not None):
            raise UsageError("choice-beside", option=option, choice=f"--{name.replace('_', '-')}")


def reject_unused_options(arguments: argparse.Namespace, machine: Machine, recommendation: Recommendation) -> None:
    """Raise CallError("choice-idle") for a choice of which nothing came."""
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
    if arguments.channel != DEFAULT_CHANNEL:
        if machine.os.system != "windows" and not machine.os.wsl:
            raise _unused_option("--channel", "channel-windows", goal)
        if not machine.gpus_of("nvidia"):
            raise _unused_option("--channel", "channel-nvidia", goal)


def _unused_option(option: str, reason: str, goal: str) -> UsageError:
    return UsageError("choice-idle", choice=option, why=f"@idle.{reason}", goal=goal)


Result = TypeVar("Result")


def run_job(
    job: Job[Result],
    *,
    on_event: Callable[[Any], None] | None = None,
    cancel_code: str = "stopped",
) -> Result:
    """Run on this thread; raises what the job raises, `Cancelled(stopped)` after Ctrl+C."""
    with cancel_on_signal() as cancel:
        try:
            return job.run(JobContext(report=on_event, cancel=cancel))
        except Cancelled as error:
            if error.code != "cancelled":
                raise  # it says more than we know here
            raise Cancelled(cancel_code) from error


@contextmanager
def cancel_on_signal() -> Iterator[threading.Event]:
    """An event that is set by Ctrl+C or SIGTERM while the context lasts."""
    cancel = threading.Event()

    def handle_signal(_number: int, _frame: FrameType | None) -> None:
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    previous_handlers = {
        signal_number: signal.signal(signal_number, handle_signal) for signal_number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield cancel
    finally:
        for signal_number, handler in previous_handlers.items():
            signal.signal(signal_number, handler)


def choice_from_arguments(arguments: argparse.Namespace) -> Choice | None:
    """What was picked by hand; None for nothing."""
    choice = Choice(
        pytorch=arguments.pytorch,
        variant=arguments.variant,
        python=arguments.python,
        toolkit_way=arguments.toolkit,
        wsl=arguments.wsl2,
    )
    return None if choice == Choice() else choice


def detect_and_recommend(app: App, arguments: argparse.Namespace) -> tuple[Machine, Recommendation]:
    """The machine, and what suits it; raises CallError for a choice that cannot work or of which nothing comes."""
    machine = run_job(app.setup.detect())
    choice = choice_from_arguments(arguments)
    recommendation = app.setup.recommend(machine, goal=arguments.goal, channel=arguments.channel, choice=choice)
    reject_unused_options(arguments, machine, recommendation)
    return machine, recommendation


def output_path(typed_path: str) -> Path:
    """The file that was named; raises CallError("file-is-folder") or ("no-folder"): one that was mistyped is not made,
    for the file would lie where nobody looks for it.
    """
    path = normalize_path(typed_path)
    if path.is_dir():
        raise UsageError("file-is-folder", path=str(path))
    require_parent_folder(path)
    return path


def require_parent_folder(path: Path) -> None:
    """Raise CallError("no-folder") where the folder above is none."""
    if not path.parent.is_dir():
        raise UsageError("no-folder", path=str(path.parent))


def new_file_path(typed_path: str, may_replace: Callable[[bytes], bool] = lambda _data: False) -> Path:
    """The file that was named, which is not there, is empty, or is an earlier one by `ours`; raises what `placed`
    does, and CallError("file-exists").
    """
    path = output_path(typed_path)
    if os.path.lexists(path) and not _replaceable(path, may_replace):
        raise UsageError("file-exists", path=str(path))
    return path


def is_plan(data: bytes) -> bool:
    """Whether a file's content is a plan, be it another version's."""
    try:
        document = json.decode(data, dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return str(document.get("schema")).startswith("gpu-assistant/plan/")


def is_exported_lockfile(data: bytes) -> bool:
    """Whether a file's content is a lock that we wrote: that of another project is somebody's work."""
    from ..install.environment.integrations import LOCK_COMMENT

    return data.startswith(LOCK_COMMENT)


def _replaceable(path: Path, may_replace: Callable[[bytes], bool]) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            data = file.read(json.MAX_FILE_BYTES + 1)
    except OSError:
        return False
    return not data or (len(data) <= json.MAX_FILE_BYTES and may_replace(data))
