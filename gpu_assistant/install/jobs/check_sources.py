"""Asks side by side, within a few seconds in all, whether what a plan names can be downloaded.

`app/available_plan.py` asks for builds of PyTorch (`packages/source_check.py`) while it chooses one; the wheel that an
index names, and the other files of the plan, are asked for by a request for their first byte. Each question has a
daemon thread of its own: a system that hangs while it looks a name up holds up neither the answers of the others nor
the end of the program.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...core.errors import AppError, Cancelled
from ...core.plan import PlanFile
from ...core.recommendation import SourceAnswer
from ...fetch.partial_file import local_path
from ..host import PreviewContext
from ..packages.source_check import SourceQuestion, ask_index
from ..packages.uv import Uv, find_uv

if TYPE_CHECKING:
    from ...fetch.http import HttpSession, SessionPool

# In all, for every question of a plan, from the first one on.
CHECK_SECONDS = 3.0
# Once more, before an install that would otherwise begin without knowing of any source.
RETRY_SECONDS = 20.0
# How long PyTorch's own index may be silent before its mirrors are asked, too.
MIRROR_DELAY_SECONDS = 1.0
POLL_SECONDS = 0.05
MAX_FILE_WORKERS = 6
# Statuses by which a server says that it does not have a file; some file hosts answer 403 for an absent one.
ABSENT_STATUSES = (403, 404, 410)


class SourceCheck:
    """The questions of one plan. Answers come in any order from `wait`; `finish` ends what is still asked.

    An AppError of a question counts as no answer. Raises AppError("uv-missing") when it is made.
    """

    def __init__(
        self,
        context: PreviewContext,
        *,
        cancel: threading.Event,
        log: Callable[[str], None],
        seconds: float,
    ) -> None:
        # Before the clock starts, and before several threads do it at once, which sysconfig does not stand.
        import packaging.pylock  # noqa: F401

        find_uv()
        self._folder = context.data.size_cache
        self._cancel = cancel
        self._stopped = threading.Event()
        self._uv = Uv(context.system, context.data, cancel=self._stopped, log=log, retries=0)
        self._log = log
        self._seconds = seconds
        self._answers: queue.SimpleQueue[SourceAnswer] = queue.SimpleQueue()
        self._asked: set[SourceQuestion] = set()
        self._waiting: list[SourceQuestion] = []
        self._files: dict[str, bool | None] = {}
        self._files_left = 0
        self._lock = threading.Lock()
        self._sessions: SessionPool | None = None
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the first question."""
        return time.monotonic() - self._started

    @property
    def remaining(self) -> float:
        """Seconds that are left."""
        return max(self._seconds - self.elapsed, 0.0)

    @property
    def pending(self) -> tuple[SourceQuestion, ...]:
        """What was asked of indexes and is not answered yet."""
        return tuple(self._waiting)

    def ask(self, question: SourceQuestion) -> None:
        """Ask an index, once."""
        if question in self._asked or not self.remaining:
            return
        self._open_sessions()
        self._asked.add(question)
        self._waiting.append(question)
        _start_thread(lambda: self._ask(question))

    def _ask(self, question: SourceQuestion) -> None:
        try:
            answer = ask_index(question, self._uv, self._folder, seconds=max(self.remaining, POLL_SECONDS))
        except Cancelled:
            return
        except AppError as error:
            self._log(f"{question.source}: {error.code}")
            answer = question.answer("late")
        self._answers.put(self._without_missing_file(question, answer))

    def _without_missing_file(self, question: SourceQuestion, answer: SourceAnswer) -> SourceAnswer:
        """The answer, but "absent" where an index lists a wheel that its server no longer has."""
        file = answer.file
        if file is None or self._stopped.is_set() or self._has_file(file.url, file.name) is not False:
            return answer
        self._log(f"{question.source}: lists {file.name}, which is not there")
        # Of PyTorch's older releases nothing is known yet; they are asked for in their turn.
        is_wanted = question.package == "torch" and answer.state == "available"
        return question.answer("absent", newest=question.version if is_wanted else None)

    def ask_files(self, files: Sequence[PlanFile]) -> None:
        """Ask the publishers for files; those on this disk are looked at."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for file in {file.url: file for file in files}.values():
            path = local_path(file.url)
            if path is not None:
                self._files[file.url] = path.is_file()
            else:
                waiting.put(file.url)
                self._files_left += 1
        if self._files_left:
            self._open_sessions()
        names = {file.url: file.name for file in files}

        def work() -> None:
            while not self._stopped.is_set():
                try:
                    url = waiting.get_nowait()
                except queue.Empty:
                    return
                found = self._has_file(url, names[url])
                with self._lock:
                    self._files[url] = found
                    self._files_left -= 1

        for _ in range(min(MAX_FILE_WORKERS, self._files_left)):
            _start_thread(work)

    def _open_sessions(self) -> None:
        """Before the clock starts: what is on this disk needs no client of HTTP and TLS."""
        if self._sessions is None:
            from ...fetch.http import SessionPool

            self._sessions = SessionPool()
            self._started = time.monotonic()

    def _has_file(self, url: str, name: str) -> bool | None:
        import requests

        from ...fetch.http import is_html_page

        session: HttpSession | None = None
        try:
            if self._sessions is None:
                return None
            session = self._sessions.take()
            timeout = max(self.remaining, POLL_SECONDS)
            with session.get(url, headers={"Range": "bytes=0-0"}, stream=True, timeout=(timeout, timeout)) as response:
                if response.status_code in ABSENT_STATUSES:
                    return False
                return True if response.ok and not is_html_page(response.headers, name) else None
        except (requests.RequestException, OSError, ValueError, AppError):
            return None
        finally:
            if session is not None:
                session.close()

    def wait(self, seconds: float | None = None) -> SourceAnswer | None:
        """The next answer of an index; None if none came within `seconds`, or within the time that is left.

        Raises Cancelled.
        """
        end = time.monotonic() + (self.remaining if seconds is None else min(seconds, self.remaining))
        while True:
            if self._cancel.is_set():
                self.finish()
                raise Cancelled
            try:
                answer = self._answers.get(timeout=min(POLL_SECONDS, max(end - time.monotonic(), 0.001)))
            except queue.Empty:
                if time.monotonic() >= end:
                    return None
                continue
            self._waiting = [q for q in self._waiting if not _is_answered_by(q, answer)]
            return answer

    def wait_for_files(self) -> dict[str, bool | None]:
        """By address, whether each file is there (None: unknown), at the latest when the time is over.

        Raises Cancelled.
        """
        while self._files_left and self.remaining:
            if self._cancel.wait(POLL_SECONDS):
                self.finish()
                raise Cancelled
        with self._lock:
            return dict(self._files)

    def late_answers(self) -> tuple[SourceAnswer, ...]:
        """An answer for each index that gave none."""
        return tuple(question.answer("late") for question in self._waiting)

    def finish(self) -> None:
        """End all questions."""
        self._stopped.set()
        if self._sessions is not None:
            self._sessions.close()


def _is_answered_by(question: SourceQuestion, answer: SourceAnswer) -> bool:
    asked = question.package, question.source, question.name, question.version, question.variant
    return asked == (answer.package, answer.source, answer.name, answer.version, answer.variant)


def _start_thread(target: Callable[[], None]) -> None:
    threading.Thread(target=target, name="source check", daemon=True).start()
