"""How the CUDA Toolkit gets here: as packages beside PyTorch's own on Linux, from archives elsewhere, or as chosen."""

from __future__ import annotations

import pytest
from msgspec import convert

from gpu_assistant.advise.options import list_options
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import SystemName
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, catalog, check, codes, machine, nvidia


def advise(
    system: SystemName = "linux", card: str = RTX_4060, driver: str | None = None, **choice: str
) -> Recommendation:
    box = machine(system, nvidia(card), driver=driver)
    return check(recommend(box, catalog(), goal="cuda-dev", choice=convert(choice, Choice)))


def refusal(**choice: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        advise(**choice)  # type: ignore[arg-type]
    return caught.value


def test_linux_gets_update_and_cudnn_of_pytorch_as_packages() -> None:
    advice = advise(driver="595.71.05", pytorch="2.15.0", variant="cu132")
    assert (advice.cuda_toolkit.version, advice.cuda_toolkit.way) == ("13.2.2", "wheels")
    assert (advice.cudnn.version, advice.cudnn.way) == ("9.26.0.51", "wheels")
    assert "toolkit-wheels" in codes(advice.reasons)
    assert "cudnn-shared" in codes(advice.reasons)
    # PyTorch 2.14.0 requires an earlier update than the newest of 13.2.
    assert advise(driver="595.71.05", pytorch="2.14.0", variant="cu132").cuda_toolkit.version == "13.2.1"


def test_unknown_update_of_pytorch_keeps_archives() -> None:
    """What CUDA 13.0 is inside PyTorch 2.15.0 is not known."""
    assert advise(driver="595.71.05", pytorch="2.15.0", variant="cu130").cuda_toolkit.way is None
    chosen = advise(driver="595.71.05", pytorch="2.15.0", variant="cu130", toolkit_way="wheels")
    assert chosen.cuda_toolkit.way == "wheels"


def test_windows_keeps_archives_and_offers_packages_without_cudnn() -> None:
    assert (advise("windows").cuda_toolkit.way, advise("windows").cudnn.way) == (None, None)
    chosen = advise("windows", toolkit_way="wheels")
    assert (chosen.cuda_toolkit.way, chosen.cudnn.way, chosen.cudnn.action) == ("wheels", None, "install")
    assert "toolkit-wheels-alone" in codes(chosen.reasons)


def test_archives_can_be_chosen_on_linux() -> None:
    advice = advise(driver="595.71.05", toolkit_way="archives")
    assert (advice.cuda_toolkit.way, advice.cudnn.way) == (None, None)


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        ({"card": GTX_1060}, "@choice.toolkit-no-wheels"),  # CUDA 12.6
        ({"cuda_toolkit": "13.2.1"}, "@choice.toolkit-wheels-update"),
        ({"cuda_toolkit": "13.0.3"}, "@choice.toolkit-wheels-series"),
        ({"cuda_toolkit": "12.8.1"}, "@choice.toolkit-no-wheels"),
    ],
)
def test_packages_that_cannot_be_are_refused_with_reason(choice: dict[str, str], why: str) -> None:
    torch = {} if "card" in choice else {"pytorch": "2.15.0", "variant": "cu132", "driver": "595.71.05"}
    error = refusal(**torch, **choice, toolkit_way="wheels")
    assert error.data["why"] == why
    for language in ("en", "zh_CN"):
        assert "--toolkit archives" in Texts(language).error_text(error)


def test_other_toolkit_than_pytorchs_comes_from_archives() -> None:
    torch = {"pytorch": "2.15.0", "variant": "cu132", "driver": "595.71.05"}
    assert advise(**torch, cuda_toolkit="13.0.3").cuda_toolkit.way is None  # type: ignore[arg-type]
    assert advise(**torch, cuda_toolkit="13.2.1").cuda_toolkit.way is None  # type: ignore[arg-type]


def test_ways_are_offered_where_they_can_be_gone() -> None:
    def ways(card: str) -> list[str]:
        box = machine("linux", nvidia(card), driver="580.95.05")
        part = list_options(box, catalog(), goal="cuda-dev").part("toolkit_way")
        return [] if part is None else [option.value for option in part.options]

    assert ways(RTX_4060) == ["wheels", "archives", "installer"]
    assert ways(GTX_1060) == ["archives", "installer"]
