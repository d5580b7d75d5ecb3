"""A newer version: what it is, the way to get it, and how far that is."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from ...texts import format as figures
from .. import theme
from ..components import Button, CommandBox, Live, ProgressBar, label
from ..language import texts
from .updates import Updates


class UpdateOffer(Live, QWidget):
    """Follows the `Updates` it was given; empty while there is nothing newer. Buttons stand in a row if they fit."""

    def __init__(self, updates: Updates) -> None:
        super().__init__()
        self._updates = updates
        self.headline, self.detail = label("strong"), label("small")
        self.trouble = label("small", tone="error")
        self.how = label("body", "", "soft")
        self.command = CommandBox()
        self.progress, self.figures = ProgressBar(), label("small")
        self.go, self.news, self.later = (
            Button(icon="download"),
            Button(kind="ghost", after="open"),
            Button(kind="ghost"),
        )
        self.cancel = Button()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        parts = (self.headline, self.detail, self.trouble, self.progress, self.figures, self.how, self.command)
        for part in parts:
            column.addWidget(part)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(8)
        for button in (self.go, self.cancel, self.news, self.later):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._row.addStretch(1)
        column.addSpacing(4)
        column.addLayout(self._row)
        self.go.clicked.connect(self._go)
        self.cancel.clicked.connect(updates.cancel)
        self.later.clicked.connect(updates.not_now)
        self.news.clicked.connect(self._read_news)
        updates.changed.connect(self.retranslate)
        self.follow()

    def retranslate(self) -> None:
        """All words and all states."""
        updates, newer = self._updates, self._updates.newer
        if newer is None:
            return
        stage, file = updates.stage, updates.file
        said = texts()
        self.headline.setText(self.tr("Version {version} is available").format(version=newer.version))
        words = [
            self.tr("You have {version}").format(version=updates.service.ours),
            self.tr("released {date}").format(date=newer.released.isoformat()),
        ]
        source = updates.service.kind == "source"
        if file is not None:
            words.append(figures.size(file.bytes))
        elif not source:
            words.append(self.tr("without a file for the way this copy was installed"))
        self.detail.setText(" · ".join(words))
        self._say(self.trouble, said.error(updates.error) if updates.error is not None else "")
        ready = stage in ("ready", "handing")
        self._say(self.how, said.say(f"update.how.{updates.service.kind}") if ready or source else "")
        command = updates.service.command(updates.path) if ready and updates.path is not None else None
        self.command.setVisible(command is not None)
        self.command.set_text(command or "")
        self._show_progress()
        installs = updates.service.installs
        if ready:
            self.go.setText(self.tr("Install now") if installs else self.tr("Open its folder"))
            self.go.set_icon(None if installs else "folder")
        else:
            self.go.setText(self.tr("Download and install") if installs else self.tr("Download"))
            self.go.set_icon("download")
        self.go.setVisible(file is not None and stage != "fetching")
        self.go.set_busy(stage == "handing")
        self.cancel.setText(self.tr("Cancel"))
        self.cancel.setVisible(stage == "fetching")
        self.news.setText(self.tr("What is new"))
        self.news.setVisible(newer.notes_url is not None)
        self.later.setText(self.tr("Not now"))
        self.later.setVisible(updates.wanted and stage in ("found", "ready"))
        self.setAccessibleName(self.headline.text())
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The buttons side by side, or one below the other."""
        super().resizeEvent(event)
        self._arrange()

    def _show_progress(self) -> None:
        fetching, came = self._updates.stage == "fetching", self._updates.progress
        self.progress.setVisible(fetching)
        self.progress.set_fraction(came.done / came.total if came is not None else None)
        text = ""
        if fetching and came is not None:
            text = self.tr("{done} of {total}").format(done=figures.size(came.done), total=figures.size(came.total))
            if came.speed is not None:
                text += f" · {figures.speed(came.speed)}"
        self._say(self.figures, text)

    def _say(self, where: QWidget, text: str) -> None:
        where.setText(text)  # type: ignore[attr-defined]
        where.setVisible(bool(text))

    def _arrange(self) -> None:
        shown = [b for b in (self.go, self.cancel, self.news, self.later) if b.isVisibleTo(self)]
        needed = sum(button.sizeHint().width() + self._row.spacing() for button in shown)
        level = needed <= max(self.width(), theme.px(240))
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.LeftToRight if level else ways.TopToBottom)

    def _go(self) -> None:
        if self._updates.stage == "ready":
            self._updates.go_on()
        else:
            self._updates.fetch()

    def _read_news(self) -> None:
        newer = self._updates.newer
        if newer is not None and newer.notes_url is not None:
            QDesktopServices.openUrl(QUrl(newer.notes_url))
