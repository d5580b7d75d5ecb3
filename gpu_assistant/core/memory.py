"""What fits in memory: `memory` of the contract."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .results import BenchDevice, DType

MEMORY_SCHEMA = "gpu-assistant/memory/1"

FitVariant = Literal["plain", "mixed", "checkpointing", "accumulation", "together"]


class MemoryPeakModel(Struct, frozen=True, kw_only=True):
    """A moment of a training step that is its highest point with some batch: bytes above what lies there between two
    steps, so many and `example` more for each example; how many of them are gradients, and whether it updates.
    """

    constant: int
    example: int
    gradients: int
    updating: bool


class MemoryProfile(Struct, frozen=True, kw_only=True):
    """What small steps told of one variant, in bytes, and with that of any batch.

    `example` are inputs and answers of one, `parts` as many as a batch is gathered in, `cached` the share that the
    allocator keeps beyond what is in use. `exact`: the small steps made the same allocations, so that the projection
    follows each of them. `capacity` is the memory that was free, `spare` what of it is not planned with (other
    programs, the display, gaps between blocks); None where nobody tells.
    """

    model: str
    device: str
    variant: FitVariant
    dtype: DType
    exact: bool
    parameters: int
    gradients: int
    optimizer: int
    example: int
    parts: Annotated[int, Meta(ge=1)]
    cached: float
    tops: Annotated[tuple[MemoryPeakModel, ...], Meta(min_length=1)]
    capacity: int | None
    spare: int | None


class MemoryFit(Struct, frozen=True, kw_only=True):
    """What a training step needs in one variant, in bytes; `peak` is the sum of the parts from `parameters` to `cache`.

    `capacity`, `spare` and `exact` are as in `FitSteps`; `largest_batch` is the largest one whose projected peak fits
    into what is not spare, None where nobody tells. "together" is mixed precision where the device computes it
    (`dtype`), checkpointing and accumulation.
    """

    model: str
    device: str
    variant: FitVariant
    dtype: DType
    batch: int
    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    cache: int
    peak: int
    capacity: int | None
    spare: int | None
    largest_batch: int | None
    exact: bool


class MemoryFits(Struct, frozen=True, kw_only=True):
    """All variants of one model; `left_out` are variants that could not be measured, each with the key of a text.

    `devices` are all that torch has; `seconds` is how long it took. `steps` are what each of the `fits` was worked out
    from (`bench/projection.py`), for another batch.
    """

    schema: Literal["gpu-assistant/memory/1"]
    torch: str
    fits: tuple[MemoryFit, ...]
    steps: tuple[MemoryProfile, ...] = ()
    left_out: dict[str, str] = {}
    devices: tuple[BenchDevice, ...] = ()
    seconds: float | None = None
