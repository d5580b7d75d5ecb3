"""The CUDA Toolkit and cuDNN as NVIDIA's own Python packages, in the environment itself.

The packages are resolved, downloaded and installed with PyTorch's (`resolve.py`, `download.py`, `python_packages.py`):
`toolkit_requirements` adds them to the request. They unpack to site-packages/nvidia/cu13, which has the layout of a
toolkit but for some names: wheels hold no links, so that libcudart.so, by which linkers and CMake look for
libcudart.so.13, is not there, nor lib64, where PyTorch and others look first, nor is cuDNN in the same tree.
This step makes those links and starts the compiler. `cuda_redist.py` and `cuda_installer.py` are the other ways.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...catalog.records.cuda import CudaWheels
from ...core.errors import AppError, storage_errors
from ...core.machine import SystemName
from ...core.plan import CurrentState, Plan, Step
from ...core.types import Value
from ...core.versions import Version
from ..environment.location import environment_state
from ..files import inventory
from ..files.installed_packages import SITE_PACKAGES
from ..host import PreviewContext
from ..packages.requirements import joins_pytorch_packages
from .base import StepKind, parse_spec, plan_error
from .context import EnvironmentStatus, InstallContext, Outcome
from .cuda_redist import check_compiler, installer_hint
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

# The name that a linker looks for is the file's without the version: "libcudart.so" of "libcudart.so.13".
_VERSIONED_LIBRARY = re.compile(r"(lib[A-Za-z0-9_+-]+\.so)\.[0-9.]+\Z")
HEADERS_FOLDER, LIBRARIES_FOLDER = "include", "lib"


class WheelsSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's `version`, its folder below the environment, and cuDNN's where that joins it."""

    version: str
    folder: str
    cudnn: str | None = None


class CudaWheelsInstall(StepKind):
    """Completes the toolkit that came with the environment's packages."""

    name: ClassVar[str] = "cuda-wheels"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if a toolkit from packages is recommended."""
        advice, cudnn, wheels = builder.recommendation.cuda_toolkit, builder.recommendation.cudnn, _wheels(builder)
        if wheels is None or advice.version is None:
            return ()
        system, version = builder.machine.os.system, Version(advice.version)
        site_packages = _site_packages(system, builder.series)
        relative_folder = f"{site_packages}/{wheels.folder.format(major=version.major)}"
        folder = builder.environment.joinpath(*relative_folder.split("/"))
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.on_path += [str(folder.joinpath(*each.split("/"))) for each in wheels.path[system]]
        builder.variable_owners.append(self.name)
        has_cudnn = (cudnn.action, cudnn.way) == ("install", "wheels")
        if has_cudnn:
            builder.variables["CUDNN_PATH"] = str(folder)
        beside_pytorch = joins_pytorch_packages(builder.recommendation, builder.catalog, system)
        size, release = builder.toolkit_package_bytes, builder.catalog.cuda.toolkit(advice.version)
        data: dict[str, Value] = {
            "version": advice.version,
            "path": str(folder),
            "bytes": UNKNOWN_SIZE if size is None else size,
            "cudnn": cudnn.version if has_cudnn else None,
        }
        data |= installer_hint(builder.catalog, release, system, builder.machine.os.arch or "x86_64")
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=f"{self.name}-beside-pytorch" if beside_pytorch else self.name,
                needs=builder.ids("python-packages"),
                data=data,
                spec={
                    "version": advice.version,
                    "folder": relative_folder,
                    "cudnn": f"{site_packages}/{wheels.cudnn_folder}" if has_cudnn else None,
                },
                bytes=0,
                disk_bytes=0,
                minutes=0.0,
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        """Nothing to do for a complete environment."""
        state = environment_state(plan, context)
        return CurrentState(code="now.nothing-left") if state is not None and state.code == "now.stands" else None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """The environment is complete, and so are the links."""
        spec, status = parse_spec(step, WheelsSpec), context.require(EnvironmentStatus)
        if not status.is_built:
            return None
        links = _links(_root(context), spec, _catalog_wheels(step, context), context.system.name)
        return _outcome(step) if all(os.path.lexists(link) for link in links) else None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: toolkit-incomplete, toolkit-broken."""
        spec, wheels, root = parse_spec(step, WheelsSpec), _catalog_wheels(step, context), _root(context)
        folder = root / spec.folder
        if not folder.is_dir():
            raise AppError("toolkit-incomplete", version=spec.version, path=str(folder))
        created = []
        with storage_errors(folder):
            for link, target in _links(root, spec, wheels, context.system.name).items():
                if not os.path.lexists(link):
                    link.symlink_to(os.path.relpath(target, link.parent), target_is_directory=target.is_dir())
                    created.append(link.relative_to(root).as_posix())
        inventory.add_to_file_manifest(root, created)
        check_compiler(folder, context)
        return _outcome(step)


def _outcome(step: Step) -> Outcome:
    return Outcome(code="progress.toolkit", data={name: step.data.get(name) for name in ("version", "path")})


def _root(context: InstallContext) -> Path:
    """The environment's folder, while it is built or complete."""
    return context.environment if context.require(EnvironmentStatus).is_complete else context.partial


def _wheels(builder: PlanBuilder) -> CudaWheels | None:
    advice = builder.recommendation.cuda_toolkit
    return builder.catalog.cuda.wheels if (advice.action, advice.way) == ("install", "wheels") else None


def _catalog_wheels(step: Step, context: InstallContext) -> CudaWheels:
    wheels = context.catalog.cuda.wheels
    if wheels is None:
        raise plan_error(step.id)
    return wheels


def _site_packages(system: SystemName, series: str) -> str:
    """Where an environment of this Python has its packages, with "/"."""
    return f"Lib/{SITE_PACKAGES}" if system == "windows" else f"lib/python{series}/{SITE_PACKAGES}"


def _links(root: Path, spec: WheelsSpec, wheels: CudaWheels, system: SystemName) -> dict[Path, Path]:
    """The links that complete the tree, with the paths of what they lead to; none on Windows, whose files are named as
    its linkers look for them.
    """
    if system == "windows":
        return {}
    folder = root / spec.folder
    links = {folder / link: folder / target for link, target in wheels.links.get(system, {}).items()}
    links |= {folder / LIBRARIES_FOLDER / name: path for name, path in _linker_names(folder / LIBRARIES_FOLDER)}
    if spec.cudnn is not None:
        for name in (HEADERS_FOLDER, LIBRARIES_FOLDER):
            files = [path for path in sorted((root / spec.cudnn / name).glob("*")) if path.is_file()]
            links |= {folder / name / path.name: path for path in files}
            links |= {folder / name / link: path for link, path in _linker_names(root / spec.cudnn / name)}
    return links


def _linker_names(libraries: Path) -> Iterator[tuple[str, Path]]:
    """For each library of a folder the name that linkers look for, and the library; not for links."""
    for path in sorted(libraries.glob("lib*.so.*")):
        match = _VERSIONED_LIBRARY.match(path.name)
        if match is not None and not path.is_symlink():
            yield match[1], path
