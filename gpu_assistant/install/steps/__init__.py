"""What each kind of step does, one file for each kind."""

from __future__ import annotations

from collections.abc import Callable

from ...core.plan import Step, StepKind
from ..work import Outcome, Work
from . import check_space, download, python_packages, python_runtime, resolve, verify

KINDS: dict[StepKind, Callable[[Step, Work], Outcome]] = {
    "check-space": check_space.run,
    "python-runtime": python_runtime.run,
    "resolve": resolve.run,
    "download": download.run,
    "python-packages": python_packages.run,
    "verify": verify.run,
}
