"""What comes after an install, by the program's own jobs, on a desktop in a folder of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_assistant.app.integrations import OpenInJupyterJob
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.types import Addition, Language
from gpu_assistant.examples.programs import ExampleName, notebook, program_source
from gpu_assistant.install.environment import integrations
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.system.base import System
from tests.fakes.system import FakeDesktop


class FakeIntegrations:
    """The integrations of a `FakeApp`: the real jobs on a desktop in a folder of the test."""

    data: DataDir
    system: System
    desktop: FakeDesktop
    adding: Any = None  # the job that adds packages, set by the test: the real one asks the network

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

    def add_packages(self, _environment: Path, _addition: Addition) -> Any:
        return self.adding

    def program_notebook(self, environment: Path, program: ExampleName, language: Language) -> tuple[str, bytes]:
        return "first_program.ipynb", notebook(program_source(program, language), "kernel", environment.name)

    def open_in_jupyter(self, environment: Path, folder: Path, notebook: tuple[str, bytes]) -> OpenInJupyterJob:
        opening = integrations.NotebookJob(
            environment, self.data, self.system, self.desktop, STEP_KINDS, folder=folder, notebook=notebook
        )
        return OpenInJupyterJob(self.adding, opening, self.actions(environment))

    def open_in_pycharm(self, folder: Path, program: tuple[str, bytes]) -> integrations.PyCharmJob:
        return integrations.PyCharmJob(self.desktop, folder, program)

    def export_lockfile(self, environment: Path, target: Path) -> None:
        integrations.export_lockfile(environment, target)
