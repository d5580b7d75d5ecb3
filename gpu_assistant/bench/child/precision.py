"""The formats in which a device computes, and torch's switches for them, which each result states."""

from __future__ import annotations

import contextlib
import functools
import os
import statistics
from typing import Any, Dict, List, Optional

from .devices import Device

AMPERE_CAPABILITY, ADA_CAPABILITY = (
    (8, 0),
    (8, 9),
)  # lowest compute capabilities with TF32 and bfloat16, and with FP8
MIXED_PREFIX = "mixed-"
MIN_HALF_SPEEDUP = 1.2  # below it, half precision is not worth its rounding
PROBED_SIDE, PROBE_RUNS = 2048, 3


def matmul_dtypes(device: Device) -> List[str]:
    """Formats of matrix products that the chip computes in hardware."""
    if device.kind == "cpu":
        return ["float32"]
    if device.capability is None or device.capability < AMPERE_CAPABILITY:
        return ["float32", "float16"]
    fp8 = (
        device.capability >= ADA_CAPABILITY
        and hasattr(device.torch, "float8_e4m3fn")
        and hasattr(device.torch, "_scaled_mm")
    )
    return ["float32", "tf32", "float16", "bfloat16"] + (["float8"] if fp8 else [])


def mixed_dtype(device: Device) -> str:
    """The format for training in mixed precision on a device."""
    uses_float16 = device.kind == "gpu" and (device.capability is None or device.capability < AMPERE_CAPABILITY)
    return MIXED_PREFIX + ("float16" if uses_float16 else "bfloat16")


def inference_dtype(device: Device) -> str:
    """The format of a language model's weights for inference on a device."""
    dtype = "float32" if device.kind == "cpu" else mixed_dtype(device)[len(MIXED_PREFIX) :]
    return dtype if is_faster_in(device, dtype) else "float32"


def has_hardware_support(device: Device, dtype: str) -> bool:
    """Whether a device computes this format in hardware; a CPU that must convert it is slower with it."""
    if device.kind != "cpu" or dtype == "float32":
        return True
    try:
        return bool(device.torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except (AttributeError, RuntimeError):
        return False


def is_faster_in(device: Device, dtype: str) -> bool:
    """Whether products of a GPU gain from float16; True for all other formats, whose support is known by the chip.

    GPUs without tensor cores (compute capability below 7.0, and 7.5 in the GTX 16 series, which cannot be told from
    its relatives by number) compute in float16 at the rate of float32, some at a tenth of it.
    """
    is_probed = device.kind == "gpu" and dtype in ("float16", MIXED_PREFIX + "float16")
    if not is_probed or (device.capability is not None and device.capability >= AMPERE_CAPABILITY):
        return True
    if device.half_speedup is None:
        device.half_speedup = _measure_half_speedup(device)
    return device.half_speedup >= MIN_HALF_SPEEDUP


def _measure_half_speedup(device: Device) -> float:
    """The speed of one product in float16 divided by that in float32; MIN_HALF_SPEEDUP where it cannot be measured."""
    torch = device.torch
    seconds = {}
    try:
        set_precision(torch, "float32")
        for dtype in (torch.float32, torch.float16):
            factor = torch.ones(PROBED_SIDE, PROBED_SIDE, device=device.id, dtype=dtype)
            product = torch.empty_like(factor)
            work = functools.partial(torch.mm, factor, factor, out=product)
            device.time_runs(work)  # loads the kernel
            seconds[dtype] = statistics.median(device.time_runs(work, PROBE_RUNS))
    except RuntimeError:
        return MIN_HALF_SPEEDUP  # a workload that fails says why
    return seconds[torch.float32] / seconds[torch.float16]


def set_precision(torch: Any, dtype: str) -> None:
    """Enable TF32 for "tf32" alone; for all other formats, products and convolutions use full float32."""
    uses_tf32 = dtype == "tf32"
    for backend in (torch.backends.cuda.matmul, torch.backends.cudnn):
        # The newer switch and the older one must not be mixed (torch 2.9 and later raise).
        switches = [backend, getattr(backend, "conv", None), getattr(backend, "rnn", None)]
        precision_switches = [switch for switch in switches if hasattr(switch, "fp32_precision")]
        for switch in precision_switches:
            switch.fp32_precision = "tf32" if uses_tf32 else "ieee"
        if not precision_switches:
            backend.allow_tf32 = uses_tf32


def thread_settings(device: Device) -> Dict[str, Any]:
    """The CPU's number of threads, and OpenMP's wait policy where it is not the default."""
    wait_policy = os.environ.get("OMP_WAIT_POLICY")
    return {"threads": device.torch.get_num_threads(), **({"omp_wait_policy": wait_policy} if wait_policy else {})}


def _cpu_matmul_precision(torch: Any) -> str:
    """The precision of float32 products on the CPU; its default is full float32 ("none" or "highest")."""
    # The older function raises where the newer switches were used.
    matmul_switch = getattr(getattr(torch.backends, "mkldnn", None), "matmul", None)
    return str(getattr(matmul_switch, "fp32_precision", None) or torch.get_float32_matmul_precision())


def precision_settings(device: Device, dtype: str) -> Dict[str, Any]:
    """The precision switches, as stated in results."""
    if device.kind == "cpu":
        return {**thread_settings(device), "float32_matmul_precision": _cpu_matmul_precision(device.torch)}
    matmul = device.torch.backends.cuda.matmul
    reduced_precision = bool(getattr(matmul, "allow_fp16_reduced_precision_reduction", False))
    return {"tf32": dtype == "tf32", "fp16_reduced_precision_reduction": reduced_precision}


def autocast(device: Device, dtype: str) -> Any:
    """The autocast context for a forward pass; without mixed precision it does nothing."""
    if not dtype.startswith(MIXED_PREFIX):
        return contextlib.nullcontext()
    device_type = "cpu" if device.kind == "cpu" else "cuda"
    return device.torch.autocast(device_type, dtype=getattr(device.torch, dtype[len(MIXED_PREFIX) :]))


def gradient_scaler(device: Device, dtype: str) -> Optional[Any]:
    """The gradient scaler for float16, whose small gradients would underflow; None for other formats."""
    if dtype != MIXED_PREFIX + "float16":
        return None
    amp = device.torch.amp
    return amp.GradScaler("cuda") if hasattr(amp, "GradScaler") else device.torch.cuda.amp.GradScaler()


def tolerance(dtype: str) -> float:
    """The tolerance of a model's result relative to float64: the limit for rounding with a margin."""
    dtype_name = dtype[len(MIXED_PREFIX) :] if dtype.startswith(MIXED_PREFIX) else dtype
    return {"float32": 1e-4, "float16": 2e-2, "bfloat16": 5e-2}[dtype_name]
