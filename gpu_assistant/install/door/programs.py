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
from ..toolkit_installer import digest_of, installer_of
from .requests import Answer, CudaToolkit, Installers, VcRedist

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import Rights

CHUNK = 1 << 20
LARGEST = 8 << 30  # bytes of an installer; NVIDIA's of a whole toolkit are below 4 GB
LONGEST_S = 3600.0
LAST_LINES = 40


class Call(Struct, frozen=True):
    """How an installer is called, who must have signed it, and its checksum where our own catalog knows one."""

    name: str
    arguments: tuple[str, ...]
    signer: str
    digest: Digest | None = None


def call_of(request: Installers, catalog: Catalog) -> Call:
    """The fixed words from the catalog; raises AppError("door-request") where it knows none."""
    if isinstance(request, VcRedist):
        package = catalog.vc_redist.package
        return Call("vc_redist.exe", package.arguments, package.signer)
    if isinstance(request, CudaToolkit):
        return _toolkit(request.version, catalog)
    facts = catalog.drivers.windows_install
    if facts is None:
        raise AppError("door-request", detail="windows_install")
    return Call("driver.exe", (*facts.arguments, *facts.components), facts.signer)


def _toolkit(version: str, catalog: Catalog) -> Call:
    installer, how = installer_of(catalog, version, "windows"), catalog.cuda.how("windows")
    if installer is None or how is None or how.signer is None:
        raise AppError("door-request", detail=f"cuda-toolkit: {version}")
    return Call("cuda.exe", how.words(version), how.signer, digest_of(installer))


def run(
    call: Call,
    request: Installers,
    folder: Path,
    system: System,
    rights: Rights,
    *,
    before: Callable[[], bool | None],
) -> Answer:
    """Copy, check the copy, run the copy; raises AppError where it is not what it has to be.

    `folder` is a private one: nobody else writes there between the check and the run. `before` is done in between, and
    its result is the answer's `restore_point`.
    """
    work = folder / "work"
    work.mkdir()
    try:
        rights.refuse_open(work)
        copy = work / call.name
        if not _copied(Path(request.file), copy, rights, call.digest, request.sha256):
            raise AppError("door-changed", path=request.file)
        publisher = rights.publisher(copy)
        if publisher != call.signer:
            raise AppError("signature-other", path=request.file, publisher=publisher, wanted=call.signer)
        restore_point = before()
        # What it unpacks goes where nobody can swap it either.
        scratch = {"TEMP": str(work), "TMP": str(work)}
        done = system.run([copy, *call.arguments], timeout=LONGEST_S, environ=scratch, cwd=work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    lines = (done.out + done.err).splitlines()
    return Answer(exit_code=signed(done.code), restore_point=restore_point, lines=tuple(lines[-LAST_LINES:]))


def signed(code: int) -> int:
    """Windows' exit codes have 32 bits; publishers write the upper half as negative numbers."""
    code &= 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def _copied(source: Path, target: Path, rights: Rights, digest: Digest | None, asked: str) -> bool:
    """Copy while hashing; whether what was written is what was asked for, and what its publisher published."""
    sha256, size = hashlib.sha256(), 0
    published = digest.new() if digest is not None else sha256
    with rights.open_given(source) as given, target.open("xb") as file:
        while chunk := given.read(CHUNK):
            size += len(chunk)
            if size > LARGEST:
                raise AppError("door-changed", path=str(source))
            sha256.update(chunk)
            if published is not sha256:
                published.update(chunk)
            file.write(chunk)
    return sha256.hexdigest() == asked and published.hexdigest() == (digest.hex if digest is not None else asked)
