"""What is said of a choice is true of that choice: the driver that is kept, the build that was picked."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import Driver, Gpu, Machine
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, QUADRO_P5000, RTX_4060, catalog, check, machine, nvidia, reason

BOX = machine("windows", nvidia(RTX_4060, name="NVIDIA GeForce RTX 4060"), driver="566.03")
OLD = machine("windows", nvidia(GTX_1060, name="NVIDIA GeForce GTX 1060 6GB"), driver="472.12")


@pytest.mark.parametrize("box", [BOX, OLD])
def test_kept_driver_is_the_reason_for_older_pytorch(box: Machine) -> None:
    advice = check(recommend(box, catalog(), choice=Choice(driver="keep")))
    why = reason(advice, "pytorch.version")
    assert why.code == "version-newest-for-kept-driver"
    assert why.data["driver"] == advice.driver.installed
    assert why.data["newer"] != why.data["version"]


def test_choosing_a_variant_does_not_choose_the_release() -> None:
    why = reason(check(recommend(BOX, catalog(), choice=Choice(variant="cu117"))), "pytorch.version")
    assert (why.code, why.data["variant"]) == ("version-of-build-doubtful", "cu117")
    why = reason(check(recommend(BOX, catalog(), choice=Choice(pytorch="2.13.0"))), "pytorch.version")
    assert why.code == "version-by-hand"


def test_cpu_build_with_gpu_is_not_called_suitable() -> None:
    assert reason(recommend(BOX, catalog(), choice=Choice(variant="cpu")), "pytorch.variant").code == (
        "variant-cpu-by-hand"
    )
    plain = machine("windows")
    assert reason(recommend(plain, catalog(), choice=Choice(variant="cpu")), "pytorch.variant").code == "variant-cpu"


def test_cuda_newer_than_driver_is_explained() -> None:
    box = machine("windows", nvidia(QUADRO_P5000, name="Quadro P5000"))
    box = replace(box, driver=Driver(version="552.74", cuda_max="12.4"))
    advice = check(recommend(box, catalog()))
    assert (advice.driver.action, advice.pytorch is not None and advice.pytorch.cuda) == ("keep", "12.6.3")
    why = next(r for r in advice.reasons if r.about == "driver.installed")
    assert (why.code, why.data["major"], why.data["minimum"]) == ("driver-ceiling-within", 12, advice.driver.minimum)


def test_python_refusal_does_not_blame_gpu_code() -> None:
    with pytest.raises(UsageError) as caught:
        recommend(OLD, catalog(), choice=Choice(python="3.15"))
    assert (caught.value.data["why"], caught.value.data["part"]) == ("@choice.python-no-code", "python")


def test_xpu_build_is_named_as_intel() -> None:
    box = machine("linux", Gpu(vendor="intel", name="Intel Arc B580"), glibc="2.39")
    advice = check(recommend(box, catalog(), choice=Choice(variant="xpu")))
    assert "Intel" in str(reason(Texts("en").localize_recommendation(advice), "pytorch.variant").text)


def test_newest_driver_for_both_gpus_is_named_so() -> None:
    box = machine(
        "windows",
        nvidia("10de:2f04", name="NVIDIA GeForce RTX 5070"),
        nvidia(GTX_1060, name="NVIDIA GeForce GTX 1060 6GB"),
        driver="566.03",
    )
    text = Texts("en").localize_recommendation(check(recommend(box, catalog())))
    assert "the newest driver we know of for all of your cards" in str(reason(text, "driver.action").text)
    alone = Texts("en").localize_recommendation(recommend(BOX, catalog()))
    assert "the newest driver we know of for this card" in str(reason(alone, "driver.action").text)


@pytest.mark.parametrize(("language", "expected"), [("en", "with CUDA 12.6"), ("zh_CN", "的 CUDA 12.6 版")])
def test_build_label_is_readable(language: Any, expected: str) -> None:
    newest = recommend(BOX, catalog(), choice=Choice(way="newest"))
    offers = Texts(language).localize_recommendation(newest).alternatives
    sure = next(offer for offer in offers if offer.code == "sure-build")
    assert expected in str(sure.label)
    assert not any("+c" in f"{offer.label} {offer.text}" for offer in offers)
