"""The wizard's rules, without a window."""

from __future__ import annotations

import pytest

from gpu_assistant.core.errors import AppError, CallError, Cancelled, NetworkError, RebootNeeded, RightsRefused
from gpu_assistant.core.plan import EndEvent, Interrupted
from gpu_assistant.core.recommendation import Alternative, Choice
from gpu_assistant.gui.wizard.facts import apply, trouble
from gpu_assistant.gui.wizard.flow import PAGES, Flow
from tests.fakes.examples import (
    WHEELHOUSE_OFFER,
    cpu_benchmark,
    cpu_recommendation,
    good_checks,
    make_plan,
    plain_linux,
)


def at_recommendation(*, simulated: bool = False) -> Flow:
    flow = Flow(simulated=simulated)
    assert flow.next()
    flow.found(plain_linux())
    assert flow.next()
    recommendation = cpu_recommendation()
    flow.reckoned(recommendation, make_plan(recommendation, "/env", simulated=simulated))
    return flow


def at_done() -> Flow:
    flow = at_recommendation()
    flow.begin()
    flow.ended(EndEvent(state="done", env="/env", elapsed_s=3.0))
    flow.checked(good_checks())
    assert flow.next()
    return flow


def test_the_straight_way() -> None:
    flow = at_done()
    assert flow.page == "done"
    assert flow.facts.checks == good_checks()
    flow.measured(cpu_benchmark())
    assert flow.facts.benchmark == cpu_benchmark()
    assert not flow.next()


def test_no_page_before_what_it_shows_is_known() -> None:
    flow = Flow()
    assert flow.open_pages() == ("computer",)
    assert flow.go("computer")
    assert not flow.go("recommendation")
    assert not flow.go("install")
    assert not flow.go("done")
    assert flow.page == "computer"


def test_back_goes_step_by_step_and_loses_nothing() -> None:
    flow = at_done()
    seen = [flow.page]
    while flow.back():
        seen.append(flow.page)
    assert seen == list(reversed(PAGES))
    assert flow.facts.checks is not None
    assert flow.go("done")


def test_a_running_install_is_not_left() -> None:
    flow = at_recommendation()
    flow.begin()
    assert flow.locked
    assert not flow.back()
    assert not flow.next()
    assert flow.open_pages() == ()
    flow.stopping()
    assert flow.locked
    flow.failed(Cancelled())
    assert not flow.locked
    assert flow.facts.stage == "cancelled"
    assert flow.facts.trouble is None
    assert flow.back()
    assert flow.page == "recommendation"


def test_an_install_that_never_began_is_no_page() -> None:
    flow = at_recommendation()
    flow.back()
    assert flow.page == "computer"
    assert not flow.go("install")


def test_two_installs_at_once_are_refused() -> None:
    flow = at_recommendation()
    flow.begin()
    with pytest.raises(ValueError, match="nothing to start"):
        flow.begin()


def test_a_new_look_forgets_what_rested_on_the_old_one() -> None:
    flow = at_done()
    flow.go("computer")
    flow.found(plain_linux())
    assert flow.facts.recommendation is None
    assert flow.facts.checks is None
    assert not flow.go("done")


def test_a_taken_offer_changes_the_choice_and_forgets_the_plan() -> None:
    flow = at_recommendation()
    flow.offered(WHEELHOUSE_OFFER)
    assert flow.facts.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.facts.plan is None
    flow.unwish()
    assert flow.facts.choice is None


def test_another_folder_and_another_goal_keep_the_choice_until_it_is_reckoned() -> None:
    flow = at_recommendation()
    flow.offered(WHEELHOUSE_OFFER)
    flow.wish(environment="/elsewhere")
    assert flow.facts.choice is not None
    assert flow.facts.environment == "/elsewhere"
    flow.wish(goal="tensorflow")
    assert flow.facts.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.facts.environment is None
    assert flow.facts.machine is not None
    fell = (("pytorch", "2.13.0"), ("variant", "cpu"))
    flow.reckoned(cpu_recommendation(), None, fell=fell)
    assert flow.facts.choice == Choice(python="3.11")
    assert flow.facts.fell == fell
    flow.undo()
    assert (flow.facts.goal, flow.facts.environment) == ("pytorch", "/elsewhere")
    assert flow.facts.choice == Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    assert flow.facts.fell == ()


