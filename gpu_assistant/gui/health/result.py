"""The result of a health test: verdict, one row for each check, curves of each GPU, and what the verdict covers.

A `CheckRow` is added with each finished check; verdict, curves and scope follow with the result. Texts are from
`resources/texts/health.json`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Check, Checks, HealthTestCurve
from ...health.curves import is_throttled, throttled_share
from ...health.headline import Headline, blames_gpu, has_tested_gpu, select_headline
from ...texts.format import format_counted, format_duration, short_name, uncapitalize
from ...texts.translate import remove_cjk_gaps
from .. import language
from ..event_loop import IncrementalQueue
from ..remedies import Remedy, remedy_text
from ..widgets.buttons import Button
from ..widgets.cards import Hero, HeroKind, Pill
from ..widgets.charts import Sparkline
from ..widgets.icons import IconWidget
from ..widgets.layouts import FlowLayout, WrappingRow
from ..widgets.text import TextLabel, label
from .levels import LOAD_LEVEL
from .running import AreaProgressList

CHECK_ICONS = {"pass": ("check", "ok"), "warn": ("warn", "warn"), "fail": ("error", "error"), "skip": ("minus", "soft")}
VERDICT_KINDS: dict[str, HeroKind] = {"pass": "ok", "warn": "warn"}
STATE_ORDER = ("fail", "warn", "pass", "skip")  # of a result's rows: what needs attention comes first
HEAT_CHECK = "card-heat"
# The checks about whose finding the program can show more.
CHECK_REMEDIES: dict[str, Remedy] = {
    HEAT_CHECK: "watch-temperature",
    "card-held-back": "watch-temperature",
    "load-speed": "watch-temperature",
    "card-memory": "show-programs",
    "link-speed": "show-programs",
}
FINDINGS_HEADLINES: frozenset[Headline] = frozenset({"warn", "asked-warn", "fail"})  # verdicts about the findings
NAMING_CHECKS = ("device-query",)  # what they say is the card's name
SPACE_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
ROWS_PER_TURN = 12  # that are unfolded in one turn of the event loop
MAX_POINTS = 400  # of a curve: more than it has pixels
MIN_TEMPERATURE = 20.0  # °C at the bottom of the temperature curve
OptionalValue = float | None
translate = QCoreApplication.translate


class HealthResultView(QWidget):
    """How many checks passed (folded, all on demand), below it what needs attention, then curves and scope; while a
    test runs, what it is at and what is to come. The page places `verdict` above it.

    `remedy_requested` brings the remedy of `remedy_button`, the verdict's own button, which is there where the program
    can show more about the worst finding.
    """

    remedy_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate("Health", "What was tested"))
        self.rows: list[CheckRow] = []
        self.curves: list[GpuCurvesView] = []
        self.verdict, self.scope = Hero("ok"), label("small")
        self.remedy_button = self.verdict.button
        self.remedy_button.set_kind("primary")
        self.remedy_button.set_icon()
        self._remedy: Remedy | None = None
        self.remedy_button.clicked.connect(lambda: self.remedy_requested.emit(self._remedy))
        self._checks: Checks | None = None
        self._only_card: str | None = None
        self._scope_expanded = False
        self._unfolding = IncrementalQueue(self)
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
        self._column.addWidget(self.passed_fold)
        self._column.addLayout(self._lists["attention"])
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
        for row in self.rows:
            row.set_words(self._localize(row.check))
        for curve in self.curves:
            curve.retranslate()
        self._count_passed()
        if self._checks is not None:
            self._show_verdict(self._checks)
            self._show_scope(expanded=self._scope_expanded)
        self.pending.refresh()

    def start(self, *, only_card: str | None) -> None:
        """Remove all results, before a new test; `only_card` is the name of the card where just one is tested."""
        self._clear_rows()
        self.pending.clear()
        self._only_card = only_card
        self.passed_fold.set_open(False)

    def _clear_rows(self) -> None:
        self._unfolding.stop()
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
        self._add_row(check)
        self._count_passed()

    def _add_row(self, check: Check) -> None:
        row = CheckRow(check, self._localize(check))
        self.rows.append(row)
        kind = list_kind(check.state)
        self._lists[kind].addWidget(row)
        # While a test runs, what was left out is shown, too; of a result `_show_scope` shows it.
        is_scope_shown = self._checks is None or self._checks.level is None
        row.show_if(self.passed_fold.is_open if kind == "pass" else kind == "attention" or is_scope_shown)

    def _count_passed(self) -> None:
        """Say how many checks passed, how many did not, and of a result how much was not tested."""
        counts = Counter(row.check.state for row in self.rows)
        untested = len(self._checks.leaves_out) if self._checks is not None and self._checks.level is not None else 0
        if counts["pass"] or untested:
            self.passed_fold.set_counts(counts["pass"], failed=counts["fail"], warned=counts["warn"], untested=untested)
            self.passed_fold.show()

    def _show_passed(self, *, is_open: bool) -> None:
        """Unfold the checks that passed, some in each turn of the event loop; or fold them."""
        self.passed_fold.set_open(is_open)
        passed = [row for row in self.rows if row.check.state == "pass"]
        if not is_open:
            self._unfolding.stop()
            _show_rows(passed, shown=False)
            return
        portions = [passed[start : start + ROWS_PER_TURN] for start in range(0, len(passed), ROWS_PER_TURN)]
        self._unfolding.start(partial(_show_rows, portion, shown=True) for portion in portions)

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
        name = translate("Health", "the card") if is_unnamed else ""
        checks = Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(_with_short_name(check, name),))
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
    def has_remedy(self) -> bool:
        """Whether `remedy_button` is there."""
        return self._checks is not None and self._remedy is not None

    @property
    def title(self) -> str:
        """The level of the result and the card that was tested, where it was just one."""
        level = _level_name(self._checks) if self._checks is not None else ""
        card = short_name(self._only_card) if self._only_card is not None else ""
        return " · ".join(part for part in (level, card) if part)

    def show_result(self, checks: Checks) -> None:
        """Show the result of a test in place of its rows, the worst first."""
        cards = [check.data.get("device") for check in checks.checks if check.id == "card-answers"]
        self.start(only_card=str(cards[0]) if len(cards) == 1 else None)
        self._checks = checks
        for check in sorted(checks.checks, key=lambda each: STATE_ORDER.index(each.state)):
            self._add_row(check)
        self._count_passed()
        curves = [curve for curve in checks.curves if curve.t]
        for curve in curves:
            view = GpuCurvesView(curve, several=len(curves) > 1)
            self.curves.append(view)
            self._column.insertWidget(self._column.indexOf(self.scope), view)
        self._show_verdict(checks)
        self._show_scope(expanded=False)

    def _show_verdict(self, checks: Checks) -> None:
        """The verdict in the current language; where there is just one finding, with what to do about it."""
        kind = _verdict_kind(checks)
        general_title, detail = _verdict_sentences(checks)
        findings = [row for row in self.rows if row.check.state in ("warn", "fail")]
        headline = self._findings_headline(checks, [row.check for row in findings])
        if headline and len(findings) == 1:
            # What it is and what to do is said once, by the verdict; its row below is the evidence.
            finding, texts = findings[0], language.texts()
            space = "" if texts.language == "zh_CN" else " "  # a Chinese full stop has its own
            detail = space.join(part for part in (texts.check_remark(finding.check), finding.fix) if part)
            finding.set_evidence(texts.check_evidence(_with_short_name(finding.check)))
        self._remedy = CHECK_REMEDIES.get(findings[0].check.id) if findings else None
        action = remedy_text(self._remedy) if self._remedy is not None else ""
        self.verdict.set(kind, headline or general_title, detail, action, icon="info" if kind == "neutral" else None)
        self.verdict.show()

    def _findings_headline(self, checks: Checks, findings: Sequence[Check]) -> str:
        """Whether it works nevertheless, the first of the findings with its figure, the worst first, and how many more
        there are; "" where the verdict is about something else than the findings.
        """
        headline_key = select_headline(checks)
        if not findings or headline_key not in FINDINGS_HEADLINES:
            return ""
        headline = language.texts().check_headline(findings[0])
        if headline and headline_key == "warn":
            headline = translate("Health", "It works, but {state}").format(state=uncapitalize(headline))
        headline = self._with_card(headline, findings[0])
        if headline and len(findings) > 1:
            template = translate("Health", "{headline}, and {count} more")
            headline = template.format(headline=headline, count=len(findings) - 1)
        return headline

    def _with_card(self, headline: str, check: Check) -> str:
        """The headline of a check with the card that it is about, where several were tested."""
        device = check.data.get("device")
        if not headline or not isinstance(device, str) or self._only_card is not None:
            return headline
        return f"{headline} · {short_name(device)}"

    def _show_scope(self, *, expanded: bool) -> None:
        """Where `expanded`, what the verdict does not cover, which a pill counts, and why checks were left out; of a
        pass always what it means. What it covers stands above.
        """
        checks = self._checks
        if checks is None or checks.level is None:
            return
        self._scope_expanded = expanded
        parts = []
        if expanded:
            parts.append(language.texts().scope_text(checks, with_covered=False))
            if checks.level < LOAD_LEVEL:
                parts.append(translate("Health", "The stress test covers some of these."))
        if expanded or checks.verdict == "pass":
            parts.append(language.texts().translate("health.pass-means"))
        self.scope.setText(remove_cjk_gaps(" ".join(parts)))
        self.scope.setVisible(bool(parts))
        self.expand_button.setText(
            translate("Health", "Show less") if expanded else translate("Health", "Show what was not tested, and why")
        )
        self.expand_button.set_icon(None, "up" if expanded else "down")
        skipped = [row for row in self.rows if row.check.state == "skip"]
        for row in skipped:
            row.show_if(expanded)
        self.expand_button.setVisible(bool(checks.leaves_out or skipped))


def _with_short_name(check: Check, name: str = "") -> Check:
    """The check with the short name of its GPU, or with another `name` for it; one without a GPU as it is."""
    device = check.data.get("device")
    if not isinstance(device, str):
        return check
    return replace(check, data={**check.data, "device": name or short_name(device)})


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
    """How many checks passed, failed and need attention, and how much was not tested, a pill each; and a button that
    shows those that passed, `is_open` while they are shown.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_open = False
        self.passed_pill, self.failed_pill, self.warned_pill = Pill("ok"), Pill("error"), Pill("warn")
        self.untested_pill = Pill("neutral", icon="minus")
        self.button = Button(kind="ghost", small=True, flush="right")
        pills = QWidget()
        pills_layout = FlowLayout(pills)
        for pill in (self.passed_pill, self.failed_pill, self.warned_pill, self.untested_pill):
            pills_layout.addWidget(pill)
        self.setLayout(WrappingRow(pills, self.button))

    def set_counts(self, passed: int, *, failed: int, warned: int, untested: int = 0) -> None:
        """Say in the current language how many checks passed, failed and need attention, and how many areas were not
        tested.
        """
        one, several = translate("Health", "1 check passed"), translate("Health", "{count} checks passed")
        self.passed_pill.set("ok", one if passed == 1 else several.format(count=passed))
        self.failed_pill.set("error", translate("Health", "{count} failed").format(count=failed))
        self.warned_pill.set("warn", format_counted(translate("Health", "{count} warnings"), count=warned))
        self.untested_pill.set("neutral", translate("Health", "{count} not tested").format(count=untested))
        for widget, count in (
            (self.passed_pill, passed),
            (self.button, passed),
            (self.failed_pill, failed),
            (self.warned_pill, warned),
            (self.untested_pill, untested),
        ):
            widget.setVisible(count > 0)
        self.set_open(self.is_open)

    def set_open(self, is_open: bool) -> None:
        """Say whether they are shown."""
        self.is_open = is_open
        self.button.setText(translate("Health", "Hide") if is_open else translate("Health", "Show passed checks"))
        self.button.set_icon(None, "up" if is_open else "down")
        self.button.setAccessibleDescription(self.passed_pill.text)


