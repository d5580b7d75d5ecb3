"""The card for what GPU Assistant does by itself: start with the computer, notify, show an icon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....core.errors import AppError
from ....core.jobs import JobContext
from ...language import texts
from ...saving import SettingsSaver
from ...widgets.switch import Switch
from ...widgets.text import label
from ...worker import JobRunner
from .cards import SettingsRowsCard

if TYPE_CHECKING:
    from ....app import App


class StartupJob:
    """Turns the start with the computer on or off (None: neither); its result is whether it is on."""

    def __init__(self, app: App, enabled: bool | None) -> None:
        self._app, self._enabled = app, enabled

    def run(self, context: JobContext[object]) -> bool:
        """Raises AppError."""
        context.check_cancelled()
        if self._enabled is not None:
            self._app.setup.start_with_system(self._enabled)
        return self._app.setup.starts_with_system


class StartupCard(SettingsRowsCard):
    """Whether the program starts with the computer is asked of the system each time the card is shown."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.start_switch, self.finish_switch = Switch(), Switch()
        self.start_switch.setObjectName("startWithSystem")
        self._is_started: bool | None = None
        self._wanted: bool | None = None
        self._error: AppError | None = None
        self.error_label = label("small", "", "error")
        super().__init__(app, saver, (self.start_switch, self.finish_switch), self.error_label)
        self._runner = JobRunner(self)
        self._runner.done.connect(self._on_done)
        self._runner.failed.connect(self._on_failed)
        self._runner.finished.connect(self._go_on)
        self.start_switch.switched.connect(self._choose_start)
        self.finish_switch.switched.connect(lambda is_on: saver.save(finish_notices=is_on))
        self._start(None)

    def update_rows(self) -> None:
        self.set_title(self.tr("Start and notifications"))
        questions = (
            (
                self.tr("Start in the background when I sign in"),
                self.tr("The graphs and warnings then cover the whole day."),
            ),
            (self.tr("Notify me when a setup, a benchmark or a health test has finished"), ""),
        )
        states = (self._is_started, self._app.settings.finish_notices)
        controls = (self.start_switch, self.finish_switch)
        for row_label, control, (text, hint), state in zip(self.row_labels, controls, questions, states, strict=True):
            row_label.set(text, hint)
            control.set_on(state)
            control.setAccessibleName(text)
        self.start_switch.setEnabled(not self._app.simulated)
        self.error_label.setText(texts().error_text(self._error) if self._error is not None else "")
        self.error_label.setVisible(self._error is not None)

    def _choose_start(self, is_on: bool) -> None:
        self._is_started = is_on
        if self._runner.running:
            self._wanted = self._is_started
        else:
            self._start(self._is_started)

    def _start(self, enabled: bool | None) -> None:
        if not self._app.simulated:
            self._error = None
            self._runner.start(StartupJob(self._app, enabled))

    def _go_on(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._start(wanted)

    def _on_done(self, is_started: bool) -> None:
        if self._wanted is None:
            self._is_started = is_started
        self.retranslate()

    def _on_failed(self, error: AppError) -> None:
        self._error, self._is_started = error, None
        self.retranslate()
