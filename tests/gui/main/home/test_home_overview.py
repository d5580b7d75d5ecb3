"""Home at a glance: driver and PyTorch, all environments and what can be done with them, a running benchmark."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from gpu_assistant.bench.device_comparison import headline_comparison
from gpu_assistant.bench.expected_ranges import result_key
from gpu_assistant.gui.machine_facts import InstalledEnvironment, MachineFacts
from gpu_assistant.gui.main.home.cards import EnvironmentsCard, LatestBenchmarkCard, SoftwareCard
from gpu_assistant.gui.main.main_area import BENCHMARK, HOME
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import cpu_benchmark, rtx4060, rtx4060_recommendation
from tests.fakes.main_window import ENVIRONMENT

pytestmark = pytest.mark.gui
BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])
INSTALLED = InstalledEnvironment(path="/environments/pytorch", python="3.11", torch="2.13.0", variant="cu126")


@pytest.fixture
def window(open_window, app, qtbot):
    other = replace(ENVIRONMENT, path=str(app.folder / "old"), name="old", torch="2.10.0", variant="cu118")
    app.known = (replace(ENVIRONMENT, path=str(app.folder / "pytorch")), other)
    app.settings = replace(app.settings, setup_done=True)
    window = open_window(app)
    page = window.main_area.pages[HOME]
    qtbot.waitUntil(lambda: page.environments_card.isVisible() and len(page.environments_card.rows) == 2, timeout=5000)
    return window


def choose(row, action: str) -> None:
    """An entry of the menu of an environment."""
    next(entry for entry in row.build_menu().actions() if entry.objectName() == action).trigger()


@BOTH
def test_every_environment_has_a_row_with_what_is_in_it(window, language, code):
    language.set(code)
    first, second = window.main_area.pages[HOME].environments_card.rows
    first.retranslate()
    assert first.pill.text == {"en": "Default", "zh_CN": "默认"}[code]
    assert (first.name_label.text(), second.name_label.text()) == ("pytorch", "old")
    assert first.pill.isVisible()
    assert not second.pill.isVisible()
    assert "PyTorch 2.10.0 · CUDA 11.8" in second.detail_label.text()
    assert "912 MB" in second.detail_label.text()
    actions = [entry.objectName() for entry in second.build_menu().actions()]
    assert actions == ["use", "rename", "terminal", "folder", "verify", "check-files", "update", "export", "remove"]


def test_of_several_environments_the_heading_names_the_one_that_starts(window, seen):
    assert "Start working in “pytorch”" in seen(window.main_area.pages[HOME])


def test_build_for_the_cpu_beside_a_gpu_says_that_it_leaves_it_unused(qtbot):
    card = EnvironmentsCard()
    qtbot.addWidget(card)
    environments = (
        replace(INSTALLED, cuda=None, variant="cpu"),
        replace(INSTALLED, path="/environments/new", cuda="12.6"),
    )
    card.show_environments(environments, None, has_gpu=True)
    card.show()
    first, second = card.rows
    assert (first.cpu_pill.isVisible(), first.cpu_pill.text) == (True, "CPU only")
    assert "does not use your GPU" in first.accessibleName()
    assert not second.cpu_pill.isVisible()
    assert "CUDA 12.6" in second.detail_label.text()
    card.show_environments(environments, None, has_gpu=False)
    assert "for the CPU" in first.detail_label.text()
    assert not first.cpu_pill.isVisible()


def test_other_environment_is_used_from_then_on(window, app, qtbot):
    row = window.main_area.pages[HOME].environments_card.rows[1]
    next(entry for entry in row.build_menu().actions() if entry.objectName() == "use").trigger()
    qtbot.waitUntil(lambda: app.settings.environment == str(app.folder / "old"), timeout=5000)
    page = window.main_area.pages[HOME]
    qtbot.waitUntil(page.environments_card.rows[1].pill.isVisible, timeout=5000)


def test_all_environments_are_seen_without_scrolling(window, qtbot):
    page = window.main_area.pages[HOME]
    last = page.environments_card.rows[-1]
    qtbot.waitUntil(lambda: last.mapTo(page.viewport(), last.rect().bottomLeft()).y() < page.viewport().height())


def test_environment_gets_another_name_and_its_folder_stays(window, app, qtbot):
    page = window.main_area.pages[HOME]
    environment = page.facts.environments[1]
    dialog = page.create_rename_dialog(environment)
    dialog.name_field.field.setText("  for  the thesis ")
    dialog.accept()
    row = page.environments_card.rows[1]
    qtbot.waitUntil(lambda: row.name_label.text() == "for the thesis")
    assert app.settings.environment_names == {environment.path: "for the thesis"}
    assert row.toolTip() == environment.path
    dialog = page.create_rename_dialog(page.facts.environments[1])
    dialog.name_field.field.clear()
    dialog.accept()
    qtbot.waitUntil(lambda: row.name_label.text() == "old")
    assert app.settings.environment_names == {}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("PyTorch", "Another environment is called “PyTorch”; choose another name."),
        ("bell\x07", "The name contains characters that cannot be shown; type the name instead of pasting it."),
    ],
)
def test_name_that_cannot_be_used_is_refused_in_one_sentence(window, name, problem):
    page = window.main_area.pages[HOME]
    assert page.facts.environments[0].name == "pytorch"
    dialog = page.create_rename_dialog(page.facts.environments[1])
    dialog.name_field.field.setText(name)
    assert dialog.name_field.problem_label.text() == problem
    assert not dialog.rename_button.isEnabled()
    dialog.name_field.field.setText("old one")
    assert dialog.name_field.problem_label.isHidden()
    assert dialog.rename_button.isEnabled()


def test_second_verification_waits_and_says_so(window, app, qtbot):
    page = window.main_area.pages[HOME]
    first, second = page.environments_card.rows
    app.gate = threading.Event()
    choose(first, "verify")
    choose(second, "verify")
    assert (first.pill.text, second.pill.text) == ("Verifying…", "Waiting…")
    app.gate.set()
    qtbot.waitUntil(lambda: page.environments_card.banner.label.text().startswith("old: "))
    qtbot.waitUntil(lambda: not second.pill.isVisible())
    assert app.calls.count("verify") == 2


def test_exported_package_list_is_named_and_opened(window, app, qtbot, monkeypatch):
    monkeypatch.setattr(app, "export_lockfile", lambda _environment, target: target.write_text("", encoding="utf-8"))
    page, file = window.main_area.pages[HOME], app.folder / "pylock.toml"
    page.export_packages(page.facts.environments[0], file)
    banner = page.environments_card.banner
    qtbot.waitUntil(banner.isVisible)
    assert (banner.kind, banner.label.text()) == ("ok", f"Saved: {file}")
    banner.button.click()
    qtbot.waitUntil(lambda: ("file", file) in app.system.opened)


def test_home_offers_each_action_once(window):
    page = window.main_area.pages[HOME]
    cards = [each for each in page.actions_panel.cards if each.isVisible()]
    titles = {each.title_label.text() for each in cards}
    in_use = page.environments_card.rows[0]
    assert titles & set(in_use.action_texts().values()) == set()
    assert page.actions_panel.terminal_card in cards
    assert not any(each.isVisible() for each in page.actions_panel.more_buttons)


def test_home_always_offers_change_and_another_environment(window, app, qtbot):
    page = window.main_area.pages[HOME]
    assert page.software_card.change_button.text() == "Change or update…"
    page.environments_card.new_button.click()
    qtbot.waitUntil(lambda: window.wizard is not None, timeout=5000)
    folder = window.wizard.flow.state.environment
    assert folder is not None
    assert folder not in {each.path for each in app.known}


def measure(window, app, qtbot):
    """The page of a benchmark that runs until `app.gate` opens; Home is shown."""
    app.gate = threading.Event()
    app.results["benchmark"] = cpu_benchmark()
    window.main_area.open_page(BENCHMARK)
    benchmark = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(lambda: benchmark.can_measure, timeout=5000)
    benchmark.measure()
    qtbot.waitUntil(lambda: benchmark.measuring, timeout=5000)
    window.main_area.open_page(HOME)
    return benchmark


def test_environment_chosen_during_a_benchmark_is_not_the_measured_one(window, app, qtbot, monkeypatch):
    page, questions, removed = window.main_area.pages[HOME], [], []
    benchmark = measure(window, app, qtbot)
    monkeypatch.setattr(ConfirmDialog, "ask", lambda _parent, title, *_texts, **_options: questions.append(title))
    monkeypatch.setattr(
        page.environment_removal, "confirm_and_remove", lambda environment: removed.append(environment.path)
    )
    first, second = page.environments_card.rows
    next(entry for entry in second.build_menu().actions() if entry.objectName() == "use").trigger()
    qtbot.waitUntil(page.environments_card.rows[1].pill.isVisible, timeout=5000)
    choose(second, "remove")
    assert (questions, removed) == ([], [str(app.folder / "old")])
    choose(first, "remove")
    assert questions == ["Stop the benchmark?"]
    app.gate.set()
    qtbot.waitUntil(lambda: not benchmark.measuring, timeout=5000)


def test_environment_that_is_measured_is_removed_after_the_benchmark_stopped(window, app, qtbot):
    page = window.main_area.pages[HOME]
    benchmark = measure(window, app, qtbot)
    assert page.benchmark_card.pill.text == "Measuring now"
    asked: list[str] = []

    def answer() -> bool:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, ConfirmDialog):
            asked.append(dialog.windowTitle())
            dialog.accept_button.click()
        return bool(asked)

    timer = QTimer()
    timer.setInterval(20)
    timer.timeout.connect(lambda: answer() and timer.stop())
    timer.start()
    choose(page.environments_card.rows[0], "remove")
    assert asked == ["Stop the benchmark?"]
    app.gate.set()
    qtbot.waitUntil(lambda: not benchmark.measuring, timeout=5000)
    assert not page.benchmark_card.pill.isVisible() or page.benchmark_card.pill.text != "Measuring now"
    # Then what would be removed is shown, as ever.
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), ConfirmDialog), timeout=5000)
    QApplication.activeModalWidget().reject_button.click()


def test_second_terminal_is_not_asked_for_while_the_first_one_opens(window, app, qtbot, monkeypatch):
    page, gate, opened = window.main_area.pages[HOME], threading.Event(), []

    def open_terminal(environment):
        opened.append(environment)
        gate.wait(5)

    monkeypatch.setattr(app.system, "open_terminal", open_terminal)
    environment = page.facts.environments[0]
    for _ in range(2):
        page.run_environment_action("terminal", environment)
    qtbot.waitUntil(lambda: len(opened) == 1, timeout=5000)
    gate.set()
    assert opened == [environment.folder]


def test_update_of_an_environment_opens_the_setup_of_that_environment(window, app, qtbot):
    page = window.main_area.pages[HOME]
    other = page.facts.environments[1]
    page.run_environment_action("update", other)
    qtbot.waitUntil(lambda: window.wizard is not None, timeout=5000)
    assert window.wizard.flow.state.environment == other.path == str(app.folder / "old")


@pytest.mark.parametrize(
    ("torch", "driver", "expected"),
    [
        ("2.13.0", "update", ("Update to 617.42", "Update to 2.15.0")),
        ("2.15.0", "keep", ("Up to date", "Up to date")),
        ("2.16.0", "keep", ("Up to date", "Up to date")),
    ],
)
def test_versions_say_whether_they_are_up_to_date(qapp, language, torch, driver, expected):
    advice = rtx4060_recommendation()
    advice = replace(advice, driver=replace(advice.driver, action=driver))
    card = SoftwareCard()
    installed = replace(INSTALLED, torch=torch)
    card.show_facts(MachineFacts(loaded=True, machine=rtx4060(), installed=installed, recommendation=advice))
    assert tuple(row.pill.text for row in card.rows) == expected
    are_updates = tuple(not row.update_button.isHidden() for row in card.rows)
    assert are_updates == tuple(text != "Up to date" for text in expected)
    assert "566.03" in card.accessibleName()
    card.deleteLater()


@pytest.mark.parametrize(("high", "text"), [(250.0, "Normal"), (400.0, "Slower than usual")])
def test_last_benchmark_stands_beside_the_usual_range(qapp, language, high, text):
    measured = card_benchmark()
    pair = headline_comparison(measured)
    assert pair is not None
    low = high - 20
    judgement = "below" if pair.fastest.median < low else "above"
    results = tuple(replace(each, judgement=judgement) if each is pair.fastest else each for each in measured.results)
    card = LatestBenchmarkCard()
    card.show_benchmark(replace(measured, results=results, expected={result_key(pair.fastest): (low, high)}))
    assert card.pill.text == text
    assert f"{low:g} to {high:g}" in card.range_label.text()
    card.deleteLater()
