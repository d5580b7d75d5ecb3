"""What the step kinds plan with: the recommendation, the machine, the catalog, and the steps planned so far."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.errors import SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.recommendation import LocalWheel, Recommendation
from ...core.types import EnvironmentKind
from ...core.versions import Version
from ..packages.requirements import (
    build_request,
    compatible_wheels,
    joins_pytorch_packages,
    platform_for,
    release_label,
)
from ..packages.sizes import read_size_cache

if TYPE_CHECKING:
    from ...catalog.estimates import DurationCatalog
    from ...catalog.records.environment_contents import EnvironmentSizes, TensorFlowSize
    from ...catalog.store import Catalog
    from ...fetch.request import RemoteSize
    from ..packages.sizes import SizeAnswer, SizeCache

# The code of a text for a size that is known only when the publisher is asked.
UNKNOWN_SIZE = "@size.unknown"


class PlanBuilder:
    """Collects the `steps` of a plan, in order. `conda` is the path of conda's program where the environment is of that
    kind; None for another computer.

    A kind that makes a folder which other programs look for puts it into `variables` (name and value) and `on_path`,
    and its step's id into `variable_owners`: the step "variables" comes later and sets them for the user.
    """

    def __init__(
        self,
        machine: Machine,
        recommendation: Recommendation,
        catalog: Catalog,
        *,
        data: DataDir,
        environment: Path,
        wheelhouse: Path | None,
        bundle: Path | None = None,
        simulated: bool = False,
        environment_kind: EnvironmentKind = "venv",
        conda: Path | None = None,
    ) -> None:
        self.machine = machine
        self.recommendation = recommendation
        self.catalog = catalog
        self.data = data
        self.environment = environment
        self.wheelhouse = wheelhouse
        self.bundle = bundle
        self.simulated = simulated
        self.environment_kind: EnvironmentKind = environment_kind
        self.conda = conda
        self.steps: list[Step] = []
        self.external: set[str] = set()
        self._provided: dict[str, list[str]] = {}
        self.variables: dict[str, str] = {}
        self.on_path: list[str] = []
        self.variable_owners: list[str] = []

    def add(self, steps: Iterable[Step], *, provides: str, external: bool = False) -> None:
        """Append steps; `provides` is the kind that later steps need them as. Sizes and times of an `external`
        installer are unknown, and the plan's sums leave it out.
        """
        for step in steps:
            self.steps.append(step)
            self._provided.setdefault(provides, []).append(step.id)
            if external:
                self.external.add(step.id)

    def ids(self, *kinds: str) -> tuple[str, ...]:
        """The ids of the steps planned so far that provide these kinds, in the plan's order."""
        providing = {step_id for kind in kinds for step_id in self._provided.get(kind, ())}
        return tuple(step.id for step in self.steps if step.id in providing)

    @property
    def series(self) -> str:
        """The Python series, like "3.11"; raises SetupNotSupported if none is known that suits the release."""
        if self.recommendation.python is None:
            code = "setup-on-mac" if self.machine.os.system == "darwin" else "setup-no-python"
            raise SetupNotSupported(code, release=self.release)
        return self.recommendation.python

    @property
    def release(self) -> str:
        """What the environment is for, for people."""
        return release_label(self.recommendation)

    @cached_property
    def durations(self) -> DurationCatalog:
        """How long the steps take."""
        from ...catalog.estimates import load_durations

        return load_durations(self.catalog)

    def remote_size(self, url: str) -> RemoteSize:
        """The size of a single file, if its publisher was asked."""
        from ...fetch.request import RemoteSize

        return self._size_cache.files.get(url, RemoteSize())

    @cached_property
    def _size_cache(self) -> SizeCache:
        return read_size_cache(self.data)

    @cached_property
    def probed_sizes(self) -> SizeAnswer | None:
        """The sizes of these very packages; None if their publishers were not asked."""
        if self.bundle is not None or not (self._size_cache.packages or self.data.locks.is_dir()):
            return None
        target = platform_for(self.machine.os, self.release) if self.simulated else self.machine.os
        wheelhouse = str(self.wheelhouse) if self.wheelhouse is not None else None
        request = build_request(self.recommendation, self.catalog, target, wheelhouse=wheelhouse)
        return self._size_cache.environment_sizes(request, self.data)

    @cached_property
    def sizes(self) -> EnvironmentSizes:
        """The probed sizes, else those measured on this very release; a similar one's are not taken for it."""
        from ...catalog.records.environment_contents import EnvironmentSizes

        probed = self.probed_sizes
        if probed is not None and probed.bytes is not None:
            return EnvironmentSizes(
                download_bytes=probed.bytes, disk_bytes=probed.unpacked_bytes, includes_dependencies=True
            )
        measured, torch = self.torch_sizes, self.recommendation.pytorch
        if (
            torch is not None
            and self.recommendation.tensorflow is None
            and (measured.release, measured.variant) == (Version.parse(torch.version), torch.variant)
        ):
            return self._with_toolkit(measured)
        return EnvironmentSizes(variant=measured.variant, system=measured.system)

    @cached_property
    def toolkit_package_bytes(self) -> int | None:
        """The download size of the toolkit's own packages; None if it is unknown."""
        wheels, version = self.catalog.cuda.wheels, Version.parse(self.recommendation.cuda_toolkit.version)
        if wheels is None or version is None:
            return None
        system, arch = self.machine.os.system, self.machine.os.arch or "x86_64"
        beside_pytorch = joins_pytorch_packages(self.recommendation, self.catalog, system)
        return wheels.toolkit_bytes(version, system, arch, beside_pytorch=beside_pytorch)

    def _with_toolkit(self, measured: EnvironmentSizes) -> EnvironmentSizes:
        """With the toolkit's own packages, where it comes as such; without any size where theirs is not known."""
        wheels, advice = self.catalog.cuda.wheels, self.recommendation.cuda_toolkit
        if wheels is None or (advice.action, advice.way) != ("install", "wheels"):
            return measured
        size = self.toolkit_package_bytes
        if size is None or measured.download_bytes is None or not measured.includes_dependencies:
            return replace(measured, download_bytes=None, disk_bytes=None)
        disk_bytes = measured.disk_bytes + round(size * wheels.unpacked_ratio) if measured.disk_bytes else None
        return replace(measured, download_bytes=measured.download_bytes + size, disk_bytes=disk_bytes)

    @cached_property
    def similar_sizes(self) -> EnvironmentSizes:
        """The sizes measured on any release of this build. With TensorFlow the download of both: their packages differ
        but for a few small ones.
        """
        from ...catalog.records.environment_contents import EnvironmentSizes

        if self.recommendation.tensorflow is None:
            return self.torch_sizes
        torch_bytes = self.torch_sizes.download_bytes if self.recommendation.pytorch is not None else 0
        if self.tensorflow_size is None or torch_bytes is None:
            return EnvironmentSizes(system=self.machine.os.system)
        return EnvironmentSizes(
            system=self.machine.os.system, download_bytes=torch_bytes + self.tensorflow_size.download_bytes
        )

    @cached_property
    def tensorflow_size(self) -> TensorFlowSize | None:
        """What an environment with such a TensorFlow alone downloads; None without one, or where none was measured."""
        advice, system = self.recommendation.tensorflow, self.machine.os.system
        version = Version.parse(advice.version) if advice is not None else None
        if advice is None or version is None:
            return None
        if not advice.gpu:
            return self.catalog.tensorflow_size(system, None)
        build = self.catalog.tensorflow.find_build(version, system, self.machine.os.arch or "x86_64")
        if build is None or not build.bundled_cuda:
            return None  # it uses the libraries of a toolkit
        return self.catalog.tensorflow_size(system, build.cuda)

    @cached_property
    def torch_sizes(self) -> EnvironmentSizes:
        """The sizes measured on any release of this build of PyTorch, whatever else is installed."""
        from ...catalog.records.environment_contents import EnvironmentSizes

        torch, system = self.recommendation.pytorch, self.machine.os.system
        return EnvironmentSizes(system=system) if torch is None else self.catalog.sizes(torch.variant, system)

    @property
    def estimated_disk_bytes(self) -> int | None:
        """About the size of the environment, as measured with such a PyTorch; None if nothing was measured. TensorFlow
        counts with its download, the least that it takes.
        """
        torch = self.recommendation.pytorch
        disk_bytes = self.torch_sizes.disk_bytes or self.catalog.estimate_disk_bytes(
            torch.variant if torch is not None else ""
        )
        if disk_bytes is None or self.tensorflow_size is None:
            return disk_bytes
        return disk_bytes + self.tensorflow_size.download_bytes

    @cached_property
    def local_torch(self) -> LocalWheel | None:
        """The wheel of this very PyTorch build in the wheelhouse."""
        torch = self.recommendation.pytorch
        # Beside TensorFlow its size says little of the download's.
        if self.wheelhouse is None or torch is None or self.recommendation.tensorflow is not None:
            return None
        # PyPI's build has no version label.
        system, arch = self.machine.os.system, self.machine.os.arch or "x86_64"
        untagged = self.catalog.default_variant(torch.version, system, arch) == torch.variant
        variants = (torch.variant, None) if untagged else (torch.variant,)
        platforms = platform_for(self.machine.os, self.release).platform_tags if self.simulated else None
        wheels = compatible_wheels(self.wheelhouse, self.series, platforms)
        return next(
            (w for w in wheels if (w.project, w.version) == ("torch", torch.version) and w.variant in variants), None
        )
