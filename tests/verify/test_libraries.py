"""NVIDIA's libraries that do not fit: missing, of another CUDA, of two packages; a driver changed without a restart."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.json import encode
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.system.nvml import library as nvml_library
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify import job
from gpu_assistant.verify.child_libraries import import_failure

from ..fakes.environments import environment_with, site_packages, torch_with_card
from ..fakes.examples import rtx4060_recommendation
from ..nvml.machines import RTX_4060
from ..nvml.scenario import Scenario, built
from .test_job import HALF_TORCH, one, states, verified
from .test_tensorflow import checked

RECORDED = Path(__file__).parents[1] / "fixtures/cuda"
COMPILER = shutil.which("cc")
linux_with_compiler = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None, reason="libraries are compiled, and found by LD_LIBRARY_PATH"
)


@pytest.fixture
def nvml_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A computer with an RTX 4060 and driver 566.03."""
    nvml = built(tmp_path)
    assert nvml is not None
    scenario = Scenario(tmp_path / "scenario", nvml, RTX_4060)
    for name, value in scenario.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(nvml_library, "EXTRA_LIBRARY_PATHS", (nvml,))
    return scenario


def library(path: Path, source: str = "", *, links: tuple[Path, ...] = ()) -> Path:
    """A library of this name, with a function `answer`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = source or "int answer(void) { return 1; }"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", path, f"-Wl,-soname,{path.name}", "-xnone", *links]
    subprocess.run(command, input=text.encode(), check=True, timeout=60)
    return path


def package(environment: Path, name: str, version: str, *files: Path) -> None:
    """A package's record of files in an environment."""
    folder = site_packages(environment)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")
    record = "".join(f"{file.relative_to(folder).as_posix()},,\n" for file in files)
    (info / "RECORD").write_text(record, encoding="utf-8")


@pytest.mark.parametrize(
    ("message", "case", "name"),
    [
        ((RECORDED / "no-cudnn.txt").read_text("utf-8"), "library-missing", "libcudnn.so.9"),
        ((RECORDED / "other-nvjitlink.txt").read_text("utf-8"), "libraries-mixed", "libnvJitLink.so.12"),
        ("/a b/lib/" + (RECORDED / "other-nvjitlink.txt").read_text("utf-8"), "libraries-mixed", "libnvJitLink.so.12"),
        (
            "/env/lib/libcublas.so.12: undefined symbol: cublasLtGetEnvironmentMode",
            "libraries-mixed",
            "libcublas.so.12",
        ),
        ("/x/libtorch.so: version `libcudart.so.12' not found (required by /y)", "libraries-mixed", "libcudart.so.12"),
        # Not NVIDIA's, or not a library's fault.
        ("libgomp.so.1: cannot open shared object file: No such file or directory", None, None),
        ("/x/libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent", None, None),
        ("No module named 'numpy'", None, None),
    ],
)
def test_an_import_that_failed_for_a_library_is_named(message: str, case: str | None, name: str | None) -> None:
    data = import_failure(ImportError(message))
    assert (data.get("case"), data.get("library")) == (case, name)
    if case is None:
        return
    for check_id in ("torch-import", "tensorflow-import"):
        check = Check(id=check_id, state="fail", data={"reason": "ImportError: …", **data})
        for language in ("en", "zh_CN"):
            checks = Checks(schema="gpu-assistant/checks/1", verdict="fail", checks=(check,))
            spoken = Texts(language).localize_checks(checks).checks[0]
            assert name in str(spoken.text)
            assert spoken.fix


@linux_with_compiler
def test_a_missing_cudnn_is_named_when_torch_is_imported(tmp_path: Path) -> None:
    cudnn = library(tmp_path / "gone" / "libcudnn.so.9")
    torch_library = library(
        tmp_path / "libtorch_test.so", "int answer(void); int ask(void) { return answer(); }", links=(cudnn,)
    )
    cudnn.unlink()
    checks = verified(environment_with(tmp_path / "env", f"import ctypes\nctypes.CDLL({str(torch_library)!r})"))
    check = one(checks, "torch-import")
    assert check.text == "PyTorch does not load: the library libcudnn.so.9 is missing from the environment."
    assert check.fix == "Install again; downloaded files are kept."


