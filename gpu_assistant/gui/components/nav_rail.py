"""The main window's navigation."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from .. import theme
from .rail import Rail
from .rail_button import NARROW_WIDTH, RailButton

WIDTH = 212


class NavRail(Rail):
    """Pages as icon and word; below 1200 the icon stands above. Arrows move within it.

    `items` and `bottom` are (icon, word); indexes count through both. `chosen` comes for every page chosen.
    """

    chosen = Signal(int)

    def __init__(
        self,
        items: Sequence[tuple[str, str]],
        bottom: Sequence[tuple[str, str]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.buttons: list[RailButton] = []
        for index, (icon, word) in enumerate((*items, *bottom)):
            button = RailButton(icon, word, parent=self)
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.toggled.connect(button.refresh)
            button.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            (self.column if index < len(items) else self.foot).addWidget(button)
            self.buttons.append(button)
        self.follow()

    def retranslate(self) -> None:
        """What the rail is for."""
        self.setAccessibleName(self.tr("Pages"))

    def set_words(self, words: Sequence[str]) -> None:
        """The words again, in another language."""
        for button, word in zip(self.buttons, words, strict=True):
            button.setText(word)
        self.refresh()

    def set_current(self, index: int) -> None:
        """Show a page as the current one; `chosen` is not sent."""
        self.buttons[index].setChecked(True)

    def current(self) -> int:
        """The current page, -1 if none."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def set_badge(self, index: int, kind: str | None, text: str = "", sentence: str = "") -> None:
        """A badge beside a page's word; see `RailButton.set_badge`."""
        self.buttons[index].set_badge(kind, text, sentence)

    def refresh(self) -> None:
        """Width and arrangement of now."""
        narrow = self.shape_.narrow
        grown = 1 + (theme.text_scale() - 1) / 2
        side = 8 if narrow else 12
        self.outer.setContentsMargins(side, 14, side, 14)
        buttons = self.findChildren(RailButton)
        for button in buttons:
            button.set_stacked(narrow)
        # Words are never cut: the rail is as wide as its widest.
        widest = max((button.sizeHint().width() for button in buttons), default=0) + 2 * side
        self.setFixedWidth(max(round((NARROW_WIDTH if narrow else WIDTH) * grown), widest))
        super().refresh()
