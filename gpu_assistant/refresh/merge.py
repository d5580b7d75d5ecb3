"""What came from the publishers' pages, merged into the catalog. Pure: what a page does not say stays unknown."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..catalog.records.base import CatalogFile, SourceRecord
from ..catalog.records.cuda import CudaCatalog, ToolkitRelease
from ..catalog.records.drivers import DriverCatalog, DriverPackage
from ..catalog.records.libraries import CudnnArchive, CudnnCatalog, CudnnRelease
from ..catalog.records.pytorch import PyTorchCatalog, TorchRelease, TorchVariant
from ..catalog.records.updates import DriverLookupQuery
from ..catalog.wheel_variants import VariantMetadata, variant_of
from ..core.files import is_plain_authority
from ..core.versions import Capability, Version, version_key
from .pages import CudnnIndex, DriverListing, IndexedWheel, RedistIndexHeader, UnexpectedPage

LIVE_SOURCE = "live"
CUDA_MAJOR = re.compile(r"cu(\d+)\d")
_log = logging.getLogger(__name__)
SubjectType = TypeVar("SubjectType", bound=CatalogFile)


def with_date(subject: SubjectType, day: str, key: str, source: SourceRecord) -> SubjectType:
    """The subject as of a day, with the page among its sources under this key; days never go back."""
    return replace(subject, as_of=max(day, subject.as_of), sources={**subject.sources, key: source})


class MergeResult(NamedTuple, Generic[SubjectType]):
    """A subject with what is new in it: how many records, and how many wheel variants were not understood."""

    subject: SubjectType
    added: int
    unread: int = 0


BuildKey = tuple[str, str, str]
WheelGroups = dict[Version, dict[BuildKey, list[IndexedWheel]]]


def merge_pytorch(
    current: PyTorchCatalog,
    wheels: Iterable[IndexedWheel],
    *,
    index: str,
    oldest: Version,
    known_majors: Collection[int],
    metadata: Mapping[Version, VariantMetadata] = MappingProxyType({}),
) -> MergeResult[PyTorchCatalog]:
    """The releases with the builds that the index has and the catalog lacks.

    What a new build is made for is told by the `metadata` of its release alone, where the same build is there as a
    wheel variant, too. Without it, its `arch_list` is None, and it is not recommended while others are known. Builds
    that are wheel variants only are kept apart. Left out are systems that the catalog does not know, and builds for a
    CUDA major that is not in `known_majors`, those whose minimum driver is known.
    """
    systems = {(build.system, build.arch) for release in current.releases for build in release.variants}
    plain: WheelGroups = {}
    labelled: WheelGroups = {}
    for wheel in wheels:
        if (wheel.system, wheel.arch) in systems and wheel.version >= oldest:
            groups, name = (plain, wheel.variant) if wheel.label is None else (labelled, wheel.label)
            key = (wheel.system, wheel.arch, name or "")
            groups.setdefault(wheel.version, {}).setdefault(key, []).append(wheel)
    releases = {release.version: release for release in current.releases}
    count = unread = 0
    for version in sorted({*plain, *labelled}):
        builds = {key: group for key, group in plain.get(version, {}).items() if _is_known_cuda(key[2], known_majors)}
        release = releases.get(version)
        existing = {(b.system, b.arch, b.variant) for b in release.variants} if release is not None else set()
        added = tuple(_make_variant(builds[each], index) for each in sorted(builds) if each not in existing)
        variants = labelled.get(version, {})
        stated = _read_statements(variants, metadata.get(version), index, known_majors)
        unread += len(variants) - len(stated)
        if release is None and (added or stated):
            python_versions = {wheel.python for group in builds.values() for wheel in group}
            python_versions |= {series for build in stated for series in build.python}
            release = _make_release(version, python_versions, ())
        if release is None:
            continue
        merged = _merge_statements(replace(release, variants=(*release.variants, *added)), stated)
        count += len(added) + _count_news(release, merged, len(added))
        if merged != release:
            releases[version] = merged
    ordered = tuple(sorted(releases.values(), key=lambda release: release.version, reverse=True))
    return MergeResult(replace(current, releases=ordered), count, unread)


def _is_known_cuda(variant: str, known_majors: Collection[int]) -> bool:
    major = CUDA_MAJOR.fullmatch(variant)
    return major is None or int(major[1]) in known_majors


def _read_statements(
    groups: Mapping[BuildKey, list[IndexedWheel]],
    metadata: VariantMetadata | None,
    index: str,
    known_majors: Collection[int],
) -> list[TorchVariant]:
    """The wheel variants of one release as builds. Left out is what is not understood: without metadata, with a label
    that it does not describe, or with demands or a CUDA that are not known.
    """
    stated = []
    for (_system, _arch, label), group in sorted(groups.items()):
        statement = metadata.statement(label) if metadata is not None else None
        variant = variant_of(label, statement)
        if statement is None or statement.unread or variant is None or not _is_known_cuda(variant, known_majors):
            _log.warning("wheel variant %s of PyTorch %s is not understood", label, group[0].version)
            continue
        build = _make_variant([replace(wheel, variant=variant) for wheel in group], index)
        stated.append(
            replace(
                build,
                index_url=index,
                label=label,
                stated=LIVE_SOURCE,
                arch_list=statement.arch_list,
                ptx_for=statement.ptx_for,
                lowest_cuda=statement.lowest_cuda,
                gfx=statement.gfx,
                python=tuple(sorted({wheel.python for wheel in group}, key=version_key)),
            )
        )
    return stated


def _merge_statements(release: TorchRelease, stated: list[TorchVariant]) -> TorchRelease:
    """What is stated of a wheel variant holds for the same build as a plain wheel, too. It replaces what was unknown or
    inferred of that; of a chip list that was read at a source only what both say stays. What has no plain wheel stays
    apart.
    """
    statements = {(build.system, build.arch, build.variant): build for build in stated}
    variants = [
        _with_statement(build, statements.pop((build.system, build.arch, build.variant), None))
        for build in release.variants
    ]
    known = {(build.system, build.arch, build.variant) for build in statements.values()}
    earlier = (each for each in release.labelled if (each.system, each.arch, each.variant) not in known)
    still_apart = {(build.system, build.arch, build.variant) for build in release.variants}
    labelled = [*(b for b in earlier if (b.system, b.arch, b.variant) not in still_apart), *statements.values()]
    ordered = sorted(labelled, key=lambda build: (build.system, build.arch, build.variant))
    return replace(release, variants=tuple(variants), labelled=tuple(ordered))


def _with_statement(build: TorchVariant, statement: TorchVariant | None) -> TorchVariant:
    if statement is None:
        return build
    was_read = build.arch_list is not None and build.confidence == "high" and build.stated is None
    return replace(
        build,
        stated=LIVE_SOURCE,
        confidence="high",
        arch_list=_common_code(build.arch_list, statement.arch_list) if was_read else statement.arch_list,
        ptx_for=tuple(c for c in build.ptx_for if c in statement.ptx_for) if was_read else statement.ptx_for,
        lowest_cuda=statement.lowest_cuda,
        gfx=statement.gfx,
    )


def _common_code(
    read: tuple[Capability, ...] | None, stated: tuple[Capability, ...] | None
) -> tuple[Capability, ...] | None:
    """The code of a build by what was read of it and by what is stated: of each list what the other one's code serves,
    too, which is code for the same major and for the same minor or a lower one.
    """
    if read is None or stated is None:
        return read
    pairs = ((read, stated), (stated, read))
    common = {one for own, other in pairs for one in own if any(c.major == one.major and c <= one for c in other)}
    return tuple(sorted(common))


def _count_news(before: TorchRelease, after: TorchRelease, added: int) -> int:
    """How many builds are known better or are new as wheel variants; `added` are counted elsewhere."""
    kept = after.variants[: len(after.variants) - added]
    changed = sum(new != old for new, old in zip(kept, before.variants, strict=True))
    return changed + sum(build not in before.labelled for build in after.labelled)


def _make_release(version: Version, python_versions: set[str], variants: tuple[TorchVariant, ...]) -> TorchRelease:
    return TorchRelease(
        version=version,
        date=None,
        python=tuple(sorted(python_versions, key=version_key)),
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
        variant=first.variant or "",
        index_url=None if first.system == "darwin" else f"{index.rstrip('/')}/{first.variant}",
        arch_list=None,
        mps=first.system == "darwin",
        sha256={wheel.python: wheel.sha256 for wheel in wheels if wheel.sha256 is not None},
        confidence="medium",
        source=LIVE_SOURCE,
    )


def merge_toolkits(
    current: CudaCatalog, indexes: Mapping[Version, tuple[RedistIndexHeader, str | None, str]]
) -> MergeResult[CudaCatalog]:
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
    ordered = sorted((*current.toolkits, *added), key=lambda toolkit: toolkit.version, reverse=True)
    return MergeResult(replace(current, toolkits=tuple(ordered)), len(added))


def merge_cudnn(
    current: CudnnCatalog, indexes: Mapping[Version, tuple[CudnnIndex, str, str]]
) -> MergeResult[CudnnCatalog]:
    """New cuDNN releases from (index, its address, its sha256); their oldest chips and wheels stay unknown."""
    known_versions = {release.version for release in current.releases}
    added = [
        _make_cudnn_release(index, url, sha256, current.index)
        for index, url, sha256 in indexes.values()
        if index.cudnn.version not in known_versions
    ]
    ordered = sorted((*current.releases, *added), key=lambda release: release.version, reverse=True)
    return MergeResult(replace(current, releases=tuple(ordered)), len(added))


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
        if (archive := system_archives.get(f"cuda{major}")) is not None and entry.version.text in archive.relative_path
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


def merge_drivers(
    current: DriverCatalog, results: Iterable[tuple[DriverLookupQuery, tuple[DriverListing, ...]]]
) -> MergeResult[DriverCatalog]:
    """The newest driver of each question, where it is newer than what is known for that kind of card.

    Raises UnexpectedPage for a driver that the card's generation does not get, or from a host that is not the maker's:
    such an answer is not about the card that was asked for. The lookup gives no hashes: those stay unknown.
    """
    packages = list(current.packages)
    count = 0
    for query, listings in results:
        newest = max(
            (listing for listing in listings if _matches_channel(listing, query)),
            key=lambda listing: listing.version,
            default=None,
        )
        if newest is None:
            continue
        _validate_driver(newest, query, current)
        position = next(
            (index for index, package in enumerate(packages) if _is_same_target(package, query)), len(packages)
        )
        if position < len(packages) and packages[position].version >= newest.version:
            continue
        packages.insert(position, _make_package(newest, query))
        count += 1
    return MergeResult(replace(current, packages=tuple(packages)), count)


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
    branch = driver.version.major // 10
    if generation is None or (generation.last_branch is not None and branch != generation.last_branch // 10):
        raise UnexpectedPage(f"driver {driver.version} for {query.generation}")
    parts = urlsplit(driver.url)
    hosts = catalog_drivers.lookup.hosts if catalog_drivers.lookup is not None else ()
    is_plain = is_plain_authority(parts.netloc)
    if parts.scheme != "https" or not is_plain or not (parts.hostname or "").endswith(hosts):
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
