"""What a test found: each check in a row, the verdict and what it covers."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...core.results import Check, Checks
from ...health.headline import blames, headline, tested
from .. import language
from ..components import Banner, Button, Icon, label, scroll_slim
from ..components.banner import BannerKind
from .curves import CurveView

ICONS = {"pass": ("check", "ok"), "warn": ("warn", "warn"), "fail": ("error", "error"), "skip": ("minus", "soft")}
MOST_TOLD = 3  # of what a verdict does not cover, until more is asked for
VERDICTS: dict[str, BannerKind] = {"pass": "ok", "warn": "warn"}


def state_word(state: str) -> str:
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
        self.setAccessibleName(f"{state_word(check.state)}: {text} {fix}".strip())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(Icon(*ICONS[check.state], 18), 0, Qt.AlignmentFlag.AlignTop)
        said = QVBoxLayout()
        said.setSpacing(2)
        said.addWidget(label("body", text, "soft" if check.state == "skip" else "text"))
        if fix:
            said.addWidget(label("small", fix))
        row.addLayout(said, 1)


class ResultView(QScrollArea):
    """The rows scroll, and what is said before them (`lead`), so that large text leaves room for them; the keyboard's
    arrows move them.
    """

    def __init__(self, lead: QWidget) -> None:
        super().__init__()
        scroll_slim(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(QCoreApplication.translate("Health", "What was tested"))
        self.rows: list[CheckRow] = []
        self.curves: list[CurveView] = []
        self.verdict, self.scope = Banner("ok"), label("small")
        self._checks: Checks | None = None
        self._whole = False
        self.all = Button(kind="ghost", small=True)
        self.all.clicked.connect(lambda: self._show_scope(whole=not self._whole))
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 12, 0)
        self._column.setSpacing(10)
        self._column.addWidget(lead)
        for widget in (self.verdict, self.scope):
            self._column.addWidget(widget)
            widget.hide()
        self._column.addWidget(self.all, 0, Qt.AlignmentFlag.AlignLeft)
        self.all.hide()
        self._column.addStretch(1)
        self.setWidget(content)

    def clear(self) -> None:
        """For a new test."""
        for widget in (self.verdict, self.scope, self.all, *self.curves, *self.rows):
            widget.hide()
        for part in (*self.curves, *self.rows):
            self._column.removeWidget(part)
            part.deleteLater()
        self.curves, self.rows = [], []

    def add(self, check: Check) -> None:
        """A check was made."""
        made = Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(check,))
        row = CheckRow(language.texts().checks(made).checks[0])
        self.rows.append(row)
        self._column.insertWidget(self._column.indexOf(self.scope), row)

    def as_text(self) -> str:
        """All that stands there in words, a line each."""
        banner, checks = self.verdict.label.text(), self._checks
        lines = [row.accessibleName() for row in self.rows]
        if self.verdict.isHidden() or checks is None:
            return "\n".join(lines).strip()
        return "\n".join([banner, *lines, language.texts().checks(checks).scope or ""]).strip()

    def end(self, checks: Checks) -> None:
        """The whole of it: the verdict, each check, the curves of the cards, and what the verdict covers."""
        self.clear()
        self._checks = checks
        for check in checks.checks:
            self.add(check)
        drawn = [curve for curve in checks.curves if curve.t]
        for curve in drawn:
            view = CurveView(curve, several=len(drawn) > 1)
            self.curves.append(view)
            self._column.insertWidget(self._column.indexOf(self.scope), view)
        self.verdict.set(_kind(checks), verdict_words(checks))
        self.verdict.show()
        self._show_scope(whole=False)
        self.verticalScrollBar().setValue(0)

    def _show_scope(self, *, whole: bool) -> None:
        """What the verdict covers; of what it does not, what matters most or the `whole` of it."""
        checks = self._checks
        if checks is None or checks.level is None:
            return
        self._whole = whole
        every, short = (language.texts().scope(checks, most=most) for most in (None, MOST_TOLD))
        self.scope.setText(every if whole else short)
        self.scope.show()
        translate = QCoreApplication.translate
        self.all.setText(translate("Health", "Show less") if whole else translate("Health", "Show all of it"))
        self.all.set_icon(None, "up" if whole else "down")
        self.all.setVisible(every != short)


def verdict_words(checks: Checks) -> str:
    """The verdict's sentence with the level it is of; what the rows have stands below it here."""
    translate = QCoreApplication.translate
    said = translate("Health", "Level {level}: {verdict}")
    return said.format(level=checks.level, verdict=_verdict(checks)) if checks.level is not None else _verdict(checks)


def _kind(checks: Checks) -> BannerKind:
    """Red is for what may be the card."""
    which = headline(checks)
    if checks.verdict == "fail":
        return "error" if blames(which) else "warn"
    return VERDICTS[checks.verdict] if tested(which) else "neutral"


def _verdict(checks: Checks) -> str:
    translate = QCoreApplication.translate
    which = headline(checks)
    # What stands above on the command line stands below here.
    placed = {
        "nothing": translate("Health", "Nothing could be tested here. Why stands below."),
        "asked-warn": translate("Health", "Something wants a look. What to do stands below. Nothing was computed."),
        "warn": translate("Health", "It works, but something wants a look. What to do stands below."),
        "fail": translate("Health", "Something is wrong. What to do stands below."),
    }
    return placed[which] if which in placed else language.texts().say(f"health.verdict.{which}")
