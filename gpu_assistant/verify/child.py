"""Verifies PyTorch; runs in an environment's own Python and writes one JSON line for each check.

Started as a program; it needs nothing but the standard library and torch. Before each check it says
`{"begin": id}`, so that whoever listens knows where it hung or died; the last line is `{"end": true}`.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import platform
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# No bytecode in our program's folder.
sys.dont_write_bytecode = True
# Read by the CUDA runtime: number GPUs as the driver does, not by speed.
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
if TYPE_CHECKING:
    from .child_libraries import check_libraries, import_failure
    from .child_protocol import CheckWriter, exception_summary
    from .child_runtime import check_visual_cpp
    from .cuda_errors import CUDA_ERRORS, hidden_devices
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path.append(str(Path(__file__).parent))
    from child_libraries import check_libraries, import_failure
    from child_protocol import CheckWriter, exception_summary
    from child_runtime import check_visual_cpp
    from cuda_errors import CUDA_ERRORS, hidden_devices

    sys.path.pop()

COPY_BYTES = 256 << 20
REASON_NO_CUDA = "@verify.reason.cpu-build"
REASON_ON_CPU = "@verify.reason.on-cpu"
REASON_EARLIER_FAILURE = "@verify.reason.earlier"


def check_python(writer: CheckWriter, expected: str | None) -> None:
    """Compare the interpreter's version with the recommended series ("3.12")."""
    writer.send(begin="python")
    version = platform.python_version()
    version_matches = expected is None or version.split(".")[:2] == expected.split(".")[:2]
    writer.report("python", "pass" if version_matches else "warn", value=version, expected=expected)


def build_variant(torch: Any) -> str:  # noqa: ANN401
    """The variant of a build ("cu126", "cpu", "rocm6.4", "xpu"), from its version, else from its build settings."""
    _, _, local_version = str(torch.__version__).partition("+")
    if local_version:
        return local_version
    if torch.version.cuda:
        return "cu" + str(torch.version.cuda).replace(".", "")
    if getattr(torch.version, "hip", None):
        return "rocm" + ".".join(torch.version.hip.split(".")[:2])
    return "cpu"


def check_build(writer: CheckWriter, torch: Any, version: str | None, variant: str | None) -> None:  # noqa: ANN401
    """Compare with the recommended build, which a later `pip install` may have replaced."""
    installed = f"{torch.__version__.partition('+')[0]}+{build_variant(torch)}"
    if version is None or variant is None:
        writer.report("torch-variant", "skip", value=installed, reason="@verify.reason.no-record")
        return
    recommended = f"{version}+{variant}"
    writer.report(
        "torch-variant", "pass" if installed == recommended else "fail", value=installed, expected=recommended
    )


def reference_product(torch: Any, device: str) -> Any:  # noqa: ANN401
    """A product of small whole numbers: every float format holds it exactly, so it must agree to the last bit."""
    left = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 7
    right = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 5
    return (left.to(device) @ right.to(device)).cpu()


def check_cpu_compute(writer: CheckWriter, torch: Any) -> None:  # noqa: ANN401
    """A product against plain Python, and a gradient."""
    writer.send(begin="cpu-compute")
    started = time.perf_counter()
    left = [[(row * 64 + inner) % 7 for inner in range(64)] for row in range(64)]
    columns = [[(inner * 64 + column) % 5 for inner in range(64)] for column in range(64)]
    expected = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]
    is_correct = reference_product(torch, "cpu").tolist() == expected
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    is_correct = is_correct and x.grad.tolist() == [2.0, 4.0, 6.0]
    if is_correct:
        writer.report("cpu-compute", "pass", seconds=time.perf_counter() - started)
    else:
        writer.report("cpu-compute", "fail", reason="@verify.reason.wrong-result")


def list_accelerators(torch: Any) -> list[str]:  # noqa: ANN401
    """The names of the accelerators that torch can compute on ("cuda:0", "mps")."""
    accelerators: list[str] = []
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            accelerators += [f"{kind}:{index}" for index in range(module.device_count())]
    return accelerators


