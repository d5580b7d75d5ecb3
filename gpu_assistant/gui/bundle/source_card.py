"""On the recommendation's page: the folder that all comes from, where there is one, else the way to make one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QBoxLayout

from .. import theme
from ..components import Button, Card, Icon, label
from ..wizard.facts import Facts

LEVEL = 700


class SourceCard(Card):
    """`away` leads back to the internet."""

    def __init__(self) -> None:
        super().__init__(padding=14)
        self._line = label("body")
        self.away = Button(kind="ghost")
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setSpacing(14)
        head.addWidget(Icon("folder", "accent", 20), 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self._line, 1)
        self._row.addLayout(head, 1)
        self._row.addWidget(self.away, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._row)

    def set(self, folder: str) -> None:
        """The folder of now."""
        self._line.setText(self.tr("Everything comes from {folder}; no internet is used.").format(folder=folder))
        self.away.setText(self.tr("Use the internet instead"))
        self.setAccessibleName(self._line.text())

    def set_room(self, room: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        level = room >= theme.px(LEVEL)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom)


class Offline(QObject):
    """Both: `card` above the parts, the button `make` below all."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.card, self.make = SourceCard(), Button(kind="ghost", icon="net")

    def draw(self, facts: Facts) -> bool:
        """How it stands; says whether everything comes from a folder."""
        given = facts.bundle is not None
        self.card.setVisible(given)
        if facts.bundle is not None:
            self.card.set(facts.bundle)
        self.make.setText(self.tr("For a computer without internet…"))
        self.make.setVisible(not given and facts.recommendation is not None)
        return given
