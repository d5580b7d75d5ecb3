"""What every service needs: the data folder, the settings, this system, the catalog, the program's own updates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import json, paths, settings
from ..core.errors import CallError
from ..core.machine import Machine

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..fetch.pace import Pace
    from ..refresh.job import RefreshJob
    from ..system.base import System
    from ..texts.terminal import Terminal
    from ..update.service import UpdateService


class Base:
    """The product's services for one data folder and, if given, one simulated machine."""

    def __init__(
        self,
        *,
        data_dir: str | None = None,
        wheelhouse: str | None = None,
        machine_file: str | None = None,
        mirrors: settings.MirrorUse | None = None,
        speed_limit: int | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._environ = environ
        self.data = paths.data_dir(data_dir, environ)
        _refuse_file(self.data.root)
        self.wheelhouse = paths.wheelhouse(wheelhouse, environ)
        if self.wheelhouse is not None and (self.wheelhouse / "bundle.json").is_file():
            self.wheelhouse /= "wheels"  # a bundle's wheels are as good as any folder of them
        if self.wheelhouse is not None and not self.wheelhouse.is_dir():
            raise CallError("wheelhouse-missing", path=str(self.wheelhouse))
        # Where the simulated machine was read from, as it is typed again.
        self.machine_file = str(Path(machine_file).absolute()) if machine_file else None
        self.simulated_machine = (
            json.read_file(Path(machine_file), Machine, code="machine-file") if machine_file else None
        )
        self.settings = settings.load(self.data.settings)
        self._mirrors = mirrors
        self._speed_limit = speed_limit
        # The window was started to go on by itself with the install that a restart interrupted.
        self.resuming = False

    @property
    def simulated(self) -> bool:
        """Whether we reason about a machine from a file: nothing is executed then."""
        return self.simulated_machine is not None

    def terminal(self) -> Terminal | None:
        """How our commands are typed here; None about a simulated machine, which has its own."""
        from ..texts.terminal import OURS, Terminal

        if self.simulated:
            return None
        home, program = paths.installed_home(), OURS
        if home is not None:
            own, found = home / self.system.executable(OURS), self.system.program(OURS)
            program = OURS if found is not None and found.resolve() == own.resolve() else str(own)
        usual = self.data.root == paths.data_dir(None, self._environ).root
        return Terminal(system=self.system.name, program=program, data=None if usual else str(self.data.root))

    def save_settings(self, new: settings.Settings) -> None:
        """Keep the settings; raises AppError when the data folder cannot be written."""
        self.settings = new
        settings.save(self.data.settings, new)

    @property
    def mirrors(self) -> settings.MirrorUse:
        """When mirrors give files: as this call says, else as the settings do."""
        return self._mirrors or self.settings.mirrors

    def download_pace(self) -> Pace:
        """How downloads go: as fast as this call, else the settings, allow; the holder may hold them or change the
        speed.
        """
        from ..fetch.pace import Pace

        return Pace(self._speed_limit or self.settings.speed_limit)

    @cached_property
    def system(self) -> System:
        """This operating system."""
        from ..system import current

        return current()

    @cached_property
    def catalog(self) -> Catalog:
        """The compatibility data in use."""
        from ..catalog.load import load

        return load(paths.resources() / "catalog", self.data.catalog / "current")

    def reloaded_catalog(self) -> Catalog:
        """The compatibility data as it stands on the disk now, after a refresh."""
        vars(self).pop("catalog", None)
        return self.catalog

    def refresh_catalog(self) -> RefreshJob:
        """Ask the publishers' pages for newer facts; `reloaded_catalog` and the next App use what came."""
        from datetime import UTC, datetime

        from ..refresh.job import RefreshJob

        folder = self.data.catalog / "current"
        return RefreshJob(self.catalog, self.catalog.refreshing, folder, today=datetime.now(UTC).date())

    @cached_property
    def updates(self) -> UpdateService:
        """Whether there is a newer version of this program, and how it gets here."""
        from ..update.service import UpdateService

        return UpdateService(
            self.catalog.updates, self.data, self.system, simulated=self.simulated, pace=self.download_pace
        )

    def language(self) -> settings.Language:
        """The language to speak: the user's choice, else the system's."""
        return self.settings.language or self.system.language()


def _refuse_file(root: Path) -> None:
    """Raise CallError("data-dir-file") where a file stands in the data folder's place, or above it."""
    there = next((place for place in (root, *root.parents) if os.path.lexists(place)), None)
    if there is not None and not there.is_dir():
        raise CallError("data-dir-file", path=str(root), file=str(there))
