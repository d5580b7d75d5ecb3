"""Home's card about a newer version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..components import Card
from .updates import UpdateController

if TYPE_CHECKING:
    from .updates_offer import UpdatePanel


class UpdateNoticeCard(Card):
    """There only while the newer version should be spoken of; what is in it is made then, not before Home is up."""

    def __init__(self, updates: UpdateController) -> None:
        super().__init__(padding=16)
        self._updates = updates
        self.update_panel: UpdatePanel | None = None
        updates.changed.connect(self._update_visibility)
        self._update_visibility()

    def _update_visibility(self) -> None:
        should_offer = self._updates.should_offer
        if should_offer and self.update_panel is None:
            from .updates_offer import UpdatePanel

            self.update_panel = UpdatePanel(self._updates)
            self.column.addWidget(self.update_panel)
        self.setVisible(should_offer)
