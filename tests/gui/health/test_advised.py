"""The alarms that name the health test have its button."""

from __future__ import annotations

import json

from gpu_assistant.catalog.health import HealthRules
from gpu_assistant.catalog.load import load
from gpu_assistant.core.paths import resources
from gpu_assistant.gui.health.advised import ADVISED, ADVISED_LEVEL


def test_the_alarms_that_name_the_test_are_those_with_its_button():
    rules = load(resources() / "catalog").read("health.json", HealthRules).rules
    texts = json.loads((resources() / "texts" / "health.json").read_text(encoding="utf-8"))
    named = {
        rule.id for rule in rules if f"health test of level {ADVISED_LEVEL}" in texts[f"health.{rule.id}.fix"]["en"]
    }
    assert named == ADVISED
