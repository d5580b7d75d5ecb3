"""Whether the operating system itself is new enough, and of a kind that published builds can be loaded on."""

from __future__ import annotations

import re

from ..catalog.load import Catalog
from ..catalog.records import LowestWindows
from ..catalog.torch_builds import Embedded, GlibcFloor
from ..catalog.versions import capability, numbers
from ..core.errors import AppError
from ..core.machine import Machine
from .builds import builds_for, excluded_devices, glibc_lacking
from .cards import Card, nvidia_cards
from .pick import Site


def refuse_unfit(machine: Machine, catalog: Catalog, arch: str) -> None:
    """Raises AppError("windows-too-old"), ("mac-too-old"), ("no-glibc"), ("glibc-too-old") or ("jetson") for a
    system on which nothing that is published can be installed.
    """
    windows = _windows_lacking(machine, catalog)
    if windows is not None:
        raise AppError("windows-too-old", needed=windows.name)
    if machine.os.system == "darwin":
        _refuse_old_mac(machine, catalog, arch)
    if machine.os.system != "linux":
        return
    embedded = catalog.pytorch.embedded
    if embedded is not None and arch == embedded.arch:
        for card in nvidia_cards(machine, catalog):
            if _embedded(card, catalog, embedded):
                # The newest boards' chip is in the general builds; their driver still comes with JetPack alone.
                code = "jetson-driver" if _listed(card, catalog, arch) else "jetson"
                raise AppError(code, gpu=card.name, url=embedded.url)
    distro = (machine.os.distro or "").casefold()
    without = catalog.pytorch.without_glibc
    if without is not None and distro in without.distributions:
        raise AppError("no-glibc", distro=machine.os.name or distro)
    glibc = numbers(machine.os.glibc)
    builds = builds_for(catalog, "linux", arch)
    if glibc is None or not builds or builds_for(catalog, "linux", arch, glibc):
        return
    lacking = (glibc_lacking(catalog, b.version, b.variant, arch, glibc) for b in builds)
    lowest = min((floor.lowest for floor in lacking if floor is not None), key=lambda text: numbers(text) or ())
    raise AppError("glibc-too-old", installed=machine.os.glibc, needed=lowest)


def _embedded(card: Card, catalog: Catalog, embedded: Embedded) -> bool:
    """Whether this is one of the boards whose chip the general builds leave out."""
    if any(card.capability in listed for listed in excluded_devices(catalog).values()):
        return True
    words = re.split(r"[^a-z0-9]+", card.name.casefold())
    return not set(words).isdisjoint(embedded.names)


def _listed(card: Card, catalog: Catalog, arch: str) -> bool:
    """Whether a general build for this kind of computer has code made for a card's chip."""
    codes = (text for build in builds_for(catalog, "linux", arch) for text in build.record.arch_list or ())
    return card.capability is not None and any(capability(text) == card.capability for text in codes)


def _refuse_old_mac(machine: Machine, catalog: Catalog, arch: str) -> None:
    here = numbers(machine.os.version)
    builds = builds_for(catalog, "darwin", arch)
    lowest = [build.record.lowest_system for build in builds]
    if here is None or not lowest or any(text is None or here >= (numbers(text) or ()) for text in lowest):
        return
    needed = min(filter(None, lowest), key=lambda text: numbers(text) or ())
    raise AppError("mac-too-old", installed=machine.os.version, needed=needed)


def held_back(where: Site) -> GlibcFloor | None:
    """The floor of the newest release that this Linux stays under; None where the newest fits."""
    newest = where.catalog.releases[0]
    if where.glibc is None:
        return None
    variant = next((v.variant for v in newest.variants if (v.system, v.arch) == ("linux", where.arch)), "cpu")
    return glibc_lacking(where.catalog, newest.version, variant, where.arch, where.glibc)


def _windows_lacking(machine: Machine, catalog: Catalog) -> LowestWindows | None:
    """The oldest Windows that would do; None where this one does, is not known, or is no Windows."""
    system, floor = machine.os, catalog.drivers.lowest_windows
    if system.system != "windows" or floor is None:
        return None
    if system.build is not None:
        return floor if system.build < floor.build else None
    here, lowest = numbers(system.version), numbers(floor.version)
    return floor if here is not None and lowest is not None and here < lowest else None
