"""What the planners of all kinds look at."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.recommendation import LocalWheel, Recommendation
from ...core.types import EnvironmentKind
from ..packages.requirements import compatible_wheels, platform_for

if TYPE_CHECKING:
    from ...catalog.estimates import DurationCatalog
    from ...catalog.records.catalog import EnvironmentSizes
    from ...catalog.store import Catalog
    from ...fetch.request import RemoteSize
    from ..packages.sizes import SizeAnswer, SizeCache


# A text's code, for a sentence's figure that shows only when the publisher is asked.
UNKNOWN_SIZE = "@size.unknown"


class PlanBuilder:
    """A recommendation for a machine, the folder for its environment, and the `steps` that are planned so far.

    A kind that makes a folder which other programs look for says so in `variables` (name and value) and `on_path`,
    with its step's id in `variable_owners`: the step that writes them down for the user comes after it.
    `conda` is the program of that name where that has `made_by` it; None on another computer.
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
        self.variables: dict[str, str] = {}
        self.path_folders: list[str] = []
        self.variable_owners: list[str] = []

    def step_ids(self, *kinds: str) -> tuple[str, ...]:
        """The ids of the steps of these kinds, or of those that stand for them, that are planned so far."""
        from .registry import STEP_KINDS

        return tuple(step.id for step in self.steps if STEP_KINDS[step.kind].provided_kind in kinds)

    @property
    def python_series(self) -> str:
        """The Python series, like "3.11"; raises CannotSetUp where none is known that suits the release."""
        if self.recommendation.python is None:
            code = "setup-on-mac" if self.machine.os.system == "darwin" else "setup-no-python"
            raise SetupNotSupported(code, release=self.release_label)
        return self.recommendation.python

    @property
    def release_label(self) -> str:
        """What the environment is for: "PyTorch 2.13.0+cpu", "TensorFlow 2.21.0", or both."""
        torch, tensorflow = self.recommendation.pytorch, self.recommendation.tensorflow
        labels = [f"PyTorch {torch.version}+{torch.variant}"] if torch is not None else []
        labels += [f"TensorFlow {tensorflow.version}"] if tensorflow is not None else []
        return " + ".join(labels)

    @cached_property
    def size_cache(self) -> SizeCache:
        """What publishers said of the sizes of files, when they were last asked."""
        from ..packages.sizes import read_size_cache

        return read_size_cache(self.data)

    @cached_property
    def size_answer(self) -> SizeAnswer | None:
        """What the packages' publishers said of these very files; None where nobody asked them."""
        from ..packages.sizes import request_for_plan

        if self.bundle is not None or not (self.size_cache.packages or self.data.locks.is_dir()):
            return None
        folder = str(self.wheelhouse) if self.wheelhouse is not None else None
        request = request_for_plan(
            self.recommendation,
            self.machine.os,
            self.catalog,
            python=self.python_series,
            wheelhouse=folder,
            simulated=self.simulated,
        )
        return self.size_cache.environment_sizes(request, self.data)

    def file_size(self, url: str) -> RemoteSize:
        """What the publisher of a single file said of it."""
        from ...fetch.request import RemoteSize

        return self.size_cache.files.get(url, RemoteSize())

    @cached_property
    def sizes(self) -> EnvironmentSizes:
        """What the publishers said, else what was measured on this very release: another one's figures are not its."""
        from ...catalog.records.catalog import EnvironmentSizes

        if self.size_answer is not None and self.size_answer.bytes is not None:
            return EnvironmentSizes(
                download_bytes=self.size_answer.bytes, disk_bytes=self.size_answer.unpacked_bytes, whole=True
            )
        similar, torch = self.similar_sizes, self.recommendation.pytorch
        if torch is not None and (similar.release, similar.variant) == (torch.version, torch.variant):
            return similar
        return EnvironmentSizes(variant=similar.variant, system=similar.system)

    @cached_property
    def similar_sizes(self) -> EnvironmentSizes:
        """What was measured on any release of this kind of build; nothing of it for more than PyTorch alone."""
        from ...catalog.records.catalog import EnvironmentSizes

        if self.recommendation.tensorflow is not None:
            return EnvironmentSizes(system=self.machine.os.system)
        return self.torch_sizes

    @cached_property
    def torch_sizes(self) -> EnvironmentSizes:
        """What was measured on any release of this kind of PyTorch build, whatever else is asked for."""
        from ...catalog.records.catalog import EnvironmentSizes

        torch, system = self.recommendation.pytorch, self.machine.os.system
        return EnvironmentSizes(system=system) if torch is None else self.catalog.sizes(torch.variant, system)

    @property
    def estimated_disk_bytes(self) -> int | None:
        """About how much the environment takes, by what was measured on such a PyTorch; None where nobody did."""
        torch = self.recommendation.pytorch
        return self.torch_sizes.disk_bytes or self.catalog.estimate_disk_bytes(
            torch.variant if torch is not None else ""
        )

    @cached_property
    def durations(self) -> DurationCatalog:
        """How long things take."""
        from ...catalog.estimates import load_durations

        return load_durations(self.catalog)

    @cached_property
    def local_wheel(self) -> LocalWheel | None:
        """The user's own wheel of this very PyTorch build."""
        torch = self.recommendation.pytorch
        # Beside TensorFlow it would be only a part of what is told.
        if self.wheelhouse is None or torch is None or self.recommendation.tensorflow is not None:
            return None
        # The general index's build bears no tag.
        system, arch = self.machine.os.system, self.machine.os.arch or "x86_64"
        is_default_variant = self.catalog.default_variant(torch.version, system, arch) == torch.variant
        tags = (torch.variant, None) if is_default_variant else (torch.variant,)
        # Of another computer's wheels the names tell, not this computer's.
        platforms = platform_for(self.machine.os, self.release_label).platform_tags if self.simulated else None
        wheels = compatible_wheels(self.wheelhouse, self.python_series, platforms)
        return next(
            (
                wheel
                for wheel in wheels
                if (wheel.project, wheel.version) == ("torch", torch.version) and wheel.variant in tags
            ),
            None,
        )
