"""Which Python the environment gets, and which PyTorch builds the user's wheelhouse has for it.

A wheelhouse is a folder of wheels beside the indexes. Its builds are offered as an alternative, never taken unasked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.pytorch import TorchRelease, TorchVariant
from ..catalog.store import Catalog
from ..catalog.wheel_variants import split_variant_label
from ..core.machine import Machine, Python, SystemName
from ..core.recommendation import Alternative, LocalWheel
from ..core.versions import Version, version_key
from .builds import Build, list_builds, parse_cuda_tag
from .candidates import Candidate, TargetSystem, best_candidate

PythonOrigin = Literal["here", "download"]


class PythonCandidate(Struct, frozen=True):
    """A Python series ("3.13"), where it comes from, and its exact version. `skipped` is an interpreter that would suit
    too, but belongs to conda, to the Microsoft Store, or to an environment.
    """

    series: str
    origin: PythonOrigin
    version: str
    skipped: Python | None = None


def skipped_reason_code(python: Python) -> str:
    """The part of a reason's code that says why an interpreter is not used."""
    return "not-conda" if python.kind == "conda" else "not-own"


def select_python(machine: Machine, catalog: Catalog, arch: str, supported: tuple[str, ...]) -> PythonCandidate | None:
    """The newest supported series that is installed as an interpreter of its own, else the best one that can be
    downloaded; None if there is neither.
    """
    best: tuple[Version, PythonCandidate] | None = None
    skipped: Python | None = None
    for python in machine.pythons or ():
        version = Version.parse(python.version)
        if python.arch not in (None, arch) or version is None:
            continue
        series = version.series.text
        # The user may change or delete an environment or a conda, and with it the base of ours.
        if python.kind not in ("system", "managed"):
            skipped = python if skipped is None and series in supported else skipped
        elif series in supported and (best is None or version > best[0]):
            best = (version, PythonCandidate(series, "here", python.version))
    if best is not None:
        return best[1]
    download = find_downloadable(catalog, machine.os.system, arch, supported)
    return download if download is None or skipped is None else replace(download, skipped=skipped)


@lru_cache(maxsize=256)
def find_downloadable(
    catalog: Catalog, system: SystemName, arch: str, supported: tuple[str, ...]
) -> PythonCandidate | None:
    """The first preferred series that is supported and has a standalone build, else the newest one."""
    preferred = [series for series in catalog.pythons.preferred if series in supported]
    for series in (*preferred, *sorted(supported, key=version_key, reverse=True)):
        build = catalog.standalone_python(series, system, arch)
        if build is not None:
            return PythonCandidate(series, "download", build.version.text)
    return None


def python_series_of_tag(tag: str | None) -> str | None:
    """The Python series of a wheel's tag: "3.11" for "cp311" or "3.11"; None if it serves every Python 3."""
    if tag is None:
        return None
    digits = tag.removeprefix("cp")
    if digits != tag and digits.isascii() and digits.isdigit() and len(digits) > 1:
        return f"{digits[0]}.{digits[1:]}"
    return tag if len(version_key(tag)) == 2 else None


def fits_platform(wheel: LocalWheel, machine: Machine, arch: str) -> bool:
    """Whether the wheel's file name is for this system, processor and C library."""
    plain_name = split_variant_label(PurePath(wheel.path.replace("\\", "/")).name).plain_name
    platform = plain_name.removesuffix(".whl").rsplit("-", 1)[-1]
    return any(_is_platform_tag_compatible(tag, machine, arch) for tag in platform.split("."))


def _is_platform_tag_compatible(tag: str, machine: Machine, arch: str) -> bool:
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
            glibc = Version.parse(machine.os.glibc)
            parts = tag.split("_")
            if glibc is None or parts[0] != "manylinux" or len(parts) < 3:
                return tag.startswith(("manylinux", "linux"))
            needed = Version.parse(f"{parts[1]}.{parts[2]}")
            return needed is not None and glibc >= needed


