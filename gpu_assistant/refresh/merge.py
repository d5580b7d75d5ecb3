"""What pages said, put into the catalog's records. Pure. What a page cannot say stays unknown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..catalog.libraries import Cudnn, CudnnArchive, CudnnRelease
from ..catalog.records import Cuda, DriverPackage, Drivers, Toolkit
from ..catalog.refreshing import DriverQuestion
from ..catalog.subject import Source, Subject
from ..catalog.torch_builds import PyTorch, TorchRelease, TorchVariant
from ..catalog.versions import numbers
from .pages import CudnnIndex, FoundDriver, Garbage, Index, Wheel

LIVE = "live"
CUDA_MAJOR = re.compile(r"cu(\d+)\d")
Kind = TypeVar("Kind", bound=Subject)


def dated(subject: Kind, day: str, page: Source) -> Kind:
    """The subject as of a day, with the page among its sources; days never go back."""
    return replace(subject, as_of=max(day, subject.as_of), sources={**subject.sources, LIVE: page})


def _order(version: str) -> tuple[int, ...]:
    return numbers(version) or ()


def pytorch(
    known: PyTorch, wheels: Iterable[Wheel], *, index: str, oldest: str, majors: Collection[int]
) -> tuple[PyTorch, int]:
    """The releases with those builds that the index has and the catalog lacks, and how many builds those are.

    Which chips a new build has code for no page says: its `arch_list` is None, and it is not recommended while
    others are known. Systems that the catalog knows nothing of, and builds for a CUDA of other `majors` than those
    whose lowest driver is known, are left out.
    """
    systems = {(build.system, build.arch) for release in known.releases for build in release.variants}
    by_version: dict[str, dict[tuple[str, str, str], list[Wheel]]] = {}
    for wheel in wheels:
        major = CUDA_MAJOR.fullmatch(wheel.variant)
        if major is not None and int(major[1]) not in majors:
            continue
        if (wheel.system, wheel.arch) in systems and _order(wheel.version) >= _order(oldest):
            key = (wheel.system, wheel.arch, wheel.variant)
            by_version.setdefault(wheel.version, {}).setdefault(key, []).append(wheel)
    releases = {release.version: release for release in known.releases}
    twins = {_order(version): version for version in releases}
    count = 0
    for version, builds in by_version.items():
        release = releases.get(twins.get(_order(version), version))
        has = {(b.system, b.arch, b.variant) for b in release.variants} if release is not None else set()
        new = tuple(_build(found, index) for key, found in sorted(builds.items()) if key not in has)
        if not new:
            continue
        count += len(new)
        if release is None:
            series = {wheel.python for found in builds.values() for wheel in found}
            releases[version] = _release(version, series, new)
        else:
            releases[release.version] = replace(release, variants=(*release.variants, *new))
    ordered = tuple(sorted(releases.values(), key=lambda release: _order(release.version), reverse=True))
    return replace(known, releases=ordered), count


def _release(version: str, series: set[str], new: tuple[TorchVariant, ...]) -> TorchRelease:
    return TorchRelease(
        version=version,
        date=None,
        python=tuple(sorted(series, key=_order)),
        torchvision=None,
        torchaudio=None,
        default_variant={},
        variants=new,
    )


def _build(found: list[Wheel], index: str) -> TorchVariant:
    first = found[0]
    return TorchVariant(
        system=first.system,
        arch=first.arch,
        variant=first.variant,
        index_url=None if first.system == "darwin" else f"{index.rstrip('/')}/{first.variant}",
        arch_list=None,
        mps=first.system == "darwin",
        sha256={wheel.python: wheel.sha256 for wheel in found if wheel.sha256 is not None},
        confidence="medium",
        source=LIVE,
    )


def toolkits(known: Cuda, indexes: Mapping[str, tuple[Index, str | None, str]]) -> tuple[Cuda, int]:
    """New toolkits by version from (index, its address, its sha256); their drivers and chips stay unknown."""
    new = [
        Toolkit(
            version=version,
            date=index.release_date,
            linux_driver=None,
            windows_driver=None,
            redist_index=url,
            redist_sha256=sha256,
            source=LIVE,
            confidence="medium",
        )
        for version, (index, url, sha256) in indexes.items()
    ]
    ordered = sorted((*known.toolkits, *new), key=lambda toolkit: _order(toolkit.version), reverse=True)
    return replace(known, toolkits=tuple(ordered)), len(new)


def cudnn(known: Cudnn, indexes: Mapping[str, tuple[CudnnIndex, str, str]]) -> tuple[Cudnn, int]:
    """New cuDNN releases from (index, its address, its sha256); their oldest chips and wheels stay unknown."""
    have = {_order(release.version) for release in known.releases}
    new = [
        _cudnn(index, url, sha256, known.index)
        for index, url, sha256 in indexes.values()
        if _order(index.cudnn.version) not in have
    ]
    ordered = sorted((*known.releases, *new), key=lambda release: _order(release.version), reverse=True)
    return replace(known, releases=tuple(ordered)), len(new)


def _cudnn(index: CudnnIndex, url: str, sha256: str, base: str) -> CudnnRelease:
    part = index.cudnn
    majors = tuple(int(major) for major in part.cuda_variant)
    systems = (("windows", part.windows), ("linux", part.linux))
    archives = tuple(
        CudnnArchive(
            system="windows" if system == "windows" else "linux",
            arch="x86_64",
            cuda=major,
            url=f"{base}{archive.relative_path}",
            sha256=archive.sha256,
            md5=archive.md5,
            bytes=int(archive.size) or None,
        )
        for system, found in systems
        for major in sorted(majors, reverse=True)
        if (archive := found.get(f"cuda{major}")) is not None and part.version in archive.relative_path
    )
    return CudnnRelease(
        version=part.version,
        date=index.release_date,
        cuda_majors=majors,
        lowest_capability={},
        wheels=(),
        archives=archives,
        index_url=url,
        index_sha256=sha256,
        source=LIVE,
        confidence="medium",
    )


def drivers(known: Drivers, answers: Iterable[tuple[DriverQuestion, tuple[FoundDriver, ...]]]) -> tuple[Drivers, int]:
    """The newest driver of each question, where it is newer than what is known for that kind of card.

    Raises Garbage for a driver that the card's generation does not get, or from a host that is not the maker's:
    such an answer is not about the card that was asked for. The lookup gives no hashes: those stay unknown.
    """
    packages = list(known.packages)
    count = 0
    for question, found in answers:
        newest = max((d for d in found if _wanted(d, question)), key=lambda d: _order(d.version), default=None)
        if newest is None:
            continue
        _judge(newest, question, known)
        place = next((n for n, package in enumerate(packages) if _same(package, question)), len(packages))
        if place < len(packages) and _order(packages[place].version) >= _order(newest.version):
            continue
        packages.insert(place, _package(newest, question))
        count += 1
    return replace(known, packages=tuple(packages)), count


def _wanted(driver: FoundDriver, question: DriverQuestion) -> bool:
    return question.channel is None or driver.studio in (None, question.channel == "studio")


def _same(package: DriverPackage, question: DriverQuestion) -> bool:
    return (package.system, package.generation, package.segment, package.channel) == (
        question.system,
        question.generation,
        question.segment,
        question.channel,
    )


def _judge(driver: FoundDriver, question: DriverQuestion, known: Drivers) -> None:
    generation = next((g for g in known.generations if g.id == question.generation), None)
    branch = _order(driver.version)[0] // 10
    if generation is None or (generation.last_branch is not None and branch != generation.last_branch // 10):
        raise Garbage(f"driver {driver.version} for {question.generation}")
    parts = urlsplit(driver.url)
    hosts = known.lookup.hosts if known.lookup is not None else ()
    if parts.scheme != "https" or not (parts.hostname or "").endswith(hosts):
        raise Garbage(f"driver from {parts.scheme}://{parts.hostname}")


def _package(driver: FoundDriver, question: DriverQuestion) -> DriverPackage:
    return DriverPackage(
        version=driver.version,
        date=driver.day,
        system=question.system,
        generation=question.generation,
        segment=question.segment,
        channel=question.channel,
        url=driver.url,
        sha256=None,
        source=LIVE,
        confidence="medium",
    )
