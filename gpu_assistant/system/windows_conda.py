"""How a conda environment lies on Windows: its Python at the root, its programs in Scripts, libraries in Library.

Sources: conda's activate.py (`_get_path_dirs`, `Scripts` and `shell/condabin`), menuinst's "Anaconda PowerShell
Prompt". Nothing here calls Windows.
"""

from __future__ import annotations

from pathlib import Path, PurePath

MARK = "conda-meta"
# In conda's own order: what it puts before PATH when it activates an environment.
_ON_PATH = (".", "Library/mingw-w64/bin", "Library/usr/bin", "Library/bin", "Scripts", "bin")
_CMD = '@for %%I in ("%~dp0..") do @call "{start}" "%%~fI"\r\n'
_POWERSHELL = "& '{hook}'\r\nconda activate (Split-Path -Parent $PSScriptRoot)\r\n"


def is_conda(environment: Path) -> bool:
    """Whether conda made it."""
    return (environment / MARK).is_dir()


def search_path(program: Path) -> tuple[PurePath, ...]:
    """What must stand before PATH for a program of a conda environment to find its libraries; () for all others."""
    for environment in (program.parent, program.parent.parent):
        if is_conda(environment):
            return tuple(environment / inner for inner in _ON_PATH)
    return ()


def way_in(environment: PurePath, root: PurePath) -> dict[PurePath, str]:
    """Files that activate an environment as a venv's do, for cmd and PowerShell; `root` is conda's own folder.

    They find the environment by where they lie, so that only conda's own folder is written down.
    """
    scripts = environment / "Scripts"
    start = str(root / "Scripts" / "activate.bat").replace("%", "%%")
    hook = str(root / "shell" / "condabin" / "conda-hook.ps1").replace("'", "''")
    return {
        scripts / "activate.bat": _CMD.format(start=start),
        scripts / "Activate.ps1": _POWERSHELL.format(hook=hook),
    }
