"""How a conda environment lies on the disk, and the files by which it is activated like a venv.

On Windows Python is at its root, programs are in Scripts, libraries in Library.

Sources: conda's `bin/activate`, which takes an environment's folder; its activate.py (`_get_path_dirs`, `Scripts` and
`shell/condabin`); menuinst's "Anaconda PowerShell Prompt".
"""

from __future__ import annotations

import shlex
from pathlib import Path, PurePath

META_FOLDER = "conda-meta"
# What conda prepends to PATH when it activates an environment on Windows, in its order.
_WINDOWS_PATH_FOLDERS = (".", "Library/mingw-w64/bin", "Library/usr/bin", "Library/bin", "Scripts", "bin")
_CMD_SCRIPT = '@for %%I in ("%~dp0..") do @call "{activate}" "%%~fI"\r\n'
_POWERSHELL_SCRIPT = "& '{hook}'\r\nconda activate (Split-Path -Parent $PSScriptRoot)\r\n"


def is_conda_environment(environment: Path) -> bool:
    """Whether conda created it."""
    return (environment / META_FOLDER).is_dir()


def windows_library_folders(program: Path) -> tuple[PurePath, ...]:
    """What PATH must begin with for a program of a conda environment to find its libraries; () for other programs."""
    for environment in (program.parent, program.parent.parent):
        if is_conda_environment(environment):
            return tuple(environment / subfolder for subfolder in _WINDOWS_PATH_FOLDERS)
    return ()


def linux_activation_script(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """The file that activates an environment in bash and zsh, with its text; `conda_root` is conda's own folder."""
    command = shlex.join([str(conda_root / "bin" / "activate"), str(environment)])
    return {environment / "bin" / "activate": f". {command}\n"}


def windows_activation_scripts(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """The files that activate an environment in cmd and PowerShell, with their text.

    They find the environment by their own location, so that only conda's folder is written in them.
    """
    scripts = environment / "Scripts"
    activate = str(conda_root / "Scripts" / "activate.bat").replace("%", "%%")
    hook = str(conda_root / "shell" / "condabin" / "conda-hook.ps1").replace("'", "''")
    return {
        scripts / "activate.bat": _CMD_SCRIPT.format(activate=activate),
        scripts / "Activate.ps1": _POWERSHELL_SCRIPT.format(hook=hook),
    }
