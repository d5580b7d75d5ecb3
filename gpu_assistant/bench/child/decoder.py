"""A small language model of today's kind: RMSNorm, rotary places, SwiGLU, a cache of keys and values."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, LAYERS, HEADS, INNER = 32000, 768, 12, 12, 2048
HEAD = WIDTH // HEADS
BASE = 10000.0
DEVIATION = 0.02

Cache = List[Tuple[Any, Any]]


def norm(x: Any, weight: Any) -> Any:
    """RMSNorm; its mean in float32 where `x` is narrower."""
    wide = x if x.dtype == torch.float64 else x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def turned(x: Any, angles: Any) -> Any:
    """Rotary places: (N, heads, T, 64), angles (T, 32)."""
    one, two = x.chunk(2, -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat((one * cos - two * sin, one * sin + two * cos), -1)


class Layer(nn.Module):
    """Attention over what came before, and a gated dense part."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.Parameter(torch.ones(WIDTH))
        self.before_dense = nn.Parameter(torch.ones(WIDTH))
        self.attention = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate_and_up = nn.Linear(WIDTH, 2 * INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: Any, angles: Any, at: int, cache: Optional[Tuple[Any, Any]]) -> Any:
        """(N, T, 768), its first word at place `at`; keys and values of before are in `cache`."""
        count, length, _ = x.shape
        parts = self.attention(norm(x, self.before_attention)).view(count, length, 3, HEADS, HEAD)
        query, key, value = (part.transpose(1, 2) for part in parts.unbind(2))
        query, key = turned(query, angles), turned(key, angles)
        if cache is not None:
            for kept, new in zip(cache, (key, value)):
                kept[:, :, at : at + length] = new
            key, value = (kept[:, :, : at + length] for kept in cache)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
        x = x + self.output(seen.transpose(1, 2).reshape(x.shape))
        gate, up = self.gate_and_up(norm(x, self.before_dense)).chunk(2, -1)
        return x + self.down(functional.silu(gate) * up)


class Decoder(nn.Module):
    """(N, T) word numbers → (N, VOCABULARY) scores of the word after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.last = nn.Parameter(torch.ones(WIDTH))
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=DEVIATION)

    def room(self, length: int) -> Cache:
        """An empty cache for one sequence of that many words."""
        weight = self.words.weight
        made = (weight.new_zeros(2, 1, HEADS, length, HEAD) for _ in self.layers)
        return [(both[0], both[1]) for both in made]

    def forward(self, words: Any, at: int = 0, cache: Optional[Cache] = None) -> Any:
        """One pass; with a cache the words of before are not given again."""
        return self.scores(self.seen(words, at, cache)[:, -1])

    def seen(self, words: Any, at: int = 0, cache: Optional[Cache] = None) -> Any:
        """What the layers make of each word: (N, T, 768)."""
        wide = torch.float64 if self.words.weight.dtype == torch.float64 else torch.float32
        places = torch.arange(at, at + words.shape[1], device=words.device, dtype=wide)
        turns = BASE ** (-torch.arange(0, HEAD, 2, device=words.device, dtype=wide) / HEAD)
        angles = places[:, None] * turns
        x = self.words(words)
        for number, layer in enumerate(self.layers):
            x = layer(x, angles, at, cache[number] if cache is not None else None)
        return x

    def scores(self, x: Any) -> Any:
        """Scores of each word of the vocabulary."""
        return functional.linear(norm(x, self.last), self.words.weight)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.layers)


class LanguageModel(Decoder):
    """The same as it is trained: (N, T) word numbers → (N × T, VOCABULARY) scores of what follows each of them."""

    def forward(self, words: Any) -> Any:  # type: ignore[override]
        """Scores after every word."""
        return self.scores(self.seen(words)).flatten(0, 1)
