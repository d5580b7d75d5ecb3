"""uv, run from its own package, without the user's configuration files.

Of the user's environment variables for uv only those pass that concern how the network is reached, and the general
package index; the others could change what is installed, where it comes from or where it is put.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...core.errors import AppError, storage_errors
from ...core.ownership import empty_owned_folder
from ...core.paths import DataDir
from ...system.base import Processes, ProcessResult
from ...system.locks import file_lock

# The resolver tries one source after the other itself: each must fail quickly.
TIMEOUT_VARIABLES = {"UV_HTTP_RETRIES": "2", "UV_HTTP_CONNECT_TIMEOUT": "8", "UV_HTTP_TIMEOUT": "30"}
CREDENTIALS_VARIABLE = "UV_CREDENTIALS_DIR"
INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
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
    """Runs uv's commands; its lines of output go to `log`."""

    def __init__(
        self,
        system: Processes,
        data: DataDir,
        *,
        cancel: threading.Event | None = None,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._system = system
        self._data = data
        self._cancel = cancel
        self._log = log

    def run(self, *arguments: str | Path, timeout: float, cwd: Path | None = None) -> ProcessResult:
        """Run one command; the caller checks its exit status. Raises AppError, Cancelled."""
        from ...fetch.http import proxy_variables

        # uv's own default index has no address here; the automatic configuration is asked for the index that is named.
        index_url = next((each for each in map(str, arguments) if each.startswith("https://")), default_index_url())
        proxy = {} if index_url is None or "--offline" in arguments else proxy_variables(index_url)
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
            environ=uv_environment() | self._credentials() | proxy,
            cwd=cwd,
            cancel=self._cancel,
        )
        for line in (finished.stdout + finished.stderr).splitlines():
            self._log(line)
        return finished

    def _credentials(self) -> dict[str, str]:
        """A credentials folder in our cache, unless the user has one: uv would make one in the user's profile."""
        from platformdirs import user_data_path

        user_folder = user_data_path("uv", appauthor=False, roaming=True)
        if CREDENTIALS_VARIABLE in os.environ or any(
            (user_folder / subfolder / "credentials").is_dir() for subfolder in ("", "data")
        ):
            return {}
        return {CREDENTIALS_VARIABLE: str(self._data.uv_cache / "credentials")}


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
            empty_owned_folder(data.uv_cache, keep_names=(".lock",))


def find_uv() -> Path:
    """The path of uv's program in its installed package; raises AppError("uv-missing")."""
    try:
        import uv

        return Path(uv.find_uv_bin()).absolute()
    except (ImportError, FileNotFoundError) as error:
        raise AppError("uv-missing", detail=str(error)) from error


def uv_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str | None]:
    """The changes to the environment for uv: timeouts, the system's certificates, the general index, and None for every
    variable that is removed.
    """
    variables: dict[str, str | None] = {
        name: None for name in environ if name.upper().startswith(PREFIX) and name.upper() not in USER_VARIABLES
    }
    variables |= {name: value for name, value in TIMEOUT_VARIABLES.items() if name not in environ}
    if "SSL_CERT_FILE" not in environ and "SSL_CERT_DIR" not in environ:
        variables["UV_SYSTEM_CERTS"] = "1"
    index = default_index_url(environ)
    return variables if index is None else variables | {INDEX_VARIABLES[0]: index}


def default_index_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """The general package index that the user has set for uv; None for uv's default, PyPI."""
    return next((environ[name] for name in INDEX_VARIABLES if environ.get(name)), None)


def error_line(finished: ProcessResult) -> str:
    """The line of uv's output that tells the error."""
    lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
    return next(
        (line for line in lines if line.startswith("error")), lines[-1] if lines else f"exit {finished.returncode}"
    )
