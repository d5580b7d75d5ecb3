"""The NVIDIA driver from recorded output, and one list of GPUs out of three sources."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import Driver, Gpu, Python, TorchBuild
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.detect import frameworks, nvidia, pythons
from gpu_assistant.detect.nvidia import CatalogGpuLookup, DriverProbe, merge_gpus
from gpu_assistant.detect.partial_result import PartialResult
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
        parsed = nvidia.parse_nvidia_smi(text)
        assert parsed is not None
        assert parsed.driver == driver


RECORDED = Path(__file__).parents[1] / "fixtures/nvidia_smi"


@pytest.mark.parametrize(
    "text",
    [
        "",
        # nvidia-smi 535.261.03 of Debian 12: exit codes 9 and 12, in English whatever the locale, on stdout.
        (RECORDED / "535-not-loaded.txt").read_text(encoding="utf-8"),
        (RECORDED / "535-no-library.txt").read_text(encoding="utf-8"),
        # The same beside a kernel module of another version: exit code 18.
        (RECORDED / "535-mismatch.txt").read_text(encoding="utf-8"),
        "<nvidia_smi_log></nvidia_smi_log>",
        OLD[: len(OLD) // 2],
        OLD.replace("566.03", "N/A"),
    ],
)
def test_output_without_driver_is_none(text: str) -> None:
    assert nvidia.parse_nvidia_smi(text) is None


def test_nvidia_smi_virtual_and_divided_gpus() -> None:
    def gpu(inner: str) -> Gpu:
        told = nvidia.parse_nvidia_smi(f"<log><driver_version>580.95</driver_version><gpu>{inner}</gpu></log>")
        assert told is not None
        return told.gpus[0]

    mode = "<gpu_virtualization_mode><virtualization_mode>{}</virtualization_mode></gpu_virtualization_mode>"
    assert gpu("<product_name>NVIDIA A10-24Q</product_name>").vgpu is True
    assert gpu(mode.format("VGPU")).vgpu is True
    assert gpu(mode.format("Pass-Through")).vgpu is False
    assert gpu("<product_name>NVIDIA A10</product_name>").vgpu is None
    assert gpu("<mig_mode><current_mig>Enabled</current_mig></mig_mode>").mig is True
    assert gpu("<mig_mode><current_mig>N/A</current_mig></mig_mode>").mig is None
    assert gpu("<product_name>NVIDIA A100-SXM4-40GB MIG 1g.5gb</product_name>").mig is True


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


def test_driver_that_is_installed_and_not_loaded_is_told() -> None:
    probe = DriverProbe(FakeSystem(), lambda: None, NEVER, nvml_state=lambda: "not-loaded")
    assert probe.read_driver() == PartialResult(value=None, reason="not-loaded")
    assert DriverProbe(FakeSystem(), lambda: None, NEVER, nvml_state=lambda: "absent").read_driver() is None


def test_sleeping_gpus_are_not_queried(tmp_path: Path) -> None:
    """Neither the library nor nvidia-smi nor a PyTorch: each of them wakes the card."""
    device = tmp_path / "0000:01:00.0" if sys.platform != "win32" else tmp_path / "0000_01_00.0"
    (device / "power").mkdir(parents=True)
    for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("power/runtime_status", "suspended")):
        (device / name).write_text(text, encoding="ascii")
    cuda = Python(path=sys.executable, version="3.12", torch=TorchBuild(version="2.9.1+cu126", cuda="12.6"))
    assert frameworks.needs_framework_query(cuda)

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
    (result,) = pythons.find_pythons(system, NEVER)
    assert result.torch == TorchBuild(version="2.9", cuda="12.6")


CATALOG = load_catalog(resources_dir() / "catalog")

NAMES = CatalogGpuLookup(CATALOG)

IGPU = Gpu(index=0, vendor="intel", pci_id="8086:46a6")

LAPTOP_4060 = Gpu(index=1, vendor="nvidia", pci_id="10de:28a0")


def h100(uuid: str) -> Gpu:
    return Gpu(
        vendor="nvidia", name="NVIDIA H100 80GB HBM3", pci_id="10de:2330", uuid=uuid, memory_bytes=85_520_809_984
    )


def test_no_adapters_give_no_gpus() -> None:
    assert merge_gpus((), (), NAMES) == ()


def test_nvidia_first_and_reindexed() -> None:
    gpus = merge_gpus((IGPU, LAPTOP_4060), (), NAMES)
    assert [(gpu.index, gpu.vendor) for gpu in gpus] == [(0, "nvidia"), (1, "intel")]
    row = CATALOG.gpu("10de:28a0")
    assert row is not None
    assert (gpus[0].name, gpus[0].laptop) == (row.name, True)
    assert gpus[0].compute_capability == str(row.compute_capability)
    assert gpus[1].name is None


def test_identical_gpus_keep_driver_order() -> None:
    adapters = tuple(Gpu(index=n, vendor="nvidia", pci_id="10de:2330") for n in range(2))
    gpus = merge_gpus(adapters, (h100("GPU-b"), h100("GPU-a")), NAMES)
    assert [(gpu.index, gpu.uuid) for gpu in gpus] == [(0, "GPU-b"), (1, "GPU-a")]


def test_gpu_unknown_to_driver_is_kept() -> None:
    adapters = tuple(Gpu(index=n, vendor="nvidia", pci_id="10de:2330") for n in range(2))
    gpus = merge_gpus(adapters, (h100("GPU-a"),), NAMES)
    assert [gpu.uuid for gpu in gpus] == ["GPU-a", None]


def test_gpu_unknown_to_system_is_kept() -> None:
    """WSL has no such PCI device."""
    assert [gpu.uuid for gpu in merge_gpus((), (h100("GPU-a"),), NAMES)] == ["GPU-a"]


def test_driver_values_precede_system_and_catalog() -> None:
    adapter = Gpu(vendor="nvidia", name="Microsoft's name", pci_id="10de:2882", memory_bytes=1, laptop=False)
    card = Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 4060", pci_id="10de:2882", memory_bytes=2)
    (gpu,) = merge_gpus((adapter,), (card,), NAMES)
    assert (gpu.name, gpu.memory_bytes, gpu.laptop, gpu.compute_capability) == (card.name, 2, False, "8.9")
    (gpu,) = merge_gpus((adapter,), (Gpu(vendor="nvidia", pci_id="10de:2882"),), NAMES)
    assert (gpu.name, gpu.memory_bytes) == ("Microsoft's name", 1)


def test_unknown_gpu_stays_unknown() -> None:
    (gpu,) = merge_gpus((Gpu(vendor="nvidia", pci_id="10de:ffff"),), (), NAMES)
    assert (gpu.name, gpu.compute_capability, gpu.memory_bytes, gpu.laptop) == (None, None, None, None)
