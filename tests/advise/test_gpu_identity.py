"""Who a card is: by its id, by the ids around it, by its name; and what is said where these disagree or say nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, catalog, check, codes, machine, nvidia, reason

GOALS: tuple[Goal, ...] = ("pytorch", "tensorflow", "cuda-dev", "all")


def data(advice: Recommendation, code: str) -> dict[str, Any]:
    entries = (*advice.reasons, *advice.warnings, *advice.alternatives)
    return next(entry.data for entry in entries if entry.code == code)


@pytest.mark.parametrize(("system", "minimum"), [("windows", "580"), ("linux", "580.65.06")])
@pytest.mark.parametrize("pci_id", ["10de:2c80", "10de:2f50"])
def test_id_range_gives_the_capability(system: Any, minimum: str, pci_id: str) -> None:
    new = nvidia(pci_id, name="NVIDIA GeForce RTX 5080 SUPER")
    advice = check(recommend(machine(system, new), catalog()))
    assert data(advice, "cuda-card")["capability"] == "12.0"
    assert advice.driver.minimum == minimum
    old = recommend(machine(system, new), catalog(), choice=Choice(pytorch="2.8.0", variant="cu128"))
    assert old.driver.minimum == ("570.65" if system == "windows" else "570.26")


@pytest.mark.parametrize("fields", [{"pci_id": "10de:1180"}, {"pci_id": "10de:1080"}, {"name": "GeForce GTX 780"}])
@pytest.mark.parametrize("driver", [None, "391.35"])
def test_unreachable_driver_is_not_requested(fields: dict[str, str], driver: str | None) -> None:
    advice = check(recommend(machine("windows", nvidia(**fields), driver=driver), catalog()))
    assert (advice.accelerator, advice.driver.action) == ("cpu", "none")
    assert "gpu-too-old" in codes(advice.warnings)


@pytest.mark.parametrize("channel", ["studio", "game-ready"])
def test_keplers_last_driver_is_named_in_either_channel(channel: Any) -> None:
    box = machine("windows", nvidia("10de:1004"))
    advice = recommend(box, catalog(), goal="cuda-dev", channel=channel)
    assert (advice.driver.recommended, advice.driver.channel) == ("475.14", None)
    assert advice.cuda_toolkit.version == "11.8.0"


def test_tesla_k80_same_advice_without_driver() -> None:
    k80 = nvidia("10de:102d", name="Tesla K80")
    there, bare = (recommend(machine("linux", k80, driver=driver), catalog()) for driver in ("470.256.02", None))
    assert check(there).pytorch == check(bare).pytorch
    assert (bare.driver.action, bare.driver.recommended) == ("install", "470.256.02")


@pytest.mark.parametrize(("driver", "code"), [("470.82.01", "all-cards-keep"), (None, "all-cards-driver")])
def test_build_for_old_and_new_gpu_is_offered(driver: str | None, code: str) -> None:
    box = machine("linux", nvidia("10de:102d"), nvidia("10de:1db4"), driver=driver)
    advice = check(recommend(box, catalog(), choice=Choice(way="newest")))
    assert advice.pytorch is not None
    assert advice.pytorch.variant == "cu126"
    other = next(other for other in advice.alternatives if other.code == code)
    assert (other.change["pytorch"], other.change["variant"]) == ("2.3.1", "cu118")
    taken = check(recommend(box, catalog(), choice=Choice(**other.change)))  # type: ignore[arg-type]
    assert taken.driver.recommended == (driver or "470.256.02")
    assert "driver-drops-other" in codes(advice.warnings)
    assert not [warning for warning in codes(taken.warnings) if warning.startswith(("driver-drops", "other-gpu"))]


@pytest.mark.parametrize(
    ("others", "whom"),
    [([], "card"), ([GTX_1060], "all"), ([GTX_1060, "10de:102d"], "these"), ([GTX_1060, "10de:3fff"], "these")],
)
def test_newest_driver_names_the_gpus_it_supports(others: list[str], whom: str) -> None:
    box = machine("linux", nvidia(RTX_4060), *(nvidia(other) for other in others))
    code = "driver-install" if others else "driver-install-production"
    assert data(check(recommend(box, catalog())), code)["whom"] == f"@driver.for-{whom}"


def test_ended_branch_does_not_limit_the_strongest_gpu() -> None:
    box = machine("linux", nvidia("10de:102d"), nvidia(compute_capability="8.6"), driver="470.256.02")
    advice = check(recommend(box, catalog()))
    alone = recommend(machine("linux", nvidia(compute_capability="8.6"), driver="470.256.02"), catalog())
    assert advice.pytorch == alone.pytorch


@pytest.mark.parametrize(
    ("pci_id", "name", "expected"),
    [
        ("10de:2f04", "Microsoft Basic Display Adapter", "NVIDIA GeForce RTX 5070"),
        ("10de:1b80", "GP104 [GeForce GTX 1080]", "GeForce GTX 1080"),
        ("10de:3fff", "GX900 [GeForce GTX 9080 / 9090]", "GeForce GTX 9080 / 9090"),
        ("10de:1b80", "NVIDIA GeForce GTX 1080", "NVIDIA GeForce GTX 1080"),
        ("10de:3fff", "Odd []", "Odd []"),
    ],
)
def test_gpu_is_named_by_product_name(pci_id: str, name: str, expected: str) -> None:
    advice = recommend(machine("windows", nvidia(pci_id, name=name)), catalog())
    assert reason(advice, "accelerator").data["gpu"] == expected


@pytest.mark.parametrize("goal", GOALS)
def test_capability_and_id_mismatch_warns(goal: Goal) -> None:
    card = nvidia("10de:1b80", name="NVIDIA GeForce GTX 1080")
    lie = replace(card, compute_capability="12.0")
    advice = recommend(machine("windows", lie, driver="580.88"), catalog(), goal=goal)
    text = {"gpu": "NVIDIA GeForce GTX 1080", "capability": "12.0", "listed": "6.1"}
    assert data(advice, "gpu-capability-and-id") == text
    honest = machine("windows", replace(card, compute_capability="6.1"), driver="580.88")
    assert "gpu-capability-and-id" not in codes(recommend(honest, catalog(), goal=goal).warnings)


@pytest.mark.parametrize("goal", GOALS)
def test_name_and_id_mismatch_warns(goal: Goal) -> None:
    card = nvidia(GTX_1060, name="NVIDIA GeForce RTX 4090")
    advice = recommend(machine("windows", card, driver="566.36"), catalog(), goal=goal)
    text = data(advice, "gpu-name-and-id")
    assert text == {"gpu": "NVIDIA GeForce RTX 4090", "named": "GeForce GTX 1060 6GB", "capability": "6.1"}
    honest = recommend(machine("windows", replace(card, name="NVIDIA GeForce GTX 1060 6GB")), catalog(), goal=goal)
    assert "gpu-name-and-id" not in codes(honest.warnings)


@pytest.mark.parametrize("goal", GOALS)
def test_driver_without_gpu_warns(goal: Goal) -> None:
    advice = recommend(machine("windows", driver="566.36"), catalog(), goal=goal)
    assert data(advice, "driver-without-card") == {"installed": "566.36"}
    assert "cpu-no-gpu" not in codes(advice.reasons)
    assert "driver-without-card" not in codes(recommend(machine("windows"), catalog(), goal=goal).warnings)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("fields", [{}, {"pci_id": "10de:3fff"}, {"compute_capability": "6.1"}])
def test_a_card_without_a_name_is_called_this_card(goal: Goal, fields: dict[str, str]) -> None:
    advice = recommend(machine("linux", nvidia(**fields)), catalog(), goal=goal)
    for language, name in (("en", "this NVIDIA card"), ("zh_CN", "这张 NVIDIA 显卡")):
        localized = Texts(language).localize_recommendation(advice)  # type: ignore[arg-type]
        texts = [text for entry in (*localized.reasons, *localized.warnings) if (text := entry.text)]
        assert any(name in text for text in texts)
        assert not [text for text in texts if "10de:" in text or "@" in text]
        assert not [text for text in texts if text.startswith("this") or re.search(r"[\u4e00-\u9fff] 这张", text)]


def test_nameless_amd_gpu_is_named_by_id() -> None:
    advice = recommend(machine("linux", Gpu(vendor="amd", pci_id="1002:7550")), catalog())
    assert str(reason(advice, "accelerator").data["gpu"]).startswith("Radeon RX 9070")


def test_amd_gpu_next_to_intel_is_idle() -> None:
    arc = Gpu(vendor="intel", name="Intel(R) Arc(TM) B580 Graphics", pci_id="8086:e20b")
    box = machine("windows", arc, Gpu(vendor="amd", name="AMD Radeon RX 580", pci_id="1002:67df"))
    box = replace(box, os=replace(box.os, name="Windows 11 Pro", build=26100))
    assert data(recommend(box, catalog()), "idle-graphics-xpu") == {"gpu": "AMD Radeon RX 580"}


@pytest.mark.parametrize("pci_id", ["10de:25b8", "10de:1fb9", "10de:1cba"])
def test_mobile_workstation_gets_workstation_driver(pci_id: str) -> None:
    advice = check(recommend(machine("windows", nvidia(pci_id, laptop=True)), catalog()))
    assert advice.driver.url is not None
    assert "/Quadro_Certified/" in advice.driver.url
    assert advice.driver.channel is None


@pytest.mark.parametrize("system", ["windows", "linux"])
def test_mining_gpu_is_not_called_built_for_compute(system: Any) -> None:
    advice = check(recommend(machine(system, nvidia("10de:2189")), catalog()))
    assert reason(advice, "accelerator").code == "cuda-card"


@pytest.mark.parametrize(("driver", "code"), [(None, "driver-install-unknown"), ("391.35", "driver-update-unknown")])
def test_unknown_chip_claims_no_driver(driver: str | None, code: str) -> None:
    advice = check(recommend(machine("windows", nvidia("10de:3fff"), driver=driver), catalog()))
    assert reason(advice, "driver.action").code == code
    flow = recommend(machine("windows", nvidia("10de:3fff"), driver=driver), catalog(), goal="tensorflow")
    assert "pytorch-instead-unknown" in codes(flow.alternatives)


def test_new_driver_with_unknown_chip_counts_newer_gpus() -> None:
    advice = check(recommend(machine("linux", nvidia("10de:3fff"), driver="595.84"), catalog()))
    assert reason(advice, "pytorch.variant").code == "variant-widest-newer"


@pytest.mark.parametrize("driver", ["535.230.02", "528.33"])
def test_same_build_is_offered_once(driver: str) -> None:
    system: Any = "windows" if driver == "528.33" else "linux"
    advice = check(recommend(machine(system, nvidia(RTX_4060), driver=driver), catalog()))
    offered = [(other.change.get("pytorch"), other.change.get("variant")) for other in advice.alternatives]
    assert len(offered) == len(set(offered))