def list_torch_wheels(target: TargetSystem, wheels: tuple[LocalWheel, ...]) -> Iterator[tuple[LocalWheel, str]]:
    """The torch wheels for this system, each with its variant (without a tag it is the one that PyPI serves). Wheel
    variants are left out: they cannot be locked yet.
    """
    for wheel in wheels:
        if wheel.project != "torch" or wheel.label is not None or Version.parse(wheel.version) is None:
            continue
        if not fits_platform(wheel, target.machine, target.arch):
            continue
        variant = wheel.variant or target.catalog.default_variant(wheel.version, target.machine.os.system, target.arch)
        if variant is not None:
            yield wheel, variant


def list_local_builds(target: TargetSystem, wheels: tuple[LocalWheel, ...]) -> tuple[Build, ...]:
    """The wheelhouse's torch builds, each for the Pythons of its wheels, newest first.

    The record is the catalog's; that of a build which it does not have knows nothing of the code inside.
    """
    if not wheels:
        return ()
    catalog_builds = {
        (b.version, b.variant): b for b in list_builds(target.catalog, target.machine.os.system, target.arch)
    }
    series: dict[tuple[str, str], set[str]] = {}
    for wheel, variant in list_torch_wheels(target, wheels):
        tag = python_series_of_tag(wheel.python)
        release = target.catalog.release(wheel.version)
        python_series = {tag} if tag is not None else set(release.python if release is not None else ())
        series.setdefault((wheel.version, variant), set()).update(python_series)
    newest_first = sorted(
        (key for key, pythons in series.items() if pythons),
        key=lambda key: (version_key(key[0]), cuda.parts if (cuda := parse_cuda_tag(key[1])) is not None else ()),
        reverse=True,
    )
    return tuple(
        Build(
            release=_local_release(target, version, tuple(sorted(series[version, variant])), wheels),
            record=catalog_builds[version, variant].record
            if (version, variant) in catalog_builds
            else _unknown_record(target, variant),
            rank=rank,
            cuda=parse_cuda_tag(variant),
            local=True,
        )
        for rank, (version, variant) in enumerate(newest_first)
    )


def _unknown_record(target: TargetSystem, variant: str) -> TorchVariant:
    return TorchVariant(
        system=target.machine.os.system,
        arch="arm64" if target.arch == "arm64" else "x86_64",
        variant=variant,
        index_url=None,
    )


def _local_release(
    target: TargetSystem, version: str, pythons: tuple[str, ...], wheels: tuple[LocalWheel, ...]
) -> TorchRelease:
    release = target.catalog.release(version)
    torchvision = release.torchvision if release is not None else None
    has_torchvision = torchvision is not None and any(
        w.project == "torchvision"
        and w.label is None
        and w.version == torchvision.text
        and (python_series_of_tag(w.python) is None or python_series_of_tag(w.python) in pythons)
        and fits_platform(w, target.machine, target.arch)
        for w in wheels
    )
    return TorchRelease(
        version=Version(version),
        date=release.date if release is not None else None,
        python=pythons,
        torchvision=torchvision if has_torchvision else None,
        torchaudio=None,
        default_variant=release.default_variant if release is not None else {},
        variants=(),
    )


def wheelhouse_alternative(
    target: TargetSystem, recommended: Candidate, python: str | None, wheels: tuple[LocalWheel, ...]
) -> Alternative | None:
    """The wheelhouse's newest build that suits this machine, unless it has the recommended one."""
    builds = list_local_builds(target, wheels)
    key = (recommended.build.version, recommended.build.variant)
    if any((b.version, b.variant) == key and python in b.release.python for b in builds):
        return None
    for build in builds:
        if not _is_suitable(target, recommended, build):
            continue
        interpreter = select_python(target.machine, target.catalog, target.arch, build.release.python)
        if interpreter is not None:
            change = {"pytorch": build.version, "variant": build.variant, "python": interpreter.series}
            return Alternative(code="wheelhouse-torch", change={**change}, data={**change, "build": build.label})
    return None


def _is_suitable(target: TargetSystem, recommended: Candidate, build: Build) -> bool:
    if recommended.build.cuda is None:
        return build.variant == "cpu"
    if build.cuda is None or build.record.arch_list is None:
        return False
    published = best_candidate(target, lambda b: (b.version, b.variant) == (build.version, build.variant))
    return published is not None
