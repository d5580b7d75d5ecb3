"""NVIDIA cards: chip, driver and release decide together."""

from __future__ import annotations

import itertools

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Gpu, SystemName
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.versions import Capability, Version, version_key
from gpu_assistant.texts.localized import Texts

from .build import (
    GTX_1060,
    H100,
    QUADRO_P5000,
    RTX_4060,
    RTX_4060_LAPTOP,
    RTX_5090,
    catalog,
    check,
    codes,
    machine,
    nvidia,
    reason,
)

DRIVERS = (None, "470.82", "528.49", "535.104.05", "566.03", "580.65.06", "582.78", "595.84", "617.42")


@pytest.mark.parametrize(
    ("system", "pci_id", "driver", "build", "action", "recommended"),
    [
        ("windows", RTX_4060, None, "2.15.0+cu132", "install", "617.42"),
        ("windows", RTX_4060, "566.03", "2.15.0+cu132", "update", "617.42"),
        ("windows", RTX_4060, "581.57", "2.15.0+cu130", "keep", "617.42"),
        ("windows", RTX_4060, "617.42", "2.15.0+cu132", "keep", "617.42"),
        ("linux", RTX_4060, "580.65.06", "2.15.0+cu130", "keep", "595.91.07"),
        ("windows", GTX_1060, None, "2.14.1+cu126", "install", "582.78"),
        ("windows", GTX_1060, "566.03", "2.14.1+cu126", "keep", "582.78"),
        ("windows", GTX_1060, "472.12", "2.14.1+cu126", "update", "582.78"),
        ("linux", GTX_1060, "470.82", "2.14.1+cu126", "update", "580.178.04"),
        ("windows", RTX_5090, None, "2.15.0+cu132", "install", "617.42"),
        ("linux", RTX_5090, "570.124.06", "2.15.0+cu132", "update", "595.91.07"),
        ("linux", H100, "535.104.05", "2.15.0+cu132", "update", "595.112.07"),
        ("windows", H100, "535.104", "2.15.0+cu132", "update", "596.86"),
    ],
)
def test_known_machines(
    system: SystemName, pci_id: str, driver: str | None, build: str, action: str, recommended: str | None
) -> None:
    box = machine(system, nvidia(pci_id), driver=driver)
    advice = check(recommend(box, catalog(), choice=Choice(way="newest")))
    assert advice.pytorch is not None
    assert f"{advice.pytorch.version}+{advice.pytorch.variant}" == build
    assert advice.accelerator == "cuda"
    assert (advice.driver.action, advice.driver.recommended) == (action, recommended)
    assert advice.pytorch.index_url == f"https://download.pytorch.org/whl/{advice.pytorch.variant}"
    assert (advice.cuda_toolkit.action, advice.cudnn.action) == ("none", "none")


