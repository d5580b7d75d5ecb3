"""What every kind of step is: one object that plans it, checks it, does it and takes it back."""

from __future__ import annotations

import re
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

import msgspec

from ...core import json
from ...core.errors import UsageError
from ...core.json import describe_fault
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..host import Host, ValidationContext
from ..journal import revert as journal_revert
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from .context import DownloadContext, InstallContext, Outcome
from .plan_builder import PlanBuilder

SpecT = TypeVar("SpecT")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Letters of a rejected value that an error shows.
LONGEST_DETAIL = 120


class StepKind:
    """One kind of step; the registry in `steps/__init__.py` holds one object of each.

    `provides` is the kind that other steps need its steps as, where that is not its own name.
    """

    name: ClassVar[str]
    provides: ClassVar[str | None] = None
    # The system's own installer does it: what it takes of the disk and of time is unknown.
    external_installer: ClassVar[bool] = False

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """The steps of this kind that a recommendation asks for; raises AppError, CallError."""
        raise NotImplementedError

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """Every file that `run` would fetch, for whatever computer; raises what fetching an index raises."""
        folder = context.data.files
        return tuple(DownloadRequest(file=f.remote, path=folder / f.name) for f in step.files)

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002 - the shape of all kinds
        """What of it is there before the run, told in a plan; a quick look that changes nothing. Raises AppError."""
        return None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002 - the shape of all kinds
        """Where there is nothing left to do, how it stands; None where `run` is needed. Changes nothing."""
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Do it; raises AppError. RightsRefused leaves out this step and those that need it, and nothing else."""
        raise NotImplementedError

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """What the world shows of an effect that a step of this kind said it would make."""
        return journal_revert.effect_state(effect, host)

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Take it back; what of it stays is said, None for nothing. May be called again after a kill."""
        return journal_revert.revert(effect, host)

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """What a removal says of a program that stays in the system, put there by `step` (None: nobody knows it any
        more): the texts' key and figures.
        """
        raise NotImplementedError


def check_file(file: PlanFile) -> None:
    """A file to fetch: a plain name, a hash, and an address that cannot be tampered with on the way."""
    try:
        parts = urlsplit(file.url)
    except ValueError:
        raise refused(f"file: {file.name} {file.url}", part="files") from None
    safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+%-]*", file.name) is not None
    if not safe or not plain or file.sha256 is None or _SHA256.match(file.sha256) is None:
        raise refused(f"file: {file.name} {file.url}", part="files")


def refused(detail: str, *, part: str = "step") -> UsageError:
    """The error for a plan with something in it that we do not make: `part` is a text's code, "plan.part.…", and
    `detail` the field for who looks into the file.
    """
    return UsageError("plan-refused", part=f"@plan.part.{part}", detail=detail[:LONGEST_DETAIL])


def parse_spec(step: Step, shape: type[SpecT]) -> SpecT:
    """A step's `spec` in its kind's own strict shape; raises CallError("plan-refused")."""
    try:
        return json.convert(step.spec, shape)
    except msgspec.ValidationError as error:
        raise refused(f"{step.id}: spec.{describe_fault(error)[1].removeprefix('@file.whole')}".rstrip(".")) from error
