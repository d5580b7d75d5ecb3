"""The files that run with administrator rights, and their digests: the list in the window's launcher (door.c).

The helper needs a seventh of the program: neither Qt nor uv nor numpy. Which modules these are follows from its import
statements, as for the whole program; of the standard library and of what Python loads all is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PureWindowsPath

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from closure import Closure
from dlls import ENDINGS
from signing import content_digest
from stage import BuildError, digest

LAUNCHER = "gpu-assistant.exe"
ENTRY, HELPER = "gpu_assistant/__main__.pyc", "gpu_assistant.install.elevation.helper"
CHOSEN_BY_NAME = ("platformdirs.windows",)
DATA = ("gpu_assistant/resources/catalog",)
# What only users see; and what runs nothing of the helper's.
NEVER = ("gpu_assistant.gui", "gpu_assistant.cli", "PySide6", "torch")


def files(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """What the helper needs of the staged program, relative to its folder, sorted. Raises BuildError.

    `suffixes`: endings of extension modules.
    """
    app = folder / "app"
    closure = Closure([app], extension=suffixes)
    for root in (HELPER, *CHOSEN_BY_NAME):
        if not closure.add(root):
            raise BuildError(f"{root} is not in {app}: the program cannot ask for administrator rights.")
    if strange := sorted(name for name in closure.reached if name.startswith(NEVER)):
        raise BuildError(
            f"With administrator rights {strange[0]} would run, imported by {closure.reached[strange[0]][1]}."
        )
    found = [
        folder / LAUNCHER,
        app / ENTRY,
        *(file for name in DATA for file in (app / name).rglob("*")),
        *(folder / "runtime").rglob("*"),
        *(file for file, _why in closure.reached.values()),
    ]
    return sorted({file.relative_to(folder) for file in found if file.is_file()})


def listing(folder: Path, suffixes: Sequence[str]) -> str:
    """A line for each file: its digest, a blank, its path as Windows has it. A signature changes no digest."""
    return "".join(f"{line}\n" for line in _lines(folder, suffixes))


def _lines(folder: Path, suffixes: Sequence[str]) -> Iterator[str]:
    for file in files(folder, suffixes):
        is_binary = file.suffix.lower() in ENDINGS
        yield f"{content_digest(folder / file) if is_binary else digest(folder / file)} {PureWindowsPath(file)}"
