"""A newer version: what it is, the way to get it, and how far that is."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from ...texts import format as figures
from .. import theme
from ..components import Button, CommandBox, Themed, ProgressBar, label
from ..language import texts
from .updates import UpdateController


class UpdatePanel(Themed, QWidget):
    """Follows the `Updates` it was given; empty while there is nothing newer. Buttons stand in a row if they fit."""

    def __init__(self, updates: UpdateController) -> None:
        super().__init__()
        self._updates = updates
        self.headline_label, self.detail_label = label("strong"), label("small")
        self.error_label = label("small", tone="error")
        self.instructions = label("body", "", "soft")
        self.command_box = CommandBox()
        self.progress_bar, self.progress_label = ProgressBar(), label("small")
        self.install_button, self.notes_button, self.later_button = (
            Button(icon_name="download"),
            Button(kind="ghost", trailing_icon="open"),
            Button(kind="ghost"),
        )
        self.cancel_button = Button()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        parts = (self.headline_label, self.detail_label, self.error_label, self.progress_bar, self.progress_label, self.instructions, self.command_box)
        for part in parts:
            column.addWidget(part)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(8)
        for button in (self.install_button, self.cancel_button, self.notes_button, self.later_button):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._row.addStretch(1)
        column.addSpacing(4)
        column.addLayout(self._row)
        self.install_button.clicked.connect(self._on_install_clicked)
        self.cancel_button.clicked.connect(updates.cancel_download)
        self.later_button.clicked.connect(updates.decline)
        self.notes_button.clicked.connect(self._open_release_notes)
        updates.changed.connect(self.retranslate)
        self.apply_theme()

    def retranslate(self) -> None:
        """All words and all states."""
        updates, newer_version = self._updates, self._updates.newer_version
        if newer_version is None:
            return
        stage, update_file = updates.stage, updates.update_file
        translations = texts()
        self.headline_label.setText(self.tr("Version {version} is available").format(version=newer_version.version))
        details = [
            self.tr("You have {version}").format(version=updates.service.current_version),
            self.tr("released {date}").format(date=newer_version.released.isoformat()),
        ]
        source = updates.service.installation_kind == "source"
        if update_file is not None:
            details.append(figures.format_size(update_file.bytes))
        elif not source:
            details.append(self.tr("without a file for the way this copy was installed"))
        self.detail_label.setText(" · ".join(details))
        self._set_label(self.error_label, translations.error_text(updates.error) if updates.error is not None else "")
        downloaded = stage in ("ready", "handing")
        self._set_label(self.instructions, translations.translate(f"update.how.{updates.service.installation_kind}") if downloaded or source else "")
        command = updates.service.install_command(updates.file_path) if downloaded and updates.file_path is not None else None
        self.command_box.setVisible(command is not None)
        self.command_box.set_text(command or "")
        self._show_progress()
        installs = updates.service.has_installer
        if downloaded:
            self.install_button.setText(self.tr("Install now") if installs else self.tr("Open its folder"))
            self.install_button.set_icon(None if installs else "folder")
        else:
            self.install_button.setText(self.tr("Download and install") if installs else self.tr("Download"))
            self.install_button.set_icon("download")
        self.install_button.setVisible(update_file is not None and stage != "fetching")
        self.install_button.set_busy(stage == "handing")
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setVisible(stage == "fetching")
        self.notes_button.setText(self.tr("What is new"))
        self.notes_button.setVisible(newer_version.notes_url is not None)
        self.later_button.setText(self.tr("Not now"))
        self.later_button.setVisible(updates.should_offer and stage in ("found", "ready"))
        self.setAccessibleName(self.headline_label.text())
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The buttons side by side, or one below the other."""
        super().resizeEvent(event)
        self._arrange()

    def _show_progress(self) -> None:
        downloading, progress = self._updates.stage == "fetching", self._updates.progress
        self.progress_bar.setVisible(downloading)
        self.progress_bar.set_fraction(progress.done / progress.total if progress is not None else None)
        text = ""
        if downloading and progress is not None:
            text = self.tr("{done} of {total}").format(done=figures.format_size(progress.done), total=figures.format_size(progress.total))
            if progress.speed is not None:
                text += f" · {figures.format_speed(progress.speed)}"
        self._set_label(self.progress_label, text)

    def _set_label(self, widget: QWidget, text: str) -> None:
        widget.setText(text)  # type: ignore[attr-defined]
        widget.setVisible(bool(text))

    def _arrange(self) -> None:
        visible_buttons = [candidate for candidate in (self.install_button, self.cancel_button, self.notes_button, self.later_button) if candidate.isVisibleTo(self)]
        needed_width = sum(button.sizeHint().width() + self._row.spacing() for button in visible_buttons)
        in_row = needed_width <= max(self.width(), theme.px(240))
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.LeftToRight if in_row else direction.TopToBottom)

    def _on_install_clicked(self) -> None:
        if self._updates.stage == "ready":
            self._updates.install()
        else:
            self._updates.download()

    def _open_release_notes(self) -> None:
        newer_version = self._updates.newer_version
        if newer_version is not None and newer_version.notes_url is not None:
            QDesktopServices.openUrl(QUrl(newer_version.notes_url))
