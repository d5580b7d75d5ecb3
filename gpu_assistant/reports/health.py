"""A health test as a page for any browser: the verdict, each check with what to do, the curves, what it covers."""

from __future__ import annotations

import time
from html import escape

from ..core.results import Check, Checks, GpuSample, HealthTestCurve
from ..health.curves import MAX_CURVE_ROWS, curve_intervals
from ..health.headline import select_headline
from ..health.rules import gpu_display_name
from ..texts import current
from ..texts.current import translate
from ..texts.format import UNKNOWN_VALUE
from .page import paragraph_html, render_page, section_html, table_html

STATE_MARKS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}
STATE_COLOURS = {"pass": "ok", "warn": "warn", "fail": "error", "skip": "soft"}


def render_html(checks: Checks, tested: float) -> str:
    """The page in the current language; `tested` is when the test ended, in seconds of the epoch."""
    texts = current.texts()
    localized = texts.localize_checks(checks)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(tested))
    facts = [translate("HealthReport", "Tested {when}").format(when=when)]
    if checks.level is not None:
        facts.append(texts.health_level_name(checks.level))
    return render_page(
        translate("HealthReport", "Is this graphics card healthy?"),
        [
            paragraph_html(" · ".join(facts)),
            f"<section><p>{escape(texts.translate(f'health.verdict.{select_headline(checks)}'))}</p></section>",
            section_html(translate("HealthReport", "What was tested"), _checks_html(localized.checks)),
            *(_curve_section(curve, several=len(checks.curves) > 1) for curve in checks.curves),
            section_html(translate("HealthReport", "What this covers"), f"<p>{escape(localized.scope)}</p>")
            if localized.scope
            else "",
            paragraph_html(
                translate(
                    "HealthReport",
                    "Tested with GPU Assistant. Contains no personal names, serial numbers or folder names.",
                )
            ),
        ],
    )


def _checks_html(checks: tuple[Check, ...]) -> str:
    rows = []
    for check in checks:
        fix = f"<br><small>{escape(check.fix)}</small>" if check.fix else ""
        mark = f'<td style="color:var(--{STATE_COLOURS[check.state]})">{STATE_MARKS[check.state]}</td>'
        rows.append(f"<tr>{mark}<td>{escape(check.text or '')}{fix}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _curve_section(curve: HealthTestCurve, *, several: bool) -> str:
    """Temperature, clock and power of a GPU over the test; "" where the driver reported nothing."""
    intervals = curve_intervals(curve, MAX_CURVE_ROWS)
    if not intervals:
        return ""
    rows = [
        (
            f"{each.until / 60:.1f}",
            _figure(each.temp),
            _figure(each.temp_max),
            _figure(each.clock_sm),
            _figure(each.power_w),
            _figure(None if each.throttled_share is None else 100 * each.throttled_share),
        )
        for each in intervals
    ]
    headers = (
        translate("HealthReport", "Up to minute"),
        translate("HealthReport", "Temperature, °C"),
        translate("HealthReport", "Highest, °C"),
        translate("HealthReport", "Clock, MHz"),
        translate("HealthReport", "Power, W"),
        translate("HealthReport", "Slowed down, % of the time"),
    )
    name = gpu_display_name(GpuSample(index=curve.gpu, name=curve.name), has_several=several)
    return section_html(name, table_html(rows, headers))


def _figure(value: float | None) -> str:
    return UNKNOWN_VALUE if value is None else f"{value:,.0f}"
