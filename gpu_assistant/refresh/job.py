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
from ..catalog.refreshing import DriverQuestion, Refreshing
from ..catalog.subject import Numbers, Subject, days_since
from ..catalog.versions import numbers
from ..core.errors import AppError, NetworkError
from ..core.jobs import JobContext
from ..update.ask import ask
from ..update.statement import Refused, Why
from . import merge, pages
from .store import store

State = Literal["updated", "unchanged", "failed"]
_log = logging.getLogger(__name__)


class SubjectNews(Struct, frozen=True, kw_only=True):
    """What came of one subject: how many new records, or why the answer was not taken; `host` is who was asked."""

    subject: str
    state: State
    added: int = 0
    why: Why | None = None
    host: str


class Refresh(Struct, frozen=True, kw_only=True):
    """What came of a refresh, and where the refreshed files lie."""

    day: str
    folder: str
    subjects: tuple[SubjectNews, ...]


class _Asked(Struct, kw_only=True):
    """One subject's work: gives the new subject and how many records are new."""

    name: str
    source: str
    url: str
    work: Callable[[], tuple[Subject, int]]


class RefreshJob:
    """Reports a SubjectNews for each subject and ends with a Refresh.

    Raises NetworkError("catalog-offline") where no source gave anything usable (each said why before), AppError where
    the folder cannot be written or what came would break the catalog, Cancelled. In all of these the last good files
    stay.
    """

    def __init__(self, catalog: Catalog, source: Refreshing, folder: Path, *, today: date) -> None:
        self._catalog = catalog
        self._source = source
        self._folder = folder
        self._today = today

    def run(self, context: JobContext[Any]) -> Refresh:
        """Ask everybody."""
        self._cancel = context.cancel
        day = self._today.isoformat()
        catalog = self._catalog
        before: dict[str, Subject] = {
            "pytorch": catalog.pytorch,
            "cuda": catalog.cuda,
            "cudnn": catalog.cudnn,
            "drivers": catalog.drivers,
        }
        fresh: dict[str, Subject] = {}
        news: list[SubjectNews] = []
        for asked in self._questions():
            context.check_cancelled()
            news.append(self._ask_one(asked, fresh, day))
        if all(one.state == "failed" for one in news):
            for one in news:
                context.report(one)
            raise NetworkError("catalog-offline", date=catalog.date, days=days_since(catalog.date, self._today))
        # What an earlier refresh brought stays, also for the subjects that failed now.
        kept = catalog.refreshed.used if catalog.refreshed is not None else set()
        fresh = {name: subject for name, subject in before.items() if f"{name}.json" in kept} | fresh
        news = self._store(fresh, before, news, day)
        for one in news:
            context.report(one)
        return Refresh(day=day, folder=str(self._folder), subjects=tuple(news))

    def _store(
        self, fresh: dict[str, Subject], before: dict[str, Subject], news: list[SubjectNews], day: str
    ) -> list[SubjectNews]:
        """Put in place what fits together; a subject that does not stays as it was, and its news say so."""
        while True:
            try:
                store(self._folder, self._catalog.folder, fresh, day)
            except AppError as error:
                name = str(error.data.get("file"))
                if error.code != "catalog-refused" or fresh.get(name, before.get(name)) is before.get(name):
                    raise
                _log.warning("what came for %s does not fit: %s", name, error.data)
                fresh = {**fresh, name: before[name]}
                news = [
                    replace(one, state="failed", added=0, why="garbage") if one.subject == name else one for one in news
                ]
            else:
                return news

    def _questions(self) -> list[_Asked]:
        source = self._source
        every: list[tuple[str, str, str | None, Callable[[], tuple[Subject, int]]]] = [
            ("pytorch", "pytorch", source.wheels, self._pytorch),
            ("cuda", "redist", source.cuda, self._cuda),
            ("cudnn", "redist", source.cudnn, self._cudnn),
            ("drivers", "lookup", source.lookup, self._drivers),
        ]
        return [_Asked(name=name, source=key, url=url, work=work) for name, key, url, work in every if url is not None]

    def _ask_one(self, asked: _Asked, fresh: dict[str, Subject], day: str) -> SubjectNews:
        host = urlsplit(asked.url).hostname or asked.url
        try:
            subject, added = asked.work()
        except (Refused, pages.Garbage) as error:
            why: Why = error.why if isinstance(error, Refused) else "garbage"
            _log.warning("%s was not refreshed: %s (%s)", asked.name, why, error)
            return SubjectNews(subject=asked.name, state="failed", why=why, host=host)
        fresh[asked.name] = merge.dated(subject, day, self._source.sources[asked.source])
        return SubjectNews(subject=asked.name, state="updated" if added else "unchanged", added=added, host=host)

    def _get(self, url: str) -> bytes:
        return ask(url, most_bytes=self._source.answer_bytes, seconds=self._source.answer_seconds, cancel=self._cancel)

    def _pytorch(self) -> tuple[Subject, int]:
        assert self._source.wheels is not None  # noqa: S101 - asked for only where it is known
        found = pages.wheels(self._get(self._source.wheels))
        return merge.pytorch(
            self._catalog.pytorch,
            found,
            index=self._source.wheel_index,
            oldest=self._source.oldest_release,
            majors={minimum.major for minimum in self._catalog.cuda.minimum_drivers},
        )

    def _cuda(self) -> tuple[Subject, int]:
        known = self._catalog.cuda
        indexes = {}
        for version in self._new(self._source.cuda, {toolkit.version for toolkit in known.toolkits}, 3):
            data = self._get(_index_url(self._source.cuda, version))
            url = _index_url(known.redist.index, version) if known.redist is not None else None
            indexes[version] = (pages.toolkit_index(data), url, hashlib.sha256(data).hexdigest())
        return merge.toolkits(known, indexes)

    def _cudnn(self) -> tuple[Subject, int]:
        known = self._catalog.cudnn
        # Index files are named by three numbers, releases by four.
        have = {release.version.rpartition(".")[0] for release in known.releases}
        have |= {release.version for release in known.releases}
        indexes = {}
        for version in self._new(self._source.cudnn, have, 2):
            data = self._get(_index_url(self._source.cudnn, version))
            indexes[version] = (
                pages.cudnn_index(data),
                _index_url(known.index, version),
                hashlib.sha256(data).hexdigest(),
            )
        return merge.cudnn(known, indexes)

    def _new(self, url: str | None, have: set[str], shortest: int) -> list[str]:
        """The versions of a listing that are newer than all that is known, newest first, as many as we read."""
        assert url is not None  # noqa: S101 - asked for only where it is known
        order = {version: numbers(version) or () for version in pages.index_files(self._get(url))}
        newest = max((numbers(version) or () for version in have), default=())
        new = [v for v, parts in order.items() if parts > newest and len(v.split(".")) >= shortest and v not in have]
        return sorted(new, key=lambda version: order[version], reverse=True)[: self._source.newest]

    def _drivers(self) -> tuple[Subject, int]:
        known, count, trouble, answered = self._catalog.drivers, 0, None, False
        for question in self._source.drivers:
            try:
                found = pages.drivers(self._get(self._lookup(question)))
                known, more = merge.drivers(known, [(question, found)])
            except (Refused, pages.Garbage) as error:
                trouble = error
                continue
            answered = True
            count += more
        if trouble is not None and not answered:
            raise trouble
        return known, count

    def _lookup(self, question: DriverQuestion) -> str:
        lookup = self._catalog.drivers.lookup
        assert lookup is not None  # noqa: S101 - the built-in catalog has it, and a test says so
        names = lookup.parameters
        query = {
            "func": lookup.func,
            names["product"]: str(question.product),
            names["system"]: str(question.system_id),
            **lookup.fixed,
        }
        if question.channel is not None:
            query[names["studio"]] = lookup.studio_values[question.channel]
        return f"{self._source.lookup}?{urlencode(query)}"


def _index_url(base: str | None, version: Numbers) -> str:
    return f"{base}redistrib_{version}.json"
