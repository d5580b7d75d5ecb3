"""The driver without its library, and what PyTorch and TensorFlow say of themselves."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.machine import Driver, Python, TensorFlowBuild, TorchBuild
from gpu_assistant.detect import nvidia, pythons
from gpu_assistant.detect.nvidia import DriverProbe
from gpu_assistant.detect.tools import find_compiler_version
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from tests.fakes.recorded_machine import MACHINES
from tests.fakes.system import FakeSystem

NEVER = threading.Event()
OLD = (MACHINES / "windows11-rtx4060-566/nvidia-smi.xml").read_text(encoding="utf-8")


def test_nvidia_smi_oldest_and_newest_format() -> None:
    new = (MACHINES / "windows11-rtx5090/nvidia-smi.xml").read_text(encoding="utf-8")
    for text, driver in (
        (OLD, Driver(version="566.03", cuda_max="12.7", model="WDDM")),
        (new, Driver(version="610.47", cuda_max="13.3", model="WDDM")),
        (OLD.replace("<cuda_version>12.7</cuda_version>", ""), Driver(version="566.03", model="WDDM")),
    ):
        told = nvidia.parse_nvidia_smi(text)
        assert told is not None
        assert told.driver == driver


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "<nvidia_smi_log></nvidia_smi_log>",
        OLD[: len(OLD) // 2],
        OLD.replace("566.03", "N/A"),
    ],
)
def test_output_without_driver_is_none(text: str) -> None:
    assert nvidia.parse_nvidia_smi(text) is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n", "550.54.14"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n", "570.86.15"),
        ("GCC version:  gcc version 12.2.0 (Debian)\n", None),
        ("", None),
    ],
)
def test_kernel_module_version(text: str, version: str | None) -> None:
    assert nvidia.parse_kernel_module(text) == (Driver(version=version) if version else None)


def test_sleeping_gpus_are_not_queried(tmp_path: Path) -> None:
    """Neither the library nor nvidia-smi nor a PyTorch: each of them wakes the card."""
    device = tmp_path / "0000:01:00.0" if sys.platform != "win32" else tmp_path / "0000_01_00.0"
    (device / "power").mkdir(parents=True)
    for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("power/runtime_status", "suspended")):
        (device / name).write_text(text, encoding="ascii")
    cuda = Python(path=sys.executable, version="3.12", torch=TorchBuild(version="2.9.1+cu126", cuda="12.6"))
    assert pythons.needs_framework_query(cuda)

    def run(argv: Any, **_: Any) -> ProcessResult:
        assert pythons.QUERY_SCRIPT in argv
        packages_folder = ascii(str(tmp_path / "site-packages"))
        return ProcessResult(
            returncode=0, stdout=f"('3.12.7', 'linux-x86_64', True, 'x', 'x', [{packages_folder}], None)", stderr=""
        )

    (tmp_path / "site-packages/torch").mkdir(parents=True)
    (tmp_path / "site-packages/torch/version.py").write_text("__version__ = '2.9'\ncuda = '12.6'\n", encoding="ascii")
    system = FakeSystem(
        run=run, pci_root=tmp_path, nvidia_smi=tmp_path / "nvidia-smi", python_candidates=(Path(sys.executable),)
    )
    assert DriverProbe(system, lambda: pytest.fail("asked"), NEVER).read_driver() is None
    (found,) = pythons.find_pythons(system, NEVER)
    assert found.torch == TorchBuild(version="2.9", cuda="12.6")


@pytest.mark.parametrize(
    ("code", "build"),
    [
        (
            "class version:\n    cuda = '12.6'\n"
            "class cuda:\n    is_available = staticmethod(lambda: False)\n"
            "class backends:\n    class cudnn:\n        version = staticmethod(lambda: 91002)\nprint('noise')\n",
            TorchBuild(version="2.9", cuda="12.6", cuda_available=False, cudnn="9.10.2"),
        ),
        ("raise OSError('WinError 126')", TorchBuild(version="2.9", cuda="12.6", error="OSError: WinError 126")),
        ("import os; os._exit(3)", TorchBuild(version="2.9", cuda="12.6")),
    ],
)
def test_torch_is_queried_in_its_python(
    code: str, build: TorchBuild, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(pythons, "FRAMEWORK_TIMEOUT_S", 60.0)
    python = Python(path=sys.executable, version="3.11", torch=TorchBuild(version="2.9", cuda="12.6"))
    assert pythons.query_frameworks(current_system(), python, NEVER).torch == build


def test_build_without_cuda_is_not_queried() -> None:
    build = pythons.parse_torch_version(
        "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n"
    )
    assert build == TorchBuild(version="2.9.1+cpu", cuda_available=False)
    rocm = pythons.parse_torch_version("__version__ = '2.9.1+rocm6.4'\ncuda = None\nhip = '6.4.4'\n")
    assert rocm is not None
    assert rocm.cuda_available is None


@pytest.mark.parametrize(
    ("text", "build"),
    [
        (
            'build_info = collections.OrderedDict([("cuda_version", "12.5.1"), ("cudnn_version", "9"), '
            '("is_cuda_build", True), ("is_rocm_build", False)])',
            TensorFlowBuild(cuda="12.5.1", cudnn="9", cuda_build=True),
        ),
        (
            'build_info = collections.OrderedDict([("is_cuda_build", False), ("is_rocm_build", False)])',
            TensorFlowBuild(cuda_build=False, gpu_available=False),
        ),
        ("", None),
    ],
)
def test_tensorflow_build_info(text: str, build: TensorFlowBuild | None) -> None:
    assert pythons.parse_tensorflow_build_info(text) == build


@pytest.mark.parametrize(("number", "version"), [(91002, "9.10.2"), (8907, "8.9.7"), (7605, "7.6.5"), (None, None)])
def test_cudnn_version_number(number: int | None, version: str | None) -> None:
    assert pythons.format_cudnn_version(number) == version


def test_newest_msvc_is_used(tmp_path: Path) -> None:
    for version in ("14.9.1", "14.42.34433", "x"):
        (tmp_path / f"Tools/MSVC/{version}/bin/Hostx64/x64").mkdir(parents=True)
        (tmp_path / f"Tools/MSVC/{version}/bin/Hostx64/x64/cl.exe").touch()
    assert find_compiler_version(tmp_path) == "14.42.34433"
    assert find_compiler_version(tmp_path / "Tools") is None
