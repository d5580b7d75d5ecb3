"""While the recommendation is read its sources are asked: Install waits for the first answers only, the check can be
stopped, and its result is shown.
"""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from gpu_assistant.app.available_plan import AvailableSetup, SourceRetry
from gpu_assistant.core.errors import NetworkError
from gpu_assistant.core.plan import PlanFile
from gpu_assistant.core.recommendation import RecommendationWarning, SourceAnswer
from tests.fakes.examples import cpu_recommendation, make_plan

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])
ANSWER = SourceAnswer(source="general", version="2.15.0", variant="cu132", state="available", newest="2.15.0")
DATA = {
    "site": "@site.pytorch-wheels",
    "build": "2.15.0+cpu",
    "version": "2.15.0",
    "recommended": "2.15.0+cu132",
    "download_bytes": 3_000_000_000,
}
ANSWERS = {"index": "@answer.unreachable", "general": "@answer.unreachable", "mirrors": "@answer.not-asked"}


@pytest.fixture
def asking(app):
    """Services whose sources answer when the gate opens."""
    recommendation = replace(cpu_recommendation(None), sources=(ANSWER,))
    plan = make_plan(recommendation, str(app.folder / "env"))
    app.results["sources"] = AvailableSetup(recommendation=recommendation, plan=plan, files={})
    app.may_ask_sources, app.source_gate = True, threading.Event()
    yield app
    app.source_gate.set()


def opened(at_recommendation, app, qtbot):
    wizard = at_recommendation(app)
    qtbot.waitUntil(lambda: wizard.flow.state.plan is not None, timeout=10_000)
    return wizard, wizard.recommendation.source_check_row


@BOTH
def test_install_waits_for_the_first_check_and_says_so(asking, at_recommendation, qtbot, speak, code):
    wizard, row = opened(at_recommendation, asking, qtbot)
    speak(code)
    qtbot.waitUntil(row.isVisible, timeout=10_000)
    assert (
        row.text_label.text()
        == {
            "en": "Checking that everything can be downloaded…",
            "zh_CN": "正在确认文件能否下载…",
        }[code]
    )
    page = wizard.recommendation
    assert not wizard.controller.busy
    assert not page.primary_button.isEnabled()
    hint = {"en": "Checking the downloads first…", "zh_CN": "先确认文件能否下载…"}[code]
    assert (page.footer.hint_label.text(), page.primary_button.toolTip()) == (hint, hint)
    assert page.isAncestorOf(wizard.focusWidget())  # not the rail
    asking.source_gate.set()
    qtbot.waitUntil(page.primary_button.isEnabled, timeout=10_000)
    qtbot.waitUntil(lambda: wizard.focusWidget() is page.primary_button, timeout=10_000)
    assert hint not in (page.footer.hint_label.text(), page.primary_button.toolTip())


def test_failed_check_lets_install(asking, at_recommendation, qtbot):
    asking.results["sources"] = NetworkError("no-network")
    wizard, row = opened(at_recommendation, asking, qtbot)
    qtbot.waitUntil(row.isVisible, timeout=10_000)
    assert not wizard.recommendation.primary_button.isEnabled()
    asking.source_gate.set()
    qtbot.waitUntil(wizard.recommendation.primary_button.isEnabled, timeout=10_000)


def test_end_of_the_check_leaves_the_focus_where_the_user_is(asking, at_recommendation, qtbot):
    wizard, row = opened(at_recommendation, asking, qtbot)
    qtbot.waitUntil(row.isVisible, timeout=10_000)
    qtbot.waitUntil(lambda: wizard.focusWidget() is wizard.recommendation.page, timeout=10_000)
    why = wizard.recommendation.more_options.reasons_button
    why.setFocus()
    asking.source_gate.set()
    qtbot.waitUntil(wizard.recommendation.primary_button.isEnabled, timeout=10_000)
    assert wizard.focusWidget() is why


def test_answers_lead_to_a_recommendation_made_by_them(asking, at_recommendation, qtbot):
    wizard, row = opened(at_recommendation, asking, qtbot)
    asking.source_gate.set()
    qtbot.waitUntil(lambda: wizard.flow.state.recommendation.sources == (ANSWER,), timeout=10_000)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources, timeout=10_000)
    assert asking.calls.count("check sources") == 1
    assert not row.isVisible()  # no file of this plan is confirmed


@BOTH
def test_stopped_check_leaves_the_plan_and_can_be_begun_again(asking, at_recommendation, qtbot, speak, code):
    wizard, row = opened(at_recommendation, asking, qtbot)
    speak(code)
    qtbot.waitUntil(row.isVisible, timeout=10_000)
    row.button.click()
    stopped = {"en": "Not checked yet whether everything can be downloaded.", "zh_CN": "还没有确认文件能否下载。"}[code]
    qtbot.waitUntil(lambda: row.text_label.text() == stopped, timeout=10_000)
    assert wizard.flow.state.plan is not None
    qtbot.waitUntil(wizard.recommendation.primary_button.isEnabled, timeout=10_000)
    asking.source_gate.set()
    row.button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.recommendation.sources == (ANSWER,), timeout=10_000)
    assert asking.calls.count("check sources") == 2


