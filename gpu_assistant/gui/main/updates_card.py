"""Settings' card about updates: whether to look, when that was done last, what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from ..components import Button, Card, Divider, Segments, label
from ..language import texts
from .saving import SettingsSaver
from .updates import Updates
from .updates_offer import UpdateOffer

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class UpdatesCard(Card):
    """A build that knows no publisher says so, and nothing else."""

    def __init__(self, updates: Updates, app: App, saver: SettingsSaver) -> None:
        self._updates, self._app, self._saver = updates, app, saver
        self._ready = False
        self.dormant = label("body", "", "soft")
        self.question, self.last = label("body"), label("body", "", "soft")
        self.choice = Segments(["", ""])
        self.check = Button()
        self.line, self.offer = Divider(), UpdateOffer(updates)
        self.trouble = label("small", tone="error")
        super().__init__(" ")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        for row, (words, control) in enumerate(((self.question, self.choice), (self.last, self.check))):
            grid.addWidget(words, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addWidget(self.dormant)
        self.column.addLayout(grid)
        for part in (self.trouble, self.line, self.offer):
            self.column.addWidget(part)
        self.choice.chosen.connect(self._choose)
        self.check.clicked.connect(lambda: updates.look_up("now"))
        updates.changed.connect(self.retranslate)
        self._ready = True
        if updates.look is None:
            updates.look_up("never")
        self.retranslate()

    def retranslate(self) -> None:
        """All words and all states."""
        if not self._ready:
            return
        updates, possible = self._updates, self._updates.possible
        self.set_title(self.tr("Updates"))
        self.dormant.setText(
            self.tr(
                "This build looks for no updates: it knows no publisher to ask. New versions are installed by hand."
            )
        )
        self.dormant.setVisible(not possible)
        for part in (self.question, self.choice, self.last, self.check):
            part.setVisible(possible)
        newer = updates.newer is not None
        self.line.setVisible(newer)
        self.offer.setVisible(newer)
        error = updates.error if not newer else None
        self.trouble.setText(texts().error(error) if error is not None else "")
        self.trouble.setVisible(error is not None)
        self.question.setText(self.tr("Look for a newer version once a day"))
        self.choice.set_options([self.tr("On"), self.tr("Off")])
        self.choice.set_current(ON if self._app.settings.look_for_updates else OFF)
        self.choice.setAccessibleName(self.question.text())
        self.check.setText(self.tr("Check now"))
        self.check.set_busy(updates.asking)
        self.check.setEnabled(updates.stage in ("found", "ready"))
        self.last.setText(self._last())

    def _last(self) -> str:
        known = self._updates.known
        if self._updates.asking:
            return self.tr("Asking…")
        if known is None or known.asked is None or known.outcome is None:
            return self.tr("Not checked yet.")
        # As the clock on this computer's wall says it.
        moment = datetime.fromtimestamp(known.asked, UTC).astimezone()
        outcome = texts().say(f"update.outcome.{known.outcome}")
        return self.tr("Last check {when}: {outcome}").format(when=f"{moment:%Y-%m-%d %H:%M}", outcome=outcome)

    def _choose(self, index: int) -> None:
        self._saver.keep(look_for_updates=index == ON)
        self._updates.changed.emit()
