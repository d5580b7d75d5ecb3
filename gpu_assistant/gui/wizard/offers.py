"""What the user should know before going on, and what else would do, in the open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.recommendation import Alternative, DriverAdvice
from ...core.recommendation import Warning as Caution
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Card, Divider, Icon, label

LEVEL = 600


class Offers(Card):
    """Warnings with their remedy, alternatives with their button; `taken` brings the alternative."""

    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 6, 10, 6)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        self.column.addLayout(self._rows)
        self.buttons: list[Button] = []
        self._widgets: list[QWidget] = []
        self._lines: list[QBoxLayout] = []
        self._room = LEVEL

    @property
    def any(self) -> bool:
        """Whether there is something to show."""
        return bool(self._widgets)

    def set(self, warnings: Sequence[Caution], offers: Sequence[Alternative], driver: DriverAdvice) -> None:
        """Spoken warnings and alternatives, and a driver that has to be installed by hand."""
        for widget in self._widgets:
            self._rows.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets, self._lines, self.buttons = [], [], []
        if driver.action in ("install", "update"):
            self._driver(driver)
        for warning in warnings:
            self._add("warn", "warn", " ".join(text for text in (warning.text, warning.fix) if text), None)
        for offer in offers:
            button = Button(offer.label or "", "ghost")
            button.clicked.connect(lambda _checked=False, offer=offer: self.taken.emit(offer))
            self.buttons.append(button)
            self._add("undo", "soft", offer.text or "", button)

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
            "Drivers are not installed from here yet: install {version} from NVIDIA first. Until then PyTorch cannot "
            "use the card."
        )
        button = None
        if driver.url is not None:
            button = Button(self.tr("Open NVIDIA's page"), "ghost", after="share")
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
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        line.addLayout(words, 1)
        row.setAccessibleName(text)
        self._widgets.append(row)
        self._rows.addWidget(row)
        row.show()
