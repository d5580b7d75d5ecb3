"""The measured models in plain torch: BERT-base, a small language model, ResNet-50.

BERT-base as Hugging Face's BertModel has it (Devlin et al. 2018, uncased), ResNet-50 as torchvision has it (He et al.
2015, with the stride in the 3 × 3 convolution): the same layers, names and number of weights. The language model has
RMSNorm, rotary position embeddings, SwiGLU and a cache of keys and values.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch
from torch import nn
from torch.nn import functional

BERT_VOCABULARY_SIZE, BERT_MAX_POSITIONS, BERT_TOKEN_TYPES = 30522, 512, 2
BERT_HIDDEN_SIZE, BERT_LAYERS, BERT_ATTENTION_HEADS, BERT_INTERMEDIATE_SIZE = 768, 12, 12, 3072
BERT_DROPOUT, BERT_LAYER_NORM_EPSILON, BERT_INITIALIZER_RANGE = 0.1, 1e-12, 0.02
BERT_SEQUENCE_LENGTH = 128  # as in the first phase of BERT's pre-training
BERT_LABELS = 2


class BertEmbeddings(nn.Module):
    """(N, T) token ids → (N, T, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(BERT_VOCABULARY_SIZE, BERT_HIDDEN_SIZE, padding_idx=0)
        self.position_embeddings = nn.Embedding(BERT_MAX_POSITIONS, BERT_HIDDEN_SIZE)
        self.token_type_embeddings = nn.Embedding(BERT_TOKEN_TYPES, BERT_HIDDEN_SIZE)
        self.norm = nn.LayerNorm(BERT_HIDDEN_SIZE, eps=BERT_LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(BERT_DROPOUT)

    def forward(self, token_ids: Any) -> Any:
        """Add the embeddings of tokens, positions and token types."""
        position_ids = torch.arange(token_ids.shape[1], device=token_ids.device)
        token_type_embedding = self.token_type_embeddings(torch.zeros_like(token_ids))
        return self.dropout(
            self.norm(self.word_embeddings(token_ids) + self.position_embeddings(position_ids) + token_type_embedding)
        )


class BertLayer(nn.Module):
    """Self-attention and two dense layers, with residual connections."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(BERT_HIDDEN_SIZE, BERT_HIDDEN_SIZE)
        self.key = nn.Linear(BERT_HIDDEN_SIZE, BERT_HIDDEN_SIZE)
        self.value = nn.Linear(BERT_HIDDEN_SIZE, BERT_HIDDEN_SIZE)
        self.output = nn.Linear(BERT_HIDDEN_SIZE, BERT_HIDDEN_SIZE)
        self.attention_norm = nn.LayerNorm(BERT_HIDDEN_SIZE, eps=BERT_LAYER_NORM_EPSILON)
        self.inner = nn.Linear(BERT_HIDDEN_SIZE, BERT_INTERMEDIATE_SIZE)
        self.outer = nn.Linear(BERT_INTERMEDIATE_SIZE, BERT_HIDDEN_SIZE)
        self.norm = nn.LayerNorm(BERT_HIDDEN_SIZE, eps=BERT_LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(BERT_DROPOUT)
        self.dropout_p = BERT_DROPOUT

    def forward(self, x: Any) -> Any:
        """(N, T, 768) → (N, T, 768)."""
        shape = (x.shape[0], x.shape[1], BERT_ATTENTION_HEADS, BERT_HIDDEN_SIZE // BERT_ATTENTION_HEADS)
        query, key, value = (
            projection(x).view(shape).transpose(1, 2) for projection in (self.query, self.key, self.value)
        )
        dropout_p = self.dropout_p if self.training else 0.0
        attended = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout_p)
        attended = self.output(attended.transpose(1, 2).reshape(x.shape))
        x = self.attention_norm(x + self.dropout(attended))
        return self.norm(x + self.dropout(self.outer(functional.gelu(self.inner(x)))))


class Bert(nn.Module):
    """(N, T) token ids → (N, T, 768), and the pooled first token (N, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = BertEmbeddings()
        self.layers = nn.ModuleList(BertLayer() for _ in range(BERT_LAYERS))
        self.pooler = nn.Linear(BERT_HIDDEN_SIZE, BERT_HIDDEN_SIZE)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=BERT_INITIALIZER_RANGE)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, token_ids: Any) -> Tuple[Any, Any]:
        """Encode the tokens."""
        x = self.embeddings(token_ids)
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pooler(x[:, 0]))


