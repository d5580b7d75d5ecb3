"""The alarms of now: the gravest, the others where somebody asks for them; nothing to be seen while there is none."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal

from ...core.health import Alarm, Health
from ..components import Button, Card, Divider
from .alarm_row import AlarmRow

AlarmKey = tuple[str, int | None]


class AlarmsCard(Card):
    """Signals as a row has them. Without `infos` what is no reason to worry is left out."""

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()

    def __init__(self, *, include_info: bool) -> None:
        self.rows: dict[AlarmKey, AlarmRow] = {}
        self._dividers: list[Divider] = []
        self._include_info = include_info
        self._expanded = False
        self.expand_button = Button(kind="ghost", small=True)
        super().__init__(padding=16)
        self.column.addWidget(self.expand_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.expand_button.clicked.connect(self._toggle_expanded)
        self.hide()

    def show_health(self, health: Health | None, is_muted: Callable[[Alarm], bool], *, first_brief: bool = False) -> None:
        """Follow the state of now; rows that stay are kept, so that nobody loses the keyboard's place. `said`: the
        gravest alarm's sentence stands above already.
        """
        alarms = [alarm for alarm in (health.alarms if health else ()) if self._include_info or alarm.level != "info"]
        alarms_by_key: dict[AlarmKey, Alarm] = {(alarm.id, alarm.gpu): alarm for alarm in alarms}
        if list(alarms_by_key) != list(self.rows):
            self._rebuild_rows(alarms_by_key, is_muted)
        for index, (key, alarm) in enumerate(alarms_by_key.items()):
            self.rows[key].set_alarm(alarm, muted=is_muted(alarm))
            self.rows[key].set_brief(brief=first_brief and index == 0)
        self.setVisible(bool(alarms_by_key))

    def retranslate(self) -> None:
        """The words of the fold."""
        count = len(self.rows) - 1
        if count >= 0:
            expand_text = self.tr("and {count} more").format(count=count)
            self.expand_button.setText(self.tr("Only the gravest") if self._expanded else expand_text)

    def _rebuild_rows(self, alarms_by_key: dict[AlarmKey, Alarm], is_muted: Callable[[Alarm], bool]) -> None:
        existing_rows = {key: self.rows.pop(key, None) for key in alarms_by_key}
        for widget in (*self.rows.values(), *self._dividers):
            widget.hide()
            self.column.removeWidget(widget)
            widget.deleteLater()
        self.rows, self._dividers = {}, []
        for key, alarm in alarms_by_key.items():
            existing = existing_rows[key]
            row = existing if existing is not None else AlarmRow(alarm, muted=is_muted(alarm))
            if existing is None:
                row.alarm_muted.connect(self.alarm_muted)
                row.health_test_requested.connect(self.health_test_requested)
            else:
                self.column.removeWidget(row)
            if self.rows:
                divider = Divider()
                self._dividers.append(divider)
                self.column.insertWidget(self.column.indexOf(self.expand_button), divider)
            self.column.insertWidget(self.column.indexOf(self.expand_button), row)
            self.rows[key] = row
        self._expanded = self._expanded and len(alarms_by_key) > 1
        self._update_expanded()

    def _toggle_expanded(self) -> None:
        self._expanded = not self._expanded
        self._update_expanded()

    def _update_expanded(self) -> None:
        """The first row stands always, the others where they were asked for."""
        for widget in (*self._dividers, *list(self.rows.values())[1:]):
            widget.setVisible(self._expanded)
        for first in list(self.rows.values())[:1]:
            first.show()
        self.expand_button.setVisible(len(self.rows) > 1)
        self.expand_button.set_icon(trailing_icon="up" if self._expanded else "down")
        self.retranslate()