def _show_rows(rows: Sequence[CheckRow], *, shown: bool) -> None:
    for row in rows:
        row.show_if(shown)


class CheckRow(QWidget):
    """One check: its state as an icon, the finding, and what to do. `localized` is the check in words.

    Icon and labels are created when it is first shown: most rows of a result stay folded.
    """

    def __init__(self, check: Check, localized: Check) -> None:
        super().__init__()
        self.check = check
        self._evidence = ""
        self._labels: list[TextLabel] = []  # the finding, and what to do if there is anything
        self.set_words(localized)

    def set_words(self, localized: Check) -> None:
        """Say the check in these words."""
        self.text, self.fix = localized.text or "", localized.fix or ""
        self._update_labels()

    def set_evidence(self, evidence: str) -> None:
        """Show only this instead of the finding and what to do, which stand elsewhere."""
        self._evidence = evidence
        self._update_labels()

    def _update_labels(self) -> None:
        said = self._evidence or f"{self.text} {self.fix}"
        self.setAccessibleName(f"{state_label(self.check.state)}: {said}".strip())
        for part, sentence in zip(self._labels, (self._evidence or self.text, self.fix), strict=False):
            part.setText(sentence)
        for fix_label in self._labels[1:]:
            fix_label.setVisible(not self._evidence)

    def show_if(self, shown: bool) -> None:
        """Show or hide the row."""
        if shown and not self._labels:
            self._build()
        self.setVisible(shown)

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(IconWidget(*CHECK_ICONS[self.check.state], 18), 0, Qt.AlignmentFlag.AlignTop)
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        self._labels = [label("body", tone="soft" if self.check.state == "skip" else "text")]
        if self.fix:
            self._labels.append(label("small"))
        for part in self._labels:
            text_column.addWidget(part)
        row.addLayout(text_column, 1)
        self._update_labels()


