"""Home's verdict says nothing before it is known."""

from __future__ import annotations

import pytest

from gpu_assistant.core.health import Health
from gpu_assistant.gui.main.facts import Facts
from gpu_assistant.gui.main.verdict import verdict
from tests.fakes.main_window import gpu, sample

pytestmark = pytest.mark.gui


def title(facts: Facts, seen) -> str:
    return verdict(facts, seen, Health(t=0.0, state="unknown"), simulated=False).title


@pytest.mark.parametrize("seen", [None, sample()])
def test_nobody_says_that_there_is_no_card_before_the_computer_was_looked_at(qapp, seen):
    assert title(Facts(looked=True), seen) == "Looking at this computer…"


def test_a_card_that_answers_is_enough(qapp):
    assert title(Facts(looked=True), sample(gpu())) == "Your GPU is not set up for deep learning yet"
