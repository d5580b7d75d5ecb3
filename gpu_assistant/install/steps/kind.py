"""What every kind of step is: one object that plans it, checks it, does it and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec
from msgspec import structs

from ...core import json
from ...core.json import fault_of
from ...core.names import Value
from ...core.plan import Now, Plan, Step
from ...fetch.wanted import Wanted
from .. import undoing
from ..effects import Effect, ProgramInstalled
from ..journal import Why
from ..place import Ground, Place
from ..undoing import Sight
from ..untrusted import refused as refused

if TYPE_CHECKING:
    from ..draft import Draft
    from ..fetching import Getting
    from ..work import Outcome, Work

Spec = TypeVar("Spec")


class Kind:
    """One kind of step; the registry in `steps/__init__.py` holds one object of each.

    `codes` are the texts that its steps may use, `needs` the kinds of which a step must be among its `needs`,
    `then` the kinds of which a step must come later; without `many` a plan has one step of it at most. It `stands_for`
    another kind where a plan has either.
    """

    name: ClassVar[str]
    codes: ClassVar[tuple[str, ...]]
    needs: ClassVar[tuple[str, ...]] = ()
    then: ClassVar[tuple[str, ...]] = ()
    many: ClassVar[bool] = False
    stands_for: ClassVar[str | None] = None
    # Its words depend on figures that another computer may know better.
    by_figures: ClassVar[bool] = False
    # An installer of the system's own: what it takes of the disk and of time nobody tells, and a plan leaves it out.
    apart: ClassVar[bool] = False

    @property
    def role(self) -> str:
        """What others need it as."""
        return self.stands_for or self.name

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """The steps of this kind that a recommendation asks for; raises AppError, CallError."""
        raise NotImplementedError

    def told(self, step: Step, draft: Draft) -> Step:
        """A step of a plan file as a plan from the same recommendation has it here; raises AppError for one that no
        such plan has.
        """
        found = self.plan(draft)
        if len(found) != 1:
            raise refused(step.id)
        return found[0]

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """Raise CallError("plan-refused", detail=…) for a step that must not run here: a plan is untrusted input."""
        raise NotImplementedError

    def gather(self, step: Step, getting: Getting) -> tuple[Wanted, ...]:
        """Every file that `run` would fetch, for whatever computer; raises what fetching an index raises."""
        folder = getting.data.files
        return tuple(Wanted(url=f.url, path=folder / f.name, sha256=f.sha256, bytes=f.bytes) for f in step.files)

    def needs_network(self, step: Step) -> bool:
        """Whether a distribution's own tool fetches packages for it, which no folder of files can serve."""
        return bool(step.spec.get("packages"))

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002 - the shape of all kinds
        """What of it is there before the run, told in a plan; a quick look that changes nothing. Raises AppError."""
        return None

    def spared(self, step: Step) -> Step:
        """The step where what it would bring stands already."""
        return structs.replace(step, bytes=0, disk_bytes=0, minutes=0.0, minutes_least=False)

    def done(self, step: Step, work: Work) -> Outcome | None:  # noqa: ARG002 - the shape of all kinds
        """Where there is nothing left to do, how it stands; None where `run` is needed. Changes nothing."""
        return None

    def run(self, step: Step, work: Work) -> Outcome:
        """Do it; raises AppError. RightsRefused leaves out this step and those that need it, and nothing else."""
        raise NotImplementedError

    def look(self, effect: Effect, place: Place) -> Sight:
        """What the world shows of an effect that a step of this kind said it would make."""
        return undoing.look(effect, place)

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """Take it back; what of it stays is said, None for nothing. May be called again after a kill."""
        return undoing.revert(effect, place)

    def leaving(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """What a removal says of a program that stays in the system, put there by `step` (None: nobody knows it any
        more): the texts' key and figures.
        """
        raise NotImplementedError


def spec_of(step: Step, shape: type[Spec]) -> Spec:
    """A step's `spec` in its kind's own strict shape; raises CallError("plan-refused")."""
    try:
        return json.convert(step.spec, shape)
    except msgspec.ValidationError as error:
        raise refused(f"{step.id}: spec.{fault_of(error)[1].removeprefix('@file.whole')}".rstrip(".")) from error


class Empty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The spec of a kind that has none."""


def refuse_fields(step: Step, *, files: bool = False, spec: bool = False) -> None:
    """Raise CallError("plan-refused") for fields that this kind does not use."""
    if step.files and not files:
        raise refused(f"{step.id}: files")
    if step.spec and not spec:
        raise refused(f"{step.id}: spec")
