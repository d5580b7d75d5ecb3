"""What cards can do at most, by their makers' figures, and the share of it that healthy ones reach.

File: `reference.json`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ...core.versions import Capability
from ..gpu_names import normalize_name
from .base import (
    CatalogFile,
    Confidence,
    IsoDate,
)

_MEMORY_SUFFIX = re.compile(r" \d+ ?gb$")


class ReferenceCard(Struct, frozen=True, kw_only=True):
    """The peak figures of one desktop GPU; None: it has no such units, or the figure is unknown.

    TFLOPS are without sparsity; `fp16_tensor_tflops` and `bf16_tensor_tflops` are with FP32 accumulation, as PyTorch
    computes. `bandwidth_gb_s` is in 10^9 bytes per second.
    """

    name: str
    chip: str
    compute_capability: Capability
    memory_gb: float
    date: IsoDate
    multiprocessors: int
    boost_mhz: float
    fp32_tflops: float
    fp16_tensor_tflops: float | None
    fp16_tensor_fp16_accumulate_tflops: float | None
    bf16_tensor_tflops: float | None
    bandwidth_gb_s: float
    tdp_w: int
    pcie_gen: int
    pcie_lanes: int
    max_temp_c: int | None
    max_temp_source: str | None = None
    max_temp_confidence: Confidence | None = None
    source: str
    note: str | None = None


class HealthyShares(Struct, frozen=True, kw_only=True):
    """(lowest, highest) share of the peak figures that healthy GPUs reach."""

    matmul_share: tuple[float, float]
    copy_share: tuple[float, float]
    pcie_share: tuple[float, float]
    source: str
    confidence: Confidence


class DerivedRates(Struct, frozen=True, kw_only=True):
    """Figures derived from others: the TF32 rate as a share of the bfloat16 rate, and the bandwidth of a PCIe lane in
    one direction by generation, in 10^9 bytes per second.
    """

    tf32_of_bf16: float
    tf32_source: str
    pcie_gb_s_per_lane: dict[str, float]
    pcie_source: str


class ReferenceCatalog(CatalogFile, frozen=True, kw_only=True):
    """`reference.json`."""

    healthy: HealthyShares
    rates: DerivedRates
    cards: tuple[ReferenceCard, ...]


def find_reference_card(cards: tuple[ReferenceCard, ...], name: str, memory_bytes: int | None) -> ReferenceCard | None:
    """The only GPU with this name and memory, None for none or several; a size at a name's end ("16 GB") is ignored."""
    normalized = normalize_name(name)
    matches = [
        card
        for card in cards
        if _MEMORY_SUFFIX.sub("", normalize_name(card.name)) == _MEMORY_SUFFIX.sub("", normalized)
    ]
    if memory_bytes is not None:
        # The memory that a GPU reports is a little less than its nominal size.
        matches = [card for card in matches if abs(card.memory_gb - memory_bytes / 2**30) < 0.75]
    return matches[0] if len(matches) == 1 else None
