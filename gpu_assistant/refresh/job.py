"""The catalog refresh: asks the publishers' pages and the general package index, merges what is new, and stores it.

    RefreshJob ─┬─ fetch_bytes ─ pages.parse_* ─ merge.merge_* ──────────┬─ store.store_subjects (validated, then put
                └─ index_reader.read_first ─ index_facts.merge_*_facts ──┘                         in place)

A source that fails leaves its subject as it was. What a source does not say stays unknown (None).
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.base import CatalogFile, days_since
from ..catalog.records.cuda import CudaCatalog
from ..catalog.records.drivers import DriverCatalog
from ..catalog.records.libraries import CudnnCatalog
from ..catalog.records.pytorch import PyTorchCatalog
from ..catalog.records.updates import DriverLookupQuery, RefreshSettings
from ..catalog.store import Catalog
from ..catalog.wheel_variants import UnreadableVariantMetadata, VariantMetadata, parse_variant_metadata
from ..core.errors import AppError, NetworkError
from ..core.jobs import JobContext
from ..core.versions import Version
from ..update.fetch import fetch_bytes
from ..update.signed_statement import RejectionReason, ResponseRejected
from . import pages
from .index_facts import INDEX_SOURCE, merge_cudnn_facts, merge_pytorch_facts, merge_toolkit_facts
from .index_reader import IndexUnusable, ReleaseIndex, read_first
from .merge import LIVE_SOURCE, MergeResult, merge_cudnn, merge_drivers, merge_pytorch, merge_toolkits, with_date
from .pages import UnexpectedPage
from .store import store_subjects

_log = logging.getLogger(__name__)

RefreshOutcome = Literal["updated", "unchanged", "failed"]


class SubjectUpdate(Struct, frozen=True, kw_only=True):
    """What came of one subject from one source: how many new records, or why the answer was not taken; `host` is who
    was asked, None for uv's own package index. `unread` are wheel variants that could not be understood.
    """

    subject: str
    state: RefreshOutcome
    added: int = 0
    unread: int = 0
    why: RejectionReason | None = None
    host: str | None


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
    refresh: Callable[[], MergeResult[Any]]


class _Stage(NamedTuple):
    """A subject after one source's answer, which is told by the update at this place; None: as it was before all."""

    subject: CatalogFile
    update: int | None


