"""While something is measured: what runs, how far it is, for how long it has run; Cancel."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...bench.lines import Loading
from ...texts.format import duration
from .. import language
from ..components import Button, Live, ProgressBar, label

TICK_MS = 1000


class Progress(Protocol):
    """The `n`th of `of`."""

    @property
    def n(self) -> int:
        """From 1."""

    @property
    def of(self) -> int:
        """All."""


P = TypeVar("P", bound=Progress)


class Now(NamedTuple):
    """What runs in words, and what stands beside how far it is; "" for nothing."""

    what: str
    beside: str = ""


class Working(Live, QWidget, Generic[P]):
    """`begin`, then `show_progress` with each news; the clock goes on by itself. `words` says what a news is about.

    `stop_wanted` comes with Cancel and with Escape while this is seen; who heeds it calls `set_stopping`.
    """

    stop_wanted = Signal()

    def __init__(self, words: Callable[[P], Now], *, level: str = "heading") -> None:
        self._words = words
        self._at: P | None = None
        self._loading: Loading | None = None
        self._note_of: Callable[[], str] = str
        self._stopping = self._ready = False
        self._began = 0.0
        super().__init__()
        self.what, self.count, self.note = label(level), label("small"), label("small")
        self.bar, self.cancel = ProgressBar(), Button(icon="cross")
        foot = QHBoxLayout()
        foot.addWidget(self.note, 1)
        foot.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.what, self.count, self.bar):
            column.addWidget(widget)
        column.addLayout(foot)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._show_count)
        self._escape = QShortcut(QKeySequence("Esc"), self, context=Qt.ShortcutContext.WindowShortcut)
        self._escape.activated.connect(self.stop_wanted)
        self.cancel.clicked.connect(self.stop_wanted)
        self._ready = True
        self.follow()

    def showEvent(self, event: QShowEvent) -> None:
        """The clock goes while it is seen."""
        super().showEvent(event)
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody reads it."""
        super().hideEvent(event)
        self._clock.stop()

    @property
    def at(self) -> P | None:
        """What it is about just now; None before its first news."""
        return self._at

    @property
    def held(self) -> bool:
        """Whether the keyboard is in here."""
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self or self.isAncestorOf(focused))

    def begin(self, note: Callable[[], str]) -> None:
        """A new run; `note` says what is known of it beforehand."""
        self._at, self._loading = None, None
        self._stopping, self._began = False, time.monotonic()
        self._note_of = note
        self.retranslate()

    def take_over(self, how: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """The keyboard to Cancel, and the page to its top.

        When a button that had the keyboard goes, Qt scrolls to the next one, somewhere below.
        """
        self.cancel.setFocus(how)
        to_top(self)

    def show_progress(self, news: P | Loading) -> None:
        """What it does now."""
        if isinstance(news, Loading):
            self._loading = news
        else:
            self._at = news
        self.retranslate()

    def set_stopping(self) -> None:
        """It was told to stop."""
        if self.cancel.hasFocus():  # it goes grey, and Qt would give the keyboard to whatever comes next
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._stopping = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        self.cancel.setText(self.tr("Stopping…") if self._stopping else self.tr("Cancel"))
        self.cancel.setEnabled(not self._stopping)
        self.note.setText(self._note_of())
        if self._at is None:
            self.what.setText(self.tr("PyTorch is loading…"))
            self.bar.set_fraction(None)
        else:
            self.what.setText(self._words(self._at).what)
            self.bar.set_fraction((self._at.n - 1) / max(self._at.of, 1))
        self._show_count()

    def _show_count(self) -> None:
        """How far it is, and for how long it has run by now."""
        speak = language.texts().language
        since = duration(max(time.monotonic() - self._began, 1.0), speak)
        parts = [self.tr("running for {time}").format(time=since)]
        if self._at is None and self._loading is not None and self._loading.limit_s is not None:
            most = duration(self._loading.limit_s, speak)
            parts = [self.tr("the first time takes up to {time}").format(time=most), *parts]
        elif self._at is not None:
            how_far = self.tr("{n} of {of}").format(n=self._at.n, of=self._at.of)
            parts = [how_far, self._words(self._at).beside, *parts]
        self.count.setText(" · ".join(part for part in parts if part))


def to_top(widget: QWidget) -> None:
    """Scroll the page that this lies on to its top."""
    page = widget.parentWidget()
    while page is not None and not isinstance(page, QScrollArea):
        page = page.parentWidget()
    if page is not None:
        page.verticalScrollBar().setValue(0)
