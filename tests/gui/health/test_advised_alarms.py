"""The alarms that name the health test have its button."""

from __future__ import annotations

import json

from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.gui.health.dialog import ADVISED_TEST_LEVEL, ALARMS_ADVISING_TEST


def test_alarms_advising_test_have_button():
    rules = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules).rules
    texts = json.loads((resources_dir() / "texts" / "health.json").read_text(encoding="utf-8"))
    named = {
        rule.id
        for rule in rules
        if f"health test of level {ADVISED_TEST_LEVEL}" in texts[f"health.{rule.id}.fix"]["en"]
    }
    assert named == ALARMS_ADVISING_TEST
