"""Runs in an environment's own Python and proves its PyTorch, one JSON line for each thing it finds.

Started as a program; it needs nothing but the standard library and torch. Before each check it says
`{"begin": id}`, so that whoever listens knows where it hung or died; the last line is `{"end": true}`.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The program's own folder is none of this Python's to write in.
sys.dont_write_bytecode = True
# Read when torch is loaded: cards by the driver's own numbers, which everybody else calls them by.
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
if TYPE_CHECKING:
    from .child_runtime import visual_cpp
    from .child_talk import Talk, why
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path.append(str(Path(__file__).parent))
    from child_runtime import visual_cpp
    from child_talk import Talk, why

    sys.path.pop()

COPY_BYTES = 256 << 20
NO_CUDA = "@verify.reason.cpu-build"
EARLIER = "@verify.reason.earlier"


def python(talk: Talk, expected: str | None) -> None:
    """The interpreter's version against the recommended one ("3.12")."""
    talk.send(begin="python")
    version = platform.python_version()
    fits = expected is None or version.split(".")[:2] == expected.split(".")[:2]
    talk.check("python", "pass" if fits else "warn", value=version, expected=expected)


def variant_of(torch: Any) -> str:  # noqa: ANN401
    """The build's tag: "cu126", "cpu", "rocm6.4", "xpu"; from its version, else from what it was built with."""
    _, _, local = str(torch.__version__).partition("+")
    if local:
        return local
    if torch.version.cuda:
        return "cu" + str(torch.version.cuda).replace(".", "")
    if getattr(torch.version, "hip", None):
        return "rocm" + ".".join(torch.version.hip.split(".")[:2])
    return "cpu"


def torch_build(talk: Talk, torch: Any, version: str | None, variant: str | None) -> None:  # noqa: ANN401
    """Whether this is the build that was recommended: `pip install` of something else may have replaced it."""
    have = f"{torch.__version__.partition('+')[0]}+{variant_of(torch)}"
    if version is None or variant is None:
        talk.check("torch-variant", "skip", value=have, reason="@verify.reason.no-record")
        return
    want = f"{version}+{variant}"
    talk.check("torch-variant", "pass" if have == want else "fail", value=have, expected=want)


def numbers(torch: Any, device: str) -> Any:  # noqa: ANN401
    """A product of small whole numbers: every float format holds it exactly, so it must agree to the last bit."""
    left = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 7
    right = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 5
    return (left.to(device) @ right.to(device)).cpu()


def cpu_compute(talk: Talk, torch: Any) -> None:  # noqa: ANN401
    """A product against plain Python, and a gradient."""
    talk.send(begin="cpu-compute")
    started = time.perf_counter()
    left = [[(row * 64 + inner) % 7 for inner in range(64)] for row in range(64)]
    columns = [[(inner * 64 + column) % 5 for inner in range(64)] for column in range(64)]
    expected = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]
    right = numbers(torch, "cpu").tolist() == expected
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    right = right and x.grad.tolist() == [2.0, 4.0, 6.0]
    if right:
        talk.check("cpu-compute", "pass", seconds=time.perf_counter() - started)
    else:
        talk.check("cpu-compute", "fail", reason="@verify.reason.wrong-result")


def devices_of(torch: Any) -> list[str]:  # noqa: ANN401
    """The accelerators that torch can compute on, as it names them."""
    found: list[str] = []
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            found += [f"{kind}:{index}" for index in range(module.device_count())]
    return found


def cuda(talk: Talk, torch: Any, expected: str | None) -> None:  # noqa: ANN401
    """What only a GPU build has: CUDA (or ROCm), then each device."""
    built = torch.version.cuda or getattr(torch.version, "hip", None)
    devices = devices_of(torch)
    if not built and not devices:
        rest = ("torch-cuda", "cuda-version", "cudnn", "device-query", "device-compute", "copy-bandwidth")
        talk.skip(*rest, reason=NO_CUDA)
        return
    talk.send(begin="torch-cuda")
    if not devices:
        talk.check("torch-cuda", "fail", reason=unavailable(torch))
    else:
        talk.check("torch-cuda", "pass", value=len(devices), devices=len(devices))
    if built:
        talk.send(begin="cuda-version")
        fits = expected is None or built.split(".")[:2] == expected.split(".")[:2]
        talk.check("cuda-version", "pass" if fits else "warn", value=built, expected=expected)
    else:
        talk.skip("cuda-version", reason=NO_CUDA)
    if not devices:
        talk.skip("cudnn", "device-query", "device-compute", "copy-bandwidth", reason=EARLIER)
    for device in devices:
        one_device(talk, torch, device)


def unavailable(torch: Any) -> str:  # noqa: ANN401
    """Why CUDA does not start, in torch's words."""
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return why(error)
    return "@verify.reason.no-device"


