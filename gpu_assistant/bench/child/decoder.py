"""A small language model of today's kind: RMSNorm, rotary places, SwiGLU, a cache of keys and values."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch
from torch import nn
from torch.nn import functional

DECODER_VOCABULARY_SIZE, DECODER_HIDDEN_SIZE, DECODER_LAYERS, DECODER_ATTENTION_HEADS, DECODER_INTERMEDIATE_SIZE = 32000, 768, 12, 12, 2048
DECODER_HEAD_SIZE = DECODER_HIDDEN_SIZE // DECODER_ATTENTION_HEADS
ROPE_BASE = 10000.0
DECODER_INITIALIZER_RANGE = 0.02

KeyValueCache = List[Tuple[Any, Any]]


def rms_norm(x: Any, weight: Any) -> Any:
    """RMSNorm; its mean in float32 where `x` is narrower."""
    x_float = x if x.dtype == torch.float64 else x.float()
    return (x_float * torch.rsqrt(x_float.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def apply_rotary_embedding(x: Any, angles: Any) -> Any:
    """Rotary places: (N, heads, T, 64), angles (T, 32)."""
    first_half, second_half = x.chunk(2, -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat((first_half * cos - second_half * sin, first_half * sin + second_half * cos), -1)


class DecoderLayer(nn.Module):
    """Attention over what came before, and a gated dense part."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        self.mlp_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        self.qkv_projection = nn.Linear(DECODER_HIDDEN_SIZE, 3 * DECODER_HIDDEN_SIZE, bias=False)
        self.output_projection = nn.Linear(DECODER_HIDDEN_SIZE, DECODER_HIDDEN_SIZE, bias=False)
        self.gate_up_projection = nn.Linear(DECODER_HIDDEN_SIZE, 2 * DECODER_INTERMEDIATE_SIZE, bias=False)
        self.down_projection = nn.Linear(DECODER_INTERMEDIATE_SIZE, DECODER_HIDDEN_SIZE, bias=False)

    def forward(self, x: Any, angles: Any, position: int, cache: Optional[Tuple[Any, Any]]) -> Any:
        """(N, T, 768), its first word at place `at`; keys and values of before are in `cache`."""
        batch, length, _ = x.shape
        qkv = self.qkv_projection(rms_norm(x, self.attention_norm)).view(batch, length, 3, DECODER_ATTENTION_HEADS, DECODER_HEAD_SIZE)
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(2))
        query, key = apply_rotary_embedding(query, angles), apply_rotary_embedding(key, angles)
        if cache is not None:
            for cached, latest in zip(cache, (key, value)):
                cached[:, :, position : position + length] = latest
            key, value = (cached[:, :, : position + length] for cached in cache)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
        x = x + self.output_projection(attended.transpose(1, 2).reshape(x.shape))
        gate, up = self.gate_up_projection(rms_norm(x, self.mlp_norm)).chunk(2, -1)
        return x + self.down_projection(functional.silu(gate) * up)


class Decoder(nn.Module):
    """(N, T) word numbers → (N, VOCABULARY) scores of the word after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(DECODER_VOCABULARY_SIZE, DECODER_HIDDEN_SIZE)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(DECODER_LAYERS))
        self.final_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=DECODER_INITIALIZER_RANGE)

    def empty_cache(self, length: int) -> KeyValueCache:
        """An empty cache for one sequence of that many words."""
        weight = self.token_embedding.weight
        buffers = (weight.new_zeros(2, 1, DECODER_ATTENTION_HEADS, length, DECODER_HEAD_SIZE) for _ in self.layers)
        return [(pair[0], pair[1]) for pair in buffers]

    def forward(self, token_ids: Any, position: int = 0, cache: Optional[KeyValueCache] = None) -> Any:
        """One pass; with a cache the words of before are not given again."""
        return self.logits(self.hidden_states(token_ids, position, cache)[:, -1])

    def hidden_states(self, token_ids: Any, position: int = 0, cache: Optional[KeyValueCache] = None) -> Any:
        """What the layers make of each word: (N, T, 768)."""
        float_type = torch.float64 if self.token_embedding.weight.dtype == torch.float64 else torch.float32
        positions = torch.arange(position, position + token_ids.shape[1], device=token_ids.device, dtype=float_type)
        frequencies = ROPE_BASE ** (-torch.arange(0, DECODER_HEAD_SIZE, 2, device=token_ids.device, dtype=float_type) / DECODER_HEAD_SIZE)
        angles = positions[:, None] * frequencies
        x = self.token_embedding(token_ids)
        for index, layer in enumerate(self.layers):
            x = layer(x, angles, position, cache[index] if cache is not None else None)
        return x

    def logits(self, x: Any) -> Any:
        """Scores of each word of the vocabulary."""
        return functional.linear(rms_norm(x, self.final_norm), self.token_embedding.weight)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.layers)


class LanguageModel(Decoder):
    """The same as it is trained: (N, T) word numbers → (N × T, VOCABULARY) scores of what follows each of them."""

    def forward(self, token_ids: Any) -> Any:  # type: ignore[override]
        """Scores after every word."""
        return self.logits(self.hidden_states(token_ids)).flatten(0, 1)
