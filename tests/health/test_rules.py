"""Each rule: what makes it ring, that one reading does not, and that it ends by itself."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.catalog.records.health import AlarmRule, NameCondition, NumberCondition
from gpu_assistant.core.results import GpuSample
from gpu_assistant.core.types import Language
from gpu_assistant.health.checks import check_gpu
from gpu_assistant.health.rules import (
    FormFactor,
    advice_codes,
    computer_figure_names,
    gpu_figure_names,
    hot_temperature,
)
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts
from tests.fakes.system import FakeSystem

from .samples import BUSY, IDLE, RULES, SERVER, START, Time

# A laptop's card that tells no limit of its temperature.
UNTOLD = replace(BUSY, name="NVIDIA T1200 Laptop GPU", temp_max=None, temp_slow=None, temp_shutdown=None)
LAPTOP = replace(BUSY, name="NVIDIA GeForce RTX 4060 Laptop GPU")
# Rule -> the card before, and what is different while it rings.
CARDS: dict[str, tuple[GpuSample, dict[str, Any]]] = {
    "lost": (BUSY, {"state": "lost"}),
    "gone": (BUSY, {"state": "gone"}),
    "memory-errors": (SERVER, {"ecc_uncorrected": 1, "ecc_uncorrected_total": 1}),
    "memory-errors-life": (SERVER, {"ecc_uncorrected_total": 900}),
    "remap-failed": (SERVER, {"remap_failed": True, "remap_pending": True, "remapped_rows": 512}),
    "pages-full": (BUSY, {"retired_pages": 64, "retired_pending": True}),
    "xid-card": (BUSY, {"xid": 79, "xid_t": START + 60}),
    "xid-memory": (BUSY, {"xid": 48, "xid_t": START + 60}),
    "xid-replaced": (BUSY, {"xid": 63, "xid_t": START + 60}),
    "fan-stopped": (BUSY, {"temp": 74, "fan": 60, "fan_rpm": 0}),
    "power-supply": (BUSY, {"throttle": ("hardware-slowdown", "power-brake")}),
    "weak-charger": (LAPTOP, {"throttle": ("hardware-slowdown", "power-brake")}),
    "hot": (BUSY, {"temp": 82}),
    "hot-unknown": (UNTOLD, {"temp": 95}),
    "too-hot": (BUSY, {"temp": 107, "throttle": ("hardware-thermal", "thermal")}),
    "too-hot-unknown": (UNTOLD, {"temp": 107, "throttle": ("hardware-thermal",), "util": 10}),
    "memory-hot": (SERVER, {"temp_memory": 94}),
    "memory-too-hot": (SERVER, {"temp_memory": 120}),
    "slowed-by-heat": (BUSY, {"throttle": ("thermal",), "clock_sm": 1900, "temp": 82, "util": 10}),
    "slowed-by-itself": (BUSY, {"throttle": ("hardware-slowdown",), "clock_sm": 1300}),
    "pcie-narrow": (BUSY, {"pcie_width": 4}),
    "pcie-slot": (BUSY, {"pcie_width": 1, "pcie_width_max": 1}),
    "pcie-slow": (BUSY, {"pcie_gen": 2}),
    "clocks-low": (BUSY, {"clock_sm": 300}),
    "power-starved": (BUSY, {"clock_sm": 210, "power_w": 63.2, "throttle": ("power-cap",)}),
    "memory-full": (BUSY, {"mem_used": 8100 << 20}),
    "memory-mended": (SERVER, {"ecc_corrected": 503}),
    "pages-pending": (BUSY, {"retired_pages": 3, "retired_pending": True}),
    "rows-pending": (SERVER, {"remap_pending": True}),
    "xid-driver": (BUSY, {"xid": 119, "xid_t": START + 60}),
    "xid-program": (BUSY, {"xid": 31, "xid_t": START + 60}),
    "pcie-board": (BUSY, {"pcie_gen": 3, "pcie_gen_max": 3}),
    "power-lowered": (BUSY, {"power_limit_w": 60.0, "power_w": 59.8, "throttle": ("power-cap",)}),
    "power-limit": (BUSY, {"power_w": 114.9, "throttle": ("power-cap",)}),
}
COMPUTER = {
    "driver-broken": {"nvml": "not-loaded"},
    "driver-forbidden": {"nvml": "no-permission"},
    "driver-updated": {"nvml": "version-mismatch"},
}
# These rings bring their neighbour along.
ALSO = {"power-lowered": {"power-limit"}}
ELSEWHERE = {"cuda-broken", "hotter-than-before", "memory-errors-before"}  # below, and in test_past.py


def rule(rule_id: str) -> AlarmRule:
    (match,) = [one for one in RULES.rules if one.id == rule_id]
    return match


def test_every_rule_has_a_case() -> None:
    assert {one.id for one in RULES.rules} == {*CARDS, *COMPUTER, *ELSEWHERE}


@pytest.mark.parametrize("rule_id", CARDS)
def test_rule_rings_alone_and_ends(rule_id: str) -> None:
    before, change = CARDS[rule_id]
    sick = replace(before, **change)
    time = Time(lanes=lambda _: 8, form_factor=lambda gpu: "laptop" if gpu.name == LAPTOP.name else "any")
    assert time.passes(60, before).state == "well"
    assert not time.rings()
    # One reading is no alarm, whatever it says.
    assert not any(health.alarms for health in time.moments(1, sick))
    time.passes(30, before)
    needed = rule(rule_id).for_seconds
    began = time.t
    for health in time.moments(needed, sick):
        assert not health.alarms or time.t - began >= needed
    health = time.passes(2, sick)
    assert {alarm.id for alarm in health.alarms} == {rule_id, *ALSO.get(rule_id, ())}
    alarm = next(alarm for alarm in health.alarms if alarm.id == rule_id)
    # Errors that lie back still count from when they came.
    assert began - 40 <= alarm.since <= began
    assert alarm.gpu == 0
    assert health.state == {"info": "well", "warn": "warn", "error": "error"}[alarm.level]
    # Counters and reports stay as they are; time alone ends those.
    after = sick if "rose" in repr(rule(rule_id).when).lower() or sick.xid else before
    time.passes(60 if after is before else 4000, after)
    assert rule_id not in time.rings()


@pytest.mark.parametrize("rule_id", COMPUTER)
def test_a_rule_about_the_computer(rule_id: str) -> None:
    change = COMPUTER[rule_id]
    time = Time()
    time.passes(10, BUSY)
    assert time.passes(1, replace(BUSY, state="silent", util=None, temp=None), **change).alarms == ()
    health = time.passes(2, GpuSample(index=0, name=BUSY.name, state="silent"), **change)
    assert [alarm.id for alarm in health.alarms] == [rule_id]
    assert health.alarms[0].gpu is None
    assert time.passes(10, BUSY).state == "well"


def test_earlier_memory_errors() -> None:
    time = Time()
    bad = replace(SERVER, ecc_uncorrected=500, ecc_uncorrected_total=900)
    health = time.passes(2, bad)
    assert [(alarm.id, alarm.level) for alarm in health.alarms] == [("memory-errors-before", "error")]
    assert health.alarms[0].data["count"] == 500
    # A new start of the driver begins the count anew; the card's life goes on.
    health = time.passes(10, replace(bad, ecc_uncorrected=0))
    assert [(alarm.id, alarm.level) for alarm in health.alarms] == [("memory-errors-life", "info")]
    assert health.state == "well"


def test_two_heat_levels_with_only_shutdown_known() -> None:
    only_end = replace(BUSY, temp_max=None, temp_slow=None, temp_shutdown=92)
    for temp, rings, state in ((89, set(), "well"), (91, {"hot-unknown"}, "warn"), (95, {"too-hot"}, "error")):
        time = Time()
        assert time.passes(10, replace(only_end, temp=temp)).state == state
        assert time.rings() == rings
    time = Time()
    time.passes(10, replace(BUSY, temp=107))
    assert time.rings() == {"too-hot"}
    time.passes(10, replace(BUSY, temp=84))  # what was not said beside it is said once it is over
    assert time.rings() == {"hot"}


def test_power_limit_needs_power_reading() -> None:
    time = Time()
    time.passes(60, replace(BUSY, power_w=63.2, throttle=("power-cap",)))
    assert time.rings() == set()


def test_low_clocks_without_throttle_reasons() -> None:
    time = Time()
    time.passes(40, replace(BUSY, clock_sm=210, throttle=None))
    assert time.rings() == {"clocks-low"}
    time = Time()
    time.passes(40, replace(BUSY, clock_sm=210, throttle=("applications-clocks",)))
    assert time.rings() == set()


def test_half_or_unknown_lanes_are_no_alarm() -> None:
    for most, card in ((8, 16), (1, None)):
        time = Time(lanes=lambda _, card=card: card)
        time.passes(40, replace(BUSY, pcie_width=most, pcie_width_max=most))
        assert time.rings() == set()


def test_advice_by_form_factor() -> None:
    fixes = {}
    for form in get_args(FormFactor):
        time = Time(form_factor=lambda _, form=form: form)
        health = Texts("en").localize_health(time.passes(10, replace(BUSY, temp=84)))
        fixes[form] = health.alarms[0].fix or ""
    assert "server" in fixes["server"]
    assert "raise" in fixes["laptop"]
    assert not any(word in fixes[form] for form in ("server", "desktop") for word in ("laptop", "raise"))
    assert "case" not in fixes["laptop"]


def test_advice_for_several_gpus_is_about_the_air_between_them() -> None:
    fixes = {}
    for form in get_args(FormFactor):
        time = Time(form_factor=lambda _, form=form: form)
        gpus = [replace(BUSY, index=index, uuid=f"GPU-{index}", temp=84) for index in range(2)]
        fixes[form] = Texts("en").localize_health(time.passes(10, *gpus)).alarms[0].fix or ""
    assert {form for form, fix in fixes.items() if "between the cards" in fix} == {"desktop", "any"}
    assert {form for form, fix in fixes.items() if "laptop" in fix or "raise" in fix} == {"laptop"}


@pytest.mark.parametrize(
    ("name", "laptop", "form"),
    [
        ("NVIDIA GeForce RTX 4060", True, "desktop"),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", False, "laptop"),
        ("NVIDIA GeForce RTX 9999", False, "desktop"),
        ("NVIDIA GeForce RTX 9999", True, "any"),
        ("NVIDIA GeForce RTX 9999", None, "any"),
        (None, False, "desktop"),
    ],
)
def test_form_factor_of_an_unknown_name_is_that_of_the_computer(tmp_path, name, laptop, form) -> None:
    app = App(data_dir=str(tmp_path), environ={})
    app.__dict__["system"] = FakeSystem(laptop=laptop)
    assert app.monitoring.form_factor(replace(BUSY, name=name)) == form


def test_own_threshold_is_named() -> None:
    for language, expected in (("en", "our own choice"), ("zh_CN", "由我们自己设定")):
        texts = Texts(language)
        full = texts.localize_health(Time().passes(30, replace(BUSY, mem_used=8100 << 20))).alarms[0]
        assert full.source is None
        assert expected in (full.evidence or "")
        hot = texts.localize_health(Time().passes(30, replace(BUSY, temp=84))).alarms[0]
        assert hot.source is not None
        assert expected not in (hot.evidence or "")


def test_suppressed_rules_exist_and_are_no_graver() -> None:
    gravity = {"info": 0, "warn": 1, "error": 2}
    for one in RULES.rules:
        for other in one.suppresses:
            assert gravity[rule(other).level] <= gravity[one.level]
            assert rule(other).about == one.about


def test_cuda_failure_rings() -> None:
    time = Time()
    time.watch.cuda_state = "fail"
    assert [alarm.id for alarm in time.passes(2, IDLE).alarms] == ["cuda-broken"]
    time.watch.cuda_state = "pass"
    assert time.passes(10, IDLE).state == "well"


@pytest.mark.parametrize("rule_id", [one.id for one in RULES.rules])
def test_every_alarm_has_both_languages(rule_id: str) -> None:
    one = rule(rule_id)
    reason = any(isinstance(condition, NameCondition) and condition.text_prefix for condition in one.when)
    known = {**dict.fromkeys(one.text_inputs, 1), "name": "X", **({"reason": "@health.xid.card"} if reason else {})}
    forms = get_args(FormFactor) if one.about == "card" else ()
    parts = product(forms or ("any",), (False, True), ("title", "evidence", "fix"), ("en", "zh_CN"))
    for form, has_several, part, language in parts:
        data = {**known, **(advice_codes(form, has_several=has_several) if forms else {})}
        text = Texts(language).translate(f"health.{rule_id}.{part}", data)
        assert text
        assert "@" not in text
    used = load_texts()[f"health.{rule_id}.evidence"]["en"]
    assert all(f"{{{name}}}" in used for name in one.text_inputs), "what is gathered is said"


def test_every_alarm_of_a_gpu_has_a_short_state() -> None:
    for one in RULES.rules:
        for language in ("en", "zh_CN"):
            if one.about == "card":
                assert 0 < len(Texts(language).translate(f"health.{one.id}.short")) <= 22


def test_test_and_live_values_call_a_gpu_hot_from_the_same_temperature() -> None:
    for limit in (83, 90):
        assert hot_temperature(RULES, limit) == limit - 2
        for temp, rings in ((limit - 3, set()), (limit - 2, {"hot"})):
            time = Time()
            card = replace(BUSY, temp=temp, temp_max=limit, temp_slow=limit + 10, temp_shutdown=limit + 15)
            time.passes(10, card)
            assert time.rings() == rings
            readings = [(second, card) for second in range(10)]
            checks = check_gpu(
                readings,
                RULES,
                limit + 9,
                was_loaded=True,
                xids={},
                max_temperature=lambda _: None,
                has_several=False,
                form_factor="desktop",
            )
            state = next(check.state for check in checks if check.id == "card-heat")
            assert state == ("warn" if rings else "pass")
    assert hot_temperature(RULES, None) == 90
    time = Time()
    time.passes(10, replace(UNTOLD, temp=90))
    assert time.rings() == {"hot-unknown"}


def test_every_reason_has_a_text() -> None:
    for one in RULES.rules:
        for condition in one.when:
            if isinstance(condition, NameCondition) and condition.text_prefix is not None:
                assert condition.any_of
                for name in condition.any_of:
                    assert f"{condition.text_prefix}.{name}" in load_texts()
    for xid in RULES.xids:
        assert f"health.xid.{xid.kind}" in load_texts()
        assert f"health.xid-again.{xid.kind}" in load_texts()


def test_rules_use_existing_figures() -> None:
    for one in RULES.rules:
        known = gpu_figure_names() if one.about == "card" else computer_figure_names()
        named = {condition.figure for condition in one.when} | set(one.text_inputs.values())
        for condition in one.when:
            if isinstance(condition, NumberCondition):
                named |= {condition.share_of or condition.figure, condition.beyond or condition.figure}
                assert (condition.least is None) != (condition.below is None), one.id
        assert named <= known, one.id


def test_rules_have_source_and_finite_age() -> None:
    for one in RULES.rules:
        assert one.source in RULES.sources
    assert len({xid.number for xid in RULES.xids}) == len(RULES.xids)


def test_heat_without_sensor_names_elsewhere() -> None:
    """The core is cool: what is hot is elsewhere."""
    time = Time()
    (alarm,) = time.passes(10, replace(BUSY, temp=51, throttle=("hardware-slowdown", "hardware-thermal"))).alarms
    assert alarm.id == "slowed-by-heat"
    assert "a part of the card without a sensor" in (Texts("en").localize_alarm(alarm).evidence or "")
    assert "其他部位" in (Texts("zh_CN").localize_alarm(alarm).evidence or "")


def test_hot_core_is_the_named_location() -> None:
    hot = replace(BUSY, temp_max=84, throttle=("hardware-slowdown", "hardware-thermal"))
    for temp, elsewhere in ((83, True), (84, False), (86, False)):
        (alarm,) = Time().passes(10, replace(hot, temp=temp)).alarms
        assert alarm.id == "slowed-by-heat"
        assert (
            "a part of the card without a sensor" in (Texts("en").localize_alarm(alarm).evidence or "")
        ) is elsewhere
        assert ("其他部位" in (Texts("zh_CN").localize_alarm(alarm).evidence or "")) is elsewhere


@pytest.mark.parametrize(("language", "expected"), [("en", "turn the computer off and on"), ("zh_CN", "关机再开机")])
def test_lost_gpu_advice_is_the_same_everywhere(language: Language, expected: str) -> None:
    texts = Texts(language)
    assert expected in texts.translate("monitor.nvml.lost")
    assert expected in texts.translate("health.lost.fix")
