"""The helper as a program of its own, in a tried place: `python helper.py BASE APT_GET REQUEST SHA256`.

BASE stands for /run on Linux; on Windows it is not used. It is told that it has the rights, whoever runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from gpu_assistant.catalog.load import load
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources
from gpu_assistant.install.door.serve import Server
from gpu_assistant.system.base import System
from gpu_assistant.system.rights import Rights

if sys.platform == "win32":
    from gpu_assistant.system.windows import WindowsSystem as ThisSystem
else:
    from gpu_assistant.system.linux import LinuxSystem as ThisSystem


class Elevated(ThisSystem):
    def is_admin(self) -> bool:
        return True

    def operating_system(self) -> OperatingSystem:
        return OperatingSystem(system=self.name, distro="ubuntu", distro_version="24.04")


def tried_rights(base: Path) -> Rights:
    """The system's own, in a place of the test's."""
    if sys.platform == "win32":
        from gpu_assistant.system.windows_rights_acl import aces_and_owner
        from gpu_assistant.system.windows_rights_door import ADMINS, WindowsRights

        # Wine keeps no list of permissions, only the owner, which is always us, and what Unix allows others.
        root = Path(__file__).with_name("signed") / "known.cer"
        return WindowsRights(ADMINS | {aces_and_owner(base)[0]}, root.read_bytes())
    from gpu_assistant.system.linux_rights_door import LinuxRights

    return LinuxRights(base)


def server(base: Path, apt_get: Path) -> Server:
    system: System = Elevated()
    return Server(system, tried_rights(base), load(resources() / "catalog"), apt_get)


if __name__ == "__main__":
    sys.exit(server(Path(sys.argv[1]), Path(sys.argv[2])).serve(sys.argv[3:]))
