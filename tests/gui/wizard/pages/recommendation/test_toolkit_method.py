"""How the CUDA Toolkit gets here, and WSL2, are the user's to choose; nothing of either is taken unasked."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import install_command

pytestmark = pytest.mark.gui


@pytest.fixture
def page(simulated, at_recommendation, qtbot):
    """A page with the real catalog behind it."""

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        return recommend(machine, simulated.catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    wizard = at_recommendation(simulated, (1000, 700))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    return wizard.recommendation


@pytest.fixture
def rest(qtbot):
    """Waits until the page has its answer and lies still."""

    def rested(page):
        qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
        for _ in range(5):
            QApplication.processEvents()

    return rested


@pytest.mark.parametrize(
    ("code", "archives", "wheels", "installer"),
    [
        (
            "en",
            "Into your own folder (no prompt)",
            "Into the environment (no prompt)",
            "With NVIDIA's installer",
        ),
        ("zh_CN", "自己的文件夹，无需管理员权限", "装进环境，无需管理员权限", "用 NVIDIA 的安装程序"),
    ],
)
def test_toolkit_method_is_chosen_on_its_card(page, rest, language, simulated, code, archives, wheels, installer):
    language.set(code)
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest(page)
    page.options_bar.customize_button.click()
    rest(page)
    picker = page.part_cards["cuda"].version_pickers.pickers["toolkit_way"]
    assert archives in picker.entries[0].text
    assert [entry.text for entry in picker.entries if entry.value == "installer"] == [installer]
    assert [entry.text for entry in picker.entries if entry.value == "wheels"] == [wheels]
    picker.chosen.emit("installer")
    rest(page)
    assert page.controller.flow.state.choice == Choice(toolkit_way="installer")
    assert page.controller.flow.state.recommendation.cuda_toolkit.way == "installer"
    assert not page.part_cards["cuda"].version_pickers.side_effects_line.text()
    command = install_command(simulated, page.controller.flow.state)
    assert command[command.index("--toolkit") + 1] == "installer"


def test_no_toolkit_method_without_toolkit(page, rest):
    page.options_bar.customize_button.click()
    rest(page)
    assert "toolkit_way" not in page.part_cards["cuda"].version_pickers.pickers


def test_wsl2_only_by_its_alternative(page, rest, simulated):
    page.options_bar.goal_picker.chosen.emit("tensorflow")
    rest(page)
    advice = page.controller.flow.state.recommendation
    assert advice.tensorflow.wsl is False
    (offer,) = (each for each in advice.alternatives if each.code == "tensorflow-wsl2")
    page.controller.accept_alternative(offer)
    rest(page)
    assert page.controller.flow.state.recommendation.tensorflow.wsl is True
    assert page.controller.flow.state.choice == Choice(wsl="install")
    command = install_command(simulated, page.controller.flow.state)
    assert command[command.index("--wsl2") + 1] == "install"