def one_device(talk: Talk, torch: Any, device: str) -> None:  # noqa: ANN401
    """Query, compute, convolve and copy on one device; what fails there stops only that device."""
    module = getattr(torch, device.partition(":")[0])
    for check_id, work in (
        ("device-query", query),
        ("device-compute", compute),
        ("cudnn", convolve),
        ("copy-bandwidth", copy),
    ):
        talk.send(begin=check_id)
        try:
            work(talk, torch, module, device)
        except (RuntimeError, AssertionError, AttributeError) as error:
            talk.check(check_id, "fail", device=device, reason=why(error))


def query(talk: Talk, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """Name, memory, and compute capability where there is one."""
    properties = module.get_device_properties(device)
    major, minor = getattr(properties, "major", None), getattr(properties, "minor", None)
    talk.check(
        "device-query",
        "pass",
        value=properties.name,
        device=device,
        name=properties.name,
        memory_bytes=properties.total_memory,
        compute_capability=None if major is None else f"{major}.{minor}",
    )


def compute(talk: Talk, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """The CPU's product again, equal to the last bit."""
    if torch.equal(numbers(torch, device), numbers(torch, "cpu")):
        talk.check("device-compute", "pass", device=device)
    else:
        talk.check("device-compute", "fail", device=device, reason="@verify.reason.wrong-result")


def convolve(talk: Talk, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401, ARG001
    """A convolution of whole numbers through cuDNN, equal to the CPU's."""
    cudnn = torch.backends.cudnn
    if not device.startswith("cuda") or not cudnn.is_available():
        talk.skip("cudnn", reason=NO_CUDA)
        return
    image = torch.arange(2 * 3 * 32 * 32, dtype=torch.float32).reshape(2, 3, 32, 32) % 5
    kernel = torch.arange(4 * 3 * 3 * 3, dtype=torch.float32).reshape(4, 3, 3, 3) % 3
    there = torch.nn.functional.conv2d(image.to(device), kernel.to(device)).cpu()
    here = torch.nn.functional.conv2d(image, kernel)
    version = cudnn.version()
    # Winograd and FFT algorithms round, so a small difference is right.
    if torch.allclose(there, here, rtol=1e-2, atol=0.5):
        talk.check("cudnn", "pass", value=str(version), device=device)
    else:
        talk.check("cudnn", "fail", value=str(version), device=device, reason="@verify.reason.wrong-result")


def copy(talk: Talk, torch: Any, module: Any, device: str) -> None:  # noqa: ANN401
    """Copies to the device and back, best of five each, every byte compared."""
    count = COPY_BYTES
    if hasattr(module, "mem_get_info"):
        count = min(count, module.mem_get_info(device)[0] // 4)
    here = torch.randint(0, 256, (count,), dtype=torch.uint8)
    back = torch.empty_like(here)
    if device.startswith("cuda"):
        here, back = here.pin_memory(), back.pin_memory()
    there = torch.empty_like(here, device=device)
    best = {}
    for name, to, source in (("up", there, here), ("down", back, there)):
        seconds = []
        for _ in range(6):  # the first warms up
            module.synchronize(device)
            started = time.perf_counter()
            to.copy_(source)
            module.synchronize(device)
            seconds.append(time.perf_counter() - started)
        best[name] = count / min(seconds[1:]) / 1e9
    state = "pass" if torch.equal(here, back) else "fail"
    talk.check(
        "copy-bandwidth",
        state,
        value=round(best["up"], 2),
        device=device,
        up_gb_s=best["up"],
        down_gb_s=best["down"],
        reason=None if state == "pass" else "@verify.reason.wrong-result",
    )


def main() -> None:
    """All checks in order."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    for name in ("--python", "--torch", "--variant", "--cuda"):
        parser.add_argument(name)
    parser.add_argument("--without-torch", action="store_true")
    given = parser.parse_args()
    talk = Talk()
    python(talk, given.python)
    if not given.without_torch and visual_cpp(talk):
        pytorch(talk, given)
    talk.send(end=True)


def pytorch(talk: Talk, given: argparse.Namespace) -> None:
    """Everything that loads it."""
    talk.send(begin="torch-import")
    started = time.perf_counter()
    # All of ours is loaded. What torch keeps lies in the environment: without it, each start would compile it anew.
    sys.dont_write_bytecode = False
    try:
        import torch

        version = str(torch.__version__)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        talk.check("torch-import", "fail", reason=why(error))
    else:
        talk.check("torch-import", "pass", value=version, seconds=time.perf_counter() - started)
        torch_build(talk, torch, given.torch, given.variant)
        try:
            cpu_compute(talk, torch)
        except Exception as error:  # noqa: BLE001 - as above
            talk.check("cpu-compute", "fail", reason=why(error))
        try:
            cuda(talk, torch, given.cuda)
        except Exception as error:  # noqa: BLE001 - as above
            talk.check("torch-cuda", "fail", reason=why(error))


if __name__ == "__main__":
    main()
    # Some builds' own clean-up crashes after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(0)