class BertClassifier(nn.Module):
    """The encoder with a classifier of two labels: (N, T) token ids → (N, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = Bert()
        self.dropout = nn.Dropout(BERT_DROPOUT)
        self.classifier = nn.Linear(BERT_HIDDEN_SIZE, BERT_LABELS)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.bert.layers)

    def forward(self, token_ids: Any) -> Any:
        """The logits of the labels."""
        return self.classifier(self.dropout(self.bert(token_ids)[1]))


DECODER_VOCABULARY_SIZE, DECODER_HIDDEN_SIZE, DECODER_LAYERS, DECODER_ATTENTION_HEADS, DECODER_INTERMEDIATE_SIZE = (
    32000,
    768,
    12,
    12,
    2048,
)
DECODER_HEAD_SIZE = DECODER_HIDDEN_SIZE // DECODER_ATTENTION_HEADS
ROPE_BASE = 10000.0
DECODER_INITIALIZER_RANGE = 0.02

KeyValueCache = List[Tuple[Any, Any]]


def rms_norm(x: Any, weight: Any) -> Any:
    """RMSNorm; its mean in float32 where `x` is narrower."""
    x_float = x if x.dtype == torch.float64 else x.float()
    return (x_float * torch.rsqrt(x_float.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def apply_rotary_embedding(x: Any, angles: Any) -> Any:
    """Rotary position embedding of (N, heads, T, 64) by angles (T, 32)."""
    first_half, second_half = x.chunk(2, -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat((first_half * cos - second_half * sin, first_half * sin + second_half * cos), -1)


class DecoderLayer(nn.Module):
    """Causal self-attention and SwiGLU, with residual connections."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        self.mlp_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        self.qkv_projection = nn.Linear(DECODER_HIDDEN_SIZE, 3 * DECODER_HIDDEN_SIZE, bias=False)
        self.output_projection = nn.Linear(DECODER_HIDDEN_SIZE, DECODER_HIDDEN_SIZE, bias=False)
        self.gate_up_projection = nn.Linear(DECODER_HIDDEN_SIZE, 2 * DECODER_INTERMEDIATE_SIZE, bias=False)
        self.down_projection = nn.Linear(DECODER_INTERMEDIATE_SIZE, DECODER_HIDDEN_SIZE, bias=False)

    def forward(
        self, x: Any, angles: Any, position: Any, cache: Optional[Tuple[Any, Any]], mask: Optional[Any] = None
    ) -> Any:
        """(N, T, 768), the first token at `position`; `cache` has the keys and values of the tokens before it.

        With a `mask` of the cache's positions, T is 1, `position` a tensor, and all shapes are the same at each token.
        """
        batch, length, _ = x.shape
        qkv = self.qkv_projection(rms_norm(x, self.attention_norm)).view(
            batch, length, 3, DECODER_ATTENTION_HEADS, DECODER_HEAD_SIZE
        )
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(2))
        query, key = apply_rotary_embedding(query, angles), apply_rotary_embedding(key, angles)
        if cache is not None and mask is not None:
            for cached, latest in zip(cache, (key, value)):
                cached.index_copy_(2, position, latest)
            key, value = cache
        elif cache is not None:
            for cached, latest in zip(cache, (key, value)):
                cached[:, :, position : position + length] = latest
            key, value = (cached[:, :, : position + length] for cached in cache)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=length > 1)
        x = x + self.output_projection(attended.transpose(1, 2).reshape(x.shape))
        gate, up = self.gate_up_projection(rms_norm(x, self.mlp_norm)).chunk(2, -1)
        return x + self.down_projection(functional.silu(gate) * up)


