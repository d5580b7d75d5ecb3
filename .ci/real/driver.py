"""The driver from Debian's packages, inside a disposable root: `driver.py install PACKAGE...`, `driver.py remove`,
`driver.py state`.

`install` runs the plan's step, with its journal and the elevated helper as the system starts it, and `remove` is
`uninstall --driver`; what happened is one line: "installed", "removed", or the code of the error, then its sentence.
`state` says what the computer shows afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.recommendation import DriverAdvice, PartAdvice, Recommendation
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.steps.context import ElevationContext
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.nvidia_driver import LINUX_CODE, NvidiaDriverInstall
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

HELPER = "import sys; from gpu_assistant.install.elevation.helper import main; sys.exit(main(sys.argv[1:]))"
ENVIRONMENT, DATA = Path("/root/env"), DataDir(Path("/root/data"))
MINIMUM = "525"


def client(context: ElevationContext) -> ElevationClient:
    """The helper without an installed program."""
    return ElevationClient(context.data.state, context.system, command=(sys.executable, "-c", HELPER))


def plan(packages: list[str]) -> Plan:
    """A plan of the driver's step alone."""
    none = PartAdvice(action="none")
    advice = Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="pytorch",
        accelerator="cuda",
        python=None,
        pytorch=None,
        driver=DriverAdvice(action="install", recommended=MINIMUM, way="packages", packages=tuple(packages)),
        cuda_toolkit=none,
        cudnn=none,
    )
    step = Step(
        id="driver",
        kind=NvidiaDriverInstall.name,
        code=LINUX_CODE,
        data={"version": MINIMUM, "installed": "@driver.none", "packages": " ".join(packages)},
        spec={"version": MINIMUM, "packages": packages},
        needs_admin=True,
        needs_reboot=True,
    )
    return Plan(
        schema="gpu-assistant/plan/1", goal="pytorch", env=str(ENVIRONMENT), recommendation=advice, steps=(step,)
    )


def run(action: str, packages: list[str]) -> str:
    """What happened."""
    system, catalog = current_system(), load_catalog(resources_dir() / "catalog")
    STEP_KINDS[NvidiaDriverInstall.name] = NvidiaDriverInstall(client)
    try:
        if action == "install":
            InstallJob(plan(packages), system, DATA, catalog).run(JobContext())
        else:
            UninstallJob(ENVIRONMENT, DATA, system, driver_catalog=catalog).run(JobContext())
    except RebootRequired:
        return "installed"
    except AppError as error:
        sys.stderr.write(Texts("en").error_text(error) + "\n")
        return error.code
    return "removed" if action == "remove" else "installed"


def main() -> None:
    """See the module."""
    action, *packages = sys.argv[1:]
    if action == "state":
        system = current_system()
        sys.stdout.write(f"kernel without driver: {system.kernel_without_driver()}\n")
        sys.stdout.write(f"restart is due: {system.pending_reboot()}\n")
    else:
        sys.stdout.write(run(action, packages) + "\n")


if __name__ == "__main__":
    main()
