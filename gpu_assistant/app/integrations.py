"""How an installed environment is used: example programs, menu entry, editor, Jupyter kernel, lock file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..examples.job import ExampleJob, ExampleSettings
    from ..examples.programs import ExampleName
    from ..install.environment.integrations import EditorJob, EnvironmentActions, JupyterKernelJob, MenuEntryJob
    from ..system.base import Desktop
    from .context import AppContext


class IntegrationService:
    """How an installed environment is used. Everything that it writes, uninstall removes again."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    @property
    def desktop(self) -> Desktop:
        """This computer's menu and editors."""
        return self._context.system

    def actions(self, environment: Path) -> EnvironmentActions:
        """What can be done with an environment of ours: interpreter, command, editor, kernel, lock file.

        Raises AppError for a folder that holds no environment of ours.
        """
        from ..install.environment.integrations import environment_actions

        return environment_actions(environment, self._context.system, self.desktop)

    def run_example(
        self,
        environment: Path,
        program: ExampleName,
        *,
        settings: ExampleSettings | None = None,
        device: str | None = None,
    ) -> ExampleJob:
        """Run an example program in an environment."""
        from ..catalog.estimates import load_durations
        from ..examples.job import ExampleJob

        return ExampleJob(
            environment,
            self._context.system,
            self._context.data,
            program,
            settings=settings,
            device=device,
            start_limit=load_durations(self._context.catalog).torch_load_limit_seconds,
            simulated=self._context.simulated,
        )

    def create_menu_entry(self, environment: Path) -> MenuEntryJob:
        """Add an entry to the desktop's menu that opens a terminal with this environment."""
        from ..install.environment.integrations import MenuEntryJob
        from ..install.steps.kinds import STEP_KINDS

        return MenuEntryJob(environment, self._context.data, self._context.system, self.desktop, STEP_KINDS)

    def register_kernel(self, environment: Path) -> JupyterKernelJob:
        """Register this environment as a kernel of Jupyter."""
        from ..install.environment.integrations import JupyterKernelJob
        from ..install.steps.kinds import STEP_KINDS

        return JupyterKernelJob(environment, self._context.data, self._context.system, self.desktop, STEP_KINDS)

    def open_in_editor(self, environment: Path, folder: Path, program: tuple[str, bytes] | None = None) -> EditorJob:
        """Open a folder in Visual Studio Code with this environment's Python, and a program in it (name, content)."""
        from ..install.environment.integrations import EditorJob
        from ..install.steps.kinds import STEP_KINDS

        return EditorJob(
            environment,
            self._context.data,
            self._context.system,
            self.desktop,
            STEP_KINDS,
            folder=folder,
            program=program,
        )

    def export_lockfile(self, environment: Path, target: Path) -> None:
        """Copy the environment's lock file (`pylock.toml`) to a file; raises AppError."""
        from ..install.environment.integrations import export_lockfile

        export_lockfile(environment, target)
