"""Installers that their publisher signed: brought where nobody else can write, checked there, run from there."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core.errors import AppError
from .requests import Answer, VcRedist, WindowsDriver

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import Rights

CHUNK = 1 << 20
LARGEST = 4 << 30  # bytes of an installer; NVIDIA's are below 1.5 GB
LONGEST_S = 3600.0
LAST_LINES = 40


class Call(Struct, frozen=True):
    """How an installer is called, and who must have signed it."""

    name: str
    arguments: tuple[str, ...]
    signer: str


def call_of(request: WindowsDriver | VcRedist, catalog: Catalog) -> Call:
    """The fixed words from the catalog; raises AppError("door-request") where it knows none."""
    if isinstance(request, VcRedist):
        package = catalog.vc_redist.package
        return Call("vc_redist.exe", package.arguments, package.signer)
    facts = catalog.drivers.windows_install
    if facts is None:
        raise AppError("door-request", detail="windows_install")
    return Call("driver.exe", (*facts.arguments, *facts.components), facts.signer)


def run(
    call: Call,
    request: WindowsDriver | VcRedist,
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
        if _copied(Path(request.file), copy, rights) != request.sha256:
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


def _copied(source: Path, target: Path, rights: Rights) -> str:
    """Copy while hashing; gives the sha256 of what was written."""
    sha256, size = hashlib.sha256(), 0
    with rights.open_given(source) as given, target.open("xb") as file:
        while chunk := given.read(CHUNK):
            size += len(chunk)
            if size > LARGEST:
                raise AppError("door-changed", path=str(source))
            sha256.update(chunk)
            file.write(chunk)
    return sha256.hexdigest()
