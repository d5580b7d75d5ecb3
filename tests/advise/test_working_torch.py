"""What works already is said to work, and what stands in the way of a pick is called by its name."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.options import Option, list_options
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import Machine, Tools, TorchBuild
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, H100, RTX_4060, RTX_4060_LAPTOP, RTX_5090, catalog, codes, machine, nvidia, python

WORKS = {"works-without-update", "works-already"}


def box(driver: str = "566.03", *, card: str = RTX_4060, reaches: bool | None = True) -> Machine:
    """A computer whose PyTorch reaches the card, or not."""
    build = TorchBuild(version="2.14.1+cu126", cuda_available=reaches)
    there = (replace(python("3.11.2"), torch=build),)
    return machine("windows", nvidia(card), driver=driver, pythons=there)


def of(advice: Machine, name: str, choice: Choice | None = None) -> dict[str, Option]:
    part = list_options(advice, catalog(), choice=choice).part(name)  # type: ignore[arg-type]
    assert part is not None
    return {option.value: option for option in part.options}


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_working_torch_makes_driver_update_optional(language: str) -> None:
    advice = Texts(language).localize_recommendation(recommend(box(), catalog()))  # type: ignore[arg-type]
    assert (advice.driver.action, advice.alternatives[0].code) == ("update", "works-without-update")
    assert advice.alternatives[0].change == {}
    why = next(reason for reason in advice.reasons if reason.about == "driver.action")
    assert why.code == "driver-not-needed"
    for text in (why.text, advice.alternatives[0].text):
        assert all(word in f"{text}" for word in ("2.14.1+cu126", "566.03", "2.15.0"))


def test_working_torch_is_named_when_driver_is_kept() -> None:
    advice = recommend(box("617.42"), catalog())
    assert (advice.driver.action, advice.alternatives[0].code) == ("keep", "works-already")
    assert "driver-not-needed" not in codes(advice.reasons)


@pytest.mark.parametrize("reaches", [False, None])
def test_unverified_torch_is_not_called_working(reaches: bool | None) -> None:
    advice = recommend(box(reaches=reaches), catalog())
    assert not WORKS & set(codes(advice.alternatives))
    assert "driver-not-needed" not in codes(advice.reasons)


@pytest.mark.parametrize(
    ("goal", "choice"),
    [("cuda-dev", None), ("all", None), ("pytorch", Choice(driver="617.42")), ("pytorch", Choice(pytorch="2.15.0"))],
)
def test_working_torch_is_ignored_for_other_goals(goal: Goal, choice: Choice | None) -> None:
    advice = recommend(box(), catalog(), goal=goal, choice=choice)
    assert not WORKS & set(codes(advice.alternatives))
    assert "driver-not-needed" not in codes(advice.reasons)


@pytest.mark.parametrize(
    ("picked", "whose"), [(Choice(cuda_toolkit="13.4.1"), "CUDA Toolkit"), (Choice(pytorch="2.15.0"), "PyTorch")]
)
def test_driver_conflicting_with_other_choice_is_refused(picked: Choice, whose: str) -> None:
    stored = of(box(), "driver", picked)["keep"]
    assert stored.state == "refused"
    text = Texts("en").translate(f"{stored.code}", stored.data)
    assert text == f"this {whose} needs a newer driver than the one you chose"


def test_refusal_names_the_conflicting_choice() -> None:
    with pytest.raises(UsageError) as caught:
        recommend(box(), catalog(), choice=Choice(cuda_toolkit="13.4.1", driver="keep"))
    assert "this CUDA Toolkit needs a newer driver" in Texts("en").error_text(caught.value)


def test_required_driver_is_the_minimum() -> None:
    picked = of(box(), "cuda_toolkit", Choice(pytorch="2.0.0"))["13.4.1"]
    assert (picked.code, picked.data) == ("option.driver", {"driver": "580"})


def test_cudnn_with_unknown_minimum_chip_is_not_too_new() -> None:
    options = of(box("566.03", card=GTX_1060), "cudnn", Choice(cuda_toolkit="12.6.3"))
    releases = catalog().cudnn.releases
    unknown = {r.version.text for r in releases if "12" not in r.lowest_capability and 12 in r.cuda_majors}
    assert unknown & options.keys()
    assert {options[version].code for version in unknown & options.keys()} == {"choice.cudnn-chip-unknown"}


def test_alternative_to_kept_part_is_called_optional() -> None:
    seen = set()
    for card, driver in ((RTX_5090, "581.57"), (RTX_4060, "581.57"), (RTX_4060, "560.94")):
        result = Texts("en").localize_recommendation(
            recommend(machine("windows", nvidia(card), driver=driver), catalog())
        )
        for offer in result.alternatives:
            if offer.code.startswith("newer-driver"):
                seen.add(offer.code)
                assert f"{offer.text}".startswith("You can stop here")
    assert seen


def test_released_toolkit_without_installer_is_listed() -> None:
    options = of(box("617.42"), "cuda_toolkit")
    assert (options["13.4.2"].state, options["13.4.2"].code) == ("refused", "choice.no-installer")
    assert not {"13.4.3", "13.4.0"} & options.keys()


@pytest.mark.parametrize("gpu", [RTX_4060, RTX_4060_LAPTOP, H100])
def test_driver_without_checksum_is_not_left_to_user(gpu: str) -> None:
    advice = recommend(machine("windows", nvidia(gpu), driver="566.03"), catalog())
    assert "driver-page-only" not in codes(advice.reasons)
    assert catalog().is_driver_installer(advice.driver.url, advice.driver.recommended)
    picked = recommend(machine("windows", nvidia(gpu), driver="566.03"), catalog(), choice=Choice(driver="600.11"))
    assert "driver-page-only" in codes(picked.reasons)


@pytest.mark.parametrize(("variant", "first"), [(None, "13.2.2"), ("cu126", "12.6.3")])
def test_toolkits_matching_pytorch_cuda_come_first(variant: str | None, first: str) -> None:
    listed = list(of(box("617.42"), "cuda_toolkit", Choice(variant=variant) if variant else None))
    assert listed[:2] == ["none", first]
    assert listed[-1] == "13.4.2"
    far = [version for version in listed[1:-1] if version[:3] != first[:3]]
    assert listed[-1 - len(far) : -1] == far


def test_toolkit_option_lists_all_warnings() -> None:
    here = replace(box("617.42"), tools=Tools(vc_redist="14.44.0.0"))
    codes_listed = {
        version: (o.code, *(each.code for each in o.further_warnings))
        for version, o in of(here, "cuda_toolkit").items()
    }
    assert codes_listed["13.2.2"] == ("warning.msvc-missing-command.text",)
    assert codes_listed["13.4.1"] == ("warning.toolkit-near.text", "warning.msvc-missing-command.text")
