"""Prepare for a computer without internet: what is asked, how it goes, how it is stopped, what it says at its end."""

from __future__ import annotations

import re
import threading
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from gpu_assistant.app import App
from gpu_assistant.app.available_plan import AvailableSetup
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Machine, OperatingSystem
from gpu_assistant.core.recommendation import DriverAdvice, RecommendationWarning
from gpu_assistant.gui.bundle.create import BundleOrder, CreatedBundle
from gpu_assistant.gui.bundle.next_steps import (
    INSTALLER_NAMES,
    WHEEL_COMMAND,
    WHEEL_NAME,
    BundleReadyCard,
    find_installer_name,
)
from gpu_assistant.gui.bundle.page import CreateBundlePage
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.install.bundle.missing_driver import MissingDriver
from gpu_assistant.install.packages.requirements import Platform
from tests.fakes import bundles
from tests.fakes.examples import cpu_recommendation, make_plan

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def at_prepare(at_recommendation, qtbot):
    """Opens a wizard on its way to a folder for another computer."""

    def opened(app):
        wizard = at_recommendation(app)
        wizard.recommendation.bundle_controls.create_button.click()
        qtbot.waitUntil(wizard.side_pages.create_page.isVisible)
        return wizard

    return opened


@pytest.fixture
def yes(monkeypatch):
    """Answers questions with yes, and notes them."""
    questions: list[str] = []

    def ask(_parent, question, *_more, **_words):
        questions.append(question)
        return True

    monkeypatch.setattr(ConfirmDialog, "ask", ask)
    return questions


def test_primary_button_asks_for_the_folder_first(app, at_prepare, qtbot, opened_dialogs, tmp_path):
    page = at_prepare(app).side_pages.create_page
    assert page.primary_button.text() == "Choose the folder…"
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    page.primary_button.click()
    (dialog,) = opened_dialogs
    assert dialog.fileMode() == QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(tmp_path / "stick"))
    assert page.primary_button.text() == "Prepare the folder"
    assert primary_buttons(page) == [page.primary_button]
    assert page.folder_card.choose_button.isVisible()
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)


@pytest.fixture
def opened_dialogs(monkeypatch):
    """The dialogs for files and folders, which are not shown."""
    dialogs: list[QFileDialog] = []

    def note(dialog: QFileDialog) -> None:
        dialogs.append(dialog)

    monkeypatch.setattr(QFileDialog, "open", note)
    return dialogs


def primary_buttons(page: CreateBundlePage) -> list[Button]:
    return [button for button in page.findChildren(Button) if button.isVisible() and button.kind == "primary"]