class RefreshJob:
    """Reports a SubjectUpdate for each subject of each source and ends with a RefreshResult. `indexes` makes the
    package indexes that are asked, one after the other until one answers, for an event that cancels them.

    Raises NetworkError("catalog-offline") where no source gave anything usable (each said why before), AppError where
    the folder cannot be written or what came would break the catalog, Cancelled. In all of these the last good files
    stay.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: RefreshSettings,
        folder: Path,
        *,
        today: date,
        indexes: Callable[[threading.Event], Iterable[ReleaseIndex]] = lambda _cancel: (),
    ) -> None:
        self._catalog = catalog
        self._settings = settings
        self._folder = folder
        self._today = today
        self._indexes = indexes

    def run(self, context: JobContext[Any]) -> RefreshResult:
        """Query all sources and store newer facts; raises AppError and Cancelled."""
        self._cancel = context.cancel
        day = self._today.isoformat()
        catalog = self._catalog
        stages: dict[str, list[_Stage]] = {
            "pytorch": [_Stage(catalog.pytorch, None)],
            "cuda": [_Stage(catalog.cuda, None)],
            "cudnn": [_Stage(catalog.cudnn, None)],
            "drivers": [_Stage(catalog.drivers, None)],
        }
        updates: list[SubjectUpdate] = []
        for query in self._queries():
            context.check_cancelled()
            update, subject = self._run_query(query, day)
            if subject is not None:
                stages[query.name].append(_Stage(subject, len(updates)))
            updates.append(update)
        self._read_index(context, stages, updates, day)
        if all(update.state == "failed" for update in updates):
            for update in updates:
                context.report(update)
            raise NetworkError("catalog-offline", date=catalog.date, days=days_since(catalog.date, self._today))
        self._store(stages, updates, day)
        for update in updates:
            context.report(update)
        return RefreshResult(day=day, folder=str(self._folder), subjects=tuple(updates))

    def _store(self, stages: dict[str, list[_Stage]], updates: list[SubjectUpdate], day: str) -> None:
        """Put in place what fits together. Where a subject does not, what came last for it is taken back, and its
        update says so.
        """
        # What an earlier refresh brought stays, also for the subjects that failed now.
        retained = self._catalog.refreshed_catalog.used_files if self._catalog.refreshed_catalog is not None else set()
        while True:
            subjects = {
                name: each[-1].subject for name, each in stages.items() if len(each) > 1 or f"{name}.json" in retained
            }
            try:
                store_subjects(self._folder, self._catalog.folder, subjects, day)
            except AppError as error:
                name = str(error.data.get("file"))
                refused = stages.get(name, [])
                if error.code != "catalog-refused" or len(refused) < 2:
                    raise
                _log.warning("what came for %s does not fit: %s", name, error.data)
                place = refused.pop().update
                assert place is not None  # noqa: S101 - only the first stage has none
                updates[place] = replace(updates[place], state="failed", added=0, why="garbage")
            else:
                return

    def _read_index(
        self, context: JobContext[Any], stages: dict[str, list[_Stage]], updates: list[SubjectUpdate], day: str
    ) -> None:
        """What the first package index that answers says, merged over what the publishers said."""
        indexes: Sequence[ReleaseIndex] = tuple(self._indexes(context.cancel))
        if not indexes:
            return
        names = ("pytorch", "cuda", "cudnn")
        try:
            facts, host = read_first(
                indexes, self._catalog, self._settings.newest, until_known=True, check_cancelled=context.check_cancelled
            )
        except IndexUnusable as error:
            _log.warning("the package index was not read: %s", error.reason)
            updates += [SubjectUpdate(subject=n, state="failed", why=error.reason, host=error.host) for n in names]
            return
        for name in names:
            current = stages[name][-1].subject
            merged: MergeResult[Any]
            if isinstance(current, PyTorchCatalog):
                majors = {minimum.major for minimum in self._catalog.cuda.minimum_drivers}
                merged = merge_pytorch_facts(
                    current, facts, wheel_index=self._settings.wheel_index, known_majors=majors
                )
            elif isinstance(current, CudaCatalog):
                merged = merge_toolkit_facts(current, facts)
            else:
                assert isinstance(current, CudnnCatalog)  # noqa: S101 - the third of the names
                merged = merge_cudnn_facts(current, facts)
            if merged.added:
                source = self._settings.sources["index"]
                stages[name].append(_Stage(with_date(merged.subject, day, INDEX_SOURCE, source), len(updates)))
            state: RefreshOutcome = "updated" if merged.added else "unchanged"
            updates.append(SubjectUpdate(subject=name, state=state, added=merged.added, host=host))

    def _queries(self) -> list[_SubjectQuery]:
        settings = self._settings
        candidates: list[tuple[str, str, str | None, Callable[[], MergeResult[Any]]]] = [
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

    def _run_query(self, query: _SubjectQuery, day: str) -> tuple[SubjectUpdate, CatalogFile | None]:
        host = urlsplit(query.url).hostname or query.url
        try:
            subject, added, unread = query.refresh()
        except (ResponseRejected, pages.UnexpectedPage) as error:
            reason: RejectionReason = error.reason if isinstance(error, ResponseRejected) else "garbage"
            _log.warning("%s was not refreshed: %s (%s)", query.name, reason, error)
            return SubjectUpdate(subject=query.name, state="failed", why=reason, host=host), None
        dated = with_date(subject, day, LIVE_SOURCE, self._settings.sources[query.source])
        state: RefreshOutcome = "updated" if added else "unchanged"
        return SubjectUpdate(subject=query.name, state=state, added=added, unread=unread, host=host), dated

    def _fetch(self, url: str) -> bytes:
        return fetch_bytes(
            url, max_bytes=self._settings.answer_bytes, timeout=self._settings.answer_seconds, cancel=self._cancel
        )

    def _refresh_pytorch(self) -> MergeResult[PyTorchCatalog]:
        assert self._settings.wheels is not None  # noqa: S101 - asked for only where it is known
        page = self._fetch(self._settings.wheels)
        return merge_pytorch(
            self._catalog.pytorch,
            pages.parse_wheels(page),
            index=self._settings.wheel_index,
            oldest=self._settings.oldest_release,
            known_majors={minimum.major for minimum in self._catalog.cuda.minimum_drivers},
            metadata=self._fetch_variant_metadata(page),
        )

    def _fetch_variant_metadata(self, page: bytes) -> dict[Version, VariantMetadata]:
        """The metadata of the newest releases with wheel variants; a file that is not what the page says is left out,
        so that its wheels count as not understood.
        """
        assert self._settings.wheels is not None  # noqa: S101 - the page comes from there
        found: dict[Version, VariantMetadata] = {}
        files = pages.parse_variant_metadata_links(page, self._settings.wheels)
        for file in [each for each in files if each.version >= self._settings.oldest_release][: self._settings.newest]:
            try:
                data = self._fetch(file.url)
                if file.sha256 not in (None, hashlib.sha256(data).hexdigest()):
                    raise UnexpectedPage("another hash than the page says")
                found[file.version] = parse_variant_metadata(data)
            except (ResponseRejected, UnexpectedPage, UnreadableVariantMetadata) as error:
                _log.warning("variant metadata of PyTorch %s was not read: %s", file.version, error)
        return found

    def _refresh_cuda(self) -> MergeResult[CudaCatalog]:
        current = self._catalog.cuda
        indexes = {}
        for version in self._newer_versions(self._settings.cuda, {toolkit.version for toolkit in current.toolkits}, 3):
            data = self._fetch(_index_url(self._settings.cuda, version))
            url = _index_url(current.redist.index, version) if current.redist is not None else None
            indexes[version] = (pages.parse_toolkit_index(data), url, hashlib.sha256(data).hexdigest())
        return merge_toolkits(current, indexes)

    def _refresh_cudnn(self) -> MergeResult[CudnnCatalog]:
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

    def _refresh_drivers(self) -> MergeResult[DriverCatalog]:
        current, added_total, last_error, any_answer = self._catalog.drivers, 0, None, False
        for query in self._settings.drivers:
            try:
                packages = pages.parse_drivers(self._fetch(self._lookup_url(query)))
                merged = merge_drivers(current, [(query, packages)])
            except (ResponseRejected, pages.UnexpectedPage) as error:
                last_error = error
                continue
            any_answer = True
            current, added_total = merged.subject, added_total + merged.added
        if last_error is not None and not any_answer:
            raise last_error
        return MergeResult(current, added_total)

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
