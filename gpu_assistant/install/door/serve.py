"""The elevated side: reads one request, checks it, does it, leaves its answer where only we can write, ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import AppError
from . import packages, programs, wsl
from .requests import LARGEST, Answer, LinuxPackages, Request, RestorePoint, WindowsDriver, WslPlatform, name_of, read

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import Rights

ANSWER = "answer.json"
RESTORE_WORDS = "GPU Assistant: before a new graphics driver"


def main(words: Sequence[str]) -> int:
    """The helper's call: a request file and its sha256. Exit code 0: there is an answer, whatever it says."""
    from ...catalog.load import load
    from ...core.paths import resources
    from ...system import current
    from ...system.rights import current as current_rights

    # Our own catalog alone: newer facts lie in the user's folder, where any program of the user's could write them.
    return Server(current(), current_rights(), load(resources() / "catalog")).serve(words)


class Server:
    """Serves one request. `apt_get` is the program that installs packages."""

    def __init__(self, system: System, rights: Rights, catalog: Catalog, apt_get: Path = packages.APT_GET) -> None:
        self._system, self._rights, self._catalog, self._apt_get = system, rights, catalog, apt_get

    def serve(self, words: Sequence[str]) -> int:
        """See `main`."""
        try:
            if len(words) != 2:
                raise AppError("door-request", detail=f"{len(words)} words")
            if not self._system.is_admin():
                raise AppError("door-no-rights")
            with self._rights.open_given(Path(words[0])) as file:
                raw = file.read(LARGEST + 1)
            request = read(raw, words[1])
            folder = self._rights.make_private(name_of(raw))
        except AppError as error:
            # Nobody is answered who did not ask in due form.
            print(error.code, error.data, file=sys.stderr)  # noqa: T201 - the one place for it
            return 1
        self._answer(folder, self._safely(request, folder))
        return 0

    def _safely(self, request: Request, folder: Path) -> Answer:
        try:
            return self._do(request, folder)
        except AppError as error:
            return Answer(error=error.code, data=error.data)
        except Exception as error:  # noqa: BLE001 - whatever nobody foresaw is said, not lost
            return Answer(error="internal", data={"detail": f"{type(error).__name__}: {error}"})

    def _do(self, request: Request, folder: Path) -> Answer:
        windows = self._system.name == "windows"
        if isinstance(request, LinuxPackages) == windows:
            raise AppError("door-request", detail=self._system.name)
        if isinstance(request, RestorePoint):
            self._rights.restore_point(RESTORE_WORDS)
            return Answer()
        if isinstance(request, LinuxPackages):
            return packages.install(request, self._system, self._catalog, self._apt_get)
        if isinstance(request, WslPlatform):
            return wsl.switch_on(self._system, self._rights, self._catalog)
        call = programs.call_of(request, self._catalog)
        return programs.run(call, request, folder, self._system, self._rights, before=self._restore_point(request))

    def _restore_point(self, request: Request) -> Callable[[], bool | None]:
        """Before a driver, as far as Windows lets us: the same question for rights serves both."""

        def make() -> bool | None:
            if not isinstance(request, WindowsDriver):
                return None
            try:
                self._rights.restore_point(RESTORE_WORDS)
            except AppError:
                return False
            return True

        return make

    def _answer(self, folder: Path, answer: Answer) -> None:
        from ...core import json

        json.write_file(folder / ANSWER, json.encode(answer))