def environment_with_cudnn(folder: Path) -> Path:
    """A torch that loads cuDNN by its name alone, beside its own copy of it."""
    environment = environment_with(folder, f"import ctypes\nctypes.CDLL('libcudnn.so.9')\n{HALF_TORCH}")
    own = library(site_packages(environment) / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9")
    package(environment, "nvidia-cudnn-cu13", "9.26.0.51", own)
    return environment


@linux_with_compiler
def test_a_foreign_cudnn_first_on_the_path_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = environment_with_cudnn(tmp_path / "环境 env")
    foreign = library(tmp_path / "other cuda" / "libcudnn.so.9")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(foreign.parent))
    check = one(verified(environment), "cuda-libraries")
    assert (check.state, check.value) == ("warn", str(foreign))
    assert check.text == f"PyTorch or TensorFlow uses a library from outside the environment: {foreign}."
    assert "LD_LIBRARY_PATH" in str(check.fix)


@linux_with_compiler
def test_own_libraries_pass_though_another_cuda_is_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = environment_with_cudnn(tmp_path / "env")
    unused = library(tmp_path / "cuda" / "libcublas.so.11")
    own = site_packages(environment) / "nvidia" / "cudnn" / "lib"
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{own}:{unused.parent}")
    check = one(verified(environment), "cuda-libraries")
    assert (check.state, check.value) == ("pass", 1)


