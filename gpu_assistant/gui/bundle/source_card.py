"""On the recommendation's page: the folder that all comes from, where there is one, else the way to make one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QBoxLayout

from .. import theme
from ..components import Button, Card, IconWidget, label
from ..wizard.facts import WizardState

SOURCE_ROW_MIN_WIDTH = 700


class BundleSourceCard(Card):
    """`away` leads back to the internet."""

    def __init__(self) -> None:
        super().__init__(padding=14)
        self._source_label = label("body")
        self.use_internet_button = Button(kind="ghost")
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        source_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        source_layout.setSpacing(14)
        source_layout.addWidget(IconWidget("folder", "accent", 20), 0, Qt.AlignmentFlag.AlignVCenter)
        source_layout.addWidget(self._source_label, 1)
        self._layout.addLayout(source_layout, 1)
        self._layout.addWidget(self.use_internet_button, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._layout)

    def set_bundle(self, folder: str) -> None:
        """The folder of now."""
        self._source_label.setText(self.tr("Everything comes from {folder}; no internet is used.").format(folder=folder))
        self.use_internet_button.setText(self.tr("Use the internet instead"))
        self.setAccessibleName(self._source_label.text())

    def set_available_width(self, available_width: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        in_row = available_width >= theme.px(SOURCE_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)


class BundleControls(QObject):
    """Both: `card` above the parts, the button `make` below all."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.source_card, self.create_button = BundleSourceCard(), Button(kind="ghost", icon_name="net")

    def draw(self, state: WizardState) -> bool:
        """How it stands; says whether everything comes from a folder."""
        uses_bundle = state.bundle is not None
        self.source_card.setVisible(uses_bundle)
        if state.bundle is not None:
            self.source_card.set_bundle(state.bundle)
        self.create_button.setText(self.tr("For a computer without internet…"))
        self.create_button.setVisible(not uses_bundle and state.recommendation is not None)
        return uses_bundle
