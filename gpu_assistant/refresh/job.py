"""The catalog refresh: asks the publishers' pages, merges what is new into the catalog, and stores the result.

    RefreshJob ─ fetch_bytes ─ pages.parse_* ─ merge_* ─ store.store_subjects (validated, then put in place)

A source that fails leaves its subject as it was. What a page does not say stays unknown (None).
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.base import CatalogFile, SourceRecord, days_since
from ..catalog.records.catalog import (
    CudaCatalog,
    DriverCatalog,
    DriverLookupQuery,
    DriverPackage,
    RefreshSettings,
    ToolkitRelease,
)
from ..catalog.records.software import (
    CudnnArchive,
    CudnnCatalog,
    CudnnRelease,
    PyTorchCatalog,
    TorchRelease,
    TorchVariant,
)
from ..catalog.store import Catalog
from ..core.errors import AppError, NetworkError
from ..core.jobs import JobContext
from ..core.versions import Version, version_key
from ..update.fetch import fetch_bytes
from ..update.signed_statement import RejectionReason, ResponseRejected
from . import pages
from .pages import CudnnIndex, DriverListing, IndexedWheel, RedistIndexHeader, UnexpectedPage
from .store import store_subjects

LIVE_SOURCE = "live"
CUDA_MAJOR = re.compile(r"cu(\d+)\d")
SubjectType = TypeVar("SubjectType", bound=CatalogFile)


def with_date(subject: SubjectType, day: str, source: SourceRecord) -> SubjectType:
    """The subject as of a day, with the page among its sources; days never go back."""
    return replace(subject, as_of=max(day, subject.as_of), sources={**subject.sources, LIVE_SOURCE: source})


def merge_pytorch(
    current: PyTorchCatalog,
    wheels: Iterable[IndexedWheel],
    *,
    index: str,
    oldest: Version,
    known_majors: Collection[int],
) -> tuple[PyTorchCatalog, int]:
    """The releases with the builds that the index has and the catalog lacks, and the number of those builds.

    No page tells a new build's architectures: its `arch_list` is None, and it is not recommended while others are
    known. Left out are systems that the catalog does not know, and builds for a CUDA major that is not in
    `known_majors`, those whose minimum driver is known.
    """
    systems = {(build.system, build.arch) for release in current.releases for build in release.variants}
    by_version: dict[Version, dict[tuple[str, str, str], list[IndexedWheel]]] = {}
    for wheel in wheels:
        major = CUDA_MAJOR.fullmatch(wheel.variant)
        if major is not None and int(major[1]) not in known_majors:
            continue
        if (wheel.system, wheel.arch) in systems and wheel.version >= oldest:
            key = (wheel.system, wheel.arch, wheel.variant)
            by_version.setdefault(wheel.version, {}).setdefault(key, []).append(wheel)
    releases = {release.version: release for release in current.releases}
    count = 0
    for version, builds in by_version.items():
        release = releases.get(version)
        existing = {(b.system, b.arch, b.variant) for b in release.variants} if release is not None else set()
        added = tuple(
            _make_variant(build_wheels, index) for key, build_wheels in sorted(builds.items()) if key not in existing
        )
        if not added:
            continue
        count += len(added)
        if release is None:
            python_versions = {wheel.python for build_wheels in builds.values() for wheel in build_wheels}
            releases[version] = _make_release(version, python_versions, added)
        else:
            releases[release.version] = replace(release, variants=(*release.variants, *added))
    ordered = tuple(sorted(releases.values(), key=lambda release: release.version, reverse=True))
    return replace(current, releases=ordered), count


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
        variant=first.variant,
        index_url=None if first.system == "darwin" else f"{index.rstrip('/')}/{first.variant}",
        arch_list=None,
        mps=first.system == "darwin",
        sha256={wheel.python: wheel.sha256 for wheel in wheels if wheel.sha256 is not None},
        confidence="medium",
        source=LIVE_SOURCE,
    )


def merge_toolkits(
    current: CudaCatalog, indexes: Mapping[Version, tuple[RedistIndexHeader, str | None, str]]
) -> tuple[CudaCatalog, int]:
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
    return replace(current, toolkits=tuple(ordered)), len(added)


def merge_cudnn(
    current: CudnnCatalog, indexes: Mapping[Version, tuple[CudnnIndex, str, str]]
) -> tuple[CudnnCatalog, int]:
    """New cuDNN releases from (index, its address, its sha256); their oldest chips and wheels stay unknown."""
    known_versions = {release.version for release in current.releases}
    added = [
        _make_cudnn_release(index, url, sha256, current.index)
        for index, url, sha256 in indexes.values()
        if index.cudnn.version not in known_versions
    ]
    ordered = sorted((*current.releases, *added), key=lambda release: release.version, reverse=True)
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
) -> tuple[DriverCatalog, int]:
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
    branch = driver.version.major // 10
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


RefreshOutcome = Literal["updated", "unchanged", "failed"]
_log = logging.getLogger(__name__)


class SubjectUpdate(Struct, frozen=True, kw_only=True):
    """What came of one subject: how many new records, or why the answer was not taken; `host` is who was asked."""

    subject: str
    state: RefreshOutcome
    added: int = 0
    why: RejectionReason | None = None
    host: str


class RefreshResult(Struct, frozen=True, kw_only=True):
    """What came of a refresh, and where the refreshed files lie."""

    day: str
    folder: str
    subjects: tuple[SubjectUpdate, ...]


class _SubjectQuery(Struct, kw_only=True):
    """One subject's work: gives the new subject and how many records are new."""

    name: str
    source: str
    url: str
    refresh: Callable[[], tuple[CatalogFile, int]]


