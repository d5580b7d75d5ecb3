"""Two ways where a driver update is needed: the newest release with a new driver, or the newest that works with the
driver that is there.

Each is a whole `Decision`. The newest is preferred where this program installs the driver itself; where that is left to
the user, the one that works now, unless a part of the goal "all" is missing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from ..catalog.distributions import find_install_method
from ..core.errors import UsageError
from ..core.recommendation import DriverAdvice, PyTorchChoice, TensorFlowChoice, Way, WayCost
from ..core.types import WayLack
from .candidates import TargetSystem
from .decision import Decision, SetupDecision
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
    """The download of PyTorch or TensorFlow and what it needs, as measured on a build of this kind; None where more is
    installed.
    """
    system, tensorflow = decision.target.machine.os.system, decision.tensorflow
    if decision.parts.toolkit.action == "install":
        return None
    if not isinstance(decision, Decision):
        if tensorflow is None or not (tensorflow.build.bundled_cuda or not tensorflow.uses_gpu):
            return None
        cuda = tensorflow.build.cuda if tensorflow.uses_gpu else None
        return decision.target.catalog.tensorflow_bytes(system, cuda)
    if tensorflow is not None:
        return None
    return decision.target.catalog.sizes(
        decision.candidate.build.variant, decision.target.machine.os.system
    ).download_bytes


def estimate_driver_bytes(target: TargetSystem) -> int | None:
    """The download of a driver, as measured on one for this system; None where none was measured."""
    state = target.driver_state
    if state is None:
        return None
    method = find_install_method(target.catalog.drivers, target.machine.os) if state.system == "linux" else None
    return target.catalog.driver_bytes(state.system, method.distribution if method is not None else None)
