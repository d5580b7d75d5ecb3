"""The whole recommendation is seen at once: at the window's first size, and on a small laptop with enlarged text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.gui.wizard.pages.machine_summary import machine_rows
from gpu_assistant.texts import localized
from gpu_assistant.texts.localized import Texts

pytestmark = pytest.mark.gui
MACHINES = Path(__file__).resolve().parents[4] / "machines"
# The first size, and what a frame leaves of 1366 x 768 at 125 %.
SIZES = ((1180, 760), (1093, 535))


@pytest.fixture(params=["windows11-rtx4060-566.json", "windows11-rtx4060-nodriver.json", "linux-cpu-only.json"])
def real(request, tmp_path):
    """An app that advises a recorded computer."""
    return App(data_dir=str(tmp_path / "data"), machine_file=str(MACHINES / request.param))


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_nothing_scrolls(real, at_recommendation, speak, qtbot, code) -> None:
    wizard = at_recommendation(real)
    wizard.setMinimumSize(880, 520)
    # The banner of a recorded computer stands in no real window.
    wizard.banner.hide()
    page = wizard.recommendation
    speak(code)
    for size in SIZES:
        wizard.resize(*size)

        def rests() -> None:
            bars = (page.page.verticalScrollBar(), page.page.horizontalScrollBar())
            assert [bar.maximum() for bar in bars] == [0, 0]
            assert page.page.viewport().height() < size[1]  # noqa: B023

        qtbot.waitUntil(rests, timeout=10_000)


def test_pages_name_one_figure_for_space(real, at_recommendation, seen) -> None:
    wizard = at_recommendation(real)
    state = wizard.flow.state
    figure = localized.disk_text(plan_cost(state.plan), Texts("en"))
    assert figure is not None
    row = next(each for each in machine_rows(state.machine, state.recommendation, state.plan) if each.id == "space")
    assert row.detail.startswith(figure)
    assert figure in seen(wizard.recommendation.cost_card).casefold().replace("gb", "GB").replace("mb", "MB")
