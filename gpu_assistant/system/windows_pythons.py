"""Where Python interpreters and programs lie on Windows."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

from collections.abc import Iterator, Mapping  # noqa: E402
from pathlib import Path  # noqa: E402

from . import places  # noqa: E402
from . import windows_registry as registry  # noqa: E402

_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
_PEP514_KEYS = (r"SOFTWARE\Python", r"SOFTWARE\WOW6432Node\Python")  # PEP 514


def windows_python_candidates(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Interpreters worth asking, those on PATH first; each once.

    The Store's stand-ins named python.exe, which open the Store, are left out; where the Store's Python is
    installed, it has a folder of its own beside them.
    """
    return places.unique_interpreters(_candidate_paths(home, environ))


def _candidate_paths(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    local_app_data = Path(environ.get("LOCALAPPDATA") or home / "AppData/Local")
    roaming_app_data = Path(environ.get("APPDATA") or home / "AppData/Roaming")
    store = local_app_data / "Microsoft/WindowsApps"
    for folder in places.absolute_path_folders(environ):
        if folder != store:
            yield from (folder / "python.exe", folder / "python3.exe")
    yield from _registered_interpreters()
    patterns = (
        (local_app_data / "Programs/Python", "Python3*/python.exe"),
        (Path(environ.get("SystemDrive", "C:") + "\\"), "Python3*/python.exe"),
        (roaming_app_data / "uv/python", "*/python.exe"),
        (home / ".pyenv/pyenv-win/versions", "*/python.exe"),
        (store, "PythonSoftwareFoundation.Python.3*/python.exe"),
    )
    for folder, pattern in patterns:
        yield from sorted(folder.glob(pattern))
    for prefix in _conda_prefixes(home, local_app_data, environ):
        yield prefix / "python.exe"


def _registered_interpreters() -> Iterator[Path]:
    for root in (registry.USER, registry.MACHINE):
        for python_key in _PEP514_KEYS:
            for company in registry.children(root, python_key):
                if company == "PyLauncher":
                    continue
                for tag in registry.children(root, f"{python_key}\\{company}"):
                    key = f"{python_key}\\{company}\\{tag}\\InstallPath"
                    if program := registry.text(root, key, "ExecutablePath"):
                        yield Path(program)
                    elif folder := registry.text(root, key, ""):
                        yield Path(folder) / "python.exe"


def _conda_prefixes(home: Path, local_app_data: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    if program := environ.get("CONDA_EXE"):
        yield Path(program).parent.parent
    program_data = Path(environ.get("ProgramData", "C:\\ProgramData"))
    for name in _CONDA_HOMES:
        yield from (home / name, local_app_data / name, program_data / name)
    try:
        text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from (Path(line.strip()) for line in text.splitlines() if line.strip())