class RefreshJob:
    """Reports a SubjectUpdate for each subject and ends with a RefreshResult.

    Raises NetworkError("catalog-offline") where no source gave anything usable (each said why before), AppError where
    the folder cannot be written or what came would break the catalog, Cancelled. In all of these the last good files
    stay.
    """

    def __init__(self, catalog: Catalog, settings: RefreshSettings, folder: Path, *, today: date) -> None:
        self._catalog = catalog
        self._settings = settings
        self._folder = folder
        self._today = today

    def run(self, context: JobContext[Any]) -> RefreshResult:
        """Query all sources and store newer facts; raises AppError and Cancelled."""
        self._cancel = context.cancel
        day = self._today.isoformat()
        catalog = self._catalog
        current: dict[str, CatalogFile] = {
            "pytorch": catalog.pytorch,
            "cuda": catalog.cuda,
            "cudnn": catalog.cudnn,
            "drivers": catalog.drivers,
        }
        refreshed: dict[str, CatalogFile] = {}
        updates: list[SubjectUpdate] = []
        for query in self._queries():
            context.check_cancelled()
            updates.append(self._run_query(query, refreshed, day))
        if all(update.state == "failed" for update in updates):
            for update in updates:
                context.report(update)
            raise NetworkError("catalog-offline", date=catalog.date, days=days_since(catalog.date, self._today))
        # What an earlier refresh brought stays, also for the subjects that failed now.
        retained_files = catalog.refreshed_catalog.used_files if catalog.refreshed_catalog is not None else set()
        refreshed = {name: subject for name, subject in current.items() if f"{name}.json" in retained_files} | refreshed
        updates = self._store(refreshed, current, updates, day)
        for update in updates:
            context.report(update)
        return RefreshResult(day=day, folder=str(self._folder), subjects=tuple(updates))

    def _store(
        self, refreshed: dict[str, CatalogFile], current: dict[str, CatalogFile], updates: list[SubjectUpdate], day: str
    ) -> list[SubjectUpdate]:
        """Put in place what fits together; a subject that does not stays as it was, and its news say so."""
        while True:
            try:
                store_subjects(self._folder, self._catalog.folder, refreshed, day)
            except AppError as error:
                name = str(error.data.get("file"))
                if error.code != "catalog-refused" or refreshed.get(name, current.get(name)) is current.get(name):
                    raise
                _log.warning("what came for %s does not fit: %s", name, error.data)
                refreshed = {**refreshed, name: current[name]}
                updates = [
                    replace(update, state="failed", added=0, why="garbage") if update.subject == name else update
                    for update in updates
                ]
            else:
                return updates

    def _queries(self) -> list[_SubjectQuery]:
        settings = self._settings
        candidates: list[tuple[str, str, str | None, Callable[[], tuple[CatalogFile, int]]]] = [
            ("pytorch", "pytorch", settings.wheels, self._refresh_pytorch),
            ("cuda", "redist", settings.cuda, self._refresh_cuda),
            ("cudnn", "redist", settings.cudnn, self._refresh_cudnn),
            ("drivers", "lookup", settings.lookup, self._refresh_drivers),
        ]
        return [
            _SubjectQuery(name=name, source=key, url=url, refresh=refresh)
            for name, key, url, refresh in candidates
            if url is not None
        ]

    def _run_query(self, query: _SubjectQuery, refreshed: dict[str, CatalogFile], day: str) -> SubjectUpdate:
        host = urlsplit(query.url).hostname or query.url
        try:
            subject, added = query.refresh()
        except (ResponseRejected, pages.UnexpectedPage) as error:
            reason: RejectionReason = error.reason if isinstance(error, ResponseRejected) else "garbage"
            _log.warning("%s was not refreshed: %s (%s)", query.name, reason, error)
            return SubjectUpdate(subject=query.name, state="failed", why=reason, host=host)
        refreshed[query.name] = with_date(subject, day, self._settings.sources[query.source])
        return SubjectUpdate(subject=query.name, state="updated" if added else "unchanged", added=added, host=host)

    def _fetch(self, url: str) -> bytes:
        return fetch_bytes(
            url, max_bytes=self._settings.answer_bytes, timeout=self._settings.answer_seconds, cancel=self._cancel
        )

    def _refresh_pytorch(self) -> tuple[CatalogFile, int]:
        assert self._settings.wheels is not None  # noqa: S101 - asked for only where it is known
        wheels = pages.parse_wheels(self._fetch(self._settings.wheels))
        return merge_pytorch(
            self._catalog.pytorch,
            wheels,
            index=self._settings.wheel_index,
            oldest=self._settings.oldest_release,
            known_majors={minimum.major for minimum in self._catalog.cuda.minimum_drivers},
        )

    def _refresh_cuda(self) -> tuple[CatalogFile, int]:
        current = self._catalog.cuda
        indexes = {}
        for version in self._newer_versions(self._settings.cuda, {toolkit.version for toolkit in current.toolkits}, 3):
            data = self._fetch(_index_url(self._settings.cuda, version))
            url = _index_url(current.redist.index, version) if current.redist is not None else None
            indexes[version] = (pages.parse_toolkit_index(data), url, hashlib.sha256(data).hexdigest())
        return merge_toolkits(current, indexes)

    def _refresh_cudnn(self) -> tuple[CatalogFile, int]:
        current = self._catalog.cudnn
        # Index files are named by three numbers, releases by four.
        known_versions = {release.version for release in current.releases}
        known_versions |= {
            Version(version.text.rpartition(".")[0]) for version in known_versions if "." in version.text
        }
        indexes = {}
        for version in self._newer_versions(self._settings.cudnn, known_versions, 2):
            data = self._fetch(_index_url(self._settings.cudnn, version))
            url = _index_url(current.index, version)
            indexes[version] = (pages.parse_cudnn_index(data), url, hashlib.sha256(data).hexdigest())
        return merge_cudnn(current, indexes)

    def _newer_versions(self, url: str | None, known_versions: set[Version], min_parts: int) -> list[Version]:
        """The versions of a listing that are newer than all known ones, newest first, as many as the settings allow."""
        assert url is not None  # noqa: S101 - called only for an address that is known
        newest = max(known_versions, default=None)
        newer = [
            version
            for version in pages.parse_index_versions(self._fetch(url))
            if (newest is None or version > newest) and len(version.text.split(".")) >= min_parts
        ]
        return sorted(newer, reverse=True)[: self._settings.newest]

    def _refresh_drivers(self) -> tuple[CatalogFile, int]:
        current, added_total, last_error, any_answer = self._catalog.drivers, 0, None, False
        for query in self._settings.drivers:
            try:
                packages = pages.parse_drivers(self._fetch(self._lookup_url(query)))
                current, added = merge_drivers(current, [(query, packages)])
            except (ResponseRejected, pages.UnexpectedPage) as error:
                last_error = error
                continue
            any_answer = True
            added_total += added
        if last_error is not None and not any_answer:
            raise last_error
        return current, added_total

    def _lookup_url(self, query: DriverLookupQuery) -> str:
        lookup = self._catalog.drivers.lookup
        assert lookup is not None  # noqa: S101 - the built-in catalog has it, and a test says so
        parameter_names = lookup.parameters
        parameters = {
            "func": lookup.func,
            parameter_names["product"]: str(query.product),
            parameter_names["system"]: str(query.system_id),
            **lookup.fixed,
        }
        if query.channel is not None:
            parameters[parameter_names["studio"]] = lookup.studio_values[query.channel]
        return f"{self._settings.lookup}?{urlencode(parameters)}"


def _index_url(base: str | None, version: Version) -> str:
    return f"{base}redistrib_{version}.json"
