"""What all services share: data folder, settings, operating system, catalog, the program's own updates."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import paths
from ..core.downloads_folder import place_downloads
from ..core.errors import UsageError
from ..core.settings import Settings, load_settings, save_settings
from ..fetch.proxy import ProxyChoice, use_proxy

if TYPE_CHECKING:
    import threading

    from ..catalog.store import Catalog
    from ..core.machine import Machine
    from ..core.types import Language, MirrorUse
    from ..fetch.connection_check import ConnectionCheckJob
    from ..fetch.rate import RateLimiter
    from ..install.packages.package_index import PackageIndex
    from ..refresh.index_check import IndexCheckJob
    from ..refresh.job import RefreshJob
    from ..system.base import System
    from ..texts.terminal import Terminal
    from ..update.service import UpdateService


class AppContext:
    """One data folder and, if given, one simulated machine; the rest is made on first use."""

    def __init__(
        self,
        *,
        data_dir: str | None = None,
        wheelhouse: str | None = None,
        machine_file: str | None = None,
        mirrors: MirrorUse | None = None,
        speed_limit: int | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._environ = environ
        self.data = paths.data_dir(data_dir, environ)
        _check_data_dir(self.data.root)
        # The folder of the downloads while its disk is missing; they go to the cache meanwhile.
        self.missing_downloads = place_downloads(self.data)
        self.wheelhouse = paths.wheelhouse_dir(wheelhouse, environ)
        if self.wheelhouse is not None and (self.wheelhouse / "bundle.json").is_file():
            self.wheelhouse /= "wheels"  # the wheels of a bundle serve as a wheelhouse
        if self.wheelhouse is not None and not self.wheelhouse.is_dir():
            raise UsageError("wheelhouse-missing", path=str(self.wheelhouse))
        # Absolute, so that a printed command works from any folder.
        self.machine_file = str(Path(machine_file).absolute()) if machine_file else None
        self.simulated_machine = _read_machine(Path(machine_file)) if machine_file else None
        self.proxy_credentials: tuple[str, str] = ("", "")  # until the program ends
        self.settings = load_settings(self.data.settings)
        self._mirrors = mirrors
        self._speed_limit = speed_limit
        # True if the window was started after a restart of the computer to continue the interrupted install.
        self.resuming = False
        # True if the window was started with the computer: it waits in the task bar.
        self.starts_minimized = False

    @property
    def settings(self) -> Settings:
        """The settings in use; a changed proxy applies to the next connection."""
        return self._settings

    @settings.setter
    def settings(self, changed: Settings) -> None:
        self._settings = changed
        self.apply_proxy()

    def apply_proxy(self) -> None:
        """Use the proxy of the settings with the credentials that were entered, for all connections of the process."""
        user, password = self.proxy_credentials
        use_proxy(
            ProxyChoice(use=self._settings.proxy, address=self._settings.proxy_address, user=user, password=password)
        )

    @property
    def simulated(self) -> bool:
        """Whether the machine comes from a file: nothing is executed then."""
        return self.simulated_machine is not None

    def terminal(self) -> Terminal | None:
        """How the program's commands are typed on this computer; None for a simulated machine."""
        from ..texts.terminal import PROGRAM_NAME, Terminal

        if self.simulated:
            return None
        home, program = paths.install_dir(), PROGRAM_NAME
        if home is not None:
            managed_program, program_on_path = (
                home / self.system.executable(PROGRAM_NAME),
                self.system.find_program(PROGRAM_NAME),
            )
            program = (
                PROGRAM_NAME
                if program_on_path is not None and program_on_path.resolve() == managed_program.resolve()
                else str(managed_program)
            )
        is_default_folder = self.data.root == paths.data_dir(None, self._environ).root
        return Terminal(
            system=self.system.name, program=program, data_dir=None if is_default_folder else str(self.data.root)
        )

    def save_settings(self, new_settings: Settings) -> None:
        """Store the settings; raises AppError if the data folder cannot be written."""
        self.settings = new_settings
        self.data.claim(self.data.root)
        save_settings(self.data.settings, new_settings)

    @property
    def may_ask_sources(self) -> bool:
        """Whether sources may be asked what they have; uv's own variable for working offline forbids it."""
        return self._environ.get("UV_OFFLINE", "").strip().lower() not in ("1", "true", "yes", "on")

    @property
    def mirrors(self) -> MirrorUse:
        """When mirrors are used: as given to this instance, else by the settings."""
        return self._mirrors or self.settings.mirrors

    def rate_limiter(self) -> RateLimiter:
        """A new limiter with the speed limit given to this instance, else the settings'; its owner can pause it or
        change the limit.
        """
        from ..fetch.rate import RateLimiter

        return RateLimiter(self._speed_limit or self.settings.speed_limit)

    @cached_property
    def system(self) -> System:
        """This operating system."""
        from ..system import current_system

        return current_system()

    @cached_property
    def catalog(self) -> Catalog:
        """The compatibility data in use."""
        from ..catalog.store import load_catalog

        return load_catalog(paths.resources_dir() / "catalog", self.data.catalog / "current")

    def reload_catalog(self) -> Catalog:
        """Read the compatibility data again, after a refresh."""
        vars(self).pop("catalog", None)
        return self.catalog

    def refresh_catalog(self) -> RefreshJob:
        """Fetch newer facts from the publishers' pages and the package index; `reload_catalog` and the next start use
        them.
        """
        from datetime import UTC, datetime

        from ..refresh.job import RefreshJob

        return RefreshJob(
            self.catalog,
            self.catalog.refresh_settings,
            self.data.catalog / "current",
            today=datetime.now(UTC).date(),
            indexes=self._package_indexes,
        )

    def check_catalog_against_index(self, catalog: Catalog) -> IndexCheckJob:
        """Compare a catalog with the general package index."""
        from ..refresh.index_check import IndexCheckJob

        return IndexCheckJob(catalog, self.catalog.refresh_settings.newest, self._package_indexes)

    def _package_indexes(self, cancel: threading.Event) -> Iterator[PackageIndex]:
        """The general package index, then its mirrors where they may be used; an index of the user's stands alone."""
        from ..fetch.credentials import user_index_url
        from ..install.packages.package_index import PackageIndex
        from ..install.packages.uv import Uv

        if not self.may_ask_sources:
            return
        self.data.claim(self.data.size_cache)
        uv = Uv(self.system, self.data, cancel=cancel, retries=0)
        seconds = self.catalog.refresh_settings.answer_seconds
        yield PackageIndex(uv, self.data.size_cache, seconds=seconds)
        if self.mirrors == "never" or user_index_url(self._environ) is not None:
            return
        for mirror in self.catalog.mirrors_of("package-index"):
            if mirror.kind == "pep503" and mirror.hashes is not False:
                yield PackageIndex(uv, self.data.size_cache, seconds=seconds, url=mirror.url)

    @cached_property
    def updates(self) -> UpdateService:
        """Checks for newer versions of this program and downloads them."""
        from ..update.service import UpdateService

        return UpdateService(
            self.catalog.updates, self.data, self.system, simulated=self.simulated, rate_limiter=self.rate_limiter
        )

    def check_connection(self) -> ConnectionCheckJob:
        """Ask whether PyTorch's index answers by the present proxy settings."""
        from ..fetch.connection_check import ConnectionCheckJob

        variants = (variant for release in self.catalog.releases for variant in release.variants)
        return ConnectionCheckJob(next(each.index_url for each in variants if each.index_url is not None))

    def language(self) -> Language:
        """The language of all texts: the user's choice, else the system's."""
        return self.settings.language or self.system.language()


def _read_machine(path: Path) -> Machine:
    """The computer that a machine file describes; raises what `json.read_file` raises."""
    from ..core import json
    from ..core.machine import Machine

    return json.read_file(path, Machine, code="machine-file")


def _check_data_dir(root: Path) -> None:
    """Raise UsageError("data-dir-file") if the data folder or one of its parents is a file."""
    existing = next((candidate for candidate in (root, *root.parents) if os.path.lexists(candidate)), None)
    if existing is not None and not existing.is_dir():
        raise UsageError("data-dir-file", path=str(root), file=str(existing))
