"""The memory that a training step needs, measured on small batches; the parent projects it to any batch.

The same step with another batch makes the same allocations, each constant or proportional to the batch. Two small
batches therefore give the sizes of all of them at any batch, and with that the peak, wherever it moves to.
"""

from __future__ import annotations

import functools
import gc
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

from .devices import Device, is_out_of_memory
from .precision import has_hardware_support, mixed_dtype, set_precision
from .protocol import MessageWriter
from .training import TrainingStep

PROFILER_MEMORY = "[memory]"  # torch's own name for an allocation among its profiler's events
MARK_PREFIX = "gpu-assistant:"
GRADIENT_MARK, STAGE_MARK, UPDATE_MARK = MARK_PREFIX + "gradient:", MARK_PREFIX + "place", MARK_PREFIX + "update"


class MemoryEvent(NamedTuple):
    """One allocation (bytes > 0) or release (bytes < 0) of device memory during a training step.

    `gradients` are the bytes of all gradients finished before it, `updating` is true once the optimizer's update has
    begun. `stage` counts the marks passed before it (block begins, scores, loss, gradients): equal for every batch.
    """

    bytes: int
    gradients: int
    updating: bool
    stage: int


class MemoryPoint(NamedTuple):
    """The memory in use at one moment of a training step.

    `bytes` are counted above what is allocated between two steps; `gradients` of them belong to finished gradients;
    `updating` is true during the optimizer's update.
    """

    bytes: int
    gradients: int
    updating: bool


class LinearPeak(NamedTuple):
    """A `MemoryPoint` for any batch: `constant` bytes plus `example` bytes for each example."""

    constant: int
    example: int
    gradients: int
    updating: bool


def record_step(step: TrainingStep, batch: int) -> List[MemoryEvent]:
    """The memory events of one training step, without its data and the optimizer's state, which exist before."""
    torch = step.torch
    inputs, classes = step.make_batch(batch)
    on_gpu = step.device.kind == "gpu"
    activities = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if on_gpu else [])
    mark = torch.profiler.record_function
    hooks = []
    for parameter in step.model.parameters():
        name = "%s%d" % (GRADIENT_MARK, parameter.numel() * parameter.element_size())

        def mark_gradient(gradient: Any, name: str = name) -> None:
            with mark(name):
                del gradient

        hooks.append(parameter.register_hook(mark_gradient))

    def mark_stage(*_: Any) -> None:
        with mark(STAGE_MARK):
            pass

    def mark_output(_model: Any, _inputs: Any, scores: Any) -> None:
        mark_stage()
        scores.register_hook(mark_stage)

    hooks += [block.register_forward_pre_hook(mark_stage) for block in step.base_model.blocks()]
    hooks.append(step.base_model.register_forward_hook(mark_output))
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        loss = step.forward(inputs, classes)
        mark_stage()
        step.backward(loss)
        with mark(UPDATE_MARK):
            pass
        step.update()
        if on_gpu:
            torch.cuda.synchronize()
    for hook in hooks:
        hook.remove()
    return _memory_events(profile, "CUDA" if on_gpu else "CPU")


def _memory_events(profile: Any, device: str) -> List[MemoryEvent]:
    rows = []
    for event in profile.profiler.kineto_results.events():
        name = event.name()
        is_memory = name == PROFILER_MEMORY and str(event.device_type()).endswith("." + device)
        if is_memory or name.startswith(MARK_PREFIX):
            # Nanoseconds since torch 2.4.
            timestamp = event.start_ns() if hasattr(event, "start_ns") else event.start_us()
            rows.append((timestamp, name, event.nbytes() if is_memory else 0))
    rows.sort(key=lambda row: row[0])
    events, gradients, updating, stage = [], 0, False, 0
    for _, name, size in rows:
        stage += name.startswith(MARK_PREFIX)
        if name.startswith(GRADIENT_MARK):
            gradients += int(name[len(GRADIENT_MARK) :])
        elif name == UPDATE_MARK:
            updating = True
        elif name == PROFILER_MEMORY and size:
            events.append(MemoryEvent(size, gradients, updating, stage))
    return events


