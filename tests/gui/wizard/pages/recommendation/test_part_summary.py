"""What the cards, the headline and the computer's page say: what works, what is beside what, what can be had."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QLabel

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.machine import CudaToolkit, Gpu, Machine, Python, TorchBuild
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice, DriverAdvice, PartAdvice, Recommendation
from gpu_assistant.gui.wizard.choices import driver_channels
from gpu_assistant.gui.wizard.pages.machine_summary import machine_notes, machine_rows
from gpu_assistant.gui.wizard.pages.recommendation.notices import NoticesCard
from gpu_assistant.gui.wizard.pages.recommendation.page import recommendation_heading
from gpu_assistant.gui.wizard.pages.recommendation.part_summary import part_summaries
from gpu_assistant.texts.localized import Texts
from tests.fakes.examples import rtx4060, rtx4060_recommendation

pytestmark = pytest.mark.gui

ADVICE = rtx4060_recommendation()


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(resources_dir() / "catalog")


def works(reaches: bool) -> Machine:
    torch = TorchBuild(version="2.14.1+cu126", cuda_available=reaches)
    return replace(rtx4060(), pythons=(Python(path="/a", version="3.11.9", torch=torch),))


def cudnn_line(advice: Recommendation) -> str:
    summaries = part_summaries(rtx4060(), advice, Texts("en"), already_installed=False)
    return next(part for part in summaries if part.id == "cudnn").planned_detail


def test_subtitle_says_existing_pytorch_works(language, catalog) -> None:
    for reaches in (True, False):
        recommendation = recommend(works(reaches), catalog)
        assert recommendation.driver.action == "update"
        assert ("already works" in recommendation_heading(works(reaches), recommendation, Texts("en"))[1]) is reaches


def test_computing_gpu_names_the_page(language, catalog) -> None:
    old = Gpu(vendor="nvidia", name="NVIDIA GeForce GTX 960", compute_capability="5.2", memory_bytes=4 << 30)
    strong = Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 3060", compute_capability="8.6", memory_bytes=12 << 30)
    both = replace(rtx4060(), gpus=(old, strong))
    recommendation = recommend(both, catalog)
    assert recommendation.accelerator == "cuda"
    assert recommendation_heading(both, recommendation, Texts("en"))[0] == "Recommended for your RTX 3060"
    row = next(row for row in machine_rows(both, recommendation, None) if row.id == "card")
    assert (row.value, row.detail) == ("NVIDIA GeForce RTX 3060", "12 GB memory · and NVIDIA GeForce GTX 960")


def left_to_you(advice: DriverAdvice, qtbot) -> str:
    card = NoticesCard()
    qtbot.addWidget(card)
    card.set((), (), advice, "")
    return str([each.text() for each in card.findChildren(QLabel)])


def test_minimum_driver_is_shown_as_or_newer(language, qtbot) -> None:
    named = DriverAdvice(action="install", minimum="525.60.13", recommended="580.126.20")
    assert "Install NVIDIA driver 580.126.20 yourself" in left_to_you(named, qtbot)
    assert "Install NVIDIA driver 525.60.13 or newer yourself" in left_to_you(replace(named, recommended=None), qtbot)
    bounded = replace(named, recommended=None, below="590")
    assert "Install NVIDIA driver 525.60.13 or newer (but older than 590) yourself" in left_to_you(bounded, qtbot)
    summaries = part_summaries(rtx4060(), replace(ADVICE, driver=bounded), Texts("en"), already_installed=False)
    assert "or newer, but older than 590" in next(part for part in summaries if part.id == "driver").planned_detail


def test_cudnn_is_beside_the_toolkit_only_if_there_is_one(language) -> None:
    alone = replace(ADVICE, cudnn=PartAdvice(action="install", version="9.28.0.42"))
    both = replace(alone, cuda_toolkit=PartAdvice(action="install", version="13.2.2"))
    assert cudnn_line(alone) == "separately"
    assert cudnn_line(both) == "with the toolkit"


def test_broken_toolkit_names_the_missing_part(language) -> None:
    def note_text(toolkit: CudaToolkit) -> str:
        notes = machine_notes(replace(rtx4060(), cuda_toolkits=(toolkit,)), frozenset())
        return next(each.text for each in notes if "CUDA Toolkit" in each.text)

    assert "has no compiler" in note_text(CudaToolkit(path="/cuda", version="11.8.0", nvcc=False))
    assert "version of the CUDA Toolkit" in note_text(CudaToolkit(path="/cuda", nvcc=True))


def test_driver_channels(catalog) -> None:
    assert driver_channels(catalog, rtx4060(), "617.14") == ("game-ready",)
    assert driver_channels(catalog, rtx4060(), "1.2.3") == ()


@pytest.fixture
def real(simulated, catalog):
    """An app that advises with the real catalog."""

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        return recommend(machine, catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    simulated.catalog = catalog
    return simulated


def test_driver_of_wanted_channel_stays_chosen(real, at_recommendation, qtbot) -> None:
    page = at_recommendation(real).recommendation

    def rest() -> None:
        qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)

    rest()
    page.controller.start_customizing()
    rest()
    page.part_cards["driver"].version_pickers.pickers["driver"].chosen.emit("617.14")
    rest()
    assert page.options_bar.channel_picker.text() == "Game Ready"
    page.options_bar.channel_picker.chosen.emit("game-ready")
    rest()
    assert page.controller.flow.state.choice == Choice(driver="617.14")
    page.options_bar.channel_picker.chosen.emit("studio")
    rest()
    assert page.controller.flow.state.choice is None


def test_computer_page_credits_working_and_names_unreachable(real, at_recommendation, catalog, qtbot) -> None:
    wizard = at_recommendation(real)
    page, flow = wizard.computer, wizard.controller.flow
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    old = replace(rtx4060(), gpus=(Gpu(vendor="nvidia", name="NVIDIA GeForce GTX 1060 6GB", pci_id="10de:1c03"),))
    for machine, text in ((works(True), "already uses it"), (old, "the newest, 2.15.0, no longer supports this card")):
        flow.state = replace(flow.state, machine=machine, recommendation=recommend(machine, catalog))
        assert text in page.compute_verdict(machine)[2]


def test_parts_that_change_stand_out_from_those_that_stay(language, catalog) -> None:
    summaries = part_summaries(rtx4060(), recommend(rtx4060(), catalog), Texts("en"), already_installed=False)
    assert {part.id: part.pill for part in summaries} == {
        "driver": ("accent", "Update"),
        "cuda": ("neutral", "Included"),
        "cudnn": ("neutral", "Included"),
        "torch": ("accent", "Install"),
    }
