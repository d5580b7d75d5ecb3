"""Whether the operating system itself is new enough, and of a kind that published builds can be loaded on."""

from __future__ import annotations

import re

from ..catalog.load import Catalog
from ..catalog.records import MinimumWindows
from ..catalog.torch_builds import EmbeddedBoards, GlibcMinimum
from ..catalog.versions import parse_capability, parse_version
from ..core.errors import AppError
from ..core.machine import Machine
from .builds import list_builds, excluded_devices, unmet_glibc
from .cards import NvidiaGpu, nvidia_gpus
from .pick import TargetSystem


def check_system_supported(machine: Machine, catalog: Catalog, arch: str) -> None:
    """Raises AppError("windows-too-old"), ("mac-too-old"), ("no-glibc"), ("glibc-too-old") or ("jetson") for a
    system on which nothing that is published can be installed.
    """
    minimum_windows = _unmet_windows_version(machine, catalog)
    if minimum_windows is not None:
        raise AppError("windows-too-old", needed=minimum_windows.name)
    if machine.os.system == "darwin":
        _check_macos_version(machine, catalog, arch)
    if machine.os.system != "linux":
        return
    embedded = catalog.pytorch.embedded
    if embedded is not None and arch == embedded.arch:
        for card in nvidia_gpus(machine, catalog):
            if _is_embedded_board(card, catalog, embedded):
                # The newest boards' chip is in the general builds; their driver still comes with JetPack alone.
                code = "jetson-driver" if _has_native_code(card, catalog, arch) else "jetson"
                raise AppError(code, gpu=card.name, url=embedded.url)
    distro = (machine.os.distro or "").casefold()
    unsupported = catalog.pytorch.without_glibc
    if unsupported is not None and distro in unsupported.distributions:
        raise AppError("no-glibc", distro=machine.os.name or distro)
    glibc = parse_version(machine.os.glibc)
    builds = list_builds(catalog, "linux", arch)
    if glibc is None or not builds or list_builds(catalog, "linux", arch, glibc):
        return
    unmet = (unmet_glibc(catalog, b.version, b.variant, arch, glibc) for b in builds)
    lowest = min((minimum.lowest for minimum in unmet if minimum is not None), key=lambda text: parse_version(text) or ())
    raise AppError("glibc-too-old", installed=machine.os.glibc, needed=lowest)


def _is_embedded_board(card: NvidiaGpu, catalog: Catalog, embedded: EmbeddedBoards) -> bool:
    """Whether this is one of the boards whose chip the general builds leave out."""
    if any(card.capability in chips for chips in excluded_devices(catalog).values()):
        return True
    name_parts = re.split(r"[^a-z0-9]+", card.name.casefold())
    return not set(name_parts).isdisjoint(embedded.names)


def _has_native_code(card: NvidiaGpu, catalog: Catalog, arch: str) -> bool:
    """Whether a general build for this kind of computer has code made for a card's chip."""
    codes = (text for build in list_builds(catalog, "linux", arch) for text in build.record.arch_list or ())
    return card.capability is not None and any(parse_capability(text) == card.capability for text in codes)


def _check_macos_version(machine: Machine, catalog: Catalog, arch: str) -> None:
    installed_version = parse_version(machine.os.version)
    builds = list_builds(catalog, "darwin", arch)
    minimum_versions = [build.record.lowest_system for build in builds]
    if installed_version is None or not minimum_versions or any(text is None or installed_version >= (parse_version(text) or ()) for text in minimum_versions):
        return
    needed = min(filter(None, minimum_versions), key=lambda text: parse_version(text) or ())
    raise AppError("mac-too-old", installed=machine.os.version, needed=needed)


def unmet_glibc_of_newest(target: TargetSystem) -> GlibcMinimum | None:
    """The floor of the newest release that this Linux stays under; None where the newest fits."""
    newest = target.catalog.releases[0]
    if target.glibc is None:
        return None
    variant = next((v.variant for v in newest.variants if (v.system, v.arch) == ("linux", target.arch)), "cpu")
    return unmet_glibc(target.catalog, newest.version, variant, target.arch, target.glibc)


def _unmet_windows_version(machine: Machine, catalog: Catalog) -> MinimumWindows | None:
    """The oldest Windows that would do; None where this one does, is not known, or is no Windows."""
    system, minimum = machine.os, catalog.drivers.lowest_windows
    if system.system != "windows" or minimum is None:
        return None
    if system.build is not None:
        return minimum if system.build < minimum.build else None
    installed_version, minimum_version = parse_version(system.version), parse_version(minimum.version)
    return minimum if installed_version is not None and minimum_version is not None and installed_version < minimum_version else None