def peak_bytes(events: List[MemoryEvent]) -> int:
    """The peak of a recorded step, in bytes above what is allocated between two steps."""
    total = peak = 0
    for event in events:
        total += event.bytes
        peak = max(peak, total)
    return peak


def has_same_allocations(first: List[MemoryEvent], second: List[MemoryEvent]) -> bool:
    """Whether two batches made the same allocations in the same order."""
    return len(first) == len(second) and all(
        (a.bytes > 0) == (b.bytes > 0) and a.updating == b.updating for a, b in zip(first, second)
    )


def possible_peaks(
    small_run: Tuple[List[MemoryEvent], int], large_run: Tuple[List[MemoryEvent], int]
) -> List[LinearPeak]:
    """The moments of a step that are its peak with some batch from 1 on, from two (recorded step, batch size).

    Where the two steps' allocations differ, the peaks of each stage are projected instead: within a stage few
    allocations are made, while the step's peak may move from one stage to another.
    """
    (first, small_batch), (second, large_batch) = small_run, large_run
    if has_same_allocations(first, second):
        pairs = list(zip(_cumulative_points(first), _cumulative_points(second)))
    else:
        small_by_stage, large_by_stage = _peak_by_stage(first), _peak_by_stage(second)
        pairs = [(small_by_stage[stage], peak) for stage, peak in large_by_stage.items() if stage in small_by_stage]
    peaks = [LinearPeak(0, 0, 0, False)]
    for a, b in pairs:
        bytes_per_example = (b.bytes - a.bytes) // (large_batch - small_batch)
        peaks.append(LinearPeak(a.bytes - bytes_per_example * small_batch, bytes_per_example, b.gradients, b.updating))
    return _upper_envelope(peaks)


