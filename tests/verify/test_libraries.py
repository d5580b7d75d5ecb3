"""NVIDIA's libraries that do not fit: missing, of another CUDA, of two packages; a driver changed without a restart."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.core.results import Check, Checks
from gpu_assistant.system.nvml import library as nvml_library
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify.child_libraries import import_failure

from ..fakes.environments import environment_with, site_packages, torch_with_card
from ..nvml.machines import RTX_4060
from ..nvml.scenario import Scenario, built
from .test_job import HALF_TORCH, one, states, verified
from .test_tensorflow import checked

RECORDED = Path(__file__).parents[1] / "fixtures/cuda"
COMPILER = shutil.which("cc")
linux_with_compiler = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None, reason="libraries are compiled, and found by LD_LIBRARY_PATH"
)


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
    ("status", "visible", "reason"),
    [
        (803, None, "@verify.reason.driver-mismatch"),
        (34, None, "@verify.reason.driver-stub"),
        (100, "", "@verify.reason.hidden-devices"),
        (100, None, "@verify.reason.tensorflow-no-device"),
    ],
)
def test_tensorflow_without_a_card_names_what_the_driver_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, visible: str | None, reason: str
) -> None:
    driver = library(
        tmp_path / "driver" / "libcuda.so.1", f"int cuInit(unsigned flags) {{ return {status} + 0 * flags; }}"
    )
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver.parent))
    monkeypatch.setenv("FAKE_TENSORFLOW", "no-card")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert one(checked(tmp_path / "env"), "tensorflow-devices").data["reason"] == reason
