"""A real card under load: nothing that is normal is called a fault, and the curves are what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import Sample
from gpu_assistant.health.checks import check_gpu
from gpu_assistant.health.curves import curve_intervals, make_curve, throttled_share
from gpu_assistant.health.headline import select_headline
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_writer import HistoryWriter
from gpu_assistant.reports.health import render_html
from gpu_assistant.texts.localized import Texts

from .recordings import recorded_health_test, recorded_samples
from .samples import RULES

BENCHMARK = recorded_samples("h200-benchmark.jsonl")
FULL_LOAD = recorded_samples("h200-full-load.jsonl")
KEY = "GPU-00000000-1111-2222-3333-202020202020"


def monitor() -> HealthMonitor:
    return HealthMonitor(RULES, max_temperature=lambda _: None)


def test_benchmark_raises_no_alarm() -> None:
    """22 of its 55 seconds were at the power limit, and once 135 GB of the memory were in use."""
    assert sum("power-cap" in (sample.gpus[0].throttle or ()) for sample in BENCHMARK) == 22
    watch = monitor()
    for sample in BENCHMARK:
        health = watch.update(sample)
        assert health.alarms == ()
        assert health.state in ("unknown", "watching", "well")  # unknown: the first few samples
    assert health.state == "well"


def test_power_limit_under_full_load_is_told_as_normal() -> None:
    watch = monitor()
    for sample in FULL_LOAD:
        assert watch.update(sample).alarms == ()  # nine seconds: not yet
    last = FULL_LOAD[-1]
    health = watch.update(replace(last, t=last.t + 2))
    assert [(alarm.id, alarm.level) for alarm in health.alarms] == [("power-limit", "info")]
    assert health.state == "well"
    (told,) = Texts("en").localize_health(health).alarms
    assert (told.title, told.evidence) == (
        "Your GPU is at its power limit",
        "NVIDIA H200 uses 691 W of 700 W.",
    )


def test_power_limit_is_no_fault_of_a_tested_card() -> None:
    at_rest = next(index for index, sample in enumerate(BENCHMARK) if sample.gpus[0].mem_used == 0)
    readings = [(sample.t - BENCHMARK[at_rest].t, sample.gpus[0]) for sample in BENCHMARK[at_rest:]]
    checks = {
        check.id: check
        for check in check_gpu(
            readings,
            RULES,
            95.0,
            was_loaded=True,
            xids={},
            max_temperature=lambda _: None,
            has_several=False,
            form_factor="desktop",
        )
    }
    assert {name: (check.state, check.value) for name, check in checks.items()} == {
        "card-link": ("pass", "PCIe 5 x16"),
        "card-memory": ("pass", 150_754_820_096),
        "card-errors": ("pass", 0),
        "card-xid": ("pass", 0),
        "card-heat": ("pass", 57),
        "card-fan": ("skip", None),
        "card-held-back": ("pass", 0),
    }
    assert checks["card-heat"].data["limit"] == 87
    assert checks["card-fan"].data["reason"] == "@health.reason.not-told"
    curve = make_curve(readings, ())
    assert throttled_share(curve) == 0
    (interval,) = curve_intervals(curve)
    assert (interval.temp_max, interval.temp, interval.clock_sm) == (
        57,
        pytest.approx(47.83, abs=0.01),
        pytest.approx(1843.9, abs=0.1),
    )


def test_history_holds_what_was_measured() -> None:
    now = [BENCHMARK[0].t]
    history = History(None, clock=lambda: now[0])
    writer = HistoryWriter(lambda: history)
    writer.load_now()
    for sample in BENCHMARK:
        now[0] = sample.t
        writer.add_sample(sample)

    def column(name: str, value_of: str) -> None:
        window = history.window(name, 60)
        measured = [getattr(sample.gpus[0], value_of) for sample in BENCHMARK]
        held = window.mean[~np.isnan(window.mean)]
        assert len(held) >= len(BENCHMARK) - 2, name  # two samples may fall into one second
        assert held.max() == pytest.approx(max(measured), rel=1e-3), name
        assert held.min() == pytest.approx(min(measured), rel=1e-3), name

    column(f"{KEY}.temp", "temp")
    column(f"{KEY}.power_w", "power_w")
    column(f"{KEY}.clock_sm", "clock_sm")
    column(f"{KEY}.mem_used", "mem_used")
    limited = history.window(f"{KEY}.throttle_power-cap", 60).mean
    assert np.nansum(limited) == pytest.approx(22, abs=1)
    assert f"{KEY}.fan" not in history.names  # the card has none


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_recorded_health_test_is_read_and_reported(language: str) -> None:
    checks = recorded_health_test()
    assert select_headline(checks) == "pass"
    assert [check.id for check in checks.checks if check.state != "pass"] == ["card-fan"]
    (curve,) = checks.curves
    assert (len(curve.t), max(temp for temp in curve.temp if temp), throttled_share(curve)) == (45, 58, 0)
    told = Texts(language).localize_checks(checks)  # type: ignore[arg-type]
    by_id = {check.id: check.text or "" for check in told.checks}
    assert "55.3 GB/s" in by_id["copy-bandwidth"]
    assert "58 °C" in by_id["card-heat"]
    assert "87 °C" in by_id["card-heat"]
    assert "NVIDIA H200" in render_html(checks, 1_795_847_000.0)


def test_samples_are_read_back_as_they_were_written() -> None:
    first: Sample = BENCHMARK[0]
    assert (len(BENCHMARK), len(FULL_LOAD)) == (55, 10)
    assert (first.nvml, first.driver, first.gpus[0].mem_total) == ("ready", "580.159.04", 150_754_820_096)