@linux_with_compiler
def test_two_packages_that_share_a_library_are_named(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", HALF_TORCH)
    shared = library(site_packages(environment) / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9")
    package(environment, "nvidia-cudnn-cu12", "9.13.1.26", shared)
    package(environment, "nvidia-cudnn-cu13", "9.26.0.51", shared)
    check = one(verified(environment), "cuda-libraries")
    assert (check.state, check.value) == ("warn", "nvidia-cudnn-cu12 9.13.1.26, nvidia-cudnn-cu13 9.26.0.51")
    assert "libcudnn.so.9" in str(check.text)


def test_an_environment_without_nvidias_libraries_has_no_such_check(tmp_path: Path) -> None:
    assert "cuda-libraries" not in states(verified(environment_with(tmp_path / "env", HALF_TORCH)))


@pytest.mark.skipif(sys.platform != "linux", reason="the library is found by LD_LIBRARY_PATH")
def test_a_driver_changed_without_restart_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = built(tmp_path)
    if nvml is None:
        pytest.skip("no C compiler")
    scenario = Scenario(tmp_path / "scenario", nvml, RTX_4060)
    scenario.set(init="!18")
    monkeypatch.setenv("FAKE_CARD", "no-driver")
    for name, value in scenario.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(nvml_library, "EXTRA_LIBRARY_PATHS", (nvml,))
    check = one(verified(environment_with(tmp_path / "env", torch_with_card())), "torch-cuda")
    assert check.data["reason"] == "@verify.reason.driver-mismatch"


@linux_with_compiler
@pytest.mark.parametrize(
    ("accelerator", "minimum", "state"),
    [
        (None, None, "pass"),  # an environment made by other means
        ("cuda", "566.03", "pass"),
        ("cuda", "580.65", "warn"),
        ("cpu", None, None),
    ],
)
def test_the_driver_is_proven_where_a_card_is_to_be_used(
    tmp_path: Path, nvml_scenario: Scenario, accelerator: str | None, minimum: str | None, state: str | None
) -> None:
    environment = environment_with(tmp_path / "env", HALF_TORCH)
    if accelerator is not None:
        advice = replace(rtx4060_recommendation(), accelerator=accelerator, ways=())
        advice = replace(advice, driver=replace(advice.driver, minimum=minimum))
        (environment / "gpu-assistant.json").write_bytes(encode({"recommendation": advice}))
    checks = verified(environment)
    ids = [check.id for check in checks.checks]
    assert [check.state for check in checks.checks if check.id == "driver"] == ([state] if state else [])
    if state is None:
        return
    assert ids.index("packages") < ids.index("driver") < ids.index("python")
    driver = one(checks, "driver")
    assert (driver.value, driver.expected) == ("566.03", minimum)
    text = {"pass": "(version 566.03).", "warn": "but this environment needs 580.65 or newer"}[state]
    assert text in (driver.text or "")


@linux_with_compiler
def test_a_driver_without_a_card_is_no_proof(tmp_path: Path, nvml_scenario: Scenario) -> None:
    nvml_scenario.set(gpus="0")
    assert "driver" not in states(verified(environment_with(tmp_path / "env", HALF_TORCH)))


@linux_with_compiler
def test_a_driver_that_hangs_is_no_proof_and_holds_nothing_up(
    tmp_path: Path, nvml_scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "NVML_TIMEOUT_S", 0.5)
    nvml_scenario.set(hang="nvmlDeviceGetCount_v2")
    assert "driver" not in states(verified(environment_with(tmp_path / "env", HALF_TORCH)))


def test_without_a_driver_the_checks_that_compute_say_what_is_wrong(tmp_path: Path) -> None:
    assert "driver" not in states(verified(environment_with(tmp_path / "env", HALF_TORCH)))


# A driver with these answers to cuInit and cuDriverGetVersion. Without a card real ones of 470, 535 and 550 answer
# 100, with the version of their CUDA (11040, 12020, 12040); a stub refuses both.
DRIVER = """
int cuInit(unsigned flags) {{ return {status} + 0 * flags; }}
int cuDriverGetVersion(int *version) {{ *version = {cuda}; return {status} == 34 ? 34 : 0; }}
int cuGetErrorName(int error, const char **name) {{ *name = "CUDA_ERROR_OPERATING_SYSTEM"; return 0 * error; }}
"""


@linux_with_compiler
@pytest.mark.parametrize(
    ("status", "cuda", "built_for", "visible", "reason"),
    [
        (803, 13020, "12.5.1", None, "@verify.reason.driver-mismatch"),
        (34, 0, "12.5.1", None, "@verify.reason.driver-stub"),
        (3, 13020, "12.5.1", None, "@verify.reason.driver-unknown"),
        (304, 13020, "12.5.1", None, "CUDA_ERROR_OPERATING_SYSTEM (304)"),
        (100, 13020, "12.5.1", "", "@verify.reason.hidden-devices"),
        (100, 13020, "12.5.1", None, "@verify.reason.tensorflow-no-device"),
        # A driver runs all minor versions of its CUDA.
        (100, 12020, "12.5.1", None, "@verify.reason.tensorflow-no-device"),
        (0, 12020, "12.5.1", None, "@verify.reason.tensorflow-no-device"),
        # Too old, with a card and without one, and where it is hidden besides; the third form is that of Windows.
        (0, 11040, "12.5.1", None, "@verify.reason.driver-too-old-tensorflow"),
        (100, 11040, "12.5.1", "", "@verify.reason.driver-too-old-tensorflow"),
        (100, 10020, "64_112", None, "@verify.reason.driver-too-old-tensorflow"),
        (100, 11040, "64_112", None, "@verify.reason.tensorflow-no-device"),
        (100, 11040, "", None, "@verify.reason.tensorflow-no-device"),
    ],
)
def test_tensorflow_without_a_card_names_what_the_driver_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    cuda: int,
    built_for: str,
    visible: str | None,
    reason: str,
) -> None:
    driver = library(tmp_path / "driver" / "libcuda.so.1", DRIVER.format(status=status, cuda=cuda))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver.parent))
    monkeypatch.setenv("FAKE_TENSORFLOW", "no-card")
    monkeypatch.setenv("FAKE_TENSORFLOW_CUDA", built_for)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert one(checked(tmp_path / "env"), "tensorflow-devices").data["reason"] == reason


@linux_with_compiler
def test_driver_too_old_for_tensorflow_is_told_with_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = library(tmp_path / "driver" / "libcuda.so.1", DRIVER.format(status=0, cuda=11040))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver.parent))
    monkeypatch.setenv("FAKE_TENSORFLOW", "no-card")
    checks = checked(tmp_path / "env")
    check = one(Texts("en").localize_checks(checks), "tensorflow-devices")
    assert check.text == (
        "TensorFlow cannot use your graphics card: the NVIDIA driver is too old. It supports CUDA up to 11.4, but this "
        "TensorFlow needs CUDA 12."
    )
    assert str(check.fix).startswith("Update the NVIDIA driver and restart the computer")
    chinese = Texts("zh_CN").check_text(check)
    assert "CUDA 11.4，" in chinese
    assert "需要 CUDA 12。" in chinese


