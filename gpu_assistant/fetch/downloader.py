"""Several files, a few at once, with one set of figures for all of them; and one file alone as a job."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.plan import Bottleneck, EndEvent, PlanEvent, StepEvent, StepSummary
from .file_download import FileDownload
from .partial_file import local_path, matches
from .rate import RateLimiter, SpeedMeter
from .request import DownloadRequest, Limits
from .transfer_state import TransferState

# Often enough for a progress bar and for Cancel; the end of a thread wakes us at once.
INTERVAL_SECONDS = 0.1

STEP = "download"


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


class Downloader:
    """Fetches files in threads of its own; `run` stays on the calling thread and reports from there.

    `progress` is called ten times a second. `rate` lets another thread pause, resume and limit the download.
    """

    def __init__(
        self,
        requests: Sequence[DownloadRequest],
        *,
        cancel: threading.Event,
        progress: Callable[[Totals], None] = lambda _totals: None,
        limits: Limits | None = None,
        rate: RateLimiter | None = None,
    ) -> None:
        self._requests = tuple(requests)
        self._cancel = cancel
        self._progress = progress
        self._limits = limits or Limits()
        self._stopped = threading.Event()
        self._state = TransferState(self._limits, self._stopped, rate or RateLimiter())
        self._wake = threading.Event()
        self._lock = threading.Lock()
        sizes = ((i, request.file.bytes) for i, request in enumerate(self._requests))
        self._sizes: dict[int, int] = {i: size for i, size in sizes if size is not None}
        self._downloads: dict[int, FileDownload] = {}
        self._paths: dict[int, Path] = {}
        self._error: BaseException | None = None
        self._speed = SpeedMeter()

    def run(self) -> tuple[Path, ...]:
        """The files' paths, in the order of the requests; a file:// source is used where it lies, once its hash is
        right.

        Raises AppError, NetworkError, or Cancelled within 0.2 s of the event being set.
        """
        indexes = range(len(self._requests))
        unknown = [i for i in indexes if not self._size_known(i)]
        # A single file's first response says it as well.
        self._in_threads(self._request_size, unknown if len(self._requests) > 1 else [])
        try:
            self._in_threads(self._fetch, indexes)
        finally:
            self._state.close()
        self._progress(self.totals())
        return tuple(self._paths[i] for i in indexes)

    def totals(self) -> Totals:
        """The present sums over all downloads."""
        with self._lock:
            downloads = dict(self._downloads)
            sizes = dict(self._sizes)
        for i, download in downloads.items():
            if download.total is not None:
                sizes[i] = download.total
        active = [download for i, download in downloads.items() if i not in self._paths]
        done = sum(download.received for download in downloads.values())
        total = sum(sizes.values()) if len(sizes) == len(self._requests) else None
        speed = self._speed.rate()
        # A file that another download writes is named only where nothing else goes on.
        working = [download for download in active if not download.waiting] or active
        bottlenecks = {download.bottleneck() for download in working}
        return Totals(
            done=done,
            total=total,
            speed=speed,
            seconds_left=(total - done) / speed if total is not None and speed and total > done else None,
            reused=sum(download.reused for download in downloads.values()),
            fetched=sum(download.fetched for download in downloads.values()),
            # Where several files wait for different things the network is what they share.
            bottleneck=bottlenecks.pop() if len(bottlenecks) == 1 else "network",
            name=working[0].request.name if working else None,
        )

    def _size_known(self, i: int) -> bool:
        """Whether a file's size needs no server; records it."""
        source = local_path(self._requests[i].file.url)
        path = source or self._requests[i].path
        if i not in self._sizes and path.is_file():
            self._sizes[i] = path.stat().st_size
        # A local source that is missing has no server to ask; fetching it says so.
        return i in self._sizes or source is not None

    def _in_threads(self, work: Callable[[int], None], indexes: Sequence[int]) -> None:
        queue = deque(indexes)
        running = min(self._limits.files_at_once, len(queue))

        def worker() -> None:
            nonlocal running
            try:
                while not self._stopped.is_set() and queue:
                    try:
                        i = queue.popleft()
                    except IndexError:
                        return
                    work(i)
            except BaseException as error:  # noqa: BLE001 - raised again on the calling thread
                self._error = self._error or error
                self._stopped.set()
            finally:
                with self._lock:
                    running -= 1
                self._wake.set()

        # Daemons: a thread that still waits for a connection must not keep the program from ending.
        threads = [threading.Thread(target=worker, name=f"fetch-{n}", daemon=True) for n in range(running)]
        for thread in threads:
            thread.start()
        while running and not self._stopped.is_set():
            self._wake.wait(INTERVAL_SECONDS)
            self._wake.clear()
            totals = self.totals()
            self._speed.add(totals.fetched)
            self._progress(totals)
            if self._cancel.is_set():
                self._stopped.set()
        if self._stopped.is_set():
            self._end(threads)

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Wake the threads that wait for the network, wait a moment, and raise what happened."""
        for thread in threads:
            thread.join(0.5 if self._cancel.is_set() else 6)
        if self._cancel.is_set() or self._error is None:
            raise Cancelled
        raise self._error

    def _request_size(self, i: int) -> None:
        """How big a file is, for the figures alone: no answer is no harm."""
        import requests
        import urllib3

        from .http import content_length

        seconds = self._limits.connect_seconds
        url = self._requests[i].file.url
        session = self._state.sessions.take()
        try:
            with session.head(url, allow_redirects=True, timeout=(seconds, seconds)) as response:
                size = content_length(response.headers) if response.status_code == 200 else None
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            session.close()
            return
        self._state.sessions.give_back(session)
        if size is not None:
            with self._lock:
                self._sizes[i] = size

    def _fetch(self, i: int) -> None:
        download = FileDownload(self._requests[i], self._state)
        with self._lock:
            self._downloads[i] = download
        local = local_path(self._requests[i].file.url)
        self._paths[i] = download.run() if local is None else self._use_in_place(local, download)

    def _use_in_place(self, local: Path, download: FileDownload) -> Path:
        request = download.request
        download.checking = True
        if not local.is_file():
            raise AppError("local-file-missing", path=str(local))
        if not matches(local, request.expected, request.file.bytes, self._stopped, download.count_local):
            raise AppError("local-file-broken", path=str(local))
        download.checking = False
        return local


class LastStepEvent(StepEvent, frozen=True, kw_only=True, tag_field="event", tag="step"):
    """How the download ended, and where its bytes came from."""

    bytes_reused: int
    bytes_fetched: int


class LastEvent(EndEvent, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """The end, and where the bytes came from."""

    bytes_reused: int
    bytes_fetched: int


class DownloadJob:
    """One file as a job: `run` reports the contract's events and returns the last figures; raises AppError,
    NetworkError, Cancelled.
    """

    def __init__(self, request: DownloadRequest, limits: Limits | None = None, rate: RateLimiter | None = None) -> None:
        self._request, self._limits, self._rate = request, limits, rate
        self._last: Totals | None = None

    def run(self, context: JobContext[Any]) -> Totals | None:
        """Fetch the file."""
        started = time.monotonic()
        file = self._request.file
        brief = StepSummary(id=STEP, code="download-file", data={"name": self._request.name}, bytes=file.bytes)
        context.report(PlanEvent(steps=(brief,)))
        context.report(StepEvent(id=STEP, state="running"))
        error: AppError | None = None
        try:
            Downloader(
                [self._request],
                cancel=context.cancel,
                progress=lambda totals: self._report(totals, context),
                limits=self._limits,
                rate=self._rate,
            ).run()
        except AppError as caught:
            error = caught
        self._report_end(error, time.monotonic() - started, context)
        if error is not None:
            raise error
        return self._last

    def _report(self, totals: Totals, context: JobContext[Any]) -> None:
        self._last = totals
        context.report(
            StepEvent(
                id=STEP,
                state="running",
                done=totals.done,
                total=totals.total,
                unit="bytes",
                speed=totals.speed,
                bottleneck=totals.bottleneck,
            )
        )

    def _report_end(self, error: AppError | None, seconds: float, context: JobContext[Any]) -> None:
        last = self._last
        reused, fetched = (last.reused, last.fetched) if last is not None else (0, 0)
        state: Literal["done", "failed", "cancelled"]
        state = "done" if error is None else "cancelled" if isinstance(error, Cancelled) else "failed"
        code, data = (error.message.code, error.data) if error is not None else (None, {})
        context.report(
            LastStepEvent(
                id=STEP,
                state=state,
                done=last.done if last is not None else None,
                total=last.total if last is not None else None,
                unit="bytes",
                code=code,
                data=data,
                bytes_reused=reused,
                bytes_fetched=fetched,
            )
        )
        context.report(
            LastEvent(state=state, elapsed_s=seconds, code=code, data=data, bytes_reused=reused, bytes_fetched=fetched)
        )
