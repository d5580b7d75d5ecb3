"""The alarms of the GPUs: what is wrong, the evidence, what to do, the source, and muting of notifications.

`AlarmAdvicePanel` is the collapsed panel of Monitor, `AlarmsCard` the card of Home; an `AlarmRow` is one alarm.
Texts are from `resources/texts/health.json`. `gpu_state` says in short how one of several GPUs is, `alarm_names` which
alarms there are, `alarm_tones` in which colour a value is shown that an alarm is about, and `sort_by_alarms` is the
order of GPUs wherever those with an alarm (`alarmed_gpus`) come first.

An alarm of level "info" is called a note: nothing needs to be done about it, and it does not count as an alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Alarm, GpuSample, Health
from ...texts.format import format_counted, join_unit, uncapitalize
from .. import language
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.cards import Card, Divider, PillKind
from ..widgets.icons import IconWidget
from ..widgets.layouts import FlowLayout
from ..widgets.text import SEPARATOR, label

ALARM_ICONS = {"info": ("info", "accent_text"), "warn": ("warn", "warn"), "error": ("error", "error")}
ROW_ICON_SIZE, ROW_SPACING = 20, 14  # pixels of an alarm's icon, and beside it
ROW_GAP = 8  # pixels between two alarms
SHORT_PADDING = 6  # pixels below the button of a short card, which has a margin of its own
ADVISED_TEST_LEVEL = 2
# The alarms whose advice names the health test; a test compares this with resources/texts/health.json.
ALARMS_ADVISING_TEST = frozenset(
    {"memory-errors", "memory-errors-before", "memory-mended", "xid-card", "xid-memory", "xid-program"}
)
# The alarms that fewer programs on the card help against: their advice names these, or they come from a hot chip.
ALARMS_NAMING_PROGRAMS = frozenset(
    {"fan-stopped", "memory-full", "memory-too-hot", "too-hot", "too-hot-unknown", "hot", "slowed-by-heat"}
)
AlarmKey = tuple[str, int | None]  # rule and GPU; of a note that several GPUs may share, None
# The metric that an alarm is about, where a plot shows it.
ALARM_METRICS = {
    "slowed-by-heat": "temp",
    "slowed-by-itself": "power",
    "power-limit": "power",
    "power-starved": "power",
    "power-supply": "power",
    "weak-charger": "power",
    "hot": "temp",
    "too-hot": "temp",
    "fan-stopped": "temp",
    "hot-unknown": "temp",
    "too-hot-unknown": "temp",
    "hotter-than-before": "temp",
    "memory-full": "mem",
}
SLOWING_ALARMS = ("slowed-by-heat", "slowed-by-itself", "power-supply")  # a lower clock is what they show in
MAX_NAMED_ALARMS = 3  # kinds of alarms that one line names before it counts the rest


def gpu_state(index: int, gpu: GpuSample | None, health: Health | None) -> tuple[PillKind, str] | None:
    """(kind, text) of one of several GPUs: its worst alarm in short, else its state; None while that is unknown."""
    translate, texts = QCoreApplication.translate, language.texts()
    alarm = next((each for each in (health.alarms if health else ()) if each.gpu == index), None)
    if alarm is not None and alarm.level != "info":
        return "error" if alarm.level == "error" else "warn", texts.alarm_state(alarm)
    state = gpu.state if gpu is not None else "silent"
    if state != "ready":
        return "neutral", texts.translate(f"monitor.gpu.{state}")
    if health is None or health.state == "unknown":
        return None
    if index in health.watching:
        return "neutral", translate("GpuHeader", "Watching")
    if index in health.untold:
        return "neutral", translate("GpuHeader", "Unknown")
    return "ok", translate("GpuHeader", "Normal")


def sort_by_alarms(gpus: Iterable[int], health: Health | None) -> list[int]:
    """These GPUs, the ones with the most severe alarms first, the others as they are given."""
    alarms = [alarm for alarm in health.alarms if alarm.level != "info"] if health is not None else []
    ranks = {alarm.gpu: rank for rank, alarm in reversed(list(enumerate(alarms)))}
    return sorted(gpus, key=lambda gpu: ranks.get(gpu, len(alarms)))


def alarmed_gpus(health: Health | None) -> frozenset[int]:
    """The GPUs with an alarm, notes apart."""
    alarms = health.alarms if health is not None else ()
    return frozenset(alarm.gpu for alarm in alarms if alarm.level != "info" and alarm.gpu is not None)


def alarm_tones(health: Health | None, gpu: int) -> dict[str, str]:
    """The tone of the values that the alarms of a GPU are about, by the key of their metric."""
    alarms = [alarm for alarm in health.alarms if alarm.level != "info" and alarm.gpu == gpu] if health else []
    tones: dict[str, str] = {}
    for alarm in alarms:  # the most severe one first
        for metric in (ALARM_METRICS.get(alarm.id, ""), *(("clock",) if alarm.id in SLOWING_ALARMS else ())):
            tones.setdefault(metric, alarm.level)
    return tones


def alarm_names(alarms: Sequence[Alarm], *, names_gpus: bool, most: int = MAX_NAMED_ALARMS) -> list[str]:
    """Each kind of alarm in short, in the order of `alarms`, with its GPUs where there are several: "GPU 6: hot".

    Of more than `most` kinds the last text counts the alarms that are not named: "2 more alarms".
    """
    texts, kinds = language.texts(), list(dict.fromkeys(alarm.id for alarm in alarms))
    names = []
    for kind in kinds[:most]:
        of_kind = [alarm for alarm in alarms if alarm.id == kind]
        state = (
            texts.alarm_state(of_kind[0])
            if texts.has_text(f"health.{kind}.short")
            else texts.localize_alarm(of_kind[0]).title
        )
        gpus = [alarm.gpu for alarm in of_kind if alarm.gpu is not None]
        state = uncapitalize(state or "")
        names.append(texts.title_of_gpus(gpus, state) if names_gpus and gpus else state)
    left = sum(alarm.id not in kinds[:most] for alarm in alarms)
    if left:
        names.append(format_counted(QCoreApplication.translate("AlarmsCard", "{count} more alarms"), count=left))
    return names


class AlarmAdvicePanel(Themed, QWidget):
    """The alarms; `toggle_button`, which the page places, shows and hides them. Both are hidden without an alarm.

    With a new alarm that is more than information the panel opens by itself where `set_opening` allows it. `toggled` is
    emitted when it opened or closed.
    """

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._may_open, self._opened_itself = True, False
        self._is_open = self._shows_action = False
        self._announced: set[AlarmKey] = set()  # the alarms for which it has opened
        self.toggle_button = Button(kind="ghost", small=True)
        self.alarms_card = AlarmsCard(include_info=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.alarms_card)
        self.toggle_button.clicked.connect(self._toggle)
        for widget in (self, self.toggle_button):
            widget.hide()
        self.apply_theme()

    def show_health(self, health: Health | None, is_muted: Callable[[Alarm], bool]) -> None:
        self.alarms_card.show_health(health, is_muted)
        has_alarms = bool(self.alarms_card.rows)
        grave = {key for key, row in self.alarms_card.rows.items() if row.alarm.level != "info"}
        is_new, self._announced = bool(grave - self._announced), grave
        if self._is_open and not has_alarms:
            self._toggle()
        elif is_new and self._may_open and not self._is_open:
            self._toggle(by_itself=True)
        self.toggle_button.setVisible(has_alarms)
        if self._shows_action != self.needs_action:
            self.retranslate()

    @property
    def is_open(self) -> bool:
        """Whether the alarms are shown."""
        return self._is_open

    def set_opening(self, *, allowed: bool) -> None:
        """Whether it may open by itself; it closes where it has done so and may no longer."""
        self._may_open = allowed
        if not allowed and self._is_open and self._opened_itself:
            self._toggle()

    @property
    def needs_action(self) -> bool:
        """Whether one of the alarms is more than information."""
        return any(row.alarm.level != "info" for row in self.alarms_card.rows.values())

    def retranslate(self) -> None:
        self._shows_action = self.needs_action
        self.toggle_button.setText(self.tr("What to do") if self._shows_action else self.tr("What this means"))
        self.toggle_button.set_icon(trailing_icon="up" if self._is_open else "down")

    def _toggle(self, *, by_itself: bool = False) -> None:
        self._is_open = not self._is_open
        self._opened_itself = by_itself
        self.setVisible(self._is_open)
        self.retranslate()
        self.toggled.emit()


class AlarmsCard(Card):
    """The most severe alarm, the others once expanded; hidden without an alarm. Signals as in `AlarmRow`.

    A line below the first one names the other alarms and counts the notes; without `include_info` these are left out.
    A note is one row for all GPUs that have it. One that is not `framed` stands within the verdict that it belongs to.
    `programs_icon` points to the programs on the GPUs further down on the page; None where they are on another.
    """

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()
    programs_requested = Signal()
    graphs_requested = Signal()

    def __init__(self, *, include_info: bool, framed: bool = True, programs_icon: str | None = "down") -> None:
        self.rows: dict[AlarmKey, AlarmRow] = {}
        self._dividers: list[Divider] = []
        self._include_info, self._programs_icon = include_info, programs_icon
        self._is_short = self._is_first_short = False
        self._expanded = self._is_first_brief = self._is_first_folded = False
        self.others_row = QWidget()
        self.others_label = label("small", tone="soft")
        self.others_label.set_one_line(True)
        self.expand_button = Button(kind="ghost", small=True, flush="right")
        self._padding = 16 if framed else 0
        super().__init__(padding=self._padding, framed=framed)
        self._others_layout = row = QHBoxLayout(self.others_row)
        row.addWidget(self.others_label, 1)
        row.addWidget(self.expand_button)
        self.column.addWidget(self.others_row)
        self.expand_button.clicked.connect(self._toggle_expanded)
        self.hide()

    def show_health(self, health: Health | None, is_muted: Callable[[Alarm], bool], *, told: str | None = None) -> None:
        """Show the current alarms; rows of alarms that stay are kept, and with them the focus.

        `told` is what is shown above the card already about the most severe alarm, besides its title; None for nothing.
        """
        self._is_first_brief = told is not None
        alarms = [alarm for alarm in (health.alarms if health else ()) if self._include_info or alarm.level != "info"]
        several = health is not None and health.cards > 1
        alarms_by_key: dict[AlarmKey, Alarm] = {}
        gpus_by_key: dict[AlarmKey, list[int]] = {}
        for alarm in alarms:
            key = (alarm.id, None if several and alarm.level == "info" else alarm.gpu)
            alarms_by_key.setdefault(key, alarm)
            gpus_by_key.setdefault(key, []).extend([alarm.gpu] if several and alarm.gpu is not None else [])
        if list(alarms_by_key) != list(self.rows):
            self._rebuild_rows(alarms_by_key, is_muted)
        for index, (key, alarm) in enumerate(alarms_by_key.items()):
            self.rows[key].set_alarm(alarm, muted=is_muted(alarm), gpus=tuple(gpus_by_key[key]))
            self.rows[key].set_told(told if index == 0 else None)
        self._others_layout.setContentsMargins(0 if self._is_first_brief else ROW_ICON_SIZE + ROW_SPACING, 0, 0, 0)
        self._update_others()
        worst = next(iter(alarms), None)
        tint = worst.level if worst is not None and worst.level != "info" else ""
        if tint != self.tint:
            self.tint = tint
            self.update()
        self._update_visible()

    def set_first_folded(self, *, folded: bool) -> None:
        """Hide the most severe alarm, whose title and evidence are shown above the card; the line below it stays."""
        if folded != self._is_first_folded:
            self._is_first_folded = folded
            self._update_expanded()
            self._update_visible()

    def _update_visible(self) -> None:
        self.setVisible(len(self.rows) > self._is_first_folded)

    def set_short(self, *, short: bool, first_short: bool = False) -> None:
        """In a short window, show only title and advice of each alarm; `first_short`: of the first one while the others
        are not expanded.
        """
        self._is_short, self._is_first_short = short, first_short
        self._shorten_rows()

    def _shorten_rows(self) -> None:
        is_first_short = self._is_first_short and len(self.rows) > 1 and not self._expanded
        # The button below the first row has a margin of its own.
        self.column.setSpacing(0 if is_first_short else ROW_GAP)
        margins = self.column.contentsMargins()
        margins.setBottom(min(self._padding, SHORT_PADDING) if is_first_short else self._padding)
        self.column.setContentsMargins(margins)
        for row in self.rows.values():
            row.set_short(short=self._is_short or is_first_short)

    def retranslate(self) -> None:
        # Without a number: the line beside it counts alarms and notes apart.
        self.expand_button.setText(self.tr("Show most serious only") if self._expanded else self.tr("Show all"))
        self._update_others()

    def _update_others(self) -> None:
        """Name the alarms below the first one, worst first, and count the notes."""
        others = list(self.rows.values())[1:]
        alarms = [row.alarm for row in others if row.alarm.level != "info"]
        notes = len(others) - len(alarms)
        if self._is_first_brief:  # the title above names all GPUs with the first one's alarm
            alarms = [alarm for alarm in alarms if alarm.id != next(iter(self.rows.values())).alarm.id]
        parts = alarm_names(alarms, names_gpus=any(row.gpus for row in self.rows.values()))
        if notes:
            parts.append(format_counted(self.tr("{count} notes"), count=notes))
        text = "" if self._expanded or not parts else self.tr("Also {alarms}").format(alarms=SEPARATOR.join(parts))
        if text != self.others_label.text():
            self.others_label.setText(text)

    def _rebuild_rows(self, alarms_by_key: dict[AlarmKey, Alarm], is_muted: Callable[[Alarm], bool]) -> None:
        existing_rows = {key: self.rows.pop(key, None) for key in alarms_by_key}
        for widget in (*self.rows.values(), *self._dividers):
            widget.hide()
            self.column.removeWidget(widget)
            widget.deleteLater()
        self.rows, self._dividers = {}, []
        for key, alarm in alarms_by_key.items():
            existing = existing_rows[key]
            row = existing if existing is not None else self._make_row(alarm, muted=is_muted(alarm))
            if existing is not None:
                self.column.removeWidget(row)
            if self.rows:
                divider = Divider()
                self._dividers.append(divider)
                self.column.insertWidget(self.column.indexOf(self.others_row), divider)
            self.column.insertWidget(self.column.indexOf(self.others_row), row)
            self.rows[key] = row
        self._expanded = self._expanded and len(alarms_by_key) > 1
        self._update_expanded()

    def _make_row(self, alarm: Alarm, *, muted: bool) -> AlarmRow:
        row = AlarmRow(alarm, muted=muted, programs_icon=self._programs_icon)
        row.alarm_muted.connect(self.alarm_muted)
        row.health_test_requested.connect(self.health_test_requested)
        row.programs_requested.connect(self.programs_requested)
        row.graphs_requested.connect(self.graphs_requested)
        return row

    def _toggle_expanded(self) -> None:
        self._expanded = not self._expanded
        self._update_expanded()

    def _update_expanded(self) -> None:
        """Show the first row, and the others if expanded."""
        for widget in (*self._dividers, *list(self.rows.values())[1:]):
            widget.setVisible(self._expanded)
        for first in (*list(self.rows.values())[:1], *(self._dividers[:1] if self._expanded else ())):
            first.setVisible(not self._is_first_folded)
        self._shorten_rows()
        self.others_row.setVisible(len(self.rows) > 1)
        self.expand_button.set_icon(trailing_icon="up" if self._expanded else "down")
        self.retranslate()


class AlarmRow(Themed, QWidget):
    """`alarm_muted(Alarm, muted)` is emitted when the user turns notifications for this alarm off or on;
    `health_test_requested` asks for the health test that the advice names, `programs_requested` for the programs on
    the card, `graphs_requested` for the live graphs, to which a brief row leads.
    """

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()
    programs_requested = Signal()
    graphs_requested = Signal()

    def __init__(self, alarm: Alarm, *, muted: bool, programs_icon: str | None = "down") -> None:
        super().__init__()
        self.alarm, self.muted = alarm, muted
        self.gpus: tuple[int, ...] = ()  # those that the title names
        self._ready = self._is_brief = self._is_cause_told = self.is_short = False
        self.icon_widget = IconWidget("warn", "warn", ROW_ICON_SIZE)
        self.title_label, self.evidence_label = label("strong"), label("small", tone="soft")
        self.fix_label = label("body")
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True, flush="left")
        self.programs_button = Button(kind="ghost", trailing_icon=programs_icon, small=True, flush="left")
        self.graphs_button = Button(kind="ghost", trailing_icon=programs_icon, small=True, flush="left")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True, flush="left")
        self.mute_button = Button(kind="ghost", small=True, flush="left")
        self._row_layout = row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(ROW_SPACING)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(4)
        for each in (self.title_label, self.fix_label, self.evidence_label):
            text_layout.addWidget(each)
        self._buttons_layout = FlowLayout(spacing=12, line_spacing=0)
        buttons = (self.test_button, self.programs_button, self.graphs_button, self.source_button, self.mute_button)
        for button in buttons:
            self._buttons_layout.addWidget(button)
        text_layout.addLayout(self._buttons_layout)
        row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(text_layout, 1)
        self.test_button.clicked.connect(self.health_test_requested)
        self.programs_button.clicked.connect(self.programs_requested)
        self.graphs_button.clicked.connect(self.graphs_requested)
        self.source_button.clicked.connect(self._open_source)
        self.mute_button.clicked.connect(lambda: self.alarm_muted.emit(self.alarm, not self.muted))
        self._ready = True
        self.apply_theme()

    def set_alarm(self, alarm: Alarm, *, muted: bool, gpus: tuple[int, ...] = ()) -> None:
        """Show the same alarm with its current data; the title names these GPUs.

        The evidence is about one GPU, and is left out of a row of several.
        """
        shown = (self.alarm.data, self.alarm.level, self.alarm.source, self.muted, self.gpus)
        if (alarm.data, alarm.level, alarm.source, muted, gpus) != shown:
            self.alarm, self.muted, self.gpus = alarm, muted, gpus
            self.retranslate()

    def set_told(self, told: str | None) -> None:
        """Be brief where icon and title are shown above the card already, and with them what is `told`; None for
        nothing.
        """
        is_brief = told is not None
        is_cause_told = told is not None and language.texts().alarm_cause(self.alarm) in told
        if (is_brief, is_cause_told) != (self._is_brief, self._is_cause_told):
            self._is_brief, self._is_cause_told = is_brief, is_cause_told
            self.retranslate()

    def set_short(self, *, short: bool) -> None:
        """Hide evidence and what is rarely needed, where the window has little room; the button for the programs stands
        beside the text then, where it takes no line of its own.
        """
        if short != self.is_short:
            self.is_short = short
            self._place_programs_button()
            self.retranslate()

    def _place_programs_button(self) -> None:
        self.programs_button.set_flush("right" if self.is_short else "left")
        if self.is_short:
            self._buttons_layout.removeWidget(self.programs_button)
            self._row_layout.addWidget(self.programs_button, 0, Qt.AlignmentFlag.AlignTop)
        else:
            self._row_layout.removeWidget(self.programs_button)
            self._buttons_layout.addWidget(self.programs_button)
            self._buttons_layout.reorder([self.test_button, self.programs_button])

    def _readings_text(self) -> str:
        """The figures that the alarm is about: "89 °C · 1,650 MHz"."""
        units = (("temp", "°C"), ("clock", "MHz"))
        figures = ((self.alarm.data.get(name), unit) for name, unit in units)
        return " · ".join(join_unit(f"{value:,}", unit) for value, unit in figures if isinstance(value, int))

    def _remaining_evidence(self) -> str:
        """What is not told above a brief row; of a slowdown its cause, where how long and how far is told."""
        texts = language.texts()
        is_cause_left = self.alarm.id in SLOWING_ALARMS and not self._is_cause_told
        return texts.alarm_cause(self.alarm) if is_cause_left else texts.alarm_limit_note(self.alarm)

    def _update_parts(self) -> None:
        self.icon_widget.setVisible(not self._is_brief)
        self.title_label.setVisible(not self._is_brief)
        alarm = self.alarm
        has_evidence = bool(self.evidence_label.text()) and len(self.gpus) < 2
        self.evidence_label.setVisible(has_evidence and not self.is_short)
        self.graphs_button.setVisible(self._is_brief)
        self.test_button.setVisible(alarm.id in ALARMS_ADVISING_TEST)
        self.programs_button.setVisible(alarm.id in ALARMS_NAMING_PROGRAMS)
        self.source_button.setVisible(alarm.source is not None and not self.is_short)
        self.mute_button.setVisible(alarm.level != "info" and not self.is_short)

    def retranslate(self) -> None:
        if not self._ready:
            return
        alarm, texts = self.alarm, language.texts()
        self.icon_widget.set(*ALARM_ICONS[alarm.level])
        alarm_text = texts.localize_alarm(alarm)
        parts = (alarm_text.title or "", alarm_text.evidence or "", alarm_text.fix or "")
        title, evidence, fix = parts
        if self._is_brief:
            evidence = self._remaining_evidence()
        if self.gpus:
            title = texts.title_of_gpus(self.gpus, uncapitalize(texts.alarm_state(alarm)))
        if self.is_short and len(self.gpus) < 2 and (readings := self._readings_text()):
            # The evidence has no room, its figures have.
            title = f"{title} · {readings}"
        for text, widget in zip(
            (title, evidence, fix), (self.title_label, self.evidence_label, self.fix_label), strict=True
        ):
            if widget.text() != text:
                widget.setText(text)
        self._update_parts()
        self.test_button.setText(self.tr("Run the health test"))
        self.programs_button.setText(self.tr("Show programs"))
        self.graphs_button.setText(self.tr("Show live graphs"))
        publisher = urlsplit(alarm.source or "").hostname or ""
        self.source_button.setText(self.tr("Source: {publisher}").format(publisher=publisher))
        self.source_button.setToolTip(alarm.source or "")
        self.source_button.setAccessibleDescription(alarm.source or "")
        self.mute_button.setText(self.tr("Notify me again") if self.muted else self.tr("Don't notify me of this"))
        self.setAccessibleName(". ".join(parts))

    def _open_source(self) -> None:
        if self.alarm.source is not None:
            QDesktopServices.openUrl(QUrl(self.alarm.source))
