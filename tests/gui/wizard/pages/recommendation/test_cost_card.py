"""What a plan costs is the same on the page and on the command line, and no known part of it is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.app import App
from gpu_assistant.catalog.store import Catalog
from gpu_assistant.cli.output import Output
from gpu_assistant.cli.render import setup
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.gui.widgets.icons import IconWidget
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.gui.wizard.pages.recommendation.cost_card import CostCard
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import step_cost_text
from gpu_assistant.texts import localized
from gpu_assistant.texts.format import format_size
from gpu_assistant.texts.localized import Texts
from tests.fakes.examples import cpu_recommendation, make_plan, rtx4060
from tests.gui.screenshots import machine_with_full_disks

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


def test_pytorch_counts_without_tensorflow_size(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Catalog, "tensorflow_size", lambda *_: None)
    _, plan = planned(tmp_path, "ubuntu-h100.json", "all")
    cost = plan_cost(plan)
    download = next(step for step in plan.steps if step.kind == "download")
    assert plan.recommendation.pytorch is not None
    assert plan.recommendation.tensorflow is not None
    assert download.code == "download-torch"
    assert cost.bytes > 2_000_000_000
    assert "tensorflow" in cost.unknown_parts
    assert "TensorFlow" in localized.unknown_parts_text(cost, Texts("en"))


@pytest.mark.parametrize("goal", ["pytorch", "tensorflow", "cuda-dev", "all"])
def test_way_costs_what_its_plan_does(tmp_path, goal: str) -> None:
    _, plan = planned(tmp_path, "windows11-rtx4060-566.json", goal)
    way, cost = plan.recommendation.way, plan_cost(plan)
    if way is None:
        assert goal == "tensorflow"  # which uses no card on Windows
        return
    assert way.cost.package_bytes is not None
    assert way.cost.package_bytes + (way.cost.driver_bytes or 0) == cost.bytes
    assert "tensorflow" not in cost.unknown_parts


def test_size_names_both_releases_that_were_measured(tmp_path) -> None:
    _, plan = planned(tmp_path, "windows11-rtx4060-566.json", "all")
    download = next(step for step in plan.steps if step.kind == "download")
    sentence = Texts("en").translate(f"step.{download.code}.what", download.data)
    assert "PyTorch 2.14.0" in sentence.partition("reported it; ")[2]
    assert "TensorFlow 2.21.0" in sentence.partition("reported it; ")[2]


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


@pytest.mark.parametrize(("free_bytes", "is_marked"), [(4_000_000_000, True), (400_000_000_000, False)])
def test_disk_that_is_too_small_is_marked(qapp, language, tmp_path, free_bytes: int, is_marked: bool) -> None:
    _, plan = planned(tmp_path, str(machine_with_full_disks(tmp_path, free_bytes)), "pytorch")
    card = CostCard()
    card.set_cost(plan, rtx4060(), Texts("en"))
    assert ("error" in {icon.name for icon in card.findChildren(IconWidget)}) == is_marked
    assert any(text.text() == "needed, 4.0 GB free" for text in card.findChildren(TextLabel)) == is_marked
    card.deleteLater()


def test_effort_is_brief_where_there_is_little_room() -> None:
    assert localized.brief_effort_text(1, 1, Texts("en")) == "1 admin prompt"
    assert localized.brief_effort_text(0, 0, Texts("en")) == "No admin prompt"
    assert localized.brief_effort_text(0, 1, Texts("en")) == localized.restarts_text(1, Texts("en"))


def test_choice_for_which_the_disk_is_too_small_says_so_once(at_recommendation, tmp_path, qtbot, seen) -> None:
    app = App(data_dir=str(tmp_path / "data"), machine_file=str(machine_with_full_disks(tmp_path)))
    page = at_recommendation(app).recommendation
    qtbot.waitUntil(lambda: not page.controller.busy and page.hero.isVisible(), timeout=10_000)
    assert page.hero.title_label.text() == "Not enough disk space"
    assert "4.2 GB free" in page.hero.detail_label.text()
    missing = format_size(page.blocking_error.data["needed_bytes"] - page.blocking_error.data["free_bytes"])
    assert page.footer.hint_label.text() == f"You need {missing} more disk space."
    assert "4.2 GB free" not in seen(page.warnings_card)
    # Nor is what cannot be installed recommended, and text and button speak of a folder.
    assert "Recommended" not in page.way_cards.cards[0].accessibleName()
    assert "choose a folder on another disk" in page.hero.detail_label.text()
    assert page.hero.button.text() == "Choose another folder"


def test_own_choice_that_is_too_large_leads_to_the_remedy(at_recommendation, tmp_path, qtbot, seen) -> None:
    app = App(data_dir=str(tmp_path / "data"), machine_file=str(machine_with_full_disks(tmp_path)))
    page = at_recommendation(app).recommendation
    qtbot.waitUntil(lambda: not page.controller.busy and page.hero.isVisible(), timeout=10_000)
    page.options_bar.customize_button.setFocus(Qt.FocusReason.MouseFocusReason)
    page.options_bar.customize_button.click()
    assert page.hero.isVisible()  # until the next answer
    qtbot.waitUntil(lambda: not page.controller.busy and page.options_bar.isVisible(), timeout=10_000)
    page.controller.change_options(goal="all")
    qtbot.waitUntil(lambda: not page.controller.busy and page.part_cards["tensorflow"].isVisible(), timeout=10_000)
    qtbot.waitUntil(lambda: page.hero.geometry().bottom() < page.options_bar.geometry().top(), timeout=5000)
    assert page.focusWidget() is page.hero.button
    assert not page.hero.button.busy
    assert page.page.verticalScrollBar().value() == 0
    assert "not known yet" not in seen(page).casefold()
