"""The wizard without its window: which page may be entered, and what every answer changes.

Pages only draw this. A page may be entered once what it shows is known; what is changed on an earlier page
makes everything that rested on it unknown again; while an install runs no page is left. A simulated machine
never carries a plan that would be carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from ...core.errors import AppError, Cancelled, RebootNeeded, RightsRefused
from ...core.machine import Machine
from ...core.names import EnvironmentKind
from ...core.plan import EndEvent, Interrupted, Plan
from ...core.recommendation import Alternative, Channel, Choice, Goal, Recommendation
from ...core.results import Benchmark, Checks
from .facts import Facts, Turn, apply, trouble

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from .option_notes import OptionNotes

PageName = Literal["welcome", "computer", "recommendation", "install", "done"]

PAGES: tuple[PageName, ...] = ("welcome", "computer", "recommendation", "install", "done")


class Flow:
    """One walk through the wizard."""

    def __init__(self, *, simulated: bool = False) -> None:
        self.simulated = simulated
        self.page: PageName = "welcome"
        self.facts = Facts()

    # Moving

    @property
    def locked(self) -> bool:
        """Whether an install runs: no page is left then."""
        return self.facts.stage in ("running", "stopping")

    @property
    def stands(self) -> bool:
        """Whether the environment was made and proven though other steps were left out."""
        facts = self.facts
        proofs = [step.id for step in facts.plan.steps if step.kind == "verify"] if facts.plan is not None else []
        return facts.stage == "left-out" and bool(proofs) and not set(proofs) & set(facts.left_out)

    def may_enter(self, page: PageName) -> bool:
        """Whether what the page shows is known, and the present one may be left."""
        facts = self.facts
        if self.locked:
            return page == self.page
        match page:
            case "welcome" | "computer":
                return True
            case "recommendation":
                return facts.machine is not None
            case "install":
                possible = facts.plan is not None and facts.obstacle is None
                return possible and (facts.stage != "idle" or self.page == "recommendation")
            case "done":
                return facts.stage == "done" or facts.checks is not None or self.stands

    def go(self, page: PageName) -> bool:
        """Enter a page if that is allowed; says whether it was."""
        if not self.may_enter(page):
            return False
        self.page = page
        return True

    def back_to(self) -> PageName | None:
        """The page that Back leads to: the nearest earlier one that can be shown."""
        earlier = PAGES[: PAGES.index(self.page)]
        return next((page for page in reversed(earlier) if page != self.page and self.may_enter(page)), None)

    def back(self) -> bool:
        """Go back one page; says whether there was one."""
        page = self.back_to()
        return page is not None and self.go(page)

    def next(self) -> bool:
        """Go on one page; says whether that was possible."""
        later = PAGES[PAGES.index(self.page) + 1 :]
        return bool(later) and self.go(later[0])

    def open_pages(self) -> tuple[PageName, ...]:
        """The pages that the rail leads to."""
        return tuple(page for page in PAGES if page != self.page and self.may_enter(page))

    # What becomes known

    def found(self, machine: Machine) -> None:
        """A machine was looked at: what rested on an earlier look is open again."""
        facts = self.facts
        self.facts = Facts(
            machine=machine,
            goal=facts.goal,
            channel=facts.channel,
            by_hand=facts.by_hand,
            environment=facts.environment,
            bundle=facts.bundle,
            made_by=facts.made_by if machine.tools is not None and machine.tools.conda else "venv",
        )

    def use_bundle(self, folder: str | None) -> None:
        """Set up from a folder, whose list says what for; None is from the internet again."""
        facts = self.facts
        self.facts = Facts(machine=facts.machine, channel=facts.channel, bundle=folder)

    def _asked_anew(self, **changed: Any) -> None:  # noqa: ANN401 - the fields of Facts
        """What the user wants, with these changes; all that was worked out before is open again."""
        facts = self.facts
        wanted = {"choice": facts.choice, "environment": facts.environment, "by_hand": facts.by_hand, **changed}
        wanted = {"goal": facts.goal, "channel": facts.channel, "dropped": facts.dropped, **wanted}
        wanted = {"made_by": facts.made_by, **wanted}
        self.facts = Facts(machine=facts.machine, bundle=facts.bundle, **wanted)

    def wish(
        self,
        *,
        goal: Goal | None = None,
        channel: Channel | None = None,
        choice: Choice | None = None,
        environment: str | None = None,
        made_by: EnvironmentKind | None = None,
    ) -> None:
        """The user wants something else: a goal, a kind of driver, a release, a folder, or what makes the environment.
        A new goal forgets the folder; which picks go with what is wanted now, the reckoning says.
        """
        facts = self.facts
        if goal is not None and goal != facts.goal:
            self._asked_anew(goal=goal, environment=None, turn=replace(self._turn(None), wished=True))
        elif channel is not None and channel != facts.channel:
            self._asked_anew(channel=channel, turn=replace(self._turn(None), wished=True))
        else:
            folder = environment or facts.environment
            self._asked_anew(choice=choice or facts.choice, environment=folder, made_by=made_by or facts.made_by)

    def choose_by_hand(self) -> None:
        """The user wants to choose versions: what was worked out stays until the choices are known. What was picked
        last is picked again, as far as it goes with what is wanted now.
        """
        facts = self.facts
        if facts.choice is None and facts.dropped is not None:
            self._asked_anew(choice=facts.dropped, by_hand=True, turn=replace(self._turn(None), wished=True))
        else:
            self.facts = replace(facts, by_hand=True)

    def undo(self) -> None:
        """Take the last change of versions back."""
        turn = self.facts.turn
        if turn is not None:
            before = {"choice": turn.choice, "goal": turn.goal, "channel": turn.channel}
            by_hand = self.facts.by_hand or (turn.let_go and turn.by_hand)
            self._asked_anew(**before, environment=turn.environment, by_hand=by_hand)

    def unwish(self) -> None:
        """Leave the releases to us again; picks can be had back."""
        picked = self.facts.choice is not None
        turn = replace(self._turn(None), choice=self.facts.choice, let_go=True) if picked else None
        self._asked_anew(choice=None, dropped=self.facts.choice, by_hand=False, turn=turn)

    def offered(self, offer: Alternative) -> None:
        """The user takes an offered alternative."""
        turn = self._turn(None)
        self._asked_anew(choice=apply(self.facts.choice, offer.change), turn=turn)

    def picked(self, part: str, value: str | None, *, alone: bool = False) -> None:
        """The user picks a part's version, or leaves it to us again; `alone` lets go of what was picked before."""
        choice = apply(None if alone else self.facts.choice, {part: value})
        self._asked_anew(choice=choice if choice != Choice() else None, turn=self._turn(part))

    def _turn(self, part: str | None) -> Turn:
        facts = self.facts
        # Several changes in one breath are one: what held before is what was last worked out.
        if facts.recommendation is None and facts.turn is not None:
            return replace(facts.turn, part=part, let_go=False)
        return Turn(
            part=part,
            choice=facts.choice,
            recommendation=facts.recommendation,
            goal=facts.goal,
            channel=facts.channel,
            environment=facts.environment,
            by_hand=facts.by_hand,
        )

    def reckoned(
        self,
        recommendation: Recommendation,
        plan: Plan | None,
        *,
        settled: bool = False,
        obstacle: AppError | None = None,
        options: Options | None = None,
        notes: OptionNotes | None = None,
        fell: tuple[tuple[PartName, str], ...] = (),
    ) -> None:
        """The recommendation is there, and its plan or the reason why there is none; picks that `fell` are let go."""
        if self.simulated and plan is not None and not plan.simulated:
            raise ValueError("a simulated machine must not get a plan that is carried out")
        choice = apply(self.facts.choice, {part: None for part, _ in fell})
        self.facts = replace(
            self.facts,
            goal=recommendation.goal,  # what a folder was made for, its list says
            choice=choice if choice != Choice() else None,
            fell=(*self.facts.fell, *fell),
            recommendation=recommendation,
            plan=plan,
            settled=settled,
            obstacle=obstacle,
            options=options,
            notes=notes,
            stage="idle",
            end=None,
            left_out=(),
            trouble=None,
            continued=False,
        )

    def resumed(self, stopped: Interrupted) -> None:
        """Take up an install that was interrupted: straight to the install page."""
        if self.simulated:
            raise ValueError("a simulated machine has nothing to take up")
        plan = stopped.plan
        self.facts = Facts(
            machine=self.facts.machine,
            goal=plan.goal,
            environment=plan.env,
            bundle=plan.bundle,
            recommendation=plan.recommendation,
            plan=plan,
            stage="cancelled",
        )
        self.page = "install"

    # Installing

    def begin(self) -> Plan:
        """An install starts; gives the plan to carry out."""
        plan = self.facts.plan
        if plan is None or self.locked:
            raise ValueError("there is nothing to start")
        self.page = "install"
        # What stopped once goes on where it was: the last leg's time is not the whole.
        continued = self.facts.continued or self.facts.stage in ("cancelled", "failed", "reboot-needed", "left-out")
        self.facts = replace(
            self.facts,
            stage="running",
            end=None,
            left_out=(),
            trouble=None,
            checks=None,
            benchmark=None,
            continued=continued,
        )
        return plan

    def stopping(self) -> None:
        """The user asked to stop; the work ends at its next safe place."""
        if self.facts.stage == "running":
            self.facts = replace(self.facts, stage="stopping")

    def ended(self, end: EndEvent) -> None:
        """The install came to a good end."""
        self.facts = replace(self.facts, stage="done", end=end)

    def failed(self, error: AppError) -> None:
        """The install stopped with an error, because the user said so, for a restart, or without some steps."""
        if isinstance(error, Cancelled):
            self.cancelled()
        elif isinstance(error, RebootNeeded):
            end = EndEvent(state="reboot-needed", code=error.message.code, data=error.data)
            self.facts = replace(self.facts, stage="reboot-needed", end=end)
        elif isinstance(error, RightsRefused):
            steps = tuple(step for step in str(error.data.get("steps") or "").split(", ") if step)
            end = EndEvent(state="failed", code=error.message.code, data=error.data)
            self.facts = replace(self.facts, stage="left-out", end=end, left_out=steps)
        else:
            self.facts = replace(self.facts, stage="failed", trouble=trouble(error))

    def cancelled(self) -> None:
        """The install stopped because the user said so."""
        self.facts = replace(self.facts, stage="cancelled")

    # Proving and measuring

    def checked(self, checks: Checks) -> None:
        """The environment was proven, or not."""
        self.facts = replace(self.facts, checks=checks)

    def measured(self, benchmark: Benchmark) -> None:
        """The devices were measured."""
        self.facts = replace(self.facts, benchmark=benchmark)