@BOTH
def test_window_goes_on_asking_where_nobody_answered_in_time(asking, at_recommendation, qtbot, speak, code):
    asking.events["sources"] = (SourceRetry(seconds=20.0),)
    wizard, row = opened(at_recommendation, asking, qtbot)
    speak(code)
    text = {"en": "No answer yet, still waiting…", "zh_CN": "还没有响应，仍在等待…"}[code]
    qtbot.waitUntil(lambda: row.text_label.text() == text, timeout=10_000)
    assert not wizard.controller.busy
    assert wizard.recommendation.primary_button.isEnabled()
    row.button.click()
    qtbot.waitUntil(lambda: wizard.controller.was_source_check_stopped, timeout=10_000)
    assert not wizard.controller.is_retrying_sources
    assert asking.calls.count("check sources") == 1


def test_another_choice_does_not_wait_for_sources_that_are_still_asked(asking, at_recommendation, qtbot):
    asking.events["sources"] = (SourceRetry(seconds=20.0),)
    wizard, _row = opened(at_recommendation, asking, qtbot)
    qtbot.waitUntil(lambda: wizard.controller.is_retrying_sources, timeout=10_000)
    wizard.controller.change_options(channel="game-ready")
    qtbot.waitUntil(lambda: asking.calls.count("check sources") == 2, timeout=10_000)
    assert not wizard.controller.was_source_check_stopped


def test_install_ends_the_check(asking, at_recommendation, qtbot):
    asking.events["sources"] = (SourceRetry(seconds=20.0),)
    wizard, _row = opened(at_recommendation, asking, qtbot)
    qtbot.waitUntil(lambda: wizard.controller.is_retrying_sources, timeout=10_000)
    qtbot.waitUntil(wizard.recommendation.primary_button.isEnabled, timeout=10_000)
    wizard.recommendation.primary_button.click()
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=20_000)
    assert "install" in asking.calls


def test_another_choice_is_asked_for_once_more(asking, at_recommendation, qtbot):
    wizard, _row = opened(at_recommendation, asking, qtbot)
    asking.source_gate.set()
    qtbot.waitUntil(lambda: wizard.flow.state.sources == (ANSWER,), timeout=10_000)
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    wizard.controller.change_options(channel="game-ready")
    qtbot.waitUntil(lambda: asking.calls.count("check sources") == 2, timeout=10_000)


def test_stand_in_is_named_before_install(asking, at_recommendation, qtbot, seen):
    warning = RecommendationWarning(code="source-on-cpu", data=DATA | ANSWERS)
    asking.recommendation = lambda choice: replace(cpu_recommendation(choice), warnings=(warning,))
    wizard, _row = opened(at_recommendation, asking, qtbot)
    asking.source_gate.set()
    qtbot.waitUntil(lambda: "general package index instead" in seen(wizard.recommendation.warnings_card))
    assert "3.0 GB" in seen(wizard.recommendation.warnings_card)


@BOTH
def test_build_that_nobody_gives_cannot_be_installed_and_is_asked_for_again(
    asking, at_recommendation, qtbot, speak, code
):
    asking.unavailable = NetworkError("source-none-card", alternatives=(), gpu="RTX 4060", **(DATA | ANSWERS))
    wizard, _row = opened(at_recommendation, asking, qtbot)
    asking.source_gate.set()
    speak(code)
    page = wizard.recommendation
    title = {"en": "This cannot be downloaded right now", "zh_CN": "现在下载不到"}[code]
    qtbot.waitUntil(lambda: page.hero.isVisible() and title in page.hero.accessibleName(), timeout=10_000)
    assert not wizard.flow.can_enter("install")
    qtbot.waitUntil(lambda: not wizard.controller.busy and not wizard.controller.is_checking_sources)
    before = asking.calls.count("check sources")
    page.hero.button.click()
    qtbot.waitUntil(lambda: asking.calls.count("check sources") == before + 1, timeout=10_000)


def test_confirmed_wheel_is_said(asking, at_recommendation, qtbot):
    file = PlanFile(url="https://example.invalid/torch.whl", name="torch.whl", source="index", checked=True)

    def plan(machine, recommendation, environment, **_more):
        made = make_plan(recommendation, str(environment))
        steps = tuple(replace(s, files=(file,)) if s.kind == "download" else s for s in made.steps)
        return replace(made, steps=steps)

    asking.plan = plan
    _wizard, row = opened(at_recommendation, asking, qtbot)
    asking.source_gate.set()
    qtbot.waitUntil(lambda: row.text_label.text() == "Checked: everything can be downloaded.", timeout=10_000)
    # An own site that did not answer may answer now.
    assert row.button.text() == "Check again"
