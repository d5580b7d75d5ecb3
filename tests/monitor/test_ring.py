from __future__ import annotations

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_assistant.monitor.ring import SLEW_S, Ring


def seen(ring: Ring, name: str, seconds: float | None = None) -> list[float | None]:
    _, series = ring.window(seconds)
    return [None if math.isnan(value) else value for value in series[name]]


def test_empty() -> None:
    ring = Ring(3)
    times, series = ring.window(60)
    assert (list(times), series, len(ring)) == ([], {}, 0)
    assert math.isnan(ring.latest("cpu"))


def test_a_ring_holds_something() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Ring(0)


def test_gaps_and_late_series() -> None:
    ring = Ring(10)
    ring.append(1, {"cpu": 5})
    ring.append(2, {"cpu": None})
    ring.append(3, {"gpu0.temp": 50})
    assert seen(ring, "cpu") == [5, None, None]
    assert seen(ring, "gpu0.temp") == [None, None, 50]
    assert ring.names == ("cpu", "gpu0.temp")
    assert ring.latest("gpu0.temp") == 50


def test_the_window_is_the_last_seconds() -> None:
    ring = Ring(100)
    for t in range(50):
        ring.append(t, {"cpu": t})
    assert list(ring.window(5)[0]) == [44, 45, 46, 47, 48, 49]
    assert seen(ring, "cpu", 5) == [44, 45, 46, 47, 48, 49]
    assert len(ring.window(1000)[0]) == 50


@given(st.integers(1, 7), st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=40))
def test_it_always_holds_the_newest(capacity: int, values: list[float | None]) -> None:
    ring = Ring(capacity)
    kept: deque[tuple[float, float | None]] = deque(maxlen=capacity)
    for t, value in enumerate(values):
        ring.append(t, {"x": value})
        kept.append((t, value))
        assert list(ring.window()[0]) == [t for t, _ in kept]
        assert seen(ring, "x") == [v for _, v in kept]


def test_numpy_sees_it_without_a_copy() -> None:
    numpy = pytest.importorskip("numpy")
    ring = Ring(4)
    for t in range(6):
        ring.append(t, {"cpu": t})
    view = numpy.frombuffer(ring.window()[1]["cpu"], dtype=float)
    assert view.tolist() == [2, 3, 4, 5]
    assert not view.flags.owndata
    ring.append(6, {"cpu": 60})
    assert 60 in view.tolist()  # the same memory: 60 took the place of the oldest


def test_memory_is_bounded() -> None:
    ring = Ring(8)
    for t in range(1000):
        ring.append(t, {"cpu": t})
    assert len(ring) == 8
    times, series = ring.window()
    assert times.obj.buffer_info()[1] == series["cpu"].obj.buffer_info()[1] == 16


def test_a_clock_set_back_a_little_does_not_go_back() -> None:
    ring = Ring(10)
    ring.append(100, {"cpu": 1})
    ring.append(100 - SLEW_S / 2, {"cpu": 2})
    ring.append(101, {"cpu": 3})
    assert list(ring.window()[0]) == [100, 100, 101]


def test_a_clock_set_back_far_starts_anew() -> None:
    ring = Ring(10)
    ring.append(5000, {"cpu": 1})
    ring.append(100, {"cpu": 2})
    ring.append(101, {"cpu": 3})
    assert list(ring.window()[0]) == [100, 101]
    assert seen(ring, "cpu", 60) == [2, 3]
