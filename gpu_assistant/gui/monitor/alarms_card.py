"""The alarms of now: the gravest, the others where somebody asks for them; nothing to be seen while there is none."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal

from ...core.health import Alarm, Health
from ..components import Button, Card, Divider
from .alarm_row import AlarmRow

Which = tuple[str, int | None]


class AlarmsCard(Card):
    """Signals as a row has them. Without `infos` what is no reason to worry is left out."""

    silenced = Signal(object, bool)
    test_wanted = Signal()

    def __init__(self, *, infos: bool) -> None:
        self.rows: dict[Which, AlarmRow] = {}
        self._lines: list[Divider] = []
        self._infos = infos
        self._unfolded = False
        self.more = Button(kind="ghost", small=True)
        super().__init__(padding=16)
        self.column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.clicked.connect(self._turn_over)
        self.hide()

    def show_health(self, health: Health | None, silent: Callable[[Alarm], bool], *, said: bool = False) -> None:
        """Follow the state of now; rows that stay are kept, so that nobody loses the keyboard's place. `said`: the
        gravest alarm's sentence stands above already.
        """
        alarms = [alarm for alarm in (health.alarms if health else ()) if self._infos or alarm.level != "info"]
        found: dict[Which, Alarm] = {(alarm.id, alarm.gpu): alarm for alarm in alarms}
        if list(found) != list(self.rows):
            self._build(found, silent)
        for place, (which, alarm) in enumerate(found.items()):
            self.rows[which].set(alarm, silent=silent(alarm))
            self.rows[which].be_brief(brief=said and place == 0)
        self.setVisible(bool(found))

    def retranslate(self) -> None:
        """The words of the fold."""
        count = len(self.rows) - 1
        if count >= 0:
            more = self.tr("and {count} more").format(count=count)
            self.more.setText(self.tr("Only the gravest") if self._unfolded else more)

    def _build(self, found: dict[Which, Alarm], silent: Callable[[Alarm], bool]) -> None:
        rows = {which: self.rows.pop(which, None) for which in found}
        for gone in (*self.rows.values(), *self._lines):
            gone.hide()
            self.column.removeWidget(gone)
            gone.deleteLater()
        self.rows, self._lines = {}, []
        for which, alarm in found.items():
            kept = rows[which]
            row = kept if kept is not None else AlarmRow(alarm, silent=silent(alarm))
            if kept is None:
                row.silenced.connect(self.silenced)
                row.test_wanted.connect(self.test_wanted)
            else:
                self.column.removeWidget(row)
            if self.rows:
                line = Divider()
                self._lines.append(line)
                self.column.insertWidget(self.column.indexOf(self.more), line)
            self.column.insertWidget(self.column.indexOf(self.more), row)
            self.rows[which] = row
        self._unfolded = self._unfolded and len(found) > 1
        self._fold()

    def _turn_over(self) -> None:
        self._unfolded = not self._unfolded
        self._fold()

    def _fold(self) -> None:
        """The first row stands always, the others where they were asked for."""
        for widget in (*self._lines, *list(self.rows.values())[1:]):
            widget.setVisible(self._unfolded)
        for first in list(self.rows.values())[:1]:
            first.show()
        self.more.setVisible(len(self.rows) > 1)
        self.more.set_icon(after="up" if self._unfolded else "down")
        self.retranslate()
