"""The user's conda, run by its full path; its base environment is never changed.

Packages come only from conda-forge: larger organisations must pay for the use of Anaconda's own channels. conda
checks each package against the sha256 in the channel's index; its package cache is in our data folder.
Options and settings: conda's `cli/main_create.py` and `base/context.py`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...core import filesystem, json
from ...core.errors import AppError, NetworkError, storage_errors
from ...core.paths import DataDir
from ...system.base import Processes, ProcessResult
from ...system.conda import META_FOLDER

CHANNEL = "conda-forge"
# conda's list of a user's environments, below the home folder.
ENVIRONMENTS_FILE = Path(".conda") / "environments.txt"
CREATE_TIMEOUT_S = 3600.0
# Names of exceptions in conda's JSON output.
NETWORK_ERRORS = ("CondaHTTPError", "CondaSSLError", "OfflineError", "ProxyError", "UnavailableInvalidChannel")
DISK_FULL_ERROR = "NoSpaceLeftError"


class _CondaAnswer(msgspec.Struct, frozen=True):
    """What conda writes with --json when it fails, as far as it is read here."""

    exception_name: str | None = None
    message: str | None = None
    error: str | None = None


class _CondaPackageRecord(msgspec.Struct, frozen=True):
    """A file in conda-meta, as far as it is read here."""

    version: str


class Conda:
    """Runs one conda program; its lines of output go to `log`."""

    def __init__(
        self,
        program: Path,
        system: Processes,
        data: DataDir,
        *,
        cancel: threading.Event | None = None,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._program = program
        self._system = system
        self._data = data
        self._cancel = cancel
        self._log = log

    def create_environment(self, environment: Path, python: str) -> None:
        """Create an environment with a Python of a series like "3.12" in an existing folder.

        Raises AppError: conda-failed, conda-offline, disk-full, program-missing, program-timeout; Cancelled.
        """
        from ...fetch.http import proxy_variables

        self._data.claim(self._data.conda)
        finished = self._system.run(
            [
                self._program,
                *create_arguments(str(environment), python),
                "--json",
                "--quiet",
                "--no-default-packages",
                "--no-pin",
            ],
            timeout=CREATE_TIMEOUT_S,
            environ=self._environment_variables() | proxy_variables(None),  # conda knows its channel's address
            cancel=self._cancel,
        )
        for line in (finished.stdout + finished.stderr).splitlines():
            self._log(line)
        if finished.returncode != 0:
            raise _error_from(finished, environment)
        if not (environment / META_FOLDER / "history").is_file():
            raise AppError("conda-failed", path=str(environment), detail=META_FOLDER)

    def _environment_variables(self) -> dict[str, str | None]:
        """No error reports, notices or updates; no pip, which the lock file brings; packages in our own cache."""
        return {
            "CONDA_PKGS_DIRS": str(self._data.conda),
            "CONDA_ADD_PIP_AS_PYTHON_DEPENDENCY": "false",
            "CONDA_NUMBER_CHANNEL_NOTICES": "0",
            "CONDA_NOTIFY_OUTDATED_CONDA": "false",
            "CONDA_AUTO_UPDATE_CONDA": "false",
            "CONDA_REPORT_ERRORS": "false",
            "CONDA_REGISTER_ENVS": "true",
            # They would break the Python that conda runs in.
            "PYTHONHOME": None,
            "PYTHONPATH": None,
        }


def create_arguments(environment: str, python: str) -> tuple[str, ...]:
    """The arguments of conda that make an environment, as a person would type them."""
    return (
        *("create", "--prefix", environment, "--override-channels", "--channel", CHANNEL),
        *("--yes", f"python={python}"),
    )


def python_version(environment: Path) -> str | None:
    """The exact version of an environment's Python, from conda-meta; None if conda did not install one."""
    for record in sorted((environment / META_FOLDER).glob("python-[0-9]*.json")):
        try:
            return json.decode(filesystem.read_bytes(record), _CondaPackageRecord).version
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
    return None


def unregister_environment(environment: Path, home: Path) -> None:
    """Remove a deleted environment from conda's list, and the list if nothing else is on it. Raises AppError."""
    list_path = home / ENVIRONMENTS_FILE
    if not list_path.exists():
        return
    with storage_errors(list_path):
        lines = filesystem.read_bytes(list_path).decode("utf-8", "surrogateescape").splitlines(keepends=True)
    removed = os.path.normcase(environment)
    remaining = [line for line in lines if os.path.normcase(line.strip()) != removed]
    if not remaining:
        filesystem.unlink(list_path, missing_ok=True)
    elif remaining != lines:
        json.write_file(list_path, "".join(remaining).encode("utf-8", "surrogateescape"))


def _error_from(finished: ProcessResult, environment: Path) -> AppError:
    """The error in conda's output, whose last JSON object is its answer."""
    try:
        answer = json.decode(finished.stdout[finished.stdout.rfind("\n{") + 1 :].encode(), _CondaAnswer)
    except (msgspec.DecodeError, UnicodeEncodeError):
        answer = _CondaAnswer()
    message = answer.message or answer.error or finished.stderr
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [f"exit {finished.returncode}"]
    # A line like "The following packages are not available:" is followed by the first of them.
    detail = " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    if answer.exception_name == DISK_FULL_ERROR:
        return AppError("disk-full", path=str(environment.parent))
    if answer.exception_name in NETWORK_ERRORS:
        return NetworkError("conda-offline", channel=CHANNEL, detail=detail)
    return AppError("conda-failed", path=str(environment), detail=detail)
