"""What the child knows of a device: errors of memory by any name, and whether half precision helps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.bench.child import cuda_driver
from gpu_assistant.bench.child.devices import CudaDevice, is_driver_reset, is_out_of_memory
from gpu_assistant.bench.child.matmul import MatmulWorkload
from gpu_assistant.bench.child.precision import inference_dtype, is_faster_in
from gpu_assistant.bench.child.training import TrainingWorkload
from gpu_assistant.bench.child.workload import WorkloadSkipped

OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})  # torch's own is of this name in all releases


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 7.75 GiB"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("HIP out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("Unable to find a valid cuDNN algorithm to run convolution"),
        RuntimeError("GET was unable to find an engine to execute this computation"),
        RuntimeError("FIND was unable to find an engine to execute this computation"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1073741824 bytes."),
        MemoryError(),
    ],
    ids=str,
)
def test_out_of_memory_by_any_name(error: Exception) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: misaligned address",
        "CUDA error: unspecified launch failure",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSgemm(handle, transa, transb, m, n, k)`",
        "Expected all tensors to be on the same device; use a shared memory format",
        "CUDA error: no kernel image is available for execution on the device",
    ],
)
def test_other_error_is_not_out_of_memory(text: str) -> None:
    assert not is_out_of_memory(RuntimeError(text))


@pytest.mark.parametrize(
    ("text", "reset"),
    [
        ("CUDA error: the launch timed out and was terminated", True),
        ("CUDA driver error: CUDA_ERROR_LAUNCH_TIMEOUT", True),
        ("HIP error: hipErrorLaunchTimeOut", True),
        ("CUDA error: an illegal memory access was encountered", False),
        ("CUDA out of memory. Tried to allocate 256.00 MiB.", False),
    ],
)
def test_reset_driver_is_known_by_its_words(text: str, reset: bool) -> None:
    assert is_driver_reset(RuntimeError(text)) == reset


@pytest.mark.parametrize(
    ("system", "in_wsl", "limits"),
    [("nt", False, [(0.95 * 0.75, 1)]), ("posix", True, [(0.95 * 0.75, 1)]), ("posix", False, [])],
    ids=["windows", "wsl", "linux"],
)
def test_windows_lends_no_system_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, in_wsl: bool, limits: list[Any]
) -> None:
    """Two of eight GB are taken by other programs."""
    monkeypatch.setattr(cuda_driver, "WSL_GPU", str(tmp_path if in_wsl else tmp_path / "none"))
    monkeypatch.setattr(cuda_driver.os, "name", system)
    given: list[Any] = []
    cuda = SimpleNamespace(
        get_device_capability=lambda index: (8, 9),
        mem_get_info=lambda index: (6 * 2**30, 8 * 2**30),
        set_per_process_memory_fraction=lambda fraction, device: given.append((fraction, device)),
    )
    CudaDevice(SimpleNamespace(cuda=cuda, version=SimpleNamespace(hip=None)), 1)
    assert given == [pytest.approx(limit) for limit in limits]


class ProbedDevice:
    """A GPU whose float16 products take `half_s` seconds, those in float32 one; `broken`: it cannot compute."""

    kind, id = "gpu", "cuda:0"

    def __init__(self, half_s: float, capability: Any = (7, 5), *, broken: bool = False) -> None:
        self.capability, self.half_speedup = capability, None
        self._half_s, self._broken, self.products = half_s, broken, 0
        self.torch = SimpleNamespace(
            float32="float32",
            float16="float16",
            ones=lambda rows, columns, device, dtype: dtype,
            empty_like=lambda like: like,
            mm=lambda left, right, out: left,
            backends=SimpleNamespace(
                cuda=SimpleNamespace(matmul=SimpleNamespace()), cudnn=SimpleNamespace(is_available=lambda: True)
            ),
        )

    def time_runs(self, work: Any, count: int = 1) -> list[float]:
        if self._broken:
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
        self.products += count
        return [self._half_s if work() == "float16" else 1.0] * count


@pytest.mark.parametrize(("half_s", "capability"), [(1.0, (6, 1)), (8.0, (7, 5)), (0.9, (7, 5)), (1.0, None)])
def test_half_precision_without_gain_is_left_out(half_s: float, capability: Any) -> None:
    device: Any = ProbedDevice(half_s, capability)
    assert not is_faster_in(device, "float16")
    assert inference_dtype(device) == "float32"
    probed = device.products
    for workload in (
        MatmulWorkload(device, "float16", 2048, 2.5, None),
        TrainingWorkload(device, "resnet50", "mixed-float16", 6.0),
    ):
        with pytest.raises(WorkloadSkipped) as skipped:
            workload.prepare()
        assert skipped.value.reason == "no-gain"
    assert device.products == probed  # one probe for all
    assert is_faster_in(device, "float32")


def test_half_precision_with_gain_is_used() -> None:
    device: Any = ProbedDevice(0.25)
    assert is_faster_in(device, "float16")
    assert is_faster_in(device, "mixed-float16")
    assert inference_dtype(device) == "float16"


def test_tensor_cores_are_known_by_number() -> None:
    device: Any = ProbedDevice(8.0, (8, 9))
    assert is_faster_in(device, "bfloat16")
    assert device.products == 0


def test_probe_that_fails_leaves_the_error_to_the_workload() -> None:
    device: Any = ProbedDevice(1.0, broken=True)
    assert is_faster_in(device, "float16")