@pytest.mark.parametrize("system", ["windows", "linux"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_legacy_gpus_get_no_cuda_13_and_no_newer_branch(system: SystemName, driver: str | None) -> None:
    for row in catalog().gpus.gpus:
        chip = row.compute_capability
        if chip is None or not Capability("5.0") <= chip < Capability("7.5"):
            continue
        advice = recommend(machine(system, nvidia(row.pci_id), driver=driver), catalog())
        assert advice.pytorch is not None
        assert advice.pytorch.variant.startswith(("cu12", "cu11"))
        if advice.driver.action != "keep" and advice.driver.recommended is not None:
            assert Version(advice.driver.recommended).major < 590
        assert version_key(advice.pytorch.cudnn) < (9, 11)


@pytest.mark.parametrize("system", ["windows", "linux"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_known_card_gets_code_it_can_run(system: SystemName, driver: str | None) -> None:
    embedded = {Capability(text) for text in ("5.3", "6.2", "7.2", "8.7", "10.1")}
    for row in catalog().gpus.gpus:
        advice = recommend(machine(system, nvidia(row.pci_id), driver=driver), catalog())
        assert advice.pytorch is not None
        chip = row.compute_capability
        if chip is None:
            continue  # reserved for chips of which NVIDIA has not told what they compute
        build = catalog().build(advice.pytorch.version, advice.pytorch.variant, system, "x86_64")
        assert build is not None
        if (chip == Capability("11.0") or chip < Capability("5.0")) and advice.accelerator == "cpu":
            continue  # Jetson's chip is in no x86 build without portable code, Kepler's and Fermi's in few.
        runs = any(code.major == chip.major and code <= chip for code in build.arch_list or ()) and chip not in embedded
        assert runs or any(code <= chip for code in build.ptx_for), (row, advice.pytorch)
        if chip.major == 12:
            assert int(advice.pytorch.variant.removeprefix("cu")) >= 128


def test_rtx_4060_can_keep_its_driver() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    advice = recommend(box, catalog())
    assert advice.driver.minimum == "580"
    assert advice.driver.channel == "studio"
    assert advice.driver.url is not None
    assert advice.driver.url.endswith("nsd-dch-whql.exe")
    again = check(recommend(box, catalog(), choice=Choice(way="works-now")))
    assert again.pytorch is not None
    assert (again.pytorch.version, again.pytorch.variant) == ("2.14.1", "cu126")
    assert again.pytorch.torchvision == "0.29.1"
    assert again.driver.action == "keep"


def test_channel_and_laptop() -> None:
    game = recommend(machine("windows", nvidia(RTX_4060)), catalog(), channel="game-ready").driver
    assert game.channel == "game-ready"
    assert game.url is not None
    assert "nsd" not in game.url
    laptop = recommend(machine("windows", nvidia(RTX_4060_LAPTOP)), catalog()).driver
    assert laptop.recommended == "617.42"
    assert laptop.url is not None
    assert laptop.url.endswith("617.42-notebook-win10-win11-64bit-international-nsd-dch-whql.exe")
    quadro = recommend(machine("windows", nvidia(QUADRO_P5000)), catalog()).driver
    assert quadro.recommended == "582.78"
    assert quadro.url is not None
    assert "/Quadro_Certified/582.78/582.78-quadro-rtx-desktop-notebook-" in quadro.url


def test_strongest_gpu_decides_and_the_weaker_is_named() -> None:
    pair = machine("windows", nvidia(GTX_1060, index=0), nvidia(RTX_5090, index=1), driver="617.42")
    advice = check(recommend(pair, catalog()))
    assert advice.pytorch is not None
    assert advice.pytorch.variant == "cu132"
    warning = next(w for w in advice.warnings if w.code.startswith("other-gpu-dark"))
    assert "1060" in str(warning.data["gpu"])
    alike = recommend(machine("windows", nvidia(RTX_4060), nvidia(RTX_5090), driver="617.42"), catalog())
    assert not [code for code in codes(alike.warnings) if code.startswith("other-gpu")]


def test_nvidia_gpu_with_amd_graphics() -> None:
    advice = recommend(machine("windows", Gpu(vendor="amd", name="Radeon 780M"), nvidia(RTX_4060_LAPTOP)), catalog())
    assert advice.accelerator == "cuda"


def test_chip_from_the_catalog_by_name() -> None:
    advice = recommend(machine("windows", nvidia(name="NVIDIA GeForce GTX 1060 6GB"), driver="566.03"), catalog())
    assert advice.pytorch is not None
    assert advice.pytorch.variant == "cu126"
    assert "gpu-unknown" not in codes(advice.warnings)


@pytest.mark.parametrize("system", ["windows", "linux"])
def test_unknown_gpu_warns_and_gets_widest_build(system: SystemName) -> None:
    advice = check(recommend(machine(system, nvidia("10de:ffff", name="Mystery")), catalog()))
    assert "gpu-unknown" in codes(advice.warnings)
    assert advice.driver.recommended is None
    assert advice.pytorch is not None
    left_out = {Capability(text) for text in ("2.0", "2.1", "3.0", "3.5", "3.7", "11.0")}
    chips = {row.compute_capability for row in catalog().gpus.gpus if row.compute_capability is not None} - left_out

    def width(arch_list: tuple[Capability, ...] | None) -> int:
        return sum(any(code.major == chip.major and code <= chip for code in arch_list or ()) for chip in chips)

    build = catalog().build(advice.pytorch.version, advice.pytorch.variant, system, "x86_64")
    assert build is not None
    widest = max(width(v.arch_list) for r in catalog().releases for v in r.variants if v.system == system)
    assert width(build.arch_list) == widest


def test_unknown_gpu_on_new_driver_counts_as_modern() -> None:
    advice = recommend(machine("windows", nvidia("10de:ffff"), driver="617.42"), catalog())
    assert advice.pytorch is not None
    assert advice.pytorch.version == catalog().releases[0].version.text
    assert advice.driver.action == "keep"


def test_unknown_gpu_keeps_a_sufficient_driver() -> None:
    advice = recommend(machine("linux", nvidia("10de:ffff"), driver="535.104.05"), catalog())
    assert advice.driver.action == "keep"


def test_unsupported_gpu_gets_cpu_build_and_reason() -> None:
    kepler = machine("windows", nvidia(name="GeForce GTX 780", compute_capability="3.5"), driver="475.14")
    advice = check(recommend(kepler, catalog()))
    assert advice.accelerator == "cpu"
    assert codes(advice.warnings) == ["gpu-too-old"]
    assert reason(advice, "accelerator").code == "cpu-card"


def test_wsl_uses_the_windows_driver() -> None:
    box = machine("linux", nvidia(RTX_4060), driver="566.03", wsl=True)
    advice = check(recommend(box, catalog(), choice=Choice(way="newest")))
    assert (advice.driver.action, advice.driver.minimum, advice.driver.recommended) == ("update", "580", "617.42")
    assert "wsl-driver" in codes(advice.warnings)
    stored = recommend(machine("linux", nvidia(RTX_4060), driver="617.42", wsl=True), catalog())
    assert "wsl-driver" not in codes(stored.warnings)


def test_unreadable_driver_version() -> None:
    advice = check(recommend(machine("linux", nvidia(RTX_4060), driver="@unknown"), catalog()))
    # Nothing says that it is too old, so nothing says to change it.
    assert (advice.driver.action, advice.driver.recommended) == ("keep", "595.91.07")
    assert reason(advice, "driver.action").code == "driver-unreadable"
    assert "driver-unreadable" in codes(advice.warnings)


@pytest.mark.parametrize("driver", ["lol", "617.42"])
def test_unreadable_capability_with_working_driver(driver: str) -> None:
    box = machine("windows", nvidia(name="Mystery", compute_capability="abc"), driver=driver)
    advice = check(recommend(box, catalog()))
    assert advice.driver.action == "keep"
    assert "gpu-unknown-to-driver" in codes(advice.warnings)
    assert "gpu-unknown" not in codes(advice.warnings)


@pytest.mark.parametrize(
    ("pci_id", "driver", "code"),
    [
        (RTX_4060, "617.42", "driver-keep"),
        (RTX_4060, "581.57", "driver-keep"),
        (RTX_4060, "999.99", "driver-keep-ahead"),
        (H100, "617.42", "driver-keep-ahead"),
        ("10de:20c2", "617.42", "driver-keep-unnamed"),  # made for mining: NVIDIA names no driver for it
    ],
)
def test_newest_known_driver_is_from_catalog(pci_id: str, driver: str, code: str) -> None:
    advice = check(recommend(machine("windows", nvidia(pci_id), driver=driver), catalog()))
    entry = reason(advice, "driver.action")
    assert entry.code == code
    assert (driver in Texts("en").localize_recommendation(advice).reasons[advice.reasons.index(entry)].text) is True
    package = next((p for p in catalog().drivers.packages if p.version.text == entry.data.get("newest")), None)
    assert (package is not None) is (code != "driver-keep-unnamed")


@pytest.mark.parametrize(
    ("chip", "release", "code"),
    [
        ("3.7", "2.6.0", "cudnn-too-new"),
        ("3.7", "2.3.1", "cudnn-kept-back"),
        ("6.1", "2.6.0", "cudnn-kept-back"),
        ("7.5", "2.6.0", "cudnn-inside"),
    ],
)
def test_bundled_cudnn_support(chip: str, release: str, code: str) -> None:
    box = machine("linux", nvidia(name="Card", compute_capability=chip), driver="470.82")
    advice = check(recommend(box, catalog(), choice=Choice(pytorch=release, variant="cu118")))
    assert reason(advice, "cudnn").code == code
    assert ("cudnn-too-new" in codes(advice.warnings)) is (code == "cudnn-too-new")


def test_only_data_center_gpus_are_called_built_for_compute() -> None:
    assert reason(recommend(machine("linux", nvidia(H100)), catalog()), "accelerator").code == "cuda"
    assert reason(recommend(machine("linux", nvidia(RTX_4060)), catalog()), "accelerator").code == "cuda-card"


@pytest.mark.parametrize("pci_id", ["@", " @@ ", ""])
def test_nameless_gpu_is_called_this_card(pci_id: str) -> None:
    advice = check(recommend(machine("windows", nvidia(pci_id)), catalog()))
    assert reason(advice, "accelerator").data["gpu"] == "@gpu.nameless.nvidia"


def test_order_of_cards_does_not_matter() -> None:
    cards = [nvidia(GTX_1060), nvidia(RTX_4060), nvidia("10de:ffff"), nvidia(H100)]
    result = {
        (r.pytorch, r.driver)
        for order in itertools.permutations(cards)
        if (r := recommend(machine("linux", *order, driver="580.65.06"), catalog()))
    }
    assert len(result) == 1
