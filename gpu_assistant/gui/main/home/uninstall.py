"""Removing an environment: what will be removed is shown and confirmed first, what stayed is reported after it.

UninstallPreviewJob ─► steps ─► summarize_removal: a line for each thing; UninstallDetails: each step, on demand
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QCoreApplication, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ....core.jobs import JobContext
from ....core.message import Message
from ....core.plan import Event, Step, StepEvent
from ....texts.format import format_size
from ....texts.localized import Texts
from ... import theme
from ...language import Language
from ...machine_facts import InstalledEnvironment
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.dialogs import ConfirmDialog
from ...widgets.text import label
from ...worker import JobRunner

if TYPE_CHECKING:
    from ....app import App

MAX_LIST_HEIGHT = 260
DRIVER_KIND, DRIVER_CODE = "nvidia-driver", "remove-driver"


class RemovalPreview(NamedTuple):
    """What an uninstall would do, and what it would do `with_driver`: () where no driver of ours can be removed."""

    steps: tuple[Step, ...]
    with_driver: tuple[Step, ...] = ()


class EnvironmentRemoval(QObject):
    """`changed` says that a job began or ended; `finished` brings the outcome, `failed` the AppError."""

    changed = Signal()
    finished = Signal(str)
    failed = Signal(object)

    def __init__(self, app: App, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self._app, self._language, self._window = app, language, parent
        self._installed: InstalledEnvironment | None = None
        self._leftover_messages: dict[str, str] = {}
        self._preview_runner, self._uninstall_runner = JobRunner(self), JobRunner(self)
        self._preview_runner.done.connect(self._show_confirmation)
        self._uninstall_runner.reported.connect(self._on_event)
        self._uninstall_runner.done.connect(self._on_uninstalled)
        for runner in (self._preview_runner, self._uninstall_runner):
            runner.failed.connect(self.failed)
            runner.started.connect(self.changed)
            runner.finished.connect(self.changed)

    @property
    def is_running(self) -> bool:
        return self._preview_runner.running or self._uninstall_runner.running

    def confirm_and_remove(self, installed: InstalledEnvironment) -> None:
        """Read what would be removed, show it, and remove it if the user agrees."""
        if not self.is_running:
            self._installed = installed
            self._preview_runner.start(UninstallPreviewJob(self._app, installed.folder))

    def _show_confirmation(self, preview: RemovalPreview) -> None:
        installed = self._installed
        if installed is None:
            return
        details = UninstallDetails(preview, self._language.texts())
        dialog = build_removal_dialog(self._window, installed, preview.steps, self._language.texts(), details)
        dialog.accepted.connect(lambda: self._uninstall(driver=details.with_driver))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _uninstall(self, *, driver: bool) -> None:
        if self._installed is not None and not self.is_running:
            self._leftover_messages.clear()
            self._uninstall_runner.start(self._app.setup.uninstall(self._installed.folder, driver=driver))

    def _on_event(self, event: Event) -> None:
        # Only steps that did not go as shown carry a message.
        if isinstance(event, StepEvent) and event.code is not None and event.state in ("done", "skipped"):
            self._leftover_messages[event.id] = self._language.texts().message_text(Message(event.code, event.data))

    def _on_uninstalled(self, folder: Path) -> None:
        template = (
            self.tr("Removed what was installed for {path}:") if self._leftover_messages else self.tr("Removed: {path}")
        )
        self.finished.emit("\n".join([template.format(path=folder), *dict.fromkeys(self._leftover_messages.values())]))


class UninstallPreviewJob:
    """Reads the steps of an uninstall from the journal."""

    def __init__(self, app: App, folder: Path) -> None:
        self._app, self._folder = app, folder

    def run(self, context: JobContext[Any]) -> RemovalPreview:  # noqa: ARG002
        """The steps, in order; raises AppError where nothing in the folder is ours."""
        setup = self._app.setup
        with_driver = setup.uninstall(self._folder, driver=True).steps()
        is_removable = any(step.code == DRIVER_CODE for step in with_driver)
        return RemovalPreview(setup.uninstall(self._folder).steps(), with_driver if is_removable else ())


def build_removal_dialog(
    parent: QWidget, installed: InstalledEnvironment, steps: tuple[Step, ...], texts: Texts, details: UninstallDetails
) -> ConfirmDialog:
    """The question with all steps; keeping the environment is the default."""
    from ....install.jobs.removal_summary import summarize_removal

    size_text = f" ({format_size(installed.bytes)})" if installed.bytes is not None else ""
    title = QCoreApplication.translate("EnvironmentRemoval", "Remove “{name}”{size}?").format(
        name=installed.name, size=size_text
    )
    # What is asked below is not said above.
    said = steps if details.driver_choice is None else [step for step in steps if step.kind != DRIVER_KIND]
    summary = "\n".join(f"•\u00a0{texts.message_text(line)}" for line in summarize_removal(said))
    explanation = QCoreApplication.translate("EnvironmentRemoval", "Only this is removed:")
    remove_text, keep_text = (
        QCoreApplication.translate("EnvironmentRemoval", "Remove"),
        QCoreApplication.translate("EnvironmentRemoval", "Keep"),
    )
    consequence = f"{explanation}\n{summary}"
    return ConfirmDialog(parent, title, consequence, remove_text, keep_text, details=details)


class UninstallDetails(QWidget):
    """The list of all steps, shown and hidden by `toggle_button`; where a driver of ours can go, too, `driver_choice`
    asks that: it stays unless the user chooses otherwise.
    """

    def __init__(self, preview: RemovalPreview, texts: Texts) -> None:
        super().__init__()
        self._preview, self._texts = preview, texts
        self.driver_choice: SegmentedControl | None = None
        self.toggle_button = Button(QCoreApplication.translate("EnvironmentRemoval", "Details"), "ghost")
        self.step_list = UninstallStepList(preview.steps, texts)
        self.step_list.hide()
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        driver = next((step for step in preview.with_driver if step.code == DRIVER_CODE), None)
        if driver is not None:
            title, keep, remove = (
                texts.translate(f"removal.driver.{part}", driver.data) for part in ("title", "keep", "remove")
            )
            self.driver_choice = SegmentedControl((keep, remove), name=title)
            self.driver_choice.chosen.connect(self._show_steps)
            column.addWidget(label("small", title))
            column.addWidget(self.driver_choice, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            column.addSpacing(8)
        column.addWidget(self.toggle_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.step_list, 1)
        self.toggle_button.clicked.connect(lambda: self.step_list.setVisible(self.step_list.isHidden()))

    @property
    def with_driver(self) -> bool:
        """Whether the user chose to remove the driver, too."""
        return self.driver_choice is not None and self.driver_choice.current() == 1

    def _show_steps(self) -> None:
        steps = self._preview.with_driver if self.with_driver else self._preview.steps
        step_list = UninstallStepList(steps, self._texts)
        self._column.replaceWidget(self.step_list, step_list)
        step_list.setVisible(not self.step_list.isHidden())
        self.step_list.hide()
        self.step_list.deleteLater()
        self.step_list = step_list


class UninstallStepList(QScrollArea):
    """What each step removes; a long list scrolls."""

    def __init__(self, steps: tuple[Step, ...], texts: Texts) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 4, 8, 4)
        column.setSpacing(2)
        for number, step in enumerate(steps, 1):
            title = label("strong", f"{number}. " + texts.translate(f"step.{step.code}.title", step.data))
            column.addWidget(title)
            column.addWidget(label("small", texts.translate(f"step.{step.code}.what", step.data)))
            column.addSpacing(6)
        column.addStretch(1)
        self.setWidget(content)
        self.setAccessibleName(QCoreApplication.translate("EnvironmentRemoval", "What will be removed"))
        self._column = column

    def sizeHint(self) -> QSize:
        width = theme.px(520)
        return QSize(width, min(self._column.heightForWidth(width - 16), theme.px(MAX_LIST_HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(320), min(self.sizeHint().height(), theme.px(120)))
