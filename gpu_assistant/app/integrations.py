"""How an installed environment is used: example programs, menu entry, editor, Jupyter kernel, lock file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..core.types import Addition, Language
    from ..examples.job import ExampleJob, ExampleSettings
    from ..examples.programs import ExampleName
    from ..fetch.rate import RateLimiter
    from ..install.environment.integrations import (
        EditorJob,
        EnvironmentActions,
        JupyterKernelJob,
        MenuEntryJob,
        NotebookJob,
        PyCharmJob,
    )
    from ..install.jobs.add_packages import AddPackagesJob, RemovePackagesJob
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

    def add_packages(
        self, environment: Path, addition: Addition, *, rate_limiter: RateLimiter | None = None
    ) -> AddPackagesJob:
        """Put JupyterLab, ipykernel or Pillow into a finished environment; what is there stays as it is."""
        from ..install.jobs.add_packages import ADDED_PACKAGES, AddPackagesJob

        wheelhouse = self._context.wheelhouse
        return AddPackagesJob(
            environment,
            ADDED_PACKAGES[addition],
            self._context.system,
            self._context.data,
            self._context.catalog,
            name=addition,
            wheelhouse=str(wheelhouse) if wheelhouse is not None else None,
            mirrors=self._context.mirrors,
            rate_limiter=rate_limiter or self._context.rate_limiter(),
        )

    def remove_added_packages(self, environment: Path) -> RemovePackagesJob:
        """Remove what `add_packages` put into an environment, and nothing else."""
        from ..install.jobs.add_packages import RemovePackagesJob

        return RemovePackagesJob(environment, self._context.system, self._context.data)

    def program_notebook(self, environment: Path, program: ExampleName, language: Language) -> tuple[str, bytes]:
        """An example program as a notebook for an environment's kernel: its file name and content."""
        from ..examples.programs import notebook, program_source, script_path
        from ..install.environment.integrations import kernel_name, kernel_title

        content = notebook(program_source(program, language), kernel_name(environment), kernel_title(environment))
        return script_path(program).with_suffix(".ipynb").name, content

    def open_in_jupyter(self, environment: Path, folder: Path, notebook: tuple[str, bytes]) -> OpenInJupyterJob:
        """Open a notebook (name, content) of a folder in the environment's JupyterLab, put there if need be."""
        from ..install.environment.integrations import NotebookJob
        from ..install.steps.kinds import STEP_KINDS

        context = self._context
        opening = NotebookJob(
            environment, context.data, context.system, self.desktop, STEP_KINDS, folder=folder, notebook=notebook
        )
        return OpenInJupyterJob(self.add_packages(environment, "jupyter"), opening, self.actions(environment))

    def open_in_pycharm(self, folder: Path, program: tuple[str, bytes]) -> PyCharmJob:
        """Open a folder in PyCharm, with a program in it (name, content)."""
        from ..install.environment.integrations import PyCharmJob

        return PyCharmJob(self.desktop, folder, program)

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


class OpenInJupyterJob:
    """Puts JupyterLab into the environment where it is not there, then opens the notebook."""

    def __init__(self, adding: AddPackagesJob, opening: NotebookJob, actions: EnvironmentActions) -> None:
        self._adding = adding
        self._opening = opening
        self._is_there = actions.has_jupyter and actions.has_kernel

    def run(self, context: JobContext[Any]) -> Path:
        """The notebook. Raises what the two jobs raise."""
        if not self._is_there:
            self._adding.run(context)
        return self._opening.run(context)
