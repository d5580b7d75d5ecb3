"""The requests that the elevated helper accepts, and its answer: both sides of the privilege boundary use these types.

Nothing else can be asked of the helper. A request names catalog entries, never commands or addresses. Both sides also
run wsl.exe: the helper for the Windows features, `steps/wsl2.py` for the user's distribution.
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
    from ...catalog.records.libraries import TensorFlowRoute
    from ...catalog.store import Catalog


HELPER_FLAG = "--administrator-door"  # the first argument that makes the program the helper
ANSWER_FILE = "answer.json"
# Exit codes where no answer was written; a Python that cannot run the helper ends with 1.
REQUEST_REFUSED = 2
PROGRAM_CHANGED = 3  # of Windows' first step (installers/windows/door.c): a file is not the one that was installed
MAX_REQUEST_BYTES = 1 << 16  # bytes of a request
MAX_PACKAGES = 600  # that come with a driver: some 300 on a computer without a desktop

Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
PathText = Annotated[str, Meta(min_length=1, max_length=4096)]
PackageName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9+.-]{1,80}\Z")]
# Of another architecture with it ("libnvidia-gl-580:i386").
InstalledPackageName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9+.-]{1,80}(?::[a-z0-9]{2,12})?\Z")]
Nonce = Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]


class _HelperRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="verb"):
    """`nonce` makes each request unique: the helper refuses one that is being answered already."""

    nonce: Nonce


class WindowsDriverRequest(_HelperRequest, frozen=True, kw_only=True, tag="windows-driver"):
    """Run NVIDIA's driver package with the arguments in the catalog."""

    file: PathText
    sha256: Sha256


class VcRedistRequest(_HelperRequest, frozen=True, kw_only=True, tag="vc-redist"):
    """Run Microsoft's installer of the Visual C++ runtime with the arguments in the catalog."""

    file: PathText
    sha256: Sha256


class CudaToolkitRequest(_HelperRequest, frozen=True, kw_only=True, tag="cuda-toolkit"):
    """Run NVIDIA's installer of one CUDA Toolkit with the catalog's arguments, whose components include no driver."""

    file: PathText
    sha256: Sha256
    version: Annotated[str, Meta(pattern=r"\A\d{1,3}(\.\d{1,4}){2}\Z")]


class WslPlatformRequest(_HelperRequest, frozen=True, kw_only=True, tag="wsl-platform"):
    """Enable the Windows features that WSL2 needs, with wsl.exe; it installs no distribution."""


class LinuxPackagesRequest(_HelperRequest, frozen=True, kw_only=True, tag="linux-packages"):
    """Install packages of the distribution whose names are in the catalog.

    The first one must have version `minimum` or newer (None: any).
    """

    packages: Annotated[tuple[PackageName, ...], Meta(min_length=1, max_length=16)]
    minimum: Annotated[str, Meta(pattern=r"\A\d{1,4}(\.\d{1,4}){0,3}\Z")] | None = None


class LinuxPackagesRemoval(_HelperRequest, frozen=True, kw_only=True, tag="linux-packages-removal"):
    """Remove packages of the distribution whose names are in the catalog, and of those that were installed `together`
    with them what apt-get would remove automatically.
    """

    packages: Annotated[tuple[PackageName, ...], Meta(min_length=1, max_length=16)]
    together: Annotated[tuple[InstalledPackageName, ...], Meta(max_length=MAX_PACKAGES)] = ()


class RestorePointRequest(_HelperRequest, frozen=True, kw_only=True, tag="restore-point"):
    """Create a Windows restore point."""


InstallerRequest = WindowsDriverRequest | VcRedistRequest | CudaToolkitRequest
HelperRequest = (
    InstallerRequest | WslPlatformRequest | LinuxPackagesRequest | LinuxPackagesRemoval | RestorePointRequest
)


class HelperAnswer(Struct, frozen=True, kw_only=True):
    """The `exit_code` and last output `lines` of the program that was run, or an AppError's code and data.

    `restore_point`: whether Windows created one before (None: none was asked for).
    """

    exit_code: int | None = None
    restore_point: bool | None = None
    error: str | None = None
    data: dict[str, Value] = {}
    lines: tuple[str, ...] = ()


def request_folder_name(request: bytes) -> str:
    """The name of the helper's private folder for an encoded request.

    Short: NVIDIA's packages unpack 200 characters deep below it, and paths may have 260. Who finds another request of
    the same name gains nothing: the helper refuses a folder that exists.
    """
    return f"gpu-assistant-{hashlib.sha256(request).hexdigest()[:12]}"


def decode_request(encoded: bytes, sha256: str) -> HelperRequest:
    """Check size and hash, and decode; raises AppError("door-request", detail=…)."""
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
WSL_TIMEOUT_S = 3600.0
# Without it wsl.exe writes UTF-16 into pipes.
WSL_ENVIRONMENT = {"WSL_UTF8": "1"}


def wsl_route(catalog: Catalog) -> TensorFlowRoute | None:
    """The catalog's route to TensorFlow through WSL2, if it has the commands for the system and for the user."""
    route = catalog.tensorflow.find_route("windows", "wsl2")
    return route if route is not None and route.system_words and route.user_words else None


def find_wsl(folder: Path | None) -> Path:
    """wsl.exe in the system folder, where only administrators write; raises AppError("wsl-missing")."""
    path = folder / WSL_PROGRAM if folder is not None else None
    if path is None or not path.is_file():
        raise AppError("wsl-missing")
    return path
