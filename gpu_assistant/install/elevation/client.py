"""The unprivileged side: sends one request to the elevated helper, and returns its answer.

    step (steps/nvidia_driver, vc_redist, cuda_installer, wsl2)
      └─ ElevationClient.send_request
           1. writes request.json, named by its SHA-256, into the user's own state folder
           2. system.run_as_admin(program, "--administrator-door", path, sha256): UAC or polkit asks the user
                └─ elevation/helper.py, elevated: checks path, hash and request (protocol.py), runs what it names,
                   writes answer.json into a private folder that only administrators can write to
           3. reads answer.json there, deletes the request (then the helper removes the folder and ends), raises the
              answer's error

Until the helper has begun, a cancel ends the question. What has begun is left to come to its end: a driver that is
half installed can leave a computer without a picture.

A program that is not installed has no helper: its own folder is not safe to run with rights. On Linux apt-get itself is
run with them then (packages.py), on Windows the step is left out ("rights-not-installed").

The user's folder is not trusted by the helper, the private folder is: whoever else runs as the user can neither change
a request after its hash was taken nor forge an answer.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from ...core import filesystem, json, paths
from ...core.errors import AppError, Cancelled, ElevationDenied, os_error_text
from ...core.files import hash_file
from .packages import AskingAptGet, PackagePrograms, install_packages, planned_packages, remove_packages
from .protocol import (
    ANSWER_FILE,
    HELPER_FLAG,
    MAX_REQUEST_BYTES,
    PROGRAM_CHANGED,
    CudaToolkitRequest,
    HelperAnswer,
    HelperRequest,
    LinuxPackagesRemoval,
    LinuxPackagesRequest,
    RestorePointRequest,
    VcRedistRequest,
    WindowsDriverRequest,
    WslPlatformRequest,
    request_folder_name,
)

if TYPE_CHECKING:
    from ...catalog.store import Catalog
    from ...system.base import System
    from ...system.elevation import ElevatedSystem


ANSWER_POLL_S = 0.05
LATE_AFTER_S = 60.0  # since the user's click; who has left would find a question that nobody asked for
ConfirmReason = Literal["late", "unanswered"]


def helper_command(rights: ElevatedSystem, home: Path | None) -> tuple[str, ...] | None:
    """The command that starts the installed program as the helper; None where it must not run with rights: one that is
    not installed lies in a Python environment, where every program of the user's may write.
    """
    program = rights.helper_program(home) if home is not None else None
    return (str(program), HELPER_FLAG) if program is not None else None


class ElevationPrompt(Protocol):
    """The window to which the system's question about rights belongs; made when the user began, with a click."""

    @property
    def window(self) -> int:
        """The window's handle."""
        ...

    @property
    def clicked_at(self) -> float:
        """When the user last clicked for this (`time.monotonic`): began the run, or confirmed."""
        ...

    def confirm(self, reason: ConfirmReason, cancel: threading.Event) -> bool:
        """Bring the window to the front and ask whether the system may ask now: it is long since the click ("late"), or
        nobody answered the system's question ("unanswered"). False: leave out what needs the rights.
        """
        ...


