"""What the user should know before going on, and what else would do, in the open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.recommendation import Alternative, DriverAdvice, Goal
from ...core.recommendation import Warning as Caution
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Card, Divider, Icon, label
from . import words as said

LEVEL, LEFT, RIGHT = 600, 16, 10
INSTALLERS = frozenset({".exe", ".run"})
# Offers that change what it is for, not a version.
OTHER_GOALS: Mapping[str, Goal] = {"pytorch-instead": "pytorch", "two-environments": "pytorch"}


class Offers(Card):
    """Warnings with their remedy, or alternatives with their button; `taken` brings the alternative, `undone` takes the
    last one back.

    `buttons` are those of the alternatives, `undo` is there after one was taken, `controls` are all in the order of
    reading.
    """

    taken = Signal(object)
    undone = Signal()

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(LEFT, 6, RIGHT, 6)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        self.column.addLayout(self._rows)
        self.buttons: list[Button] = []
        self.controls: list[Button] = []
        self.undo: Button | None = None
        self._widgets: list[QWidget] = []
        self._lines: list[QBoxLayout] = []
        self._room = LEVEL
        self._drawn: object = None

    @property
    def any(self) -> bool:
        """Whether there is something to show."""
        return bool(self._widgets)

    def set(
        self,
        warnings: Sequence[Caution],
        offers: Sequence[Alternative],
        driver: DriverAdvice | None,
        left_out: str,
        changed: str = "",
        *,
        driver_first: bool = False,
    ) -> None:
        """Spoken warnings and alternatives, a driver that has to be installed by hand, with `driver_first` before the
        proof can pass, the names of other parts that the plan leaves out, and what the offer that was just taken
        changed. The same in the same language leaves the rows, and the keyboard in them, alone."""
        key = (tuple(warnings), tuple(offers), driver, driver_first, left_out, changed, self.tr("Open NVIDIA's page"))
        if key == self._drawn:
            return
        self._drawn = key
        for widget in self._widgets:
            self._rows.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets, self._lines, self.buttons, self.controls = [], [], [], []
        self.undo = None
        if changed:
            self.undo = Button(self.tr("Take this change back"), "ghost")
            self.undo.clicked.connect(self.undone)
            self._add("info", "accent", self.tr("Changed: {changes}").format(changes=changed), self.undo)
        if driver is not None:
            self._driver(driver, first=driver_first)
        if left_out:
            words = self.tr(
                "{parts}: not installed from here yet. The plan sets up the rest; get these from their makers."
            )
            self._add("warn", "warn", words.format(parts=left_out), None)
        for warning in warnings:
            self._add("warn", "warn", said.joined(warning.text, warning.fix), None)
        for offer in offers:
            button = None
            # What nobody can do from here is told, without a button.
            if offer.change or offer.code in OTHER_GOALS:
                button = Button(offer.label or "", "ghost")
                button.clicked.connect(lambda _checked=False, offer=offer: self.taken.emit(offer))
                self.buttons.append(button)
            self._add("swap", "soft", offer.text or "", button)

    def set_room(self, room: int) -> None:
        """How wide the card may be: each button beside its sentence, or below it."""
        self._room = room
        for line in self._lines:
            line.setDirection(self._direction())
        for button in self.controls:
            button.set_room(self._beside())

    def _direction(self) -> QBoxLayout.Direction:
        level = self._room >= theme.px(LEVEL)
        return QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom

    def _beside(self) -> int:
        """How wide a button may be."""
        level = self._direction() == QBoxLayout.Direction.LeftToRight
        return self._room // 2 if level else self._room - LEFT - RIGHT

    def _driver(self, driver: DriverAdvice, *, first: bool) -> None:
        version = driver.recommended or UNKNOWN
        if driver.recommended is None and driver.minimum is not None:
            # The lowest that does is not the one to look for.
            said = self.tr("{version} or newer")
            if driver.below is not None:
                said = self.tr("{version} or newer, but older than {limit},")
            version = said.format(version=driver.minimum, limit=driver.below)
        words = self.tr(
            "The driver is left to you here: install {version} yourself, then look at the computer again. Until then "
            "PyTorch cannot use the card."
        )
        if first:
            words = self.tr(
                "The driver is left to you here: install {version} yourself first, then look at the computer again. "
                "Without it the setup stops at its last step, the proof, and goes on from there later."
            )
        button = None
        if driver.url is not None:
            # An address can be the installer itself.
            file = PurePosixPath(urlsplit(driver.url).path).suffix in INSTALLERS
            words_on = self.tr("Download it from NVIDIA") if file else self.tr("Open NVIDIA's page")
            button = Button(words_on, "ghost", after="open")
            url = QUrl(driver.url)
            button.clicked.connect(lambda: QDesktopServices.openUrl(url))
        self._add("warn", "warn", words.format(version=version), button)

    def _add(self, icon: str, token: str, text: str, button: Button | None) -> None:
        if self._widgets:
            self._widgets.append(Divider())
            self._rows.addWidget(self._widgets[-1])
            self._widgets[-1].show()
        row = QWidget()
        line, words = QBoxLayout(self._direction(), row), QHBoxLayout()
        line.setSpacing(6)
        self._lines.append(line)
        line.setContentsMargins(0, 4, 0, 4)
        words.setSpacing(14)
        words.addWidget(Icon(icon, token, 18), 0, Qt.AlignmentFlag.AlignVCenter)
        words.addWidget(label("small", text, "text"), 1)
        line.addLayout(words, 1)
        if button is not None:
            button.set_room(self._beside())
            self.controls.append(button)
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        row.setAccessibleName(text)
        self._widgets.append(row)
        self._rows.addWidget(row)
        row.show()
