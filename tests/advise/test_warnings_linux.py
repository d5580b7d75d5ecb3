"""What Linux asks for beside a driver, and further cards that TensorFlow leaves unused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Gpu, Machine, SystemName
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import H100, catalog, machine, nvidia
from .build import codes as codes_of

AMD = Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX", pci_id="1002:744c")
INTEL = Gpu(vendor="intel", name="Intel Arc A770", pci_id="8086:56a0")
GTX_960, RTX_3060, H100_PCIE, GTX_1070, RTX_5070_TI = (
    nvidia("10de:1401"),
    nvidia("10de:2504"),
    nvidia("10de:2331"),
    nvidia("10de:1b81"),
    nvidia("10de:2c05"),
)


def ubuntu(*gpus: Gpu, driver: str | None = None, distro: str = "ubuntu", secure_boot: bool | None = None) -> Machine:
    result = machine("linux", *gpus, driver=driver, glibc="2.39")
    system = replace(result.os, distro=distro, distro_version="24.04", secure_boot=secure_boot, name="Ubuntu 24.04")
    return replace(result, os=system)


def codes(advice: Recommendation) -> list[str]:
    return codes_of(advice.warnings)


def warning_text(advice: Recommendation, code: str, language: str = "en") -> str:
    (caution,) = [each for each in advice.warnings if each.code == code]
    texts = Texts(language)
    return " ".join(texts.translate(f"warning.{code}.{part}", caution.data) for part in ("text", "fix"))


@pytest.mark.parametrize(("gpu", "code", "groups"), [(AMD, "amd", "render,video"), (INTEL, "intel", "render")])
def test_group_warning_only_on_linux(gpu: Gpu, code: str, groups: str) -> None:
    advice = recommend(ubuntu(gpu), catalog())
    for language in ("en", "zh_CN"):
        assert f"sudo usermod -a -G {groups} $LOGNAME" in warning_text(advice, f"groups-{code}", language)
    systems: tuple[SystemName, ...] = ("windows", "linux")
    for system in systems:
        elsewhere = recommend(machine(system, gpu, wsl=system == "linux"), catalog())
        assert not [each for each in codes(elsewhere) if each.startswith("groups")]
    assert not [each for each in codes(recommend(ubuntu(RTX_3060, gpu), catalog())) if each.startswith("groups")]


def test_fabric_manager_matches_driver_version() -> None:
    cards = (nvidia(H100),) * 8
    update = recommend(ubuntu(*cards, driver="535.183.01"), catalog())
    branch = (update.driver.recommended or "").partition(".")[0]
    assert f"nvidia-driver-{branch}-server-open" in update.driver.packages
    for language in ("en", "zh_CN"):
        assert f"sudo apt-get install nvidia-fabricmanager-{branch}" in warning_text(
            update, "fabric-manager-packages", language
        )
    # Where the driver stays, is another distribution's, or not the servers', no package is named.
    for other in (
        ubuntu(*cards, driver=update.driver.recommended),
        ubuntu(*cards, distro="rocky"),
        ubuntu(*cards, secure_boot=True),
    ):
        assert "docs.nvidia.com" in warning_text(recommend(other, catalog()), "fabric-manager")


@pytest.mark.parametrize("gpus", [(nvidia(H100),), (H100_PCIE,) * 8, (RTX_3060,) * 4])
def test_no_fabric_manager_warning_without_nvswitch(gpus: tuple[Gpu, ...]) -> None:
    assert not [each for each in codes(recommend(ubuntu(*gpus), catalog())) if each.startswith("fabric")]


@pytest.mark.parametrize("goal", ["tensorflow", "all"])
def test_tensorflow_names_unsupported_secondary_gpu(goal: Goal) -> None:
    advice = recommend(ubuntu(GTX_960, RTX_3060, driver="550.120"), catalog(), goal=goal)
    assert advice.tensorflow is not None
    assert advice.tensorflow.gpu
    for language, can in (("en", "PyTorch can use this card."), ("zh_CN", "PyTorch 能用这张显卡。")):
        text = warning_text(advice, "tensorflow-other-gpu", language)
        assert "GTX 960" in text
        assert can in text
    twins = recommend(ubuntu(RTX_3060, RTX_3060, driver="550.120"), catalog(), goal=goal)
    assert "tensorflow-other-gpu" not in codes(twins)


def test_tensorflow_names_secondary_gpu_without_driver() -> None:
    advice = recommend(ubuntu(GTX_960, RTX_3060, driver="595.84"), catalog(), goal="tensorflow")
    assert "other-gpu-dark" in codes(advice)
    assert "tensorflow-other-gpu" not in codes(advice)


def test_chosen_driver_version_is_unchanged() -> None:
    both = ubuntu(GTX_960, RTX_3060, driver="550.120")
    advice = recommend(both, catalog(), choice=Choice(variant="cu132", driver="595.84"))
    assert (advice.driver.recommended, advice.driver.way) == ("595.84", "packages")
    assert advice.driver.packages[0] == "nvidia-driver-595-open"
    for language in ("en", "zh_CN"):
        assert "GTX 960" in warning_text(advice, "driver-drops-other-picked", language)
    shared = recommend(both, catalog(), choice=Choice(variant="cu132", driver="580.126.20"))
    assert (shared.driver.recommended, shared.driver.packages[0]) == ("580.126.20", "nvidia-driver-580")


def test_reason_against_newest_cuda_build() -> None:
    old_and_new = machine("windows", GTX_1070, RTX_5070_TI, driver="576.52")
    advice = recommend(old_and_new, catalog())
    assert advice.pytorch is not None
    (why,) = [each for each in advice.reasons if each.code == "variant-native"]
    assert (advice.pytorch.variant, why.data["newer"], why.data["driver"]) == (
        "cu130",
        "13.2",
        advice.driver.recommended,
    )
    alone = recommend(machine("windows", RTX_5070_TI, driver="576.52"), catalog())
    assert "variant-native" not in codes_of(alone.reasons)


def test_missing_driver_is_not_kept() -> None:
    bare, old = recommend(ubuntu(RTX_3060), catalog()), recommend(ubuntu(RTX_3060, driver="550.120"), catalog())
    assert "cpu-without-driver" in codes_of(bare.alternatives)
    # What works now with this driver computes on the card.
    assert not {"cpu-for-now", "cpu-without-driver"} & set(codes_of(old.alternatives))
    assert [way.id for way in old.ways] == ["newest", "works-now"]


def test_mac_names_apple_tensorflow_plugin() -> None:
    mac = machine("darwin", Gpu(vendor="apple", name="Apple M2"), arch="arm64")
    (why,) = [each for each in recommend(mac, catalog(), goal="tensorflow").reasons if each.about == "accelerator"]
    for language in ("en", "zh_CN"):
        assert "tensorflow-metal" in Texts(language).translate(f"reason.{why.code}", why.data)
