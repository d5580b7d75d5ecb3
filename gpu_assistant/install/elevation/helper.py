"""The elevated helper: checks one request, carries it out, writes its answer, and ends.

    main ─► ElevationHelper.handle_request
              1. opens the request file without following links, compares its SHA-256 with the command line's
              2. creates the private folder of this request; that fails if the request was answered before
              3. install_packages    names that the catalog allows, by apt-get, nothing unrelated removed
                 remove_packages     those again, and what came with them and nothing else needs
                 run_installer       copied into the private folder; hash and signer of the copy checked; run there
                 enable_wsl          wsl.exe of the system folder, with the catalog's arguments
                 create_restore_point
              4. writes answer.json into the private folder, and removes the folder when the client, which deletes its
                 request, has read it

This file runs as administrator or root. It trusts the program's own files, the built-in catalog and the system, but
nothing that a program of the user can write: not the request, not refreshed catalog files, not the environment.
`client.py` is the other side, `protocol.py` the language between them.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core import filesystem
from ...core.errors import AppError, storage_errors
from ...core.versions import Version
from ...fetch.request import Digest
from .packages import PackagePrograms, RootAptGet, install_packages, remove_packages
from .protocol import (
    ANSWER_FILE,
    MAX_REQUEST_BYTES,
    REQUEST_REFUSED,
    WSL_ENVIRONMENT,
    CudaToolkitRequest,
    HelperAnswer,
    HelperRequest,
    InstallerRequest,
    LinuxPackagesRemoval,
    LinuxPackagesRequest,
    RestorePointRequest,
    VcRedistRequest,
    WindowsDriverRequest,
    WslPlatformRequest,
    decode_request,
    find_wsl,
    request_folder_name,
    wsl_route,
)

if TYPE_CHECKING:
    from ...catalog.store import Catalog
    from ...system.base import Processes, System
    from ...system.elevation import ElevatedSystem, WindowsAdministration


COPY_CHUNK_BYTES = 1 << 20
MAX_INSTALLER_BYTES = 8 << 30  # NVIDIA's largest, of a whole toolkit, are below 4 GB
INSTALLER_LOG_LINES = 40
ANSWER_TIMEOUT_S, ANSWER_POLL_S = 10.0, 0.05
WSL_LOG_LINES = 200  # with an old wsl.exe its whole help
RESTORE_POINT_LABEL = "GPU Assistant: before a new graphics driver"


def main(arguments: Sequence[str]) -> int:
    """Handle the request file and sha256 in `arguments`. Exit code 0: an answer was written, whatever it says;
    REQUEST_REFUSED: none.
    """
    from ...catalog.store import load_catalog
    from ...core.paths import resources_dir
    from ...system import current_system
    from ...system.elevation import current_elevation as current_rights

    # Only the built-in catalog: refreshed files are in the user's data folder, which the user's programs can write to.
    return ElevationHelper(
        current_system(), current_rights(), load_catalog(resources_dir() / "catalog")
    ).handle_request(arguments)


class ElevationHelper:
    """Handles one request. `programs` install packages."""

    def __init__(
        self, system: System, rights: ElevatedSystem, catalog: Catalog, programs: PackagePrograms | None = None
    ) -> None:
        self._system, self._rights, self._catalog = system, rights, catalog
        self._programs = programs or PackagePrograms()

    def handle_request(self, arguments: Sequence[str]) -> int:
        """See `main`."""
        try:
            if len(arguments) != 2:
                raise AppError("door-request", detail=f"{len(arguments)} arguments")
            if not self._system.is_admin():
                raise AppError("door-no-rights")
            with self._rights.open_user_file(Path(arguments[0])) as file:
                encoded = file.read(MAX_REQUEST_BYTES + 1)
            request = decode_request(encoded, arguments[1])
            folder = self._rights.create_private_folder(request_folder_name(encoded))
        except AppError as error:
            # Without a valid request there is no private folder to answer in.
            print(error.code, error.data, file=sys.stderr)  # noqa: T201 - this process has no other output
            return REQUEST_REFUSED
        try:
            # A client that was cancelled before this folder was there has deleted its request: nobody waits.
            if not Path(arguments[0]).exists():
                return REQUEST_REFUSED
            self._write_answer(folder, self._execute_safely(request, folder))
            _wait_until_read(Path(arguments[0]))
        finally:
            filesystem.rmtree(folder, ignore_errors=True)
        return 0

    def _execute_safely(self, request: HelperRequest, folder: Path) -> HelperAnswer:
        try:
            return self._execute(request, folder)
        except AppError as error:
            return HelperAnswer(error=error.code, data=error.data)
        except Exception as error:  # noqa: BLE001 - reported to the client instead of lost
            return HelperAnswer(error="internal", data={"detail": f"{type(error).__name__}: {error}"})

    def _execute(self, request: HelperRequest, folder: Path) -> HelperAnswer:
        is_windows = self._system.name == "windows"
        if isinstance(request, LinuxPackagesRequest | LinuxPackagesRemoval) == is_windows:
            raise AppError("door-request", detail=self._system.name)
        if isinstance(request, RestorePointRequest):
            _create_restore_point(self._rights)
            return HelperAnswer()
        if isinstance(request, LinuxPackagesRequest):
            apt = RootAptGet(self._system, self._programs)
            return install_packages(request, self._system.operating_system(), self._catalog, apt)
        if isinstance(request, LinuxPackagesRemoval):
            apt = RootAptGet(self._system, self._programs)
            return remove_packages(request, self._system.operating_system(), self._catalog, apt)
        if isinstance(request, WslPlatformRequest):
            return enable_wsl(self._system, self._rights, self._catalog)
        prepared_call = installer_call(request, self._catalog)
        return run_installer(
            prepared_call, request, folder, self._system, self._rights, before_run=self._restore_point_maker(request)
        )

    def _restore_point_maker(self, request: HelperRequest) -> Callable[[], bool | None]:
        """Makes one before a driver if Windows allows it, under the same prompt; returns whether it was created."""

        def create_restore_point() -> bool | None:
            if not isinstance(request, WindowsDriverRequest):
                return None
            try:
                _create_restore_point(self._rights)
            except AppError:
                return False
            return True

        return create_restore_point

    def _write_answer(self, folder: Path, answer: HelperAnswer) -> None:
        from ...core import json

        json.write_file(folder / ANSWER_FILE, json.encode(answer))


def _wait_until_read(request_file: Path) -> None:
    """The client deletes its request when it has the answer; one that is gone has left it."""
    deadline = time.monotonic() + ANSWER_TIMEOUT_S
    while request_file.exists() and time.monotonic() < deadline:
        time.sleep(ANSWER_POLL_S)


def _create_restore_point(rights: ElevatedSystem) -> None:
    """Raises AppError("restore-point"), on Linux always."""
    if rights.windows is None:
        raise AppError("restore-point", detail="Linux")
    rights.windows.create_restore_point(RESTORE_POINT_LABEL)


class InstallerCall(Struct, frozen=True):
    """How an installer is run, who must have signed it, its checksum if the catalog has one, and the folder of the
    system's drive to which it unpacks itself (None: below TEMP).

    What the publisher signed long ago is good for ever, and so are its holes: `lowest` is a version that the file must
    have at least, `signed_since` a time since which it must be signed, unless its SHA-256 is one of `known`.
    """

    name: str
    arguments: tuple[str, ...]
    signer: str
    digest: Digest | None = None
    unpack_folder: str | None = None
    lowest: Version | None = None
    signed_since: datetime | None = None
    known: frozenset[str] = frozenset()


def installer_call(request: InstallerRequest, catalog: Catalog) -> InstallerCall:
    """The call for a request, from the catalog; raises AppError("door-request") if it has none."""
    if isinstance(request, VcRedistRequest):
        package = catalog.vc_redist.package
        return InstallerCall("vc_redist.exe", package.arguments, package.signer, lowest=package.lowest)
    if isinstance(request, CudaToolkitRequest):
        return _toolkit_call(request.version, catalog)
    facts = catalog.drivers.windows_install
    if facts is None:
        raise AppError("door-request", detail="windows_install")
    return InstallerCall(
        "driver.exe",
        (*facts.arguments, *facts.components),
        facts.signer,
        unpack_folder=facts.unpack_folder,
        signed_since=datetime.fromisoformat(facts.signed_since).replace(tzinfo=UTC),
        known=frozenset(package.sha256 for package in catalog.drivers.packages if package.sha256 is not None),
    )


def _toolkit_call(version: str, catalog: Catalog) -> InstallerCall:
    installer, install_options = catalog.cuda.installer(version, "windows"), catalog.cuda.installer_settings("windows")
    if installer is None or install_options is None or install_options.signer is None:
        raise AppError("door-request", detail=f"cuda-toolkit: {version}")
    checksum = installer.checksum
    digest = Digest(kind=checksum.kind, hex=checksum.hex) if checksum is not None else None
    return InstallerCall("cuda.exe", install_options.installer_arguments(version), install_options.signer, digest)


def run_installer(
    call: InstallerCall,
    request: InstallerRequest,
    folder: Path,
    system: Processes,
    rights: ElevatedSystem,
    *,
    before_run: Callable[[], bool | None],
) -> HelperAnswer:
    """Copy the installer into the private `folder`, check hash and signer of the copy, and run it; raises AppError.

    Nobody else can write there between the check and the run. `before_run` is called in between; its result is the
    answer's `restore_point`.
    """
    work_folder = folder / "work"
    work_folder.mkdir()
    try:
        rights.check_private_folder(work_folder)
        copy = work_folder / call.name
        if not _copy_verified(Path(request.file), copy, rights, call.digest, request.sha256):
            raise AppError("door-changed", path=request.file)
        if rights.windows is None:
            raise AppError("signature-unknowable", path=str(copy))
        _check_origin(call, request, copy, rights.windows)
        restore_point = before_run()
        # What it unpacks is protected in the same way: below TEMP, or in a folder of its own.
        temp_variables = {"TEMP": str(work_folder), "TMP": str(work_folder)}
        with rights.windows.private_unpack_folder(call.unpack_folder):
            finished = system.run_to_end([copy, *call.arguments], environ=temp_variables, cwd=work_folder)
    finally:
        filesystem.rmtree(work_folder, ignore_errors=True)
    lines = (finished.stdout + finished.stderr).splitlines()
    return HelperAnswer(
        exit_code=signed_exit_code(finished.returncode),
        restore_point=restore_point,
        lines=tuple(lines[-INSTALLER_LOG_LINES:]),
    )


def _check_origin(call: InstallerCall, request: InstallerRequest, copy: Path, windows: WindowsAdministration) -> None:
    signed_since = None if request.sha256 in call.known else call.signed_since
    publisher = windows.publisher(copy, signed_since)
    if publisher != call.signer:
        raise AppError("signature-other", path=request.file, publisher=publisher, wanted=call.signer)
    if call.lowest is not None:
        text = windows.file_version(copy)
        version = Version.parse(text)
        if version is None or version < call.lowest:
            raise AppError("door-older", path=request.file, version=text or "0", lowest=call.lowest.text)


def signed_exit_code(code: int) -> int:
    """A Windows exit code as a signed 32-bit number, which is how publishers document it."""
    code &= 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def _copy_verified(
    source: Path, target: Path, rights: ElevatedSystem, digest: Digest | None, requested_sha256: str
) -> bool:
    """Copy while hashing; returns whether the copy has the requested hash and, if any, the catalog's checksum. Raises
    AppError("disk-full") and its like for the system's disk.
    """
    hasher, size = hashlib.sha256(), 0
    published_hasher = digest.new() if digest is not None else hasher
    with storage_errors(target.parent), rights.open_user_file(source) as stream, target.open("xb") as file:
        while chunk := stream.read(COPY_CHUNK_BYTES):
            size += len(chunk)
            if size > MAX_INSTALLER_BYTES:
                raise AppError("door-changed", path=str(source))
            hasher.update(chunk)
            if published_hasher is not hasher:
                published_hasher.update(chunk)
            file.write(chunk)
    return hasher.hexdigest() == requested_sha256 and published_hasher.hexdigest() == (
        digest.hex if digest is not None else requested_sha256
    )


def enable_wsl(system: Processes, rights: ElevatedSystem, catalog: Catalog) -> HelperAnswer:
    """Enable WSL2's Windows features; raises AppError: door-request, wsl-missing."""
    route = wsl_route(catalog)
    if route is None:
        raise AppError("door-request", detail="wsl-platform")
    path = find_wsl(rights.windows.system_programs_folder() if rights.windows is not None else None)
    finished = system.run_to_end([path, *route.system_words], environ=WSL_ENVIRONMENT, cwd=path.parent)
    lines = tuple((finished.stdout + finished.stderr).replace("\0", "").splitlines())
    return HelperAnswer(exit_code=finished.returncode, lines=lines[-WSL_LOG_LINES:])
