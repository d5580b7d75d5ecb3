"""What pages said, put into the catalog's records. Pure. What a page cannot say stays unknown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..catalog.libraries import CudnnCatalog, CudnnArchive, CudnnRelease
from ..catalog.records import CudaCatalog, DriverPackage, DriverCatalog, ToolkitRelease
from ..catalog.refreshing import DriverLookupQuery
from ..catalog.subject import SourceRecord, CatalogFile
from ..catalog.torch_builds import PyTorchCatalog, TorchRelease, TorchVariant
from ..catalog.versions import parse_version
from .pages import CudnnIndex, DriverListing, UnexpectedPage, RedistIndexHeader, IndexedWheel

LIVE_SOURCE = "live"
CUDA_MAJOR = re.compile(r"cu(\d+)\d")
SubjectType = TypeVar("SubjectType", bound=CatalogFile)


def with_date(subject: SubjectType, day: str, source: SourceRecord) -> SubjectType:
    """The subject as of a day, with the page among its sources; days never go back."""
    return replace(subject, as_of=max(day, subject.as_of), sources={**subject.sources, LIVE_SOURCE: source})


def _version_key(version: str) -> tuple[int, ...]:
    return parse_version(version) or ()


def merge_pytorch(
    current: PyTorchCatalog, wheels: Iterable[IndexedWheel], *, index: str, oldest: str, known_majors: Collection[int]
) -> tuple[PyTorchCatalog, int]:
    """The releases with those builds that the index has and the catalog lacks, and how many builds those are.

    Which chips a new build has code for no page says: its `arch_list` is None, and it is not recommended while
    others are known. Systems that the catalog knows nothing of, and builds for a CUDA of other `majors` than those
    whose lowest driver is known, are left out.
    """
    systems = {(build.system, build.arch) for release in current.releases for build in release.variants}
    by_version: dict[str, dict[tuple[str, str, str], list[IndexedWheel]]] = {}
    for wheel in wheels:
        major = CUDA_MAJOR.fullmatch(wheel.variant)
        if major is not None and int(major[1]) not in known_majors:
            continue
        if (wheel.system, wheel.arch) in systems and _version_key(wheel.version) >= _version_key(oldest):
            key = (wheel.system, wheel.arch, wheel.variant)
            by_version.setdefault(wheel.version, {}).setdefault(key, []).append(wheel)
    releases = {release.version: release for release in current.releases}
    by_version_key = {_version_key(version): version for version in releases}
    count = 0
    for version, builds in by_version.items():
        release = releases.get(by_version_key.get(_version_key(version), version))
        existing = {(b.system, b.arch, b.variant) for b in release.variants} if release is not None else set()
        added = tuple(_make_variant(build_wheels, index) for key, build_wheels in sorted(builds.items()) if key not in existing)
        if not added:
            continue
        count += len(added)
        if release is None:
            python_versions = {wheel.python for build_wheels in builds.values() for wheel in build_wheels}
            releases[version] = _make_release(version, python_versions, added)
        else:
            releases[release.version] = replace(release, variants=(*release.variants, *added))
    ordered = tuple(sorted(releases.values(), key=lambda release: _version_key(release.version), reverse=True))
    return replace(current, releases=ordered), count


def _make_release(version: str, python_versions: set[str], variants: tuple[TorchVariant, ...]) -> TorchRelease:
    return TorchRelease(
        version=version,
        date=None,
        python=tuple(sorted(python_versions, key=_version_key)),
        torchvision=None,
        torchaudio=None,
        default_variant={},
        variants=variants,
    )


def _make_variant(wheels: list[IndexedWheel], index: str) -> TorchVariant:
    first = wheels[0]
    return TorchVariant(
        system=first.system,
        arch=first.arch,
        variant=first.variant,
        index_url=None if first.system == "darwin" else f"{index.rstrip('/')}/{first.variant}",
        arch_list=None,
        mps=first.system == "darwin",
        sha256={wheel.python: wheel.sha256 for wheel in wheels if wheel.sha256 is not None},
        confidence="medium",
        source=LIVE_SOURCE,
    )


def merge_toolkits(current: CudaCatalog, indexes: Mapping[str, tuple[RedistIndexHeader, str | None, str]]) -> tuple[CudaCatalog, int]:
    """New toolkits by version from (index, its address, its sha256); their drivers and chips stay unknown."""
    added = [
        ToolkitRelease(
            version=version,
            date=index.release_date,
            linux_driver=None,
            windows_driver=None,
            redist_index=url,
            redist_sha256=sha256,
            source=LIVE_SOURCE,
            confidence="medium",
        )
        for version, (index, url, sha256) in indexes.items()
    ]
    ordered = sorted((*current.toolkits, *added), key=lambda toolkit: _version_key(toolkit.version), reverse=True)
    return replace(current, toolkits=tuple(ordered)), len(added)


def merge_cudnn(current: CudnnCatalog, indexes: Mapping[str, tuple[CudnnIndex, str, str]]) -> tuple[CudnnCatalog, int]:
    """New cuDNN releases from (index, its address, its sha256); their oldest chips and wheels stay unknown."""
    known_versions = {_version_key(release.version) for release in current.releases}
    added = [
        _make_cudnn_release(index, url, sha256, current.index)
        for index, url, sha256 in indexes.values()
        if _version_key(index.cudnn.version) not in known_versions
    ]
    ordered = sorted((*current.releases, *added), key=lambda release: _version_key(release.version), reverse=True)
    return replace(current, releases=tuple(ordered)), len(added)


def _make_cudnn_release(index: CudnnIndex, url: str, sha256: str, base_url: str) -> CudnnRelease:
    entry = index.cudnn
    majors = tuple(int(major) for major in entry.cuda_variant)
    systems = (("windows", entry.windows), ("linux", entry.linux))
    archives = tuple(
        CudnnArchive(
            system="windows" if system == "windows" else "linux",
            arch="x86_64",
            cuda=major,
            url=f"{base_url}{archive.relative_path}",
            sha256=archive.sha256,
            md5=archive.md5,
            bytes=int(archive.size) or None,
        )
        for system, system_archives in systems
        for major in sorted(majors, reverse=True)
        if (archive := system_archives.get(f"cuda{major}")) is not None and entry.version in archive.relative_path
    )
    return CudnnRelease(
        version=entry.version,
        date=index.release_date,
        cuda_majors=majors,
        lowest_capability={},
        wheels=(),
        archives=archives,
        index_url=url,
        index_sha256=sha256,
        source=LIVE_SOURCE,
        confidence="medium",
    )


def merge_drivers(current: DriverCatalog, results: Iterable[tuple[DriverLookupQuery, tuple[DriverListing, ...]]]) -> tuple[DriverCatalog, int]:
    """The newest driver of each question, where it is newer than what is known for that kind of card.

    Raises Garbage for a driver that the card's generation does not get, or from a host that is not the maker's:
    such an answer is not about the card that was asked for. The lookup gives no hashes: those stay unknown.
    """
    packages = list(current.packages)
    count = 0
    for query, listings in results:
        newest = max((listing for listing in listings if _matches_channel(listing, query)), key=lambda d: _version_key(d.version), default=None)
        if newest is None:
            continue
        _validate_driver(newest, query, current)
        position = next((index for index, package in enumerate(packages) if _is_same_target(package, query)), len(packages))
        if position < len(packages) and _version_key(packages[position].version) >= _version_key(newest.version):
            continue
        packages.insert(position, _make_package(newest, query))
        count += 1
    return replace(current, packages=tuple(packages)), count


def _matches_channel(driver: DriverListing, query: DriverLookupQuery) -> bool:
    return query.channel is None or driver.studio in (None, query.channel == "studio")


def _is_same_target(package: DriverPackage, query: DriverLookupQuery) -> bool:
    return (package.system, package.generation, package.segment, package.channel) == (
        query.system,
        query.generation,
        query.segment,
        query.channel,
    )


def _validate_driver(driver: DriverListing, query: DriverLookupQuery, catalog_drivers: DriverCatalog) -> None:
    generation = next((g for g in catalog_drivers.generations if g.id == query.generation), None)
    branch = _version_key(driver.version)[0] // 10
    if generation is None or (generation.last_branch is not None and branch != generation.last_branch // 10):
        raise UnexpectedPage(f"driver {driver.version} for {query.generation}")
    parts = urlsplit(driver.url)
    hosts = catalog_drivers.lookup.hosts if catalog_drivers.lookup is not None else ()
    if parts.scheme != "https" or not (parts.hostname or "").endswith(hosts):
        raise UnexpectedPage(f"driver from {parts.scheme}://{parts.hostname}")


def _make_package(driver: DriverListing, query: DriverLookupQuery) -> DriverPackage:
    return DriverPackage(
        version=driver.version,
        date=driver.day,
        system=query.system,
        generation=query.generation,
        segment=query.segment,
        channel=query.channel,
        url=driver.url,
        sha256=None,
        source=LIVE_SOURCE,
        confidence="medium",
    )
