"""The pictures: what they tell belongs together, and few colours are enough for them."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from gpu_assistant.core.plan import StepEvent
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui.widgets.navigation import NavigationRail, lay_out_with_rail
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import gpu_checks
from tests.gui.rtx4060_run import Rtx4060Run
from tests.gui.screenshots import EMPTY_END, few_colours, page_of, without_empty_end


@pytest.fixture
def run(tmp_path) -> Rtx4060Run:
    return Rtx4060Run(tmp_path)


def test_versions_of_the_run_belong_together(run):
    plan = run.plan()
    torch, driver = plan.recommendation.pytorch, plan.recommendation.driver
    build = f"{torch.version}+{torch.variant}"
    assert run.wheel(plan).startswith(f"torch-{build}-cp312-")
    checked = {check.id: check.value for check in gpu_checks().checks}
    assert (checked["torch-import"], checked["torch-variant"]) == (build, build)
    assert torch.cuda.startswith(f"{checked['cuda-version']}.")
    assert checked["python"].startswith(f"{plan.recommendation.python}.")
    measured = card_benchmark()
    versions = {"torch": build, "cuda": checked["cuda-version"], "driver": driver.recommended}
    assert (measured.torch, measured.versions) == (build, versions)
    # The driver that is there is too old for this CUDA, so the plan has a new one.
    assert (driver.installed, driver.action) == ("566.03", "update")
    assert any(step.kind == "nvidia-driver" for step in plan.steps)


def test_download_of_the_run_is_as_large_as_the_plan_says(run):
    plan = run.plan()
    event = run.downloading(plan)
    step = next(each for each in plan.steps if each.id == event.id)
    assert event.total == step.data["bytes"] > 2_000_000_000
    assert 0 < event.done < event.total


def test_release_that_is_offered_in_place_of_the_newest_exists(run):
    plan = run.plan()
    error, events = run.missing(plan)
    change = error.alternatives[0].change
    offered = run.recommend(Choice(pytorch=change["pytorch"], variant=change["variant"])).pytorch
    assert (offered.version, offered.variant) == (run.older, plan.recommendation.pytorch.variant)
    assert events[-1] == StepEvent(id="resolve", state="failed")


@pytest.mark.gui
def test_page_of_a_window_is_beside_its_rail(qtbot):
    window, rail = QWidget(), NavigationRail([("home", "Home")])
    qtbot.addWidget(window)
    lay_out_with_rail(window, rail, QWidget(), QWidget())
    window.resize(1100, 760)
    window.show()
    page = page_of(window)
    assert 0 < page.left() == rail.width()
    assert (page.right(), page.height()) == (window.rect().right(), window.height())


@pytest.mark.gui
def test_page_of_a_window_without_a_rail_is_all_of_it(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    assert page_of(window) == window.rect()


def test_empty_end_of_a_page_is_cut_off():
    image = QImage(40, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    image.setPixelColor(3, 60, QColor("black"))
    assert without_empty_end(image).height() == 61 + EMPTY_END
    image.setPixelColor(3, 160, QColor("black"))
    assert without_empty_end(image).height() == 61 + EMPTY_END + 1 + EMPTY_END
    image.setPixelColor(3, 160, QColor("white"))
    image.setPixelColor(39, 199, QColor("black"))
    assert without_empty_end(image).height() == 61 + EMPTY_END + 1  # what stands at the very end stays, too


def test_rare_colour_stays_among_many_frequent_ones():
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    for y in range(64):
        for x in range(64):
            image.setPixelColor(x, y, QColor(100 + x, 100 + y // 4, 120))
    red = QColor(200, 30, 30)
    image.setPixelColor(5, 5, red)
    drawn = few_colours(image)
    assert drawn.colorCount() == 256
    assert drawn.pixelColor(5, 5) == red
