"""How a conda environment lies on Windows: its Python at the root, its programs in Scripts, libraries in Library.

Sources: conda's activate.py (`_get_path_dirs`, `Scripts` and `shell/condabin`), menuinst's "Anaconda PowerShell
Prompt". Nothing here calls Windows.
"""

from __future__ import annotations

from pathlib import Path, PurePath

CONDA_META_FOLDER = "conda-meta"
# In conda's own order: what it puts before PATH when it activates an environment.
_PATH_FOLDERS = (".", "Library/mingw-w64/bin", "Library/usr/bin", "Library/bin", "Scripts", "bin")
_CMD_SCRIPT = '@for %%I in ("%~dp0..") do @call "{start}" "%%~fI"\r\n'
_POWERSHELL_SCRIPT = "& '{hook}'\r\nconda activate (Split-Path -Parent $PSScriptRoot)\r\n"


def is_conda_environment(environment: Path) -> bool:
    """Whether conda made it."""
    return (environment / CONDA_META_FOLDER).is_dir()


def conda_library_folders(program: Path) -> tuple[PurePath, ...]:
    """What must stand before PATH for a program of a conda environment to find its libraries; () for all others."""
    for environment in (program.parent, program.parent.parent):
        if is_conda_environment(environment):
            return tuple(environment / subfolder for subfolder in _PATH_FOLDERS)
    return ()


def windows_activation_scripts(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """Files that activate an environment as a venv's do, for cmd and PowerShell; `root` is conda's own folder.

    They find the environment by where they lie, so that only conda's own folder is written down.
    """
    scripts = environment / "Scripts"
    activate_script = str(conda_root / "Scripts" / "activate.bat").replace("%", "%%")
    hook = str(conda_root / "shell" / "condabin" / "conda-hook.ps1").replace("'", "''")
    return {
        scripts / "activate.bat": _CMD_SCRIPT.format(start=activate_script),
        scripts / "Activate.ps1": _POWERSHELL_SCRIPT.format(hook=hook),
    }
