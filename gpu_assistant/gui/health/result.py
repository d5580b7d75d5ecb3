"""What a test found: each check in a row, the verdict and what it covers."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...core.results import Check, Checks
from ...health.headline import blames_gpu, select_headline, has_tested_gpu
from .. import language
from ..components import Banner, Button, IconWidget, label, use_slim_scroll_bars
from ..components.banner import BannerKind
from .curves import GpuCurvesView

CHECK_ICONS = {"pass": ("check", "ok"), "warn": ("warn", "warn"), "fail": ("error", "error"), "skip": ("minus", "soft")}
MAX_SCOPE_ITEMS = 3  # of what a verdict does not cover, until more is asked for
VERDICT_BANNERS: dict[str, BannerKind] = {"pass": "ok", "warn": "warn"}


def state_label(state: str) -> str:
    """A check's state in a word, for who hears it."""
    translate = QCoreApplication.translate
    return {
        "pass": translate("Health", "right"),
        "warn": translate("Health", "wants a look"),
        "fail": translate("Health", "wrong"),
        "skip": translate("Health", "not tested"),
    }[state]


class CheckRow(QWidget):
    """One check with its sentences: its state as an icon, and below what to do."""

    def __init__(self, check: Check) -> None:
        super().__init__()
        self.check = check
        text, fix = check.text or "", check.fix or ""
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


class HealthResultView(QScrollArea):
    """The rows scroll, and what is said before them (`lead`), so that large text leaves room for them; the keyboard's
    arrows move them.
    """

    def __init__(self, header: QWidget) -> None:
        super().__init__()
        use_slim_scroll_bars(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(QCoreApplication.translate("Health", "What was tested"))
        self.rows: list[CheckRow] = []
        self.curves: list[GpuCurvesView] = []
        self.verdict, self.scope = Banner("ok"), label("small")
        self._checks: Checks | None = None
        self._scope_expanded = False
        self.expand_button = Button(kind="ghost", small=True)
        self.expand_button.clicked.connect(lambda: self._show_scope(expanded=not self._scope_expanded))
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 12, 0)
        self._column.setSpacing(10)
        self._column.addWidget(header)
        for widget in (self.verdict, self.scope):
            self._column.addWidget(widget)
            widget.hide()
        self._column.addWidget(self.expand_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.expand_button.hide()
        self._column.addStretch(1)
        self.setWidget(content)

    def clear(self) -> None:
        """For a new test."""
        for widget in (self.verdict, self.scope, self.expand_button, *self.curves, *self.rows):
            widget.hide()
        for child in (*self.curves, *self.rows):
            self._column.removeWidget(child)
            child.deleteLater()
        self.curves, self.rows = [], []

    def add_check(self, check: Check) -> None:
        """A check was made."""
        checks = Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(check,))
        row = CheckRow(language.texts().localize_checks(checks).checks[0])
        self.rows.append(row)
        self._column.insertWidget(self._column.indexOf(self.scope), row)

    def as_text(self) -> str:
        """All that stands there in words, a line each."""
        banner, checks = self.verdict.label.text(), self._checks
        lines = [row.accessibleName() for row in self.rows]
        if self.verdict.isHidden() or checks is None:
            return "\n".join(lines).strip()
        return "\n".join([banner, *lines, language.texts().localize_checks(checks).scope or ""]).strip()

    def show_result(self, checks: Checks) -> None:
        """The whole of it: the verdict, each check, the curves of the cards, and what the verdict covers."""
        self.clear()
        self._checks = checks
        for check in checks.checks:
            self.add_check(check)
        curves = [curve for curve in checks.curves if curve.t]
        for curve in curves:
            view = GpuCurvesView(curve, several=len(curves) > 1)
            self.curves.append(view)
            self._column.insertWidget(self._column.indexOf(self.scope), view)
        self.verdict.set(_banner_kind(checks), verdict_text(checks))
        self.verdict.show()
        self._show_scope(expanded=False)
        self.verticalScrollBar().setValue(0)

    def _show_scope(self, *, expanded: bool) -> None:
        """What the verdict covers; of what it does not, what matters most or the `whole` of it."""
        checks = self._checks
        if checks is None or checks.level is None:
            return
        self._scope_expanded = expanded
        full_text, short_text = (language.texts().scope_text(checks, max_items=limit) for limit in (None, MAX_SCOPE_ITEMS))
        self.scope.setText(full_text if expanded else short_text)
        self.scope.show()
        translate = QCoreApplication.translate
        self.expand_button.setText(translate("Health", "Show less") if expanded else translate("Health", "Show all of it"))
        self.expand_button.set_icon(None, "up" if expanded else "down")
        self.expand_button.setVisible(full_text != short_text)


def verdict_text(checks: Checks) -> str:
    """The verdict's sentence with the level it is of; what the rows have stands below it here."""
    translate = QCoreApplication.translate
    template = translate("Health", "Level {level}: {verdict}")
    return template.format(level=checks.level, verdict=_verdict_sentence(checks)) if checks.level is not None else _verdict_sentence(checks)


def _banner_kind(checks: Checks) -> BannerKind:
    """Red is for what may be the card."""
    headline_key = select_headline(checks)
    if checks.verdict == "fail":
        return "error" if blames_gpu(headline_key) else "warn"
    return VERDICT_BANNERS[checks.verdict] if has_tested_gpu(headline_key) else "neutral"


def _verdict_sentence(checks: Checks) -> str:
    translate = QCoreApplication.translate
    headline_key = select_headline(checks)
    # What stands above on the command line stands below here.
    overrides = {
        "nothing": translate("Health", "Nothing could be tested here. Why stands below."),
        "asked-warn": translate("Health", "Something wants a look. What to do stands below. Nothing was computed."),
        "warn": translate("Health", "It works, but something wants a look. What to do stands below."),
        "fail": translate("Health", "Something is wrong. What to do stands below."),
    }
    return overrides[headline_key] if headline_key in overrides else language.texts().translate(f"health.verdict.{headline_key}")
