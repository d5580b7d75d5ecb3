"""Warnings with their fixes and alternatives with their buttons, one row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .....core.recommendation import Alternative, DriverAdvice, RecommendationWarning
from .....core.types import Goal
from .....texts.format import UNKNOWN_VALUE
from .... import messages, theme
from ....widgets.buttons import Button
from ....widgets.cards import Card, Divider
from ....widgets.icons import IconWidget
from ....widgets.text import label

ROW_MIN_WIDTH, LEFT_MARGIN, RIGHT_MARGIN = 600, 16, 10
INSTALLER_SUFFIXES = frozenset({".exe", ".run"})
# Alternatives that change the goal instead of a version.
GOAL_OF_ALTERNATIVE: Mapping[str, Goal] = {"pytorch-instead": "pytorch", "two-environments": "pytorch"}


class NoticesCard(Card):
    """`alternative_chosen` brings the chosen alternative, `undo_requested` asks to undo the last one.

    `buttons` are those of the alternatives, `undo_button` exists after one was chosen, `controls` are all buttons in
    reading order.
    """

    alternative_chosen = Signal(object)
    undo_requested = Signal()

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(LEFT_MARGIN, 6, RIGHT_MARGIN, 6)
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(4)
        self.column.addLayout(self._rows_layout)
        self.buttons: list[Button] = []
        self.controls: list[Button] = []
        self.undo_button: Button | None = None
        self._row_widgets: list[QWidget] = []
        self._row_layouts: list[QBoxLayout] = []
        self._available_width = ROW_MIN_WIDTH
        self._drawn_key: object = None

    @property
    def has_notices(self) -> bool:
        """Whether there is something to show."""
        return bool(self._row_widgets)

    def set(
        self,
        warnings: Sequence[RecommendationWarning],
        alternatives: Sequence[Alternative],
        driver: DriverAdvice | None,
        uncovered_parts: str,
        changes: str = "",
        *,
        driver_required: bool = False,
    ) -> None:
        """Show localized warnings and alternatives, a driver that the user has to install (`driver_required`: before
        the verification can pass), parts that the plan leaves out, and what the last alternative changed.

        The same content in the same language keeps the rows and the focus in them.
        """
        key = (
            tuple(warnings),
            tuple(alternatives),
            driver,
            driver_required,
            uncovered_parts,
            changes,
            self.tr("Open NVIDIA's page"),
        )
        if key == self._drawn_key:
            return
        self._drawn_key = key
        for widget in self._row_widgets:
            self._rows_layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._row_widgets, self._row_layouts, self.buttons, self.controls = [], [], [], []
        self.undo_button = None
        if changes:
            self.undo_button = Button(self.tr("Undo"), "ghost")
            self.undo_button.clicked.connect(self.undo_requested)
            self._add_row("info", "accent", self.tr("Changed: {changes}").format(changes=changes), self.undo_button)
        if driver is not None:
            self._add_manual_driver(driver, required=driver_required)
        if uncovered_parts:
            template = self.tr(
                "These cannot be installed from here yet: {parts}. "
                "Get them from their makers; the plan sets up the rest."
            )
            self._add_row("warn", "warn", template.format(parts=uncovered_parts), None)
        for warning in warnings:
            self._add_row("warn", "warn", messages.join_sentences(warning.text, warning.fix), None)
        for alternative in alternatives:
            button = None
            # An alternative that this program cannot carry out has no button.
            if alternative.change or alternative.code in GOAL_OF_ALTERNATIVE:
                button = Button(alternative.label or "", "ghost")
                button.clicked.connect(lambda _checked=False, offer=alternative: self.alternative_chosen.emit(offer))
                self.buttons.append(button)
            self._add_row("swap", "soft", alternative.text or "", button)

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels: each button beside its sentence, or below it."""
        self._available_width = available_width
        for layout in self._row_layouts:
            layout.setDirection(self._direction())
        for button in self.controls:
            button.set_max_width(self._button_width())

    def _direction(self) -> QBoxLayout.Direction:
        in_row = self._available_width >= theme.px(ROW_MIN_WIDTH)
        return QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom

    def _button_width(self) -> int:
        """The maximum width of a button, in pixels."""
        in_row = self._direction() == QBoxLayout.Direction.LeftToRight
        return self._available_width // 2 if in_row else self._available_width - LEFT_MARGIN - RIGHT_MARGIN

    def _add_manual_driver(self, driver: DriverAdvice, *, required: bool) -> None:
        version = driver.recommended or UNKNOWN_VALUE
        if driver.recommended is None and driver.minimum is not None:
            # The user should look for a newer one than the minimum.
            template = self.tr("{version} or newer")
            if driver.below is not None:
                template = self.tr("{version} or newer (but older than {limit})")
            version = template.format(version=driver.minimum, limit=driver.below)
        text = self.tr(
            "Install NVIDIA driver {version} yourself, then check again. Until then PyTorch cannot use the card."
        )
        if required:
            text = self.tr(
                "Install NVIDIA driver {version} yourself first, then check again. Without it, the setup stops "
                "before its last step, which checks that everything works, and continues from there later."
            )
        button = None
        if driver.url is not None:
            # The URL can be that of the installer itself.
            is_installer = PurePosixPath(urlsplit(driver.url).path).suffix in INSTALLER_SUFFIXES
            button_text = self.tr("Download it from NVIDIA") if is_installer else self.tr("Open NVIDIA's page")
            button = Button(button_text, "ghost", trailing_icon="open")
            url = QUrl(driver.url)
            button.clicked.connect(lambda: QDesktopServices.openUrl(url))
        self._add_row("warn", "warn", text.format(version=version), button)

    def _add_row(self, icon: str, color: str, text: str, button: Button | None) -> None:
        if self._row_widgets:
            self._row_widgets.append(Divider())
            self._rows_layout.addWidget(self._row_widgets[-1])
            self._row_widgets[-1].show()
        row = QWidget()
        layout, text_layout = QBoxLayout(self._direction(), row), QHBoxLayout()
        layout.setSpacing(6)
        self._row_layouts.append(layout)
        layout.setContentsMargins(0, 4, 0, 4)
        text_layout.setSpacing(14)
        text_layout.addWidget(IconWidget(icon, color, 18), 0, Qt.AlignmentFlag.AlignVCenter)
        text_layout.addWidget(label("small", text, "text"), 1)
        layout.addLayout(text_layout, 1)
        if button is not None:
            button.set_max_width(self._button_width())
            self.controls.append(button)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        row.setAccessibleName(text)
        self._row_widgets.append(row)
        self._rows_layout.addWidget(row)
        row.show()
