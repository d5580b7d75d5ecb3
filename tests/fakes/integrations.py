"""What comes after an install, by the program's own jobs, on a desktop in a folder of the test."""

from __future__ import annotations

from pathlib import Path

from gpu_assistant.core.paths import DataDir
from gpu_assistant.install.environment import integrations
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.system.base import System
from tests.fakes.system import FakeDesktop


class FakeIntegrations:
    """The integrations of a `FakeApp`: the real jobs on a desktop in a folder of the test."""

    data: DataDir
    system: System
    desktop: FakeDesktop

    def actions(self, environment: Path) -> integrations.EnvironmentActions:
        return integrations.environment_actions(environment, self.system, self.desktop)

    def create_menu_entry(self, environment: Path) -> integrations.MenuEntryJob:
        return integrations.MenuEntryJob(environment, self.data, self.system, self.desktop, STEP_KINDS)

    def register_kernel(self, environment: Path) -> integrations.JupyterKernelJob:
        return integrations.JupyterKernelJob(environment, self.data, self.system, self.desktop, STEP_KINDS)

    def open_in_editor(
        self, environment: Path, folder: Path, program: tuple[str, bytes] | None = None
    ) -> integrations.EditorJob:
        return integrations.EditorJob(
            environment, self.data, self.system, self.desktop, STEP_KINDS, folder=folder, program=program
        )

    def export_lockfile(self, environment: Path, target: Path) -> None:
        integrations.export_lockfile(environment, target)
