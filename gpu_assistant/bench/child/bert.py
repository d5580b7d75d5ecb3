"""The BERT-base encoder in plain torch, as Hugging Face's BertModel has it: the same parts, names and weights' number.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), uncased.
"""

from __future__ import annotations

from typing import Any, Tuple

import torch
from torch import nn
from torch.nn import functional

BERT_VOCABULARY_SIZE, BERT_MAX_POSITIONS, BERT_TOKEN_TYPES = 30522, 512, 2
BERT_HIDDEN_SIZE, BERT_LAYERS, BERT_ATTENTION_HEADS, BERT_INTERMEDIATE_SIZE = 768, 12, 12, 3072
BERT_DROPOUT, BERT_LAYER_NORM_EPSILON, BERT_INITIALIZER_RANGE = 0.1, 1e-12, 0.02
BERT_SEQUENCE_LENGTH = 128  # as the first phase of its own training has it
BERT_LABELS = 2


class BertEmbeddings(nn.Module):
    """(N, T) word numbers → (N, T, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(BERT_VOCABULARY_SIZE, BERT_HIDDEN_SIZE, padding_idx=0)
        self.position_embeddings = nn.Embedding(BERT_MAX_POSITIONS, BERT_HIDDEN_SIZE)
        self.token_type_embeddings = nn.Embedding(BERT_TOKEN_TYPES, BERT_HIDDEN_SIZE)
        self.norm = nn.LayerNorm(BERT_HIDDEN_SIZE, eps=BERT_LAYER_NORM_EPSILON)
        self.dropout = nn.Dropout(BERT_DROPOUT)

    def forward(self, token_ids: Any) -> Any:
        """Words, places and sentences added."""
        position_ids = torch.arange(token_ids.shape[1], device=token_ids.device)
        token_type_embedding = self.token_type_embeddings(torch.zeros_like(token_ids))
        return self.dropout(self.norm(self.word_embeddings(token_ids) + self.position_embeddings(position_ids) + token_type_embedding))


class BertLayer(nn.Module):
    """Attention and two dense layers, each with a way past it."""

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
        query, key, value = (projection(x).view(shape).transpose(1, 2) for projection in (self.query, self.key, self.value))
        dropout_p = self.dropout_p if self.training else 0.0
        attended = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout_p)
        attended = self.output(attended.transpose(1, 2).reshape(x.shape))
        x = self.attention_norm(x + self.dropout(attended))
        return self.norm(x + self.dropout(self.outer(functional.gelu(self.inner(x)))))


class Bert(nn.Module):
    """(N, T) word numbers → (N, T, 768) and the first word's pooled (N, 768)."""

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
        """Every word in its sentence."""
        x = self.embeddings(token_ids)
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pooler(x[:, 0]))


class BertClassifier(nn.Module):
    """The encoder with two labels on top, as it is trained for a task: (N, T) → (N, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = Bert()
        self.dropout = nn.Dropout(BERT_DROPOUT)
        self.classifier = nn.Linear(BERT_HIDDEN_SIZE, BERT_LABELS)

    def blocks(self) -> Any:
        """The parts that checkpointing computes again."""
        return list(self.bert.layers)

    def forward(self, token_ids: Any) -> Any:
        """Scores of each label."""
        return self.classifier(self.dropout(self.bert(token_ids)[1]))