def check_accelerators(writer: CheckWriter, torch: Any, expected: str | None, *, on_cpu: bool) -> None:  # noqa: ANN401
    """Check CUDA (or ROCm), then each device; only builds for GPUs have them. `on_cpu`: a build for GPUs was installed
    to compute on the CPU, so that no device is no failure.
    """
    toolkit_version = torch.version.cuda or getattr(torch.version, "hip", None)
    devices = list_accelerators(torch)
    if not devices and (on_cpu or not toolkit_version):
        skipped_ids = ("torch-cuda", "cuda-version", "cudnn", "device-query", "device-compute", "copy-bandwidth")
        writer.report_skipped(*skipped_ids, reason=REASON_ON_CPU if toolkit_version else REASON_NO_CUDA)
        return
    writer.send(begin="torch-cuda")
    if not devices:
        writer.report("torch-cuda", "fail", reason=unavailable_reason(torch))
    else:
        writer.report("torch-cuda", "pass", value=len(devices), devices=len(devices))
    if toolkit_version:
        writer.send(begin="cuda-version")
        version_matches = expected is None or toolkit_version.split(".")[:2] == expected.split(".")[:2]
        writer.report("cuda-version", "pass" if version_matches else "warn", value=toolkit_version, expected=expected)
    else:
        writer.report_skipped("cuda-version", reason=REASON_NO_CUDA)
    if not devices:
        writer.report_skipped(
            "cudnn", "device-query", "device-compute", "copy-bandwidth", reason=REASON_EARLIER_FAILURE
        )
    for device in devices:
        check_device(writer, torch, device)


# Parts of torch's own messages when CUDA does not start, and the texts that say the same; other causes are CUDA's, with
# its number. Recorded from torch 2.15.0+cu132 beside the libcuda of driver 535, the toolkit's stub and none
# (tests/fixtures/cuda); the fourth is of c10/cuda/CUDAFunctions.cpp.
CUDA_FAILURES = (
    ("Found no NVIDIA driver", "@verify.reason.no-driver"),
    ("driver on your system is too old", "@verify.reason.driver-too-old"),
    ("CUDA unknown error", "@verify.reason.driver-unknown"),
    ("CUDA driver initialization failed", "@verify.reason.driver-unknown"),
)
REASON_NO_DEVICE, NO_DEVICE_MESSAGE = "@verify.reason.no-device", "No CUDA GPUs are available"
# torch/backends/cudnn/__init__.py of 2.13.0, and cuDNN's own name of a part that is of another version.
OTHER_CUDNN = ("cuDNN version incompatibility", "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")
CUDA_ERROR_NUMBER = re.compile(r"\bError (\d+): ")


def unavailable_reason(torch: Any) -> str:  # noqa: ANN401
    """Why CUDA does not start: a text where the cause is known, else the message of torch's exception."""
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        message = str(error)
        known = next((reason for part, reason in CUDA_FAILURES if part in message), None)
        number = CUDA_ERROR_NUMBER.search(message)
        if known is None and number is not None:
            known = CUDA_ERRORS.get(int(number[1]))
        if known is not None:
            return known
        if hidden_devices():
            return "@verify.reason.hidden-devices"
        return REASON_NO_DEVICE if NO_DEVICE_MESSAGE in message else exception_summary(error)
    return REASON_NO_DEVICE


def check_device(writer: CheckWriter, torch: Any, device: str) -> None:  # noqa: ANN401
    """Query, compute, convolve and copy on one device; an exception ends the checks of this device only."""
    module = getattr(torch, device.partition(":")[0])
    for check_id, run_check in (
        ("device-query", check_query),
        ("device-compute", check_compute),
        ("cudnn", check_convolution),
        ("copy-bandwidth", check_copies),
    ):
        writer.send(begin=check_id)
        try:
            run_check(writer, torch, module, device)
        except (RuntimeError, AssertionError, AttributeError) as error:
            is_other = check_id == "cudnn" and any(part in str(error) for part in OTHER_CUDNN)
            reason = "@verify.reason.cudnn-other" if is_other else exception_summary(error)
            writer.report(check_id, "fail", device=device, reason=reason)


