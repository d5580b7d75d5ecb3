"""What may be asked through the door and what is answered; nothing else exists there."""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ...core import json
from ...core.errors import AppError
from ...core.message import Value

WORD = "--administrator-door"  # the first argument that makes the program the helper
LARGEST = 1 << 16  # bytes of a request

Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
PathText = Annotated[str, Meta(min_length=1, max_length=4096)]
PackageName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9+.-]{1,80}\Z")]
Nonce = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]


class _Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="verb"):
    """`nonce` makes each request another one: none is done twice."""

    nonce: Nonce


class WindowsDriver(_Request, frozen=True, kw_only=True, tag="windows-driver"):
    """Run NVIDIA's driver package with the catalog's switches."""

    file: PathText
    sha256: Sha256


class VcRedist(_Request, frozen=True, kw_only=True, tag="vc-redist"):
    """Run Microsoft's installer of the Visual C++ runtime with the catalog's switches."""

    file: PathText
    sha256: Sha256


class CudaToolkit(_Request, frozen=True, kw_only=True, tag="cuda-toolkit"):
    """Run NVIDIA's installer of one CUDA Toolkit with the catalog's switches: no driver is among its components."""

    file: PathText
    sha256: Sha256
    version: Annotated[str, Meta(pattern=r"\A\d{1,3}(\.\d{1,4}){2}\Z")]


class WslPlatform(_Request, frozen=True, kw_only=True, tag="wsl-platform"):
    """Switch on the parts of Windows that WSL2 needs, with Windows' own program; no Linux is installed by it."""


class LinuxPackages(_Request, frozen=True, kw_only=True, tag="linux-packages"):
    """Install the distribution's own packages; each name must be one that the catalog knows.

    The first one must come as `minimum` or newer (None: as it comes).
    """

    packages: Annotated[tuple[PackageName, ...], Meta(min_length=1, max_length=16)]
    minimum: Annotated[str, Meta(pattern=r"\A\d{1,4}(\.\d{1,4}){0,3}\Z")] | None = None


class RestorePoint(_Request, frozen=True, kw_only=True, tag="restore-point"):
    """Let Windows note its state."""


Installers = WindowsDriver | VcRedist | CudaToolkit
Request = Installers | WslPlatform | LinuxPackages | RestorePoint


class Answer(Struct, frozen=True, kw_only=True):
    """What came of it: `exit_code` of the program that was run, or the error that a face can say.

    `restore_point` tells whether Windows noted its state before (None: nobody asked it to).
    """

    exit_code: int | None = None
    restore_point: bool | None = None
    error: str | None = None
    data: dict[str, Value] = {}
    lines: tuple[str, ...] = ()


def name_of(request: bytes) -> str:
    """The private folder's name: the request's own hash."""
    return f"gpu-assistant-{hashlib.sha256(request).hexdigest()}"


def read(raw: bytes, sha256: str) -> Request:
    """Check and decode; raises AppError("door-request", detail=…)."""
    if len(raw) > LARGEST:
        raise AppError("door-request", detail=f"{len(raw)} bytes")
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise AppError("door-request", detail="sha256")
    try:
        request: Request = json.decode(raw, Request)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AppError("door-request", detail=str(error)) from error
    return request
