"""Operating systems that are too old: what they can load is recommended, and nothing else."""

from __future__ import annotations

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Gpu, Machine
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal

from .build import RTX_4060, RTX_5090, catalog, check, codes, machine, nvidia, python, reason, wheel


def windows(*, build: int | None = None, version: str | None = None) -> Machine:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    return msgspec.structs.replace(box, os=msgspec.structs.replace(box.os, build=build, version=version))


@pytest.mark.parametrize(
    ("glibc", "label"),
    [
        ("2.17", "2.6.0+cu124"),
        ("2.27", "2.6.0+cu124"),
        ("2.28", "2.15.0+cu132"),
        ("2.39", "2.15.0+cu132"),
        (None, "2.15.0+cu132"),
    ],
)
def test_old_glibc_gets_newest_loadable_build(glibc: str | None, label: str) -> None:
    advice = check(recommend(machine("linux", nvidia(RTX_4060), driver="610.43.03", glibc=glibc), catalog()))
    assert advice.pytorch is not None
    assert f"{advice.pytorch.version}+{advice.pytorch.variant}" == label
    old = advice.pytorch.version != "2.15.0"
    assert ("glibc-too-old" in codes(advice.warnings)) is old
    assert reason(advice, "pytorch.version").code == ("version-newest-for-glibc" if old else "version-newest")
    for other in advice.alternatives:
        assert not old or other.change.get("pytorch", "2.6.0") <= "2.6.0"


def test_gpu_supported_only_with_newer_glibc_has_reason() -> None:
    advice = check(recommend(machine("linux", nvidia(RTX_5090), driver="610.43.03", glibc="2.27"), catalog()))
    assert advice.accelerator == "cpu"
    assert advice.pytorch is not None
    assert advice.pytorch.version == "2.6.0"
    assert reason(advice, "accelerator").code == "cpu-card-glibc"


@pytest.mark.parametrize(("glibc", "version"), [("2.17", "2.20"), ("2.27", "2.21.0"), (None, "2.21.0")])
def test_tensorflow_for_the_c_library(glibc: str | None, version: str) -> None:
    advice = recommend(machine("linux", glibc=glibc), catalog(), goal="tensorflow")
    assert advice.tensorflow is not None
    assert advice.tensorflow.version == version


def test_too_old_glibc_raises() -> None:
    with pytest.raises(AppError) as refused:
        recommend(machine("linux", glibc="2.12"), catalog())
    assert (refused.value.code, refused.value.data["needed"]) == ("glibc-too-old", "2.17")


@pytest.mark.parametrize("goal", ["pytorch", "tensorflow", "cuda-dev", "all"])
def test_alpine_has_no_glibc(goal: Goal) -> None:
    box = machine("linux", nvidia(RTX_4060))
    box = msgspec.structs.replace(box, os=msgspec.structs.replace(box.os, distro="alpine", name="Alpine Linux v3.20"))
    with pytest.raises(AppError) as refused:
        recommend(box, catalog(), goal=goal)
    assert refused.value.code == "no-glibc"


def test_chosen_build_is_refused_for_old_glibc() -> None:
    with pytest.raises(UsageError) as refused:
        recommend(machine("linux", glibc="2.27"), catalog(), choice=Choice(pytorch="2.14.1", variant="cpu"))
    assert refused.value.data["why"] == "@choice.glibc"
    assert refused.value.data["newest"] == "2.6.0+cpu"


def test_wheelhouse_glibc_tag_is_checked() -> None:
    box = machine("linux", glibc="2.17", pythons=(python("3.11.2"),))
    choice = Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    own = check(recommend(box, catalog(), choice=choice, wheels=(wheel("2.13.0", platform="linux_x86_64"),)))
    assert "glibc-too-old" not in codes(own.warnings)
    with pytest.raises(UsageError):
        recommend(box, catalog(), choice=choice, wheels=(wheel("2.13.0"),))


@pytest.mark.parametrize(
    ("build", "version", "lacking"),
    [
        (7601, "6.1.7601", True),
        (9600, None, True),
        (None, "6.3.9600", True),
        (None, "10.0.19045", False),
        (10240, None, False),
        (26100, "10.0.26100", False),
        (None, None, False),
        (None, "seven", False),
    ],
)
def test_windows_before_10(build: int | None, version: str | None, lacking: bool) -> None:
    box = windows(build=build, version=version)
    if not lacking:
        assert reason(check(recommend(box, catalog())), "pytorch.version").code == "version-newest"
        return
    with pytest.raises(AppError) as refused:
        recommend(box, catalog())
    assert refused.value.code == "windows-too-old"


@pytest.mark.parametrize(
    "gpu",
    [
        nvidia(name="Orin (nvgpu)", compute_capability="8.7"),
        nvidia(name="Orin (nvgpu)"),
        nvidia(name="NVIDIA Tegra Xavier"),
        nvidia(name="Xavier", compute_capability="7.2"),
        nvidia(name="NVIDIA Jetson AGX Thor", compute_capability="11.0"),
        nvidia(name="NVIDIA Thor"),
        nvidia("10de:2b00"),
        nvidia(name="Jetson Next", compute_capability="14.0"),
    ],
)
def test_jetson_raises_with_nvidia_url(gpu: Gpu) -> None:
    with pytest.raises(AppError) as refused:
        recommend(machine("linux", gpu, arch="arm64"), catalog())
    # Thor's chip is in the general builds: its driver is what they do not bring.
    thor = gpu.compute_capability == "11.0" or gpu.pci_id == "10de:2b00"
    assert refused.value.code == ("jetson-driver" if thor else "jetson")
    assert str(refused.value.data["url"]).startswith("https://docs.nvidia.com/")


def test_arm_server_is_not_a_jetson() -> None:
    advice = recommend(machine("linux", nvidia(name="NVIDIA GH200 480GB"), arch="arm64"), catalog())
    assert advice.accelerator == "cuda"


@pytest.mark.parametrize(
    ("version", "build", "accelerator"),
    [
        ("11.7.10", "2.11.0", "cpu"),
        ("13.6.1", "2.11.0", "cpu"),
        ("14.0", "2.15.0", "mps"),
        ("26.1", "2.15.0", "mps"),
        (None, "2.15.0", "mps"),
    ],
)
def test_old_macos_gets_the_last_release_for_it(version: str | None, build: str, accelerator: str) -> None:
    advice = check(recommend(apple(version), catalog()))
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.accelerator) == (build, accelerator)
    assert ("cpu-mac-old" in codes(advice.reasons)) == (accelerator == "cpu")


def test_macos_too_old_for_every_wheel() -> None:
    with pytest.raises(AppError) as refused:
        recommend(apple("10.15.7"), catalog())
    assert (refused.value.code, refused.value.data["needed"]) == ("mac-too-old", "11.0")


def test_macos_too_old_for_tensorflow() -> None:
    with pytest.raises(AppError) as refused:
        recommend(apple("11.7.10"), catalog(), goal="tensorflow")
    assert (refused.value.code, refused.value.data["needed"]) == ("no-tensorflow-mac", "12.0")
    assert recommend(apple("12.7"), catalog(), goal="tensorflow").tensorflow is not None
    assert recommend(apple("11.7.10"), catalog(), goal="all").tensorflow is None


def apple(version: str | None) -> Machine:
    box = machine("darwin", Gpu(vendor="apple", name="Apple M1"), arch="arm64")
    return msgspec.structs.replace(box, os=msgspec.structs.replace(box.os, version=version))
