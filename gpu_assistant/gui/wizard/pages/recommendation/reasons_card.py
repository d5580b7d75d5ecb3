"""Why this is recommended: for each part its reasons with their sources, and what the cost is made of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....widgets.buttons import Button
from ....widgets.cards import Card
from ....widgets.claims import ClaimList, SourcedClaim
from ....widgets.text import label

PADDING = 16


class ReasonsTopic(Struct, frozen=True, kw_only=True):
    """What is said about one subject. `terms` are sentences that explain terms of the reasons."""

    title: str
    reasons: tuple[SourcedClaim, ...]
    terms: tuple[str, ...] = ()


class ReasonsCard(Card):
    """One section for each topic; each term is explained in the first one that has it. Filled while it is shown."""

    def __init__(self) -> None:
        super().__init__(padding=PADDING)
        self.sections: list[ReasonsSection] = []
        self._topics: tuple[ReasonsTopic, ...] = ()
        self._shown_topics: tuple[ReasonsTopic, ...] = ()
        self._available_width = 0
        self.column.setSpacing(14)
        self.hide()

    def set_topics(self, topics: Sequence[ReasonsTopic]) -> None:
        """Set what is to be said, topics without a reason left out."""
        self._topics = tuple(topic for topic in topics if topic.reasons)
        if not self.isHidden():
            self._fill()

    def set_open(self, is_open: bool) -> None:
        """Show it, or hide it."""
        if is_open:
            self._fill()
        self.setVisible(is_open)

    @property
    def has_topics(self) -> bool:
        """Whether there is anything to say."""
        return bool(self._topics)

    @property
    def source_buttons(self) -> tuple[Button, ...]:
        """The buttons that open the sources, in reading order."""
        return tuple(
            button for section in self.sections if not section.isHidden() for button in section.claims.source_buttons
        )

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels."""
        self._available_width = available_width
        for section in self.sections:
            section.claims.set_available_width(available_width - 2 * PADDING)

    def _fill(self) -> None:
        if self._topics == self._shown_topics:
            return
        self._shown_topics = self._topics
        while len(self.sections) < len(self._topics):
            self.sections.append(ReasonsSection())
            self.column.addWidget(self.sections[-1])
        explained: list[str] = []
        for index, section in enumerate(self.sections):
            section.setVisible(index < len(self._topics))
            if index >= len(self._topics):
                continue
            topic = self._topics[index]
            new_terms = [term for term in topic.terms if term not in explained]
            explained += new_terms
            section.set_topic(topic.title, *topic.reasons, *(SourcedClaim(text=term) for term in new_terms))
        self.set_available_width(self._available_width)


class ReasonsSection(QWidget):
    """A heading above claims."""

    def __init__(self) -> None:
        super().__init__()
        self.title_label, self.claims = label("strong"), ClaimList()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.title_label)
        column.addWidget(self.claims)

    def set_topic(self, title: str, *claims: SourcedClaim) -> None:
        """Show what is said about something."""
        self.title_label.setText(title)
        self.claims.set_claims(*claims)
        self.setAccessibleName(f"{title}: {self.claims.text()}")
