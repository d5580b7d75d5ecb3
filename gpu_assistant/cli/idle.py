"""What was typed and would change nothing: it is refused, so that nobody believes that it did something."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import CallError

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.recommendation import Recommendation

# What decides a plan: one that is there already has it in it.
WISHES = ("goal", "channel", "pytorch", "variant", "python", "toolkit", "wsl2", "environment")

USUAL = "studio"
# Those of them that have a value without being typed.
DEFAULTS = ("goal", "channel", "environment")


class Given(argparse.Action):
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


def refuse_beside(arguments: argparse.Namespace, word: str, others: Sequence[str]) -> None:
    """Raise CallError("choice-beside") for the first of the others that was typed beside a word ("--plan")."""
    said = vars(arguments)
    typed: set[str] = said.get("given", set())
    for other in others:
        if other in typed or (other not in DEFAULTS and said.get(other) is not None):
            raise CallError("choice-beside", option=word, choice=f"--{other.replace('_', '-')}")


def refuse_idle(arguments: argparse.Namespace, machine: Machine, recommendation: Recommendation) -> None:
    """Raise CallError("choice-idle") for a choice of which nothing came."""
    goal, flow, toolkit = recommendation.goal, recommendation.tensorflow, recommendation.cuda_toolkit
    for option in ("pytorch", "variant"):
        if goal == "tensorflow" and getattr(arguments, option, None) is not None:
            raise _idle(f"--{option}", "torch-goal", goal)
    if getattr(arguments, "wsl2", None) is not None and not (flow is not None and flow.wsl):
        why = "wsl-windows" if machine.os.system != "windows" else "wsl-goal"
        raise _idle("--wsl2", why, goal)
    if getattr(arguments, "toolkit", None) is not None and toolkit.action != "install":
        why = "toolkit-goal" if goal not in ("cuda-dev", "all") else "toolkit-here"
        raise _idle("--toolkit", why if toolkit.action != "none" or why == "toolkit-goal" else "toolkit-none", goal)
    if arguments.channel != USUAL:
        if machine.os.system != "windows" and not machine.os.wsl:
            raise _idle("--channel", "channel-windows", goal)
        if not machine.gpus_of("nvidia"):
            raise _idle("--channel", "channel-nvidia", goal)


def _idle(choice: str, why: str, goal: str) -> CallError:
    return CallError("choice-idle", choice=choice, why=f"@idle.{why}", goal=goal)
