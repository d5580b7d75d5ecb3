"""What is said names the card that it holds for, and what is not known is called so."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Gpu, Machine
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, H100, RTX_4060, RTX_5090, catalog, check, codes, machine, nvidia

UNKNOWN = nvidia("10de:3aaa", name="NVIDIA Mystery")


def data(advice: Recommendation, code: str) -> dict[str, Any]:
    entries = (*advice.reasons, *advice.warnings, *advice.alternatives)
    return next(entry.data for entry in entries if entry.code == code)


def distro(box: Machine, name: str, version: str) -> Machine:
    return replace(box, os=replace(box.os, distro=name, distro_version=version))


def test_branch_without_pytorch_names_no_build() -> None:
    new = recommend(distro(machine("linux", nvidia(RTX_5090)), "debian", "13"), catalog())
    old = recommend(distro(machine("linux", nvidia(RTX_4060)), "debian", "13"), catalog())
    assert "driver-packages-behind-only" in codes(check(new).reasons)
    assert "driver-packages-behind" in codes(check(old).reasons)


def test_last_branch_names_the_limiting_gpu() -> None:
    kepler = nvidia(name="Tesla K80", compute_capability="3.7")
    box = machine("linux", kepler, nvidia(GTX_1060, name="The Pascal"), nvidia(RTX_4060))
    assert data(check(recommend(box, catalog())), "driver-last-branch")["gpu"] == "The Pascal"


@pytest.mark.parametrize(("goal", "code"), [("pytorch", "cudnn-kept-back-other"), ("cuda-dev", "cudnn-install-last")])
def test_cudnn_is_constrained_for_legacy_gpu(goal: Any, code: str) -> None:
    box = machine("linux", nvidia(GTX_1060, name="The Pascal"), nvidia(RTX_4060), driver="580.95.05")
    assert data(check(recommend(box, catalog(), goal=goal)), code)["gpu"] == "The Pascal"


def test_tensorflow_constrains_cudnn_for_legacy_gpu() -> None:
    box = machine("linux", nvidia(GTX_1060, name="The Pascal"), nvidia(RTX_4060), driver="580.95.05")
    advice = recommend(box, catalog(), goal="tensorflow")
    assert data(advice, "tensorflow-cudnn")["gpu"] == "The Pascal"
    assert advice.tensorflow is not None
    assert advice.tensorflow.constraints


def test_last_cudnn_of_cuda_is_not_attributed_to_gpu() -> None:
    box = machine("linux", nvidia(compute_capability="8.6"), driver="470.82.01", glibc="2.17")
    advice = check(recommend(box, catalog(), goal="cuda-dev"))
    assert "cudnn-install-last" not in codes(advice.reasons)
    assert "cudnn-install-last-cuda" in codes(advice.reasons)


def test_missing_installer_for_arch_is_not_blamed_on_gpu() -> None:
    advice = check(recommend(machine("windows", nvidia(H100), arch="arm64"), catalog(), goal="all"))
    assert "toolkit-no-installer" in codes(advice.reasons)
    assert "toolkit-no-installer" in codes(advice.warnings)


@pytest.mark.parametrize("system", ["windows", "linux"])
def test_unknown_chip_gets_no_cudnn(system: Any) -> None:
    advice = check(recommend(machine(system, UNKNOWN), catalog(), goal="cuda-dev"))
    assert advice.cudnn.action == "none"
    assert {"toolkit-install-unknown", "cudnn-chip-unknown"} <= set(codes(advice.reasons))


@pytest.mark.parametrize(
    ("card", "build", "why"),
    [
        (nvidia(name="Kepler", compute_capability="3.5"), None, "tensorflow-windows-chip"),
        (UNKNOWN, None, "tensorflow-windows-unknown"),
        (nvidia(RTX_4060), 14393, "tensorflow-windows-update"),
        (nvidia(RTX_4060), 22631, "tensorflow-windows"),
    ],
)
def test_wsl_is_not_offered_without_benefit(card: Any, build: int | None, why: str) -> None:
    box = machine("windows", card)
    advice = recommend(replace(box, os=replace(box.os, build=build)), catalog(), goal="tensorflow")
    assert why in codes(advice.reasons)
    assert why in codes(advice.warnings)
    assert ("tensorflow-wsl2" in codes(advice.alternatives)) == (why == "tensorflow-windows")


@pytest.mark.parametrize(
    ("cards", "code", "expected"),
    [
        ([("RTX 4050 Laptop", "8.9", 6), ("RTX 3090", "8.6", 24)], "cuda-cards-most", "RTX 3090"),
        ([("V100", "7.0", 16)] * 8, "cuda-cards", "8 × V100"),
        ([("V100", "7.0", 16), ("V100", "7.0", 16), ("T4", "7.5", 16)], "cuda-cards", "T4, 2 × V100"),
        ([("GT 710", "3.5", 2), ("RTX 5090", "12.0", 32)], "cuda-card", "RTX 5090"),
        ([("RTX 4090", "8.9", 24), ("RTX 3090", "8.6", None)], "cuda-cards", "RTX 4090, RTX 3090"),
    ],
)
def test_all_used_gpus_are_named(cards: list[tuple[str, str, int | None]], code: str, expected: str) -> None:
    gpus = [
        nvidia(name=name, compute_capability=chip, memory_bytes=memory and memory << 30) for name, chip, memory in cards
    ]
    advice = check(recommend(machine("linux", *gpus, driver="580.95.05"), catalog()))
    assert expected in (data(advice, code)["gpu" if code != "cuda-cards" else "gpus"])


@pytest.mark.parametrize(("system", "chip", "expected"), [("windows", "3.5", "cannot"), ("linux", "13.0", "can")])
def test_pytorch_support_of_gpus_unused_by_tensorflow(system: Any, chip: str, expected: str) -> None:
    box = machine(system, nvidia(name="Odd", compute_capability=chip))
    advice = recommend(box, catalog(), goal="tensorflow")
    warning = [w.data["pytorch"] for w in advice.warnings if "pytorch" in w.data]
    assert warning == [f"@tensorflow.pytorch-{expected}"]
    assert "Choose PyTorch" not in str(Texts("en").localize_recommendation(advice).warnings)


def test_toolkit_for_gpu_without_pytorch_code() -> None:
    box = machine("windows", nvidia(name="Kepler", compute_capability="3.5"), driver="472.12")
    advice = recommend(box, catalog(), goal="cuda-dev")
    assert advice.cuda_toolkit.action == "install"
    (text,) = (w for w in Texts("en").localize_recommendation(advice).warnings if w.code == "gpu-too-old")
    assert (text.text or "").startswith("PyTorch cannot use Kepler")


def test_planned_work_is_not_a_manual_task() -> None:
    box = machine("linux", nvidia(GTX_1060), driver="580.95.05")
    text = {w.code: w for w in Texts("en").localize_recommendation(recommend(box, catalog(), goal="all")).warnings}
    assert "GPU Assistant does this for you" in (text["tensorflow-cudnn"].fix or "")
    assert "one environment" in (text["two-frameworks"].text or "")
    assert "safe" not in (text["two-frameworks"].fix or "")


def test_newer_build_names_all_supported_gpus() -> None:
    cards = nvidia(GTX_1060), nvidia("10de:1f08", name="Turing"), nvidia(RTX_4060, name="Ada")
    advice = check(recommend(machine("windows", *cards, driver="566.03"), catalog()))
    assert data(advice, "strongest-only-driver")["gpu"] == "Ada, Turing"


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_offered_driver_drops_no_gpu(system: Any) -> None:
    box = machine(system, nvidia(GTX_1060), nvidia(RTX_4060), driver="566.03")
    offer = next(a for a in check(recommend(box, catalog())).alternatives if a.code == "strongest-only-driver")
    again = check(recommend(box, catalog(), choice=Choice(**offer.change)))  # type: ignore[arg-type]
    assert again.driver.recommended == offer.change["driver"] == offer.data["driver_version"]
    assert (offer.data["driver_version"] or "").startswith("58")
    assert "driver-drops-other-alone" not in codes(again.warnings)


def test_kept_driver_packages_match_its_branch() -> None:
    box = machine("linux", nvidia(compute_capability="10.0"), nvidia(compute_capability="7.0"), driver="580.95.05")
    advice = check(recommend(distro(box, "ubuntu", "24.04"), catalog()))
    assert advice.driver.action == "keep"
    assert "-580" in data(advice, "other-gpu-modules-named")["package"]


def test_unknown_secondary_gpu_is_mentioned() -> None:
    advice = check(recommend(machine("windows", UNKNOWN, nvidia(RTX_4060)), catalog()))
    assert data(advice, "other-gpu-unknown")["gpu"] == "NVIDIA Mystery"


def test_unsupported_secondary_gpu_is_mentioned() -> None:
    amd = Gpu(vendor="amd", name="Radeon RX 7900 XTX", gfx="gfx1100")
    old = nvidia(name="Fermi", compute_capability="2.0")
    advice = check(recommend(machine("linux", old, amd), catalog()))
    assert advice.accelerator == "rocm"
    assert data(advice, "gpu-too-old")["gpu"] == "Fermi"


def test_tensorflow_alone_promises_nothing_for_unknown_chip() -> None:
    advice = recommend(machine("linux", UNKNOWN), catalog(), goal="tensorflow")
    for language in ("en", "zh_CN"):
        text = Texts(language).localize_recommendation(advice)
        warning = next(w for w in text.warnings if w.code == "gpu-unknown")
        assert "PyTorch" not in (warning.text or "")
    english = Texts("en").localize_recommendation(advice)
    assert "may not work" in (next(r for r in english.reasons if r.code == "tensorflow-on-card-unknown").text or "")
