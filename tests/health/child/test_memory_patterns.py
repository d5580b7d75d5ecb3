"""How much of a card's memory is tested while other programs use it, too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.health.child.memory_patterns import STRIPE_WORDS, allocate_pieces

GB = 10**9


class SharedCard:
    """8 GB of free memory, of which another program takes `other_bytes` after the first piece.

    Allocating never fails, as where Windows' driver lends system memory.
    """

    id = "cuda:0"

    def __init__(self, other_bytes: int) -> None:
        self._other_bytes = other_bytes
        self._pieces: list[int] = []
        self.torch = SimpleNamespace(int64="int64", empty=self._empty)

    def _empty(self, words: int, dtype: str, device: str) -> Any:
        self._pieces.append(words)
        return SimpleNamespace(numel=lambda: words)

    def free_bytes(self) -> int:
        return max(8 * GB - 8 * sum(self._pieces) - (self._other_bytes if self._pieces else 0), 0)


@pytest.mark.parametrize(("other", "least", "most"), [(0, 7.0, 7.2), (3 * GB, 4.0, 4.6), (7 * GB, 0.0, 0.6)])
def test_memory_that_another_program_takes_meanwhile_is_not_tested(other: int, least: float, most: float) -> None:
    """90 % of the free memory are asked for, 5 % stay free."""
    card: Any = SharedCard(other)
    pieces, words = allocate_pieces(card.torch, card, int(7.2 * GB) // 8, int(0.4 * GB))
    assert sum(piece.numel() for piece in pieces) == words
    assert least * GB <= 8 * (words + 3 * STRIPE_WORDS) <= most * GB
