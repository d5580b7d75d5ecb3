"""Cards and what stands on them: heroes, banners, pills, rows and tiles of values."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...texts.format import UNKNOWN_VALUE, join_unit
from .. import theme
from .base import Breakpoints, KeyboardFocus, Themed, draw_box, draw_focus_ring, draw_rounded_rect, tint_border
from .buttons import Button, ButtonKind
from .icons import STATE_ICONS, IconWidget, draw_icon
from .layouts import TopAlignedLayout
from .progress import ProgressBar
from .text import label


def name_value_row(name: str, value: str, tone: str = "text") -> QHBoxLayout:
    """A name and, right-aligned, its value; each gets as much width as its text needs."""
    row = QHBoxLayout()
    row.setSpacing(16)
    value_label = label("body", value, tone)
    value_label.setAlignment(Qt.AlignmentFlag.AlignRight)
    for widget, text in ((label("body", name, "soft"), name), (value_label, value)):
        row.addWidget(widget, round(theme.advance("body", text)) + 1, Qt.AlignmentFlag.AlignTop)
    return row


class Card(Themed, QFrame):
    """A background for related things. `column` is its layout; `card_title` is its first row; `tint` is "" or the token
    of a state, such as "warn", that colours the background as a banner's. One that is not `framed` has no background:
    it stands on another widget's.
    """

    def __init__(
        self, title: str = "", *, padding: int = 20, framed: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.tint = ""
        self._framed = framed
        self.column = TopAlignedLayout(self)
        vertical = max(padding - 4, 0)
        self.column.setContentsMargins(padding, vertical, padding, vertical)
        self.column.setSpacing(8)
        self.card_title = label("heading", title)
        self.column.addWidget(self.card_title)
        self.set_title(title)
        self.apply_theme()

    def set_title(self, title: str) -> None:
        """Set the title; an empty one is hidden."""
        self.card_title.setText(title)
        self.card_title.setVisible(bool(title))
        self.setAccessibleName(title)

    def add_title_action(self, button: Button) -> None:
        """Put a button at the right of the title; without it the title keeps its place."""
        policy = button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(policy)
        self.column.removeWidget(self.card_title)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.card_title, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.column.insertLayout(0, row)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if not self._framed:
            return
        if self.tint:
            draw_box(QPainter(self), QRectF(self.rect()), 10, f"{self.tint}_soft", tint_border(self.tint))
        else:
            draw_box(QPainter(self), QRectF(self.rect()), 10, "card")


class Divider(Themed, QWidget):
    """A line between rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        return QSize(10, theme.current().line_width)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).fillRect(self.rect(), theme.color("line"))


INSET_MARGIN = 14


