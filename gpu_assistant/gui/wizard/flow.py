"""The wizard without its window: what is known, which page may be entered, and what can be done about trouble.

Pages only draw this. A page may be entered once what it shows is known; what is changed on an earlier page
makes everything that rested on it unknown again; while an install runs no page is left. A simulated machine
never carries a plan that would be carried out.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError, CallError, Cancelled
from ...core.machine import Machine
from ...core.message import Message, Value
from ...core.plan import EndEvent, Plan
from ...core.recommendation import Alternative, Choice, Goal, Recommendation
from ...core.results import Benchmark, Checks

PageName = Literal["welcome", "computer", "recommendation", "install", "done"]
Stage = Literal["idle", "running", "stopping", "done", "failed", "cancelled", "reboot-needed"]
Way = Literal["retry", "offer", "folder", "back"]

PAGES: tuple[PageName, ...] = ("welcome", "computer", "recommendation", "install", "done")

# Another folder can lie on another disk, or belong to the user where this one does not.
FOLDER_CODES = frozenset(
    {
        "disk-full",
        "disk-too-small",
        "folder-synced",
        "folder-too-long",
        "environment-differs",
        "environment-occupied",
        "folder-unwritable",
        "storage",
    }
)


class Trouble(Struct, frozen=True, kw_only=True):
    """What went wrong, and which ways there are from here, the most promising first."""

    message: Message
    ways: tuple[Way, ...]
    offers: tuple[Alternative, ...] = ()


class Facts(Struct, frozen=True, kw_only=True):
    """What the wizard knows. `environment` is the folder picked by hand; `settled` is an environment that already is
    what was recommended; `continued` an install that was begun before, so that its time is not known."""

    machine: Machine | None = None
    goal: Goal = "pytorch"
    choice: Choice | None = None
    environment: str | None = None
    recommendation: Recommendation | None = None
    plan: Plan | None = None
    settled: bool = False
    stage: Stage = "idle"
    end: EndEvent | None = None
    trouble: Trouble | None = None
    continued: bool = False
    checks: Checks | None = None
    benchmark: Benchmark | None = None


def trouble(error: AppError) -> Trouble:
    """The ways out of an error: an offered release, another folder, once more, back."""
    # A call that is wrong stays wrong however often it is made.
    return _trouble(error.message, error.offers, hopeless=isinstance(error, CallError))


def _trouble(message: Message, offers: tuple[Alternative, ...] = (), *, hopeless: bool = False) -> Trouble:
    ways: list[Way] = []
    if offers:
        ways.append("offer")
    if message.code.removeprefix("error.") in FOLDER_CODES:
        ways.append("folder")
    if not hopeless:
        ways.append("retry")
    ways.append("back")
    return Trouble(message=message, ways=tuple(ways), offers=offers)


def apply(choice: Choice | None, change: dict[str, Value]) -> Choice:
    """The choice after an offered change; raises ValueError on a field that a choice does not have."""
    unknown = set(change) - set(Choice.__struct_fields__)
    if unknown:
        raise ValueError(f"an offer changes what no choice has: {sorted(unknown)}")
    return replace(choice or Choice(), **change)


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
                return facts.plan is not None and (facts.stage != "idle" or self.page == "recommendation")
            case "done":
                return facts.stage == "done" or facts.checks is not None

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
        self.facts = Facts(machine=machine, goal=self.facts.goal, environment=self.facts.environment)

    def wish(self, *, goal: Goal | None = None, choice: Choice | None = None, environment: str | None = None) -> None:
        """The user wants something else: a goal, a release or a folder. A new goal forgets the release and folder."""
        facts = self.facts
        if goal is not None and goal != facts.goal:
            self.facts = Facts(machine=facts.machine, goal=goal)
            return
        self.facts = Facts(
            machine=facts.machine,
            goal=facts.goal,
            choice=choice if choice is not None else facts.choice,
            environment=environment if environment is not None else facts.environment,
        )

    def unwish(self) -> None:
        """Leave the releases to us again."""
        self.facts = Facts(machine=self.facts.machine, goal=self.facts.goal, environment=self.facts.environment)

    def offered(self, offer: Alternative) -> None:
        """The user takes an offered alternative."""
        self.wish(choice=apply(self.facts.choice, offer.change))

    def reckoned(self, recommendation: Recommendation, plan: Plan, *, settled: bool = False) -> None:
        """The recommendation and its plan are there."""
        if self.simulated and not plan.simulated:
            raise ValueError("a simulated machine must not get a plan that is carried out")
        self.facts = replace(
            self.facts,
            recommendation=recommendation,
            plan=plan,
            settled=settled,
            stage="idle",
            end=None,
            trouble=None,
            continued=False,
        )

    def resumed(self, plan: Plan) -> None:
        """Take up an install that was interrupted: straight to the install page."""
        if self.simulated:
            raise ValueError("a simulated machine has nothing to take up")
        self.facts = Facts(
            machine=self.facts.machine,
            goal=plan.goal,
            environment=plan.env,
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
        continued = self.facts.continued or self.facts.stage in ("cancelled", "failed", "reboot-needed")
        self.facts = replace(
            self.facts, stage="running", end=None, trouble=None, checks=None, benchmark=None, continued=continued
        )
        return plan

    def stopping(self) -> None:
        """The user asked to stop; the work ends at its next safe place."""
        if self.facts.stage == "running":
            self.facts = replace(self.facts, stage="stopping")

    def ended(self, end: EndEvent, checks: Checks | None = None) -> None:
        """The install came to an end by itself."""
        if end.state == "failed":
            known = _trouble(Message(end.code or "error.internal", end.data))
            self.facts = replace(self.facts, stage="failed", end=end, trouble=known)
        else:
            self.facts = replace(self.facts, stage=end.state, end=end, checks=checks)

    def failed(self, error: AppError) -> None:
        """The install stopped with an error, or because the user said so."""
        if isinstance(error, Cancelled):
            self.cancelled()
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
