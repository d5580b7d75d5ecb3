"""The main window's navigation."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from .. import theme
from .rail import Rail
from .rail_button import NARROW_RAIL_WIDTH, RailButton

NAV_RAIL_WIDTH = 212


class NavigationRail(Rail):
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
        for index, (icon, text) in enumerate((*items, *bottom)):
            button = RailButton(icon, text, parent=self)
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.toggled.connect(button.refresh)
            button.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            (self.column if index < len(items) else self.footer).addWidget(button)
            self.buttons.append(button)
        self.apply_theme()

    def retranslate(self) -> None:
        """What the rail is for."""
        self.setAccessibleName(self.tr("Pages"))

    def set_texts(self, texts: Sequence[str]) -> None:
        """The words again, in another language."""
        for button, text in zip(self.buttons, texts, strict=True):
            button.setText(text)
        self.refresh()

    def set_current(self, index: int) -> None:
        """Show a page as the current one; `chosen` is not sent."""
        self.buttons[index].setChecked(True)

    def current(self) -> int:
        """The current page, -1 if none."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def set_badge(self, index: int, kind: str | None, text: str = "", description: str = "") -> None:
        """A badge beside a page's word; see `RailButton.set_badge`."""
        self.buttons[index].set_badge(kind, text, description)

    def refresh(self) -> None:
        """Width and arrangement of now."""
        narrow = self.breakpoints.is_narrow
        scale = 1 + (theme.text_scale() - 1) / 2
        margin = 8 if narrow else 12
        self.outer_layout.setContentsMargins(margin, 14, margin, 14)
        buttons = self.findChildren(RailButton)
        for button in buttons:
            button.set_stacked(narrow)
        # Words are never cut: the rail is as wide as its widest.
        widest = max((button.sizeHint().width() for button in buttons), default=0) + 2 * margin
        self.setFixedWidth(max(round((NARROW_RAIL_WIDTH if narrow else NAV_RAIL_WIDTH) * scale), widest))
        super().refresh()
