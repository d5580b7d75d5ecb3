"""What the monitor is steered with: the range, the pause, what is saved, the table, the health test."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..components import Button, FlowLayout, Themed, SegmentedControl
from .clock import SPANS, Clock


class MonitorToolbar(Themed, QWidget):
    """One row, or more where it is narrow. Range, pause and the way back steer the clock; the page listens to the
    others' `clicked`. `first` stands before them.
    """

    def __init__(self, clock: Clock, first_widget: QWidget) -> None:
        super().__init__()
        self._clock = clock
        self.range_control = SegmentedControl([""] * len(SPANS), current=SPANS.index(int(clock.span)))
        self.reset_button = Button(icon_name="undo")
        self.pause_button = Button(icon_name="pause")
        self.picture_button, self.csv_button, self.table_button = Button(icon_name="image"), Button(icon_name="download"), Button(icon_name="table")
        self.table_button.setCheckable(True)
        self.test_button = Button(icon_name="doctor")
        self._shows_labels, self._available_width = False, 0
        self._layout = FlowLayout(self)
        for widget in (first_widget, self.range_control, self.reset_button, self.pause_button, self.picture_button, self.csv_button, self.table_button, self.test_button):
            self._layout.addWidget(widget)
        self.reset_button.hide()
        self.range_control.chosen.connect(lambda index: clock.choose(SPANS[index]))
        self.pause_button.clicked.connect(lambda: clock.pause(not clock.paused))
        self.reset_button.clicked.connect(clock.reset)
        clock.paused_changed.connect(lambda _: self.retranslate())
        clock.moved.connect(self._on_clock_moved)
        self.apply_theme()

    @property
    def min_one_row_width(self) -> int:
        """Pixels that all of it needs in one row at the least, the way back too."""
        reset_width = self.reset_button.sizeHint().width() + self._layout.spacing() if self.reset_button.isHidden() else 0
        return self._layout.sizeHint().width() + reset_width - (self._labels_width() if self._shows_labels else 0)

    def fit_to_width(self, available: int) -> None:
        """What is saved and the table have their words beside their icons where the row has room for them; the way back
        comes in their place.
        """
        self._available_width = available
        labels_width = self._labels_width()
        shows_labels = self._layout.sizeHint().width() + (0 if self._shows_labels else labels_width) <= available
        if shows_labels != self._shows_labels:
            self._shows_labels = shows_labels
            self._update_labels()

    def _labels_width(self) -> int:
        return sum(button.width_with_text(text) - button.width_with_text("") for button, text in self._labelled_buttons())

    def _labelled_buttons(self) -> tuple[tuple[Button, str], ...]:
        return (self.picture_button, self.tr("Picture")), (self.csv_button, self.tr("CSV")), (self.table_button, self.tr("Table"))

    def _update_labels(self) -> None:
        for button, text in self._labelled_buttons():
            button.setText(text if self._shows_labels else "")
            button.refresh()

    def set_one_row(self, one_row: bool) -> None:
        """Beside something that would else take its room, or below it, where it may need more rows."""
        horizontal_policy = QSizePolicy.Policy.Minimum if one_row else QSizePolicy.Policy.Preferred
        policy = QSizePolicy(horizontal_policy, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add_shortcuts(self, page: QWidget) -> None:
        """The keys of the page."""
        for key, slot in (("T", self.table_button.click), ("P", self.pause_button.click)):
            QShortcut(QKeySequence(key), page).activated.connect(slot)

    def retranslate(self) -> None:
        """All words."""
        self._range_names = self.tr("1 min"), self.tr("10 min"), self.tr("1 h"), self.tr("24 h"), self.tr("30 d")
        self.range_control.set_options(self._range_names)
        self.range_control.setAccessibleName(self.tr("Range"))
        self._update_range()
        paused = self._clock.paused
        self.pause_button.setText(self.tr("Go on") if paused else self.tr("Pause"))
        self.pause_button.set_icon("play" if paused else "pause")
        self.test_button.setText(self.tr("Health test"))
        self._update_labels()
        for button, text in (
            (self.reset_button, self.tr("Back to the chosen range, up to now (0, or double-click)")),
            (self.picture_button, self.tr("Save as a picture")),
            (self.csv_button, self.tr("Save the figures as a table (CSV)")),
            (self.table_button, self.tr("Show the figures as a table (T)")),
            (self.test_button, self.tr("Health test: is the card sound?")),
        ):
            button.setAccessibleName(text)
            button.setToolTip(text)

    def _update_range(self) -> None:
        range_index = SPANS.index(self._clock.chosen)
        zoomed = self._clock.span != self._clock.chosen
        self.range_control.set_current(None if zoomed else range_index)
        reset_text = self.tr("Back to {range}").format(range=self._range_names[range_index])
        self.reset_button.setText(reset_text if zoomed else self.tr("Back to now"))

    def _on_clock_moved(self) -> None:
        if self.reset_button.hasFocus() and self._clock.as_chosen:
            self.pause_button.setFocus()
        self._update_range()
        if self.reset_button.isHidden() is not self._clock.as_chosen:
            self.reset_button.setVisible(not self._clock.as_chosen)
            self.fit_to_width(self._available_width)
