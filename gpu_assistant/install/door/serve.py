"""The elevated side: reads one request, checks it, does it, leaves its answer where only we can write, ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import AppError
from . import packages, programs, wsl
from .requests import MAX_REQUEST_BYTES, HelperAnswer, LinuxPackagesRequest, HelperRequest, RestorePointRequest, WindowsDriverRequest, WslPlatformRequest, request_folder_name, decode_request

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import ElevatedSystem

ANSWER_FILE = "answer.json"
RESTORE_POINT_LABEL = "GPU Assistant: before a new graphics driver"


def main(arguments: Sequence[str]) -> int:
    """The helper's call: a request file and its sha256. Exit code 0: there is an answer, whatever it says."""
    from ...catalog.load import load_catalog
    from ...core.paths import resources_dir
    from ...system import current_system
    from ...system.rights import current_elevation as current_rights

    # Our own catalog alone: newer facts lie in the user's folder, where any program of the user's could write them.
    return ElevationHelper(current_system(), current_rights(), load_catalog(resources_dir() / "catalog")).handle_request(arguments)


class ElevationHelper:
    """Serves one request. `apt_get` is the program that installs packages."""

    def __init__(self, system: System, rights: ElevatedSystem, catalog: Catalog, apt_get: Path = packages.APT_GET) -> None:
        self._system, self._rights, self._catalog, self._apt_get = system, rights, catalog, apt_get

    def handle_request(self, arguments: Sequence[str]) -> int:
        """See `main`."""
        try:
            if len(arguments) != 2:
                raise AppError("door-request", detail=f"{len(arguments)} words")
            if not self._system.is_admin():
                raise AppError("door-no-rights")
            with self._rights.open_user_file(Path(arguments[0])) as file:
                encoded = file.read(MAX_REQUEST_BYTES + 1)
            request = decode_request(encoded, arguments[1])
            folder = self._rights.create_private_folder(request_folder_name(encoded))
        except AppError as error:
            # Nobody is answered who did not ask in due form.
            print(error.code, error.data, file=sys.stderr)  # noqa: T201 - the one place for it
            return 1
        self._write_answer(folder, self._execute_safely(request, folder))
        return 0

    def _execute_safely(self, request: HelperRequest, folder: Path) -> HelperAnswer:
        try:
            return self._execute(request, folder)
        except AppError as error:
            return HelperAnswer(error=error.code, data=error.data)
        except Exception as error:  # noqa: BLE001 - whatever nobody foresaw is said, not lost
            return HelperAnswer(error="internal", data={"detail": f"{type(error).__name__}: {error}"})

    def _execute(self, request: HelperRequest, folder: Path) -> HelperAnswer:
        is_windows = self._system.name == "windows"
        if isinstance(request, LinuxPackagesRequest) == is_windows:
            raise AppError("door-request", detail=self._system.name)
        if isinstance(request, RestorePointRequest):
            self._rights.create_restore_point(RESTORE_POINT_LABEL)
            return HelperAnswer()
        if isinstance(request, LinuxPackagesRequest):
            return packages.install_packages(request, self._system, self._catalog, self._apt_get)
        if isinstance(request, WslPlatformRequest):
            return wsl.enable_wsl(self._system, self._rights, self._catalog)
        prepared_call = programs.installer_call(request, self._catalog)
        return programs.run_installer(prepared_call, request, folder, self._system, self._rights, before_run=self._restore_point_maker(request))

    def _restore_point_maker(self, request: HelperRequest) -> Callable[[], bool | None]:
        """Before a driver, as far as Windows lets us: the same question for rights serves both."""

        def create_restore_point() -> bool | None:
            if not isinstance(request, WindowsDriverRequest):
                return None
            try:
                self._rights.create_restore_point(RESTORE_POINT_LABEL)
            except AppError:
                return False
            return True

        return create_restore_point

    def _write_answer(self, folder: Path, answer: HelperAnswer) -> None:
        from ...core import json

        json.write_file(folder / ANSWER_FILE, json.encode(answer))
