"""The reasons behind a choice: claims with their sources."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QBoxLayout,
    QVBoxLayout,
    QWidget,
)

from .. import theme
from .base import Themed
from .buttons import Button
from .text import label

MIN_TEXT_WIDTH = 260  # pixels at 100 % for a sentence beside its button; narrower, the button goes below


class SourcedClaim(Struct, frozen=True, kw_only=True):
    """A sentence, and who says so: (publisher's name, address)."""

    text: str
    source: tuple[str, str] | None = None


class ClaimList(Themed, QWidget):
    """Claims below each other, each with a button that opens its source."""

    def __init__(self, *claims: SourcedClaim, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._claims: tuple[SourcedClaim, ...] = ()
        self._rows: list[_ClaimRow] = []
        self._available_width = 0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.set_claims(*claims)
        self.apply_theme()

    def set_claims(self, *claims: SourcedClaim) -> None:
        """Set the claims."""
        self._claims = claims
        while len(self._rows) < len(claims):
            self._rows.append(_ClaimRow())
            self._column.addWidget(self._rows[-1])
        for index, row in enumerate(self._rows):
            row.setVisible(index < len(claims))
            if index < len(claims):
                row.set_claim(claims[index])
        self._update_layout()

    def text(self) -> str:
        """All claims, one a line."""
        return "\n".join(claim.text for claim in self._claims)

    @property
    def source_buttons(self) -> tuple[Button, ...]:
        """The buttons that open the claims' sources, in order."""
        return tuple(row.source_button for row in self._rows if not row.isHidden() and not row.source_button.isHidden())

    def retranslate(self) -> None:
        self._update_layout()

    def refresh(self) -> None:
        super().refresh()
        self._update_layout()

    def set_available_width(self, width: int) -> None:
        """Set the width in pixels that the page has for it; its own width depends on its buttons."""
        self._available_width = width
        self._update_layout()

    def _update_layout(self) -> None:
        """Put each source beside its sentence, or below where it is too narrow."""
        for row in self._rows:
            row.set_available_width(self._available_width)


class _ClaimRow(Themed, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._claim = SourcedClaim(text="")
        self.text_label = label("small", "", "text")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True)
        self.source_button.clicked.connect(self._open_source)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.text_label, 1)
        self._layout.addWidget(self.source_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.apply_theme()

    def set_claim(self, claim: SourcedClaim) -> None:
        if claim != self._claim:
            self._claim = claim
            self.retranslate()

    def set_available_width(self, width: int) -> None:
        one_row = width >= self.source_button.sizeHint().width() + 8 + theme.px(MIN_TEXT_WIDTH)
        direction = QBoxLayout.Direction.LeftToRight if one_row else QBoxLayout.Direction.TopToBottom
        if direction != self._layout.direction():
            self._layout.setDirection(direction)
        self._layout.setSpacing(8 if one_row else 0)

    def retranslate(self) -> None:
        name, url = self._claim.source or ("", "")
        self.text_label.setText(self._claim.text)
        self.source_button.setVisible(self._claim.source is not None)
        self.source_button.setText(self.tr("Source: {name}").format(name=name))
        self.source_button.setToolTip(url)
        # Sources of one publisher have the same text: say which claim this one is for.
        self.source_button.setAccessibleDescription(self._claim.text)

    def _open_source(self) -> None:
        if self._claim.source is not None:
            QDesktopServices.openUrl(QUrl(self._claim.source[1]))
