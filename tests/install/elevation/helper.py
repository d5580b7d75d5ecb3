"""The helper as a program of its own, in a tried place: `python helper.py BASE APT_GET REQUEST SHA256`.

BASE stands for /run on Linux; on Windows it is not used. It is told that it has the rights, whoever runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.helper import ElevationHelper
from gpu_assistant.install.elevation.packages import PackagePrograms
from gpu_assistant.system.base import System
from gpu_assistant.system.elevation import ElevatedSystem

if sys.platform == "win32":
    from gpu_assistant.system.windows.system import WindowsSystem as ThisSystem
else:
    from gpu_assistant.system.linux.system import LinuxSystem as ThisSystem


class Elevated(ThisSystem):
    def is_admin(self) -> bool:
        return True

    def operating_system(self) -> OperatingSystem:
        return OperatingSystem(system=self.name, distro="ubuntu", distro_version="24.04")


def tried_rights(base: Path) -> ElevatedSystem:
    """The system's own, in a place of the test's."""
    if sys.platform == "win32":
        from gpu_assistant.system.windows.elevation import (
            ADMINISTRATOR_SIDS,
            WindowsElevatedSystem,
            read_owner_and_aces,
        )

        # Wine keeps no list of permissions, only the owner, which is always us, and what Unix allows others.
        root = Path(__file__).with_name("signed") / "known.cer"
        return WindowsElevatedSystem(ADMINISTRATOR_SIDS | {read_owner_and_aces(base)[0]}, root.read_bytes())
    from gpu_assistant.system.linux.elevation import LinuxElevatedSystem

    return LinuxElevatedSystem(base)


def programs(apt_get: Path) -> PackagePrograms:
    """With a dpkg, and what it left, beside apt-get."""
    return PackagePrograms(apt_get=apt_get, dpkg=apt_get.with_name("dpkg"), updates=apt_get.with_name("updates"))


def server(base: Path, apt_get: Path) -> ElevationHelper:
    system: System = Elevated()
    return ElevationHelper(system, tried_rights(base), load_catalog(resources_dir() / "catalog"), programs(apt_get))


if __name__ == "__main__":
    sys.exit(server(Path(sys.argv[1]), Path(sys.argv[2])).handle_request(sys.argv[3:]))
