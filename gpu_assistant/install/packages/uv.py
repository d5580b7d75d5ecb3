"""uv, run from its own package, without the user's configuration files.

Of the user's environment variables for uv only those pass that concern how the network is reached, and the general
package index; the others could change what is installed, where it comes from or where it is put.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from ...core import paths
from ...core.errors import AppError, storage_errors
from ...core.ownership import empty_owned_folder
from ...core.paths import DataDir
from ...fetch.credentials import INDEX_VARIABLES, redact_credentials, user_index_url
from ...system.base import Processes, ProcessResult
from ...system.locks import file_lock

# The resolver tries one source after the other itself: each must fail quickly.
TIMEOUT_VARIABLES = {"UV_HTTP_RETRIES": "2", "UV_HTTP_CONNECT_TIMEOUT": "8", "UV_HTTP_TIMEOUT": "30"}
CREDENTIALS_VARIABLE = "UV_CREDENTIALS_DIR"
USER_VARIABLES = (
    *TIMEOUT_VARIABLES,
    "UV_REQUEST_TIMEOUT",
    "UV_SYSTEM_CERTS",
    "UV_NATIVE_TLS",
    "UV_KEYRING_PROVIDER",
    CREDENTIALS_VARIABLE,
)
PREFIX = "UV_"


class Uv:
    """Runs uv's commands; its lines of output go to `log`. `retries` of failed requests, None: uv's or the user's."""

    def __init__(
        self,
        system: Processes,
        data: DataDir,
        *,
        cancel: threading.Event | None = None,
        log: Callable[[str], None] = lambda _line: None,
        retries: int | None = None,
    ) -> None:
        self._retries = {} if retries is None else {"UV_HTTP_RETRIES": str(retries)}
        self._system = system
        self._data = data
        self._cancel = cancel
        self._log = log

    def run(self, *arguments: str | Path, timeout: float, cwd: Path | None = None) -> ProcessResult:
        """Run one command; the caller checks its exit status. Raises AppError, Cancelled."""
        proxy = {} if "--offline" in arguments else _proxy_variables(arguments)
        self._data.claim(self._data.uv_cache)
        finished = self._system.run(
            [
                find_uv(),
                *arguments,
                "--no-config",
                "--no-progress",
                "--color",
                "never",
                "--cache-dir",
                self._data.uv_cache,
            ],
            timeout=timeout,
            environ=uv_environment() | self._credentials() | proxy | self._retries,
            cwd=cwd,
            cancel=self._cancel,
        )
        # What uv prints comes into logs and errors, what it resolves into the lock file.
        finished = replace(
            finished, stdout=redact_credentials(finished.stdout), stderr=redact_credentials(finished.stderr)
        )
        for line in (finished.stdout + finished.stderr).splitlines():
            self._log(line)
        return finished

    def _credentials(self) -> dict[str, str]:
        """A credentials folder in our cache, unless the user has one: uv would make one in the user's profile."""
        from platformdirs import user_data_path

        user_folders = []
        with suppress(RuntimeError):  # an account without a home folder
            user_folders.append(user_data_path("uv", appauthor=False, roaming=True))
        if CREDENTIALS_VARIABLE in os.environ or any(
            (folder / subfolder / "credentials").is_dir() for folder in user_folders for subfolder in ("", "data")
        ):
            return {}
        return {CREDENTIALS_VARIABLE: str(self._data.uv_cache / "credentials")}


def _proxy_variables(arguments: Sequence[str | Path]) -> dict[str, str]:
    from ...fetch.http import proxy_variables  # loads clients of HTTP and TLS

    # uv's own default index has no address here: it lies outside.
    index_url = next((each for each in map(str, arguments) if each.startswith("https://")), user_index_url())
    return proxy_variables(index_url)


@contextmanager
def cache_lock(data: DataDir, is_cancelled: Callable[[], bool] | None = None) -> Iterator[None]:
    """Hold uv's cache while something in it is deleted. Each uv holds the lock of this file while it runs
    (docs.astral.sh/uv/concepts/cache). Raises AppError("uv-cache-busy") at once, or where the wait was cancelled, and
    OSError.
    """
    with file_lock(data.uv_cache / ".lock", AppError("uv-cache-busy", path=str(data.uv_cache)), is_cancelled):
        yield


def clear_cache(data: DataDir, is_cancelled: Callable[[], bool] | None = None) -> None:
    """Delete what is in uv's cache, once no uv uses it; nothing where it is not ours. Raises AppError."""
    if data.owns(data.uv_cache):
        with storage_errors(data.uv_cache), cache_lock(data, is_cancelled):
            empty_owned_folder(data.uv_cache, data.marker_place(data.uv_cache), keep_names=(".lock",))


def find_uv() -> Path:
    """The path of uv's program in its installed package; raises AppError("uv-missing")."""
    try:
        import uv

        return Path(uv.find_uv_bin()).absolute()
    except (ImportError, FileNotFoundError) as error:
        raise AppError("uv-missing", detail=str(error)) from error


def own_interpreter() -> Path | None:
    """The Python of this program: without the name of one uv starts whatever is called Python until one fits. None in
    an installed program, whose executable is no Python but opens its window.
    """
    return Path(sys.executable) if paths.install_dir() is None else None


def uv_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str | None]:
    """The changes to the environment for uv: timeouts, the system's certificates, the general index, and None for every
    variable that is removed.
    """
    variables: dict[str, str | None] = {
        name: None for name in environ if name.upper().startswith(PREFIX) and name.upper() not in USER_VARIABLES
    }
    variables |= {name: value for name, value in TIMEOUT_VARIABLES.items() if name not in environ}
    # For a Python series that this computer lacks, uv would fetch one into the user's profile, only to resolve for it.
    variables["UV_PYTHON_DOWNLOADS"] = "never"
    if "SSL_CERT_FILE" not in environ and "SSL_CERT_DIR" not in environ:
        variables["UV_SYSTEM_CERTS"] = "1"
    index = user_index_url(environ)
    return variables if index is None else variables | {INDEX_VARIABLES[0]: index}


# ENOSPC, EDQUOT and Windows' ERROR_DISK_FULL, as Rust words them.
_DISK_FULL_TEXTS = ("os error 28)", "os error 122)", "os error 112)")


def is_disk_full(finished: ProcessResult) -> bool:
    """Whether uv failed because a disk, or the user's share of it, is full."""
    return finished.returncode != 0 and any(text in finished.stderr.lower() for text in _DISK_FULL_TEXTS)


def error_line(finished: ProcessResult) -> str:
    """The line of uv's output that tells the error."""
    lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
    return next(
        (line for line in lines if line.startswith("error")), lines[-1] if lines else f"exit {finished.returncode}"
    )
