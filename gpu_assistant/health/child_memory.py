"""Fills a device's free memory with patterns and reads them back; in an environment's own Python.

The patterns are memtest86's: all bits off and on, every second bit, each followed by its opposite in place (moving
inversions), each word's own number (an address line that is stuck makes two words share a place), and noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..verify.child_talk import Talk
    from .child_device import Device

PIECE = 1 << 25  # words of 8 bytes: 256 MB, so that each step stays far below two seconds on any card
STRIPE = 1 << 22  # words that are compared at once
FIXED = (0, -1, 0x5555555555555555, -0x5555555555555556, 0x3333333333333333)
STEP = 0x9E3779B97F4A7C15 - (1 << 64)  # an odd number: every word's number comes out different
REPORT_S = 0.5

Fill = Callable[[Any, int], None]


class Fault:
    """What came back wrong."""

    def __init__(self) -> None:
        self.words = 0
        self.bits = 0
        self.first: int | None = None  # byte from the beginning of the tested memory

    def add(self, place: int, count: int, bits: int) -> None:
        """`count` wrong words, the first of them at byte `place`."""
        self.words += count
        self.bits |= bits
        self.first = place if self.first is None else min(self.first, place)


def patterns(talk: Talk, torch: Any, device: Device, share: float) -> None:  # noqa: ANN401
    """`share` of what is free, every pattern written everywhere before the first word is read."""
    pieces, words = allocate(torch, device, int(device.free_bytes() * share) // 8)
    if not pieces:
        talk.check("memory-test", "skip", device=device.id, reason="@health.reason.no-memory")
        return
    fault = Fault()
    began = said = time.perf_counter()
    steps = list(plan())
    for number, (fill, compare) in enumerate(steps):
        for work in (fill, compare):
            for place, piece in enumerate(pieces):
                found = work(torch, piece, place * PIECE)
                if found is not None:
                    fault.add(*found)
                now = time.perf_counter()
                if now - said > REPORT_S:
                    said = now
                    half = 0.5 if work is compare else 0.0
                    done = (number + half + 0.5 * (place + 1) / len(pieces)) / len(steps)
                    talk.send(at={"check": "memory-test", "device": device.id, "done": done, "errors": fault.words})
        device.wait()
    seconds = time.perf_counter() - began
    talk.check(
        "memory-test",
        "fail" if fault.words else "pass",
        value=fault.words,
        device=device.id,
        tested_memory_bytes=words * 8,
        passes=len(steps),
        seconds=seconds,
        gb_s=2 * len(steps) * words * 8 / seconds / 1e9,
        at_memory_bytes=fault.first,
        bits=f"{fault.bits:016x}" if fault.words else None,
        reason="@health.reason.memory" if fault.words else None,
    )


def allocate(torch: Any, device: Device, words: int) -> tuple[list[Any], int]:  # noqa: ANN401
    """Pieces of memory, as many as there really are; room for comparing is left free."""
    words -= 3 * STRIPE
    pieces: list[Any] = []
    have = 0
    while words - have >= STRIPE:
        size = min(PIECE, words - have)
        try:
            pieces.append(torch.empty(size, dtype=torch.int64, device=device.id))
        except (RuntimeError, MemoryError):
            break  # somebody else took it meanwhile
        have += size
    if pieces and have < words:
        have -= pieces.pop().numel()  # the last one makes room
    return pieces, have


def plan() -> Iterator[tuple[Callable[..., None], Callable[..., tuple[int, int, int] | None]]]:
    """Each step: how a piece is filled, and how it is compared. Both take torch, the piece, its first word's number."""
    for value in FIXED:
        yield constant(value)
        yield constant(~value)
    yield numbered(0)
    yield numbered(-1)
    yield noise(1)
    yield noise(2)


def constant(value: int) -> tuple[Callable[..., None], Callable[..., tuple[int, int, int] | None]]:
    """The same word everywhere."""

    def fill(_torch: Any, piece: Any, _first: int) -> None:  # noqa: ANN401
        piece.fill_(value)

    def compare(torch: Any, piece: Any, first: int) -> tuple[int, int, int] | None:  # noqa: ANN401
        return differences(torch, piece, first, lambda _stripe, _number: value)

    return fill, compare


def numbered(mask: int) -> tuple[Callable[..., None], Callable[..., tuple[int, int, int] | None]]:
    """Each word its own number, spread over all bits; `mask` -1 for the opposite."""

    def words(torch: Any, stripe: Any, number: int) -> Any:  # noqa: ANN401
        place = torch.arange(number, number + stripe.numel(), dtype=torch.int64, device=stripe.device)
        return (place * STEP) ^ mask

    return made_of(words)


def noise(seed: int) -> tuple[Callable[..., None], Callable[..., tuple[int, int, int] | None]]:
    """Words without any order, the same for the same place: a well-mixed function of each word's number."""

    def words(torch: Any, stripe: Any, number: int) -> Any:  # noqa: ANN401
        place = torch.arange(number, number + stripe.numel(), dtype=torch.int64, device=stripe.device)
        place = (place + seed) * STEP
        place ^= (place >> 29) & 0x7FFFFFFFF
        return place * 0x3C79AC492BA7B653

    return made_of(words)


def made_of(
    words: Callable[[Any, Any, int], Any],
) -> tuple[Callable[..., None], Callable[..., tuple[int, int, int] | None]]:
    """A step whose words are computed anew for comparing, stripe by stripe."""

    def fill(torch: Any, piece: Any, first: int) -> None:  # noqa: ANN401
        for at in range(0, piece.numel(), STRIPE):
            stripe = piece[at : at + STRIPE]
            stripe.copy_(words(torch, stripe, first + at))

    def compare(torch: Any, piece: Any, first: int) -> tuple[int, int, int] | None:  # noqa: ANN401
        return differences(torch, piece, first, lambda stripe, number: words(torch, stripe, number))

    return fill, compare


def differences(
    torch: Any,  # noqa: ANN401
    piece: Any,  # noqa: ANN401
    first: int,
    expected: Callable[[Any, int], Any],
) -> tuple[int, int, int] | None:
    """(byte of the first wrong word, how many, which bits) of a piece whose first word has this number, or None."""
    found: tuple[int, int, int] | None = None
    wrong = [
        (stripe := piece[at : at + STRIPE]).ne(expected(stripe, first + at)).sum()
        for at in range(0, piece.numel(), STRIPE)
    ]
    # One question for the whole piece: the device works on while the next ones are being asked for.
    for number, count in enumerate(torch.stack(wrong).tolist()):
        if count:
            at = number * STRIPE
            stripe = piece[at : at + STRIPE]
            changed = stripe ^ expected(stripe, first + at)
            places = changed.nonzero().flatten()
            bits = 0
            for word in changed[places[:1024]].tolist():
                bits |= word & 0xFFFFFFFFFFFFFFFF
            where = (first + at + int(places[0])) * 8
            found = (where, count, bits) if found is None else (found[0], found[1] + count, found[2] | bits)
    return found
