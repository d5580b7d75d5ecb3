"""What every kind of step is: one object that plans it, checks it, does it and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec
from msgspec import structs

from ...core import json
from ...core.json import describe_fault
from ...core.plan import CurrentState, Plan, Step
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..host import Host, ValidationContext
from ..journal import revert as journal_revert
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from ..plan.validation import plan_refused_error

if TYPE_CHECKING:
    from .context import DownloadContext, InstallContext, Outcome
    from .plan_builder import PlanBuilder


SpecT = TypeVar("SpecT")


class StepKind:
    """One kind of step; the registry in `steps/__init__.py` holds one object of each.

    `codes` are the texts that its steps may use, `needs` the kinds of which a step must be among its `needs`,
    `then` the kinds of which a step must come later; without `many` a plan has one step of it at most. It `stands_for`
    another kind where a plan has either.
    """

    name: ClassVar[str]
    codes: ClassVar[tuple[str, ...]]
    required_before: ClassVar[tuple[str, ...]] = ()
    required_after: ClassVar[tuple[str, ...]] = ()
    allows_many: ClassVar[bool] = False
    provides: ClassVar[str | None] = None
    # Its words depend on figures that another computer may know better.
    has_variable_text: ClassVar[bool] = False
    # An installer of the system's own: what it takes of the disk and of time nobody tells, and a plan leaves it out.
    external_installer: ClassVar[bool] = False

    @property
    def provided_kind(self) -> str:
        """What others need it as."""
        return self.provides or self.name

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """The steps of this kind that a recommendation asks for; raises AppError, CallError."""
        raise NotImplementedError

    def replan(self, step: Step, builder: PlanBuilder) -> Step:
        """A step of a plan file as a plan from the same recommendation has it here; raises AppError for one that no
        such plan has.
        """
        planned = self.plan(builder)
        if len(planned) != 1:
            raise plan_refused_error(step.id)
        return planned[0]

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """Raise CallError("plan-refused", detail=…) for a step that must not run here: a plan is untrusted input."""
        raise NotImplementedError

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """Every file that `run` would fetch, for whatever computer; raises what fetching an index raises."""
        folder = context.data.files
        return tuple(DownloadRequest(file=file.remote, path=folder / file.name) for file in step.files)

    def needs_network(self, step: Step) -> bool:
        """Whether a distribution's own tool fetches packages for it, which no folder of files can serve."""
        return bool(step.spec.get("packages"))

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002 - the shape of all kinds
        """What of it is there before the run, told in a plan; a quick look that changes nothing. Raises AppError."""
        return None

    def without_cost(self, step: Step) -> Step:
        """The step where what it would bring stands already."""
        return structs.replace(step, bytes=0, disk_bytes=0, minutes=0.0, minutes_least=False)

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


def parse_spec(step: Step, shape: type[SpecT]) -> SpecT:
    """A step's `spec` in its kind's own strict shape; raises CallError("plan-refused")."""
    try:
        return json.convert(step.spec, shape)
    except msgspec.ValidationError as error:
        raise plan_refused_error(
            f"{step.id}: spec.{describe_fault(error)[1].removeprefix('@file.whole')}".rstrip(".")
        ) from error


class EmptySpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The spec of a kind that has none."""


def check_fields(step: Step, *, allow_files: bool = False, allow_spec: bool = False) -> None:
    """Raise CallError("plan-refused") for fields that this kind does not use."""
    if step.files and not allow_files:
        raise plan_refused_error(f"{step.id}: files")
    if step.spec and not allow_spec:
        raise plan_refused_error(f"{step.id}: spec")
