"""The user's side of the door: writes the request, has the system ask for rights, reads the answer."""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...core import json, paths
from ...core.errors import AppError
from ...core.refusal import why
from .requests import (
    LARGEST,
    WORD,
    Answer,
    CudaToolkit,
    LinuxPackages,
    Request,
    RestorePoint,
    VcRedist,
    WindowsDriver,
    WslPlatform,
    name_of,
)
from .serve import ANSWER

if TYPE_CHECKING:
    from ...system.base import System
    from ...system.rights import Rights

CHUNK = 1 << 20


def own_words() -> tuple[str, ...]:
    """How this very program is started as the helper."""
    if paths.shipped():
        return (sys.executable, WORD)
    return (sys.executable, "-I", "-m", "gpu_assistant", WORD)


class Door:
    """Asks for one thing at a time. Each call raises RightsRefused where the person said no, AppError, Cancelled.

    `folder` is the user's own, for the request's file; `run_as_admin` and `words` replace the system's way and our
    program.
    """

    def __init__(
        self,
        folder: Path,
        system: System,
        *,
        rights: Rights | None = None,
        run_as_admin: Callable[..., int] | None = None,
        words: Sequence[str] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        from ...system.rights import current

        self._folder, self._rights, self._cancel = folder, rights or current(), cancel
        self._run_as_admin = run_as_admin or system.run_as_admin
        self._words = tuple(words) if words is not None else own_words()

    def windows_driver(self, file: Path, sha256: str | None) -> Answer:
        """Run NVIDIA's package; without a published hash the one of the file as it lies now."""
        return self.ask(WindowsDriver(nonce=_nonce(), file=str(file), sha256=sha256 or _digest(file)))

    def vc_redist(self, file: Path, sha256: str | None) -> Answer:
        """Run Microsoft's installer of the Visual C++ runtime."""
        return self.ask(VcRedist(nonce=_nonce(), file=str(file), sha256=sha256 or _digest(file)))

    def cuda_toolkit(self, file: Path, version: str) -> Answer:
        """Run NVIDIA's installer of this CUDA Toolkit."""
        return self.ask(CudaToolkit(nonce=_nonce(), file=str(file), sha256=_digest(file), version=version))

    def wsl_platform(self) -> Answer:
        """Switch WSL2's parts of Windows on."""
        return self.ask(WslPlatform(nonce=_nonce()))

    def linux_packages(self, names: Sequence[str], minimum: str | None = None) -> Answer:
        """Install packages of the distribution, the first one as `minimum` or newer."""
        return self.ask(LinuxPackages(nonce=_nonce(), packages=tuple(names), minimum=minimum))

    def restore_point(self) -> Answer:
        """Let Windows note its state."""
        return self.ask(RestorePoint(nonce=_nonce()))

    def ask(self, request: Request) -> Answer:
        """The answer of the helper, whose error is raised here."""
        raw = json.encode(request)
        path = self._folder / f"{name_of(raw)}.json"
        json.write_file(path, raw)
        try:
            words = (*self._words, str(path), hashlib.sha256(raw).hexdigest())
            code = self._run_as_admin(words, cancel=self._cancel)
            answer = self._answer(raw, code)
        finally:
            path.unlink(missing_ok=True)
        if answer.error is not None:
            error = AppError(answer.error)
            error.data.update(answer.data)
            raise error
        return answer

    def _answer(self, raw: bytes, code: int) -> Answer:
        path = self._rights.place(name_of(raw)) / ANSWER
        try:
            with path.open("rb") as file:
                return json.decode(file.read(LARGEST), Answer)
        except (OSError, msgspec.DecodeError) as error:
            raise AppError("door-no-answer", status=code) from error


def _nonce() -> str:
    return secrets.token_hex(16)


def _digest(file: Path) -> str:
    sha256 = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while chunk := opened.read(CHUNK):
                sha256.update(chunk)
    except OSError as error:
        raise AppError("door-file", path=str(file), detail=why(error)) from error
    return sha256.hexdigest()
