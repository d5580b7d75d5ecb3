"""The alarms of now, the gravest first; nothing to be seen while there is none."""

from __future__ import annotations

from PySide6.QtCore import Signal

from ...core.health import Alarm, Health
from ..components import Card, Divider
from .alarm_row import AlarmRow

Which = tuple[str, int | None]


class AlarmsCard(Card):
    """Signals as a row has them. Without `infos` what is no reason to worry is left out."""

    silenced = Signal(str, bool)
    test_wanted = Signal()

    def __init__(self, *, infos: bool) -> None:
        self.rows: dict[Which, AlarmRow] = {}
        self._lines: list[Divider] = []
        self._infos = infos
        super().__init__(padding=16)
        self.hide()

    def show_health(self, health: Health | None, silent: tuple[str, ...]) -> None:
        """Follow the state of now; rows that stay are kept, so that nobody loses the keyboard's place."""
        alarms = [alarm for alarm in (health.alarms if health else ()) if self._infos or alarm.level != "info"]
        found: dict[Which, Alarm] = {(alarm.id, alarm.gpu): alarm for alarm in alarms}
        if list(found) != list(self.rows):
            self._build(found, silent)
        for which, alarm in found.items():
            self.rows[which].set(alarm, silent=alarm.id in silent)
        self.setVisible(bool(found))

    def _build(self, found: dict[Which, Alarm], silent: tuple[str, ...]) -> None:
        rows = {which: self.rows.pop(which, None) for which in found}
        for gone in (*self.rows.values(), *self._lines):
            gone.hide()
            self.column.removeWidget(gone)
            gone.deleteLater()
        self.rows, self._lines = {}, []
        for which, alarm in found.items():
            kept = rows[which]
            row = kept if kept is not None else AlarmRow(alarm, silent=alarm.id in silent)
            if kept is None:
                row.silenced.connect(self.silenced)
                row.test_wanted.connect(self.test_wanted)
            else:
                self.column.removeWidget(row)
            if self.rows:
                line = Divider()
                self._lines.append(line)
                self.column.addWidget(line)
            self.column.addWidget(row)
            self.rows[which] = row
