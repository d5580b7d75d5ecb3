"""conda, by its full path and with settings that do not depend on the user's; base is never touched.

Packages come from conda-forge alone: Anaconda's own channels have terms that larger organisations must pay for.
conda checks each against the sha256 of the channel's index, and keeps what it fetched in a cache of ours.
Source of options and settings: conda's `cli/main_create.py` and `base/context.py`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...core import json
from ...core.errors import AppError, NetworkError
from ...core.json import storage_error
from ...core.paths import DataDir
from ...system.base import Processes, ProcessResult

CHANNEL = "conda-forge"
CONDA_META = "conda-meta"
# conda's own list of all environments that it made for a user, below the home folder.
ENVIRONMENTS_FILE = Path(".conda") / "environments.txt"
CREATE_TIMEOUT_S = 3600.0
# As conda names them in its answers.
NETWORK_ERRORS = ("CondaHTTPError", "CondaSSLError", "OfflineError", "ProxyError", "UnavailableInvalidChannel")
DISK_FULL_ERROR = "NoSpaceLeftError"


class _CondaAnswer(msgspec.Struct, frozen=True):
    """The parts that we read of what conda says with --json where it fails."""

    exception_name: str | None = None
    message: str | None = None
    error: str | None = None


class _CondaPackageRecord(msgspec.Struct, frozen=True):
    """conda's record of one package in an environment."""

    version: str


class Conda:
    """Runs one conda program; lines that it writes go to `log`."""

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
        """An environment with a Python of a series like "3.12" and what that needs, in a folder that is there.

        Raises AppError: conda-failed, conda-offline, disk-full, program-missing, program-timeout; Cancelled.
        """
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
            environ=self._environment_variables(),
            cancel=self._cancel,
        )
        for line in (finished.stdout + finished.stderr).splitlines():
            self._log(line)
        if finished.returncode != 0:
            raise _error_from(finished, environment)
        if not (environment / CONDA_META / "history").is_file():
            raise AppError("conda-failed", path=str(environment), detail=CONDA_META)

    def _environment_variables(self) -> dict[str, str | None]:
        """No word to anybody but the channel, no pip that our own would have to replace, nothing in base's cache."""
        return {
            "CONDA_PKGS_DIRS": str(self._data.conda),
            "CONDA_ADD_PIP_AS_PYTHON_DEPENDENCY": "false",
            "CONDA_NUMBER_CHANNEL_NOTICES": "0",
            "CONDA_NOTIFY_OUTDATED_CONDA": "false",
            "CONDA_AUTO_UPDATE_CONDA": "false",
            "CONDA_REPORT_ERRORS": "false",
            "CONDA_REGISTER_ENVS": "true",
            # conda runs in a Python of its own, which these would lead astray.
            "PYTHONHOME": None,
            "PYTHONPATH": None,
        }


def create_arguments(environment: str, python: str) -> tuple[str, ...]:
    """What a person would type after "conda" to make an environment."""
    return (
        *("create", "--prefix", environment, "--override-channels", "--channel", CHANNEL),
        *("--yes", f"python={python}"),
    )


def python_version(environment: Path) -> str | None:
    """The exact version of an environment's Python, from conda's own record of it; None where it has none."""
    for record in sorted((environment / CONDA_META).glob("python-[0-9]*.json")):
        try:
            return json.decode(record.read_bytes(), _CondaPackageRecord).version
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
    return None


def unregister_environment(environment: Path, home: Path) -> None:
    """Take an environment that is gone off conda's list, as conda itself would; a list of nothing else goes with it.

    Raises AppError.
    """
    list_path = home / ENVIRONMENTS_FILE
    try:
        lines = list_path.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error(error, list_path) from error
    removed = os.path.normcase(environment)
    remaining = [line for line in lines if os.path.normcase(line.strip()) != removed]
    if not remaining:
        list_path.unlink(missing_ok=True)
    elif remaining != lines:
        json.write_file(list_path, "".join(remaining).encode("utf-8", "surrogateescape"))


def _error_from(finished: ProcessResult, environment: Path) -> AppError:
    """What conda complained of: its answer is the last object that it wrote."""
    try:
        answer = json.decode(finished.stdout[finished.stdout.rfind("\n{") + 1 :].encode(), _CondaAnswer)
    except (msgspec.DecodeError, UnicodeEncodeError):
        answer = _CondaAnswer()
    message = answer.message or answer.error or finished.stderr
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [f"exit {finished.returncode}"]
    # "The following packages are not available:", and the next line names one.
    detail = " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    if answer.exception_name == DISK_FULL_ERROR:
        return AppError("disk-full", path=str(environment.parent))
    if answer.exception_name in NETWORK_ERRORS:
        return NetworkError("conda-offline", channel=CHANNEL, detail=detail)
    return AppError("conda-failed", path=str(environment), detail=detail)
