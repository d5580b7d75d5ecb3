"""The BERT-base encoder in plain torch, as Hugging Face's BertModel has it: the same parts, names and weights' number.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), uncased.
"""

from __future__ import annotations

from typing import Any, Tuple

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, POSITIONS, TYPES = 30522, 512, 2
WIDTH, LAYERS, HEADS, INNER = 768, 12, 12, 3072
DROPOUT, EPSILON, DEVIATION = 0.1, 1e-12, 0.02
SEQUENCE = 128  # as the first phase of its own training has it
LABELS = 2


class Embeddings(nn.Module):
    """(N, T) word numbers → (N, T, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.position_embeddings = nn.Embedding(POSITIONS, WIDTH)
        self.token_type_embeddings = nn.Embedding(TYPES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, words: Any) -> Any:
        """Words, places and sentences added."""
        places = torch.arange(words.shape[1], device=words.device)
        first = self.token_type_embeddings(torch.zeros_like(words))
        return self.dropout(self.norm(self.word_embeddings(words) + self.position_embeddings(places) + first))


class Layer(nn.Module):
    """Attention and two dense layers, each with a way past it."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.dropout = nn.Dropout(DROPOUT)
        self.dropout_p = DROPOUT

    def forward(self, x: Any) -> Any:
        """(N, T, 768) → (N, T, 768)."""
        shape = (x.shape[0], x.shape[1], HEADS, WIDTH // HEADS)
        query, key, value = (part(x).view(shape).transpose(1, 2) for part in (self.query, self.key, self.value))
        dropped = self.dropout_p if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropped)
        seen = self.output(seen.transpose(1, 2).reshape(x.shape))
        x = self.attention_norm(x + self.dropout(seen))
        return self.norm(x + self.dropout(self.outer(functional.gelu(self.inner(x)))))


class Bert(nn.Module):
    """(N, T) word numbers → (N, T, 768) and the first word's pooled (N, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.pooler = nn.Linear(WIDTH, WIDTH)
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=DEVIATION)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)

    def forward(self, words: Any) -> Tuple[Any, Any]:
        """Every word in its sentence."""
        x = self.embeddings(words)
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pooler(x[:, 0]))


class BertClassifier(nn.Module):
    """The encoder with two labels on top, as it is trained for a task: (N, T) → (N, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = Bert()
        self.dropout = nn.Dropout(DROPOUT)
        self.classifier = nn.Linear(WIDTH, LABELS)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.bert.layers)

    def forward(self, words: Any) -> Any:
        """Scores of each label."""
        return self.classifier(self.dropout(self.bert(words)[1]))
