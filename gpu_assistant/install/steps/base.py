"""`StepKind`, the base of all kinds of steps: one object plans, runs and reverts the steps of its kind.

    plan/planner.py make_plan ─► plan(builder) ─► Step              what the user reads and agrees to
                    preview   ─► inspect(step) ─► Step.now           what is there already
    jobs/install.py           ─► is_satisfied(step, context)        nothing to do, or
                              ─► run(step, context)                 ─► Outcome, its `produces` for later steps
                                   └─ with context.effect(step, …): every change goes through the journal
    jobs/create_bundle.py     ─► downloads(step, context)            the files that `run` would fetch
    journal/recovery.py       ─► effect_state(effect, host)          what became of an effect
    jobs/uninstall.py         ─► revert(effect, host), uninstall_notice(effect, step)

`kinds.py` holds one object of each kind. A step is decided by its `spec`, parsed by `parse_spec` into the kind's own
strict struct, and its `files`; `code` and `data` are for texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

import msgspec

from ...core import json
from ...core.errors import UsageError
from ...core.files import is_plain_authority
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..elevation.client import ElevationClient
from ..host import Host, PreviewContext
from ..journal import revert as journal_revert
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from .context import DownloadContext, ElevationContext, InstallContext, Outcome, RemovalContext
from .plan_builder import PlanBuilder

SpecT = TypeVar("SpecT")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+%-]*\Z")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_DETAIL_LENGTH = 120  # characters of a rejected value that an error shows


class StepKind:
    """One kind of step.

    `provides` is the kind that other steps need its steps as, if it is not its own name. `external_installer`: the
    system's or a publisher's installer does the work, so disk space and duration are unknown.
    """

    name: ClassVar[str]
    provides: ClassVar[str | None] = None
    external_installer: ClassVar[bool] = False

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """The steps of this kind that a recommendation needs; raises AppError."""
        raise NotImplementedError

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """Every file that `run` would download, on any computer; raises what downloading an index raises."""
        folder = context.data.files
        return tuple(DownloadRequest(file=f.remote, path=folder / f.name) for f in step.files)

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002 - for overrides
        """What of it is there already, for a plan; reads little and changes nothing. Raises AppError."""
        return None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002 - for overrides
        """The outcome if nothing is left to do; None if `run` is needed. Changes nothing; raises AppError."""
        return None

    def is_awaited(self, step: Step, context: InstallContext) -> bool:  # noqa: ARG002 - for overrides
        """Whether the user has yet to do by hand what the step describes. Changes nothing; raises AppError."""
        return False

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Carry it out; raises AppError. After ElevationDenied the steps that do not need this one still run."""
        raise NotImplementedError

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002 - for overrides
        """Whether a step of this kind could have made an effect of this type in this place (`journal/validation.py`).

        `environment` is the folder of the run that made it, as an untrusted journal says.
        """
        return False

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """The state on the computer of an effect of this kind; raises AppError."""
        return journal_revert.effect_state(effect, host)

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Revert an effect; returns why some of it stays, None if nothing does. May be called again after a kill."""
        return journal_revert.revert(effect, host)

    def is_removable(self, effect: ProgramInstalled) -> bool:  # noqa: ARG002 - for overrides
        """Whether `remove_program` can take a program away, for a user who asks for that."""
        return False

    def remove_program(self, effects: Sequence[ProgramInstalled], step: Step | None, context: RemovalContext) -> None:
        """Take away what runs of ours installed, the newest first; raises AppError, ElevationDenied."""
        raise NotImplementedError

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """The code and data of the text about a program that stays after an uninstall; `step` installed it, None if its
        plan is unknown.
        """
        raise NotImplementedError


class ProgramInstall(StepKind):
    """A kind whose steps run a publisher's installer, most of them with administrator rights.

    Other programs may use what it installed, or hold the user's files in it: an uninstall leaves it, and says how the
    user removes it. `make_client` replaces the elevated helper in tests.
    """

    external_installer: ClassVar[bool] = True

    def __init__(
        self, make_client: Callable[[ElevationContext], ElevationClient] = lambda context: context.elevation_client()
    ) -> None:
        self._make_client = make_client

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return isinstance(effect, ProgramInstalled)

    def program_state(self, effect: ProgramInstalled, host: Host) -> EffectState:
        """Whether the program is installed in the version of the effect; raises AppError."""
        raise NotImplementedError

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        if isinstance(effect, ProgramInstalled):
            return self.program_state(effect, host)
        return super().effect_state(effect, host)

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        if isinstance(effect, ProgramInstalled):
            return None if self.program_state(effect, host) == "absent" else "system"
        return super().revert(effect, host)


def check_file(file: PlanFile) -> None:
    """Raise UsageError("plan-refused") unless a file has a plain name, a hash, and an https, file or loopback URL."""
    try:
        parts = urlsplit(file.url)
    except ValueError:
        raise plan_error(f"file: {file.name} {file.url}", part="files") from None
    is_safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    is_safe = is_safe and is_plain_authority(parts.netloc)
    if not is_safe or not _FILE_NAME.match(file.name) or not _SHA256.match(file.sha256 or ""):
        raise plan_error(f"file: {file.name} {file.url}", part="files")


def plan_error(detail: str, *, part: str = "step") -> UsageError:
    """The error for a plan that we would not make. `part` is a text's code, "plan.part.…"; `detail` names the field."""
    return UsageError("plan-refused", part=f"@plan.part.{part}", detail=detail[:MAX_DETAIL_LENGTH])


def parse_spec(step: Step, spec_type: type[SpecT]) -> SpecT:
    """A step's `spec` as its kind's struct; raises UsageError("plan-refused")."""
    try:
        return json.convert(step.spec, spec_type)
    except msgspec.ValidationError as error:
        field = json.describe_fault(error)[1].removeprefix("@file.whole")
        raise plan_error(f"{step.id}: spec.{field}".rstrip(".")) from error
