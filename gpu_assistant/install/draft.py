"""What the planners of all kinds look at."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import CannotSetUp
from ..core.machine import Machine
from ..core.names import EnvironmentKind
from ..core.paths import DataDir
from ..core.plan import Step
from ..core.recommendation import LocalWheel, Recommendation
from .target import target_of
from .wheelhouse import usable

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.paces import Paces
    from ..catalog.records import Sizes
    from ..fetch.extent import Extent
    from .prices import Prices, Told

# A text's code, for a sentence's figure that shows only when the publisher is asked.
UNKNOWN_SIZE = "@size.unknown"


class Draft:
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
        self.variables: dict[str, str] = {}
        self.on_path: list[str] = []
        self.variable_owners: list[str] = []

    def ids(self, *kinds: str) -> tuple[str, ...]:
        """The ids of the steps of these kinds, or of those that stand for them, that are planned so far."""
        from .steps import KINDS

        return tuple(step.id for step in self.steps if KINDS[step.kind].role in kinds)

    @property
    def series(self) -> str:
        """The Python series, like "3.11"; raises CannotSetUp where none is known that suits the release."""
        if self.recommendation.python is None:
            code = "setup-on-mac" if self.machine.os.system == "darwin" else "setup-no-python"
            raise CannotSetUp(code, release=self.release)
        return self.recommendation.python

    @property
    def release(self) -> str:
        """What the environment is for: "PyTorch 2.13.0+cpu", "TensorFlow 2.21.0", or both."""
        torch, flow = self.recommendation.pytorch, self.recommendation.tensorflow
        named = [f"PyTorch {torch.version}+{torch.variant}"] if torch is not None else []
        named += [f"TensorFlow {flow.version}"] if flow is not None else []
        return " + ".join(named)

    @cached_property
    def prices(self) -> Prices:
        """What publishers said of the sizes of files, when they were last asked."""
        from .prices import read

        return read(self.data)

    @cached_property
    def told(self) -> Told | None:
        """What the packages' publishers said of these very files; None where nobody asked them."""
        from .prices import wanted_of

        if self.bundle is not None or not (self.prices.packages or self.data.locks.is_dir()):
            return None
        folder = str(self.wheelhouse) if self.wheelhouse is not None else None
        wanted = wanted_of(
            self.recommendation,
            self.machine.os,
            self.catalog,
            python=self.series,
            folder=folder,
            simulated=self.simulated,
        )
        return self.prices.environment(wanted, self.data)

    def file_extent(self, url: str) -> Extent:
        """What the publisher of a single file said of it."""
        from ..fetch.extent import Extent

        return self.prices.files.get(url, Extent())

    @cached_property
    def sizes(self) -> Sizes:
        """What the publishers said, else what was measured on this very release: another one's figures are not its."""
        from ..catalog.records import Sizes

        if self.told is not None and self.told.bytes is not None:
            return Sizes(download_bytes=self.told.bytes, disk_bytes=self.told.unpacked, whole=True)
        found, torch = self.near_sizes, self.recommendation.pytorch
        if torch is not None and (found.release, found.variant) == (torch.version, torch.variant):
            return found
        return Sizes(variant=found.variant, system=found.system)

    @cached_property
    def near_sizes(self) -> Sizes:
        """What was measured on any release of this kind of build; nothing of it for more than PyTorch alone."""
        from ..catalog.records import Sizes

        if self.recommendation.tensorflow is not None:
            return Sizes(system=self.machine.os.system)
        return self.torch_sizes

    @cached_property
    def torch_sizes(self) -> Sizes:
        """What was measured on any release of this kind of PyTorch build, whatever else is asked for."""
        from ..catalog.records import Sizes

        torch, system = self.recommendation.pytorch, self.machine.os.system
        return Sizes(system=system) if torch is None else self.catalog.sizes(torch.variant, system)

    @property
    def disk_about(self) -> int | None:
        """About how much the environment takes, by what was measured on such a PyTorch; None where nobody did."""
        torch = self.recommendation.pytorch
        return self.torch_sizes.disk_bytes or self.catalog.disk_about(torch.variant if torch is not None else "")

    @cached_property
    def paces(self) -> Paces:
        """How long things take."""
        from ..catalog.paces import paces

        return paces(self.catalog)

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
        platforms = target_of(self.machine.os, self.release).platforms if self.simulated else None
        wheels = usable(self.wheelhouse, self.series, platforms)
        return next(
            (w for w in wheels if (w.project, w.version) == ("torch", torch.version) and w.variant in tags), None
        )
