"""What Linux asks for beside a driver: who may compute on a card, and what joins the cards of a server."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import Accelerator, DriverAdvice
from ..core.recommendation import Warning as Caution
from .pick import Site


def group_cautions(where: Site, accelerator: Accelerator) -> Iterator[Caution]:
    """AMD's and Intel's cards are open to some groups of users only; NVIDIA's driver opens its cards to all."""
    system, maker = where.machine.os, {"rocm": "amd", "xpu": "intel"}.get(accelerator)
    if system.system != "linux" or system.wsl:
        return
    row = next((each for each in where.catalog.accelerators.linux_groups if each.vendor == maker), None)
    if row is not None:
        url = where.catalog.source(where.catalog.accelerators, row.source)
        data: dict[str, Value] = {"groups": ",".join(row.groups), "named": ", ".join(row.groups), "url": url}
        yield Caution(code=f"groups-{maker}", data=data)


def fabric_cautions(where: Site, advice: DriverAdvice) -> Iterator[Caution]:
    """NVSwitch needs its manager in the very version of the driver, which an update of the driver alone breaks."""
    facts, system = where.catalog.drivers.fabric_manager, where.machine.os
    if facts is None or system.system != "linux" or system.wsl or advice.action == "none":
        return
    cards = [gpu for gpu in where.machine.gpus_of("nvidia") if gpu.pci_id in facts.pci_ids]
    if len(cards) < 2:
        return
    branch, pattern = numbers(advice.recommended), facts.packages.get((system.distro or "").casefold())
    url = where.catalog.source(where.catalog.drivers, facts.source)
    data: dict[str, Value] = {"service": facts.service, "url": url}
    # With Secure Boot the driver is not the servers' one, to which those packages belong.
    theirs = advice.changes and advice.way == "packages" and system.secure_boot is not True
    if pattern is None or branch is None or not theirs:
        yield Caution(code="fabric-manager", data=data)
        return
    package = pattern.replace("{branch}", str(branch[0]))
    yield Caution(code="fabric-manager-packages", data={**data, "package": package})
