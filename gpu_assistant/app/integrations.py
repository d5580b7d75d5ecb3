"""How an environment that stands is used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .context import AppContext

if TYPE_CHECKING:
    from ..install.environment.integrations import EditorJob, EnvironmentActions, JupyterKernelJob, MenuEntryJob
    from ..system.desktop_entry import DesktopEnvironment


class IntegrationService(AppContext):
    """How an environment that stands is used."""

    @cached_property
    def desktop(self) -> DesktopEnvironment:
        """This computer's menu and editors."""
        from ..system.desktop_entry import current_desktop

        return current_desktop()

    def environment_actions(self, environment: Path) -> EnvironmentActions:
        """How an environment of ours is used: interpreter, command, editor, kernel, lock. Raises AppError."""
        from ..install.environment.integrations import environment_actions

        return environment_actions(environment, self.system, self.desktop)

    def create_menu_entry(self, environment: Path) -> MenuEntryJob:
        """Put a terminal with this environment into the desktop's menu."""
        from ..install.environment.integrations import MenuEntryJob
        from ..install.steps.registry import STEP_KINDS

        return MenuEntryJob(environment, self.data, self.system, self.desktop, STEP_KINDS)

    def register_kernel(self, environment: Path) -> JupyterKernelJob:
        """Tell Jupyter of this environment."""
        from ..install.environment.integrations import JupyterKernelJob
        from ..install.steps.registry import STEP_KINDS

        return JupyterKernelJob(environment, self.data, self.system, self.desktop, STEP_KINDS)

    def open_in_editor(self, environment: Path, folder: Path) -> EditorJob:
        """Open a folder in Visual Studio Code with this environment's Python."""
        from ..install.environment.integrations import EditorJob
        from ..install.steps.registry import STEP_KINDS

        return EditorJob(environment, self.data, self.system, self.desktop, STEP_KINDS, folder=folder)

    def export_lockfile(self, environment: Path, target: Path) -> None:
        """Copy the environment's lock (`pylock.toml`) to a file; raises AppError."""
        from ..install.environment.integrations import export_lockfile

        export_lockfile(environment, target)
