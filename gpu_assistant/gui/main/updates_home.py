"""Home's card about a newer version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..components import Card
from .updates import Updates

if TYPE_CHECKING:
    from .updates_offer import UpdateOffer


class UpdateCard(Card):
    """There only while the newer version should be spoken of; what is in it is made then, not before Home is up."""

    def __init__(self, updates: Updates) -> None:
        super().__init__(padding=16)
        self._updates = updates
        self.offer: UpdateOffer | None = None
        updates.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        wanted = self._updates.wanted
        if wanted and self.offer is None:
            from .updates_offer import UpdateOffer

            self.offer = UpdateOffer(self._updates)
            self.column.addWidget(self.offer)
        self.setVisible(wanted)
