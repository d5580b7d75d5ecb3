"""The wizard's rules, without a window."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import AppError, Cancelled, ElevationDenied, NetworkError, RebootRequired, UsageError
from gpu_assistant.core.plan import EndEvent, InterruptedInstall
from gpu_assistant.core.recommendation import Alternative, Choice
from gpu_assistant.gui.wizard.failure import failure_from_error
from gpu_assistant.gui.wizard.flow import PAGES, WizardFlow
from gpu_assistant.gui.wizard.state import SmallerChoice, apply_choice_change
from tests.fakes.examples import (
    WHEELHOUSE_OFFER,
    cpu_benchmark,
    cpu_recommendation,
    good_checks,
    make_plan,
    plain_linux,
)


def at_recommendation(*, simulated: bool = False) -> WizardFlow:
    flow = WizardFlow(simulated=simulated)
    assert flow.go_next()
    flow.set_machine(plain_linux())
    assert flow.go_next()
    recommendation = cpu_recommendation()
    flow.set_recommendation(recommendation, make_plan(recommendation, "/env", simulated=simulated))
    return flow


def at_done() -> WizardFlow:
    flow = at_recommendation()
    flow.begin_install()
    flow.finish_install(EndEvent(state="done", env="/env", elapsed_s=3.0))
    flow.set_checks(good_checks())
    assert flow.go_next()
    return flow


def test_pages_in_order() -> None:
    flow = at_done()
    assert flow.page == "done"
    assert flow.state.checks == good_checks()
    flow.set_benchmark(cpu_benchmark())
    assert flow.state.benchmark == cpu_benchmark()
    assert not flow.go_next()


def test_page_needs_its_data() -> None:
    flow = WizardFlow()
    assert flow.reachable_pages() == ("computer",)
    assert flow.go_to("computer")
    assert not flow.go_to("recommendation")
    assert not flow.go_to("install")
    assert not flow.go_to("done")
    assert flow.page == "computer"


def test_back_goes_one_page_and_keeps_state() -> None:
    flow = at_done()
    seen = [flow.page]
    while flow.go_back():
        seen.append(flow.page)
    assert seen == list(reversed(PAGES))
    assert flow.state.checks is not None
    assert flow.go_to("done")


def test_running_install_cannot_be_left() -> None:
    flow = at_recommendation()
    flow.begin_install()
    assert flow.is_locked
    assert not flow.go_back()
    assert not flow.go_next()
    assert flow.reachable_pages() == ()
    flow.request_stop()
    assert flow.is_locked
    flow.fail_install(Cancelled())
    assert not flow.is_locked
    assert flow.state.stage == "cancelled"
    assert flow.state.failure is None
    assert flow.go_back()
    assert flow.page == "recommendation"


def test_install_page_needs_a_started_install() -> None:
    flow = at_recommendation()
    flow.go_back()
    assert flow.page == "computer"
    assert not flow.go_to("install")


def test_second_install_is_refused() -> None:
    flow = at_recommendation()
    flow.begin_install()
    with pytest.raises(ValueError, match="nothing to start"):
        flow.begin_install()


def test_new_detection_resets_dependent_state() -> None:
    flow = at_done()
    flow.go_to("computer")
    flow.set_machine(plain_linux())
    assert flow.state.recommendation is None
    assert flow.state.checks is None
    assert not flow.go_to("done")


def test_accepted_alternative_changes_choice_and_drops_plan() -> None:
    flow = at_recommendation()
    flow.accept_alternative(WHEELHOUSE_OFFER)
    assert flow.state.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.state.plan is None
    flow.reset_choices()
    assert flow.state.choice is None


def test_new_folder_or_goal_keeps_choice_until_recommended() -> None:
    flow = at_recommendation()
    flow.accept_alternative(WHEELHOUSE_OFFER)
    flow.change_options(environment="/elsewhere")
    assert flow.state.choice is not None
    assert flow.state.environment == "/elsewhere"
    flow.change_options(goal="tensorflow")
    assert flow.state.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.state.environment is None
    assert flow.state.machine is not None
    fell = (("pytorch", "2.13.0"), ("variant", "cpu"))
    flow.set_recommendation(cpu_recommendation(), None, dropped_choices=fell)
    assert flow.state.choice == Choice(python="3.11")
    assert flow.state.dropped_choices == fell
    flow.undo()
    assert (flow.state.goal, flow.state.environment) == ("pytorch", "/elsewhere")
    assert flow.state.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.state.dropped_choices == ()


def test_alternative_with_unknown_field_is_refused() -> None:
    with pytest.raises(ValueError, match="rm"):
        apply_choice_change(None, {"rm": "-rf"})


@pytest.mark.parametrize(
    ("error", "ways"),
    [
        (NetworkError("no-network"), ("retry", "back")),
        (AppError("disk-full", path="/x"), ("folder", "retry", "back")),
        (AppError("disk-read-only", path="/x"), ("folder", "retry", "back")),
        (UsageError("choice-impossible"), ("back",)),
        (
            NetworkError("nobody-has-it", alternatives=(Alternative(code="older", change={"pytorch": "2.13.0"}),)),
            ("alternative", "retry", "back"),
        ),
    ],
)
def test_remedies_of_errors(error: AppError, ways: tuple[str, ...]) -> None:
    failure = failure_from_error(error)
    assert failure.remedies == ways
    assert failure.alternatives == error.alternatives
    assert failure.message == error.message


def test_failed_install_can_be_retried() -> None:
    flow = at_recommendation()
    flow.begin_install()
    flow.fail_install(NetworkError("no-network"))
    assert flow.state.stage == "failed"
    assert not flow.go_next()
    flow.begin_install()
    assert flow.state.failure is None
    assert flow.state.stage == "running"


def test_reboot_needed_stage() -> None:
    flow = at_recommendation()
    flow.begin_install()
    flow.fail_install(RebootRequired("restart-needed"))
    assert flow.state.stage == "reboot-needed"
    assert flow.state.failure is None
    assert flow.state.end_event is not None
    assert flow.state.end_event.code == "error.restart-needed"
    assert not flow.go_next()
    flow.begin_install()
    assert flow.state.resumed


@pytest.mark.parametrize(("steps", "stands"), [("download", True), ("pytorch, verify", False)])
def test_refused_rights_leave_steps_out(steps: str, stands: bool) -> None:
    flow = at_recommendation()
    flow.begin_install()
    flow.fail_install(ElevationDenied("rights-left-out", steps=steps))
    assert flow.state.stage == "steps-skipped"
    assert flow.state.skipped_steps == tuple(steps.split(", "))
    assert flow.state.failure is None
    assert flow.is_environment_verified is stands
    assert flow.go_next() is stands


def test_interrupted_install_is_resumed() -> None:
    flow = WizardFlow()
    plan = make_plan(cpu_recommendation(), "/env")
    flow.resume_install(InterruptedInstall(plan=plan, step="download", began=0.0))
    assert flow.page == "install"
    assert flow.previous_page() == "computer"
    assert flow.begin_install() == plan
    flow.finish_install(EndEvent(state="done", env="/env"))
    assert flow.go_next()


def test_existing_environment_is_verified_without_install() -> None:
    flow = at_recommendation()
    recommendation = cpu_recommendation()
    flow.set_recommendation(recommendation, make_plan(recommendation, "/env"), already_installed=True)
    flow.set_checks(good_checks())
    assert flow.go_to("done")
    assert flow.previous_page() == "recommendation"


class TestSimulated:
    def test_simulated_flow_refuses_real_plan(self) -> None:
        flow = at_recommendation(simulated=True)
        recommendation = cpu_recommendation()
        with pytest.raises(ValueError, match="simulated"):
            flow.set_recommendation(recommendation, make_plan(recommendation, "/env"))
        assert flow.begin_install().simulated

    def test_simulated_flow_refuses_resume(self) -> None:
        with pytest.raises(ValueError, match="simulated"):
            WizardFlow(simulated=True).resume_install(make_plan(cpu_recommendation(), "/env"))


def test_smaller_goal_gets_a_folder_of_its_own_on_the_same_disk() -> None:
    flow = at_recommendation()
    flow.change_options(goal="all")
    flow.change_options(environment="/disk/ai/all")
    recommendation = replace(cpu_recommendation(), goal="all")
    smaller = SmallerChoice(code="pytorch-only", goal="pytorch", choice=None, needed_bytes=1, fits=True)
    flow.set_recommendation(recommendation, make_plan(recommendation, "/disk/ai/all"), smaller_choice=smaller)
    flow.take_smaller_choice()
    assert (flow.state.goal, flow.state.environment) == ("pytorch", str(Path("/disk/ai/pytorch")))
    flow.undo()
    assert (flow.state.goal, flow.state.environment) == ("all", "/disk/ai/all")


def test_recommendation_in_place_of_a_choice_that_is_too_large_leaves_it_to_be_chosen_again() -> None:
    flow = at_recommendation()
    own = Choice(pytorch="2.14.1")
    flow.start_customizing()
    flow.change_options(choice=own)
    recommendation = cpu_recommendation()
    smaller = SmallerChoice(code="recommended", goal="pytorch", choice=None, needed_bytes=1, fits=True)
    flow.set_recommendation(recommendation, make_plan(recommendation, "/env"), smaller_choice=smaller)
    flow.take_smaller_choice()
    assert (flow.state.choice, flow.state.previous_choice, flow.state.customizing) == (None, own, False)
    flow.start_customizing()
    assert flow.state.choice == own
