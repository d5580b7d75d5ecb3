"""The update check: what is known of new versions, and, when it is due, what the publisher's source says now.

The state is kept in `updates.json` in the state folder.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from ..catalog.records.updates import UpdateCatalog
from ..core import filesystem, json
from ..core.errors import Cancelled
from ..core.jobs import JobContext
from .files import remove_old_files
from .roots import TrustedRoot
from .signed_statement import (
    RejectionReason,
    ReleaseStatement,
    ResponseRejected,
    SignedText,
    read_envelope,
    read_signed_statement,
)

CheckOutcome = Literal["newest", "newer"] | RejectionReason


class UpdateState(Struct, frozen=True, kw_only=True):
    """`asked` and `outcome` of the last question (`asked` in seconds since 1970); `answer` is the newest signed
    answer ever taken, as it came, `roots` the chain of roots since the program's own; `declined` the version that the
    user does not want to hear of.
    """

    asked: float | None = None
    outcome: CheckOutcome | None = None
    answer: str | None = None
    roots: tuple[SignedText, ...] = ()
    declined: str | None = None


def load_state(path: Path) -> UpdateState:
    """What is known; a missing or damaged file means nothing is (the next answer tells it again)."""
    try:
        return json.decode(filesystem.read_bytes(path), UpdateState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return UpdateState()


def save_state(path: Path, state: UpdateState) -> None:
    """Keep it; raises AppError."""
    json.write_file(path, json.encode(state))


CheckPolicy = Literal["now", "when-due", "never"]
_log = logging.getLogger(__name__)


class UpdateStatus(Struct, frozen=True, kw_only=True):
    """What is known, and the statement of a version newer than ours, if there is one that still holds."""

    state: UpdateState
    newer_release: ReleaseStatement | None = None


class UpdateCheckJob:
    """Ends with an UpdateStatus; what is wrong with source or answer is its `state.outcome`. Raises Cancelled, AppError
    where the state folder cannot be written.
    """

    def __init__(
        self,
        source: UpdateCatalog,
        state_path: Path,
        folder: Path,
        current_version: str,
        *,
        policy: CheckPolicy,
        state_lock: threading.Lock,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source, self._state_path, self._folder, self._current_version = (
            source,
            state_path,
            folder,
            Version(current_version),
        )
        self._policy: CheckPolicy = policy
        self._state_lock = state_lock
        self._clock = clock

    def run(self, context: JobContext[Any]) -> UpdateStatus:
        """Look, and ask if that is wanted."""
        state = load_state(self._state_path)
        if self._policy == "now" or (self._policy == "when-due" and self._is_due(state)):
            state = self._query_source(context)
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        newest = newest_known(state, self._trusted_root(state))
        newer = newest if newest is not None and self._is_newer(newest, today) else None
        if newer is None:
            remove_old_files(self._folder)
        return UpdateStatus(state=state, newer_release=newer)

    def _is_due(self, state: UpdateState) -> bool:
        # A time that lies ahead was noted by a clock that went wrong.
        return state.asked is None or not 0 <= self._clock() - state.asked < self._source.interval_hours * 3600

    def _is_newer(self, statement: ReleaseStatement, today: date) -> bool:
        return statement.parsed_version > self._current_version and today <= statement.expires

    def _query_source(self, context: JobContext[Any]) -> UpdateState:
        from .fetch import fetch_bytes  # brings the network's libraries

        now = self._clock()
        # Noted before, so that a start that ends in the middle does not ask anew each time.
        self._update_state(asked=now, outcome="stopped")
        assert self._source.address is not None  # noqa: S101 - without one nobody makes this job
        try:
            response = fetch_bytes(
                self._source.address,
                max_bytes=self._source.answer_bytes,
                timeout=self._source.answer_seconds,
                cancel=context.cancel,
            )
            statement = self._read_response(response, datetime.fromtimestamp(now, UTC).date())
        except Cancelled:
            raise
        except ResponseRejected as rejection:
            _log.warning("the answer about updates was not taken: %s (%s)", rejection.reason, rejection.__cause__)
            return self._update_state(outcome=rejection.reason)
        outcome = "newer" if statement.parsed_version > self._current_version else "newest"
        return self._update_state(outcome=outcome, answer=response.decode())

    def _trusted_root(self, state: UpdateState) -> TrustedRoot:
        """The newest root that the stored chain leads to. The file that it lies in is not trusted: each is checked."""
        assert self._source.root is not None  # noqa: S101 - without one nobody makes this job
        built_in = TrustedRoot(self._source.root)
        try:
            return built_in.follow(state.roots)
        except ResponseRejected:
            return built_in

    def _read_response(self, response: bytes, today: date) -> ReleaseStatement:
        state = load_state(self._state_path)
        root = self._trusted_root(state).follow(read_envelope(response).roots)
        if root.chain != state.roots:
            # Before anything else: whose keys were taken back stays without a say, whatever comes after it.
            self._update_state(roots=root.chain)
        root.check_date(today)
        statement = read_signed_statement(response, root.root.release_keys)
        self._validate(statement, root, today)
        return statement

    def _validate(self, statement: ReleaseStatement, root: TrustedRoot, today: date) -> None:
        if statement.expires < today:
            raise ResponseRejected("expired")
        newest = newest_known(load_state(self._state_path), root)
        if newest is not None and (statement.parsed_version, statement.released) < (
            newest.parsed_version,
            newest.released,
        ):
            raise ResponseRejected("older")

    def _update_state(self, **changes: Any) -> UpdateState:  # noqa: ANN401 - the struct's own fields
        with self._state_lock:
            state = replace(load_state(self._state_path), **changes)
            save_state(self._state_path, state)
        return state


def newest_known(state: UpdateState, root: TrustedRoot) -> ReleaseStatement | None:
    """The statement of the newest answer taken so far, if its key still counts: one with a stolen key must not keep
    later ones out. The file it lies in is not trusted: it is checked again.
    """
    if state.answer is None:
        return None
    try:
        return read_signed_statement(state.answer, root.root.release_keys)
    except ResponseRejected:
        return None
