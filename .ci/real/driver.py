"""The driver from Debian's packages, inside a disposable root: `driver.py install PACKAGE...`, `driver.py state`.

`install` sends the request that the plan's step sends, to the elevated helper as the system starts it; what happened is
one line: "installed", or the code of the error. `state` says what the computer shows afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import mkdtemp

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

HELPER = "import sys; from gpu_assistant.install.elevation.helper import main; sys.exit(main(sys.argv[1:]))"


def main() -> None:
    """See the module."""
    system = current_system()
    if sys.argv[1] == "install":
        client = ElevationClient(Path(mkdtemp()), system, command=(sys.executable, "-c", HELPER))
        try:
            client.install_linux_packages(sys.argv[2:], "525", load_catalog(resources_dir() / "catalog"))
        except AppError as error:
            sys.stdout.write(f"{error.code}\n")
            sys.stderr.write(Texts("en").translate(f"error.{error.code}", error.data) + "\n")
            return
        sys.stdout.write("installed\n")
    else:
        sys.stdout.write(f"kernel without driver: {system.kernel_without_driver()}\n")
        sys.stdout.write(f"restart is due: {system.pending_reboot()}\n")


if __name__ == "__main__":
    main()
