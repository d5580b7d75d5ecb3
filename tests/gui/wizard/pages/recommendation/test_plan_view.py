"""The plan to read: what each step costs, how it is undone, the same as a command, and as a file."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.cli.parser import build_parser
from gpu_assistant.core import json, paths
from gpu_assistant.core.plan import Plan, PlanFile, Step
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import (
    PlanRow,
    install_command,
    needs_plan_file,
    step_cost_notes,
    step_cost_text,
)
from gpu_assistant.gui.wizard.state import WizardState
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import Translator
from tests.fakes.app import FakeApp
from tests.fakes.examples import rtx4060

STEP = Step(
    id="driver",
    kind="nvidia-driver",
    code="nvidia-driver",
    title="Install the driver",
    what="Fetches and installs it.",
    undo="Choose the restore point.",
    bytes=931_000_000,
    disk_bytes=2_000_000_000,
    minutes=3.0,
    needs_admin=True,
    needs_reboot=True,
    commands=(("setup.exe", "-s", "a b"),),
    files=(PlanFile(url="https://example.invalid/617.42.exe", name="617.42.exe", bytes=931_000_000),),
)


@pytest.fixture
def app(tmp_path):
    made = FakeApp(tmp_path)
    made.data = paths.data_dir(None, {})
    return made


@pytest.mark.gui
# A row is no window; made one alone, it is lower than its words until they have wrapped, which Windows tells.
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_row_shows_cost_and_expands_details(language, qtbot, seen):
    row = PlanRow(STEP, Texts("en"), "windows")
    qtbot.addWidget(row)
    row.show()
    shown = seen(row)
    for text in ("931 MB · 2.0 GB on disk · 3 minutes", "shows an administrator prompt"):
        assert text in shown
    # The step's own sentence says that a restart follows: saying it again, and less surely, only confuses.
    assert "restart may" not in shown
    assert "restore point" not in shown
    row.details_button.click()
    shown = seen(row)
    for text in ("Choose the restore point.", 'setup.exe -s "a b"', "617.42.exe · 931 MB · example.invalid"):
        assert text in shown
    row.details_button.click()
    assert "restore point" not in seen(row)


@pytest.mark.gui
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_url_is_not_called_a_command(language, qtbot, seen):
    page = replace(STEP, commands=(("https://example.invalid/driver.exe",),), files=())
    row = PlanRow(page, Texts("en"), "windows")
    qtbot.addWidget(row)
    row.show()
    row.details_button.click()
    assert "Where to get it" in seen(row)
    assert "The exact command" not in seen(row)


def test_free_step_has_no_cost_notes():
    assert step_cost_notes(replace(STEP, disk_bytes=None, needs_admin=False, needs_reboot=False)) == []


def test_archive_needs_at_least_its_own_disk_space():
    toolkit = replace(STEP, kind="cuda-toolkit", bytes=2_000_000_000, disk_bytes=None, needs_admin=False)
    assert "at least 2.0 GB on disk" in step_cost_text(toolkit, Texts("en"))


@pytest.mark.parametrize(
    ("state", "options"),
    [
        (WizardState(), {"goal": "pytorch", "channel": "studio", "pytorch": None, "env": None}),
        (WizardState(goal="all", channel="game-ready"), {"goal": "all", "channel": "game-ready"}),
        (WizardState(choice=Choice(pytorch="2.14.1", variant="cu126")), {"pytorch": "2.14.1", "variant": "cu126"}),
        (WizardState(environment="/a place/x"), {"env": "/a place/x"}),
    ],
)
def test_command_matches_the_state(app, state, options):
    command = install_command(app, state)
    assert command[0] == "gpu-assistant"
    read = vars(build_parser(Translator("en")).parse_args(list(command[1:])))
    assert {name: read[name] for name in options} == options
    assert not needs_plan_file(command)


def test_choice_without_option_goes_into_plan_file(app):
    command = install_command(app, WizardState(choice=Choice(driver="keep", pytorch="2.14.1")))
    assert needs_plan_file(command)
    assert build_parser(Translator("en")).parse_args(list(command[1:])).plan


def test_bundle_replaces_other_options(app):
    state = WizardState(goal="all", bundle="/media/stick/pytorch", environment="/home/mei/e")
    command = install_command(app, state)
    assert command[2:6] == ("--bundle", "/media/stick/pytorch", "--env", "/home/mei/e")
    assert "--goal" not in command


def test_wheelhouse_and_data_folder_are_options(app, tmp_path):
    app.wheelhouse = tmp_path / "wheels"
    app.data = paths.data_dir(str(tmp_path), {})
    read = build_parser(Translator("en")).parse_args(list(install_command(app, WizardState())[1:]))
    assert (read.wheelhouse, read.data_dir) == (str(app.wheelhouse), str(app.data.root))


def test_simulated_machine_gives_simulating_command(app, tmp_path):
    app.machine_file = str(tmp_path / "a machine.json")
    for state in (WizardState(), WizardState(choice=Choice(driver="keep"))):
        read = build_parser(Translator("en")).parse_args(list(install_command(app, state)[1:]))
        assert read.machine == app.machine_file


def test_machine_file_has_absolute_path(tmp_path, monkeypatch):
    (tmp_path / "machine.json").write_bytes(json.encode(rtx4060()))
    monkeypatch.chdir(tmp_path)
    assert App(data_dir=str(tmp_path), machine_file="machine.json").machine_file == str(tmp_path / "machine.json")
    assert App(data_dir=str(tmp_path)).machine_file is None


@pytest.mark.gui
def test_plan_is_saved_as_json(at_recommendation, qtbot, tmp_path):
    wizard = at_recommendation(FakeApp(tmp_path))
    wizard.recommendation.more_options.steps_button.click()
    steps = wizard.recommendation.plan_list
    assert steps.command_box.text_edit.toPlainText().startswith("gpu-assistant install --goal pytorch")
    file = tmp_path / "plan.json"
    wizard.controller.save_plan(file)
    qtbot.waitUntil(lambda: wizard.controller.saved_path == file, timeout=5000)
    assert str(file) in steps.findChild(TextLabel, "planSaveStatus").text()
    saved = json.read_file(file, Plan, code="plan-file")
    assert [step.id for step in saved.steps] == [step.id for step in wizard.flow.state.plan.steps]
    assert saved.steps[0].title == "Check the disk space"


@pytest.mark.gui
def test_unwritable_path_is_reported(at_recommendation, qtbot, tmp_path):
    wizard = at_recommendation(FakeApp(tmp_path))
    wizard.recommendation.more_options.steps_button.click()
    wizard.controller.save_plan(tmp_path)
    qtbot.waitUntil(lambda: "save-plan" in wizard.controller.errors, timeout=5000)
    assert str(tmp_path) in wizard.recommendation.plan_list.findChild(TextLabel, "planSaveStatus").text()