class GpuCurvesView(QWidget):
    """Temperature, clock and throttling of one GPU during the test, each with a text; unreported ones are left out."""

    def __init__(self, curve: HealthTestCurve, *, several: bool) -> None:
        super().__init__()
        self._curve, self._several = curve, several
        self.sparklines: list[Sparkline] = []
        self._captions: list[tuple[TextLabel, Callable[[], str]]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._span = max(curve.t[-1] - curve.t[0], 1.0)
        self._title_label = label("strong")
        self._grid.addWidget(self._title_label, 0, 0, 1, 2)
        temps = [temp for temp in curve.temp if temp is not None]
        if temps:
            self._add_sparkline(
                lambda: translate("Health", "Temperature: {first} °C at the start, {most} °C at most").format(
                    first=temps[0], most=max(temps)
                ),
                "s3",
                downsample(curve.t, curve.temp, max),
                low=MIN_TEMPERATURE,
                high=max(100.0, *temps),
            )
        clocks = [clock for clock in curve.clock_sm if clock is not None]
        if clocks:
            self._add_sparkline(
                lambda: translate("Health", "Clock: {least} to {most} MHz").format(least=min(clocks), most=max(clocks)),
                "s1",
                downsample(curve.t, curve.clock_sm, min),
                high=1.1 * max(clocks),
            )
        throttled_fraction = throttled_share(curve)
        if throttled_fraction is not None:
            throttled = [None if (each := is_throttled(moment)) is None else float(each) for moment in curve.throttle]
            self._add_sparkline(
                lambda: self._throttle_text(throttled_fraction), "s5", downsample(curve.t, throttled, max), high=1.2
            )
        self.retranslate()

    def retranslate(self) -> None:
        """Set the texts in the current language."""
        title = translate("Health", "What the card did in {duration}").format(
            duration=format_duration(self._span, language.texts().language)
        )
        name = f"GPU {self._curve.gpu}" if self._several else ""
        self._title_label.setText(" · ".join(part for part in (name, title) if part))
        for line, (caption, compose) in zip(self.sparklines, self._captions, strict=True):
            text = compose()
            caption.setText(text)
            line.setAccessibleName(text)

    def _throttle_text(self, throttled_fraction: float) -> str:
        """How long heat or the power supply throttled the GPU, and the driver's reasons."""
        texts = language.texts()
        if not throttled_fraction:
            return translate("Health", "Slowed down by heat or the power supply: never")
        reasons = dict.fromkeys(
            reason for moment in self._curve.throttle for reason in moment or () if is_throttled((reason,))
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
        self,
        compose: Callable[[], str],
        token: str,
        points: list[tuple[float, OptionalValue]],
        *,
        high: float,
        low: float = 0.0,
    ) -> None:
        """Add a curve below its text, which `compose` gives in the current language."""
        line, caption = Sparkline(token, span=self._span, low=low, high=high, height=44), label("small")
        line.set_points(points)
        row = self._grid.rowCount()
        self._grid.addWidget(caption, row, 0, 1, 2)
        self._grid.addWidget(line, row + 1, 0, 1, 2)
        self.sparklines.append(line)
        self._captions.append((caption, compose))


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
    text = _join_sentences(_verdict_sentences(checks))
    if checks.level is None:
        return text
    return translate("Health", "{level}: {verdict}").format(level=_level_name(checks), verdict=text)


def _join_sentences(sentences: Sequence[str]) -> str:
    """Sentences in one line, each with a full stop."""
    ends_sentence = "。" if language.texts().language == "zh_CN" else ". "
    return ends_sentence.join(part.rstrip(".。") for part in sentences if part) + ends_sentence.strip()


def _level_name(checks: Checks) -> str:
    """The name of the level; "" without one."""
    return language.texts().health_level_name(checks.level) if checks.level is not None else ""


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
