"""Fills a device's free memory with patterns and reads them back.

The patterns are memtest86's: no bit, every second bit, pairs, fours, each followed by its inversion; each word's own
index (a stuck address line makes two words share a location); noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...verify.child_protocol import CheckWriter
    from .stress_devices import StressDevice

PIECE_WORDS = 1 << 25  # words of 8 bytes: 256 MB, so that each step takes far less than two seconds on any GPU
STRIPE_WORDS = 1 << 22  # words that are compared at a time
FIXED_PATTERNS = (0, 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
INDEX_MULTIPLIER = 0x9E3779B97F4A7C15 - (1 << 64)  # an odd number: each index has another product
NOISE_MULTIPLIER = 0x3C79AC492BA7B653
MAX_INSPECTED_WORDS = 1024  # wrong words of a stripe whose bits are reported
MEMORY_REPORT_S = 0.5

Mismatch = tuple[int, int, int]  # byte offset of the first wrong word, count of wrong words, wrong bits
# Fills a piece, and compares it. Both take the piece and the index of its first word.
PatternStep = tuple[Callable[[Any, int], None], Callable[[Any, int], Mismatch | None]]


class MemoryFaults:
    """Counts the words that differed from the pattern."""

    def __init__(self) -> None:
        self.words = 0
        self.bits = 0
        self.first: int | None = None  # byte offset in the tested memory

    def add(self, offset: int, count: int, bits: int) -> None:
        """Add `count` wrong words, the first of them at byte `offset`."""
        self.words += count
        self.bits |= bits
        self.first = offset if self.first is None else min(self.first, offset)


def run_memory_test(
    writer: CheckWriter,
    torch: Any,  # noqa: ANN401
    device: StressDevice,
    share: float,
    max_share: float,
) -> None:
    """Test a `share` of the free memory; each pattern is written everywhere before the first word is read.

    With what other programs take meanwhile, at most `max_share` of it is filled.
    """
    free_bytes = device.free_bytes()
    spare_bytes = int(free_bytes * (1 - max_share))
    pieces, words = allocate_pieces(torch, device, int(free_bytes * share) // 8, spare_bytes)
    if not pieces:
        writer.report("memory-test", "skip", device=device.id, reason="@health.reason.no-memory")
        return
    faults = MemoryFaults()
    started = reported_at = time.perf_counter()
    steps = list(PatternTester(torch, device.id).steps())
    for step_index, (fill, compare) in enumerate(steps):
        for action in (fill, compare):
            for piece_index, piece in enumerate(pieces):
                mismatch = action(piece, piece_index * PIECE_WORDS)
                if mismatch is not None:
                    faults.add(*mismatch)
                now = time.perf_counter()
                if now - reported_at > MEMORY_REPORT_S:
                    reported_at = now
                    phase_offset = 0.5 if action is compare else 0.0
                    progress = (step_index + phase_offset + 0.5 * (piece_index + 1) / len(pieces)) / len(steps)
                    writer.send(
                        at={"check": "memory-test", "device": device.id, "done": progress, "errors": faults.words}
                    )
        device.synchronize()
    seconds = time.perf_counter() - started
    writer.report(
        "memory-test",
        "fail" if faults.words else "pass",
        value=faults.words,
        device=device.id,
        tested_memory_bytes=words * 8,
        passes=len(steps),
        seconds=seconds,
        gb_s=2 * len(steps) * words * 8 / seconds / 1e9,
        at_memory_bytes=faults.first,
        bits=f"{faults.bits:016x}" if faults.words else None,
        reason="@health.reason.memory" if faults.words else None,
    )


def allocate_pieces(torch: Any, device: StressDevice, words: int, spare_bytes: int) -> tuple[list[Any], int]:  # noqa: ANN401
    """Pieces of memory, up to so many words, and their words; leaves memory free for comparing.

    `spare_bytes` stay free: where another program takes memory meanwhile, Windows' driver lends system memory instead
    of failing, and that would be tested.
    """
    words -= 3 * STRIPE_WORDS
    pieces: list[Any] = []
    allocated = 0
    while words - allocated >= STRIPE_WORDS:
        size = min(PIECE_WORDS, words - allocated)
        if device.free_bytes() - size * 8 < spare_bytes:
            break
        try:
            pieces.append(torch.empty(size, dtype=torch.int64, device=device.id))
        except (RuntimeError, MemoryError):
            break  # another program took it meanwhile
        allocated += size
    if pieces and allocated < words:
        allocated -= pieces.pop().numel()  # free memory for comparing
    return pieces, allocated


class PatternTester:
    """Generates and compares words, a stripe at a time, in memory that is allocated once."""

    def __init__(self, torch: Any, device: str) -> None:  # noqa: ANN401
        self._torch = torch
        self._words = torch.empty(STRIPE_WORDS, dtype=torch.int64, device=device)
        self._scratch = torch.empty(STRIPE_WORDS, dtype=torch.int64, device=device)
        self._flags = torch.empty(STRIPE_WORDS, dtype=torch.bool, device=device)

    def steps(self) -> Iterator[PatternStep]:
        """All patterns in order."""
        for value in FIXED_PATTERNS:
            yield self._constant(value)
            yield self._constant(~value)
        yield self._generated(lambda first, count: self._index_words(first, count, 0))
        yield self._generated(lambda first, count: self._index_words(first, count, -1))
        yield self._generated(lambda first, count: self._noise_words(first, count, 1))
        yield self._generated(lambda first, count: self._noise_words(first, count, 2))

    def _constant(self, value: int) -> PatternStep:
        """The same word everywhere."""

        def fill(piece: Any, _first: int) -> None:  # noqa: ANN401
            piece.fill_(value)

        return fill, lambda piece, first: self._find_mismatch(piece, first, lambda _first, _count: value)

    def _generated(self, generate: Callable[[int, int], Any]) -> PatternStep:
        """Words that are generated again for comparing."""

        def fill(piece: Any, first: int) -> None:  # noqa: ANN401
            for offset in range(0, piece.numel(), STRIPE_WORDS):
                stripe = piece[offset : offset + STRIPE_WORDS]
                stripe.copy_(generate(first + offset, stripe.numel()))

        return fill, lambda piece, first: self._find_mismatch(piece, first, generate)

    def _index_words(self, first: int, count: int, mask: int) -> Any:  # noqa: ANN401
        """Each word its own index, spread over all bits; `mask` -1 for the inversion."""
        words = self._words[:count]
        self._torch.arange(first, first + count, out=words)
        return words.mul_(INDEX_MULTIPLIER).bitwise_xor_(mask)

    def _noise_words(self, first: int, count: int, seed: int) -> Any:  # noqa: ANN401
        """Pseudo-random words, a function of each word's index."""
        words, scratch = self._index_words(first + (seed << 40), count, 0), self._scratch[:count]
        self._torch.bitwise_right_shift(words, 29, out=scratch)
        return words.bitwise_xor_(scratch.bitwise_and_(0x7FFFFFFFF)).mul_(NOISE_MULTIPLIER)

    def _find_mismatch(self, piece: Any, first: int, expected: Callable[[int, int], Any]) -> Mismatch | None:  # noqa: ANN401
        """Wrong words in a piece whose first word has the index `first`; None where there are none."""
        torch = self._torch
        wrong_counts = []
        for offset in range(0, piece.numel(), STRIPE_WORDS):
            stripe = piece[offset : offset + STRIPE_WORDS]
            count = stripe.numel()
            torch.ne(stripe, expected(first + offset, count), out=self._flags[:count])
            wrong_counts.append(torch.count_nonzero(self._flags[:count]))
        mismatch: Mismatch | None = None
        # One transfer for the whole piece: the device works on meanwhile.
        for stripe_index, count in enumerate(torch.stack(wrong_counts).tolist()):
            if count:
                offset = stripe_index * STRIPE_WORDS
                stripe = piece[offset : offset + STRIPE_WORDS]
                difference = stripe ^ expected(first + offset, stripe.numel())
                positions = difference.nonzero().flatten()
                bits = 0
                for word in difference[positions[:MAX_INSPECTED_WORDS]].tolist():
                    bits |= word & 0xFFFFFFFFFFFFFFFF
                byte_offset = (first + offset + int(positions[0])) * 8 if len(positions) else (first + offset) * 8
                mismatch = (
                    (byte_offset, count, bits)
                    if mismatch is None
                    else (mismatch[0], mismatch[1] + count, mismatch[2] | bits)
                )
        return mismatch
