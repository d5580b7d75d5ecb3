"""Fills a device's free memory with patterns and reads them back; in an environment's own Python.

The patterns are memtest86's: all bits off, every second bit, pairs, fours, each followed by its opposite in place
(moving inversions), each word's own number (an address line that is stuck makes two words share a place), and noise.
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
FIXED = (0, 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
STEP = 0x9E3779B97F4A7C15 - (1 << 64)  # an odd number: every word's number comes out different
MIX = 0x3C79AC492BA7B653
MOST_LOOKED_AT = 1024  # wrong words of a stripe whose bits are told
REPORT_S = 0.5

Found = tuple[int, int, int]  # byte of the first wrong word, how many, which bits
# How a piece is filled, and how it is compared. Both take the piece and its first word's number.
Step = tuple[Callable[[Any, int], None], Callable[[Any, int], Found | None]]


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
    steps = list(Bench(torch, device.id).steps())
    for number, (fill, compare) in enumerate(steps):
        for work in (fill, compare):
            for place, piece in enumerate(pieces):
                found = work(piece, place * PIECE)
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


class Bench:
    """The place where words are made and compared, a stripe at a time and without asking for memory anew."""

    def __init__(self, torch: Any, device: str) -> None:  # noqa: ANN401
        self._torch = torch
        self._words = torch.empty(STRIPE, dtype=torch.int64, device=device)
        self._other = torch.empty(STRIPE, dtype=torch.int64, device=device)
        self._flags = torch.empty(STRIPE, dtype=torch.bool, device=device)

    def steps(self) -> Iterator[Step]:
        """All of them, in order."""
        for value in FIXED:
            yield self._constant(value)
            yield self._constant(~value)
        yield self._made_of(lambda first, count: self._numbers(first, count, 0))
        yield self._made_of(lambda first, count: self._numbers(first, count, -1))
        yield self._made_of(lambda first, count: self._noise(first, count, 1))
        yield self._made_of(lambda first, count: self._noise(first, count, 2))

    def _constant(self, value: int) -> Step:
        """The same word everywhere."""

        def fill(piece: Any, _first: int) -> None:  # noqa: ANN401
            piece.fill_(value)

        return fill, lambda piece, first: self._differences(piece, first, lambda _first, _count: value)

    def _made_of(self, words: Callable[[int, int], Any]) -> Step:
        """Words that are made anew for comparing."""

        def fill(piece: Any, first: int) -> None:  # noqa: ANN401
            for at in range(0, piece.numel(), STRIPE):
                stripe = piece[at : at + STRIPE]
                stripe.copy_(words(first + at, stripe.numel()))

        return fill, lambda piece, first: self._differences(piece, first, words)

    def _numbers(self, first: int, count: int, mask: int) -> Any:  # noqa: ANN401
        """Each word its own number, spread over all bits; `mask` -1 for the opposite."""
        words = self._words[:count]
        self._torch.arange(first, first + count, out=words)
        return words.mul_(STEP).bitwise_xor_(mask)

    def _noise(self, first: int, count: int, seed: int) -> Any:  # noqa: ANN401
        """Words without any order, the same for the same place: a well-mixed function of each word's number."""
        words, other = self._numbers(first + (seed << 40), count, 0), self._other[:count]
        self._torch.bitwise_right_shift(words, 29, out=other)
        return words.bitwise_xor_(other.bitwise_and_(0x7FFFFFFFF)).mul_(MIX)

    def _differences(self, piece: Any, first: int, words: Callable[[int, int], Any]) -> Found | None:  # noqa: ANN401
        """What is wrong in a piece whose first word has this number."""
        torch = self._torch
        wrong = []
        for at in range(0, piece.numel(), STRIPE):
            stripe = piece[at : at + STRIPE]
            count = stripe.numel()
            torch.ne(stripe, words(first + at, count), out=self._flags[:count])
            wrong.append(torch.count_nonzero(self._flags[:count]))
        found: Found | None = None
        # One question for the whole piece: the device works on while the next ones are being asked for.
        for number, count in enumerate(torch.stack(wrong).tolist()):
            if count:
                at = number * STRIPE
                stripe = piece[at : at + STRIPE]
                changed = stripe ^ words(first + at, stripe.numel())
                places = changed.nonzero().flatten()
                bits = 0
                for word in changed[places[:MOST_LOOKED_AT]].tolist():
                    bits |= word & 0xFFFFFFFFFFFFFFFF
                where = (first + at + int(places[0])) * 8 if len(places) else (first + at) * 8
                found = (where, count, bits) if found is None else (found[0], found[1] + count, found[2] | bits)
        return found
