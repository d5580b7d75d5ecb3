"""Paths of the program's resources and of the data folder, which has state, cache, journal and environments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .errors import AppError, UsageError, is_name_too_long
from .filesystem import replace_surrogates

DATA_DIR_VARIABLE = "GPU_ASSISTANT_DATA_DIR"
SUBFOLDER = "gpu-assistant"
JOURNAL_GLOB = "[0-9]*-[0-9]*.jsonl"
WHEELHOUSE_VARIABLE = "GPU_ASSISTANT_WHEELHOUSE"


def resources_dir() -> Path:
    """The folder `resources/`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "resources"
    return packaged if packaged.is_dir() else package.parent / "resources"


def licenses_dir() -> Path | None:
    """The folder with the licences of all parts, where the program came as a package; None in a checkout."""
    home = install_dir()
    return home / "licenses" if home is not None else None


def install_dir() -> Path | None:
    """The folder of the program and its launchers, where it came as a package; None for a wheel and a checkout."""
    home = Path(__file__).resolve().parents[3]
    return home if (home / "installed.json").is_file() else None


def is_packaged() -> bool:
    """Whether this is the installed program with its own Python, and not a package in another Python."""
    return licenses_dir() is not None


class DataDir:
    """The folders below the data folder; they are created when something is written.

    `downloads` has what was downloaded and unpacked: the cache, or a folder elsewhere that the user chose
    (`core/downloads_folder.py`).
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = root / "settings.json"
        self.state = root / "state"
        self.logs = root / "logs"
        self.journal = root / "journal"
        self.cache = root / "cache"
        self.use_downloads(self.cache)
        self.updates = self.cache / "updates"
        self.catalog = root / "catalog"
        self.locks = self.cache / "locks"
        self.size_cache = self.cache / "prices"
        self.pythons = root / "pythons"
        self.toolkits = root / "toolkits"
        self.environments = root / "environments"
        self.benchmarks = root / "benchmarks"
        self.history = root / "history"

    def use_downloads(self, folder: Path) -> None:
        """Have the downloads in this folder from now on."""
        self.downloads = folder
        self.files = folder / "files"
        self.uv_cache = folder / "uv"
        self.conda = folder / "conda"

    @property
    def names(self) -> frozenset[str]:
        """The names of all files and folders that are directly in the data folder."""
        paths = (path for path in vars(self).values() if self.root in path.parents)
        return frozenset(path.relative_to(self.root).parts[0] for path in paths)

    @property
    def caches(self) -> tuple[Path, ...]:
        """The folders that are deleted with everything in them."""
        return self.files, self.uv_cache, self.conda, self.updates, self.locks, self.size_cache

    def claim(self, folder: Path) -> Path:
        """Make one of these folders, marked as ours, before something is written there; returns it.

        Raises AppError("folder-not-ours") for a cache or the catalog in which somebody else's files are: what is in
        them is replaced and deleted whatever its name; and the errors of `storage_error`.
        """
        from .ownership import claim_folder

        top = self._top_of(folder)
        for each in reversed([folder, *folder.parents]):
            if each == top or top in each.parents:
                is_usable = claim_folder(each, self.marker_place(each))
                if not is_usable and each in (*self.caches, self.catalog):
                    raise AppError("folder-not-ours", path=str(each))
        return folder

    def _top_of(self, folder: Path) -> Path:
        """The data folder for what is in it, else the folder that was chosen for downloads."""
        return self.root if self.marker_place(folder) is None else self.downloads

    def marker_place(self, folder: Path) -> Path | None:
        """What the marker of one of these folders names besides its inode, which some removable disks change: the data
        folder, where the folder lies outside it.
        """
        return None if self.root in (folder, *folder.parents) else self.root

    def owns(self, folder: Path) -> bool:
        """Whether what is in one of these folders may be deleted: it bears its own marker, and no link leads to it."""
        from .ownership import bears_own_marker, is_owned, is_real_folder

        if folder == self.root:
            return bears_own_marker(folder)
        top = self.root if self.marker_place(folder) is None else self.downloads.parent
        return is_owned(folder, self.marker_place(folder)) and all(
            is_real_folder(each) for each in folder.parents if top in each.parents
        )

    def managed_folder(self, folder: Path) -> Path | None:
        """What of ours a folder is or lies in, links followed; None for one of the user's, or of an environment."""
        names = self.names
        for path in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
            for root in dict.fromkeys((self.root, Path(os.path.realpath(self.root)))):
                if path in (root, root / self.environments.name):
                    return path
                for managed in (root / name for name in sorted(names - {self.environments.name})):
                    if managed in (path, *path.parents):
                        return managed
            if self.downloads in (path, *path.parents):
                return self.downloads
        return None


