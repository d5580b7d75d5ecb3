"""The goals beside PyTorch alone: compiling CUDA code, TensorFlow, and everything together."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import CudaToolkit, Cudnn, Gpu, OperatingSystem, SystemName, Tools
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.core.versions import Version
from gpu_assistant.texts.localized import Texts

from .build import (
    GTX_1060,
    H100,
    RTX_4060,
    RTX_5090,
    catalog,
    check,
    codes,
    machine,
    nvidia,
    python,
    reason,
    validator,
)


def localized(value: Recommendation) -> Recommendation:
    """Valid by its schema and said in both languages."""
    for language in ("en", "zh_CN"):
        spoken = Texts(language).localize_recommendation(value)
        validator().validate(json.loads(encode(spoken)))
        assert all(entry.text for entry in (*spoken.reasons, *spoken.warnings, *spoken.alternatives))
    assert {reason.about for reason in value.reasons} >= {
        "accelerator",
        "python",
        "driver.action",
        "cuda_toolkit",
        "cudnn",
    }
    return value


def toolkit(version: str, nvcc: bool | None = True) -> CudaToolkit:
    return CudaToolkit(version=version, path=f"/usr/local/cuda-{version}", nvcc=nvcc)


@pytest.mark.parametrize(
    ("system", "pci_id", "driver", "build", "series", "cudnn"),
    [
        ("windows", RTX_4060, "566.03", "cu132", "13.2", "9.27.0.42"),
        ("windows", RTX_4060, "581.57", "cu130", "13.0", "9.27.0.42"),
        ("windows", GTX_1060, "566.03", "cu126", "12.6", "9.10.2.21"),
        ("linux", GTX_1060, None, "cu126", "12.6", "9.10.2.21"),
        ("windows", RTX_5090, None, "cu132", "13.2", "9.27.0.42"),
        ("linux", H100, "535.104.05", "cu132", "13.2", "9.26.0.51"),
    ],
)
def test_toolkit_and_cudnn_match_chip_and_pytorch(
    system: SystemName, pci_id: str, driver: str | None, build: str, series: str, cudnn: str
) -> None:
    box, newest = machine(system, nvidia(pci_id), driver=driver), Choice(way="newest")
    advice = check(recommend(box, catalog(), goal="cuda-dev", choice=newest))
    assert advice.pytorch is not None
    assert advice.pytorch.variant == build
    assert advice.cuda_toolkit.action == "install"
    assert str(advice.cuda_toolkit.version).startswith(f"{series}.")
    assert (advice.cudnn.action, advice.cudnn.version) == ("install", cudnn)
    shared = advice.cuda_toolkit.way == "wheels"
    assert shared == (system == "linux" and series == "13.2")
    assert ("toolkit-wheels" if shared else "toolkit-not-for-pytorch") in codes(advice.reasons)
    assert "no-toolkit" in codes(advice.alternatives)
    without = recommend(
        machine(system, nvidia(pci_id), driver=driver),
        catalog(),
        goal="cuda-dev",
        choice=Choice(cuda_toolkit="none", cudnn="none"),
    )
    assert (without.cuda_toolkit.action, without.cudnn.action) == ("none", "none")


@pytest.mark.parametrize(
    ("here", "action", "version", "warned"),
    [
        ((toolkit("13.0.1"),), "keep", "13.0.1", []),
        ((toolkit("12.6.3"), toolkit("13.0.1"), toolkit("13.2.0")), "keep", "13.0.1", []),
        ((toolkit("13.1.0"),), "keep", "13.1.0", ["toolkit-near"]),
        ((toolkit("12.6.3"),), "install", "13.0.3", []),
        ((toolkit("13.0.1", nvcc=False),), "install", "13.0.3", ["toolkit-broken"]),
        ((toolkit("13.0.1", nvcc=None),), "install", "13.0.3", []),
    ],
)
def test_complete_matching_toolkit_is_kept(
    here: tuple[CudaToolkit, ...], action: str, version: str, warned: list[str]
) -> None:
    box = machine("linux", nvidia(RTX_4060), driver="580.65.06", cuda_toolkits=here)
    advice = check(recommend(box, catalog(), goal="cuda-dev"))
    assert (advice.cuda_toolkit.action, advice.cuda_toolkit.version) == (action, version)
    assert [code for code in codes(advice.warnings) if code.startswith("toolkit")] == warned


def test_only_matching_cudnn_is_kept() -> None:
    box = machine("linux", nvidia(GTX_1060), driver="580.65.06", cudnn=(Cudnn(version="9.20.0", path="/usr"),))
    assert recommend(box, catalog(), goal="cuda-dev").cudnn.version == "9.10.2.21"
    box = machine("linux", nvidia(RTX_4060), driver="580.65.06", cudnn=(Cudnn(version="9.20.0", path="/usr"),))
    stored = recommend(box, catalog(), goal="cuda-dev").cudnn
    assert (stored.action, stored.version) == ("keep", "9.20.0")
    assert recommend(box, catalog()).cudnn.action == "none"


def test_no_gpu_installs_no_toolkit() -> None:
    advice = check(recommend(machine("linux"), catalog(), goal="cuda-dev"))
    assert (advice.cuda_toolkit.action, advice.cudnn.action) == ("none", "none")
    assert reason(advice, "cuda_toolkit").code == "toolkit-no-card"


def test_tensorflow_on_windows_uses_cpu_and_offers_wsl2() -> None:
    advice = localized(recommend(machine("windows", nvidia(RTX_4060), driver="566.03"), catalog(), goal="tensorflow"))
    assert (advice.pytorch, advice.accelerator, advice.driver.action) == (None, "cpu", "none")
    assert advice.tensorflow is not None
    assert (advice.tensorflow.version, advice.tensorflow.gpu) == (catalog().tensorflow.newest.text, False)
    assert "and-cuda" not in advice.tensorflow.requirement
    assert "tensorflow-windows" in codes(advice.warnings)
    assert codes(advice.alternatives) == ["tensorflow-wsl2", "pytorch-instead"]


def test_wsl2_with_old_driver_updates_driver_first() -> None:
    box, lowest = machine("windows", nvidia(GTX_1060), driver="516.94"), catalog().tensorflow.minimum_drivers[0].wsl
    offered = localized(recommend(box, catalog(), goal="tensorflow"))
    assert offered.driver.action == "none"
    warning = next(each for each in offered.warnings if each.code == "tensorflow-wsl2-driver")
    assert warning.data["minimum"] == lowest.text
    for goal in ("tensorflow", "all"):
        picked = localized(recommend(box, catalog(), goal=goal, choice=Choice(wsl="install")))
        assert (picked.driver.action, picked.driver.installed) == ("update", "516.94")
        assert Version(picked.driver.minimum or "0") >= lowest
        assert Version(picked.driver.recommended or "0") >= lowest
        assert "tensorflow-wsl2-driver" not in codes(picked.warnings)
    enough = machine("windows", nvidia(GTX_1060), driver=lowest.text)
    stored = recommend(enough, catalog(), goal="tensorflow", choice=Choice(wsl="install"))
    assert (stored.driver.action, codes(stored.warnings).count("tensorflow-wsl2-driver")) == ("keep", 0)


def test_windows_too_old_for_wsl2_gets_no_wsl2_offer() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    old = type(box)(schema=box.schema, os=OperatingSystem(system="windows", arch="x86_64", build=17763), gpus=box.gpus)
    assert "tensorflow-wsl2" not in codes(recommend(old, catalog(), goal="tensorflow").alternatives)
    fails_there = machine("windows", nvidia(RTX_5090))
    assert "tensorflow-wsl2" not in codes(recommend(fails_there, catalog(), goal="tensorflow").alternatives)


@pytest.mark.parametrize(
    ("gpus", "driver", "gpu", "action", "constraints"),
    [
        ((nvidia(RTX_4060),), "535.104.05", True, "keep", 0),
        ((nvidia(RTX_4060),), None, True, "install", 0),
        ((nvidia(GTX_1060),), "535.104.05", True, "keep", 1),
        ((nvidia(H100),), "535.104.05", True, "update", 0),  # portable code asks for a driver of its own CUDA
        ((nvidia(RTX_5090),), "580.65.06", False, "none", 0),
        ((nvidia(name="GTX 980", compute_capability="5.2"),), "535.104.05", False, "none", 0),
        ((nvidia(name="Xavier", compute_capability="7.2"),), "535.104.05", False, "none", 0),
        ((Gpu(vendor="amd", name="RX 7900 XTX", gfx="gfx1100"),), None, False, "none", 0),
        ((), None, False, "none", 0),
    ],
)
def test_tensorflow_on_linux(
    gpus: tuple[Gpu, ...], driver: str | None, gpu: bool, action: str, constraints: int
) -> None:
    box = machine("linux", *gpus, driver=driver)
    advice = localized(recommend(box, catalog(), goal="tensorflow", choice=Choice(way="newest")))
    assert advice.tensorflow is not None
    assert (advice.tensorflow.gpu, advice.driver.action) == (gpu, action)
    assert ("[and-cuda]" in advice.tensorflow.requirement) == gpu
    assert advice.accelerator == ("cuda" if gpu else "cpu")
    assert len(advice.tensorflow.constraints) == constraints
    assert advice.python == "3.13"
    assert (advice.cuda_toolkit.action, advice.cudnn.action) == ("none", "none")
    assert ("tensorflow-try" in codes(advice.alternatives)) == (gpus == (nvidia(RTX_5090),))


def test_all_takes_a_python_that_both_support() -> None:
    box = machine("linux", nvidia(RTX_4060), driver="580.65.06", pythons=(python("3.14.0"), python("3.12.1")))
    advice = check(recommend(box, catalog(), goal="all"))
    assert advice.python == "3.12"
    assert advice.tensorflow is not None
    assert advice.tensorflow.gpu
    assert "two-frameworks" in codes(advice.warnings)
    assert "two-environments" in codes(advice.alternatives)
    assert advice.cuda_toolkit.action == advice.cudnn.action == "install"
    mac = check(recommend(machine("darwin", Gpu(vendor="apple"), arch="arm64"), catalog(), goal="all"))
    assert (mac.accelerator, mac.tensorflow is not None and mac.tensorflow.gpu) == ("mps", False)


def test_advice_loads_no_gui_and_no_network() -> None:
    code = "import sys, gpu_assistant.advise.recommend; print([m for m in ('PySide6', 'requests') if m in sys.modules])"
    root = resources_dir().parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"


def test_tensorflow_on_windows_asks_for_the_runtime_too() -> None:
    def warned(tools: Tools, goal: Goal = "tensorflow") -> list[tuple[str, object]]:
        box = machine("windows", nvidia(RTX_4060), driver="617.42", tools=tools)
        advice = localized(recommend(box, catalog(), goal=goal)).warnings
        return [(w.code, w.data.get("files", w.data["build"])) for w in advice if w.code.startswith("vc-")]

    assert warned(Tools()) == [("vc-missing", "TensorFlow 2.21.0")]
    assert warned(Tools(vc_redist="14.44")) == []  # any version that is not known to lack a file
    assert warned(Tools(vc_redist="14.0", vc_libraries=("msvcp140.dll",))) == [("vc-files", "msvcp140_1.dll")]
    # Beside PyTorch it is said once, and what PyTorch has may be too little for TensorFlow.
    assert [code for code, _ in warned(Tools(), "all")] == ["vc-missing"]
    torchs = ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll", "vcruntime140_threads.dll")
    assert warned(Tools(vc_redist="14.44", vc_libraries=torchs), "all") == [("vc-files", "msvcp140_1.dll")]
    assert warned(Tools(vc_redist="14.44", vc_libraries=(*torchs, "msvcp140_1.dll")), "all") == []
    inside = machine("linux", nvidia(RTX_4060), driver="595.84", wsl=True, tools=Tools())
    assert not [c for c in codes(recommend(inside, catalog(), goal="tensorflow").warnings) if c.startswith("vc-")]
