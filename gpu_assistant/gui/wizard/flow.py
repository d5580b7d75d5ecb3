"""The wizard without Qt: which page may be entered, and what every answer of the user changes.

    welcome -> computer -> recommendation -> install -> done

A page may be entered once what it shows is known. A change on an earlier page drops all that was computed from the old
value. While an install runs no page can be left. The flow of a simulated computer never holds a plan that would be
carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from ...core.errors import AppError, Cancelled, ElevationDenied, RebootRequired
from ...core.machine import Machine
from ...core.plan import EndEvent, InterruptedInstall, Plan
from ...core.recommendation import Alternative, Choice, Recommendation
from ...core.results import Benchmark, Checks
from ...core.types import Channel, EnvironmentKind, Goal, WayName
from .failure import failure_from_error
from .state import UndoState, WizardState, apply_choice_change, folder_of_goal

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...core.recommendation import SourceAnswer
    from .state import OptionNotes, SmallerChoice


PageName = Literal["welcome", "computer", "recommendation", "install", "done"]

PAGES: tuple[PageName, ...] = ("welcome", "computer", "recommendation", "install", "done")
# What a change of an option keeps of the state.
OPTION_FIELDS = (
    *("machine", "goal", "channel", "customizing", "choice", "previous_choice"),
    *("environment", "bundle", "environment_kind", "sources", "checked_files"),
)


class WizardFlow:
    """One walk through the wizard."""

    def __init__(self, *, simulated: bool = False) -> None:
        self.simulated = simulated
        self.page: PageName = "welcome"
        self.state = WizardState()

    # Pages

    @property
    def is_locked(self) -> bool:
        """Whether an install runs, so that no page can be left."""
        return self.state.stage in ("running", "stopping")

    @property
    def is_environment_verified(self) -> bool:
        """Whether the environment was created and verified although other steps were skipped."""
        state = self.state
        verify_steps = [step.id for step in state.plan.steps if step.kind == "verify"] if state.plan is not None else []
        return (
            state.stage == "steps-skipped" and bool(verify_steps) and not set(verify_steps) & set(state.skipped_steps)
        )

    def can_enter(self, page: PageName) -> bool:
        """Whether what the page shows is known and the current page may be left."""
        state = self.state
        if self.is_locked:
            return page == self.page
        match page:
            case "welcome" | "computer":
                return True
            case "recommendation":
                return state.machine is not None
            case "install":
                installable = state.plan is not None and state.blocking_error is None
                return installable and (state.stage != "idle" or self.page == "recommendation")
            case "done":
                return state.stage == "done" or state.checks is not None or self.is_environment_verified

    def go_to(self, page: PageName) -> bool:
        """Enter a page if it may be entered; returns whether it was."""
        if not self.can_enter(page):
            return False
        self.page = page
        return True

    def previous_page(self) -> PageName | None:
        """The nearest earlier page that can be entered."""
        earlier = PAGES[: PAGES.index(self.page)]
        return next((page for page in reversed(earlier) if page != self.page and self.can_enter(page)), None)

    def go_back(self) -> bool:
        """Go to the previous page; returns whether there was one."""
        page = self.previous_page()
        return page is not None and self.go_to(page)

    def go_next(self) -> bool:
        """Go to the next page; returns whether it could be entered."""
        later = PAGES[PAGES.index(self.page) + 1 :]
        return bool(later) and self.go_to(later[0])

    def reachable_pages(self) -> tuple[PageName, ...]:
        """All other pages that can be entered."""
        return tuple(page for page in PAGES if page != self.page and self.can_enter(page))

    # Machine and options

    def set_machine(self, machine: Machine) -> None:
        """Set the detected machine; chosen versions are dropped, since they were chosen for an earlier detection."""
        state = self.state
        self.state = WizardState(
            machine=machine,
            goal=state.goal,
            channel=state.channel,
            customizing=state.customizing,
            environment=state.environment,
            bundle=state.bundle,
            environment_kind=state.environment_kind if machine.tools is not None and machine.tools.conda else "venv",
        )

    def use_bundle(self, folder: str | None) -> None:
        """Set up from an offline folder, which also decides the goal; None is from the internet again."""
        state = self.state
        self.state = WizardState(machine=state.machine, channel=state.channel, bundle=folder)

    def _reset(self, **changes: Any) -> None:  # noqa: ANN401 - fields of WizardState
        """Keep machine and options, with these changes, and drop what was computed from them."""
        options = {name: getattr(self.state, name) for name in OPTION_FIELDS}
        self.state = WizardState(**{**options, **changes})

    def change_options(
        self,
        *,
        goal: Goal | None = None,
        channel: Channel | None = None,
        choice: Choice | None = None,
        environment: str | None = None,
        environment_kind: EnvironmentKind | None = None,
    ) -> None:
        """Change options. A new goal drops the folder; which choices go with it, the next recommendation says."""
        state = self.state
        if goal is not None and goal != state.goal:
            self._reset(
                goal=goal, environment=None, undo_state=replace(self._capture_undo_state(None), is_goal_change=True)
            )
        elif channel is not None and channel != state.channel:
            self._reset(channel=channel, undo_state=replace(self._capture_undo_state(None), is_goal_change=True))
        else:
            folder = environment or state.environment
            self._reset(
                choice=choice or state.choice,
                environment=folder,
                environment_kind=environment_kind or state.environment_kind,
            )

    def set_sources(self, sources: tuple[SourceAnswer, ...], files: dict[str, bool | None]) -> None:
        """Set what the sources answered; the next recommendation is made by it."""
        self.state = replace(self.state, sources=sources, checked_files=files)

    def start_customizing(self) -> None:
        """Let the user choose versions. The choices that were reset last are restored, as far as they still go with
        the options; without any, the recommendation stays.
        """
        state = self.state
        if state.choice is None and state.previous_choice is not None:
            self._reset(
                choice=state.previous_choice,
                customizing=True,
                undo_state=replace(self._capture_undo_state(None), is_goal_change=True),
            )
        else:
            self.state = replace(state, customizing=True)

    def undo(self) -> None:
        """Restore what the last change of versions or options replaced."""
        undo_state = self.state.undo_state
        if undo_state is not None:
            previous = {"choice": undo_state.choice, "goal": undo_state.goal, "channel": undo_state.channel}
            customizing = self.state.customizing or (undo_state.is_reset and undo_state.customizing)
            self._reset(**previous, environment=undo_state.environment, customizing=customizing)

    def reset_choices(self) -> None:
        """Drop all chosen versions; `undo` restores them."""
        has_choice = self.state.choice is not None
        undo_state = (
            replace(self._capture_undo_state(None), choice=self.state.choice, is_reset=True) if has_choice else None
        )
        self._reset(choice=None, previous_choice=self.state.choice, customizing=False, undo_state=undo_state)

    def accept_alternative(self, alternative: Alternative) -> None:
        """Change the choice as an alternative says."""
        undo_state = self._capture_undo_state(None)
        self._reset(choice=apply_choice_change(self.state.choice, alternative.change), undo_state=undo_state)

    def take_smaller_choice(self) -> None:
        """Choose what needs less disk space instead of the user's own choices, on the same disk; `undo` restores these.
        The recommendation drops the choices as `reset_choices` does.
        """
        state, smaller = self.state, self.state.smaller_choice
        if smaller is None:
            return
        if smaller.code == "recommended":
            self.reset_choices()
            return
        folder = folder_of_goal(state.environment, state.goal, smaller.goal)
        self._reset(
            goal=smaller.goal, choice=smaller.choice, environment=folder, undo_state=self._capture_undo_state(None)
        )

    def choose_version(self, part: str, value: str | None, *, exclusive: bool = False) -> None:
        """Choose a part's version, None being the recommended one; `exclusive` drops all other choices."""
        choice = apply_choice_change(None if exclusive else self.state.choice, {part: value})
        self._reset(choice=choice if choice != Choice() else None, undo_state=self._capture_undo_state(part))

    def choose_way(self, name: WayName | None) -> None:
        """Choose one of the two ways where a driver update is needed, None being the recommended one."""
        choice = apply_choice_change(self.state.choice, {"way": name})
        self._reset(choice=choice if choice != Choice() else None)

    def _capture_undo_state(self, part: str | None) -> UndoState:
        state = self.state
        # Changes before a recommendation was computed are undone together.
        if state.recommendation is None and state.undo_state is not None:
            return replace(state.undo_state, part=part, is_reset=False)
        return UndoState(
            part=part,
            choice=state.choice,
            recommendation=state.recommendation,
            goal=state.goal,
            channel=state.channel,
            environment=state.environment,
            customizing=state.customizing,
        )

    def set_recommendation(
        self,
        recommendation: Recommendation,
        plan: Plan | None,
        *,
        already_installed: bool = False,
        blocking_error: AppError | None = None,
        smaller_choice: SmallerChoice | None = None,
        options: Options | None = None,
        option_notes: OptionNotes | None = None,
        dropped_choices: tuple[tuple[PartName, str], ...] = (),
    ) -> None:
        """Set a computed recommendation, and its plan or why there is none. Raises ValueError for a real plan of a
        simulated computer.
        """
        if self.simulated and plan is not None and not plan.simulated:
            raise ValueError("a simulated computer must not get a plan that is carried out")
        choice = apply_choice_change(self.state.choice, {part: None for part, _ in dropped_choices})
        self.state = replace(
            self.state,
            goal=recommendation.goal,  # an offline folder has its own
            choice=choice if choice != Choice() else None,
            dropped_choices=(*self.state.dropped_choices, *dropped_choices),
            recommendation=recommendation,
            plan=plan,
            already_installed=already_installed,
            blocking_error=blocking_error,
            smaller_choice=smaller_choice,
            options=options,
            option_notes=option_notes,
            stage="idle",
            end_event=None,
            skipped_steps=(),
            failure=None,
            resumed=False,
        )

    def resume_install(self, interrupted: InterruptedInstall) -> None:
        """Enter the install page with an interrupted install; raises ValueError for a simulated computer."""
        if self.simulated:
            raise ValueError("a simulated computer has no interrupted install")
        plan = interrupted.plan
        self.state = WizardState(
            machine=self.state.machine,
            goal=plan.goal,
            environment=plan.env,
            bundle=plan.bundle,
            recommendation=plan.recommendation,
            plan=plan,
            stage="cancelled",
        )
        self.page = "install"

    # Install

    def begin_install(self) -> Plan:
        """Start the install; returns the plan. Raises ValueError without a plan, or while an install runs."""
        plan = self.state.plan
        if plan is None or self.is_locked:
            raise ValueError("there is nothing to start")
        self.page = "install"
        # The duration of a resumed install is not that of the whole.
        resumed = self.state.resumed or self.state.stage in ("cancelled", "failed", "reboot-needed", "steps-skipped")
        self.state = replace(
            self.state,
            stage="running",
            end_event=None,
            skipped_steps=(),
            failure=None,
            checks=None,
            benchmark=None,
            resumed=resumed,
        )
        return plan

    def request_stop(self) -> None:
        """Note that the user stopped the install, which still runs to its next safe point."""
        if self.state.stage == "running":
            self.state = replace(self.state, stage="stopping")

    def finish_install(self, end: EndEvent) -> None:
        """Note that the install succeeded."""
        self.state = replace(self.state, stage="done", end_event=end)

    def fail_install(self, error: AppError) -> None:
        """Note why the install ended: cancelled, waiting for a restart, without the steps that need rights, failed."""
        if isinstance(error, Cancelled):
            self.cancel_install()
        elif isinstance(error, RebootRequired):
            end = EndEvent(state="reboot-needed", code=error.message.code, data=error.data)
            self.state = replace(self.state, stage="reboot-needed", end_event=end)
        elif isinstance(error, ElevationDenied):
            steps = tuple(step for step in str(error.data.get("steps") or "").split(", ") if step)
            end = EndEvent(state="failed", code=error.message.code, data=error.data)
            self.state = replace(self.state, stage="steps-skipped", end_event=end, skipped_steps=steps)
        else:
            self.state = replace(self.state, stage="failed", failure=failure_from_error(error))

    def cancel_install(self) -> None:
        """Note that the install was cancelled."""
        self.state = replace(self.state, stage="cancelled")

    # Verification and benchmark

    def set_checks(self, checks: Checks) -> None:
        """Set the result of the verification."""
        self.state = replace(self.state, checks=checks)

    def set_benchmark(self, benchmark: Benchmark) -> None:
        """Set the result of the benchmark."""
        self.state = replace(self.state, benchmark=benchmark)
