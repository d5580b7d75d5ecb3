"""Home's verdict says nothing before it is known."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.core.health import Health, HealthState
from gpu_assistant.gui.main.facts import Facts
from gpu_assistant.gui.main.verdict import verdict
from tests.fakes.main_window import ENVIRONMENT, gpu, sample

pytestmark = pytest.mark.gui


def title(facts: Facts, seen) -> str:
    return verdict(facts, seen, Health(t=0.0, state="unknown"), simulated=False).title


@pytest.mark.parametrize("seen", [None, sample()])
def test_nobody_says_that_there_is_no_card_before_the_computer_was_looked_at(qapp, seen):
    assert title(Facts(looked=True), seen) == "Looking at this computer…"


def test_a_card_that_answers_is_enough(qapp):
    assert title(Facts(looked=True), sample(gpu())) == "Your GPU is not set up for deep learning yet"


@pytest.mark.parametrize(("state", "kind"), [("well", "ok"), ("watching", "neutral")])
def test_a_card_of_which_something_has_yet_to_last_is_not_called_well(qapp, state: HealthState, kind: str):
    installed = Facts(looked=True, installed=replace(ENVIRONMENT, variant="cu130"))
    said = verdict(installed, sample(gpu(temp=89)), Health(t=0.0, state=state), simulated=False)
    assert said.kind == kind
    assert "89 °C" in said.detail
    assert ("watching" in said.title) == (state == "watching")
