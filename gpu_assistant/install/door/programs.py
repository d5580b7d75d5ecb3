"""Installers that their publisher signed: brought where nobody else can write, checked there, run from there."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core.errors import AppError
from ...fetch.wanted import Digest
from ..toolkit_installer import installer_digest, find_installer
from .requests import HelperAnswer, CudaToolkitRequest, InstallerRequest, VcRedistRequest

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import ElevatedSystem

COPY_CHUNK_BYTES = 1 << 20
MAX_INSTALLER_BYTES = 8 << 30  # bytes of an installer; NVIDIA's of a whole toolkit are below 4 GB
INSTALLER_TIMEOUT_S = 3600.0
INSTALLER_LOG_LINES = 40


class InstallerCall(Struct, frozen=True):
    """How an installer is called, who must have signed it, and its checksum where our own catalog knows one."""

    name: str
    arguments: tuple[str, ...]
    signer: str
    digest: Digest | None = None


def installer_call(request: InstallerRequest, catalog: Catalog) -> InstallerCall:
    """The fixed words from the catalog; raises AppError("door-request") where it knows none."""
    if isinstance(request, VcRedistRequest):
        package = catalog.vc_redist.package
        return InstallerCall("vc_redist.exe", package.arguments, package.signer)
    if isinstance(request, CudaToolkitRequest):
        return _toolkit_call(request.version, catalog)
    facts = catalog.drivers.windows_install
    if facts is None:
        raise AppError("door-request", detail="windows_install")
    return InstallerCall("driver.exe", (*facts.arguments, *facts.components), facts.signer)


def _toolkit_call(version: str, catalog: Catalog) -> InstallerCall:
    installer, install_options = find_installer(catalog, version, "windows"), catalog.cuda.installer_settings("windows")
    if installer is None or install_options is None or install_options.signer is None:
        raise AppError("door-request", detail=f"cuda-toolkit: {version}")
    return InstallerCall("cuda.exe", install_options.installer_arguments(version), install_options.signer, installer_digest(installer))


def run_installer(
    call: InstallerCall,
    request: InstallerRequest,
    folder: Path,
    system: System,
    rights: ElevatedSystem,
    *,
    before_run: Callable[[], bool | None],
) -> HelperAnswer:
    """Copy, check the copy, run the copy; raises AppError where it is not what it has to be.

    `folder` is a private one: nobody else writes there between the check and the run. `before` is done in between, and
    its result is the answer's `restore_point`.
    """
    work_folder = folder / "work"
    work_folder.mkdir()
    try:
        rights.check_private_folder(work_folder)
        copy = work_folder / call.name
        if not _copy_verified(Path(request.file), copy, rights, call.digest, request.sha256):
            raise AppError("door-changed", path=request.file)
        publisher = rights.publisher(copy)
        if publisher != call.signer:
            raise AppError("signature-other", path=request.file, publisher=publisher, wanted=call.signer)
        restore_point = before_run()
        # What it unpacks goes where nobody can swap it either.
        temp_variables = {"TEMP": str(work_folder), "TMP": str(work_folder)}
        finished = system.run([copy, *call.arguments], timeout=INSTALLER_TIMEOUT_S, environ=temp_variables, cwd=work_folder)
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)
    lines = (finished.stdout + finished.stderr).splitlines()
    return HelperAnswer(exit_code=signed_exit_code(finished.returncode), restore_point=restore_point, lines=tuple(lines[-INSTALLER_LOG_LINES:]))


def signed_exit_code(code: int) -> int:
    """Windows' exit codes have 32 bits; publishers write the upper half as negative numbers."""
    code &= 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def _copy_verified(source: Path, target: Path, rights: ElevatedSystem, digest: Digest | None, requested_sha256: str) -> bool:
    """Copy while hashing; whether what was written is what was asked for, and what its publisher published."""
    hasher, size = hashlib.sha256(), 0
    published_hasher = digest.new() if digest is not None else hasher
    with rights.open_user_file(source) as stream, target.open("xb") as file:
        while chunk := stream.read(COPY_CHUNK_BYTES):
            size += len(chunk)
            if size > MAX_INSTALLER_BYTES:
                raise AppError("door-changed", path=str(source))
            hasher.update(chunk)
            if published_hasher is not hasher:
                published_hasher.update(chunk)
            file.write(chunk)
    return hasher.hexdigest() == requested_sha256 and published_hasher.hexdigest() == (digest.hex if digest is not None else requested_sha256)
