"""The connections of one file at work together, from a known state to its last byte, an error, or a new beginning."""

from __future__ import annotations

import shutil
import threading
import time

from ..core.errors import AppError, Cancelled, NetworkError
from ..core.json import storage_error
from .board import OPEN, Board, Span
from .checker import Checker
from .lane import BEAT, LONGEST, SHORTEST, Lane
from .limits import Limits
from .local import digest
from .pace import Pace
from .part import State, Version, part_path
from .session import Sessions
from .settler import Settler
from .source import Changed, Drop, Hosts, Source, Sources
from .wanted import Wanted

LOOK_AT_DISK_SECONDS = 1.0
# After an answer's headers this much silence is odd where other connections have nothing to do.
SILENT_SECONDS = 5.0


class Common:
    """What all downloads of one fetch share."""

    def __init__(self, limits: Limits, stopped: threading.Event, pace: Pace) -> None:
        self.limits, self.stopped, self.pace = limits, stopped, pace
        self.sessions = Sessions()
        self.hosts = Hosts(limits.connections)
        self.guard = threading.Lock()


class Round:
    """`run` returns True once every byte is here, False if all has to begin anew; raises AppError, Cancelled."""

    def __init__(
        self, wanted: Wanted, common: Common, sources: Sources, state: State, *, board: Board, best: int
    ) -> None:
        self.limits, self.stopped = common.limits, common.stopped
        self.pace, self.sessions = common.pace, common.sessions
        self.wanted, self.sources, self.state, self.board = wanted, sources, state, board
        self.best = best
        self.fetched = 0
        self.writing = 0.0
        self.right: bool | None = None
        self._common = common
        self._lanes: list[Lane] = []
        self._error: BaseException | None = None
        self._again = False
        self._looked = 0.0
        self._writing_before = (time.monotonic(), 0.0)
        self._disk_bound = False
        check = wanted.check
        self.checker = Checker(part_path(wanted.path), check, board) if check is not None else None
        self._settler = Settler(part_path(wanted.path), board)

    @property
    def name(self) -> str:
        """The file's name for people."""
        return self.wanted.path.name

    @property
    def versions(self) -> dict[str, Version]:
        """By what each source names its bytes."""
        return self.state.kept.versions

    @property
    def have(self) -> int:
        """Bytes that are here."""
        return self.board.have

    def run(self) -> bool:
        """Work until the end."""
        if self.checker is not None:
            self.checker.start()
        self._settler.start()
        began = time.monotonic()
        try:
            self._add_lane()
            while not (self.board.closed or self.board.whole):
                with self.board.changed:
                    self.board.changed.wait(BEAT)
                if self.stopped.is_set():
                    raise Cancelled
                self._staff(time.monotonic() - began)
                self._watch()
            if self._error is None and not self._again:
                self._finish()
        finally:
            self._end()
        if self._error is not None:
            raise self._error
        return not self._again

    def _staff(self, seconds: float) -> None:
        """As many connections as there is work for; a source that does not answer at all is not waited for."""
        board, most = self.board, self.limits.connections
        if board.opened:
            share = -(-board.missing // self.limits.least_share)
            many = min(most, max(1, len(self._lanes), share)) if self.parts else 1
        else:
            many = len(self.sources.usable) if seconds >= self.limits.probe_seconds else 1
        while len(self._lanes) < many:
            self._add_lane()

    @property
    def disk_bound(self) -> bool:
        """Whether the connections spend most of their time writing."""
        return self._disk_bound

    @property
    def parts(self) -> bool:
        """Whether any source may give parts."""
        return any(source.ranges is not False for source in self.sources.usable)

    def _add_lane(self) -> None:
        self._lanes.append(Lane(self, part_path(self.wanted.path)))

    def _watch(self) -> None:
        """Leave sources that are much slower than another, and connections that have fallen silent; mind the disk."""
        now = time.monotonic()
        with self.board.changed:
            leave = {span for source in self.sources.slow() for span in source.active}
            # A pace that the user chose says nothing of the source. Whom the reserve needs is let go.
            more = self.sources.call_reserve() if self.pace.most is None else 0
            if len(self.board.active) > 1:
                leave |= set(list(self.board.active)[:more])
            if self.board.idle and not self.board.missing:
                leave |= {span for span in self.board.active if now - span.last > SILENT_SECONDS}
            for span in leave:
                span.left = True
        if leave:
            for lane in self._lanes:
                if lane.span in leave:
                    lane.interrupt()
        if now - self._looked > LOOK_AT_DISK_SECONDS:
            self._looked = now
            self._need_space(self.board.total)
            then, writing = self._writing_before
            # Of the time of all connections together.
            self._disk_bound = self.writing - writing > (now - then) * max(1, len(self.board.active)) / 2
            self._writing_before = (now, self.writing)

    def _need_space(self, total: int | None) -> None:
        if total is None:
            return
        folder = self.wanted.path.parent
        free, needed = shutil.disk_usage(folder).free, total - self.have
        if needed > 0 and needed + self.limits.reserve_bytes > free:
            raise AppError("disk-too-small", path=str(folder), needed_bytes=needed, free_bytes=free)

    def _finish(self) -> None:
        if self.checker is not None:
            while self.checker.busy:
                if self.stopped.wait(0.01):
                    raise Cancelled
            self.right = self.checker.right()

    def _end(self) -> None:
        self.board.close()
        patience = time.monotonic() + (0.1 if self.stopped.is_set() else 5.0)
        for lane in self._lanes:
            if not lane.join(0):
                lane.interrupt()
        for lane in self._lanes:
            lane.join(max(0.0, patience - time.monotonic()))
        # Who cancels does not wait for a slow disk; before the file gets its name all must be there anyway.
        self._settler.end(0.1 if self.stopped.is_set() else None)
        if self.checker is not None:
            self.checker.end()

    # What the connections ask and tell

    def next(self) -> tuple[Source, Span] | None:
        """Work for a connection; waits for it. None if there will be none."""
        board = self.board
        while True:
            with board.changed:
                if board.closed or board.whole:
                    return None
                found = None if self.pace.paused else self._assign()
                if found is not None or board.closed:
                    return found
                board.idle += 1
                board.changed.wait(BEAT)
                board.idle -= 1

    def _assign(self) -> tuple[Source, Span] | None:
        board, sources = self.board, self.sources
        source = sources.pick(board)
        if source is None:
            if not (board.active or self.parts or board.empty or sources.waiting):
                self._begin_anew()
            return None
        with self._common.guard:
            if not self._common.hosts.take(source.place):
                return None
        share = int(min(max(source.first_byte * 2**30, SHORTEST), LONGEST))
        span = board.claim(share, self.limits.connections)
        if span is None:
            with self._common.guard:
                self._common.hosts.give(source.place)
            return None
        if source.ranges is False:
            board.take_all(span)
        source.asked = source.asked or time.monotonic()
        source.active[span] = time.monotonic()
        return source, span

    def done_with(self, source: Source, span: Span) -> None:
        """A connection has let go of its span."""
        with self.board.changed:
            source.let_go(span, time.monotonic())
            self.board.release(span)
        with self._common.guard:
            self._common.hosts.give(source.place)

    def came(self, source: Source, span: Span, count: int, began: float) -> None:
        """Bytes came and were written; the writing began at `began`."""
        now = time.monotonic()
        with self.board.changed:
            self.board.came(span, count)
            source.count(span, count, now)
            self.fetched += count
            self.writing += now - began
            if self.have > self.best:
                self.best = self.have
                source.fails = 0

    def learn(self, source: Source, total: int | None, version: Version | None) -> None:
        """What an answer says about the file; raises AppError, Changed where it is another one."""
        if None not in (total, self.board.total) and total != self.board.total:
            if self.wanted.bytes is None:
                source.other_size = True
                raise Changed
            raise AppError("hash-mismatch", name=self.name, host=source.host)
        self._refuse_empty(source, total)
        if not self.board.opened:
            # Before it is believed: another source may know of a file that fits.
            self._need_space(total)
        if version is not None:
            self.state.version(version)
        first = not self.board.opened
        self.board.learn(total)
        if first and total is not None:
            self.state.total(total)

    def _refuse_empty(self, source: Source, total: int | None) -> None:
        check = self.wanted.check
        if total == 0 and check is not None and check.new().hexdigest() != check.hex:
            raise AppError("hash-mismatch", name=self.name, host=source.host)

    def ended(self, source: Source, span: Span) -> None:
        """An answer has no more bytes: the file's end, where nobody announced another or the checksum says so.

        Raises Drop; AppError where there is nothing of it, or it always ends there.
        """
        board = self.board
        if span.end == OPEN or self._right_until(span):
            self._refuse_empty(source, span.at)
            board.ended(span)
            self.state.total(span.at)
            return
        if span.at > span.start and span.end == board.total and source.ended(span.at):
            lacking = span.end - span.at
            raise NetworkError("source-ends-early", name=self.name, host=source.host, lacking_bytes=lacking)
        raise Drop("ended early")

    def _right_until(self, span: Span) -> bool:
        """Whether what is here is the whole file, though the server announced a longer one."""
        check, board = self.wanted.check, self.board
        if check is None or self.wanted.bytes is not None or span.end != board.total or board.reach(0) != span.at:
            return False
        with part_path(self.wanted.path).open("rb", buffering=0) as file:
            return digest(file, check.new(), self.stopped, lambda _count: None).hexdigest() == check.hex

    def broke(self, source: Source, span: Span, after: float | None) -> None:
        """A request came to nothing, or to less than was asked for."""
        with self.board.changed:
            if not source.failed(span.began, self.limits, after):
                self.refuse(source, self._broke_off(source))

    def refuse(self, source: Source, error: AppError) -> None:
        """A source is given up; the last one's end is the download's."""
        with self.board.changed:
            source.refused = error
            last = self.sources.error()
            if last is not None:
                self.fail(last)
            elif not self.sources.mixed:
                self._begin_anew()
            for span in source.active:
                span.left = True

    def _broke_off(self, source: Source) -> NetworkError:
        """What is told: what the server said; else why there was no connection, or whether anything came, and is of
        use to the next start.
        """
        if source.said is not None:
            code = "source-trouble" if source.said >= 500 else "source-busy"
            return NetworkError(code, name=self.name, host=source.host, status=source.said)
        code = "download-broke-off-whole" if source.ranges is False else source.trouble or "download-broke-off"
        code = code if self.have else source.trouble or "download-never-came"
        return NetworkError(code, name=self.name, host=source.host, have_bytes=self.have)

    def changed_at(self, source: Source) -> None:
        """A source holds another version by now, or gives no parts."""
        with self.board.changed:
            others = [s for s in self.sources.usable if s is not source and s.ranges is not False]
            if others and self.wanted.check is not None:
                if source.ranges is not False:
                    self.refuse(source, AppError("hash-mismatch", name=self.name, host=source.host))
            elif source.failed(time.monotonic(), self.limits, 0.0):
                self._begin_anew()
            else:
                self.refuse(source, self._broke_off(source))

    def fail(self, error: BaseException) -> None:
        """Nothing more can be done."""
        if isinstance(error, OSError):
            error = storage_error(error, self.wanted.path.parent)
        with self.board.changed:
            self._error = self._error or error
        self.board.close()

    def _begin_anew(self) -> None:
        self._again = True
        self.board.close()
