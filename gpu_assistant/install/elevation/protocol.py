"""What may be asked through the door and what is answered; nothing else exists there.

WSL2 on Windows: the catalog's way to it, and Windows' own program.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from ...core import json
from ...core.errors import AppError
from ...core.types import Value

if TYPE_CHECKING:
    from ...catalog.records.software import TensorFlowRoute
    from ...catalog.store import Catalog


HELPER_FLAG = "--administrator-door"  # the first argument that makes the program the helper
ANSWER_FILE = "answer.json"
MAX_REQUEST_BYTES = 1 << 16  # bytes of a request

Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
PathText = Annotated[str, Meta(min_length=1, max_length=4096)]
PackageName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9+.-]{1,80}\Z")]
Nonce = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]


class _HelperRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="verb"):
    """`nonce` makes each request another one: none is done twice."""

    nonce: Nonce


class WindowsDriverRequest(_HelperRequest, frozen=True, kw_only=True, tag="windows-driver"):
    """Run NVIDIA's driver package with the catalog's switches."""

    file: PathText
    sha256: Sha256


class VcRedistRequest(_HelperRequest, frozen=True, kw_only=True, tag="vc-redist"):
    """Run Microsoft's installer of the Visual C++ runtime with the catalog's switches."""

    file: PathText
    sha256: Sha256


class CudaToolkitRequest(_HelperRequest, frozen=True, kw_only=True, tag="cuda-toolkit"):
    """Run NVIDIA's installer of one CUDA Toolkit with the catalog's switches: no driver is among its components."""

    file: PathText
    sha256: Sha256
    version: Annotated[str, Meta(pattern=r"\A\d{1,3}(\.\d{1,4}){2}\Z")]


class WslPlatformRequest(_HelperRequest, frozen=True, kw_only=True, tag="wsl-platform"):
    """Switch on the parts of Windows that WSL2 needs, with Windows' own program; no Linux is installed by it."""


class LinuxPackagesRequest(_HelperRequest, frozen=True, kw_only=True, tag="linux-packages"):
    """Install the distribution's own packages; each name must be one that the catalog knows.

    The first one must come as `minimum` or newer (None: as it comes).
    """

    packages: Annotated[tuple[PackageName, ...], Meta(min_length=1, max_length=16)]
    minimum: Annotated[str, Meta(pattern=r"\A\d{1,4}(\.\d{1,4}){0,3}\Z")] | None = None


class RestorePointRequest(_HelperRequest, frozen=True, kw_only=True, tag="restore-point"):
    """Let Windows note its state."""


InstallerRequest = WindowsDriverRequest | VcRedistRequest | CudaToolkitRequest
HelperRequest = InstallerRequest | WslPlatformRequest | LinuxPackagesRequest | RestorePointRequest


class HelperAnswer(Struct, frozen=True, kw_only=True):
    """What came of it: `exit_code` of the program that was run, or the error that a face can say.

    `restore_point` tells whether Windows noted its state before (None: nobody asked it to).
    """

    exit_code: int | None = None
    restore_point: bool | None = None
    error: str | None = None
    data: dict[str, Value] = {}
    lines: tuple[str, ...] = ()


def request_folder_name(request: bytes) -> str:
    """The private folder's name: the request's own hash."""
    return f"gpu-assistant-{hashlib.sha256(request).hexdigest()}"


def decode_request(encoded: bytes, sha256: str) -> HelperRequest:
    """Check and decode; raises AppError("door-request", detail=…)."""
    if len(encoded) > MAX_REQUEST_BYTES:
        raise AppError("door-request", detail=f"{len(encoded)} bytes")
    if hashlib.sha256(encoded).hexdigest() != sha256:
        raise AppError("door-request", detail="sha256")
    try:
        request: HelperRequest = json.decode(encoded, HelperRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AppError("door-request", detail=str(error)) from error
    return request


WSL_PROGRAM = "wsl.exe"


def wsl_route(catalog: Catalog) -> TensorFlowRoute | None:
    """The way through WSL2, where the catalog says how it is set up in both halves."""
    route = catalog.tensorflow.find_route("windows", "wsl2")
    return route if route is not None and route.system_words and route.user_words else None


def find_wsl(folder: Path | None) -> Path:
    """In Windows' own folder, where only administrators write; raises AppError("wsl-missing")."""
    path = folder / WSL_PROGRAM if folder is not None else None
    if path is None or not path.is_file():
        raise AppError("wsl-missing")
    return path
