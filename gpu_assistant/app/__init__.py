"""The only place that builds the rooms' objects and connects them.

The command line and the window both hold one `App` and do everything through its services, so both give the same
answer:

    cli, gui -> App (context.py: data folder, settings, system, catalog)
                 |- setup          detect -> recommend -> plan -> install -> verify, uninstall, purge
                 |- bundles        the files of a plan in a folder, for a computer without internet
                 |- integrations   example programs, menu entry, editor, Jupyter kernel, lock file of an environment
                 `- monitoring     samples, history, health, benchmarks

Rooms are imported inside the methods, on first use, so that `--help` loads none of them.
"""

from __future__ import annotations

from functools import cached_property

from .bundles import BundleService
from .context import AppContext
from .integrations import IntegrationService
from .monitoring import MonitoringService
from .setup import SetupService


class App(AppContext):
    """What all services share, and the services, each made on first use."""

    @cached_property
    def setup(self) -> SetupService:
        """From the detected machine to a verified environment, and back."""
        return SetupService(self)

    @cached_property
    def bundles(self) -> BundleService:
        """Bundles for computers without internet."""
        return BundleService(self, self.setup)

    @cached_property
    def integrations(self) -> IntegrationService:
        """How an installed environment is used."""
        return IntegrationService(self)

    @cached_property
    def monitoring(self) -> MonitoringService:
        """Samples, history, health and benchmarks of this computer."""
        return MonitoringService(self)
