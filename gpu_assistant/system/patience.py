"""Asking many things that may never answer: each in a thread of its own, all with one time limit."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def answered(calls: Mapping[Key, Callable[[], Value]], limit: float, at_once: int | None = None) -> dict[Key, Value]:
    """The answers that came within `limit` seconds, in the order of `calls`; who raised OSError or is late is left out.

    A question that hangs is left behind: its thread is a daemon and keeps nobody from ending. At most `at_once`
    are asked at the same time. What else a call raises is raised here.
    """
    todo: queue.SimpleQueue[tuple[Key, Callable[[], Value]]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Key, tuple[Value] | BaseException]] = queue.SimpleQueue()
    over = threading.Event()
    for item in calls.items():
        todo.put(item)

    def ask() -> None:
        while not over.is_set():
            try:
                key, call = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((key, (call(),)))
            except BaseException as error:  # noqa: BLE001 - handed to whoever asked
                done.put((key, error))

    end = time.monotonic() + limit
    for _ in range(min(at_once or len(calls), len(calls))):
        threading.Thread(target=ask, name="patience", daemon=True).start()
    found: dict[Key, Value] = {}
    try:
        for _ in calls:
            key, answer = done.get(timeout=max(0.0, end - time.monotonic()))
            if isinstance(answer, tuple):
                found[key] = answer[0]
            elif not isinstance(answer, OSError):
                raise answer
    except queue.Empty:
        pass
    finally:
        over.set()
    return {key: found[key] for key in calls if key in found}
