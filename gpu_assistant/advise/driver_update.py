"""Two ways where a driver update is needed: the newest release with a new driver, or the newest that works with the
driver that is there.

Each is a whole `Decision`. The newest is preferred where this program installs the driver itself; where that is left to
the user, the one that works now, unless a part of the goal "all" is missing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from ..catalog.distributions import find_install_method
from ..catalog.store import Catalog
from ..core.errors import UsageError
from ..core.machine import SystemName
from ..core.plan_cost import total
from ..core.recommendation import DriverAdvice, PyTorchChoice, TensorFlowChoice, Way, WayCost
from ..core.types import WayLack
from ..core.versions import Version
from .candidates import TargetSystem
from .decision import Decision, SetupDecision
from .tensorflow import TensorFlowCandidate
from .toolkit import bundled_toolkit, find_cudnn_releases
from .warnings import needs_vc_runtime

AnyDecision = TypeVar("AnyDecision", bound=SetupDecision)


class WayDecisions(Struct, Generic[AnyDecision], frozen=True, kw_only=True):
    """Both ways, the preferred one first."""

    decisions: tuple[AnyDecision, AnyDecision]

    def chosen(self, name: str | None) -> AnyDecision:
        """The way of this name; None stands for the preferred one."""
        return next((each for each in self.decisions if each.way == name), self.decisions[0])


def find_ways(decision: AnyDecision, decide: Callable[[TargetSystem], AnyDecision]) -> WayDecisions[AnyDecision] | None:
    """Both ways, where `decision` updates the driver and `decide` finds all that the goal asks for with the one that is
    there, too. None for a build or a driver that the user chose, and for WSL2, which uses this driver.
    """
    state, choice = decision.target.driver_state, decision.choice
    is_chosen = decision.is_build_chosen or choice.driver is not None or choice.wsl is not None
    if state is None or decision.driver.action != "update" or is_chosen:
        return None
    try:
        works_now = decide(replace(decision.target, driver_state=replace(state, is_kept=True)))
    except UsageError:
        return None  # what else the user chose does not go with the driver that is there
    if works_now.driver.action != "keep" or works_now.accelerator != "cuda":
        return None
    lacks = tuple(_find_lacks(works_now, decision))
    # PyTorch on the card is worth a way of its own; for TensorFlow alone, or to compile, nothing would be left.
    if lacks and not (isinstance(decision, Decision) and decision.goal == "all"):
        return None
    newest, works_now = replace(decision, way="newest"), replace(works_now, way="works-now", lacks=lacks)
    is_newest_first = installs_driver(decision.target, decision.driver) or bool(lacks)
    return WayDecisions(decisions=(newest, works_now) if is_newest_first else (works_now, newest))


def _find_lacks(works_now: SetupDecision, newest: SetupDecision) -> Iterator[WayLack]:
    """What the goal asks for and needs the new driver: TensorFlow on the GPU, the toolkit."""
    if newest.tensorflow is not None and (
        works_now.tensorflow is None or works_now.tensorflow.uses_gpu < newest.tensorflow.uses_gpu
    ):
        yield "tensorflow-gpu"
    if newest.parts.toolkit.action != "none" and works_now.parts.toolkit.action == "none":
        yield "cuda-toolkit"


def installs_driver(target: TargetSystem, advice: DriverAdvice) -> bool:
    """Whether this program installs the driver itself: on Windows NVIDIA's package, on Linux the packages of the
    distribution.
    """
    if target.machine.os.wsl or not advice.needs_install:
        return False
    if target.machine.os.system == "windows":
        url, version = advice.url, advice.recommended
        return url is not None and version is not None and target.catalog.is_driver_installer(url, version)
    return advice.way == "packages" and advice.action != "back"


def describe_way(decision: SetupDecision, pytorch: PyTorchChoice | None, tensorflow: TensorFlowChoice | None) -> Way:
    """A way as it stands in the recommendation, with what it costs; requires `decision.way`."""
    return Way(
        id=decision.way or "newest",
        python=decision.python.series if decision.python is not None else None,
        pytorch=pytorch,
        driver=decision.driver,
        cuda_toolkit=decision.parts.toolkit,
        cudnn=decision.parts.cudnn,
        tensorflow=tensorflow,
        cost=_estimate_cost(decision),
        lacks=decision.lacks or UNSET,
    )


def _estimate_cost(decision: SetupDecision) -> WayCost:
    target, changes_driver = decision.target, decision.driver.needs_install
    is_ours = installs_driver(target, decision.driver)
    return WayCost(
        package_bytes=_estimate_package_bytes(decision),
        driver_bytes=estimate_driver_bytes(target) if changes_driver else 0,
        restarts=int(changes_driver),
        admin_prompts=int(changes_driver and is_ours) + _count_further_prompts(decision),
        manual_driver=changes_driver and not is_ours,
    )


def _count_further_prompts(decision: SetupDecision) -> int:
    """The administrator prompts of other publishers' installers on Windows, where TensorFlow alone has no two ways."""
    if decision.target.machine.os.system != "windows" or not isinstance(decision, Decision):
        return 0
    return int(needs_vc_runtime(decision)) + int(decision.parts.toolkit.way is not None)


