"""Builds a PyTorch extension with a C++ part and a CUDA kernel, loads it and computes with it.

Runs in an environment's own Python and writes one JSON line for its check. A program of its own beside `child.py`: it
takes minutes and starts compilers, and what it loads stays in the process.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# No bytecode in our program's folder.
sys.dont_write_bytecode = True
if TYPE_CHECKING:
    from .child_protocol import CheckWriter, exception_summary
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path.append(str(Path(__file__).parent))
    from child_protocol import CheckWriter, exception_summary

    sys.path.pop()

CHECK_ID = "torch-extension"
NAME = "gpu_assistant_proof"
# No more headers than it needs: all of PyTorch's take minutes to compile.
CPP_SOURCE = """
#include <ATen/core/Tensor.h>
#include <torch/library.h>
#ifdef WITH_CUDA
at::Tensor twice_on_gpu(const at::Tensor& given);
#endif
at::Tensor twice(const at::Tensor& given) {
#ifdef WITH_CUDA
  if (given.is_cuda()) return twice_on_gpu(given);
#endif
  return given.add(given);
}
TORCH_LIBRARY(gpu_assistant_proof, library) { library.def("twice(Tensor given) -> Tensor", &twice); }
"""
CUDA_SOURCE = """
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>
__global__ void twice_kernel(const float* given, float* result, long count) {
  long index = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (index < count) result[index] = 2 * given[index];
}
at::Tensor twice_on_gpu(const at::Tensor& given) {
  at::Tensor source = given.contiguous(), result = source.clone();
  long count = source.numel();
  auto stream = c10::cuda::getCurrentCUDAStream();
  twice_kernel<<<(count + 255) / 256, 256, 0, stream>>>(source.data_ptr<float>(), result.data_ptr<float>(), count);
  return result;
}
"""


def prepare_environment(options: argparse.Namespace) -> None:
    """What torch.utils.cpp_extension reads when it is imported, and the programs that it starts."""
    os.environ["CUDA_HOME"] = os.environ["CUDA_PATH"] = options.toolkit
    if options.capabilities:
        os.environ["TORCH_CUDA_ARCH_LIST"] = options.capabilities
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, str(Path(options.toolkit, "bin")), os.environ.get("PATH", "")])
    if sys.platform == "win32":
        # cl.exe needs the folders that vcvarsall.bat sets.
        from setuptools.msvc import EnvironmentInfo

        found = EnvironmentInfo("x64").return_env()
        os.environ.update({name.upper(): text for name, text in found.items() if isinstance(text, str)})
    else:
        os.environ["CXX"] = options.compiler
        os.environ["CC"] = options.compiler


def build_extension(folder: str, *, with_cuda: bool) -> None:
    """Compile, link and load it; raises whatever PyTorch raises."""
    from torch.utils import cpp_extension

    sources = {"proof.cpp": CPP_SOURCE, **({"proof_cuda.cu": CUDA_SOURCE} if with_cuda else {})}
    for name, text in sources.items():
        Path(folder, name).write_text(text, encoding="utf-8")
    cpp_extension.load(
        NAME,
        [str(Path(folder, name)) for name in sources],
        extra_cflags=["-DWITH_CUDA"] if with_cuda else [],
        build_directory=folder,
        is_python_module=False,
        with_cuda=with_cuda,
    )


def check_extension(writer: CheckWriter, options: argparse.Namespace) -> None:
    """Report the check; raises whatever a broken library raises."""
    import torch

    cuda = torch.version.cuda
    if cuda is not None and cuda.split(".")[0] != options.major:
        # PyTorch refuses such a compiler itself.
        writer.report(CHECK_ID, "skip", reason="@verify.reason.other-cuda")
        return
    if " " in sys.prefix:
        # PyTorch hands the folder of its libraries to the linker without quotes (the linker flags in cpp_extension.py).
        writer.report(CHECK_ID, "skip", reason="@verify.reason.space-in-path")
        return
    started = time.perf_counter()
    folder = tempfile.mkdtemp(prefix="gpu-assistant-")
    try:
        build_extension(folder, with_cuda=cuda is not None)
        devices = ["cpu"]
        if cuda is not None and torch.cuda.is_available():
            devices += [f"cuda:{index}" for index in range(torch.cuda.device_count())]
        is_right = all(computes_right(torch, device) for device in devices)
    finally:
        # On Windows a library that is loaded stays.
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.perf_counter() - started
    if is_right:
        case = {} if cuda is None else {"case": "card" if len(devices) > 1 else "cuda"}
        writer.report(CHECK_ID, "pass", value=torch.__version__, seconds=seconds, **case)
    else:
        writer.report(CHECK_ID, "fail", reason="@verify.reason.wrong-result")


def computes_right(torch: Any, device: str) -> bool:  # noqa: ANN401
    """Whether the extension doubles whole numbers on a device."""
    given = torch.arange(4096, dtype=torch.float32, device=device)
    result = torch.ops.gpu_assistant_proof.twice(given)
    return bool(torch.equal(result.cpu(), torch.arange(0, 8192, 2, dtype=torch.float32)))


def main() -> None:
    """Run the check."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    for name in ("--toolkit", "--major", "--compiler", "--capabilities"):
        parser.add_argument(name)
    options = parser.parse_args()
    writer = CheckWriter()
    writer.send(begin=CHECK_ID)
    # Our modules are imported; torch's may write bytecode into the environment, or each start compiles them again.
    sys.dont_write_bytecode = False
    try:
        prepare_environment(options)
        if shutil.which("ninja") is None:
            writer.report(CHECK_ID, "skip", reason="@verify.reason.no-ninja")
        else:
            check_extension(writer, options)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        for line in str(error).splitlines():
            sys.stderr.write(line + "\n")
        lines = [line.strip() for line in str(error).splitlines() if ": error" in line or "fatal" in line]
        writer.report(CHECK_ID, "fail", reason=lines[0][:240] if lines else exception_summary(error))
    writer.send(end=True)


if __name__ == "__main__":
    main()
    # Some builds' own clean-up crashes after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(0)
