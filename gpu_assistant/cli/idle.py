"""What was typed and would change nothing: it is refused, so that nobody believes that it did something."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError

if TYPE_CHECKING:
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
        raise _unused_option("--toolkit", reason if toolkit.action != "none" or reason == "toolkit-goal" else "toolkit-none", goal)
    if arguments.channel != DEFAULT_CHANNEL:
        if machine.os.system != "windows" and not machine.os.wsl:
            raise _unused_option("--channel", "channel-windows", goal)
        if not machine.gpus_of("nvidia"):
            raise _unused_option("--channel", "channel-nvidia", goal)


def _unused_option(option: str, reason: str, goal: str) -> UsageError:
    return UsageError("choice-idle", choice=option, why=f"@idle.{reason}", goal=goal)
