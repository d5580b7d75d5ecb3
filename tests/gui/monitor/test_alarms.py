"""The alarms: one sentence, expandable advice, the health test that it names."""

from __future__ import annotations

import json
import time

import pytest
from msgspec.structs import replace

from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Alarm, Health
from gpu_assistant.gui.monitor.alarms import ADVISED_TEST_LEVEL, ALARMS_ADVISING_TEST, ALARMS_NAMING_PROGRAMS
from gpu_assistant.gui.monitor.gpu_summary import status_text
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def test_alarms_advising_test_have_button():
    rules = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules).rules
    texts = json.loads((resources_dir() / "texts" / "health.json").read_text(encoding="utf-8"))
    level_name = texts[f"health.level.{ADVISED_TEST_LEVEL}"]["en"]
    named = {rule.id for rule in rules if f"{level_name.lower()} (health test)" in texts[f"health.{rule.id}.fix"]["en"]}
    assert named == ALARMS_ADVISING_TEST
    naming_programs = {
        rule.id for rule in rules if "programs that use the card" in texts[f"health.{rule.id}.fix"]["en"]
    }
    assert naming_programs <= ALARMS_NAMING_PROGRAMS <= {rule.id for rule in rules}


def test_hot_gpu_leads_to_the_programs_on_it(worked, qtbot):
    window, page = worked
    window.resize(1180, 1000)
    card = page.advice_panel.alarms_card
    qtbot.waitUntil(lambda: bool(card.rows), timeout=10_000)
    row = next(row for row in card.rows.values() if row.alarm.id == "slowed-by-heat")
    assert not page.gpu_details.processes_card.isVisible()
    qtbot.waitUntil(row.programs_button.isVisible, timeout=5000)
    row.programs_button.click()
    assert page.gpu_details.processes_card.isVisible()


def test_short_window_offers_the_programs_beside_the_advice(worked, qtbot):
    window, page = worked
    card = page.advice_panel.alarms_card
    qtbot.waitUntil(lambda: bool(card.rows), timeout=10_000)
    row = next(iter(card.rows.values()))
    window.resize(880, 520)
    qtbot.waitUntil(lambda: row.is_short and row.programs_button.isVisible(), timeout=5000)
    qtbot.waitUntil(lambda: row.programs_button.x() > row.fix_label.geometry().right(), timeout=5000)
    assert not row.source_button.isVisible()
    window.resize(1180, 1000)
    qtbot.waitUntil(lambda: row.programs_button.y() > row.fix_label.geometry().bottom(), timeout=5000)
    assert row.programs_button.x() < row.source_button.x()


def test_several_alarms_are_one_line_with_expandable_advice(monitor, qtbot):
    window, page = monitor
    sick = {"temp": 95, "temp_max": 83, "temp_slow": 90, "ecc_uncorrected": 3, "remap_pending": True, "throttle": ()}
    now = time.time()
    feed(window, *(sample(gpu(**sick), t=now - 12 + i) for i in range(12)))
    panel = page.advice_panel
    qtbot.waitUntil(lambda: panel.is_open and len(panel.alarms_card.rows) > 1, timeout=10_000)
    assert page.subtitle_label.text() == "RTX 4060 · 8 GB"  # the alarms are told below it
    assert panel.toggle_button.isVisible()
    assert panel.alarms_card.isVisible()  # what is wrong needs no click
    assert panel.alarms_card.tint == "error"
    first, *others = panel.alarms_card.rows.values()
    assert first.fix_label.isVisible()
    assert not others[0].isVisible()
    panel.alarms_card.expand_button.click()
    assert others[0].isVisible()
    panel.toggle_button.click()
    feed(window, sample(gpu(**sick), t=now + 1))
    assert not panel.alarms_card.isVisible()  # closed by hand, it stays so


def test_status_line_and_pill_show_alarm(worked, qtbot):
    _, page = worked
    text = "RTX 4060 · Your GPU is hot and slowing itself down"
    qtbot.waitUntil(lambda: page.advice_panel.is_open, timeout=10_000)
    page.advice_panel.toggle_button.click()
    qtbot.waitUntil(lambda: page.subtitle_label.text() == text, timeout=10_000)
    assert (page.status_pill.kind, page.status_pill.text) == ("warn", "Slowed by heat")


def test_the_line_of_a_healthy_gpu_at_its_power_limit_says_first_that_this_is_normal(language):
    busy = gpu(temp=61, temp_max=83)
    alarm = Alarm(id="power-limit", level="info", gpu=busy.index, since=1.0)
    health = Health(t=2.0, state="well", cards=1, alarms=(alarm,))
    text = status_text(sample(busy), health, simulated=False)
    assert text == "RTX 4060 · At the power limit (normal) · 22 °C below slowdown"
    both = sample(busy, gpu(1, temp=65, temp_max=83))
    health = Health(t=2.0, state="well", cards=2, alarms=(alarm, replace(alarm, gpu=1)))
    shared = status_text(both, health, simulated=False)
    assert shared == "2 GPUs · At the power limit (normal) · Hottest: 18 °C below slowdown"
    cramped = status_text(both, health, simulated=False, shows_margin=False)
    assert cramped == "2 GPUs · At the power limit (normal)"
    one = status_text(both, replace(health, alarms=(alarm,)), simulated=False)
    assert one.startswith("2 GPUs · GPU 0: at the power limit · ")