class ElevationClient:
    """Sends requests, one at a time. Each call raises ElevationDenied if the user refused, AppError, Cancelled.

    `folder` is the user's, for the request file; `on_kept_running` is called once where a cancel comes too late, and
    what the helper does is waited for. `run_as_admin`, `command` and `programs` replace the system's prompt, our
    program and the distribution's in tests.
    """

    def __init__(
        self,
        folder: Path,
        system: System,
        *,
        rights: ElevatedSystem | None = None,
        run_as_admin: Callable[..., int] | None = None,
        command: Sequence[str] | None = None,
        programs: PackagePrograms | None = None,
        cancel: threading.Event | None = None,
        on_kept_running: Callable[[], None] = lambda: None,
        prompt: ElevationPrompt | None = None,
    ) -> None:
        from ...system.elevation import current_elevation

        self._folder, self._rights, self._cancel = folder, rights or current_elevation(), cancel
        self._on_kept_running, self._prompt = on_kept_running, prompt
        self._system, self._apt_get = (
            system,
            AskingAptGet(system, programs or PackagePrograms(), system.run_to_end_as_admin),
        )
        self._run_as_admin = run_as_admin or system.run_as_admin
        self._helper_command = (
            tuple(command) if command is not None else helper_command(self._rights, paths.install_dir())
        )

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

    def install_linux_packages(self, names: Sequence[str], minimum: str | None, catalog: Catalog) -> HelperAnswer:
        """Install packages of the distribution, the first one in version `minimum` or newer."""
        request = LinuxPackagesRequest(nonce=_new_nonce(), packages=tuple(names), minimum=minimum)
        if self._helper_command is not None:
            return self.send_request(request)
        return install_packages(request, self._system.operating_system(), catalog, self._apt_get)

    def planned_linux_packages(self, names: Sequence[str]) -> tuple[str, ...]:
        """What installing packages of the distribution would add now; () where apt-get does not say. Asks nobody."""
        return planned_packages(names, self._apt_get)

    def remove_linux_packages(self, names: Sequence[str], together: Sequence[str], catalog: Catalog) -> HelperAnswer:
        """Remove packages of the distribution, and of those that came `together` what nothing else needs."""
        request = LinuxPackagesRemoval(nonce=_new_nonce(), packages=tuple(names), together=tuple(together))
        if self._helper_command is not None:
            return self.send_request(request)
        return remove_packages(request, self._system.operating_system(), catalog, self._apt_get)

    def create_restore_point(self) -> HelperAnswer:
        return self.send_request(RestorePointRequest(nonce=_new_nonce()))

    def send_request(self, request: HelperRequest) -> HelperAnswer:
        """Run the helper for one request; raises the error of its answer."""
        if self._helper_command is None:
            raise ElevationDenied("rights-not-installed")
        encoded = json.encode(request)
        path = self._folder / f"{request_folder_name(encoded)}.json"
        json.write_file(path, encoded)
        answer_folder = self._rights.private_folder_path(request_folder_name(encoded))
        cancel = _CancelBeforeStart(self._cancel, answer_folder, self._on_kept_running)
        try:
            command = (*self._helper_command, str(path), hashlib.sha256(encoded).hexdigest())
            with _AnswerReader(answer_folder / ANSWER_FILE, path) as reader:
                exit_code = self._ask_and_run(command, cancel)
        finally:
            filesystem.unlink(path, missing_ok=True)
        answer = reader.answer
        if answer is None:
            code = "door-program-changed" if exit_code == PROGRAM_CHANGED else "door-no-answer"
            raise AppError(code, status=exit_code)
        if answer.error is not None:
            error = AppError(answer.error)
            error.data.update(answer.data)
            raise error
        return answer

    def _ask_and_run(self, command: Sequence[str], cancel: threading.Event) -> int:
        prompt, program = self._prompt, command[0]
        if prompt is None:
            return self._run_as_admin(command, cancel=cancel)
        reason: ConfirmReason | None = "late" if time.monotonic() - prompt.clicked_at > LATE_AFTER_S else None
        while True:
            if reason is not None and not prompt.confirm(reason, cancel):
                if cancel.is_set():
                    raise Cancelled
                raise ElevationDenied("rights-refused", program=program)
            try:
                return self._run_as_admin(command, cancel=cancel, window=prompt.window)
            except ElevationDenied as error:
                if error.code != "rights-unanswered":
                    raise
                reason = "unanswered"


class _CancelBeforeStart(threading.Event):
    """Set by a cancel as long as the helper has not begun: its private folder shows that. It has to be polled."""

    def __init__(self, cancel: threading.Event | None, folder: Path, on_kept_running: Callable[[], None]) -> None:
        super().__init__()
        self._cancel, self._folder, self._on_kept_running = cancel, folder, on_kept_running
        self._is_reported = False

    def is_set(self) -> bool:
        if self._cancel is None or not self._cancel.is_set():
            return False
        if not self._folder.exists():
            return True
        if not self._is_reported:
            self._is_reported = True
            self._on_kept_running()
        return False


class _AnswerReader:
    """In its context, a thread that waits for the helper's answer and then deletes the request.

    `answer` afterwards: None where none came.
    """

    def __init__(self, answer_file: Path, request_file: Path) -> None:
        self._answer_file, self._request_file = answer_file, request_file
        self._helper_ended = threading.Event()
        self._thread = threading.Thread(target=self._wait_for_answer, name="helper's answer", daemon=True)
        self.answer: HelperAnswer | None = None

    def __enter__(self) -> _AnswerReader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._helper_ended.set()
        self._thread.join()

    def _wait_for_answer(self) -> None:
        is_last_look = False
        while self.answer is None and not is_last_look:
            is_last_look = self._helper_ended.wait(ANSWER_POLL_S)
            with suppress(OSError, msgspec.DecodeError), self._answer_file.open("rb") as file:
                self.answer = json.decode(file.read(MAX_REQUEST_BYTES), HelperAnswer)
        with suppress(OSError):
            filesystem.unlink(self._request_file, missing_ok=True)


def _new_nonce() -> str:
    return secrets.token_hex(16)


def _hash_installer(file: Path) -> str:
    try:
        return hash_file(file)
    except OSError as error:
        raise AppError("door-file", path=str(file), detail=os_error_text(error)) from error
