"""A computer with NVIDIA cards: the library that answers in NVML's place, and what it answers."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .machines import RTX_4060, Card

SOURCE = Path(__file__).with_name("fake_nvml.c")
# On Windows no compiler is at hand: this names the library, built elsewhere from the same source.
BUILT = "FAKE_NVML_LIBRARY"


def built(folder: Path) -> Path | None:
    """The library, compiled into a folder; None where there is no compiler."""
    if sys.platform == "win32":
        return Path(os.environ[BUILT]) if BUILT in os.environ else None
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    path = folder / "libnvidia-ml.so.1"
    command: list[str | Path] = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, SOURCE]
    subprocess.run(command, check=True, timeout=60)
    return path


class Scenario:
    """What the library answers; `card()` adds or changes one, `None` takes a figure away."""

    def __init__(self, path: Path, library: Path, *cards: Card) -> None:
        self.path = path
        self.library = library
        self.machine: dict[str, str] = {"init": "0", "driver": "566.03", "cuda": "12070"}
        self.cards: list[Card] = [dict(card) for card in cards]
        self.write()

    @property
    def environ(self) -> dict[str, str]:
        """What the library reads from the environment."""
        return {"FAKE_NVML_SCENARIO": str(self.path), "FAKE_NVML_CALLS": str(self._calls)}

    def set(self, **values: str | None) -> None:
        """Lines of the machine itself."""
        self.machine = {key: value for key, value in {**self.machine, **values}.items() if value is not None}
        self.write()

    def card(self, index: int = 0, **values: str | None) -> None:
        """A card; one that is new is an RTX 4060."""
        while len(self.cards) <= index:
            self.cards.append({**RTX_4060, "uuid": f"{RTX_4060['uuid'][:-1]}{4 + len(self.cards)}"})
        card = {**self.cards[index], **values}
        self.cards[index] = {key: value for key, value in card.items() if value is not None}
        self.write()

    def write(self) -> None:
        """A new file each time: the library tells it from the one before by its inode."""
        lines = [f"{key} {value}" for key, value in {"gpus": str(len(self.cards)), **self.machine}.items()]
        for index, card in enumerate(self.cards):
            lines += [f"{index}.{key} {value}" for key, value in card.items()]
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text("\n".join(lines) + "\n", encoding="ascii")
        while True:
            try:
                beside.replace(self.path)
            except PermissionError:  # Windows, in the moment in which the library reads it
                continue
            return

    def loaded(self) -> bool:
        """Whether the library is part of this process just now."""
        if sys.platform == "win32":
            return bool(ctypes.windll.kernel32.GetModuleHandleW(str(self.library)))
        return str(self.library) in Path("/proc/self/maps").read_text(encoding="utf-8")

    def calls(self) -> list[str]:
        """The functions called since the last time this was asked."""
        names = self._calls.read_text(encoding="ascii").splitlines() if self._calls.exists() else []
        self._calls.unlink(missing_ok=True)
        return names

    @property
    def _calls(self) -> Path:
        return self.path.with_name(self.path.name + ".calls")
