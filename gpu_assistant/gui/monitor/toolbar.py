"""The toolbar of Monitor: range, reset, pause, export, table, layout; and the button for more plots."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPoint
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...core.results import GpuSample
from ..widgets.base import Themed
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.inputs import Menu
from ..widgets.layouts import FlowLayout
from .metrics import SECONDARY_METRICS, Metric
from .plot.time_axis import SPANS, TimeAxis


class MonitorToolbar(Themed, QWidget):
    """One row of controls, more where it is narrow, before `layout_control`.

    Range, pause and reset change the time axis; the page connects the other buttons.
    """

    def __init__(self, time_axis: TimeAxis, layout_control: SegmentedControl) -> None:
        super().__init__()
        self._time_axis, self._layout_control = time_axis, layout_control
        self.range_control = SegmentedControl([""] * len(SPANS), current=SPANS.index(int(time_axis.span)))
        self.reset_button = Button(icon_name="undo")
        self.pause_button = Button(icon_name="pause")
        self.export_button = Button(icon_name="download", trailing_icon="down")
        self.export_menu = Menu(self.export_button)
        self.picture_action, self.csv_action = self.export_menu.addAction(""), self.export_menu.addAction("")
        self.table_button = Button(icon_name="table")
        self.table_button.setCheckable(True)
        self._shows_labels = self._is_one_row = self._is_compact = False
        self._names_pause = True
        self._available_width = 0
        self._layout = FlowLayout(self)
        for widget in (
            self.range_control,
            self.reset_button,
            self.pause_button,
            self.export_button,
            self.table_button,
            layout_control,
        ):
            self._layout.addWidget(widget)
        self.reset_button.hide()
        self.range_control.chosen.connect(lambda index: time_axis.choose(SPANS[index]))
        self.pause_button.clicked.connect(lambda: time_axis.pause(not time_axis.paused))
        self.reset_button.clicked.connect(time_axis.reset)
        self.export_button.clicked.connect(self._open_export_menu)
        time_axis.paused_changed.connect(lambda _: self.retranslate())
        time_axis.moved.connect(self._on_axis_moved)
        self.apply_theme()

    @property
    def min_one_row_width(self) -> int:
        """The width in pixels of one row without button labels, with the reset button, beside the title."""
        reset_width = (
            self.reset_button.sizeHint().width() + self._layout.spacing() if self.reset_button.isHidden() else 0
        )
        return self._row_width(labels=False) + reset_width

    def _open_export_menu(self) -> None:
        self.export_menu.popup(self.export_button.mapToGlobal(QPoint(0, self.export_button.height())))

    def fit_to_width(self, available: int) -> None:
        """Stay in one row if at all possible: with less room around the texts, then without the labels of the export
        and table buttons, at last without that of the pause button. Where even that does not fit, two rows have all.
        Beside the title only the labels of export and table give way.
        """
        self._available_width = available
        labels, pause, compact = True, True, False
        if self._row_width() > available:
            if self._is_one_row:
                labels = False
            else:
                for shown in ((True, True), (False, True), (False, False)):
                    if self._row_width(labels=shown[0], pause=shown[1], compact=True) <= available:
                        (labels, pause), compact = shown, True
                        break
        if compact != self._is_compact:
            self._is_compact = compact
            for control in (self.range_control, self._layout_control):
                control.set_compact(compact)
        if (labels, pause) != (self._shows_labels, self._names_pause):
            self._shows_labels, self._names_pause = labels, pause
            self._update_labels()

    def _row_width(self, *, labels: bool = True, pause: bool = True, compact: bool = False) -> int:
        """The width in pixels of one row with or without the labels of the export and table buttons and of the pause
        button, which is as wide while paused, and with the usual or less room around the other texts.
        """
        shown = self._layout.sizeHint().width() + (self._compact_saving() if self._is_compact else 0)
        shown -= self._labels_width() if self._shows_labels else 0
        shown -= self._label_width(self.pause_button, self.pause_button.text())
        shown += max(self._label_width(self.pause_button, text) for text in self._pause_texts()) if pause else 0
        return shown + (self._labels_width() if labels else 0) - (self._compact_saving() if compact else 0)

    def _compact_saving(self) -> int:
        """By how many pixels the row is narrower with little room around the texts."""
        shown = (each for each in (self.range_control, self._layout_control) if not each.isHidden())
        return sum(control.row_width(compact=False) - control.row_width(compact=True) for control in shown)

    def _labels_width(self) -> int:
        return sum(self._label_width(button, text) for button, text in self._labelled_buttons())

    @staticmethod
    def _label_width(button: Button, text: str) -> int:
        return button.width_with_text(text) - button.width_with_text("")

    def _pause_texts(self) -> tuple[str, str]:
        return self.tr("Pause"), self.tr("Continue")

    def _labelled_buttons(self) -> tuple[tuple[Button, str], ...]:
        return (
            (self.export_button, self.tr("Export")),
            (self.table_button, self.tr("Table")),
        )

    def _update_labels(self) -> None:
        for button, text in self._labelled_buttons():
            button.setText(text if self._shows_labels else "")
            button.refresh()
        pause_text, continue_text = self._pause_texts()
        text = continue_text if self._time_axis.paused else pause_text
        self.pause_button.setText(text if self._names_pause else "")
        self.pause_button.setAccessibleName(text)
        self.pause_button.setToolTip("" if self._names_pause else text)

    def set_one_row(self, one_row: bool) -> None:
        """Stay in one row, beside the title; otherwise more rows are allowed."""
        self._is_one_row = one_row
        horizontal_policy = QSizePolicy.Policy.Minimum if one_row else QSizePolicy.Policy.Preferred
        policy = QSizePolicy(horizontal_policy, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add_shortcuts(self, page: QWidget) -> None:
        """T and P on the page toggle table and pause."""
        for key, slot in (("T", self.table_button.click), ("P", self.pause_button.click)):
            QShortcut(QKeySequence(key), page).activated.connect(slot)

    def retranslate(self) -> None:
        self._range_names = self.tr("1 min"), self.tr("10 min"), self.tr("1 h"), self.tr("24 h"), self.tr("30 d")
        self.range_control.set_options(self._range_names)
        self.range_control.setAccessibleName(self.tr("Range"))
        self._update_range()
        self._update_labels()
        self.pause_button.set_icon("play" if self._time_axis.paused else "pause")
        for button, text in (
            (self.reset_button, self.tr("Back to the chosen range, up to now (0, or double-click)")),
            (self.export_button, self.tr("Save the graphs or their data")),
            (self.table_button, self.tr("Show the data as a table (T)")),
        ):
            button.setAccessibleName(text)
            button.setToolTip(text)
        self.picture_action.setText(self.tr("Picture of the graphs…"))
        self.csv_action.setText(self.tr("Data as a table (CSV)…"))

    def _update_range(self) -> None:
        range_index = SPANS.index(self._time_axis.chosen)
        zoomed = self._time_axis.span != self._time_axis.chosen
        self.range_control.set_current(None if zoomed else range_index)
        reset_text = self.tr("Back to {range}").format(range=self._range_names[range_index])
        self.reset_button.setText(reset_text if zoomed else self.tr("Back to now"))

    def _on_axis_moved(self) -> None:
        if self.reset_button.hasFocus() and self._time_axis.as_chosen:
            self.pause_button.setFocus()
        self._update_range()
        if self.reset_button.isHidden() is not self._time_axis.as_chosen:
            self.reset_button.setVisible(not self._time_axis.as_chosen)
            self.fit_to_width(self._available_width)


class SecondaryPlotsButton(Button):
    """Switches the plots of SECONDARY_METRICS on; visible once a GPU reports one of them.

    A metric that was reported once stays, so that its plot does not disappear while a GPU sleeps.
    """

    def __init__(self) -> None:
        self._reported_keys: set[str] = set()
        self._enabled = False
        super().__init__(kind="ghost", icon_name="monitor", small=True)
        self.clicked.connect(self._toggle)
        self.hide()
        self.retranslate()

    @property
    def shown_metrics(self) -> tuple[Metric, ...]:
        """The reported metrics; () while switched off."""
        return (
            tuple(metric for metric in SECONDARY_METRICS if metric.key in self._reported_keys) if self._enabled else ()
        )

    def update_reported(self, gpus: Iterable[GpuSample]) -> bool:
        """Take note of the metrics that the GPUs report; whether that adds a plot."""
        new_keys = {
            metric.key for gpu in gpus for metric in SECONDARY_METRICS if metric.read(gpu)[0] is not None
        } - self._reported_keys
        self._reported_keys |= new_keys
        self.setVisible(bool(self._reported_keys))
        return bool(new_keys) and self._enabled

    def reset(self) -> None:
        """Forget what was reported, for other GPUs."""
        self._reported_keys.clear()

    def _toggle(self) -> None:
        self._enabled = not self._enabled
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(self.tr("Fewer graphs") if self._enabled else self.tr("More graphs"))
        self.setToolTip(self.tr("Shared memory, clock, fan, memory temperature, PCI Express and video, where reported"))
