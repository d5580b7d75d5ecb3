"""What the user picks by hand, and what a local source of wheels offers."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, catalog, check, codes, machine, nvidia, python, reason, wheel

HERE = machine("linux", pythons=(python("3.11.2"),), glibc="2.36")


@pytest.mark.parametrize(
    ("choice", "why", "newest"),
    [
        (Choice(pytorch="2.15.0"), "no-code", "2.14.1+cu126"),
        (Choice(pytorch="2.14.1", variant="cu130"), "no-code", "2.14.1+cu126"),
        (Choice(pytorch="2.7.1", variant="cu128"), None, None),
        (Choice(pytorch="9.9"), "no-release", "2.14.1+cu126"),
        (Choice(variant="rocm7.2"), "no-build-at-all", "2.14.1+cu126"),
        (Choice(pytorch="2.15.0", variant="rocm7.2"), "no-build", "2.14.1+cu126"),
        (Choice(python="2.7"), "python-unmade", "2.14.1+cu126, Python 3.13"),
        (Choice(variant="xpu"), "other-gpu", "2.14.1+cu126"),
        (Choice(pytorch="2.15.0", python="3.10"), "python", "2.14.1+cu126, Python 3.13"),
        (Choice(python="3.9"), "no-python", "2.14.1+cu126, Python 3.13"),
        (Choice(pytorch="2.15.0", variant="cpu"), None, None),
        (Choice(python="3.12"), None, None),
    ],
)
def test_choices_for_a_gtx_1060_on_windows(choice: Choice, why: str | None, newest: str | None) -> None:
    box = machine("windows", nvidia(GTX_1060, name="NVIDIA GeForce GTX 1060 6GB"), driver="566.03")
    if why is None:
        advice = check(recommend(box, catalog(), choice=choice))
        assert advice.pytorch is not None
        assert choice.pytorch in (None, advice.pytorch.version)
        assert choice.variant in (None, advice.pytorch.variant)
        assert choice.python in (None, advice.python)
        return
    with pytest.raises(UsageError) as caught:
        recommend(box, catalog(), choice=choice)
    error = caught.value
    assert (error.code, error.data["why"], error.data["newest"]) == ("choice-impossible", f"@choice.{why}", newest)
    assert error.exit_code == 2
    for language in ("en", "zh_CN"):
        assert str(newest) in Texts(language).error_text(error)


def test_a_cuda_build_without_a_card_computes_on_the_cpu_on_linux() -> None:
    advice = recommend(HERE, catalog(), choice=Choice(variant="cu130"))
    assert advice.pytorch is not None
    assert (advice.pytorch.variant, advice.accelerator) == ("cu130", "cpu")
    assert "variant-on-cpu" in codes(advice.reasons)
    # A release alone is that of the small build.
    alone = recommend(HERE, catalog(), choice=Choice(pytorch="2.14.1")).pytorch
    assert alone is not None
    assert alone.variant == "cpu"


def test_a_cuda_build_without_a_card_is_refused_on_windows() -> None:
    with pytest.raises(UsageError) as caught:
        recommend(machine("windows"), catalog(), choice=Choice(variant="cu130"))
    assert caught.value.data["why"] == "@choice.other-gpu"
    assert caught.value.data["newest"] == "2.15.0+cpu"


def test_chosen_rocm_build_gives_a_warning() -> None:
    box = machine("linux", Gpu(vendor="amd", name="Radeon"), driver=None)
    advice = check(recommend(box, catalog(), choice=Choice(variant="rocm7.2")))
    assert advice.accelerator == "rocm"
    assert "not-proven" in codes(advice.warnings)


def test_empty_choice_equals_no_choice() -> None:
    assert recommend(HERE, catalog(), choice=Choice()) == recommend(HERE, catalog())


@pytest.mark.parametrize("choice", [Choice(pytorch="newest"), Choice(python="@3"), Choice(pytorch="")])
def test_unreadable_version_is_refused(choice: Choice) -> None:
    with pytest.raises(UsageError) as caught:
        recommend(HERE, catalog(), choice=choice)
    assert caught.value.code == "choice-unreadable"


def test_wheelhouse_build_is_only_an_alternative() -> None:
    advice = check(recommend(HERE, catalog(), wheels=(wheel("2.13.0"),)))
    assert advice.pytorch == recommend(HERE, catalog()).pytorch
    (offer,) = advice.alternatives
    assert offer.code == "wheelhouse-torch"
    assert offer.change == {"pytorch": "2.13.0", "variant": "cpu", "python": "3.11"}


def test_wheelhouse_alternative_can_be_chosen() -> None:
    wheels = (wheel("2.13.0"),)
    change = recommend(HERE, catalog(), wheels=wheels).alternatives[0].change
    advice = check(recommend(HERE, catalog(), wheels=wheels, choice=Choice(**change)))  # type: ignore[arg-type]
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.pytorch.variant, advice.python) == ("2.13.0", "cpu", "3.11")
    assert advice.pytorch.torchvision is None
    assert reason(advice, "pytorch.torchvision").data["vision"] == "0.28.0"
    both = (*wheels, wheel("0.28.0", project="torchvision"))
    with_vision = recommend(HERE, catalog(), wheels=both, choice=Choice(**change))  # type: ignore[arg-type]
    assert with_vision.pytorch is not None
    assert with_vision.pytorch.torchvision == "0.28.0"
    assert "vision-not-in-folder" not in codes(with_vision.reasons)
    other = (*wheels, wheel("0.27.0", project="torchvision"))
    without = recommend(HERE, catalog(), wheels=other, choice=Choice(**change))  # type: ignore[arg-type]
    assert without.pytorch is not None
    assert without.pytorch.torchvision is None


def test_wheelhouse_with_the_recommended_build_changes_nothing() -> None:
    assert recommend(HERE, catalog(), wheels=(wheel("2.15.0"),)) == recommend(HERE, catalog())


def test_newest_fitting_wheel_is_offered() -> None:
    wheels = (wheel("2.9.1"), wheel("2.13.0"), wheel("2.14.0", tag="cp39"), wheel("2.13.0rc1"))
    assert recommend(HERE, catalog(), wheels=wheels).alternatives[0].change["pytorch"] == "2.13.0"


@pytest.mark.parametrize(
    "unfit",
    [
        wheel("2.13.0", platform="win_amd64"),
        wheel("2.13.0", platform="manylinux_2_28_aarch64"),
        wheel("2.13.0", platform="manylinux_2_39_x86_64"),
        wheel("2.13.0", "cu130"),
        wheel("2.13.0", tag="3.6"),
        wheel("2.13.0", project="numpy"),
        wheel("2.13.0", None),
    ],
    ids=["windows", "arm", "glibc", "cuda", "python", "project", "general-index-cuda"],
)
def test_incompatible_wheels_are_not_offered(unfit: object) -> None:
    assert recommend(HERE, catalog(), wheels=(unfit,)).alternatives == ()  # type: ignore[arg-type]


def test_uncatalogued_wheelhouse_release_can_be_chosen() -> None:
    wheels = (wheel("2.99.0"),)
    choice = Choice(pytorch="2.99.0", variant="cpu", python="3.11")
    advice = check(recommend(HERE, catalog(), wheels=wheels, choice=choice))
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.pytorch.index_url) == ("2.99.0", None)
    assert reason(advice, "pytorch.torchvision").code == "vision-unknown"
    with pytest.raises(UsageError, match="choice-impossible"):
        recommend(HERE, catalog(), choice=choice)


def test_cuda_wheel_for_a_card() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    wheels = (wheel("2.14.1", "cu126", platform="win_amd64"), wheel("2.14.1", "cpu", platform="win_amd64"))
    offer = recommend(box, catalog(), wheels=wheels).alternatives[0]
    assert offer.code == "wheelhouse-torch"
    assert offer.change == {"pytorch": "2.14.1", "variant": "cu126", "python": "3.11"}
    old = machine("windows", nvidia(GTX_1060), driver="566.03")
    newer = (wheel("2.14.1", "cu130", platform="win_amd64"),)
    assert "wheelhouse-torch" not in codes(recommend(old, catalog(), wheels=newer).alternatives)


def test_every_alternative_is_a_choice_that_works() -> None:
    for driver in (None, "535.104.05", "566.03", "581.57", "617.42"):
        for pci_id in (RTX_4060, GTX_1060, "10de:2b85", "10de:2330", "10de:ffff"):
            box = machine("windows", nvidia(pci_id), driver=driver)
            for offer in recommend(box, catalog()).alternatives:
                advice = check(recommend(box, catalog(), choice=Choice(**offer.change)))  # type: ignore[arg-type]
                assert advice.pytorch is not None
                assert (advice.pytorch.version, advice.pytorch.variant) == (
                    offer.change["pytorch"],
                    offer.change["variant"],
                )
                if offer.code == "keep-driver":
                    assert advice.driver.action == "keep"


def test_rocm_for_a_chip_without_code_is_refused() -> None:
    box = machine("linux", Gpu(vendor="amd", name="Radeon RX 580", gfx="gfx803"), driver=None)
    with pytest.raises(UsageError) as caught:
        recommend(box, catalog(), choice=Choice(variant="rocm7.2"))
    assert caught.value.data["why"] == "@choice.no-code"
    there = machine("linux", Gpu(vendor="amd", name="Radeon RX 7900 XTX", gfx="gfx1100"), driver=None)
    assert recommend(there, catalog(), choice=Choice(variant="ROCm7.2")).accelerator == "rocm"


def test_xpu_on_unlisted_graphics_warns() -> None:
    old = machine("linux", Gpu(vendor="intel", name="Intel UHD Graphics 630", pci_id="8086:3e92"))
    warned = codes(check(recommend(old, catalog(), choice=Choice(variant="xpu"))).warnings)
    assert ("xpu-unlisted" in warned, "not-proven" in warned) == (True, False)
    arc = machine("linux", Gpu(vendor="intel", name="Arc A770", pci_id="8086:56a0"))
    warned = codes(check(recommend(arc, catalog(), choice=Choice(variant="xpu"))).warnings)
    assert ("xpu-unlisted" in warned, "not-proven" in warned) == (False, True)


def test_series_resolves_to_newest_release() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    advice = recommend(box, catalog(), choice=Choice(pytorch="2.14"))
    assert advice.pytorch is not None
    assert advice.pytorch.version == "2.14.1"
    capital = recommend(box, catalog(), choice=Choice(variant="CU126"))
    assert capital.pytorch == recommend(box, catalog(), choice=Choice(variant="cu126")).pytorch


@pytest.mark.parametrize("goal", ["tensorflow", "all"])
def test_python_unsupported_by_tensorflow_is_named(goal: Goal) -> None:
    with pytest.raises(UsageError) as caught:
        recommend(HERE, catalog(), goal=goal, choice=Choice(python="3.14"))
    text = Texts("en").error_text(caught.value)
    assert text.startswith("Python 3.14 does not work")
    assert "The newest that works is Python 3." in text


def test_error_names_no_alternative_when_none_works() -> None:
    with pytest.raises(UsageError) as caught:
        recommend(HERE, catalog(), choice=Choice(cudnn="9.10.2"))
    for language in ("en", "zh_CN"):
        assert "—" not in Texts(language).error_text(caught.value)
