"""Who gets what: the only place that builds the rooms' parts and wires them together.

The command line and the window both hold one `App`; whatever they do goes through it, so both give the
same answer. Rooms are imported on first use, so that `--help` loads nothing.
"""

from __future__ import annotations

from .bundles import BundleService
from .integrations import IntegrationService
from .monitoring import MonitoringService


class App(BundleService, IntegrationService, MonitoringService):
    """All services."""
