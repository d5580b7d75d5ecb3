"""From a recommendation to the ordered steps that carry it out.

Nothing is looked at but the arguments and the names of the user's own wheels.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..core.errors import AppError
from ..core.machine import Machine, Python
from ..core.plan import Plan, PlanFile, Step
from ..core.recommendation import LocalWheel, PyTorchChoice, Recommendation
from .occupied import refuse_unfit
from .wheelhouse import usable
from .wish import ALWAYS

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.records import Sizes

# Whose interpreter to build on, best first: an environment's or Conda's goes away with it, and the Store's
# hides its files.
KINDS = ("system", "managed", None, "venv")


def make_plan(
    machine: Machine,
    recommendation: Recommendation,
    catalog: Catalog,
    *,
    environment: Path,
    wheelhouse: Path | None,
    simulated: bool,
) -> Plan:
    """The plan for one environment. Raises AppError("goal-not-yet"), AppError("no-python"),
    CallError("folder-shared"), CallError("folder-synced"), CallError("folder-too-long").
    """
    refuse_unfit(environment)
    torch, series = recommendation.pytorch, recommendation.python
    if torch is None or series is None:
        raise AppError("goal-not-yet", goal=recommendation.goal)
    env = str(environment)
    sizes = _sizes(torch, machine, catalog)
    # The general index's build bears no tag.
    untagged = catalog.default_variant(torch.version, machine.os.system) == torch.variant
    local = _local(torch, series, wheelhouse, tags=(torch.variant, None) if untagged else (torch.variant,))
    # The packages that PyTorch needs are small beside it, and nobody measured them.
    download = sizes.download_bytes if local is None else None
    runtime = _runtime(machine, series, catalog)
    release = f"{torch.version}+{torch.variant}"
    packages = " ".join(["torch", *(["torchvision"] if torch.torchvision else []), *ALWAYS])
    steps = (
        Step(
            id="space",
            kind="check-space",
            code="check-space",
            data={"env": env, "disk_bytes": sizes.disk_bytes},
        ),
        runtime,
        Step(
            id="resolve",
            kind="resolve",
            code="resolve",
            data={"release": release, "python": series, "packages": packages},
            commands=(_compile(torch, series, wheelhouse),),
        ),
        Step(
            id="download",
            kind="download",
            code="download" if local is None else "download-rest",
            data={"release": release, "bytes": download if local is None else local.bytes},
            bytes=download,
        ),
        Step(
            id="pytorch",
            kind="python-packages",
            code="python-packages",
            data={"release": release, "env": env},
            disk_bytes=sizes.disk_bytes,
            commands=(
                ("uv", "venv", "--relocatable", "--python", str(runtime.data.get("path") or series), env),
                ("uv", "pip", "sync", "--python", env, "pylock.toml"),
            ),
        ),
        Step(
            id="verify",
            kind="verify",
            code="verify",
            data={"env": env},
            commands=(("gpu-assistant", "verify", "--env", env),),
        ),
    )
    return Plan(
        schema="gpu-assistant/plan/1",
        goal=recommendation.goal,
        env=env,
        recommendation=recommendation,
        steps=steps,
        bytes=_sum([step.bytes for step in steps if step.kind in ("python-runtime", "download") and _fetches(step)]),
        disk_bytes=sizes.disk_bytes,
        wheelhouse=str(wheelhouse) if wheelhouse is not None else None,
        simulated=simulated,
    )


def _sizes(torch: PyTorchChoice, machine: Machine, catalog: Catalog) -> Sizes:
    """What was measured on this very release; another one's figures are not this one's."""
    from ..catalog.records import Sizes

    found = catalog.sizes(torch.variant, machine.os.system)
    return found if found.release == torch.version else Sizes(variant=torch.variant, system=machine.os.system)


def _local(
    torch: PyTorchChoice, series: str, wheelhouse: Path | None, *, tags: tuple[str | None, ...]
) -> LocalWheel | None:
    """The user's own wheel of this very build."""
    if wheelhouse is None:
        return None
    wheels = [w for w in usable(wheelhouse, series) if (w.project, w.version) == ("torch", torch.version)]
    return next((wheel for wheel in wheels if wheel.variant in tags), None)


def _runtime(machine: Machine, series: str, catalog: Catalog) -> Step:
    """The Python to build on: one that is here, else the standalone build that the catalog knows."""
    found = python_here(machine, series)
    if found is not None:
        return Step(
            id="python",
            kind="python-runtime",
            code="python-here",
            data={"python": found.version, "path": found.path},
            bytes=0,
            disk_bytes=0,
        )
    build = catalog.standalone_python(series, machine.os.system, machine.os.arch or "x86_64")
    if build is None:
        raise AppError("no-python", python=series)
    name = PurePosixPath(unquote(urlsplit(build.url).path)).name
    return Step(
        id="python",
        kind="python-runtime",
        code="python-runtime",
        data={"python": build.version, "path": None},
        bytes=build.bytes,
        files=(PlanFile(url=build.url, name=name, sha256=build.sha256, bytes=build.bytes),),
    )


def python_here(machine: Machine, series: str) -> Python | None:
    """The machine's own interpreter of a "3.11" series that an environment can be built on."""
    fitting = [
        python
        for python in machine.pythons or ()
        if python.version.split(".")[:2] == series.split(".")
        and python.kind in KINDS
        and (python.arch is None or machine.os.arch is None or python.arch == machine.os.arch)
    ]
    return min(fitting, key=lambda python: KINDS.index(python.kind), default=None)


def _compile(torch: PyTorchChoice, series: str, wheelhouse: Path | None) -> tuple[str, ...]:
    """What a person would type for the lock, with the requirements in `requirements.in`."""
    where: tuple[str, ...] = ("--find-links", str(wheelhouse)) if wheelhouse is not None else ()
    if torch.index_url is not None:
        where += ("--index", torch.index_url)
    return ("uv", "pip", "compile", "requirements.in", "--python-version", series, *where, "-o", "pylock.toml")


def _fetches(step: Step) -> bool:
    return step.bytes != 0


def _sum(parts: list[int | None]) -> int | None:
    """All parts together; unknown as soon as one of them is."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
