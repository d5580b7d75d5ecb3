"""What the planners of all kinds look at."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.recommendation import LocalWheel, Recommendation
from ...core.types import EnvironmentKind
from ...core.versions import Version
from ..packages.requirements import compatible_wheels, platform_for
from ..packages.sizes import read_size_cache, request_for_plan

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
        made_by: EnvironmentKind = "venv",
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
        self.made_by: EnvironmentKind = made_by
        self.conda = conda
        self.steps: list[Step] = []
        self.external: set[str] = set()
        self._provided: dict[str, list[str]] = {}
        self.variables: dict[str, str] = {}
        self.on_path: list[str] = []
        self.variable_owners: list[str] = []

    def add(self, steps: Iterable[Step], *, provides: str, external: bool = False) -> None:
        """Append steps; `provides` is the kind that later steps need them as. An `external` installer's sizes and times
        are unknown: the plan's sums leave it out.
        """
        for step in steps:
            self.steps.append(step)
            self._provided.setdefault(provides, []).append(step.id)
            if external:
                self.external.add(step.id)

    def ids(self, *kinds: str) -> tuple[str, ...]:
        """The ids of the steps planned so far that provide these kinds, in the plan's order."""
        wanted = {step_id for kind in kinds for step_id in self._provided.get(kind, ())}
        return tuple(step.id for step in self.steps if step.id in wanted)

    @property
    def series(self) -> str:
        """The Python series, like "3.11"; raises CannotSetUp where none is known that suits the release."""
        if self.recommendation.python is None:
            code = "setup-on-mac" if self.machine.os.system == "darwin" else "setup-no-python"
            raise SetupNotSupported(code, release=self.release)
        return self.recommendation.python

    @property
    def release(self) -> str:
        """What the environment is for: "PyTorch 2.13.0+cpu", "TensorFlow 2.21.0", or both."""
        torch, flow = self.recommendation.pytorch, self.recommendation.tensorflow
        named = [f"PyTorch {torch.version}+{torch.variant}"] if torch is not None else []
        named += [f"TensorFlow {flow.version}"] if flow is not None else []
        return " + ".join(named)

    @cached_property
    def prices(self) -> SizeCache:
        """What publishers said of the sizes of files, when they were last asked."""
        return read_size_cache(self.data)

    @cached_property
    def told(self) -> SizeAnswer | None:
        """What the packages' publishers said of these very files; None where nobody asked them."""
        if self.bundle is not None or not (self.prices.packages or self.data.locks.is_dir()):
            return None
        folder = str(self.wheelhouse) if self.wheelhouse is not None else None
        wanted = request_for_plan(
            self.recommendation,
            self.machine.os,
            self.catalog,
            python=self.series,
            wheelhouse=folder,
            simulated=self.simulated,
        )
        return self.prices.environment_sizes(wanted, self.data)

    def file_extent(self, url: str) -> RemoteSize:
        """What the publisher of a single file said of it."""
        from ...fetch.request import RemoteSize

        return self.prices.files.get(url, RemoteSize())

    @cached_property
    def sizes(self) -> EnvironmentSizes:
        """What the publishers said, else what was measured on this very release: another one's figures are not its."""
        from ...catalog.records.catalog import EnvironmentSizes

        if self.told is not None and self.told.bytes is not None:
            return EnvironmentSizes(download_bytes=self.told.bytes, disk_bytes=self.told.unpacked_bytes, whole=True)
        found, torch = self.near_sizes, self.recommendation.pytorch
        if torch is not None and (found.release, found.variant) == (Version.parse(torch.version), torch.variant):
            return found
        return EnvironmentSizes(variant=found.variant, system=found.system)

    @cached_property
    def near_sizes(self) -> EnvironmentSizes:
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
    def disk_about(self) -> int | None:
        """About how much the environment takes, by what was measured on such a PyTorch; None where nobody did."""
        torch = self.recommendation.pytorch
        return self.torch_sizes.disk_bytes or self.catalog.estimate_disk_bytes(
            torch.variant if torch is not None else ""
        )

    @cached_property
    def paces(self) -> DurationCatalog:
        """How long things take."""
        from ...catalog.estimates import load_durations

        return load_durations(self.catalog)

    @cached_property
    def local(self) -> LocalWheel | None:
        """The user's own wheel of this very PyTorch build."""
        torch = self.recommendation.pytorch
        # Beside TensorFlow it would be only a part of what is told.
        if self.wheelhouse is None or torch is None or self.recommendation.tensorflow is not None:
            return None
        # The general index's build bears no tag.
        system, arch = self.machine.os.system, self.machine.os.arch or "x86_64"
        untagged = self.catalog.default_variant(torch.version, system, arch) == torch.variant
        tags = (torch.variant, None) if untagged else (torch.variant,)
        # Of another computer's wheels the names tell, not this computer's.
        platforms = platform_for(self.machine.os, self.release).platform_tags if self.simulated else None
        wheels = compatible_wheels(self.wheelhouse, self.series, platforms)
        return next(
            (w for w in wheels if (w.project, w.version) == ("torch", torch.version) and w.variant in tags), None
        )