def check_query(writer: CheckWriter, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """Name, memory, and compute capability where there is one."""
    properties = module.get_device_properties(device)
    major, minor = getattr(properties, "major", None), getattr(properties, "minor", None)
    writer.report(
        "device-query",
        "pass",
        value=properties.name,
        device=device,
        name=properties.name,
        memory_bytes=properties.total_memory,
        compute_capability=None if major is None else f"{major}.{minor}",
    )


def check_compute(writer: CheckWriter, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """Compute the CPU's product; it must be bit-identical."""
    if torch.equal(reference_product(torch, device), reference_product(torch, "cpu")):
        writer.report("device-compute", "pass", device=device)
    else:
        writer.report("device-compute", "fail", device=device, reason="@verify.reason.wrong-result")


def check_convolution(writer: CheckWriter, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """A convolution of integers by cuDNN, compared with the CPU's."""
    cudnn = torch.backends.cudnn
    if not device.startswith("cuda") or not cudnn.is_available():
        writer.report_skipped("cudnn", reason=REASON_NO_CUDA)
        return
    image = torch.arange(2 * 3 * 32 * 32, dtype=torch.float32).reshape(2, 3, 32, 32) % 5
    kernel = torch.arange(4 * 3 * 3 * 3, dtype=torch.float32).reshape(4, 3, 3, 3) % 3
    device_result = torch.nn.functional.conv2d(image.to(device), kernel.to(device)).cpu()
    cpu_result = torch.nn.functional.conv2d(image, kernel)
    version = cudnn.version()
    # Winograd and FFT algorithms round, so that a small difference is correct.
    if torch.allclose(device_result, cpu_result, rtol=1e-2, atol=0.5):
        writer.report("cudnn", "pass", value=version, device=device)
    else:
        writer.report("cudnn", "fail", value=version, device=device, reason="@verify.reason.wrong-result")


def check_copies(writer: CheckWriter, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401
    """Copy to the device and back, five times each; the fastest counts, all bytes are compared."""
    count = COPY_BYTES
    if hasattr(module, "mem_get_info"):
        count = min(count, module.mem_get_info(device)[0] // 4)
    source_buffer = torch.randint(0, 256, (count,), dtype=torch.uint8)
    returned_buffer = torch.empty_like(source_buffer)
    if device.startswith("cuda"):
        source_buffer, returned_buffer = source_buffer.pin_memory(), returned_buffer.pin_memory()
    device_buffer = torch.empty_like(source_buffer, device=device)
    best_gb_s = {}
    for name, target, source in (("up", device_buffer, source_buffer), ("down", returned_buffer, device_buffer)):
        seconds = []
        for _ in range(6):  # the first warms up
            module.synchronize(device)
            started = time.perf_counter()
            target.copy_(source)
            module.synchronize(device)
            seconds.append(time.perf_counter() - started)
        best_gb_s[name] = count / min(seconds[1:]) / 1e9
    state = "pass" if torch.equal(source_buffer, returned_buffer) else "fail"
    writer.report(
        "copy-bandwidth",
        state,
        value=round(best_gb_s["up"], 2),
        device=device,
        up_gb_s=best_gb_s["up"],
        down_gb_s=best_gb_s["down"],
        reason=None if state == "pass" else "@verify.reason.wrong-result",
    )


def main() -> None:
    """Run all checks; returns the exit status."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    for name in ("--python", "--torch", "--variant", "--cuda"):
        parser.add_argument(name)
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--on-cpu", action="store_true")
    options = parser.parse_args()
    writer = CheckWriter()
    check_python(writer, options.python)
    if not options.without_torch and check_visual_cpp(writer):
        check_pytorch(writer, options)
    check_libraries(writer)
    writer.send(end=True)


def check_pytorch(writer: CheckWriter, options: argparse.Namespace) -> None:
    """The checks that import torch."""
    writer.send(begin="torch-import")
    started = time.perf_counter()
    # Our modules are imported; torch's may write bytecode into the environment, or each start compiles them again.
    sys.dont_write_bytecode = False
    try:
        import torch

        version = str(torch.__version__)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        writer.report("torch-import", "fail", reason=exception_summary(error), **import_failure(error))
    else:
        writer.report("torch-import", "pass", value=version, seconds=time.perf_counter() - started)
        check_build(writer, torch, options.torch, options.variant)
        try:
            check_cpu_compute(writer, torch)
        except Exception as error:  # noqa: BLE001 - as above
            writer.report("cpu-compute", "fail", reason=exception_summary(error))
        try:
            check_accelerators(writer, torch, options.cuda, on_cpu=options.on_cpu)
        except Exception as error:  # noqa: BLE001 - as above
            writer.report("torch-cuda", "fail", reason=exception_summary(error))


if __name__ == "__main__":
    main()
    # Some builds' own clean-up crashes after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(0)