def _estimate_package_bytes(decision: SetupDecision) -> int | None:
    """The download of all parts of a decision: PyTorch, TensorFlow and what they need, as measured on builds of this
    kind, and the archives or packages of the toolkit and cuDNN; None where that of one part is not known.
    """
    catalog, system = decision.target.catalog, decision.target.machine.os.system
    sizes: list[int | None] = []
    if isinstance(decision, Decision):
        sizes.append(catalog.sizes(decision.candidate.build.variant, system).download_bytes)
    if decision.tensorflow is not None:
        sizes.append(_estimate_tensorflow_bytes(decision.target, decision.tensorflow))
    if decision.parts.toolkit.action == "install":
        sizes.append(_toolkit_bytes(decision))
    if decision.parts.cudnn.action == "install":
        sizes.append(_cudnn_bytes(decision))
    return total(sizes)


def _estimate_tensorflow_bytes(target: TargetSystem, tensorflow: TensorFlowCandidate) -> int | None:
    if tensorflow.uses_gpu and not tensorflow.build.bundled_cuda:
        return None
    measured = target.catalog.tensorflow_size(
        target.machine.os.system, tensorflow.build.cuda if tensorflow.uses_gpu else None
    )
    return measured.download_bytes if measured is not None else None


def _toolkit_bytes(decision: SetupDecision) -> int | None:
    """The download of the toolkit to install; None where it is not known."""
    target, advice = decision.target, decision.parts.toolkit
    candidate = decision.candidate if isinstance(decision, Decision) else None
    beside_pytorch = advice.way == "wheels" and bundled_toolkit(target, candidate, decision.parts) is not None
    return _find_toolkit_bytes(
        target.catalog,
        advice.version,
        advice.way,
        system=target.machine.os.system,
        arch=target.arch,
        beside_pytorch=beside_pytorch,
    )


@lru_cache(maxsize=256)
def _find_toolkit_bytes(
    catalog: Catalog, version: str | None, way: str | None, *, system: SystemName, arch: str, beside_pytorch: bool
) -> int | None:
    cuda, parsed = catalog.cuda, Version.parse(version)
    if parsed is None:
        return None
    if way == "installer":
        installer = cuda.installer(version, system, arch)
        return installer.bytes if installer is not None else None
    if way is None:
        return cuda.redist.toolkit_bytes(parsed, system, arch) if cuda.redist is not None else None
    if cuda.wheels is None:
        return None
    return cuda.wheels.toolkit_bytes(parsed, system, arch, beside_pytorch=beside_pytorch)


def _cudnn_bytes(decision: SetupDecision) -> int | None:
    """The download of a cuDNN that is installed by itself; 0 for one that comes with PyTorch's packages."""
    target, advice, toolkit = decision.target, decision.parts.cudnn, Version.parse(decision.parts.toolkit.version)
    if advice.way == "wheels":
        return 0
    candidate = decision.candidate if isinstance(decision, Decision) else None
    cuda = toolkit or (candidate.build.cuda if candidate is not None else None)
    if cuda is None or advice.version is None:
        return None
    return _find_cudnn_bytes(target.catalog, advice.version, target.machine.os.system, target.arch, cuda.major)


@lru_cache(maxsize=256)
def _find_cudnn_bytes(catalog: Catalog, version: str, system: SystemName, arch: str, cuda_major: int) -> int | None:
    archives = (each for release in find_cudnn_releases(catalog, version) for each in release.archives)
    platform = (system, arch, cuda_major)
    return next((each.bytes for each in archives if (each.system, each.arch, each.cuda) == platform), None)


def estimate_driver_bytes(target: TargetSystem) -> int | None:
    """The download of a driver, as measured on one for this system; None where none was measured."""
    state = target.driver_state
    if state is None:
        return None
    method = find_install_method(target.catalog.drivers, target.machine.os) if state.system == "linux" else None
    return target.catalog.driver_bytes(state.system, method.distribution if method is not None else None)
