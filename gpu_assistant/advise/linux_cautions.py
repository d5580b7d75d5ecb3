"""What Linux asks for beside a driver: who may compute on a card, and what joins the cards of a server."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.versions import parse_version
from ..core.message import Value
from ..core.recommendation import Accelerator, DriverAdvice
from ..core.recommendation import RecommendationWarning as Caution
from .pick import TargetSystem


def group_warnings(target: TargetSystem, accelerator: Accelerator) -> Iterator[Caution]:
    """AMD's and Intel's cards are open to some groups of users only; NVIDIA's driver opens its cards to all."""
    system, vendor = target.machine.os, {"rocm": "amd", "xpu": "intel"}.get(accelerator)
    if system.system != "linux" or system.wsl:
        return
    groups = next((each for each in target.catalog.accelerators.linux_groups if each.vendor == vendor), None)
    if groups is not None:
        url = target.catalog.source_url(target.catalog.accelerators, groups.source)
        data: dict[str, Value] = {"groups": ",".join(groups.groups), "named": ", ".join(groups.groups), "url": url}
        yield Caution(code=f"groups-{vendor}", data=data)


def fabric_warnings(target: TargetSystem, advice: DriverAdvice) -> Iterator[Caution]:
    """NVSwitch needs its manager in the very version of the driver, which an update of the driver alone breaks."""
    fabric_manager, system = target.catalog.drivers.fabric_manager, target.machine.os
    if fabric_manager is None or system.system != "linux" or system.wsl or advice.action == "none":
        return
    cards = [gpu for gpu in target.machine.gpus_of("nvidia") if gpu.pci_id in fabric_manager.pci_ids]
    if len(cards) < 2:
        return
    branch, pattern = parse_version(advice.recommended), fabric_manager.packages.get((system.distro or "").casefold())
    url = target.catalog.source_url(target.catalog.drivers, fabric_manager.source)
    data: dict[str, Value] = {"service": fabric_manager.service, "url": url}
    # With Secure Boot the driver is not the servers' one, to which those packages belong.
    has_server_packages = advice.needs_install and advice.way == "packages" and system.secure_boot is not True
    if pattern is None or branch is None or not has_server_packages:
        yield Caution(code="fabric-manager", data=data)
        return
    package = pattern.replace("{branch}", str(branch[0]))
    yield Caution(code="fabric-manager-packages", data={**data, "package": package})
