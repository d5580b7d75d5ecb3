"""Where the disk is too small for the user's own choice: what the title says, and the choice that needs less."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.gui.wizard.choices import smaller_choices
from gpu_assistant.gui.wizard.pages.recommendation.page import RecommendationPage
from gpu_assistant.texts.format import format_size
from tests.gui.rtx4060_run import RECORDED_MACHINE
from tests.gui.screenshots import FULL_DISK_BYTES, machine_with_full_disks

pytestmark = pytest.mark.gui
BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def needed(tmp_path) -> Callable[[Goal], int]:
    """The bytes that a goal needs free on the recorded computer."""
    app = App(data_dir=str(tmp_path / "data"), machine_file=str(RECORDED_MACHINE))
    machine = app.setup.detect().run(JobContext())

    def needed_bytes(goal: Goal) -> int:
        plan = app.setup.plan(machine, app.setup.recommend(machine, goal=goal), tmp_path / "env")
        disk_bytes = plan_cost(plan).disk_bytes
        assert disk_bytes is not None
        return disk_bytes

    return needed_bytes


@pytest.fixture
def open_page(at_recommendation, tmp_path, qtbot) -> Callable[..., RecommendationPage]:
    """Opens the page for a disk with so many bytes free, with another goal or other versions chosen."""

    def opened(free_bytes: int, goal: Goal = "pytorch", **versions: str) -> RecommendationPage:
        machine = machine_with_full_disks(tmp_path, free_bytes)
        page = at_recommendation(App(data_dir=str(tmp_path / "data"), machine_file=str(machine))).recommendation
        rest(page, qtbot)
        page.controller.start_customizing()
        rest(page, qtbot)
        if goal != "pytorch":
            page.controller.change_options(goal=goal)
        for name, value in versions.items():
            page.controller.choose_version(name, value)
        rest(page, qtbot)
        return page

    return opened


def rest(page: RecommendationPage, qtbot) -> None:
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=20_000)


@BOTH
def test_part_that_is_too_large_can_be_left_out(open_page, needed, speak, qtbot, code) -> None:
    page = open_page(needed("cuda-dev"), "all")
    speak(code)
    title = {"en": "This setup cannot be installed yet", "zh_CN": "这个方案暂时无法安装"}[code]
    assert page.page.title_label.text() == title
    assert {"en": "Leave out TensorFlow", "zh_CN": "不装 TensorFlow"}[code] == page.smaller_choice_button.text()
    assert format_size(needed("cuda-dev")) in page.hero.detail_label.text()
    assert page.hero.button.isVisible()
    page.smaller_choice_button.click()
    rest(page, qtbot)
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    assert not page.hero.isVisible()
    assert page.controller.flow.state.goal == "cuda-dev"
    assert {"en": "Recommended for your RTX 4060", "zh_CN": "为你的 RTX 4060 推荐的版本"}[code] in (
        page.page.title_label.text()
    )


def test_pytorch_alone_is_offered_where_nothing_else_fits(open_page, needed) -> None:
    page = open_page(needed("pytorch"), "all")
    assert page.smaller_choice_button.isVisible()
    assert page.smaller_choice_button.text() == "Set up only PyTorch"


def test_choice_that_does_not_fit_either_has_no_button(open_page, needed) -> None:
    assert needed("pytorch") > FULL_DISK_BYTES
    page = open_page(FULL_DISK_BYTES, "all")
    assert f"PyTorch alone needs {format_size(needed('pytorch'))}." in page.hero.detail_label.text()
    assert not page.smaller_choice_button.isVisible()


def test_own_toolkit_can_be_left_out_and_put_back(open_page, needed, qtbot) -> None:
    page = open_page(needed("pytorch"), cuda_toolkit="13.2.2")
    assert page.smaller_choice_button.text() == "Leave out the CUDA Toolkit"
    page.smaller_choice_button.click()
    rest(page, qtbot)
    assert page.primary_button.isEnabled()
    assert page.controller.flow.state.choice is None
    page.controller.undo()
    rest(page, qtbot)
    assert page.controller.flow.state.choice == Choice(cuda_toolkit="13.2.2")


def test_recommendation_that_is_too_large_is_called_so(open_page) -> None:
    page = open_page(FULL_DISK_BYTES)
    assert page.hero.title_label.text() == "Not enough disk space"
    assert page.page.title_label.text() == "Recommended for your RTX 4060"
    assert not page.smaller_choice_button.isVisible()


@BOTH
def test_own_versions_are_not_called_recommended(open_page, speak, code) -> None:
    page = open_page(400_000_000_000, pytorch="2.14.1")
    speak(code)
    title = {"en": "Custom setup for your RTX 4060", "zh_CN": "RTX 4060 的自定义方案"}[code]
    assert page.page.title_label.text() == title


def test_nearest_choice_comes_first() -> None:
    codes = [code for code, _, _ in smaller_choices("all", None, has_toolkit=True)]
    assert codes == ["no-tensorflow", "no-toolkit", "pytorch-only"]
    own = Choice(python="3.12", tensorflow="2.21.0", cuda_toolkit="none")
    assert list(smaller_choices("all", own, has_toolkit=False)) == [("pytorch-only", "pytorch", Choice(python="3.12"))]
    own = Choice(pytorch="2.14.1", cuda_toolkit="13.2.2")
    assert list(smaller_choices("pytorch", own, has_toolkit=True)) == [
        ("no-toolkit", "pytorch", Choice(pytorch="2.14.1")),
        ("recommended", "pytorch", None),
    ]
    assert list(smaller_choices("pytorch", None, has_toolkit=False)) == []