def home_dir() -> Path:
    """The user's home folder; the root folder for an account that has none, as containers have them."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.path.abspath(os.sep))  # noqa: PTH100 - with the drive on Windows


def normalize_path(path: str) -> Path:
    """A folder that the user entered, as an absolute path without "~" and "..", so that equal folders compare equal.

    Raises UsageError("no-such-user") for "~name" of a user without a home folder.
    """
    given = Path(path)
    try:
        expanded = given.expanduser()
    except RuntimeError as error:
        raise UsageError("no-such-user", path=path) from error
    # For "~name" on Windows, expanduser only puts the name into the path of the present user's home folder.
    home = given.parts[0] if path.startswith("~") else "~"
    if home != "~" and not Path(home).expanduser().is_dir():
        raise UsageError("no-such-user", path=path)
    return Path(os.path.abspath(expanded))  # noqa: PTH100 - Path.absolute keeps ".."


def _is_utf8(path: Path) -> bool:
    """Whether a name can be written into JSON; on Linux names are bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def check_path(raw_path: str) -> None:
    """Raise UsageError for a file or folder that cannot be used by this name: "name-too-long" for every disk,
    "name-not-utf8" in JSON, and "no-such-user".
    """
    path = normalize_path(raw_path)
    if not _is_utf8(path):
        raise UsageError("name-not-utf8", path=replace_surrogates(str(path)))
    try:
        path.lstat()
    except OSError as error:
        if is_name_too_long(error, path):
            raise UsageError("name-too-long", path=str(path)) from error


def data_dir(option: str | None, environ: Mapping[str, str] = os.environ) -> DataDir:
    """The data folder: the given one, else that of the environment variable, else the system's default for users.

    A given folder that holds other things gets a folder of ours in it. Raises UsageError as `check_path` does,
    "data-dir-foreign" if that one does, too, "no-home" and "home-not-utf8".
    """
    folder = option or environ.get(DATA_DIR_VARIABLE)
    if folder:
        check_path(folder)
        root = normalize_path(folder)
        if _is_foreign(root):
            root /= SUBFOLDER
            if _is_foreign(root):
                raise UsageError("data-dir-foreign", path=str(root))
        return DataDir(root)
    from platformdirs import user_data_path

    try:
        default = user_data_path("gpu-assistant", appauthor=False)
    except RuntimeError as error:
        raise UsageError("no-home") from error
    if not default.is_absolute():  # "~", as earlier versions of platformdirs leave it
        raise UsageError("no-home")
    if not _is_utf8(default):
        raise UsageError("home-not-utf8", path=replace_surrogates(str(default)))
    return DataDir(default)


def _is_foreign(root: Path) -> bool:
    """Whether a folder holds anything but a data folder's own names, and neither a marker nor a journal of ours."""
    from .ownership import MARKER_NAME

    if os.path.lexists(root / MARKER_NAME):
        return False
    data = DataDir(root)
    try:
        names = {path.name for path in root.iterdir()}
        return not names <= data.names and not any(data.journal.glob(JOURNAL_GLOB))
    except OSError:
        return False  # a missing folder; one that cannot be read is refused when it is written to


def wheelhouse_dir(option: str | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The extra local source of wheels, if the user named one."""
    folder = option or environ.get(WHEELHOUSE_VARIABLE)
    if not folder:
        return None
    check_path(folder)
    return normalize_path(folder)
