"""What the monitor is steered with: the range, the pause, what is saved, the table, the health test."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..components import Button, Flow, Live, Segments
from .clock import SPANS, Clock


class Controls(Live, QWidget):
    """One row, or more where it is narrow. Range, pause and the way back steer the clock; the page listens to the
    others' `clicked`. `first` stands before them.
    """

    def __init__(self, clock: Clock, first: QWidget) -> None:
        super().__init__()
        self._clock = clock
        self.range = Segments([""] * len(SPANS), current=SPANS.index(int(clock.span)))
        self.back = Button(icon="undo")
        self.pause = Button(icon="pause")
        self.shot, self.export, self.twin = Button(icon="image"), Button(icon="download"), Button(icon="table")
        self.twin.setCheckable(True)
        self.test = Button(icon="doctor")
        self._worded, self._room = False, 0
        self._row = Flow(self)
        for widget in (first, self.range, self.back, self.pause, self.shot, self.export, self.twin, self.test):
            self._row.addWidget(widget)
        self.back.hide()
        self.range.chosen.connect(lambda index: clock.choose(SPANS[index]))
        self.pause.clicked.connect(lambda: clock.pause(not clock.paused))
        self.back.clicked.connect(clock.reset)
        clock.paused_changed.connect(lambda _: self.retranslate())
        clock.moved.connect(self._moved)
        self.follow()

    @property
    def longest(self) -> int:
        """Pixels that all of it needs in one row at the least, the way back too."""
        back = self.back.sizeHint().width() + self._row.spacing() if self.back.isHidden() else 0
        return self._row.sizeHint().width() + back - (self._words_width() if self._worded else 0)

    def fit(self, room: int) -> None:
        """What is saved and the table have their words beside their icons where the row has room for them; the way back
        comes in their place.
        """
        self._room = room
        words = self._words_width()
        worded = self._row.sizeHint().width() + (0 if self._worded else words) <= room
        if worded != self._worded:
            self._worded = worded
            self._say_short()

    def _words_width(self) -> int:
        return sum(button.width_with(words) - button.width_with("") for button, words in self._short())

    def _short(self) -> tuple[tuple[Button, str], ...]:
        return (self.shot, self.tr("Picture")), (self.export, self.tr("CSV")), (self.twin, self.tr("Table"))

    def _say_short(self) -> None:
        for button, words in self._short():
            button.setText(words if self._worded else "")
            button.refresh()

    def keep_one_row(self, on: bool) -> None:
        """Beside something that would else take its room, or below it, where it may need more rows."""
        across = QSizePolicy.Policy.Minimum if on else QSizePolicy.Policy.Preferred
        policy = QSizePolicy(across, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def listen(self, page: QWidget) -> None:
        """The keys of the page."""
        for key, act in (("T", self.twin.click), ("P", self.pause.click)):
            QShortcut(QKeySequence(key), page).activated.connect(act)

    def retranslate(self) -> None:
        """All words."""
        self._ranges = self.tr("1 min"), self.tr("10 min"), self.tr("1 h"), self.tr("24 h"), self.tr("30 d")
        self.range.set_options(self._ranges)
        self.range.setAccessibleName(self.tr("Range"))
        self._say_way_back()
        paused = self._clock.paused
        self.pause.setText(self.tr("Go on") if paused else self.tr("Pause"))
        self.pause.set_icon("play" if paused else "pause")
        self.test.setText(self.tr("Health test"))
        self._say_short()
        for button, words in (
            (self.back, self.tr("Back to the chosen range, up to now (0, or double-click)")),
            (self.shot, self.tr("Save as a picture")),
            (self.export, self.tr("Save the figures as a table (CSV)")),
            (self.twin, self.tr("Show the figures as a table (T)")),
            (self.test, self.tr("Health test: is the card sound?")),
        ):
            button.setAccessibleName(words)
            button.setToolTip(words)

    def _say_way_back(self) -> None:
        chosen = SPANS.index(self._clock.chosen)
        zoomed = self._clock.span != self._clock.chosen
        self.range.set_current(None if zoomed else chosen)
        back = self.tr("Back to {range}").format(range=self._ranges[chosen])
        self.back.setText(back if zoomed else self.tr("Back to now"))

    def _moved(self) -> None:
        if self.back.hasFocus() and self._clock.as_chosen:
            self.pause.setFocus()
        self._say_way_back()
        if self.back.isHidden() is not self._clock.as_chosen:
            self.back.setVisible(not self._clock.as_chosen)
            self.fit(self._room)
