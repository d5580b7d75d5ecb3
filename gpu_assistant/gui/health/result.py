"""The result of a health test: verdict, one row for each check, curves of each GPU, and what the verdict covers.

A `CheckRow` is added with each finished check; verdict, curves and scope follow with the result. Texts are from
`resources/texts/health.json`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Check, Checks, HealthTestCurve
from ...health.curves import is_throttled, throttled_share
from ...health.headline import blames_gpu, has_tested_gpu, select_headline
from ...texts.format import format_duration, short_name
from ...texts.translate import remove_cjk_gaps
from .. import language
from ..widgets.buttons import Button
from ..widgets.cards import Hero, HeroKind
from ..widgets.charts import Sparkline
from ..widgets.icons import IconWidget
from ..widgets.text import label
from .levels import level_names
from .running import AreaProgressList

CHECK_ICONS = {"pass": ("check", "ok"), "warn": ("warn", "warn"), "fail": ("error", "error"), "skip": ("minus", "soft")}
VERDICT_KINDS: dict[str, HeroKind] = {"pass": "ok", "warn": "warn"}
STATE_ORDER = ("fail", "warn", "pass", "skip")  # of a result's rows: what needs attention comes first
HEAT_CHECK = "card-heat"
NAMING_CHECKS = ("device-query",)  # what they say is the card's name
SPACE_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
MAX_SCOPE_ITEMS = 3  # of what a verdict does not cover, before "Show all of it"
MAX_POINTS = 400  # of a curve: more than it has pixels
MIN_TEMPERATURE = 20.0  # °C at the bottom of the temperature curve
OptionalValue = float | None
translate = QCoreApplication.translate


class HealthResultView(QWidget):
    """What needs attention, how many checks passed (folded, all on demand), curves and scope; while a test runs, below
    its findings what it is at and what is to come. The page places `verdict` above it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate("Health", "What was tested"))
        self.rows: list[CheckRow] = []
        self.curves: list[GpuCurvesView] = []
        self.verdict, self.scope = Hero("ok"), label("small")
        self.verdict.button.set_kind("primary")
        self.verdict.button.set_icon("restart", None)
        self._checks: Checks | None = None
        self._only_card: str | None = None
        self._scope_expanded = False
        self.passed_fold = PassedFold()
        self.expand_button = Button(kind="ghost", small=True, flush="left")
        self.expand_button.clicked.connect(lambda: self._show_scope(expanded=not self._scope_expanded))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)
        self.pending = AreaProgressList()
        # In this order from the top to the bottom, whenever a check is finished.
        self._lists = {kind: QVBoxLayout() for kind in ("attention", "pass", "skip")}
        for column in self._lists.values():
            column.setSpacing(10)
        self._column.addLayout(self._lists["attention"])
        self._column.addWidget(self.passed_fold)
        self._column.addLayout(self._lists["pass"])
        self._column.addWidget(self.pending)
        self._column.addLayout(self._lists["skip"])
        self.passed_fold.button.clicked.connect(lambda: self._show_passed(is_open=not self.passed_fold.is_open))
        self._column.addWidget(self.scope)
        for widget in (self.verdict, self.pending, self.scope):
            widget.hide()
        self.expand_button.hide()

    def retranslate(self) -> None:
        """Show the same in another language."""
        self.setAccessibleName(translate("Health", "What was tested"))
        if self._checks is not None:
            self.show_result(self._checks, expanded=self._scope_expanded)
            return
        checks = [row.check for row in self.rows]
        self._clear_rows()
        for check in checks:
            self.add_check(check)
        self.pending.refresh()

    def start(self, *, only_card: str | None) -> None:
        """Remove all results, before a new test; `only_card` is the name of the card where just one is tested."""
        self._clear_rows()
        self.pending.clear()
        self._only_card = only_card
        self.passed_fold.set_open(False)

    def _clear_rows(self) -> None:
        for widget in (self.verdict, self.scope, self.expand_button, self.passed_fold, *self.curves, *self.rows):
            widget.hide()
        for row in self.rows:
            self._lists[list_kind(row.check.state)].removeWidget(row)
        for curve in self.curves:
            self._column.removeWidget(curve)
        for child in (*self.curves, *self.rows):
            child.deleteLater()
        self.curves, self.rows, self._checks = [], [], None

    def add_check(self, check: Check) -> None:
        """Add a row for a finished check; one that passed is folded among the others unless they are shown."""
        row = CheckRow(check, self._localize(check))
        self.rows.append(row)
        kind = list_kind(check.state)
        self._lists[kind].addWidget(row)
        if kind == "pass":
            row.setVisible(self.passed_fold.is_open)
            states = [each.state for each in self._checks.checks] if self._checks is not None else []
            judged = sum(state != "skip" for state in states)
            self.passed_fold.set_count(sum(each.check.state == "pass" for each in self.rows), judged)
            self.passed_fold.show()

    def _show_passed(self, *, is_open: bool) -> None:
        """Unfold the checks that passed, or fold them."""
        self.passed_fold.set_open(is_open)
        for row in self.rows:
            if row.check.state == "pass":
                row.setVisible(is_open)

    def _localize(self, check: Check) -> Check:
        """A check in words, with the short name of its GPU; where just one GPU is tested, a check that is in order says
        "the card" instead: its name is in the title.
        """
        device = check.data.get("device")
        is_unnamed = (
            isinstance(device, str)
            and self._only_card is not None
            and short_name(device) == short_name(self._only_card)
            and check.state in ("pass", "skip")
            and check.id not in NAMING_CHECKS
        )
        if isinstance(device, str):
            name = translate("Health", "the card") if is_unnamed else short_name(device)
            check = replace(check, data={**check.data, "device": name})
        checks = Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(check,))
        localized = language.texts().localize_checks(checks).checks[0]
        if not is_unnamed or not localized.text:
            return localized
        text = localized.text[:1].upper() + localized.text[1:]
        return replace(localized, text=SPACE_BETWEEN_HAN.sub("", text))

    def as_text(self) -> str:
        """Verdict, checks and the whole scope as text, one line each."""
        checks = self._checks
        lines = [row.accessibleName() for row in self.rows]
        if self.verdict.isHidden() or checks is None:
            return "\n".join(lines).strip()
        return "\n".join([verdict_text(checks), *lines, language.texts().localize_checks(checks).scope or ""]).strip()

    @property
    def level(self) -> int | None:
        """The level of the result that is shown; None without one."""
        return self._checks.level if self._checks is not None else None

    @property
    def title(self) -> str:
        """The level of the result and the card that was tested, where it was just one."""
        level = _level_name(self._checks) if self._checks is not None else ""
        card = short_name(self._only_card) if self._only_card is not None else ""
        return " · ".join(part for part in (level, card) if part)

    def show_result(self, checks: Checks, *, expanded: bool = False) -> None:
        """Show the result of a test in place of its rows, the worst first, with the whole scope if `expanded`."""
        cards = [check.data.get("device") for check in checks.checks if check.id == "card-answers"]
        is_open = self.passed_fold.is_open and self._checks is checks
        self.start(only_card=str(cards[0]) if len(cards) == 1 else None)
        self.passed_fold.set_open(is_open)
        self._checks = checks
        for check in sorted(checks.checks, key=lambda each: STATE_ORDER.index(each.state)):
            self.add_check(check)
        curves = [curve for curve in checks.curves if curve.t]
        for curve in curves:
            view = GpuCurvesView(curve, several=len(curves) > 1)
            self.curves.append(view)
            self._column.insertWidget(self._column.indexOf(self.scope), view)
        kind = _verdict_kind(checks)
        title, detail = _verdict_sentences(checks)
        findings = [row for row in self.rows if row.check.state in ("warn", "fail")]
        if checks.verdict != "pass" and len(findings) == 1 and findings[0].text:
            # The only finding and its remedy are part of the verdict, and not said again below.
            detail = "\n".join(part for part in (findings[0].text, findings[0].fix) if part)
            findings[0].hide()
        action = translate("Health", "Test again")
        self.verdict.set(kind, title, detail, action, icon="info" if kind == "neutral" else None)
        self.verdict.show()
        self._show_scope(expanded=expanded)

    def _show_scope(self, *, expanded: bool) -> None:
        """What the verdict does not cover, MAX_SCOPE_ITEMS of it unless `expanded`; then also why checks were left
        out. What it covers stands above.
        """
        checks = self._checks
        if checks is None or checks.level is None:
            return
        self._scope_expanded = expanded
        full_text, short_text = (
            language.texts().scope_text(checks, max_items=limit, with_covered=False)
            for limit in (None, MAX_SCOPE_ITEMS)
        )
        parts = [full_text if expanded else short_text]
        if expanded or checks.verdict == "pass":
            parts.append(language.texts().translate("health.pass-means"))
        self.scope.setText(remove_cjk_gaps(" ".join(parts)))
        self.scope.show()
        self.expand_button.setText(
            translate("Health", "Show less") if expanded else translate("Health", "Show what was not tested")
        )
        self.expand_button.set_icon(None, "up" if expanded else "down")
        skipped = [row for row in self.rows if row.check.state == "skip"]
        for row in skipped:
            row.setVisible(expanded)
        self.expand_button.setVisible(full_text != short_text or bool(skipped))