class Decoder(nn.Module):
    """(N, T) token ids → (N, vocabulary) logits of the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(DECODER_VOCABULARY_SIZE, DECODER_HIDDEN_SIZE)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(DECODER_LAYERS))
        self.final_norm = nn.Parameter(torch.ones(DECODER_HIDDEN_SIZE))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=DECODER_INITIALIZER_RANGE)

    def empty_cache(self, length: int) -> KeyValueCache:
        """An empty cache for one sequence of `length` tokens."""
        weight = self.token_embedding.weight
        buffers = (weight.new_zeros(2, 1, DECODER_ATTENTION_HEADS, length, DECODER_HEAD_SIZE) for _ in self.layers)
        return [(pair[0], pair[1]) for pair in buffers]

    def forward(self, token_ids: Any, position: int = 0, cache: Optional[KeyValueCache] = None) -> Any:
        """One forward pass; with a cache, `token_ids` are the new tokens only."""
        return self.logits(self.hidden_states(token_ids, position, cache)[:, -1])

    def hidden_states(self, token_ids: Any, position: int = 0, cache: Optional[KeyValueCache] = None) -> Any:
        """The output of the last layer: (N, T, 768)."""
        frequencies = self.rotary_frequencies()
        positions = torch.arange(
            position, position + token_ids.shape[1], device=token_ids.device, dtype=frequencies.dtype
        )
        angles = positions[:, None] * frequencies
        x = self.token_embedding(token_ids)
        for index, layer in enumerate(self.layers):
            x = layer(x, angles, position, cache[index] if cache is not None else None)
        return x

    def rotary_frequencies(self) -> Any:
        """The angle by which each pair of a head's values is rotated from one position to the next."""
        weight = self.token_embedding.weight
        float_type = torch.float64 if weight.dtype == torch.float64 else torch.float32
        return ROPE_BASE ** (
            -torch.arange(0, DECODER_HEAD_SIZE, 2, device=weight.device, dtype=float_type) / DECODER_HEAD_SIZE
        )

    def step(self, token_id: Any, position: Any, frequencies: Any, cache: KeyValueCache) -> Any:
        """The logits after one token at `position`, a tensor of one element, as a CUDA graph can record them.

        The kernels and their shapes are the same at every position: attention covers the whole cache, and what comes
        after the position is masked.
        """
        positions = torch.arange(cache[0][0].shape[2], device=token_id.device)
        mask = (positions <= position)[None, None, None]
        angles = position[:, None] * frequencies
        x = self.token_embedding(token_id)
        for layer, layer_cache in zip(self.layers, cache):
            x = layer(x, angles, position, layer_cache, mask)
        return self.logits(x[:, -1])

    def logits(self, x: Any) -> Any:
        """The logits of the vocabulary."""
        return functional.linear(rms_norm(x, self.final_norm), self.token_embedding.weight)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.layers)


class LanguageModel(Decoder):
    """The decoder for training: (N, T) token ids → (N × T, vocabulary) logits of the token after each."""

    def forward(self, token_ids: Any) -> Any:  # type: ignore[override]
        """The logits after every token."""
        return self.logits(self.hidden_states(token_ids)).flatten(0, 1)


RESNET_STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride
RESNET_EXPANSION = 4
RESNET_IMAGE_SHAPE = (3, 224, 224)
RESNET_CLASSES = 1000


class Bottleneck(nn.Module):
    """Convolutions 1 × 1, 3 × 3, 1 × 1 with a residual connection."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out_channels = width * RESNET_EXPANSION
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out_channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels != out_channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels)
            )

    def forward(self, x: Any) -> Any:
        """(N, channels, H, W) → (N, 4 × width, H / stride, W / stride)."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + shortcut)


class ResNet50(nn.Module):
    """(N, 3, 224, 224) → (N, 1000)."""

    def __init__(self, classes: int = RESNET_CLASSES) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        channels = 64
        for stage_index, (width, block_count, stride) in enumerate(RESNET_STAGES, 1):
            blocks = []
            for block_index in range(block_count):
                blocks.append(Bottleneck(channels, width, stride if block_index == 0 else 1))
                channels = width * RESNET_EXPANSION
            setattr(self, "layer%d" % stage_index, nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return [block for number in range(1, 5) for block in getattr(self, "layer%d" % number)]

    def forward(self, x: Any) -> Any:
        """The logits of the classes."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for block in self.blocks():
            x = block(x)
        return self.fc(self.avgpool(x).flatten(1))
