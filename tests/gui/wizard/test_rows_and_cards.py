"""What the window says of a computer and its parts: nothing that was not looked at, and no dash for what is known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.core.machine import Gpu, Machine, Python, TorchBuild
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.recommendation import DriverAdvice, PyTorchChoice, Recommendation, TensorFlowChoice
from gpu_assistant.gui.wizard.cards import Part, parts
from gpu_assistant.gui.wizard.price_card import PriceCard
from gpu_assistant.gui.wizard.rows import Row, rows
from gpu_assistant.texts import Texts
from tests.fakes.app import make_plan, rtx4060, rtx4060_recommendation

ADVICE = rtx4060_recommendation()
pytestmark = pytest.mark.gui
LANGUAGES: tuple[Any, ...] = ("en", "zh_CN")
OTHERS = (
    Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX"),
    Gpu(vendor="intel", name="Intel Arc B580"),
    Gpu(vendor="apple", name="Apple M3"),
)


def with_cards(*cards: Gpu) -> Machine:
    return replace(rtx4060(), gpus=cards, driver=None)


def elsewhere() -> Recommendation:
    return replace(
        ADVICE,
        accelerator="cpu",
        driver=DriverAdvice(action="none"),
        pytorch=PyTorchChoice(version="2.15.0", variant="cpu"),
    )


def row(machine: Machine, name: str) -> Row:
    return next(row for row in rows(machine, None, None) if row.id == name)


def part(machine: Machine, advice: Recommendation, name: str, plan: Plan | None = None) -> Part:
    found = parts(machine, advice, Texts("en"), settled=False, plan=plan)
    return next(part for part in found if part.id == name)


@pytest.mark.parametrize("card", OTHERS, ids=lambda card: card.vendor)
def test_nothing_is_claimed_of_another_makers_driver(language, card) -> None:
    machine = with_cards(card)
    said = row(machine, "driver")
    assert said.value == "Not looked at"
    assert "missing" not in f"{said}"
    driver = part(machine, elsewhere(), "driver")
    assert (driver.now_line, driver.pill[1]) == ("not looked at", "Stays as it is")


def test_without_any_card_no_driver_is_needed(language) -> None:
    assert row(with_cards(), "driver").value == "No NVIDIA card, so none is needed"
    assert part(with_cards(), elsewhere(), "driver").now_line == "no NVIDIA card"


def test_every_card_is_named(language) -> None:
    h100 = Gpu(vendor="nvidia", name="NVIDIA H100")
    machine = with_cards(OTHERS[0], *[replace(h100, index=index) for index in range(4)])
    said = row(machine, "card")
    assert said.value == "NVIDIA H100"
    assert "3 × NVIDIA H100" in said.detail
    assert "AMD Radeon RX 7900 XTX" in said.detail


def test_every_kind_of_python_is_named(language) -> None:
    pythons = (
        Python(path="/a", version="3.12.3", kind="system"),
        Python(path="/b", version="3.11.9", kind="conda", torch=TorchBuild(version="2.4.1")),
        Python(path="/c", version="3.10.1"),
    )
    said = row(replace(rtx4060(), pythons=pythons), "python")
    assert said.value == "PyTorch 2.4.1 on Python 3.11.9"
    assert "also Python 3.12.3, Python 3.10.1" in said.detail
    many = tuple(Python(path=f"/{number}", version=f"3.{number}.0") for number in range(8, 15))
    assert "and 3 more" in row(replace(rtx4060(), pythons=many), "python").detail


def test_cudnn_is_inside_though_its_version_is_not_known(language) -> None:
    torch = ADVICE.pytorch
    assert torch is not None
    unknown = replace(ADVICE, pytorch=replace(torch, cudnn=None))
    cudnn = part(rtx4060(), unknown, "cudnn")
    assert (cudnn.after, cudnn.pill[1]) == ("inside PyTorch", "Included")
    flow = TensorFlowChoice(version="2.21.0", requirement="tensorflow[and-cuda]==2.21.*", gpu=True)
    alone = replace(ADVICE, goal="tensorflow", pytorch=None, tensorflow=flow)
    assert all(part(rtx4060(), alone, name).after == "comes inside TensorFlow" for name in ("cuda", "cudnn"))


def test_the_driver_is_left_to_the_user_only_where_the_plan_has_no_step(language) -> None:
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    without = replace(plan, steps=tuple(step for step in plan.steps if step.kind != "nvidia-driver"))
    step = Step(id="driver", kind="nvidia-driver", code="nvidia-driver", needs_admin=True)
    within = replace(without, steps=(*without.steps, step))
    packaged = replace(step, spec={"version": "1", "packages": ["nvidia-driver"]})
    from_packages = replace(without, steps=(*without.steps, packaged))
    assert "your distribution" in part(rtx4060(), ADVICE, "driver", from_packages).after_line
    assert "you install it" in part(rtx4060(), ADVICE, "driver", without).after_line
    assert "you install it" not in part(rtx4060(), ADVICE, "driver", within).after_line


@pytest.mark.parametrize("language_code", LANGUAGES)
@pytest.mark.parametrize(
    ("toolkit", "about", "said"),
    [
        (None, None, "shows with the first step"),
        (2_000_000_000, None, "2.0 GB besides"),
        (None, 3_000_000_000, "About"),
    ],
)
def test_an_unknown_price_is_words(
    qapp, language, language_code, toolkit: int | None, about: int | None, said: str
) -> None:
    language.set(language_code)
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    code = "download" if about is None else "download-about"
    download = Step(id="download", kind="download", code=code, data={} if about is None else {"bytes": about})
    other = Step(id="cuda-toolkit", kind="cuda-toolkit", code="cuda-toolkit", bytes=toolkit or 0)
    card = PriceCard()
    plan = replace(plan, steps=(download, other), bytes=None, disk_bytes=None, minutes=None)
    card.set_price(plan, rtx4060(), Texts(language_code))
    assert "—" not in card.accessibleName()
    if language_code == "en":
        assert said in card.accessibleName()
    card.deleteLater()
