"""Keeps the settings without making the window wait for the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from ...core.jobs import JobContext
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...app import App


class _SaveSettingsJob:
    """Writes the settings that hold when it runs."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> None:  # noqa: ARG002
        self._app.save_settings(self._app.settings)


class SettingsSaver(QObject):
    """`keep(theme="dark")` holds at once and is on disk soon after. `failed(AppError)`, `saved` tell how it went."""

    failed = Signal(object)
    saved = Signal()

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._save_again = False
        self._runner = JobRunner(self)
        self._runner.failed.connect(self.failed)
        self._runner.done.connect(lambda _: self.saved.emit())
        self._runner.finished.connect(self._save_pending)

    def save(self, **changes: Any) -> None:  # noqa: ANN401 - the settings' own fields
        """Change settings."""
        self._app.settings = replace(self._app.settings, **changes)
        if self._runner.running:
            self._save_again = True
        else:
            self._runner.start(_SaveSettingsJob(self._app))

    def _save_pending(self) -> None:
        if self._save_again:
            self._save_again = False
            self._runner.start(_SaveSettingsJob(self._app))
