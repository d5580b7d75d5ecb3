"""The last minute in a few figures with small lines; as much of it as there is yet."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.health import Health
from ...core.results import GpuSample
from ..components import Button, Card, Figure, SparkLine, label
from .foremost import foremost
from .history import History
from .metrics import CPU, OF_GPU, RAM, Metric

SECONDS, LEAST_S = 60, 2


class LiveFigure(QWidget):
    """One metric: its name, the figure of now, the line of the last minute."""

    def __init__(self, metric: Metric, gpu: int, colour: str) -> None:
        super().__init__()
        self.of, self.gpu = metric, gpu
        self.name, self.figure = label("caption"), Figure()
        self.line = SparkLine(colour, span=SECONDS, low=metric.floor if metric.unit == "°C" else 0.0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for widget in (self.name, self.figure, self.line):
            column.addWidget(widget)
        self.name_again()

    def name_again(self) -> None:
        """The name in the language of now."""
        self.name.setText(self.of.name())

    def show_history(self, history: History, seconds: int) -> None:
        """The figure of now, and the line of the last `seconds`."""
        sample = history.latest
        if sample is None:
            return
        card: GpuSample | None = next((gpu for gpu in sample.gpus if gpu.index == self.gpu), None)
        value, total = self.of.read(sample if self.gpu < 0 else card)
        figure = None if value is None else self.of.figure(value)
        self.figure.set(figure, self.of.unit_of(total))
        self.line.span = seconds
        self.line.set_points(history.last(self.of, self.gpu, seconds), high=total)
        self.setAccessibleName(f"{self.of.name()}: {figure or '—'} {self.of.unit_of(total)}")


class LiveCard(Card):
    """CPU and memory, or the four figures of an NVIDIA GPU; of several, the one that is not well, or the hottest.

    `simulated`: the window shows another machine, so the card says whose figures these are. `test_wanted(card)` asks
    for the health test of the card that is shown, `others_wanted` for the page with all of them.
    """

    test_wanted = Signal(object)
    others_wanted = Signal()

    def __init__(self, *, simulated: bool = False) -> None:
        self._simulated = simulated
        self.figures: list[LiveFigure] = []
        self._gpu: tuple[int, str] | None = None
        self._others = 0
        self._seconds = SECONDS
        super().__init__()
        self._who, self._span = label("small-strong"), label("small")
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self._who)
        head.addWidget(self._span, 1)
        self.test = Button(kind="ghost", icon="doctor", small=True)
        self.test.clicked.connect(lambda: self.test_wanted.emit(self._gpu[0] if self._gpu is not None else None))
        head.addWidget(self.test, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(32)
        self._grid.setVerticalSpacing(12)
        self.column.addLayout(head)
        self.others = Button(kind="ghost", after="right", small=True)
        self.others.clicked.connect(self.others_wanted)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.others, 0, Qt.AlignmentFlag.AlignLeft)
        self._build()
        self.retranslate()

    def show_history(self, history: History, health: Health | None) -> None:
        """Follow the latest sample."""
        gpus = history.gpus()
        card = foremost(gpus, health, self._gpu[0] if self._gpu is not None else None)
        gpu = (card.index, _name(card, alone=len(gpus) == 1)) if card is not None else None
        others = max(len(gpus) - 1, 0)
        if (gpu, others) != (self._gpu, self._others):
            anew = gpu != self._gpu
            self._gpu, self._others = gpu, others
            if anew:
                self._build()
            self.retranslate()
        seconds = min(max(round(history.seen_s), LEAST_S), SECONDS)
        if seconds != self._seconds:
            self._seconds = seconds
            self._say_span()
        for figure in self.figures:
            figure.show_history(history, seconds)

    def retranslate(self) -> None:
        """Names."""
        if not self.figures:
            return
        who = self._gpu[1] if self._gpu is not None else self.tr("This computer")
        if self._simulated:
            who = self.tr("The real computer you sit at")
        self._who.setText(who)
        self._say_span()
        self.test.setText(self.tr("Test this card"))
        self.test.setVisible(self._gpu is not None and not self._simulated)
        self.others.setText(self.tr("{count} more on Monitor").format(count=self._others))
        self.others.setVisible(self._others > 0)
        for figure in self.figures:
            figure.name_again()

    def _say_span(self) -> None:
        self._span.setText(self.tr("last {count} seconds").format(count=self._seconds))

    def _build(self) -> None:
        for figure in self.figures:
            self._grid.removeWidget(figure)
            figure.hide()
            figure.deleteLater()
        if self._gpu is None:
            # Without a card there is nothing to tell apart from, so load and memory wear their own colours.
            self.figures = [LiveFigure(CPU, -1, "s1"), LiveFigure(RAM, -1, "s2")]
        else:
            self.figures = [LiveFigure(metric, self._gpu[0], metric.colour) for metric in OF_GPU]
        for column, figure in enumerate(self.figures):
            self._grid.addWidget(figure, 0, column)
            self._grid.setColumnStretch(column, 1)


def _name(card: GpuSample, *, alone: bool) -> str:
    """A card's name, with its number where there are several."""
    number = f"GPU {card.index}"
    return (card.name or number) if alone else " · ".join(part for part in (number, card.name) if part)
