"""Where things lie: our resources, and the one data folder that holds state, cache, journal and environments."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from .errors import CallError

LONGEST_NAME = 255  # letters of one file's or folder's name, on Windows' disks
WINDOWS_TOO_LONG = 206  # ERROR_FILENAME_EXCED_RANGE
DATA_DIR_VARIABLE = "GPU_ASSISTANT_DATA_DIR"
WHEELHOUSE_VARIABLE = "GPU_ASSISTANT_WHEELHOUSE"


def resources() -> Path:
    """The folder `resources/`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


def licences() -> Path | None:
    """The folder with the licences of all parts, where the program came as a package; None in a checkout."""
    home = installed_home()
    return home / "licenses" if home is not None else None


def installed_home() -> Path | None:
    """The folder of the program and its launchers, where it came as a package; None for a wheel and a checkout."""
    home = Path(__file__).resolve().parents[3]
    return home if (home / "installed.json").is_file() else None


def shipped() -> bool:
    """Whether we are the program that came with its own Python, and not a package in somebody's."""
    return licences() is not None


class DataDir:
    """The folders below the data folder. Nothing is created until somebody writes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = root / "settings.json"
        self.state = root / "state"
        self.logs = root / "logs"
        self.journal = root / "journal"
        self.files = root / "cache" / "files"
        self.uv_cache = root / "cache" / "uv"
        self.conda = root / "cache" / "conda"
        self.updates = root / "cache" / "updates"
        self.catalog = root / "catalog"
        self.locks = root / "cache" / "locks"
        self.prices = root / "cache" / "prices"
        self.pythons = root / "pythons"
        self.toolkits = root / "toolkits"
        self.environments = root / "environments"
        self.benchmarks = root / "benchmarks"
        self.history = root / "history"

    def own(self, folder: Path) -> Path | None:
        """What of ours a folder is or lies in, links followed; None for one of the user's, or of an environment."""
        names: set[str] = {path.relative_to(self.root).parts[0] for path in vars(self).values() if path != self.root}
        for path in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
            for root in dict.fromkeys((self.root, Path(os.path.realpath(self.root)))):
                if path in (root, root / self.environments.name):
                    return path
                for own in (root / name for name in sorted(names - {self.environments.name})):
                    if own in (path, *path.parents):
                        return own
        return None


def plain(given: str) -> Path:
    """A folder as somebody typed it, absolute and without "~" and "..": equal folders are equal paths."""
    return Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 - Path.absolute keeps ".."


def too_long(error: OSError, path: Path) -> bool:
    """Whether a path failed because it, or a name in it, is longer than can be used there."""
    # Windows tells of a whole path by a code of its own, and calls a name that is too long a wrong or a missing one.
    windows: int | None = getattr(error, "winerror", None)
    missed = windows is not None or error.errno == errno.ENOENT
    # What could not be made may lie beside the path: an unfinished file has a longer name.
    beside = Path(error.filename) if isinstance(error.filename, str) else path
    named = missed and any(len(name) > LONGEST_NAME for name in (*path.parts, *beside.parts))
    return error.errno == errno.ENAMETOOLONG or windows == WINDOWS_TOO_LONG or named


def refuse_too_long(given: str) -> None:
    """Raise CallError("name-too-long") for a file or folder that no disk can hold by this name."""
    path = plain(given)
    try:
        path.lstat()
    except OSError as error:
        if too_long(error, path):
            raise CallError("name-too-long", path=str(path)) from error


def data_dir(given: str | None, environ: Mapping[str, str] = os.environ) -> DataDir:
    """The data folder: what was given, else the environment variable, else the user's own place."""
    chosen = given or environ.get(DATA_DIR_VARIABLE)
    if chosen:
        refuse_too_long(chosen)
        return DataDir(plain(chosen))
    from platformdirs import user_data_path

    return DataDir(user_data_path("gpu-assistant", appauthor=False))


def wheelhouse(given: str | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The extra local source of wheels, if the user named one."""
    chosen = given or environ.get(WHEELHOUSE_VARIABLE)
    if not chosen:
        return None
    refuse_too_long(chosen)
    return plain(chosen)