def test_this_computer_uses_its_recommendation(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    ((machine, recommendation, folder, channel, choice, pace),) = app.orders
    facts = wizard.flow.state
    assert (machine, recommendation, folder) == (facts.machine, facts.recommendation, tmp_path / "stick")
    assert (channel, choice) == (facts.channel, facts.choice)
    assert pace is wizard.side_pages.bundle_creator.rate_limiter
    shown = seen(wizard.side_pages.create_page)
    assert "The folder is ready: 2.6 GB" in shown
    assert "Install from an offline folder" in shown
    assert page.verdict_hero.kind == "ok"
    command = "gpu-assistant install --bundle stick"
    assert [text for text in (bundles.mark(folder), command) if text in shown] == []
    page.ready_card.details_button.click()
    assert [text for text in (bundles.mark(folder), command) if text not in seen(page)] == []


def test_finished_folder_is_opened_by_the_primary_button(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    assert page.primary_button.text() == "Show the folder"
    page.primary_button.click()
    qtbot.waitUntil(lambda: app.system.opened == [("folder", tmp_path)], timeout=5000)
    assert page.isVisible()
    page.back_button.click()
    assert wizard.recommendation.isVisible()


@BOTH
def test_what_the_folder_lacks_is_a_step(app, at_prepare, speak, seen, qtbot, tmp_path, code):
    page = at_prepare(app).side_pages.create_page
    speak(code)
    made = bundles.contents(excluded_codes=("nvidia-driver-linux",))
    app.results["bundle"] = lambda: bundles.write(tmp_path / "stick", made)
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    assert page.verdict_hero.kind == "ok"
    steps = {
        "en": (
            "1. Copy",
            "2. Download",
            "3. If GPU Assistant is not installed yet",
            "4. Connect it to the internet once",
            "5. Open GPU",
        ),
        "zh_CN": ("1. 把", "2. 下载", "3. 还没装", "4. 联网一次", "5. 打开 GPU 助手"),
    }[code]
    names = step_names(page.ready_card)
    assert [name for name, start in zip(names, steps, strict=True) if not name.startswith(start)] == []
    assert INSTALLER_NAMES["linux", "x86_64"].format(version=made.program) in seen(page.ready_card)
    needs_internet = {
        "en": "must go online once, to install the NVIDIA driver",
        "zh_CN": "要联网一次，用来安装 NVIDIA 驱动",
    }
    assert needs_internet[code] in page.verdict_hero.detail_label.text()


def test_last_resorts_are_folded_away(app, at_prepare, seen, qtbot, tmp_path):
    page = at_prepare(app).side_pages.create_page
    made = bundles.contents(excluded_codes=("nvidia-driver-linux",))
    app.results["bundle"] = lambda: bundles.write(tmp_path / "stick", made)
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    card = page.ready_card
    name = INSTALLER_NAMES["linux", "x86_64"].format(version=made.program)
    texts = f"sudo apt install ./{name}", "Open NVIDIA's page", "It is also in Settings"
    assert [text for text in texts if text in seen(card)] == []
    assert card.trouble_button.accessibleDescription() == "collapsed"
    card.trouble_button.click()
    assert card.trouble_button.accessibleDescription() == "expanded"
    assert [text for text in texts if text not in seen(card)] == []
    qtbot.waitUntil(lambda: not card.driver_button.visibleRegion().isEmpty(), timeout=5000)
    assert card.controls.index(card.trouble_button) < card.controls.index(card.driver_button)
    card.trouble_button.click()
    assert not card.driver_button.isVisible()


@pytest.mark.parametrize(
    ("excluded_codes", "source", "distribution", "text"),
    [
        ((), None, "debian", ""),
        ((), "file", "debian", ""),
        ((), "page", "debian", "the NVIDIA driver."),
        (("wsl2-install",), None, "debian", "WSL2."),
        ((), "guided", "fedora", "GPU Assistant and the NVIDIA driver."),
    ],
)
def test_internet_that_is_needed_nevertheless_is_announced(
    qtbot, language, machine_566, tmp_path, excluded_codes, source, distribution, text
):
    card = BundleReadyCard()
    qtbot.addWidget(card)
    bundle = CreatedBundle(
        order=BundleOrder(folder=tmp_path / "stick", machine=machine_566, goal="pytorch", channel="stable"),
        os=OperatingSystem(system="linux", arch="x86_64", distro=distribution),
        contents=bundles.contents(excluded_codes=excluded_codes),
        checksum="0" * 64,
        recommendation=cpu_recommendation(),
        driver=MissingDriver(source=source) if source is not None else None,
    )
    assert card.internet_text(bundle) == (f"The other computer must go online once, to install {text}" if text else "")


def test_tab_goes_through_the_steps_in_order(qtbot, language, machine_566, tmp_path):
    """With the wheel, the way to the driver is between two commands."""
    card = BundleReadyCard()
    qtbot.addWidget(card)
    bundle = CreatedBundle(
        order=BundleOrder(folder=tmp_path / "stick", machine=machine_566, goal="pytorch", channel="stable"),
        os=OperatingSystem(system="linux", arch="x86_64", distro="fedora"),
        contents=bundles.contents(platform=bundles.LINUX),
        checksum="0" * 64,
        recommendation=cpu_recommendation(),
        driver=MissingDriver(source="page", url="https://example.org/wiki"),
    )
    card.set_bundle(bundle, language.texts())
    steps = [step for step in card.there_steps.steps if step.command_box is not None]
    before, after = (card.controls.index(step.command_box.copy_button) for step in steps)
    assert before < card.controls.index(card.driver_button) < after


def step_names(card: BundleReadyCard) -> list[str]:
    """The steps that are shown, as a screen reader reads them."""
    steps = (*card.here_steps.steps, *card.there_steps.steps)
    return [step.accessibleName() for step in steps if step.isVisible()]


WINDOWS_FILE = {"action": "install", "recommended": "617.42", "url": "https://example.org/617.42.exe"}


@pytest.mark.parametrize(
    ("platform", "driver", "url", "steps"),
    [
        (
            bundles.WINDOWS,
            WINDOWS_FILE,
            "https://example.org/617.42.exe",
            ("3. Download NVIDIA driver 617.42", "5. Double-click the NVIDIA driver", "6. Open GPU Assistant"),
        ),
        (
            bundles.LINUX,
            {"action": "install", "way": "page", "page": "https://example.org/wiki"},
            "https://example.org/wiki",
            ("4. Connect the computer to the internet, install",),
        ),
        (
            bundles.LINUX,
            {"action": "install", "way": "unsure"},
            "",
            ("4. Open GPU Assistant", "5. Install the NVIDIA driver as GPU Assistant explains"),
        ),
    ],
)
def test_driver_that_only_the_user_can_install_is_a_step(
    app, at_prepare, qtbot, machine_file, tmp_path, platform, driver, url, steps
):
    page = at_prepare(app).side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    app.recommendation = lambda choice: replace(cpu_recommendation(choice), driver=DriverAdvice(**driver))
    app.results["bundle"] = lambda: bundles.write(tmp_path / "stick", bundles.contents(platform=platform))
    page.use_folder(tmp_path / "stick")
    page.use_machine_file(machine_file)
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    names = "\n".join(step_names(page.ready_card))
    assert [step for step in steps if step not in names] == []
    button = page.ready_card.driver_button
    assert (button.url[: len(url)], button.isVisible()) == (url, bool(url))


@pytest.mark.parametrize(
    ("distribution", "parents", "suffix"),
    [
        ("ubuntu", ("debian",), ".deb"),
        ("ubuntu", None, ".deb"),
        ("elementary", ("ubuntu",), ".deb"),
        ("debian", (), ".deb"),
        ("fedora", (), ".whl"),
        ("rocky", ("rhel", "fedora"), ".whl"),
    ],
)
def test_distribution_without_debian_packages_takes_the_wheel(
    app, at_prepare, qtbot, machine_566, seen, tmp_path, distribution, parents, suffix
):
    os = OperatingSystem(system="linux", arch="x86_64", distro=distribution, distro_like=parents)
    file = tmp_path / "computer.json"
    file.write_bytes(msgspec.json.encode(replace(machine_566, os=os)))
    page = at_prepare(app).side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    app.results["bundle"] = lambda: bundles.write(tmp_path / "stick", bundles.contents(platform=bundles.LINUX))
    page.use_folder(tmp_path / "stick")
    page.use_machine_file(file)
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    names = "\n".join(step_names(page.ready_card))
    assert suffix in names
    assert ("double-click the installer" in names) == (suffix == ".deb")
    copied = [step.command_box for step in page.ready_card.there_steps.steps if step.command_box is not None]
    assert bool(copied) == (suffix == ".whl")
    assert all(box.copy_button.isVisible() for box in copied)
    page.ready_card.details_button.click()
    # The wheel's program is started by its path, for which the shell has to find the home folder.
    assert ("\n~/gpu-assistant/bin/gpu-assistant install --bundle stick" in f"\n{seen(page)}") == (suffix == ".whl")
    assert ("type in a terminal: ~/gpu-assistant/bin/gpu-assistant" in names) == (suffix == ".whl")


def test_wheel_is_installed_as_documented(language):
    download_page = (ROOT / "docs/download.md").read_text(encoding="utf-8")
    name = WHEEL_NAME.format(version="<version>")
    assert f"\n{WHEEL_COMMAND.format(installer_name=name)}\n" in download_page
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for code in ("en", "zh_CN"):
        language.set(code)
        note = language.texts().translate("bundle.wheel-note")
        assert re.search(r"Python ([0-9.]+)", note)[1] == project["requires-python"].removeprefix(">=")


def test_windows_takes_its_installer_on_arm_too():
    contents = bundles.contents(platform=Platform(system="windows", arch="arm64"))
    name = find_installer_name(contents, OperatingSystem(system="windows", arch="arm64"))
    assert name == INSTALLER_NAMES["windows", "x86_64"].format(version=contents.program)


def test_next_folder_shows_its_own_driver(qtbot, language, machine_566, tmp_path):
    card = BundleReadyCard()
    qtbot.addWidget(card)
    card.show()
    order = BundleOrder(folder=tmp_path / "stick", machine=machine_566, goal="pytorch", channel="stable")
    address = "https://example.org/driver.exe"
    for platform, source, step in (
        (bundles.WINDOWS, "file", "3. Download"),
        (bundles.LINUX, "packages", "4. Connect"),
        (bundles.LINUX, None, None),
        (bundles.LINUX, "page", "4. Connect"),
        (bundles.WINDOWS, "file", "3. Download"),
    ):
        bundle = CreatedBundle(
            order=order,
            os=machine_566.os,
            contents=bundles.contents(platform=platform),
            checksum="0" * 64,
            recommendation=cpu_recommendation(),
            driver=MissingDriver(source=source, url=address) if source else None,
        )
        card.set_bundle(bundle, language.texts())
        names = step_names(card)
        assert [name.split(". ")[0] for name in names] == [str(number + 1) for number in range(len(names))]
        # Packages come over the internet: where else to get a driver is a last resort.
        assert card.driver_button.isVisible() == (source in ("file", "page"))
        if source in ("file", "page"):
            assert card.driver_button.parentWidget().accessibleName().startswith(step)
        elif step is not None:
            assert any(name.startswith(step) for name in names)


def test_file_manager_that_is_missing_is_named(app, at_prepare, qtbot, monkeypatch, seen, tmp_path):
    def refuse(folder):
        raise AppError("no-file-manager", path=str(folder))

    page = at_prepare(app).side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    monkeypatch.setattr(app.system, "open_folder", refuse)
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.folder_banner.isVisible, timeout=5000)
    assert str(tmp_path) in seen(page)


def test_command_for_a_folder_with_a_space_is_quoted(app, at_prepare, qtbot, seen, tmp_path):
    page = at_prepare(app).side_pages.create_page
    page.use_folder(tmp_path / "my stick")
    page.primary_button.click()
    qtbot.waitUntil(page.ready_card.isVisible, timeout=5000)
    page.ready_card.details_button.click()
    assert "--bundle 'my stick'" in seen(page)


def test_other_computer_uses_its_file(app, at_prepare, qtbot, opened_dialogs, machine_file, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    assert page.primary_button.text() == "Choose its details file…"
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    page.primary_button.click()
    (dialog,) = opened_dialogs
    dialog.fileSelected.emit(str(machine_file))
    assert page.primary_button.text() == "Prepare the folder"
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    assert app.orders[0][0].os.system == "windows"


def test_file_without_a_machine_is_reported(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    page.use_machine_file(tmp_path / "no.json")
    qtbot.waitUntil(lambda: page.primary_button.text() == "Choose another file…", timeout=5000)
    assert "is not a details file" in seen(page)
    assert app.orders == []


def test_file_that_changed_after_it_was_read_is_refused(app, at_prepare, machine_file, qtbot):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(machine_file.parent / "stick")
    page.use_machine_file(machine_file)
    qtbot.waitUntil(lambda: "RTX 4060" in page.target_card.description_label.text(), timeout=5000)
    machine_file.write_text("{}", encoding="utf-8")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert page.primary_button.text() == "Choose another file…"  # the same file stays wrong
    assert app.orders == []


def test_size_counts_all_that_the_goal_needs(machine_566, tmp_path):
    app = App(data_dir=str(tmp_path / "data"))
    sizes = {}
    for goal in ("pytorch", "cuda-dev"):
        recommendation = app.setup.recommend(machine_566, goal=goal)
        sizes[goal] = app.bundles.needed_bytes(machine_566, recommendation)
    torch = app.setup.recommend(machine_566).pytorch
    packages = app.catalog.sizes(torch.variant, "windows", torch.version).download_bytes
    assert packages < sizes["pytorch"] < sizes["cuda-dev"]  # the driver, then the toolkit


def test_other_file_is_read_while_one_is_read(app, at_prepare, machine_file, qtbot, seen):
    page = at_prepare(app).side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_machine_file(machine_file.parent / "none.json")
    page.use_machine_file(machine_file)
    qtbot.waitUntil(lambda: "NVIDIA GeForce RTX 4060 · PyTorch" in seen(page), timeout=5000)
    assert "none.json" not in seen(page)


def test_file_is_read_again_for_another_goal(app, at_prepare, machine_file, qtbot, seen):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_machine_file(machine_file)
    qtbot.waitUntil(lambda: "NVIDIA GeForce RTX 4060 · PyTorch" in seen(page), timeout=5000)
    calls = app.calls.count("recommend")
    wizard.flow.state = replace(wizard.flow.state, goal="all")
    page.draw()
    qtbot.waitUntil(lambda: app.calls.count("recommend") == calls + 1, timeout=5000)


def test_computer_of_the_file_and_the_size_for_it_are_shown(app, at_prepare, machine_file, qtbot, seen):
    page = at_prepare(app).side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(machine_file.parent / "stick")
    page.use_machine_file(machine_file)
    qtbot.waitUntil(lambda: "Windows 11 Pro · NVIDIA GeForce RTX 4060 · PyTorch" in seen(page), timeout=5000)
    assert "About " in seen(page.folder_card)


@pytest.fixture
def machine_file(machine_566, tmp_path):
    file = tmp_path / "lab.json"
    file.write_bytes(msgspec.json.encode(machine_566))
    return file


def test_saved_machine_file_can_be_read(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    wizard.side_pages.create_page.save_machine(tmp_path / "computer.json")
    qtbot.waitUntil(lambda: "Saved: " in seen(wizard.side_pages.create_page), timeout=5000)
    machine = json.read_file(tmp_path / "computer.json", Machine, code="machine-file")
    assert machine == wizard.flow.state.machine


def test_download_is_paused_limited_and_resumed(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.step_panel.isVisible, timeout=5000)
    qtbot.waitUntil(lambda: page.step_panel.progress_bar.fraction() == pytest.approx(0.458, abs=0.01), timeout=5000)
    page.step_panel.download_controls.pause_button.click()
    assert wizard.side_pages.bundle_creator.rate_limiter.paused
    page.step_panel.download_controls.limit_picker.chosen.emit(5_000_000)
    assert wizard.side_pages.bundle_creator.rate_limiter.limit == 5_000_000
    page.step_panel.download_controls.pause_button.click()
    assert not wizard.side_pages.bundle_creator.rate_limiter.paused
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


def test_creation_is_stopped_after_confirmation_and_resumed(app, at_prepare, qtbot, yes, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.page.hasFocus, timeout=5000)
    qtbot.keyClick(page.cancel_button, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "stopped", timeout=5000)
    assert yes == ["Stop here?"]
    assert page.primary_button.text() == "Continue"
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    app.gate.set()
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    assert [order[2] for order in app.orders] == [tmp_path / "stick"] * 2


def test_creation_continues_while_page_is_hidden(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_000)
    wizard.side_pages.create_page.use_folder(tmp_path / "stick")
    wizard.side_pages.create_page.primary_button.click()
    wizard.rail.chosen.emit(1)
    assert wizard.computer.isVisible()
    assert wizard.side_pages.is_creating_bundle
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    wizard.controller.go_next()
    wizard.recommendation.bundle_controls.create_button.click()
    assert wizard.side_pages.create_page.ready_card.isVisible()


def test_call_error_asks_for_another_folder(app, at_prepare, qtbot, seen, tmp_path):
    app.results["bundle"] = UsageError("bundle-folder-occupied", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert page.verdict_hero.title_label.text() == "This folder is not empty"
    assert "contains other files" in seen(page)
    assert page.primary_button.text() == "Choose another folder…"
    page.use_folder(tmp_path / "new")
    assert page.primary_button.text() == "Prepare the folder"
    assert not page.verdict_hero.isVisible()


def test_transient_error_can_be_retried(app, at_prepare, qtbot, tmp_path):
    app.results["bundle"] = AppError("disk-full", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert page.primary_button.text() == "Try again"
    app.results["bundle"] = None
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


@pytest.fixture
def asking(app):
    """Services whose sources answer; of another computer they have what stands in for its build."""
    stands_in = RecommendationWarning(
        code="source-on-cpu",
        data={
            "site": "@site.pytorch-wheels",
            "index": "@answer.absent",
            "version": "2.15.0",
            "download_bytes": 3_000_000_000,
        },
    )
    recommendation = replace(cpu_recommendation(None), warnings=(stands_in,))
    plan = make_plan(recommendation, str(app.folder / "env"))
    app.results["sources"] = AvailableSetup(recommendation=recommendation, plan=plan, files={})
    app.may_ask_sources = True
    return app


def test_sources_are_asked_for_what_was_shown_before_the_folder_is_made(asking, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(asking)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    shown = wizard.flow.state.recommendation.pytorch
    assert f"ask for a folder: {shown.version}+{shown.variant}" in asking.calls


def test_file_that_is_gone_has_the_recommendation_made_anew(asking, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(asking)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    asking.unavailable = AppError("file-gone", name="torch.whl", host="example.org")
    asking.calls.clear()
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert "torch.whl" in seen(page)
    assert asking.orders == []
    # Once for the folder, then once for the recommendation.
    qtbot.waitUntil(lambda: asking.calls.count("check sources") == 2, timeout=5000)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    asking.unavailable = None
    qtbot.waitUntil(page.primary_button.isEnabled, timeout=5000)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


@BOTH
def test_what_stands_in_for_another_computers_build_is_said(
    asking, at_prepare, qtbot, seen, speak, machine_file, tmp_path, code
):
    wizard = at_prepare(asking)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    page.use_machine_file(machine_file)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    speak(code)
    assert {"en": "comes from the general package index instead", "zh_CN": "改从通用软件包源下载"}[code] in seen(page)
    assert "ask for a folder: what suits" in asking.calls
    assert asking.orders[0][1] == asking.results["sources"].recommendation


def test_dialogs_ask_for_right_kind_and_use_the_answer(app, at_prepare, tmp_path):
    page = at_prepare(app).side_pages.create_page
    folder, file, save = page.create_folder_dialog(), page.create_file_dialog(), page.create_save_dialog()
    assert folder.fileMode() == QFileDialog.FileMode.Directory
    assert file.fileMode() == QFileDialog.FileMode.ExistingFile
    assert save.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    folder.fileSelected.emit(str(tmp_path))
    assert page.current_order() is not None
    file.fileSelected.emit(str(tmp_path / "a.json"))
    page.target_card.target_segments.buttons[1].click()
    assert page.current_order().machine == tmp_path / "a.json"
    for dialog in (folder, file, save):
        dialog.deleteLater()


def test_back_returns_to_the_opening_page(app, at_prepare, qtbot):
    wizard = at_prepare(app)
    qtbot.keyClick(wizard.side_pages.create_page, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.recommendation.isVisible()
    qtbot.keyClick(wizard.recommendation, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.computer.isVisible()


@BOTH
def test_tab_reaches_every_named_control(app, at_prepare, speak, qtbot, tmp_path, code):
    wizard = at_prepare(app)
    speak(code)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    seen = set()
    while (here := QApplication.focusWidget()) not in seen:
        seen.add(here)
        assert here.accessibleName() or here.text(), here
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    # Of a choice the one that holds is reached, and arrows move within.
    assert {page.target_card.save_button, page.folder_card.choose_button, page.primary_button, page.back_button} <= seen
    assert set(page.target_card.target_segments.buttons) & seen
