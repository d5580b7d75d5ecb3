"""Which segment a connection gets, and how far a file is here."""

from __future__ import annotations

import random

import pytest

from gpu_assistant.fetch.segments import UNKNOWN_END, Segment, SegmentMap

MIB = 1 << 20


def claim(segments: SegmentMap, size: int = 4 * MIB, connections: int = 8) -> Segment | None:
    with segments.changed:
        return segments.claim(size, connections)


def receive(segments: SegmentMap, segment: Segment, count: int) -> None:
    with segments.changed:
        segments.advance(segment, count)


def test_only_missing_bytes_are_assigned() -> None:
    segments = SegmentMap([(0, MIB), (2 * MIB, 3 * MIB)], 4 * MIB, MIB)
    assert (segments.received, segments.unassigned, segments.complete) == (2 * MIB, 2 * MIB, False)
    ranges = [(segment.start, segment.end) for _ in range(2) if (segment := claim(segments)) is not None]
    assert ranges == [(MIB, 2 * MIB), (3 * MIB, 4 * MIB)]


def test_a_segment_is_an_even_share_at_most() -> None:
    first = claim(SegmentMap([], 16 * MIB, MIB))
    assert first is not None
    assert first.end == 2 * MIB


def test_a_short_rest_is_not_left_over() -> None:
    first = claim(SegmentMap([], 4 * MIB + 1000, MIB), connections=1)
    assert first is not None
    assert first.end == 4 * MIB + 1000


def test_a_whole_file_of_unknown_size_is_one_segment() -> None:
    segments = SegmentMap([], None, MIB)
    first = claim(segments)
    assert first is not None
    segments.assign_all(first)
    assert first.end == UNKNOWN_END
    segments.set_total(3 * MIB)
    assert (first.end, segments.unassigned) == (3 * MIB, 0)


def test_the_end_of_a_response_tells_an_unknown_size() -> None:
    segments = SegmentMap([], None, MIB)
    first = claim(segments)
    assert first is not None
    segments.assign_all(first)
    receive(segments, first, 500)
    segments.end_at_position(first)
    segments.release(first)
    assert (segments.total, segments.complete) == (500, True)


def test_the_slowest_segment_is_split() -> None:
    segments = SegmentMap([], 8 * MIB, MIB)
    only = claim(segments, size=8 * MIB, connections=1)
    assert only is not None
    assert claim(segments) is None  # it has just begun
    only.started -= 10
    half = claim(segments)
    assert half is not None
    assert (only.end, half.start, half.end) == (4 * MIB, 4 * MIB, 8 * MIB)


def test_bytes_that_did_not_come_are_free_again() -> None:
    segments = SegmentMap([], 2 * MIB, MIB)
    first = claim(segments, connections=1)
    assert first is not None
    receive(segments, first, 1000)
    segments.release(first)
    assert (segments.received, segments.unassigned) == (1000, 2 * MIB - 1000)


def test_the_contiguous_end_stops_at_a_gap() -> None:
    segments = SegmentMap([(0, 100), (200, 300)], 400, 10)
    assert segments.contiguous_end(0) == 100
    gap = claim(segments, size=100, connections=1)
    assert gap is not None
    receive(segments, gap, 100)
    assert segments.contiguous_end(0) == 300


def test_a_closed_map_assigns_nothing() -> None:
    segments = SegmentMap([], MIB, MIB)
    segments.close()
    assert claim(segments) is None


@pytest.mark.parametrize("seed", range(40))
def test_every_byte_comes_once_whatever_connections_do(seed: int) -> None:
    """Connections come, go and are split at any moment; the size becomes known at any time, or at the end."""
    chance = random.Random(seed)
    total = chance.randrange(1, 200)
    starts = sorted(chance.sample(range(total + 1), 2 * chance.randrange(min(4, total // 2) + 1)))
    present = list(zip(starts[::2], starts[1::2], strict=True))
    counts = bytearray(total)
    for first, last in present:
        counts[first:last] = bytes([1]) * (last - first)
    segments = SegmentMap(present, chance.choice([total, None]), chance.choice([1, 4, 16]))
    while not segments.complete:
        segment = claim(segments, chance.randrange(1, 50), chance.randrange(1, 9))
        if segment is not None:
            # Long ago, so that it may be split.
            segment.started -= 1000.0
        for each in list(segments.active):
            room = min(each.end, total) - each.position
            count = min(chance.randrange(1, 20), room)
            if count > 0:
                counts[each.position : each.position + count] = (
                    byte + 1 for byte in counts[each.position : each.position + count]
                )
                receive(segments, each, count)
            elif each.end == UNKNOWN_END and each.position == total:
                segments.end_at_position(each)
            if chance.random() < 0.3 or each.position >= min(each.end, total):
                segments.release(each)
        if chance.random() < 0.1:
            segments.set_total(total)
    assert counts == bytes([1]) * total
    assert segments.received == total
    assert segments.contiguous_end(0) == total
