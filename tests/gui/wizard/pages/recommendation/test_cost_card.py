"""What a plan costs is the same on the page and on the command line, and no known part of it is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.cli.output import Output
from gpu_assistant.cli.render import setup
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.gui.wizard.pages.recommendation.cost_card import CostCard
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import step_cost_text
from gpu_assistant.texts import localized
from gpu_assistant.texts.format import format_size
from gpu_assistant.texts.localized import Texts
from tests.fakes.examples import cpu_recommendation, make_plan, rtx4060

pytestmark = pytest.mark.gui
MACHINES = Path(__file__).resolve().parents[4] / "machines"
LANGUAGES = ("en", "zh_CN")


def planned(folder: Path, name: str, goal: str) -> tuple[App, Plan]:
    app = App(data_dir=str(folder / "data"), machine_file=str(MACHINES / name))
    machine = app.setup.detect().run(JobContext())
    return app, app.setup.plan(machine, app.setup.recommend(machine, goal=goal), folder / "env")


def on_the_page(qapp, plan: Plan, code: str) -> str:
    card = CostCard()
    card.set_cost(plan, rtx4060(), Texts(code))
    text = f"{card.accessibleName()} {' '.join(card.notes)}"
    card.deleteLater()
    return text


def printed(plan: Plan, code: str, capsys: pytest.CaptureFixture[str]) -> str:
    setup.render_plan(Texts(code).localize_plan(plan), Output(Texts(code), json=False, quiet=False))
    return capsys.readouterr().out


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("goal", ["pytorch", "tensorflow", "cuda-dev", "all"])
@pytest.mark.parametrize("name", ["windows11-rtx4060-nodriver.json", "ubuntu-h100.json", "linux-cpu-only.json"])
def test_cli_and_gui_show_the_same_cost(qapp, language, tmp_path, capsys, name: str, goal: str, code: str) -> None:
    language.set(code)
    _, plan = planned(tmp_path, name, goal)
    cost, texts = plan_cost(plan), Texts(code)
    fetched = format_size(cost.bytes) if cost.bytes else ""
    lacking = localized.unknown_parts_text(cost, texts) if fetched else ""
    page, lines = on_the_page(qapp, plan, code), printed(plan, code, capsys)
    for text in (fetched, lacking, localized.disk_text(cost, texts)):
        if text:
            assert text in lines
            assert text.casefold() in page.casefold()
    # Every step's own figure stands in its row and in its line.
    for step in plan.steps:
        figure = localized.step_download_text(step.code, step.bytes, step.data, texts)
        assert figure in lines
        assert figure in step_cost_text(step, texts)
    # What is known of any step is in the sum.
    assert cost.bytes >= sum(step.bytes or 0 for step in plan.steps)
    assert plan.bytes is None or plan.bytes <= cost.bytes


def test_pytorch_counts_without_tensorflow_size(tmp_path) -> None:
    _, plan = planned(tmp_path, "ubuntu-h100.json", "all")
    cost = plan_cost(plan)
    download = next(step for step in plan.steps if step.kind == "download")
    assert plan.recommendation.pytorch is not None
    assert plan.recommendation.tensorflow is not None
    assert download.code == "download-torch"
    assert cost.bytes > 2_000_000_000
    assert "tensorflow" in cost.unknown_parts
    assert "TensorFlow" in localized.unknown_parts_text(cost, Texts("en"))


def changed(*steps: Step, **more: object) -> Plan:
    plan = make_plan(cpu_recommendation(), "/env")
    return replace(plan, steps=(*plan.steps, *steps), **more)


def test_at_least_only_with_unknown_parts() -> None:
    texts = Texts("en")
    assert localized.download_text(plan_cost(changed()), texts) == "192 MB"
    driver = Step(id="driver", kind="nvidia-driver", code="nvidia-driver")
    cost = plan_cost(changed(driver))
    assert localized.download_text(cost, texts) == "at least 192 MB"
    assert localized.unknown_parts_text(cost, texts) == "the driver"
    assert localized.download_text(plan_cost(changed(replace(driver, bytes=800_000_000))), texts) == "992 MB"
    # What is only shown, or done by hand, is not fetched by the plan.
    shown = Step(id="wsl2", kind="wsl2", code="wsl2")
    assert plan_cost(changed(shown, replace(driver, bytes=0))).is_exact


def test_known_part_is_shown_with_unknown_rest() -> None:
    packages = Step(id="download", kind="download", code="download", data={"bytes": "@size.unknown"})
    toolkit = Step(id="cuda", kind="cuda-toolkit", code="cuda-toolkit", bytes=2_400_000_000)
    plan = replace(changed(), steps=(packages, toolkit), bytes=None)
    cost = plan_cost(plan)
    assert localized.download_text(cost, Texts("en")) == "at least 2.4 GB"
    assert localized.unknown_parts_text(cost, Texts("zh_CN")) == "软件包"
    assert localized.download_text(plan_cost(replace(plan, steps=(packages,))), Texts("en")) is None


def test_plan_that_needs_no_space_says_so_in_words(qapp, language) -> None:
    plan = make_plan(cpu_recommendation(), "/env")
    data = {"disk_bytes": 0}
    steps = tuple(replace(step, bytes=0, disk_bytes=0, data={**step.data, **data}) for step in plan.steps)
    nothing = replace(plan, bytes=0, disk_bytes=0, steps=steps)
    assert "Nothing more" in on_the_page(qapp, nothing, "en")
    assert "0 B" not in on_the_page(qapp, nothing, "en")
