"""A desktop whose menu and Jupyter lie in a folder of the test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpu_assistant.system.desktop import EntryFile, entry_name


class FakeDesktop:
    """`started` collects what was started, with its folder."""

    def __init__(self, root: Path, editor: Path | None = None) -> None:
        self.root = root
        self._editor = editor
        self.started: list[tuple[tuple[str, ...], Path]] = []

    def entry(self, environment: Path) -> tuple[EntryFile, ...]:
        return (
            EntryFile(path=environment / "terminal.script", content=b"script"),
            EntryFile(path=self.root / "menu" / f"{entry_name(environment)}.entry", content=b"entry"),
        )

    def editor(self) -> Path | None:
        return self._editor

    def kernels(self) -> Path:
        return self.root / "jupyter" / "kernels"

    def start(self, argv: Sequence[str | Path], folder: Path) -> None:
        self.started.append((tuple(str(word) for word in argv), folder))
