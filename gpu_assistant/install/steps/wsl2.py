"""A Linux inside Windows, for what uses the card only there: set up where the user asked for it, else shown.

Windows' own program does it: its parts of Windows through the door, for everybody; then, after a restart, the Linux
itself, for this user alone. A name and a password there nobody but the user can choose, and the setup here goes on
without all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ...core.errors import AppError
from ...core.names import Value
from ...core.plan import Plan, Step
from ..door.ask import Door
from ..door.wsl import LONGEST_S, PLAIN
from ..draft import Draft
from ..effects import Effect, ProgramInstalled
from ..journal import Why
from ..place import Ground, Place
from ..undoing import Sight
from ..work import Outcome, Work
from ..wsl import program, route_of
from .kind import Kind, refuse_fields, refused

if TYPE_CHECKING:
    from ...catalog.libraries import TensorFlowRoute

OFFER = "tensorflow-wsl2"
SHOWN, INSTALL = "wsl2", "wsl2-install"
PARTS, LINUX = "WSL2", "WSL2 Linux"


def _door(work: Work) -> Door:
    return Door(work.data.state, work.system, cancel=work.cancel)


class Wsl2(Kind):
    """Planned where the advice offers it; `door` replaces the way to administrator rights."""

    name: ClassVar[str] = "wsl2"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (SHOWN, INSTALL)

    def __init__(self, door: Callable[[Work], Door] = _door) -> None:
        self._door = door

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where a route of the catalog leads through it and says how it is set up."""
        offer = next((each for each in draft.recommendation.alternatives if each.code == OFFER), None)
        route = route_of(draft.catalog)
        if offer is None or route is None or not route.setup:
            return ()
        flow = draft.recommendation.tensorflow
        asked = flow is not None and flow.wsl
        return (
            Step(
                id="wsl2",
                kind=self.name,
                code=INSTALL if asked else SHOWN,
                data={
                    "gpu": offer.data.get("gpu"),
                    "commands": " ".join(route.setup),
                    "driver": route.lowest_driver,
                },
                bytes=None,
                needs_admin=asked,
                needs_reboot=asked,
                commands=_halves(route) if asked else (route.setup,),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """What is run stands in the catalog alone; what is shown must be that."""
        refuse_fields(step)
        route = route_of(ground.catalog)
        shown = _halves(route) if route is not None and step.code == INSTALL else (route.setup,) if route else ()
        if route is None or step.commands != shown or step.data.get("commands") != " ".join(route.setup):
            raise refused(f"{step.id}: commands")
        if step.code == INSTALL and not plan.simulated and ground.system.name != "windows":
            raise refused(f"{step.id}: {ground.system.name}")

    def needs_network(self, step: Step) -> bool:
        """Windows fetches it itself."""
        return step.code == INSTALL

    def done(self, step: Step, work: Work) -> Outcome | None:
        """There is a Linux already; or it is left to the user."""
        here = work.system.wsl()
        if here is not None and here.ready and here.linuxes:
            return Outcome(code="progress.wsl-here", data={"name": here.linuxes[0]})
        if step.code == SHOWN:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises RightsRefused, AppError: wsl-missing, wsl-failed, wsl-not-ready, wsl-linux-failed."""
        route = route_of(work.catalog)
        if route is None:
            raise refused(step.id)
        here = work.system.wsl()
        if here is None or not here.ready:
            restart = self._parts(step, work, route)
            if restart:
                return Outcome(code="progress.wsl-restart", restart=True)
        path = program(work.system.shared_libraries())
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="installing", code="progress.wsl-linux")
        with work.effect(step, ProgramInstalled(name=LINUX, after="2")):
            done = work.system.run(
                [path, *route.user_words],
                timeout=LONGEST_S,
                environ=PLAIN,
                cwd=path.parent,
                cancel=work.cancel,
                on_line=work.reporter.log,
            )
            if done.code != 0:
                raise AppError("wsl-linux-failed", status=done.code, detail=_last(done.out + done.err))
        return Outcome(code="progress.wsl-done")

    def _parts(self, step: Step, work: Work, route: TensorFlowRoute) -> bool:
        """Whether the parts of Windows that are there now work only after a restart."""
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.wsl-asking")
        with work.effect(step, ProgramInstalled(name=PARTS, after="2")):
            answer = self._door(work).wsl_platform()
            if answer.exit_code not in (0, *route.restart_codes):
                raise AppError("wsl-failed", status=answer.exit_code, detail=_last("\n".join(answer.lines)))
        here = work.system.wsl()
        if here is not None and here.ready:
            return False
        # It says 0 with a restart, too: that Windows waits for one is seen elsewhere.
        if answer.exit_code in route.restart_codes or work.system.pending_reboot():
            return True
        raise AppError("wsl-not-ready")

    def look(self, effect: Effect, place: Place) -> Sight:
        """By what Windows wrote down; parts that wait for a restart are not there yet."""
        if not isinstance(effect, ProgramInstalled):
            return super().look(effect, place)
        here = place.system.wsl()
        there = here is not None and (bool(here.linuxes) if effect.name == LINUX else here.ready)
        return "made" if there else "before"

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """It may hold the user's own files by then: it stays, and the step's words say how it is removed."""
        if not isinstance(effect, ProgramInstalled):
            return super().undo(effect, place)
        return None if self.look(effect, place) == "before" else "system"

    def leaving(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """How each half of it is removed."""
        return ("leave-wsl-linux" if effect.name == LINUX else "leave-wsl"), {}


def _halves(route: TensorFlowRoute) -> tuple[tuple[str, ...], ...]:
    return (route.setup[0], *route.system_words), (route.setup[0], *route.user_words)


def _last(text: str) -> str | None:
    lines = [line.strip() for line in text.replace("\0", "").splitlines() if line.strip()]
    return lines[-1] if lines else None
