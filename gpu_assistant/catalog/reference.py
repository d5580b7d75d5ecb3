"""What cards can do at most, by their makers' figures."""

from __future__ import annotations

import re

from msgspec import Struct

from .names import normalize_name
from .subject import CapabilityText, Confidence, IsoDate, CatalogFile

_MEMORY_SUFFIX = re.compile(r" \d+ ?gb$")


class ReferenceCard(Struct, frozen=True, kw_only=True):
    """One desktop card. TFLOPS dense; `fp16_tensor_tflops` and `bf16_tensor_tflops` with FP32 accumulation, as
    PyTorch computes; bandwidth in 10^9 bytes a second; None: no such units, or not known.
    """

    name: str
    chip: str
    compute_capability: CapabilityText
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
    """The share (lowest, highest) of the figures that healthy cards reach."""

    matmul_share: tuple[float, float]
    copy_share: tuple[float, float]
    pcie_share: tuple[float, float]
    source: str
    confidence: Confidence


class DerivedRates(Struct, frozen=True, kw_only=True):
    """What follows from a card's other figures: TF32 as a share of bfloat16, since chips have both; 10^9 bytes a
    second that one lane of a PCIe generation carries in one direction.
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
    """The one card of this name and memory; the list writes sizes behind names ("… 16 GB")."""
    normalized = normalize_name(name)
    matches = [card for card in cards if _MEMORY_SUFFIX.sub("", normalize_name(card.name)) == _MEMORY_SUFFIX.sub("", normalized)]
    if memory_bytes is not None:
        # Cards report a little less than what is printed on the box.
        matches = [card for card in matches if abs(card.memory_gb - memory_bytes / 2**30) < 0.75]
    return matches[0] if len(matches) == 1 else None
