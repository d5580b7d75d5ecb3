"""Where Python interpreters lie on Linux."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import places

_INTERPRETER_NAME = re.compile(r"python(3(\.\d+)?)?")
_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")


def linux_python_candidates(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> tuple[Path, ...]:
    """Interpreters worth asking, those on PATH first; each once."""
    return places.unique_interpreters(_candidate_paths(home, environ, root))


def find_conda(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> Path | None:
    """The program conda where it is not on PATH: in the places of its installers."""
    programs = (prefix / "bin/conda" for prefix in _conda_prefixes(home, environ, root))
    return next((program for program in programs if program.is_file()), None)


def _candidate_paths(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    folders = [*places.absolute_path_folders(environ), root / "usr/bin", root / "usr/local/bin", home / ".local/bin"]
    for folder in dict.fromkeys(folders):
        yield from _interpreters_in(folder)
    data_home = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    version_managers = (
        (data_home / "uv/python", "*/bin"),
        (Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions", "*/bin"),
        (home / ".asdf/installs/python", "*/bin"),
        (data_home / "mise/installs/python", "*/bin"),
    )
    for folder, pattern in version_managers:
        for bin_folder in sorted(folder.glob(pattern)):
            yield bin_folder / "python3"
    for prefix in _conda_prefixes(home, environ, root):
        yield prefix / "bin/python"


def _interpreters_in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(path.name for path in folder.iterdir() if _INTERPRETER_NAME.fullmatch(path.name))
    except OSError:
        return
    # "python3" before "python3.11": the shorter name is the one that a person knows.
    yield from (folder / name for name in sorted(names, key=lambda name: (name != "python3", name)))


def _conda_prefixes(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    if program := environ.get("CONDA_EXE"):
        yield Path(program).parent.parent
    for name in _CONDA_HOMES:
        yield from (home / name, root / "opt" / name)
    yield root / "opt/conda"
    # conda writes every environment that it makes into this list.
    try:
        text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from (Path(line.strip()) for line in text.splitlines() if line.strip())
