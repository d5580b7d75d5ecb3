"""A Linux inside Windows, for what uses the card only there: shown with its command, and done by the user.

It switches on parts of Windows and brings a Linux with a user and a password of its own, which nobody but the user can
choose; the setup here goes on without it.
"""

from __future__ import annotations

from typing import ClassVar

from ...core.plan import Plan, Step
from ..draft import Draft
from ..place import Ground
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused

OFFER = "tensorflow-wsl2"


class Wsl2(Kind):
    """Planned where the advice offers it."""

    name: ClassVar[str] = "wsl2"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = ("wsl2",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where a route of the catalog leads through it and says how it is set up."""
        offer = next((each for each in draft.recommendation.alternatives if each.code == OFFER), None)
        route = draft.catalog.tensorflow.route("windows", "wsl2")
        if offer is None or route is None or not route.setup:
            return ()
        data = {"gpu": offer.data.get("gpu"), "commands": " ".join(route.setup)}
        return (Step(id="wsl2", kind=self.name, code="wsl2", data=data, bytes=None, commands=(route.setup,)),)

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """Nothing of it is run; what is shown must be the catalog's own command."""
        del plan
        refuse_fields(step)
        route = ground.catalog.tensorflow.route("windows", "wsl2")
        if route is None or step.commands != (route.setup,) or step.data.get("commands") != " ".join(route.setup):
            raise refused(f"{step.id}: commands")

    def done(self, step: Step, work: Work) -> Outcome | None:
        """It is left to the user."""
        del work
        return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