class InsetPanel(Themed, QWidget):
    """A sunken background with a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(INSET_MARGIN, 10, INSET_MARGIN, 10)
        self.column.setSpacing(6)
        self.apply_theme()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 8, "sunken", None)


class ClickableCard(KeyboardFocus, Themed, QAbstractButton):
    """A card that is one button: icon, title, one line of detail. Signal: `clicked`."""

    def __init__(self, icon: str, title: str = "", detail: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shows_detail = True
        self._layout = row = QHBoxLayout(self)
        row.setContentsMargins(14, 12, 14, 12)
        row.setSpacing(14)
        self.icon_widget = IconWidget(icon, background="square", background_size=34)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(1)
        self.title_label, self.detail_label = label("strong", title), label("small", detail)
        text_layout.addStretch(0)
        text_layout.addWidget(self.title_label)
        text_layout.addWidget(self.detail_label)
        text_layout.addStretch(0)
        row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(text_layout, 1)
        for each in (self.title_label, self.detail_label):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_texts(title, detail)
        self.apply_theme()

    def set_texts(self, title: str, detail: str) -> None:
        self.title_label.setText(title)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(self._shows_detail and bool(detail))
        self.setAccessibleName(f"{title}: {detail}" if detail else title)

    def set_detail_shown(self, shown: bool) -> None:
        """Show the line of detail, or only the title where the card is too narrow for both."""
        self._shows_detail = shown
        self.detail_label.setVisible(shown and bool(self.detail_label.text()))
        self._layout.setContentsMargins(*((14, 12, 14, 12) if shown else (10, 12, 8, 12)))
        self._layout.setSpacing(14 if shown else 8)

    def sizeHint(self) -> QSize:
        return self._layout.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.shows_focus_ring:
            rect = draw_focus_ring(painter, rect, 10)
        hovered = self.underMouse() and self.isEnabled()
        draw_box(painter, rect, 10, "pressed" if self.isDown() else "hover" if hovered else "card")


class IconListCard(Card):
    """A heading and lines, each behind an icon."""

    def __init__(self, icons: Sequence[str]) -> None:
        self.labels = [label("body") for _ in icons]
        super().__init__(" ")
        self.column.setSpacing(10)
        for icon, text_label in zip(icons, self.labels, strict=True):
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(IconWidget(icon, "soft", 18), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(text_label, 1, Qt.AlignmentFlag.AlignTop)
            self.column.addLayout(row)
        self.column.addStretch(1)

    def set_lines(self, title: str, lines: Sequence[str]) -> None:
        """Set the heading, and a line for each icon."""
        self.set_title(title)
        for text_label, line in zip(self.labels, lines, strict=True):
            text_label.setText(line)


HeroKind = Literal["ok", "warn", "error", "neutral", "accent"]
_HERO_BACKGROUNDS = {
    "ok": "ok_soft",
    "warn": "warn_soft",
    "error": "error_soft",
    "neutral": "hover",
    "accent": "accent_soft",
}


class Hero(Themed, QWidget):
    """A page's verdict: tinted card with icon, title, one line of evidence and one action. Signal: `button.clicked`.

    A `compact` one has the type of a card's heading also where there is room: within a column, or for a small matter.
    """

    def __init__(
        self,
        kind: HeroKind = "ok",
        title: str = "",
        detail: str = "",
        *,
        action: str = "",
        icon: str | None = None,
        compact: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.kind: HeroKind = kind
        self._always_compact = compact
        self._breakpoints = Breakpoints(self)
        # What is at the right of the text goes on below it where there is no room. Further rows are below both, so that
        # a button that unfolds one stays where it is.
        self._outer_layout = QVBoxLayout(self)
        self._outer_layout.setSpacing(0)
        self._layout, self._rows_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight), QVBoxLayout()
        self._outer_layout.addLayout(self._layout, 1)
        self._outer_layout.addLayout(self._rows_layout)
        self._text_row, self._side_row, self._buttons_layout = QHBoxLayout(), QHBoxLayout(), QVBoxLayout()
        self._buttons_layout.setSpacing(8)
        self.icon_widget = IconWidget("ok", background="disc", background_size=50, size=26, background_color=None)
        self.title_label, self.detail_label = label("verdict", title), label("body", detail, "soft")
        self._text_layout = QVBoxLayout()
        self._text_layout.setSpacing(2)
        self._text_layout.addStretch(0)
        self._text_layout.addWidget(self.title_label)
        self._text_layout.addWidget(self.detail_label)
        self._text_layout.addStretch(0)
        self.button = Button(action, trailing_icon="right")
        # Beside the title, however long what follows it is.
        self._text_row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignTop)
        self._text_row.addLayout(self._text_layout, 1)
        self._buttons_layout.addWidget(self.button)
        self._side_row.addLayout(self._buttons_layout)
        self._side_row.setAlignment(self._buttons_layout, Qt.AlignmentFlag.AlignVCenter)
        middle = QVBoxLayout()
        middle.addStretch(1)
        middle.addLayout(self._text_row)
        middle.addStretch(1)
        self._layout.addLayout(middle, 1)
        self._layout.addLayout(self._side_row)
        self._layout.setAlignment(self._side_row, Qt.AlignmentFlag.AlignLeft)
        self._breakpoints.changed.connect(self._update_margins)
        self._update_margins()
        self.set(kind, title, detail, action, icon)
        self.apply_theme()

    def set(self, kind: HeroKind, title: str, detail: str = "", action: str = "", icon: str | None = None) -> None:
        """Show another verdict; without `action` there is no button."""
        self.kind = kind
        self.title_label.setText(title)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.icon_widget.set(icon or STATE_ICONS[kind], "soft" if kind == "neutral" else kind)
        self.setAccessibleName(f"{title}. {detail}" if detail else title)
        self.update()

    def set_compact(self, on: bool) -> None:
        """Switch between the type of a page's verdict and that of a card's heading."""
        if on != self._always_compact:
            self._always_compact = on
            self._update_margins()

    def add_row(self, widget: QWidget) -> None:
        """Add a widget below the text, and below what is at its right."""
        self._rows_layout.addWidget(widget)

    def add_action(self, button: Button, *, below: bool = False) -> None:
        """Put another button above the verdict's own, or below it, both equally wide."""
        self._buttons_layout.insertWidget(1 if below else 0, button)
        for each in (button, self.button):
            each.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)

    def add_widget(self, widget: QWidget) -> None:
        """Add a widget at the right, such as a pill."""
        self._side_row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the text, what is at its right or a further row, whichever is wider."""
        parts = (self._text_row, self._side_row, self._rows_layout)
        width = max(part.minimumSize().width() for part in parts)
        return QSize(width + self._margins_width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self._text_row.minimumSize().width() + self._layout.spacing() + self._side_row.sizeHint().width()
        fits = width + self._margins_width() <= self.width()
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)

    def refresh(self) -> None:
        super().refresh()
        self._update_margins()

    def _margins_width(self) -> int:
        margins = self._outer_layout.contentsMargins()
        return margins.left() + margins.right()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        border = tint_border("control" if self.kind == "neutral" else self.kind)
        draw_box(QPainter(self), QRectF(self.rect()), 12, _HERO_BACKGROUNDS[self.kind], border)

    def _update_margins(self) -> None:
        compact = self._always_compact or self._breakpoints.is_low or self._breakpoints.is_tight
        self._outer_layout.setContentsMargins(*((16, 12, 16, 12) if compact else (24, 18, 20, 18)))
        spacing = 14 if compact else 20
        for layout in (self._layout, self._text_row, self._side_row):
            layout.setSpacing(spacing)
        self.icon_widget.background_size, self.icon_widget.icon_size = (38, 22) if compact else (50, 26)
        # In line with the text.
        self._rows_layout.setContentsMargins(theme.px(self.icon_widget.background_size) + spacing, 2, 0, 0)
        self.icon_widget.updateGeometry()
        self.title_label.set_kind("heading" if compact else "verdict")
        self.detail_label.set_kind("small" if compact else "body")


BannerKind = Literal["simulated", "offline", "update", "restart", "neutral", "ok", "warn", "error"]
_BANNER_STYLES = {
    "simulated": ("sim", "warn"),
    "offline": ("net", "warn"),
    "update": ("download", "accent"),
    "restart": ("restart", "accent"),
    "neutral": ("info", "text"),
    "ok": ("ok", "ok"),
    "warn": ("warn", "warn"),
    "error": ("error", "error"),
}


class Banner(Themed, QWidget):
    """One line about a state, above the page for as long as it lasts. `button` is hidden until it gets a text.

    An `inset` one stands within a page or card: it has round corners and the padding of a row.
    """

    def __init__(
        self, kind: BannerKind = "warn", text: str = "", parent: QWidget | None = None, *, inset: bool = False
    ) -> None:
        super().__init__(parent)
        self._inset = inset
        self._breakpoints = Breakpoints(self)
        self.kind: BannerKind = kind
        self._row = QHBoxLayout(self)
        self._row.setSpacing(10)
        self._icon = IconWidget("warn", "warn", 16)
        # A sentence within a page is read like any other; the line above a page stands out.
        self.label = label("small" if inset else "small-strong", text)
        self.button = Button(kind="ghost")
        self.button.hide()
        self._row.addWidget(self._icon)
        self._row.addWidget(self.label, 1, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.button)
        self._breakpoints.changed.connect(self._update_margins)
        self._update_margins()
        self.set(kind, text)
        self.apply_theme()

    def set(self, kind: BannerKind, text: str) -> None:
        self.kind = kind
        icon, token = _BANNER_STYLES[kind]
        self._icon.set(icon, token)
        self.label.setText(text)
        self.label.set_tone("accent_text" if token == "accent" else token)
        self.setAccessibleName(text)
        self.update()

    def _update_margins(self) -> None:
        side = INSET_MARGIN if self._inset else self._breakpoints.margin
        self._row.setContentsMargins(side, 9, side, 9)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        token, width = _BANNER_STYLES[self.kind][1], theme.current().line_width
        painter, background = QPainter(self), "hover" if self.kind == "neutral" else f"{token}_soft"
        if self._inset:
            draw_box(painter, QRectF(self.rect()), 8, background, tint_border(token))
            return
        painter.fillRect(self.rect(), theme.color(background))
        if width > 1:
            painter.fillRect(QRectF(0, self.height() - width, self.width(), width), theme.color(token))


class EmptyState(Themed, QWidget):
    """What a page shows when it has no data: icon, one sentence, one button. Signal: `button.clicked`."""

    def __init__(
        self,
        icon: str,
        message: str = "",
        button_text: str = "",
        *,
        kind: ButtonKind = "secondary",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(24, 32, 24, 32)
        column.setSpacing(14)
        self.icon_widget = IconWidget(icon, background="disc", background_size=48, size=22)
        self.message_label = label("body", "", "soft")
        self.message_label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.button = Button(kind=kind)
        column.addStretch(1)
        column.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.message_label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.set(message, button_text)
        self.apply_theme()

    def set_compact(self, compact: bool) -> None:
        """Take less room around, within a small card."""
        self._column.setContentsMargins(*((0, 0, 0, 4) if compact else (24, 32, 24, 32)))
        self._column.setSpacing(8 if compact else 14)

    def add_widget(self, widget: QWidget) -> None:
        """Add a widget below the button."""
        self._column.insertWidget(self._column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def set(self, message: str, button_text: str = "") -> None:
        """Set the texts; without `button_text` there is no button."""
        self.message_label.setText(message)
        self.button.setText(button_text)
        self.button.setVisible(bool(button_text))
        self.setAccessibleName(message)


PillKind = Literal["ok", "warn", "error", "accent", "neutral"]
_PILL_BACKGROUNDS = {
    "ok": "ok_soft",
    "warn": "warn_soft",
    "error": "error_soft",
    "accent": "accent_soft",
    "neutral": "hover",
}
_PILL_FOREGROUNDS = {"accent": "accent_text", "neutral": "text"}
_KINDS_WITH_ICON = ("ok", "warn", "error")


class Pill(Themed, QWidget):
    """A state as icon and text. `on_tint`: it stands on a tinted background and gets the card's own; `icon` is that of
    a kind that has none.
    """

    def __init__(
        self,
        kind: PillKind = "neutral",
        text: str = "",
        *,
        on_tint: bool = False,
        icon: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._icon = icon
        self.kind: PillKind = kind
        self.text = text
        self.on_tint = on_tint
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set(kind, text)
        self.apply_theme()

    def set(self, kind: PillKind, text: str) -> None:
        """Show another state; the same one costs nothing."""
        if (kind, text) == (self.kind, self.text) and self.accessibleName() == text:
            return
        self.kind, self.text = kind, text
        self.setAccessibleName(text)
        self.refresh()

    @property
    def icon_name(self) -> str | None:
        """The icon that it shows; None for none."""
        return STATE_ICONS[self.kind] if self.kind in _KINDS_WITH_ICON else self._icon

    def refresh(self) -> None:
        self.setFont(theme.font("caption-strong"))
        super().refresh()

    def sizeHint(self) -> QSize:
        icon_width = theme.px(16) + 6 if self.icon_name is not None else 0
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + icon_width + 20, self.fontMetrics().height() + 9)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        foreground = _PILL_FOREGROUNDS.get(self.kind, self.kind)
        border = tint_border(foreground)
        background = theme.color("card" if self.on_tint else _PILL_BACKGROUNDS[self.kind])
        draw_rounded_rect(
            painter, rect, rect.height() / 2, background, theme.color(border) if border else None, width=1.5
        )
        x = 10.0
        if self.icon_name is not None:
            draw_icon(painter, self.icon_name, foreground, 16, QRectF(8, 0, theme.px(16), rect.height()))
            x = 8.0 + theme.px(16) + 5
        painter.setPen(theme.color(foreground))
        painter.setFont(self.font())
        painter.drawText(rect.adjusted(x, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), self.text)


class ValueRow(Themed, QWidget):
    """A fact: icon, name above value, detail and pill at the right, read as one sentence. Unknown is a dash."""

    def __init__(self, icon: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = row = QHBoxLayout(self)
        row.setSpacing(14)
        self.set_compact(False)
        self.icon_widget = IconWidget(icon, background="square", background_size=34)
        self.name_label, self.value_label = label("caption", text), label("strong", UNKNOWN_VALUE)
        self.detail_label, self.pill = label("small"), Pill()
        self.detail_label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.detail_label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(1)
        text_layout.addStretch(0)
        text_layout.addWidget(self.name_label)
        text_layout.addWidget(self.value_label)
        text_layout.addStretch(0)
        row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(text_layout, 1)
        row.addWidget(self.detail_label, 1, Qt.AlignmentFlag.AlignVCenter)
        self._pill_cell = QWidget()
        pill_layout = QHBoxLayout(self._pill_cell)
        pill_layout.setContentsMargins(0, 0, 0, 0)
        pill_layout.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignRight)
        row.addWidget(self._pill_cell, 0, Qt.AlignmentFlag.AlignVCenter)
        self.set(text)
        self.apply_theme()

    def set_pill_width(self, width: int) -> None:
        """The room for the pill in pixels, so that the details of several rows end at one place."""
        self._pill_cell.setMinimumWidth(width)
        self._share_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        """The value in one line, if it can be, and the detail in the rest."""
        detail = self.detail_label
        pill = 0 if self._pill_cell.isHidden() else self._pill_cell.sizeHint().width() + self._layout.spacing()
        pill = max(pill, self._pill_cell.minimumWidth() + self._layout.spacing()) if pill else 0
        others = self.icon_widget.sizeHint().width() + 2 * self._layout.spacing() + pill
        room = self.contentsRect().width() - self._layout.contentsMargins().left() * 2 - others
        value = max(self.value_label.sizeHint().width(), self.name_label.sizeHint().width())
        value = max(min(value, room - detail.minimumSizeHint().width()), 1)
        self._layout.setStretch(1, value)
        self._layout.setStretch(2, max(room - value, 1))

    def set_compact(self, on: bool) -> None:
        """Stand closer to the rows above and below."""
        vertical = 5 if on else 10
        self._layout.setContentsMargins(4, vertical, 4, vertical)

    def set(
        self,
        text: str,
        value: str | None = None,
        detail: str = "",
        pill: tuple[PillKind, str] | None = None,
        reason: str = "",
    ) -> None:
        """Set all of it; `reason` is the tool tip of an unknown value."""
        self.name_label.setText(text)
        self.value_label.setText(UNKNOWN_VALUE if value is None else value)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.pill.setVisible(pill is not None)
        self._pill_cell.setVisible(pill is not None)
        if pill is not None:
            self.pill.set(*pill)
        self._share_width()
        self.setToolTip(reason)
        parts = (self.value_label.text(), detail, pill[1] if pill else "", reason)
        self.setAccessibleName(f"{text}: " + ", ".join(part for part in parts if part))


UNIT_GAP, JOINED_UNIT_GAP = 5, 1  # pixels


class MetricValue(Themed, QWidget):
    """A figure with its unit on the same baseline; an unknown one is a dash without a unit."""

    def __init__(self, kind: str = "figure", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.figure, self.unit, self.tone = kind, UNKNOWN_VALUE, "", "text"
        self._largest = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def set(self, figure: str | None, unit: str = "") -> None:
        """Show another figure, None for unknown; the same one costs nothing."""
        value = (UNKNOWN_VALUE, "") if figure is None else (figure, unit)
        if value == (self.figure, self.unit):
            return
        old_size = self.sizeHint()
        self.figure, self.unit = value
        self.setAccessibleName(join_unit(self.figure, self.unit))
        if self.sizeHint() != old_size:
            self.updateGeometry()
        self.update()

    def set_largest(self, figure: str) -> None:
        """Keep room for the largest figure that may come, so that nothing moves when it does."""
        if figure != self._largest:
            self._largest = figure
            self.updateGeometry()

    def set_kind(self, kind: str) -> None:
        """Set the step of the type scale of the figure."""
        if kind != self.kind:
            self.kind = kind
            self.refresh()

    def set_tone(self, tone: str) -> None:
        """Draw the figure in the colour of this token."""
        if tone != self.tone:
            self.tone = tone
            self.update()

    def sizeHint(self) -> QSize:
        large, small = QFontMetricsF(theme.font(self.kind)), QFontMetricsF(theme.font("small"))
        unit = small.horizontalAdvance(self.unit) + self._unit_gap() if self.unit else 0.0
        figure = max(large.horizontalAdvance(text) for text in (self.figure, self._largest))
        return QSize(ceil(figure + unit) + 1, ceil(large.height()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, large = QPainter(self), QFontMetricsF(theme.font(self.kind))
        base = (self.height() - large.height()) / 2 + large.ascent()
        painter.setFont(theme.font(self.kind))
        painter.setPen(theme.color(self.tone))
        painter.drawText(QPointF(0, base), self.figure)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("soft"))
        painter.drawText(QPointF(large.horizontalAdvance(self.figure) + self._unit_gap(), base), self.unit)

    def _unit_gap(self) -> int:
        """Pixels between figure and unit: as much as its language writes between them."""
        is_joined = not join_unit("0", self.unit).startswith("0 ")
        return JOINED_UNIT_GAP if is_joined else UNIT_GAP


TILE_PADDING, COMPACT_TILE_PADDING = 14, 10  # pixels


class MetricTile(Card):
    """Icon, name, figure with unit, and a bar in the series' colour. Unknown is a dash with the reason as tool tip."""

    def __init__(
        self,
        icon: str,
        text: str = "",
        *,
        token: str = "s1",
        parent: QWidget | None = None,
    ) -> None:
        self._state: tuple[str | None, str, float | None, str] | None = None
        self._is_compact = False
        super().__init__(padding=TILE_PADDING, parent=parent)
        self.icon_widget = IconWidget(icon, "soft", 16)
        self.name_label = label("small", text)
        self.value_widget = MetricValue()
        self.progress_bar = ProgressBar(height=4)
        self.progress_bar.token = token
        header = QHBoxLayout()
        header.setSpacing(8)
        header.addWidget(self.icon_widget)
        header.addWidget(self.name_label, 1)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(header)
        column.addWidget(self.value_widget)
        column.addWidget(self.progress_bar)
        self.column.addLayout(column)
        self.set_value(None, "", None)

    def set_label(self, text: str) -> None:
        """Set the name, in another language."""
        self.name_label.setText(text)
        self._update_accessible_text()

    def set_compact(self, on: bool) -> None:
        """Have a smaller figure, less room around it, and no icon, where many tiles share a narrow row."""
        if on == self._is_compact:
            return
        self._is_compact = on
        padding = COMPACT_TILE_PADDING if on else TILE_PADDING
        self.column.setContentsMargins(padding, padding - 4, padding, padding - 4)
        self.icon_widget.setVisible(not on)
        self.value_widget.set_kind("heading" if on else "figure")
        self.column.activate()  # its minimum is asked for at once

    def set_value(self, figure: str | None, unit: str, fraction: float | None, reason: str = "") -> None:
        """`figure` is None for unknown, with the reason; `fraction` of the bar is 0 to 1, None hides it."""
        state = (figure, unit, fraction, reason)
        if state == self._state:
            return
        self._state = state
        self.value_widget.set(figure, unit)
        self.progress_bar.set_fraction(fraction or 0.0)
        policy = self.progress_bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.progress_bar.setSizePolicy(policy)
        self.progress_bar.setVisible(fraction is not None)
        self.setToolTip(reason)
        self._update_accessible_text()

    def _update_accessible_text(self) -> None:
        value = join_unit(self.value_widget.figure, self.value_widget.unit)
        self.setAccessibleName(f"{self.name_label.text()}: {value}")
        self.setAccessibleDescription(self.toolTip())
