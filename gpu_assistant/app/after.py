"""How an environment that stands is used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .base import Base

if TYPE_CHECKING:
    from ..install.after import EditorJob, KernelJob, MenuEntryJob, Ways
    from ..system.desktop import Desktop


class AfterInstall(Base):
    """How an environment that stands is used."""

    @cached_property
    def desktop(self) -> Desktop:
        """This computer's menu and editors."""
        from ..system.desktop import current

        return current()

    def ways(self, environment: Path) -> Ways:
        """How an environment of ours is used: interpreter, command, editor, kernel, lock. Raises AppError."""
        from ..install.after import ways

        return ways(environment, self.system, self.desktop)

    def menu_entry(self, environment: Path) -> MenuEntryJob:
        """Put a terminal with this environment into the desktop's menu."""
        from ..install.after import MenuEntryJob

        return MenuEntryJob(environment, self.data, self.system, self.desktop)

    def kernel(self, environment: Path) -> KernelJob:
        """Tell Jupyter of this environment."""
        from ..install.after import KernelJob

        return KernelJob(environment, self.data, self.system, self.desktop)

    def open_in_editor(self, environment: Path, folder: Path) -> EditorJob:
        """Open a folder in Visual Studio Code with this environment's Python."""
        from ..install.after import EditorJob

        return EditorJob(environment, self.data, self.system, self.desktop, folder=folder)

    def share_lock(self, environment: Path, target: Path) -> None:
        """Copy the environment's lock (`pylock.toml`) to a file; raises AppError."""
        from ..install.after import share_lock

        share_lock(environment, target)
