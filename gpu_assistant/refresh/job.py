"""The refresh: every source is asked, what came is kept, what failed is said."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.refreshing import DriverLookupQuery, RefreshSettings
from ..catalog.subject import DottedVersion, CatalogFile, days_since
from ..catalog.versions import parse_version
from ..core.errors import AppError, NetworkError
from ..core.jobs import JobContext
from ..update.ask import fetch_bytes
from ..update.statement import ResponseRejected, RejectionReason
from . import merge, pages
from .store import store_subjects

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
    """Reports a SubjectNews for each subject and ends with a Refresh.

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
        """Ask everybody."""
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
                    replace(update, state="failed", added=0, why="garbage") if update.subject == name else update for update in updates
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
        return [_SubjectQuery(name=name, source=key, url=url, refresh=refresh) for name, key, url, refresh in candidates if url is not None]

    def _run_query(self, query: _SubjectQuery, refreshed: dict[str, CatalogFile], day: str) -> SubjectUpdate:
        host = urlsplit(query.url).hostname or query.url
        try:
            subject, added = query.refresh()
        except (ResponseRejected, pages.UnexpectedPage) as error:
            reason: RejectionReason = error.reason if isinstance(error, ResponseRejected) else "garbage"
            _log.warning("%s was not refreshed: %s (%s)", query.name, reason, error)
            return SubjectUpdate(subject=query.name, state="failed", why=reason, host=host)
        refreshed[query.name] = merge.with_date(subject, day, self._settings.sources[query.source])
        return SubjectUpdate(subject=query.name, state="updated" if added else "unchanged", added=added, host=host)

    def _fetch(self, url: str) -> bytes:
        return fetch_bytes(url, max_bytes=self._settings.answer_bytes, timeout=self._settings.answer_seconds, cancel=self._cancel)

    def _refresh_pytorch(self) -> tuple[CatalogFile, int]:
        assert self._settings.wheels is not None  # noqa: S101 - asked for only where it is known
        wheels = pages.parse_wheels(self._fetch(self._settings.wheels))
        return merge.merge_pytorch(
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
        return merge.merge_toolkits(current, indexes)

    def _refresh_cudnn(self) -> tuple[CatalogFile, int]:
        current = self._catalog.cudnn
        # Index files are named by three numbers, releases by four.
        known_versions = {release.version.rpartition(".")[0] for release in current.releases}
        known_versions |= {release.version for release in current.releases}
        indexes = {}
        for version in self._newer_versions(self._settings.cudnn, known_versions, 2):
            data = self._fetch(_index_url(self._settings.cudnn, version))
            indexes[version] = (
                pages.parse_cudnn_index(data),
                _index_url(current.index, version),
                hashlib.sha256(data).hexdigest(),
            )
        return merge.merge_cudnn(current, indexes)

    def _newer_versions(self, url: str | None, known_versions: set[str], min_parts: int) -> list[str]:
        """The versions of a listing that are newer than all that is known, newest first, as many as we read."""
        assert url is not None  # noqa: S101 - asked for only where it is known
        parsed = {version: parse_version(version) or () for version in pages.parse_index_versions(self._fetch(url))}
        newest = max((parse_version(version) or () for version in known_versions), default=())
        newer = [candidate for candidate, parts in parsed.items() if parts > newest and len(candidate.split(".")) >= min_parts and candidate not in known_versions]
        return sorted(newer, key=lambda version: parsed[version], reverse=True)[: self._settings.newest]

    def _refresh_drivers(self) -> tuple[CatalogFile, int]:
        current, added_total, last_error, any_answer = self._catalog.drivers, 0, None, False
        for query in self._settings.drivers:
            try:
                packages = pages.parse_drivers(self._fetch(self._lookup_url(query)))
                current, added = merge.merge_drivers(current, [(query, packages)])
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


def _index_url(base: str | None, version: DottedVersion) -> str:
    return f"{base}redistrib_{version}.json"
