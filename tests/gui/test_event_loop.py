from __future__ import annotations

import gc
import threading
from weakref import ref

import pytest
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.event_loop import GarbageCollector
from gpu_assistant.gui.widgets.page import Page

pytestmark = pytest.mark.usefixtures("default_collector")


class Witness:
    """Remembers the thread in which it ended."""

    def __init__(self, ended: list[int]) -> None:
        self._ended = ended

    def __del__(self) -> None:
        self._ended.append(threading.get_ident())


def litter() -> None:
    """Makes as much garbage as Python's own collector needs to start, several times over."""
    for _ in range(20 * gc.get_threshold()[0]):
        knot: list[object] = []
        knot.append(knot)


def dropped_page(ended: list[int]) -> ref[Page]:
    """A page that nobody holds: what it is made of holds itself."""
    page = Page("Home")
    page.witness = Witness(ended)  # type: ignore[attr-defined]
    return ref(page)


def in_a_thread() -> None:
    worker = threading.Thread(target=litter)
    worker.start()
    worker.join()


def test_widget_is_not_collected_in_worker_thread(garbage: GarbageCollector, qtbot: QtBot) -> None:
    ended: list[int] = []
    page = dropped_page(ended)
    in_a_thread()
    assert page() is not None
    assert not ended
    in_a_thread()  # the more there is, the older the generations that are due

    def collected() -> bool:
        litter()
        return page() is None

    qtbot.waitUntil(collected, timeout=10_000)
    assert ended == [threading.get_ident()]


def test_default_collector_collects_in_worker_thread(garbage: GarbageCollector) -> None:
    """The danger is real; a plain object stands for the widget, so that no process is at stake."""
    garbage.stop()
    gc.enable()  # what was there before stays frozen: to look through all of it takes seconds
    ended: list[int] = []
    knot: list[object] = [Witness(ended)]
    knot.append(knot)
    del knot
    in_a_thread()
    assert ended
    assert ended != [threading.get_ident()]


def test_no_collection_in_worker_after_stop(garbage: GarbageCollector) -> None:
    garbage.stop()
    ended: list[int] = []
    knot: list[object] = [Witness(ended)]
    knot.append(knot)
    del knot
    in_a_thread()
    assert not ended


def test_objects_before_start_are_frozen(garbage: GarbageCollector) -> None:
    assert gc.get_freeze_count() > 10_000


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((699, 0, 0), []),
        ((700, 0, 0), [0]),
        ((700, 10, 0), [1]),
        ((7700, 0, 0), [1]),
        ((700, 9, 10), [2]),
        ((77_000, 0, 0), [2]),
    ],
)
def test_collects_due_generations(
    garbage: GarbageCollector, monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int, int], expected: list[int]
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(gc, "get_count", lambda: counts)
    monkeypatch.setattr(gc, "collect", collected.append)
    garbage.collect()
    monkeypatch.undo()
    assert collected == expected
