"""Several files, a few at once, with one set of figures for all of them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import requests
import urllib3
from msgspec import Struct

from ..core.errors import AppError, Cancelled
from ..core.plan import Bottleneck
from . import answers
from .download import Download
from .limits import Limits
from .local import local_path, matches
from .pace import Pace
from .round import Common
from .session import Session
from .speed import Speed
from .wanted import Wanted

# Often enough for a progress bar and for Cancel; a wait, not a poll: the end of a file wakes us at once.
BEAT = 0.1


class Totals(Struct, frozen=True, kw_only=True):
    """All files together, in bytes; `speed` in bytes per second over the network; unknown is None.

    `bottleneck` is what everything waits for just now; `seconds_left` at the present speed.
    """

    done: int
    total: int | None
    speed: float | None
    reused: int
    fetched: int
    bottleneck: Bottleneck
    name: str | None
    seconds_left: float | None = None


class Fetch:
    """Fetches files in threads of its own; `run` stays on the calling thread and reports from there.

    `pace` lets another thread pause, resume and limit it.
    """

    def __init__(
        self,
        wanted: Sequence[Wanted],
        *,
        cancel: threading.Event,
        progress: Callable[[Totals], None] = lambda _totals: None,
        limits: Limits | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._wanted = tuple(wanted)
        self._cancel = cancel
        self._progress = progress
        self._limits = limits or Limits()
        self._stopped = threading.Event()
        self._common = Common(self._limits, self._stopped, pace or Pace())
        self._woken = threading.Event()
        self._guard = threading.Lock()
        self._sizes: dict[int, int] = {i: w.bytes for i, w in enumerate(self._wanted) if w.bytes is not None}
        self._downloads: dict[int, Download] = {}
        self._paths: dict[int, Path] = {}
        self._error: BaseException | None = None
        self._speed = Speed()

    def run(self) -> tuple[Path, ...]:
        """The files' places, in the order wanted; a file:// source is used where it lies, once its hash is right.

        Raises AppError, NetworkError, or Cancelled within 0.2 s of the event being set.
        """
        unknown = [i for i in range(len(self._wanted)) if not self._known_here(i)]
        # A single file's first answer says it as well.
        self._in_threads(self._ask_size, unknown if len(self._wanted) > 1 else [])
        try:
            self._in_threads(self._get, list(range(len(self._wanted))))
        finally:
            self._common.sessions.close()
        self._progress(self.totals())
        return tuple(self._paths[i] for i in range(len(self._wanted)))

    def totals(self) -> Totals:
        """The figures now."""
        with self._guard:
            downloads = dict(self._downloads)
            sizes = dict(self._sizes)
        for i, download in downloads.items():
            if download.total is not None:
                sizes[i] = download.total
        active = [d for i, d in downloads.items() if i not in self._paths]
        done = sum(download.have for download in downloads.values())
        total = sum(sizes.values()) if len(sizes) == len(self._wanted) else None
        speed = self._speed.rate()
        # What waits for another download's file is told where nothing else goes on.
        working = [download for download in active if not download.waiting] or active
        slow = {download.slow_now() for download in working}
        return Totals(
            done=done,
            total=total,
            speed=speed,
            seconds_left=(total - done) / speed if total is not None and speed and total > done else None,
            reused=sum(download.reused for download in downloads.values()),
            fetched=sum(download.fetched for download in downloads.values()),
            # Where several files wait for different things the network is what they share.
            bottleneck=slow.pop() if len(slow) == 1 else "network",
            name=working[0].wanted.path.name if working else None,
        )

    def _known_here(self, i: int) -> bool:
        """Whether a file's size can be told without asking a server; notes it."""
        here = local_path(self._wanted[i].url) or self._wanted[i].path
        if i not in self._sizes and here.is_file():
            self._sizes[i] = here.stat().st_size
        # A local source that is missing has no server to ask; fetching it says so.
        return i in self._sizes or local_path(self._wanted[i].url) is not None

    def _in_threads(self, work: Callable[[int, Session], None], todo: Sequence[int]) -> None:
        queue = deque(todo)
        left = [min(self._limits.files_at_once, len(queue))]

        def worker() -> None:
            try:
                with Session() as session:
                    while not self._stopped.is_set() and queue:
                        try:
                            i = queue.popleft()
                        except IndexError:
                            return
                        work(i, session)
            except BaseException as error:  # noqa: BLE001 - raised again on the calling thread
                self._error = self._error or error
                self._stopped.set()
            finally:
                with self._guard:
                    left[0] -= 1
                self._woken.set()

        # Daemons: a thread that still waits for a connection must not keep the program from ending.
        threads = [threading.Thread(target=worker, name=f"fetch-{n}", daemon=True) for n in range(left[0])]
        for thread in threads:
            thread.start()
        while left[0] and not self._stopped.is_set():
            self._woken.wait(BEAT)
            self._woken.clear()
            totals = self.totals()
            self._speed.add(totals.fetched)
            self._progress(totals)
            if self._cancel.is_set():
                self._stopped.set()
        if self._stopped.is_set():
            self._end(threads)

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Wake what waits for the network, wait a moment, and raise what happened."""
        for thread in threads:
            thread.join(0.5 if self._cancel.is_set() else 6)
        if self._cancel.is_set() or self._error is None:
            raise Cancelled
        raise self._error

    def _ask_size(self, i: int, session: Session) -> None:
        """How big a file is, for the figures alone: no answer is no harm."""
        seconds = self._limits.connect_seconds
        try:
            with session.head(self._wanted[i].url, allow_redirects=True, timeout=(seconds, seconds)) as response:
                size = answers.content_length(response.headers) if response.status_code == 200 else None
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            return
        if size is not None:
            with self._guard:
                self._sizes[i] = size

    def _get(self, i: int, _session: Session) -> None:
        wanted = self._wanted[i]
        download = Download(wanted, self._common)
        with self._guard:
            self._downloads[i] = download
        here = local_path(wanted.url)
        self._paths[i] = download.run() if here is None else self._in_place(here, wanted, download)

    def _in_place(self, here: Path, wanted: Wanted, figures: Download) -> Path:
        figures.checking = True
        if not here.is_file():
            raise AppError("local-file-missing", path=str(here))
        if not matches(here, wanted.check, wanted.bytes, self._stopped, figures.count_here):
            raise AppError("local-file-broken", path=str(here))
        figures.checking = False
        return here