def test_an_offer_may_only_change_what_a_choice_has() -> None:
    with pytest.raises(ValueError, match="rm"):
        apply(None, {"rm": "-rf"})


@pytest.mark.parametrize(
    ("error", "ways"),
    [
        (NetworkError("no-network"), ("retry", "back")),
        (AppError("disk-full", path="/x"), ("folder", "retry", "back")),
        (AppError("disk-read-only", path="/x"), ("folder", "retry", "back")),
        (CallError("choice-impossible"), ("back",)),
        (
            NetworkError("nobody-has-it", offers=(Alternative(code="older", change={"pytorch": "2.13.0"}),)),
            ("offer", "retry", "back"),
        ),
    ],
)
def test_ways_out(error: AppError, ways: tuple[str, ...]) -> None:
    found = trouble(error)
    assert found.ways == ways
    assert found.offers == error.offers
    assert found.message == error.message


def test_failure_and_another_try() -> None:
    flow = at_recommendation()
    flow.begin()
    flow.failed(NetworkError("no-network"))
    assert flow.facts.stage == "failed"
    assert not flow.next()
    flow.begin()
    assert flow.facts.trouble is None
    assert flow.facts.stage == "running"


def test_a_restart_is_a_state_of_its_own() -> None:
    flow = at_recommendation()
    flow.begin()
    flow.failed(RebootNeeded("restart-needed"))
    assert flow.facts.stage == "reboot-needed"
    assert flow.facts.trouble is None
    assert flow.facts.end is not None
    assert flow.facts.end.code == "error.restart-needed"
    assert not flow.next()
    flow.begin()
    assert flow.facts.continued


@pytest.mark.parametrize(("steps", "stands"), [("download", True), ("pytorch, verify", False)])
def test_refused_rights_leave_the_rest(steps: str, stands: bool) -> None:
    flow = at_recommendation()
    flow.begin()
    flow.failed(RightsRefused("rights-left-out", steps=steps))
    assert flow.facts.stage == "left-out"
    assert flow.facts.left_out == tuple(steps.split(", "))
    assert flow.facts.trouble is None
    assert flow.stands is stands
    assert flow.next() is stands


def test_an_interrupted_install_is_taken_up() -> None:
    flow = Flow()
    plan = make_plan(cpu_recommendation(), "/env")
    flow.resumed(Interrupted(plan=plan, step="download", began=0.0))
    assert flow.page == "install"
    assert flow.back_to() == "computer"
    assert flow.begin() == plan
    flow.ended(EndEvent(state="done", env="/env"))
    assert flow.next()


def test_a_settled_environment_is_proven_without_an_install() -> None:
    flow = at_recommendation()
    recommendation = cpu_recommendation()
    flow.reckoned(recommendation, make_plan(recommendation, "/env"), settled=True)
    flow.checked(good_checks())
    assert flow.go("done")
    assert flow.back_to() == "recommendation"


class TestSimulated:
    def test_it_never_gets_a_real_plan(self) -> None:
        flow = at_recommendation(simulated=True)
        recommendation = cpu_recommendation()
        with pytest.raises(ValueError, match="simulated"):
            flow.reckoned(recommendation, make_plan(recommendation, "/env"))
        assert flow.begin().simulated

    def test_it_never_takes_up_a_real_install(self) -> None:
        with pytest.raises(ValueError, match="simulated"):
            Flow(simulated=True).resumed(make_plan(cpu_recommendation(), "/env"))
