"""A desktop whose menu and Jupyter lie in a folder of the test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpu_assistant.system.desktop_entry import MenuEntryFile, menu_entry_name


class FakeDesktop:
    """`started` collects what was started, with its folder."""

    def __init__(self, root: Path, editor: Path | None = None) -> None:
        self.root = root
        self._editor = editor
        self.started: list[tuple[tuple[str, ...], Path]] = []

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        return (
            MenuEntryFile(path=environment / "terminal.script", content=b"script"),
            MenuEntryFile(path=self.root / "menu" / f"{menu_entry_name(environment)}.entry", content=b"entry"),
        )

    def find_editor(self) -> Path | None:
        return self._editor

    def kernels_folder(self) -> Path:
        return self.root / "jupyter" / "kernels"

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        self.started.append((tuple(str(word) for word in argv), folder))
