"""What a test's curve says in few figures."""

from __future__ import annotations

import pytest

from gpu_assistant.cli.output import Output
from gpu_assistant.cli.render import health
from gpu_assistant.core.results import Checks, HealthTestCurve
from gpu_assistant.health.curves import MAX_CURVE_ROWS, curve_intervals, throttled_share
from gpu_assistant.texts.localized import Texts

CURVE = HealthTestCurve(
    gpu=0,
    name="NVIDIA A",
    t=tuple(float(second) for second in range(121)),
    temp=tuple(40 if second < 60 else 80 for second in range(121)),
    power_w=(100.0,) * 121,
    clock_sm=(2000,) * 121,
    throttle=tuple(() if second < 60 else ("thermal",) for second in range(121)),
)


def test_one_interval_per_minute() -> None:
    first, second = curve_intervals(CURVE)
    assert (first.until, first.temp, first.temp_max, first.throttled_share) == (60.0, 40.0, 40, 0.0)
    assert (second.until, second.temp, second.temp_max, second.throttled_share) == (120.0, 80.0, 80, 1.0)
    assert throttled_share(CURVE) == pytest.approx(61 / 121)


def test_long_curve_is_condensed() -> None:
    long = HealthTestCurve(
        gpu=0,
        t=(0.0, 1800.0, 3600.0),
        temp=(None,) * 3,
        power_w=(None,) * 3,
        clock_sm=(None,) * 3,
        throttle=(None,) * 3,
    )
    rows = curve_intervals(long)
    assert 0 < len(rows) <= MAX_CURVE_ROWS
    assert {(row.temp, row.temp_max, row.throttled_share) for row in rows} == {(None, None, None)}
    assert curve_intervals(HealthTestCurve(gpu=0)) == ()


@pytest.mark.parametrize(
    ("language", "expected"), [("en", "up to minute 2.0: 80 °C"), ("zh_CN", "到第 2.0 分钟：平均 80 °C")]
)
def test_command_prints_curves(capfd, language: str, expected: str) -> None:
    checks = Checks(
        schema="gpu-assistant/checks/1", verdict="pass", checks=(), level=3, covers=("load",), curves=(CURVE,)
    )
    texts = Texts(language)
    health.render_checks(texts.localize_checks(checks), Output(texts, json=False, quiet=False))
    printed = capfd.readouterr().out
    assert expected in printed
    assert "NVIDIA A" in printed