@linux_with_compiler
def test_driver_that_is_installed_and_not_running_is_no_missing_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an install without a restart: to CUDA that is a computer without a card."""
    driver = library(tmp_path / "driver" / "libcuda.so.1", DRIVER.format(status=100, cuda=12020))
    nvml = built(tmp_path)
    assert nvml is not None
    scenario = Scenario(tmp_path / "scenario", nvml, RTX_4060)
    scenario.set(init="!9")
    for name, value in {**scenario.environ, "LD_LIBRARY_PATH": str(driver.parent)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FAKE_TENSORFLOW", "no-card")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(nvml_library, "EXTRA_LIBRARY_PATHS", (nvml,))
    assert one(checked(tmp_path / "env"), "tensorflow-devices").data["reason"] == "@verify.reason.no-driver"


def dll(path: Path, *imports: str) -> Path:
    """A 64-bit Windows library with these libraries in its import directory, and nothing else."""
    at, raw = 0x1000, 0x200
    table = b"".join(struct.pack("<5I", 0, 0, 0, at + 512 + 64 * index, 0) for index in range(len(imports)))
    names = b"".join(name.encode().ljust(64, b"\0") for name in imports)
    section = table.ljust(512, b"\0") + names
    optional = struct.pack("<H", 0x20B).ljust(112, b"\0") + struct.pack("<4I", 0, 0, at, len(table)).ljust(128, b"\0")
    header = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    header += b"PE\0\0" + struct.pack("<2H12x2H", 0x8664, 1, len(optional), 0x2022) + optional
    header += b".idata\0\0" + struct.pack("<4I", len(section), at, len(section), raw) + bytes(16)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header.ljust(raw, b"\0") + section)
    return path


def windows_error(library: Path, code: int) -> OSError:
    """As torch/__init__.py raises it, in a Chinese Windows."""
    error = OSError(f'[WinError {code}] 找不到指定的模块。 Error loading "{library}" or one of its dependencies.')
    error.winerror = code  # type: ignore[attr-defined,unused-ignore]
    return error


@pytest.fixture
def torch_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder torch/lib, whose torch_cuda.dll imports cuDNN and, by another library, cuBLASLt."""
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    folder = tmp_path / "环境 env" / "torch" / "lib"
    dll(folder / "torch_cuda.dll", "KERNEL32.dll", "cudnn64_9.dll", "cublas64_13.dll")
    dll(folder / "cudnn64_9.dll", "KERNEL32.dll")
    dll(folder / "cublas64_13.dll", "cublasLt64_13.dll", "torch_cuda.dll")
    dll(folder / "cublasLt64_13.dll")
    return folder


@pytest.mark.parametrize("missing", ["cudnn64_9.dll", "cublasLt64_13.dll"])
def test_missing_dll_is_named_not_the_one_that_imports_it(torch_libraries: Path, missing: str) -> None:
    (torch_libraries / missing).unlink()
    data = import_failure(windows_error(torch_libraries / "torch_cuda.dll", 126))
    assert data == {"case": "library-missing", "library": missing}


def test_dll_on_the_path_is_not_missing(torch_libraries: Path, tmp_path: Path) -> None:
    library = torch_libraries / "cudnn64_9.dll"
    (tmp_path / "elsewhere").mkdir()
    library.rename(tmp_path / "elsewhere" / library.name)
    assert import_failure(windows_error(torch_libraries / "torch_cuda.dll", 126)) == {}


def test_dll_without_a_function_is_of_another_cuda(torch_libraries: Path) -> None:
    data = import_failure(windows_error(torch_libraries / "cublas64_13.dll", 127))
    assert data == {"case": "libraries-mixed", "library": "cublas64_13.dll"}
    assert import_failure(windows_error(torch_libraries / "torch_cuda.dll", 127)) == {}


def test_damaged_dll_is_no_second_failure(torch_libraries: Path) -> None:
    (torch_libraries / "torch_cuda.dll").write_bytes(b"MZ" * 40)
    assert import_failure(windows_error(torch_libraries / "torch_cuda.dll", 126)) == {}
