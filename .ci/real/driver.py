"""The driver from Debian's packages, inside a disposable root: `driver.py plan`, `install`, `remove` or `state`.

`plan` asks the program for the plan of a PyTorch that runs on this release's driver, keeps it, and prints the packages
of its step; `install` runs that step, with its journal and the elevated helper as the system starts it, and `remove` is
`uninstall --driver`; what happened is one line: "installed", "removed", or the code of the error, then its sentence.
`state` says what the computer shows afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json as product_json
from gpu_assistant.core.errors import AppError, RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Plan
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.steps.context import ElevationContext
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.nvidia_driver import NvidiaDriverInstall
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

HELPER = "import sys; from gpu_assistant.install.elevation.helper import main; sys.exit(main(sys.argv[1:]))"
ENVIRONMENT, DATA = Path("/root/env"), DataDir(Path("/root/data"))
PLAN = Path("/root/plan.json")


def client(context: ElevationContext) -> ElevationClient:
    """The helper without an installed program."""
    return ElevationClient(context.data.state, context.system, command=(sys.executable, "-c", HELPER))


def ask_for_plan(*choices: str) -> dict[str, Any]:
    """What `plan --json` prints."""
    command = [sys.executable, "-m", "gpu_assistant", "plan", "--json", "--offline", "--goal", "pytorch", *choices]
    command += ["--env", str(ENVIRONMENT), "--data-dir", str(DATA.root), "--output", str(PLAN)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        sys.exit(f"plan: exit status {finished.returncode}: {finished.stderr}")
    answer: dict[str, Any] = json.loads(finished.stdout)
    return answer


def plan() -> None:
    """Keep the plan; print the packages of its driver's step. The newest PyTorch wants a newer driver than Debian has:
    the one that the program offers for the distribution's own driver is chosen.
    """
    first = ask_for_plan()
    offers = [
        each["change"] for each in first["recommendation"]["alternatives"] if each["code"] == "distribution-driver"
    ]
    if offers:
        ask_for_plan("--pytorch", str(offers[0]["pytorch"]), "--variant", str(offers[0]["variant"]))
    steps = [step for step in read_plan().steps if step.kind == NvidiaDriverInstall.name]
    sys.stdout.write(f"{' '.join(name for step in steps for name in step.spec['packages'])}\n")


def read_plan() -> Plan:
    return product_json.read_file(PLAN, Plan, code="plan-file")


def run(action: str) -> str:
    """What happened."""
    system, catalog = current_system(), load_catalog(resources_dir() / "catalog")
    STEP_KINDS[NvidiaDriverInstall.name] = NvidiaDriverInstall(client)
    try:
        if action == "install":
            kept = read_plan()
            steps = tuple(replace(step, needs=()) for step in kept.steps if step.kind == NvidiaDriverInstall.name)
            InstallJob(replace(kept, steps=steps), system, DATA, catalog).run(JobContext())
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
    (action,) = sys.argv[1:]
    if action == "state":
        system = current_system()
        sys.stdout.write(f"kernel without driver: {system.kernel_without_driver()}\n")
        sys.stdout.write(f"restart is due: {system.pending_reboot()}\n")
    elif action == "plan":
        plan()
    else:
        sys.stdout.write(run(action) + "\n")


if __name__ == "__main__":
    main()
