"""What cards can do at most, by their makers' figures, and the share of it that healthy ones reach.

File: `reference.json`.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from ...core.versions import Capability
from ..gpu_names import normalize_name
from .base import (
    CatalogFile,
    Confidence,
    IsoDate,
)

CardKind = Literal["desktop", "laptop", "workstation", "server", "low-power"]
RangeDType = Literal["float32", "tf32", "float16", "bfloat16"]

_MEMORY = re.compile(r"\b(\d+) ?gb?\b")
_FORM_FACTOR = re.compile(r"\b(?:pcie|sxm\d?)\b")
_OPTIONAL_WORDS = re.compile(r"\b(?:tesla|gpu|graphics|edition|generation|blackwell|workstation|hbm\d\w?)\b")
# A GPU reports a little less than its nominal memory; one with error correction (ECC) in GDDR memory up to 1/16 less.
MIN_REPORTED_SHARE, MAX_REPORTED_SHARE = 0.88, 1.03


class ReferenceCard(Struct, frozen=True, kw_only=True):
    """The peak figures of one GPU; None: it has no such units, or the figure is unknown.

    TFLOPS are without sparsity; `fp16_tensor_tflops` and `bf16_tensor_tflops` are with FP32 accumulation, as PyTorch
    computes. `bandwidth_gb_s` is in 10^9 bytes per second. `kind` separates cards whose clocks under load differ by
    their power limit: a "low-power" server card has a fraction of the power that its peak would take. A laptop's GPU
    has `power_clocks`: (power limit in W, boost clock in MHz) by the maker, ascending; its peak figures are for the
    last of them. `driver_names` are names by which a driver calls it, where they differ from `name`.
    """

    name: str
    chip: str
    compute_capability: Capability
    kind: CardKind
    memory_gb: float
    date: IsoDate
    multiprocessors: int
    boost_mhz: float
    fp32_tflops: float
    fp16_tensor_tflops: float | None
    fp16_tensor_fp16_accumulate_tflops: float | None
    bf16_tensor_tflops: float | None
    bandwidth_gb_s: float | None
    tdp_w: int
    pcie_gen: int | None
    pcie_lanes: int | None
    max_temp_c: int | None
    max_temp_source: str | None = None
    max_temp_confidence: Confidence | None = None
    source: str
    driver_names: tuple[str, ...] = ()
    tensor_source: str | None = None
    power_clocks: tuple[tuple[float, float], ...] | None = None
    power_clocks_source: str | None = None
    note: str | None = None


class HealthyShares(Struct, frozen=True, kw_only=True):
    """(lowest, highest) share of the peak bandwidth that copies reach on healthy GPUs."""

    copy_share: tuple[float, float]
    pcie_share: tuple[float, float]
    source: str
    confidence: Confidence


class MatmulShare(Struct, frozen=True, kw_only=True):
    """(low, high) share of the peak that products in these formats reach on healthy GPUs of these kinds.

    It is from `results` public results of `models` models; 0 where it only repeats a source or another row.
    """

    compute_capability: Capability
    kinds: tuple[CardKind, ...]
    dtypes: tuple[RangeDType, ...]
    low: float
    high: float
    models: int = 0
    results: int = 0
    source: str


class MatmulShares(Struct, frozen=True, kw_only=True):
    """The shares of the peak that matrix products reach, and how `benchmarks/expected_ranges.py` computes them.

    The lowest and highest share in the public results are divided and multiplied by a number of `widening`: the first
    for a single model, the second for two, …, the last for all larger numbers. What a source says (`stated`), divided
    and multiplied by `stated_widening`, widens them further. For laptops' GPUs, the lowest share of desktop cards is
    multiplied by `laptop_low`. A range wider than `max_width` (high by low) says too little and is not used. Products
    with a side below `smallest_side` do not fill a large GPU: they are never called slow.
    """

    smallest_side: int
    widening: tuple[float, ...]
    stated_widening: float
    max_width: float
    laptop_low: float
    source: str
    confidence: Confidence
    stated: tuple[MatmulShare, ...]
    shares: tuple[MatmulShare, ...]


class CauseThresholds(Struct, frozen=True, kw_only=True):
    """What counts as evidence for a cause of slow results: a power limit below `low_power_share` of the card's own, and
    a clock under load below `low_clock_share` of its boost clock.
    """

    low_power_share: float
    low_clock_share: float
    source: str


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
    matmul: MatmulShares
    causes: CauseThresholds
    rates: DerivedRates
    cards: tuple[ReferenceCard, ...]


def find_reference_card(cards: tuple[ReferenceCard, ...], name: str, memory_bytes: int | None) -> ReferenceCard | None:
    """The only GPU with this name and memory; None for none, or for several with different figures.

    The memory in a name ("16 GB") counts where `memory_bytes` is None. A name without the form factor ("A100 40GB")
    stands for all cards that differ in it alone.
    """
    memory_gb = memory_bytes / 2**30 if memory_bytes is not None else _memory_in_name(name)
    candidates = [
        card
        for card in cards
        if memory_gb is None or MIN_REPORTED_SHARE <= memory_gb / card.memory_gb <= MAX_REPORTED_SHARE
    ]
    model = _model_name(name)
    matches = [card for card in candidates if model in _model_names(card)]
    if not matches:
        matches = [
            card for card in candidates if model in {_FORM_FACTOR.sub("", each).strip() for each in _model_names(card)}
        ]
    return matches[0] if matches and len({_figures(card) for card in matches}) == 1 else None


def _model_name(name: str) -> str:
    """The name without memory and without words that not every source writes: "NVIDIA A100-SXM4-40GB" gives
    "a100 sxm4", "GeForce RTX 4090D 24GB" gives "rtx 4090 d", "GeForce RTX 3060 Laptop GPU" gives "rtx 3060 laptop".
    """
    text = re.sub(r"[-_,()]", " ", normalize_name(name).replace("max-q", "maxq"))
    text = re.sub(r"\b(\d{4})d\b", r"\1 d", _MEMORY.sub(" ", text))
    return " ".join(_OPTIONAL_WORDS.sub(" ", text).split())


def _model_names(card: ReferenceCard) -> set[str]:
    return {_model_name(each) for each in (card.name, *card.driver_names)}


def _memory_in_name(name: str) -> float | None:
    match = _MEMORY.search(normalize_name(name))
    return float(match[1]) if match is not None else None


def _figures(card: ReferenceCard) -> tuple[object, ...]:
    """What ranges are computed from."""
    tensor_tflops = (card.fp16_tensor_tflops, card.bf16_tensor_tflops)
    return card.compute_capability, card.kind, card.fp32_tflops, tensor_tflops, card.bandwidth_gb_s, card.power_clocks