def state_label(state: str) -> str:
    """The state of a check as text, for screen readers."""
    return {
        "pass": translate("Health", "passed"),
        "warn": translate("Health", "needs attention"),
        "fail": translate("Health", "failed"),
        "skip": translate("Health", "not tested"),
    }[state]


def list_kind(state: str) -> str:
    """Which list a check belongs to: "attention", "pass" or "skip"."""
    return state if state in ("pass", "skip") else "attention"


class PassedFold(QWidget):
    """How many checks passed, and a button that shows them; `is_open` while they are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = False
        self.count_label = label("strong")
        self.button = Button(kind="ghost", small=True, flush="right")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(IconWidget(*CHECK_ICONS["pass"], 18), 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.count_label, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)

    def set_count(self, count: int, judged: int = 0) -> None:
        """Say how many checks passed, in the current language; of how many, where not all that were `judged` did."""
        template = translate("Health", "1 check passed") if count == 1 else translate("Health", "{count} checks passed")
        if judged > count:
            template = translate("Health", "{count} of {judged} checks passed")
        self.count_label.setText(template.format(count=count, judged=judged))
        self.set_open(self.is_open)

    def set_open(self, is_open: bool) -> None:
        """Say whether they are shown."""
        self.is_open = is_open
        self.button.setText(translate("Health", "Hide") if is_open else translate("Health", "Show"))
        self.button.set_icon(None, "up" if is_open else "down")
        self.button.setAccessibleDescription(self.count_label.text())


class CheckRow(QWidget):
    """One check: its state as an icon, the finding, and what to do. `localized` is the check in words."""

    def __init__(self, check: Check, localized: Check) -> None:
        super().__init__()
        self.check = check
        self.text, self.fix = text, fix = localized.text or "", localized.fix or ""
        self.setAccessibleName(f"{state_label(check.state)}: {text} {fix}".strip())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(IconWidget(*CHECK_ICONS[check.state], 18), 0, Qt.AlignmentFlag.AlignTop)
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        text_column.addWidget(label("body", text, "soft" if check.state == "skip" else "text"))
        if fix:
            text_column.addWidget(label("small", fix))
        row.addLayout(text_column, 1)


class GpuCurvesView(QWidget):
    """Temperature, clock and throttling of one GPU during the test, each with a text; unreported ones are left out."""

    def __init__(self, curve: HealthTestCurve, *, several: bool) -> None:
        super().__init__()
        code = language.texts().language
        self.sparklines: list[Sparkline] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._span = max(curve.t[-1] - curve.t[0], 1.0)
        title = translate("Health", "What the card did in {duration}").format(
            duration=format_duration(self._span, code)
        )
        name = f"GPU {curve.gpu}" if several else ""
        self._grid.addWidget(label("strong", " · ".join(part for part in (name, title) if part)), 0, 0, 1, 2)
        temps = [temp for temp in curve.temp if temp is not None]
        if temps:
            template = translate("Health", "Temperature: {first} °C at the start, {most} °C at most")
            text = template.format(first=temps[0], most=max(temps))
            self._add_sparkline(
                text, "s3", downsample(curve.t, curve.temp, max), low=MIN_TEMPERATURE, high=max(100.0, *temps)
            )
        clocks = [clock for clock in curve.clock_sm if clock is not None]
        if clocks:
            template = translate("Health", "Clock: {least} to {most} MHz")
            text = template.format(least=min(clocks), most=max(clocks))
            self._add_sparkline(text, "s1", downsample(curve.t, curve.clock_sm, min), high=1.1 * max(clocks))
        throttled_fraction = throttled_share(curve)
        if throttled_fraction is not None:
            throttled = [None if (each := is_throttled(moment)) is None else float(each) for moment in curve.throttle]
            self._add_sparkline(
                self._throttle_text(curve, throttled_fraction), "s5", downsample(curve.t, throttled, max), high=1.2
            )

    def _throttle_text(self, curve: HealthTestCurve, throttled_fraction: float) -> str:
        """How long heat or the power supply throttled the GPU, and the driver's reasons."""
        texts = language.texts()
        if not throttled_fraction:
            return translate("Health", "Slowed down by heat or the power supply: never")
        reasons = dict.fromkeys(
            reason for moment in curve.throttle for reason in moment or () if is_throttled((reason,))
        )
        reason_texts = [
            texts.translate(f"monitor.throttle.{reason}")
            for reason in reasons
            if texts.has_text(f"monitor.throttle.{reason}")
        ]
        template = translate("Health", "Slowed down for {percent}% of the time: {reasons}")
        return template.format(
            percent=max(round(100 * throttled_fraction), 1), reasons=translate("Health", "; ").join(reason_texts)
        )

    def _add_sparkline(
        self, text: str, token: str, points: list[tuple[float, OptionalValue]], *, high: float, low: float = 0.0
    ) -> None:
        line = Sparkline(token, span=self._span, low=low, high=high, height=44)
        line.set_points(points)
        line.setAccessibleName(text)
        row = self._grid.rowCount()
        self._grid.addWidget(label("small", text), row, 0, 1, 2)
        self._grid.addWidget(line, row + 1, 0, 1, 2)
        self.sparklines.append(line)


