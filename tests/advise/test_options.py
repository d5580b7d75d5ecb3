"""What can be picked by hand: never another opinion than the recommendation's own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.options import PARTS, Option, Options, list_options, selected_value
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Gpu, Machine
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, RTX_5090, catalog, machine, nvidia, python, wheel

RECORDED = sorted((Path(__file__).resolve().parents[1] / "machines").glob("*.json"))[:8]
CHOICES = (None, Choice(pytorch="2.13.0"), Choice(python="3.12"), Choice(variant="cpu"), Choice(pytorch="2.15.0"))
GOALS: tuple[Goal, ...] = ("pytorch", "tensorflow", "cuda-dev", "all")


def machines() -> Iterator[Machine]:
    for path in RECORDED:
        yield json.read_file(path, Machine, code="machine-file")
    for system, card, driver in product(("windows", "linux"), (RTX_4060, RTX_5090, GTX_1060), (None, "566.03")):
        yield machine(system, nvidia(card), driver=driver, pythons=(python("3.11.2"),))  # type: ignore[arg-type]
    yield machine("linux", Gpu(vendor="amd", name="Radeon"))
    yield machine("darwin", Gpu(vendor="apple"), arch="arm64")
    yield machine("linux", arch="arm64")


@cache
def options_for(box: Machine, goal: Goal, choice: Choice | None) -> Options | None:
    """The options, or None where this machine and goal have no recommendation at all."""
    try:
        recommend(box, catalog(), goal=goal)
    except AppError:
        return None
    return list_options(box, catalog(), goal=goal, choice=choice)


def with_value(choice: Choice | None, name: str, option: Option) -> Choice:
    return replace(choice or Choice(), **{name: option.value})


@pytest.mark.parametrize(
    ("goal", "choice"), [*((goal, None) for goal in GOALS), *(("pytorch", choice) for choice in CHOICES[1:])], ids=str
)
def test_options_agree_with_recommend(goal: Goal, choice: Choice | None) -> None:
    """Anything fine or warned of is carried out exactly; anything refused is refused for the same reason."""
    tried = 0
    for box in machines():
        options = options_for(box, goal, choice)
        for part in options.parts if options is not None else ():
            for option in part.options:
                tried += 1
                wish = with_value(choice, part.name, option)
                if option.state == "refused":
                    with pytest.raises(UsageError) as caught:
                        recommend(box, catalog(), goal=goal, choice=wish)
                    assert (caught.value.code, caught.value.data["why"]) == ("choice-impossible", f"@{option.code}")
                else:
                    taken = recommend(box, catalog(), goal=goal, choice=wish)
                    assert selected_value(taken, part.name) == option.value, (box, wish)
    assert tried or goal != "pytorch"


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_option_code_has_a_text(choice: Choice | None) -> None:
    spoken = [Texts(language) for language in ("en", "zh_CN")]
    for box in machines():
        options = options_for(box, "pytorch", choice)
        for part in options.parts if options is not None else ():
            for option in part.options:
                assert (option.code is None) == (option.state == "fine")
                for texts in spoken:
                    assert option.code is None or texts.translate(option.code, option.data)


def of(box: Machine, name: str, choice: Choice | None = None) -> dict[str, Option]:
    options = options_for(box, "pytorch", choice)
    assert options is not None
    part = next(part for part in options.parts if part.name == name)
    return {option.value: option for option in part.options}


def test_legacy_gpu_refuses_newest_release_with_reason() -> None:
    box = machine("windows", nvidia(GTX_1060), driver="566.03")
    offered = of(box, "pytorch")
    assert (offered["2.15.0"].state, offered["2.15.0"].code) == ("refused", "choice.no-code")
    assert next(iter(offered)) == "2.14.1"
    assert list(offered)[-1] == "2.15.0"


def test_cpu_option_warns_with_gpu() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    assert (of(box, "variant")["cpu"].state, of(box, "variant")["cpu"].code) == ("warned", "option.cpu")
    alone = machine("windows")
    assert of(alone, "variant")["cpu"].state == "fine"


def test_option_needing_newer_driver_warns() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    stored = of(box, "variant", Choice(pytorch="2.14.1", variant="cu126"))
    assert stored["cu126"].state == "fine"
    older = of(box, "pytorch", Choice(variant="cu126"))
    assert older["2.14.1"].state == "fine"
    assert older["2.15.0"].state == "refused"


def test_other_vendors_builds_are_left_out() -> None:
    assert not any(tag.startswith("rocm") or tag == "xpu" for tag in of(machine("linux", nvidia(RTX_4060)), "variant"))
    assert "rocm7.2" in of(machine("linux", Gpu(vendor="amd", name="Radeon")), "variant")


def test_wheelhouse_builds_are_options() -> None:
    options = list_options(machine("linux", glibc="2.36"), catalog(), wheels=(wheel("2.99.0"),))
    part = next(part for part in options.parts if part.name == "pytorch")
    assert "2.99.0" in [option.value for option in part.options]


def test_selected_and_recommended_values() -> None:
    options = list_options(machine("linux", pythons=(python("3.11.2"),)), catalog(), choice=Choice(pytorch="2.13.0"))
    part = next(part for part in options.parts if part.name == "pytorch")
    assert (part.selected, part.recommended) == ("2.13.0", "2.15.0")
    assert set(PARTS) >= {part.name for part in options.parts}


def test_options_are_computed_within_limit() -> None:
    """50 ms on an idle computer; ten times that under whatever else runs while tests do."""
    box = machine("windows", nvidia(RTX_4060), driver="566.03")
    list_options(box, catalog())
    began = time.thread_time()
    list_options(box, catalog())
    assert time.thread_time() - began < 0.5
