"""Records of hardware: GPUs of AMD, Intel and Apple, normalization of GPU names, peak figures of NVIDIA GPUs."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...core.machine import SystemName
from ...core.versions import Capability, Version
from .base import Arch, CatalogFile, Confidence, HttpsUrl, IsoDate, PciId, Variant

Gfx = Annotated[str, Meta(pattern=r"^gfx[0-9a-f]{3,4}$")]


class AmdWindowsSupport(Struct, frozen=True, kw_only=True):
    """AMD on Windows: whether PyTorch's own index has builds, AMD's preview with the Python of its wheels, and the
    chips that ROCm serves in WSL.
    """

    builds: bool
    preview: bool
    preview_url: HttpsUrl
    wheels_python: str | None = None
    wheels_source: str | None = None
    wsl_chips: tuple[Gfx, ...]
    source: str
    sources: tuple[str, ...] = ()


class AmdChip(Struct, frozen=True, kw_only=True):
    """The ROCm variants of PyTorch for Linux with code for a chip, newest first."""

    gfx: Gfx
    variants: tuple[Variant, ...]
    source: str
    confidence: Confidence = "high"


class AmdDevice(Struct, frozen=True, kw_only=True):
    """One AMD PCI device id and its chip."""

    pci_id: PciId
    name: str
    gfx: Gfx
    source: str
    confidence: Confidence = "high"


class AmdOverride(Struct, frozen=True, kw_only=True):
    """Chips that run another one's code where an environment `variable` says so; their maker does not support it."""

    chips: tuple[Gfx, ...]
    runs_as: Gfx
    variable: str
    source: str
    confidence: Confidence = "high"


class IntelFamily(Struct, frozen=True, kw_only=True):
    """A family of Intel GPUs that PyTorch lists as validated on `systems`; `lowest_windows` is a release's name."""

    family: str
    systems: tuple[Literal["windows", "linux", "wsl"], ...]
    lowest_windows: str | None
    source: str
    confidence: Confidence = "high"


class IntelSupport(Struct, frozen=True, kw_only=True):
    """PyTorch's variant for Intel GPUs and its first release; `other_chips`: whether it may be tried on GPUs outside
    the families.
    """

    variant: Variant
    from_release: Version
    families: tuple[IntelFamily, ...]
    other_chips: bool
    source: str


class IntelDevice(Struct, frozen=True, kw_only=True):
    """One Intel PCI device id of a validated family."""

    pci_id: PciId
    name: str
    family: str
    source: str
    confidence: Confidence = "high"


class AppleSupport(Struct, frozen=True, kw_only=True):
    """PyTorch on Apple silicon, supported by every build for macOS."""

    device: str
    arch: Arch
    system: SystemName
    source: str


class LinuxGpuGroups(Struct, frozen=True, kw_only=True):
    """The user groups that Linux requires for access to a vendor's GPUs."""

    vendor: Literal["amd", "intel"]
    groups: tuple[str, ...]
    source: str


class AcceleratorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`accelerators.json`; devices are sorted by id."""

    amd_windows: AmdWindowsSupport
    amd_chips: tuple[AmdChip, ...]
    amd_devices: tuple[AmdDevice, ...]
    amd_overrides: tuple[AmdOverride, ...] = ()
    intel: IntelSupport
    intel_devices: tuple[IntelDevice, ...]
    apple: AppleSupport
    linux_groups: tuple[LinuxGpuGroups, ...] = ()


_VENDOR_PREFIX = re.compile(r"^(?:nvidia|geforce)\s+", re.IGNORECASE)
_TRADEMARKS = re.compile(r"\((?:r|tm|c|pascal)\)|[®™©]", re.IGNORECASE)
# Parts of a name about form factor, cooling or memory, not about the chip.
_BOARD_DETAILS = re.compile(
    r"\b(?:with|max q|design|laptop|notebook|mobile|gpu|graphics|generation|edition"
    r"|pcie|sxm\d*|dgxs|nvl|hbm\d\w?|\d+ ?gb?)\b"
)
_LAPTOP = re.compile(r"\b(?:max[ -]q|laptop|notebook|mobile)\b", re.IGNORECASE)
_DESKTOP_MAX_Q = re.compile(r"\bworkstation\b", re.IGNORECASE)
_PRODUCT_LINES = ("radeon", "instinct", "arc")
_PRODUCT_LINE = re.compile(r"\b(?:radeon|instinct|arc)\b[^()\[\]]*", re.IGNORECASE)


def normalize_name(name: str) -> str:
    """A name in lower case, with single spaces, without vendor: "NVIDIA GeForce RTX 4060" gives "rtx 4060"."""
    normalized = " ".join(name.split())
    while (shorter := _VENDOR_PREFIX.sub("", normalized)) != normalized:
        normalized = shorter
    return normalized.casefold()


def chip_name(name: str) -> str:
    """The part of a name that identifies the chip: "Tesla V100-SXM2-16GB" gives "tesla v100", "NVIDIA GeForce GTX 1060
    with Max-Q Design" gives "gtx 1060". May be empty.
    """
    text = re.sub(r"[-_,]", " ", _TRADEMARKS.sub(" ", normalize_name(name)))
    return " ".join(_BOARD_DETAILS.sub(" ", " ".join(text.split())).split())


def is_laptop_name(name: str) -> bool:
    """Whether the name is one of a laptop's GPU."""
    return _LAPTOP.search(name) is not None and _DESKTOP_MAX_Q.search(name) is None


def split_listed_names(list_line: str) -> tuple[str, ...]:
    """Split a line of a device list into names: "Radeon RX 7900 XT/7900 XTX / PRO W7900" gives "Radeon RX 7900 XT",
    "Radeon RX 7900 XTX" and "Radeon PRO W7900".
    """
    first, *other_parts = (part.strip() for part in list_line.split("/"))
    match = _PRODUCT_LINE.search(first)
    name_words = (match.group() if match is not None else first).split()
    product_line = " ".join(
        name_words[: next((index for index, word in enumerate(name_words) if any(c.isdigit() for c in word)), 0)]
    )
    names = [first]
    for part in other_parts:
        start = part.split(" ")[0].casefold()
        if start in _PRODUCT_LINES:
            names.append(part)
        elif start == "pro" and name_words:
            names.append(f"{name_words[0]} {part}")
        else:
            names.append(f"{product_line} {part}".strip())
    return tuple(names)


def card_name(name: str) -> str:
    """The part of an AMD or Intel name that identifies the chip: "Intel(R) Arc(TM) A770 Graphics" gives "arc a770".

    Empty where it has no number, because the name of a product line covers many chips.
    """
    match = _PRODUCT_LINE.search(_TRADEMARKS.sub(" ", name))
    name_part = chip_name(match.group()) if match is not None else ""
    return name_part if any(character.isdigit() for character in name_part) else ""


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
