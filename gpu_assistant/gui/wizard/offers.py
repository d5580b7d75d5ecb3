"""What the user should know before going on, and what else would do, in the open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.recommendation import Alternative, DriverAdvice, Goal
from ...core.recommendation import Warning as Caution
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Card, Divider, Icon, label

LEVEL = 600
# Offers that change what it is for, not a version.
OTHER_GOALS: Mapping[str, Goal] = {"pytorch-instead": "pytorch", "two-environments": "pytorch"}


class Offers(Card):
    """Warnings with their remedy, alternatives with their button; `taken` brings the alternative.

    `buttons` are those of the alternatives, `controls` all in the order of reading.
    """

    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 6, 10, 6)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        self.column.addLayout(self._rows)
        self.buttons: list[Button] = []
        self.controls: list[Button] = []
        self._widgets: list[QWidget] = []
        self._lines: list[QBoxLayout] = []
        self._room = LEVEL
        self._drawn: object = None

    @property
    def any(self) -> bool:
        """Whether there is something to show."""
        return bool(self._widgets)

    def set(
        self, warnings: Sequence[Caution], offers: Sequence[Alternative], driver: DriverAdvice | None, left_out: str
    ) -> None:
        """Spoken warnings and alternatives, a driver that has to be installed by hand, and the names of other parts
        that the plan leaves out. The same in the same language leaves the rows, and the keyboard in them, alone."""
        key = (tuple(warnings), tuple(offers), driver, left_out, self.tr("Open NVIDIA's page"))
        if key == self._drawn:
            return
        self._drawn = key
        for widget in self._widgets:
            self._rows.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets, self._lines, self.buttons, self.controls = [], [], [], []
        if driver is not None:
            self._driver(driver)
        if left_out:
            words = self.tr(
                "{parts}: not installed from here yet. The plan sets up the rest; get these from their makers."
            )
            self._add("warn", "warn", words.format(parts=left_out), None)
        for warning in warnings:
            self._add("warn", "warn", " ".join(text for text in (warning.text, warning.fix) if text), None)
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

    def _direction(self) -> QBoxLayout.Direction:
        level = self._room >= theme.px(LEVEL)
        return QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom

    def _driver(self, driver: DriverAdvice) -> None:
        version = driver.recommended or driver.minimum or UNKNOWN
        words = self.tr(
            "The driver is left to you here: install {version}; “Why” at the driver's card says from where. Until then "
            "PyTorch cannot use the card."
        )
        button = None
        if driver.url is not None:
            button = Button(self.tr("Open NVIDIA's page"), "ghost", after="open")
            url = QUrl(driver.url)
            button.clicked.connect(lambda: QDesktopServices.openUrl(url))
        self._add("warn", "warn", words.format(version=version), button)

    def _add(self, icon: str, token: str, text: str, button: Button | None) -> None:
        if self._widgets:
            self._widgets.append(Divider())
            self._rows.addWidget(self._widgets[-1])
            self._widgets[-1].show()
        row = QWidget()
        line = QHBoxLayout(row)
        words = QBoxLayout(self._direction())
        words.setSpacing(6)
        self._lines.append(words)
        line.setContentsMargins(0, 4, 0, 4)
        line.setSpacing(14)
        line.addWidget(Icon(icon, token, 18), 0, Qt.AlignmentFlag.AlignVCenter)
        words.addWidget(label("small", text, "text"), 1)
        if button is not None:
            self.controls.append(button)
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        line.addLayout(words, 1)
        row.setAccessibleName(text)
        self._widgets.append(row)
        self._rows.addWidget(row)
        row.show()
