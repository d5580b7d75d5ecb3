"""What the window says of a computer and its parts: nothing that was not looked at, and no dash for what is known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.core.machine import CudaToolkit, Disk, Gpu, Machine, OperatingSystem, Python, TorchBuild
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.recommendation import DriverAdvice, PyTorchChoice, Recommendation, TensorFlowChoice
from gpu_assistant.gui.wizard.cards import Part, parts
from gpu_assistant.gui.wizard.headline import headline
from gpu_assistant.gui.wizard.price_card import PriceCard
from gpu_assistant.gui.wizard.rows import Row, as_text, disk_name, rows
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


def test_equal_cards_are_counted_and_a_console_chip_is_left_to_the_details(language) -> None:
    h100 = Gpu(vendor="nvidia", name="NVIDIA H100", memory_bytes=80 * 2**30)
    console = Gpu(vendor="other", name="ASPEED Graphics Family")
    machine = with_cards(h100, replace(h100, index=1, uuid="GPU-1"), console)
    said = row(machine, "card")
    assert said.detail == "2 × 80 GB"
    assert "ASPEED" in as_text((said,))


def test_the_system_is_said_in_words_that_people_know(language) -> None:
    machine = replace(rtx4060(), os=OperatingSystem(system="linux", arch="x86_64", glibc="2.35"))
    said = row(machine, "system")
    assert said.value == "Linux"
    assert said.detail.startswith("64-bit")
    assert "glibc" not in said.detail
    assert "glibc 2.35" in as_text((said,))
    assert disk_name(Disk(path="C:\\")) == "C:"
    assert disk_name(Disk(path="/")) == "/"


def test_what_nobody_looked_for_is_not_called_missing(language) -> None:
    machine = replace(rtx4060(), cuda_toolkits=None, cudnn=None, pythons=None)
    said = [part(machine, ADVICE, name).now_line for name in ("cuda", "cudnn", "torch")]
    assert said == ["not known"] * 3
    machine = replace(rtx4060(), cuda_toolkits=(), cudnn=(), pythons=())
    said = [part(machine, ADVICE, name).now_line for name in ("cuda", "cudnn", "torch")]
    assert said == ["not installed"] * 3


def test_a_toolkit_that_is_not_whole_is_called_that(language) -> None:
    broken = CudaToolkit(path="/usr/local/cuda-11.8", version="11.8.0", nvcc=False)
    whole = CudaToolkit(path="/usr/local/cuda-12.6", version="12.6.3", nvcc=True)
    said = part(replace(rtx4060(), cuda_toolkits=(broken,)), ADVICE, "cuda")
    assert (said.now, said.now_line) == ("11.8.0", "toolkit, not whole; stays")
    said = part(replace(rtx4060(), cuda_toolkits=(broken, whole)), ADVICE, "cuda")
    assert (said.now, said.now_line) == ("12.6.3", "toolkit, stays")


def test_under_wsl_the_driver_is_windows_own(language) -> None:
    machine = replace(rtx4060(), os=OperatingSystem(system="linux", wsl=True))
    assert part(machine, ADVICE, "driver").meaning.startswith("Windows")


def test_another_makers_card_that_computes_is_what_the_page_is_about(language) -> None:
    advice = replace(elsewhere(), accelerator="xpu")
    title, line = headline(with_cards(OTHERS[1]), advice)
    assert "Arc B580" in title
    assert "your card" in line
    assert "processor" in headline(with_cards(OTHERS[1]), elsewhere())[1]


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
    driver = part(with_cards(), elsewhere(), "driver")
    assert (driver.now_line, driver.pill[1]) == ("no NVIDIA card", "Not needed")


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
    assert "your system's own" in part(rtx4060(), ADVICE, "driver", from_packages).after_line
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
