"""What a local source of wheels offers this machine. Offered, never silently taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ..catalog.torch_builds import TorchRelease, TorchVariant
from ..catalog.versions import numbers
from ..core.machine import Machine
from ..core.recommendation import Alternative, LocalWheel
from .builds import Build, builds_for, cuda_of
from .pick import Pick, Site, best_pick
from .pythons import python_for


def series_of(tag: str | None) -> str | None:
    """The Python series of a wheel's tag: "cp311" or "3.11" is "3.11"; None if it serves every Python 3."""
    if tag is None:
        return None
    digits = tag.removeprefix("cp")
    if digits != tag and digits.isascii() and digits.isdigit() and len(digits) > 1:
        return f"{digits[0]}.{digits[1:]}"
    version = numbers(tag)
    return tag if version is not None and len(version) == 2 else None


def fits_platform(wheel: LocalWheel, machine: Machine, arch: str) -> bool:
    """Whether the wheel's file name is for this system, processor and C library."""
    platform = PurePath(wheel.path.replace("\\", "/")).name.removesuffix(".whl").rsplit("-", 1)[-1]
    return any(_fits(tag, machine, arch) for tag in platform.split("."))


def _fits(tag: str, machine: Machine, arch: str) -> bool:
    if tag == "any":
        return True
    linux_arch = "x86_64" if arch == "x86_64" else "aarch64"
    match machine.os.system:
        case "windows":
            return tag == ("win_amd64" if arch == "x86_64" else "win_arm64")
        case "darwin":
            return tag.startswith("macosx_") and tag.endswith(("x86_64" if arch == "x86_64" else "arm64", "universal2"))
        case "linux":
            if not tag.endswith(f"_{linux_arch}"):
                return False
            glibc = numbers(machine.os.glibc)
            parts = tag.split("_")
            if glibc is None or parts[0] != "manylinux" or len(parts) < 3:
                return tag.startswith(("manylinux", "linux"))
            needed = numbers(f"{parts[1]}.{parts[2]}")
            return needed is not None and glibc >= needed


def torch_wheels(where: Site, wheels: tuple[LocalWheel, ...]) -> Iterator[tuple[LocalWheel, str]]:
    """The torch wheels for this system, each with its variant (an untagged one is the system's default)."""
    for wheel in wheels:
        if wheel.project != "torch" or numbers(wheel.version) is None:
            continue
        if not fits_platform(wheel, where.machine, where.arch):
            continue
        variant = wheel.variant or where.catalog.default_variant(wheel.version, where.machine.os.system, where.arch)
        if variant is not None:
            yield wheel, variant


def local_builds(where: Site, wheels: tuple[LocalWheel, ...]) -> tuple[Build, ...]:
    """The wheelhouse's torch builds as builds, each for the Pythons that its wheels serve, newest first.

    What the catalog knows about a build is kept; a build that it does not know has unknown code.
    """
    if not wheels:
        return ()
    known = {(b.version, b.variant): b for b in builds_for(where.catalog, where.machine.os.system, where.arch)}
    series: dict[tuple[str, str], set[str]] = {}
    for wheel, variant in torch_wheels(where, wheels):
        tag = series_of(wheel.python)
        release = where.catalog.release(wheel.version)
        offered = {tag} if tag is not None else set(release.python if release is not None else ())
        series.setdefault((wheel.version, variant), set()).update(offered)
    newest_first = sorted(
        (key for key, pythons in series.items() if pythons),
        key=lambda key: (numbers(key[0]) or (), cuda_of(key[1]) or (0, 0)),
        reverse=True,
    )
    return tuple(
        Build(
            release=_release(where, version, tuple(sorted(series[version, variant])), wheels),
            record=known[version, variant].record if (version, variant) in known else _unknown_record(where, variant),
            rank=rank,
            cuda=cuda_of(variant),
            local=True,
        )
        for rank, (version, variant) in enumerate(newest_first)
    )


def _unknown_record(where: Site, variant: str) -> TorchVariant:
    return TorchVariant(
        system=where.machine.os.system,
        arch="arm64" if where.arch == "arm64" else "x86_64",
        variant=variant,
        index_url=None,
    )


def _release(where: Site, version: str, pythons: tuple[str, ...], wheels: tuple[LocalWheel, ...]) -> TorchRelease:
    known = where.catalog.release(version)
    vision = known.torchvision if known is not None else None
    here = any(
        w.project == "torchvision"
        and w.version == vision
        and (series_of(w.python) is None or series_of(w.python) in pythons)
        and fits_platform(w, where.machine, where.arch)
        for w in wheels
    )
    return TorchRelease(
        version=version,
        date=known.date if known is not None else None,
        python=pythons,
        torchvision=vision if here else None,
        torchaudio=None,
        default_variant=known.default_variant if known is not None else {},
        variants=(),
    )


def alternative(
    where: Site, recommended: Pick, python: str | None, wheels: tuple[LocalWheel, ...]
) -> Alternative | None:
    """The wheelhouse's best build for this machine, unless it holds the recommended one."""
    builds = local_builds(where, wheels)
    wanted = (recommended.build.version, recommended.build.variant)
    if any((b.version, b.variant) == wanted and python in b.release.python for b in builds):
        return None
    for build in builds:
        if not _suits(where, recommended, build):
            continue
        found = python_for(where.machine, where.catalog, where.arch, build.release.python)
        if found is not None:
            change = {"pytorch": build.version, "variant": build.variant, "python": found.series}
            return Alternative(code="wheelhouse-torch", change={**change}, data={**change, "build": build.label})
    return None


def _suits(where: Site, recommended: Pick, build: Build) -> bool:
    if recommended.build.cuda is None:
        return build.variant == "cpu"
    if build.cuda is None or build.record.arch_list is None:
        return False
    published = best_pick(where, lambda b: (b.version, b.variant) == (build.version, build.variant))
    return published is not None