def _upper_envelope(points: List[LinearPeak]) -> List[LinearPeak]:
    """Those of the linear functions that are the maximum for some batch from 1 on, in the order of those batches."""
    envelope, batch = [], 1
    while True:
        peak = max(points, key=lambda each: (each.constant + each.example * batch, each.example))
        envelope.append(peak)
        steeper_peaks = [each for each in points if each.example > peak.example]
        if not steeper_peaks:
            return envelope
        batch = min((peak.constant - each.constant) // (each.example - peak.example) + 1 for each in steeper_peaks)


def _cumulative_points(events: List[MemoryEvent]) -> List[MemoryPoint]:
    """The memory in use after each event."""
    points, total = [], 0
    for event in events:
        total += event.bytes
        points.append(MemoryPoint(total, event.gradients, event.updating))
    return points


def _peak_by_stage(events: List[MemoryEvent]) -> Dict[int, MemoryPoint]:
    """The peak of each stage."""
    peaks: Dict[int, MemoryPoint] = {}
    for event, point in zip(events, _cumulative_points(events)):
        if event.stage not in peaks or point.bytes > peaks[event.stage].bytes:
            peaks[event.stage] = point
    return peaks


LARGEST_BATCH = 4  # of the steps that are recorded
PLAIN, MIXED, CHECKPOINTING, ACCUMULATION = "plain", "mixed", "checkpointing", "accumulation"
COMBINED = "together"  # all three; mixed precision only where the device computes it in hardware
VARIANTS = (PLAIN, MIXED, CHECKPOINTING, ACCUMULATION, COMBINED)
ACCUMULATION_STEPS = 4  # micro-batches of a batch


class MemoryMeasurement:
    """One model in one variant on one device; `events` has the recorded step of each of the two `batches`."""

    def __init__(self, device: Device, model_name: str, variant: str) -> None:
        self.device, self.model_name = device, model_name
        mixed_format = mixed_dtype(device)
        uses_mixed = variant == MIXED or (variant == COMBINED and has_hardware_support(device, mixed_format))
        self.dtype = mixed_format if uses_mixed else "float32"
        self.uses_accumulation = variant in (ACCUMULATION, COMBINED)
        set_precision(device.torch, self.dtype)
        self.step = TrainingStep(device, model_name, self.dtype)
        self.step.model.train()
        if variant in (CHECKPOINTING, COMBINED):
            enable_checkpointing(self.step.base_model)
        self.step.run(*self.step.make_batch(1))  # allocates the optimizer's state
        tensors = list(self.step.base_model.parameters()) + list(self.step.base_model.buffers())
        self.parameter_bytes = _tensor_bytes(tensors)
        self.gradient_bytes = _tensor_bytes(self.step.base_model.parameters())
        self.optimizer_bytes = _tensor_bytes(_state_tensors(self.step.optimizer.state))
        self.batches = (1, 2)
        self.events = [self.record_events(batch) for batch in self.batches]
        # torch may choose other algorithms for a batch of 1; and on a busy computer a recorded step seldom differs.
        while not has_same_allocations(*self.events) and self.batches[1] < LARGEST_BATCH:
            self.batches = (self.batches[1], self.batches[1] + 1)
            self.events = [self.events[1], self.record_events(self.batches[1])]

    def record_events(self, batch: int) -> List[MemoryEvent]:
        """Record one step with this batch size."""
        if self.uses_accumulation:
            self.step.backward(self.step.forward(*self.step.make_batch(batch)))  # allocates the gradients
        return record_step(self.step, batch)

    def to_message(self) -> Dict[str, Any]:
        """The fields of `StepMemory` in `core/results.py`, without its variant and capacity."""
        peaks = possible_peaks((self.events[0], self.batches[0]), (self.events[1], self.batches[1]))
        return {
            "model": self.model_name,
            "device": self.device.id,
            "dtype": self.dtype,
            "exact": has_same_allocations(*self.events),
            "parameters": self.parameter_bytes,
            "gradients": self.gradient_bytes,
            "optimizer": self.optimizer_bytes,
            "example": _tensor_bytes(self.step.make_batch(1)),
            "parts": ACCUMULATION_STEPS if self.uses_accumulation else 1,
            "cached": self.cached_share(),
            "tops": [peak._asdict() for peak in peaks],
        }

    def cached_share(self) -> float:
        """Memory that CUDA's allocator caches, as a share of the memory in use; 0 for the CPU's allocator."""
        if self.device.kind == "cpu":
            return 0.0
        cuda = self.device.torch.cuda
        return max(0.0, cuda.max_memory_reserved(self.device.id) / cuda.max_memory_allocated(self.device.id) - 1)


def measure_variants(writer: MessageWriter, device: Device, model_name: str) -> None:
    """Measure all variants. Sends `{"variant": …}` when one begins, then `{"fit": …}` or `{"left": code,
    "variant": …}`; last `{"end": true}`.
    """
    capacity = device.free_bytes()
    for variant in VARIANTS:
        writer.send(variant=variant)
        if variant == MIXED and not has_hardware_support(device, mixed_dtype(device)):
            writer.send(left="hardware", variant=variant)
            continue
        try:
            measurement = MemoryMeasurement(device, model_name, variant)
        except Exception as error:  # noqa: BLE001 - torch documents no exception types
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
            writer.send(left="memory" if is_out_of_memory(error) else "failed", variant=variant)
            continue
        writer.send(fit={**measurement.to_message(), "variant": variant, "capacity": capacity})
        del measurement
        gc.collect()
        if device.kind == "gpu":
            device.torch.cuda.empty_cache()
            device.torch.cuda.reset_peak_memory_stats(device.id)
    writer.send(end=True)


def enable_checkpointing(model: Any) -> None:
    """Store only the activations between the model's blocks; the backward pass computes the others again.

    https://docs.pytorch.org/docs/stable/checkpoint.html
    """
    from torch.utils.checkpoint import checkpoint

    for block in model.blocks():
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)


def _state_tensors(state: Any) -> Iterator[Any]:
    for state_of_parameter in state.values():
        yield from (value for value in state_of_parameter.values() if hasattr(value, "element_size"))


def _tensor_bytes(tensors: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
