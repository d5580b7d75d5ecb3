"""The step that runs: what and why, how far, how fast, how long, and what sets the pace."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from ...core.plan import Bottleneck
from ...texts import Texts
from ...texts.format import UNKNOWN, duration, size, speed
from ..components import Card, Figure, Icon, Inset, ProgressBar, SpeedLine, label
from .pace_row import PaceRow
from .progress import StepProgress

PACE_ICONS: dict[Bottleneck, str] = {
    "network": "net",
    "source": "globe",
    "disk": "disk",
    "checking": "search",
    "installing": "cpu",
    "consent": "shield",
    "elsewhere": "clock",
    "mending": "search",
}


class StepBlock(Card):
    """A large bar with its figures; `set_compact` leaves the list below it its room: all figures in one line."""

    def __init__(self) -> None:
        super().__init__()
        self._compact = False
        self._shown: tuple[StepProgress, Texts] | None = None
        self.heading, self.what, self.percent = label("heading"), label("small"), Figure()
        self.percent.tone = "accent_text"
        self.bar = ProgressBar()
        self._names = [label("caption") for _ in range(3)]
        self.done, self.speed, self.left = Figure(), Figure(), Figure()
        self.caption, self.line = label("caption"), SpeedLine()
        self.pace, self.controls = Inset(), PaceRow()
        self._pace_icon = Icon("net", "soft", 18)
        self._pace_title, self._pace_line = label("small-strong"), label("small")
        head, words = QHBoxLayout(), QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.heading)
        words.addWidget(self.what)
        head.addLayout(words, 1)
        head.addWidget(self.percent, 0, Qt.AlignmentFlag.AlignTop)
        figures = QHBoxLayout()
        for name, figure in zip(self._names, (self.done, self.speed, self.left), strict=True):
            column = QVBoxLayout()
            column.setSpacing(1)
            column.addWidget(name)
            column.addWidget(figure)
            figures.addLayout(column, 1)
        pace, pace_words = QHBoxLayout(), QVBoxLayout()
        pace.setSpacing(12)
        pace_words.setSpacing(1)
        pace_words.addWidget(self._pace_title)
        pace_words.addWidget(self._pace_line)
        pace.addWidget(self._pace_icon)
        pace.addLayout(pace_words, 1)
        self.pace.column.addLayout(pace)
        self.column.setSpacing(10)
        self.column.addLayout(head)
        self.column.addWidget(self.bar)
        self.column.addLayout(figures)
        for widget in (self.caption, self.line, self.controls, self.pace):
            self.column.addWidget(widget)

    def set_compact(self, on: bool) -> None:
        """With the curve and a figure for each, or with all of it in a line or two."""
        if on != self._compact:
            self._compact = on
            self.column.setSpacing(6 if on else 10)
            if self._shown is not None:
                self.set_step(*self._shown)

    def set_step(self, step: StepProgress, texts: Texts) -> None:
        """Where the running step is."""
        self._shown = (step, texts)
        self.heading.setText(texts.say(f"step.{step.code}.title", step.data))
        said = texts.message(step.message) if step.message is not None else ""
        self.what.setText(said or texts.say(f"step.{step.code}.what", step.data))
        known = step.fraction
        self.bar.set_fraction(known)
        self.percent.setVisible(known is not None)
        self.percent.set(f"{round(100 * known)} %" if known is not None else None)
        names = (self.tr("Done"), self.tr("Speed"), self.tr("Left"))
        for name, text in zip(self._names, names, strict=True):
            name.setText(text)
        fetching = step.unit == "bytes"
        for widget in (*self._names, self.done, self.speed, self.left, self.caption, self.line):
            widget.setVisible(fetching and not self._compact)
        self.controls.setVisible(fetching)
        if fetching:
            self._figures(step, texts)
        if fetching and self.controls.holding:
            kept = self.tr("What has come is kept.") if step.done else self.tr("Nothing has come yet.")
            self._show_pace("pause", self.tr("Held by you"), kept)
        else:
            self._set_pace(step.bottleneck, step.kind)
        if fetching and self._compact:
            self._in_lines(step, texts)

    def _in_lines(self, step: StepProgress, texts: Texts) -> None:
        """The figures in one line, what sets the pace in the next."""
        parts = [f"{size(step.done or 0)} / {size(step.total)}" if step.total else size(step.done or 0)]
        if step.speed:
            parts.append(speed(step.speed))
        left = step.seconds_left
        if left is not None and not self.controls.holding:
            parts.append(self.tr("{time} left").format(time=duration(left, texts.language)))
        # isVisibleTo: the card may itself be hidden yet.
        pace = [self._pace_title.text()] if self.pace.isVisibleTo(self) else []
        if self.controls.holding:
            pace.append(self._pace_line.text())
        self.what.setText("\n".join(" · ".join(line) for line in (parts, pace) if line))
        self.pace.hide()

    def _figures(self, step: StepProgress, texts: Texts) -> None:
        done, unit = size(step.done or 0).rsplit(" ", 1)
        self.done.set(done, f"{unit} / {size(step.total)}" if step.total else unit)
        self.speed.set(*_split(speed(step.speed) if step.speed else UNKNOWN))
        left = step.seconds_left
        self.left.set(*_split(duration(left, texts.language) if left is not None else UNKNOWN))
        self.caption.setText(self.tr("Speed over the last 90 seconds"))

    def _set_pace(self, bottleneck: Bottleneck | None, kind: str | None) -> None:
        self.pace.setVisible(bottleneck is not None)
        if bottleneck is None:
            return
        self._show_pace(PACE_ICONS[bottleneck], *self._pace_words(bottleneck, kind))

    def _show_pace(self, icon: str, title: str, line: str) -> None:
        self.pace.show()
        self._pace_icon.set(icon)
        self._pace_title.setText(title)
        self._pace_line.setText(line)
        self._pace_line.setVisible(bool(line))
        self.pace.setAccessibleName(f"{title}. {line}" if line else title)

    def _pace_words(self, bottleneck: Bottleneck, kind: str | None) -> tuple[str, str]:
        if bottleneck == "checking" and kind == "verify":
            return self.tr("Trying it out"), self.tr("Loading PyTorch for the first time takes longest.")
        return {
            "network": (self.tr("Your line sets the pace"), self.tr("The disk and the source could do more.")),
            "source": (self.tr("The source sets the pace"), self.tr("Your line and the disk could do more.")),
            "disk": (self.tr("The disk sets the pace"), self.tr("Your line could do more.")),
            "checking": (
                self.tr("Checking what was downloaded"),
                self.tr("Every file must be exactly the official one."),
            ),
            "installing": (self.tr("Putting the files in place"), self.tr("The disk sets the pace now.")),
            "consent": (self.tr("Waiting for your consent"), self.tr("The system is asking you.")),
            "elsewhere": (
                self.tr("Another download fetches the same file"),
                self.tr("It is used here as soon as it is whole."),
            ),
            "mending": (
                self.tr("Some bytes came wrong"),
                self.tr("Another source is asked; only those are replaced."),
            ),
        }[bottleneck]


def _split(text: str) -> tuple[str, str]:
    """ "18.4 MB/s" as figure and unit; "1 h 5 min" stays whole."""
    parts = text.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else (text, "")
