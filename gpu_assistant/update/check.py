"""The check: what is known, and, when it is time, what the source says now."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from ..catalog.records import UpdateKey, Updates
from ..core.errors import Cancelled
from ..core.jobs import JobContext
from . import known
from .files import tidy
from .known import Known
from .statement import Refused, Statement, read

Ask = Literal["now", "when-due", "never"]
_log = logging.getLogger(__name__)


class Look(Struct, frozen=True, kw_only=True):
    """What is known, and the statement of a version newer than ours, if there is one that still holds."""

    known: Known
    newer: Statement | None = None


class CheckJob:
    """Ends with a Look; what goes wrong with source or answer is its `known.outcome`. Raises Cancelled, AppError
    where the state folder cannot be written.
    """

    def __init__(
        self,
        source: Updates,
        state: Path,
        folder: Path,
        ours: str,
        *,
        ask: Ask,
        guard: threading.Lock,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source, self._state, self._folder, self._ours = source, state, folder, Version(ours)
        self._ask: Ask = ask
        self._guard = guard
        self._clock = clock

    def run(self, context: JobContext[Any]) -> Look:
        """Look, and ask if that is wanted."""
        before = known.load(self._state)
        if self._ask == "now" or (self._ask == "when-due" and self._due(before)):
            before = self._question(context)
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        newest = newest_seen(before, self._source.keys)
        newer = newest if newest is not None and self._offered(newest, today) else None
        if newer is None:
            tidy(self._folder)
        return Look(known=before, newer=newer)

    def _due(self, before: Known) -> bool:
        # A time that lies ahead was noted by a clock that went wrong.
        return before.asked is None or not 0 <= self._clock() - before.asked < self._source.interval_hours * 3600

    def _offered(self, statement: Statement, today: date) -> bool:
        return statement.number > self._ours and today <= statement.expires

    def _question(self, context: JobContext[Any]) -> Known:
        from .ask import ask  # brings the network's libraries

        now = self._clock()
        # Noted before, so that a start that ends in the middle does not ask anew each time.
        self._keep(asked=now, outcome="stopped")
        assert self._source.address is not None  # noqa: S101 - without one nobody makes this job
        try:
            answer = ask(
                self._source.address,
                most_bytes=self._source.answer_bytes,
                seconds=self._source.answer_seconds,
                cancel=context.cancel,
            )
            statement = read(answer, self._source.keys)
            self._judge(statement, datetime.fromtimestamp(now, UTC).date())
        except Cancelled:
            raise
        except Refused as refusal:
            _log.warning("the answer about updates was not taken: %s (%s)", refusal.why, refusal.__cause__)
            return self._keep(outcome=refusal.why)
        outcome = "newer" if statement.number > self._ours else "newest"
        return self._keep(outcome=outcome, answer=answer.decode())

    def _judge(self, statement: Statement, today: date) -> None:
        if statement.expires < today:
            raise Refused("expired")
        seen = newest_seen(known.load(self._state), self._source.keys)
        if seen is not None and (statement.number, statement.released) < (seen.number, seen.released):
            raise Refused("older")

    def _keep(self, **changes: Any) -> Known:  # noqa: ANN401 - the struct's own fields
        with self._guard:
            now = replace(known.load(self._state), **changes)
            known.save(self._state, now)
        return now


def newest_seen(before: Known, keys: Sequence[UpdateKey]) -> Statement | None:
    """The statement of the newest answer taken so far. The file it lies in is not trusted: it is checked again."""
    if before.answer is None:
        return None
    try:
        return read(before.answer, keys)
    except Refused:
        return None