def downsample(
    t: Sequence[float], values: Sequence[OptionalValue], aggregate: Callable[[list[float]], float]
) -> list[tuple[float, OptionalValue]]:
    """(time, value) of at most MAX_POINTS points; each is `aggregate` of the values that it stands for."""
    step = math.ceil(len(t) / MAX_POINTS)
    points: list[tuple[float, OptionalValue]] = []
    for start in range(0, len(t), step):
        known = [value for value in values[start : start + step] if value is not None]
        points.append((t[min(start + step, len(t)) - 1], aggregate(known) if known else None))
    return points


def verdict_text(checks: Checks) -> str:
    """The verdict with its level, in one line."""
    ends_sentence = "。" if language.texts().language == "zh_CN" else ". "
    text = ends_sentence.join(part.rstrip(".。") for part in _verdict_sentences(checks) if part) + ends_sentence.strip()
    if checks.level is None:
        return text
    return translate("Health", "Level {level}: {verdict}").format(level=checks.level, verdict=text)


def _level_name(checks: Checks) -> str:
    return level_names()[checks.level - 1] if checks.level is not None else ""


def _verdict_kind(checks: Checks) -> HeroKind:
    """Red only where the GPU may be faulty."""
    headline_key = select_headline(checks)
    if checks.verdict == "fail":
        return "error" if blames_gpu(headline_key) else "warn"
    return VERDICT_KINDS[checks.verdict] if has_tested_gpu(headline_key) else "neutral"


def _verdict_sentences(checks: Checks) -> tuple[str, str]:
    """The verdict without its full stop, and what to do or what else there is to say ("" for nothing)."""
    headline_key = select_headline(checks)
    # The command line lists the checks above its verdict, the window below.
    advice = translate("Health", "See below for what to do.")
    overrides = {
        "nothing": (
            translate("Health", "Nothing could be tested here"),
            translate("Health", "See below for the reason."),
        ),
        "asked-warn": (translate("Health", "Something needs attention"), advice),
        "warn": (translate("Health", "It works, but something needs attention"), advice),
        "fail": (translate("Health", "There is a problem"), advice),
    }
    attention = [check.id for check in checks.checks if check.state == "warn"]
    if headline_key == "warn" and attention == [HEAT_CHECK]:
        return translate("Health", "The card works, but it runs hot"), advice
    if headline_key in overrides:
        return overrides[headline_key]
    text = language.texts().translate(f"health.verdict.{headline_key}")
    first, _, rest = text.partition("。" if language.texts().language == "zh_CN" else ". ")
    return first.rstrip("."), rest
