"""Asking many things that may never answer: each in a thread of its own, all with one time limit."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def gather_with_timeout(calls: Mapping[Key, Callable[[], Value]], timeout_s: float, max_workers: int | None = None) -> dict[Key, Value]:
    """The answers that came within `limit` seconds, in the order of `calls`; who raised OSError or is late is left out.

    A question that hangs is left behind: its thread is a daemon and keeps nobody from ending. At most `at_once`
    are asked at the same time. What else a call raises is raised here.
    """
    pending: queue.SimpleQueue[tuple[Key, Callable[[], Value]]] = queue.SimpleQueue()
    completed: queue.SimpleQueue[tuple[Key, tuple[Value] | BaseException]] = queue.SimpleQueue()
    stopped = threading.Event()
    for item in calls.items():
        pending.put(item)

    def work() -> None:
        while not stopped.is_set():
            try:
                key, call = pending.get_nowait()
            except queue.Empty:
                return
            try:
                completed.put((key, (call(),)))
            except BaseException as error:  # noqa: BLE001 - handed to whoever asked
                completed.put((key, error))

    deadline = time.monotonic() + timeout_s
    for _ in range(min(max_workers or len(calls), len(calls))):
        threading.Thread(target=work, name="patience", daemon=True).start()
    results: dict[Key, Value] = {}
    try:
        for _ in calls:
            key, answer = completed.get(timeout=max(0.0, deadline - time.monotonic()))
            if isinstance(answer, tuple):
                results[key] = answer[0]
            elif not isinstance(answer, OSError):
                raise answer
    except queue.Empty:
        pass
    finally:
        stopped.set()
    return {key: results[key] for key in calls if key in results}
