"""The unprivileged side: sends one request to the elevated helper, and returns its answer.

    step (steps/nvidia_driver, vc_redist, cuda_installer, wsl2)
      └─ ElevationClient.send_request
           1. writes request.json, named by its SHA-256, into the user's own state folder
           2. system.run_as_admin(program, "--administrator-door", path, sha256): UAC or polkit asks the user
                └─ elevation/helper.py, elevated: checks path, hash and request (protocol.py), runs what it names,
                   writes answer.json into a private folder that only administrators can write to
           3. reads answer.json there, deletes the request, raises the answer's error

The user's folder is not trusted by the helper, the private folder is: whoever else runs as the user can neither change
a request after its hash was taken nor forge an answer.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...core import filesystem, json, paths
from ...core.errors import AppError, os_error_text
from ...core.files import hash_file
from .protocol import (
    ANSWER_FILE,
    HELPER_FLAG,
    MAX_REQUEST_BYTES,
    CudaToolkitRequest,
    HelperAnswer,
    HelperRequest,
    LinuxPackagesRequest,
    RestorePointRequest,
    VcRedistRequest,
    WindowsDriverRequest,
    WslPlatformRequest,
    request_folder_name,
)

if TYPE_CHECKING:
    from ...system.base import Elevation
    from ...system.elevation import ElevatedSystem


def helper_command() -> tuple[str, ...]:
    """The command that starts this program as the helper."""
    if paths.is_packaged():
        return (sys.executable, HELPER_FLAG)
    return (sys.executable, "-I", "-m", "gpu_assistant", HELPER_FLAG)


class ElevationClient:
    """Sends requests, one at a time. Each call raises ElevationDenied if the user refused, AppError, Cancelled.

    `folder` is the user's, for the request file; `run_as_admin` and `command` replace the system's prompt and our
    program in tests.
    """

    def __init__(
        self,
        folder: Path,
        system: Elevation,
        *,
        rights: ElevatedSystem | None = None,
        run_as_admin: Callable[..., int] | None = None,
        command: Sequence[str] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        from ...system.elevation import current_elevation

        self._folder, self._rights, self._cancel = folder, rights or current_elevation(), cancel
        self._run_as_admin = run_as_admin or system.run_as_admin
        self._helper_command = tuple(command) if command is not None else helper_command()

    def install_windows_driver(self, file: Path, sha256: str | None) -> HelperAnswer:
        """Run NVIDIA's package; without a published hash, the file must stay as it is now."""
        return self.send_request(
            WindowsDriverRequest(nonce=_new_nonce(), file=str(file), sha256=sha256 or _hash_installer(file))
        )

    def install_vc_redist(self, file: Path, sha256: str | None) -> HelperAnswer:
        return self.send_request(
            VcRedistRequest(nonce=_new_nonce(), file=str(file), sha256=sha256 or _hash_installer(file))
        )

    def install_cuda_toolkit(self, file: Path, version: str) -> HelperAnswer:
        return self.send_request(
            CudaToolkitRequest(nonce=_new_nonce(), file=str(file), sha256=_hash_installer(file), version=version)
        )

    def enable_wsl_platform(self) -> HelperAnswer:
        return self.send_request(WslPlatformRequest(nonce=_new_nonce()))

    def install_linux_packages(self, names: Sequence[str], minimum: str | None = None) -> HelperAnswer:
        """Install packages of the distribution, the first one in version `minimum` or newer."""
        return self.send_request(LinuxPackagesRequest(nonce=_new_nonce(), packages=tuple(names), minimum=minimum))

    def create_restore_point(self) -> HelperAnswer:
        return self.send_request(RestorePointRequest(nonce=_new_nonce()))

    def send_request(self, request: HelperRequest) -> HelperAnswer:
        """Run the helper for one request; raises the error of its answer."""
        encoded = json.encode(request)
        path = self._folder / f"{request_folder_name(encoded)}.json"
        json.write_file(path, encoded)
        try:
            command = (*self._helper_command, str(path), hashlib.sha256(encoded).hexdigest())
            exit_code = self._run_as_admin(command, cancel=self._cancel)
            answer = self._read_answer(encoded, exit_code)
        finally:
            filesystem.unlink(path, missing_ok=True)
        if answer.error is not None:
            error = AppError(answer.error)
            error.data.update(answer.data)
            raise error
        return answer

    def _read_answer(self, encoded: bytes, exit_code: int) -> HelperAnswer:
        path = self._rights.private_folder_path(request_folder_name(encoded)) / ANSWER_FILE
        try:
            with path.open("rb") as file:
                return json.decode(file.read(MAX_REQUEST_BYTES), HelperAnswer)
        except (OSError, msgspec.DecodeError) as error:
            raise AppError("door-no-answer", status=exit_code) from error


def _new_nonce() -> str:
    return secrets.token_hex(16)


def _hash_installer(file: Path) -> str:
    try:
        return hash_file(file)
    except OSError as error:
        raise AppError("door-file", path=str(file), detail=os_error_text(error)) from error
