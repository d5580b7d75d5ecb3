"""The window speaks of a newer version: quietly, on Home and in Settings, and never does anything by itself."""

from __future__ import annotations

import shlex
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QDesktopServices

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui.main import updates as model
from gpu_assistant.gui.main.main_area import HOME, SETTINGS
from gpu_assistant.gui.worker import JobRunner
from tests.fakes.fault_server import Fault, fault_server
from tests.fakes.main_window import FakeMain
from tests.fakes.system import FakeSystem
from tests.fakes.updates import PLACE, Publisher

pytestmark = pytest.mark.gui

SETUP = bytes(range(256)) * 4096


class Starting(FakeSystem):
    """A Windows that notes what it would start."""

    def __init__(self) -> None:
        super().__init__(name="windows")
        self.started: list[str] = []

    def start_checked(self, program: Path, check) -> None:
        with program.open("rb") as file:
            check(file)
        self.started.append(program.name)


@pytest.fixture
def publisher():
    with fault_server() as server:
        yield Publisher(server)


@pytest.fixture
def system():
    return Starting()


@pytest.fixture
def app(tmp_path, publisher, system):
    made = FakeMain(tmp_path)
    made.updates = publisher.service(tmp_path / "data", system)
    return made


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(model, "FIRST_CHECK_DELAY_MS", 1)


@pytest.fixture
def window_with_update(publisher, open_window, app, qtbot, soon):
    """A window that has found version 1.2.0 by itself."""

    def opened(*files):
        publisher.publish(publisher.statement("1.2.0", *(files or (publisher.file(SETUP),))))
        window = open_window(app)
        qtbot.waitUntil(lambda: window.main_area.updates.newer_version is not None, timeout=10_000)
        qtbot.waitUntil(lambda: not window.main_area.updates.is_checking, timeout=5_000)
        return window

    return opened


def offer(window):
    return window.main_area.pages[HOME].update_card.update_panel


def settings(window):
    window.main_area.open_page(SETTINGS)
    return window.main_area.pages[SETTINGS].updates_card


def test_build_without_publisher_checks_nothing(open_window, tmp_path, qtbot, soon):
    window = open_window(FakeMain(tmp_path))
    card = settings(window)
    assert "cannot check for updates" in card.unsupported_label.text()
    assert card.unsupported_label.isVisible()
    assert not any(
        part.isVisible()
        for part in (card.check_button, card.daily_check_switch, card.last_check_label, card.update_panel)
    )
    # The first look is due, waits for the graphs' libraries on a slow computer, and asks nobody.
    qtbot.waitUntil(lambda: window.main_area.updates.check_timer.interval() == model.CHECK_INTERVAL_MS, timeout=60_000)
    assert window.main_area.updates.check_result is None
    assert not (tmp_path / "data" / "state" / "updates.json").exists()


def test_home_announces_newer_version(window_with_update):
    window = window_with_update()
    card = window.main_area.pages[HOME].update_card
    assert card.isVisible()
    assert offer(window).headline_label.text() == "GPU Assistant 1.2.0 is available"
    assert offer(window).detail_label.text() == "Released 20 November 2026 · 1 MB · you have 1.0.0"
    assert [
        b.text() for b in (offer(window).install_button, offer(window).notes_button, offer(window).later_button)
    ] == [
        "Update",
        "Release notes",
        "Not now",
    ]
    assert not offer(window).progress_bar.isVisible()


def test_an_offer_takes_one_row_where_there_is_room(window_with_update, qtbot):
    window = window_with_update()
    panel = offer(window)

    def is_beside() -> bool:
        return left_of_button() > panel.headline_label.geometry().right()

    def left_of_button() -> int:
        return panel.install_button.mapTo(panel, panel.install_button.rect().topLeft()).x()

    window.resize(1180, 760)
    qtbot.waitUntil(is_beside, timeout=5000)
    panel.setFixedWidth(400)
    qtbot.waitUntil(lambda: not is_beside() and left_of_button() == panel.headline_label.x(), timeout=5000)


def test_settings_over_the_wizard_offer_the_same_version_as_the_main_area(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP)))
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    window.wizard.settings_button.click()
    card = window.settings_overlay.page.updates_card
    qtbot.waitUntil(card.update_panel.isVisible, timeout=10_000)
    assert card.update_panel.headline_label.text() == "GPU Assistant 1.2.0 is available"
    card.update_panel.install_button.click()
    qtbot.waitUntil(lambda: window.updates.stage == "ready", timeout=10_000)
    window.settings_overlay.back_button.click()
    window.show_main()
    qtbot.waitUntil(lambda: HOME in window.main_area.pages and window.main_area.isVisible(), timeout=10_000)
    assert settings(window).update_panel.install_button.text() == card.update_panel.install_button.text()
    assert window.main_area.updates is window.updates


def test_update_over_the_wizard_is_installed_once_the_work_may_stop(
    publisher, open_window, app, qtbot, soon, system, monkeypatch
):
    from gpu_assistant.gui.widgets.dialogs import ConfirmDialog

    answers = [False, True]
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *_, **__: answers.pop(0))
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP)))
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    window.wizard.settings_button.click()
    panel = window.settings_overlay.page.updates_card.update_panel
    qtbot.waitUntil(panel.isVisible, timeout=10_000)
    panel.install_button.click()
    qtbot.waitUntil(lambda: window.updates.stage == "ready", timeout=10_000)
    monkeypatch.setattr(type(window.wizard.flow), "is_locked", property(lambda self: True))
    panel.install_button.click()
    assert (answers, system.started, window.updates.stage) == ([True], [], "ready")
    panel.install_button.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    assert system.started == ["Setup-1.2.0.exe"]


def test_current_version_shows_nothing(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.0.0"))
    window = open_window(app)
    qtbot.waitUntil(
        lambda: window.main_area.updates.last_check is not None and not window.main_area.updates.is_checking,
        timeout=10_000,
    )
    assert not window.main_area.pages[HOME].update_card.isVisible()
    assert "This is the newest version." in settings(window).last_check_label.text()


def test_no_automatic_download(window_with_update, publisher, qtbot, app):
    window = window_with_update()
    qtbot.wait(50)
    assert {seen.path for seen in publisher.server.seen} == {PLACE}
    assert window.main_area.updates.stage == "found"
    assert not app.updates.folder.exists()


def test_release_notes_open_in_browser(window_with_update, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    window = window_with_update()
    offer(window).notes_button.click()
    assert opened == ["https://example.invalid/notes"]


def test_declined_version_is_remembered(window_with_update, open_window, app, qtbot, publisher):
    window = window_with_update()
    offer(window).later_button.click()
    assert not window.main_area.pages[HOME].update_card.isVisible()
    qtbot.waitUntil(
        lambda: not any(runner.running for runner in window.main_area.updates.findChildren(JobRunner)), timeout=5_000
    )
    # Settings still offers it, for who changes their mind.
    assert settings(window).update_panel.isVisible()
    assert not settings(window).update_panel.later_button.isVisible()
    again = open_window(app)
    qtbot.waitUntil(lambda: again.main_area.updates.newer_version is not None, timeout=10_000)
    qtbot.waitUntil(lambda: not again.main_area.updates.is_checking, timeout=5_000)
    assert not again.main_area.pages[HOME].update_card.isVisible()
    assert publisher.request_count() == 1


def test_disabled_checks_ask_nobody(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.2.0"))
    app.settings = replace(app.settings, look_for_updates=False)
    window = open_window(app)
    qtbot.waitUntil(lambda: window.main_area.updates.last_check is not None, timeout=10_000)
    assert publisher.request_count() == 0
    assert not settings(window).daily_check_switch.is_on


def test_daily_check_setting_is_saved(window_with_update, app):
    window = window_with_update()
    card = settings(window)
    assert card.daily_check_switch.is_on
    card.daily_check_switch.click()
    assert app.settings.look_for_updates is False
    window.main_area.open_page(HOME)
    assert not window.main_area.pages[HOME].update_card.isVisible()


def test_check_now_shows_outcome(publisher, open_window, app, qtbot, monkeypatch):
    monkeypatch.setattr(model, "FIRST_CHECK_DELAY_MS", model.CHECK_INTERVAL_MS)  # nobody but the button asks
    window = open_window(app)
    card = settings(window)
    qtbot.waitUntil(
        lambda: window.main_area.updates.last_check is not None and not window.main_area.updates.is_checking,
        timeout=5_000,
    )
    assert card.last_check_label.text() == "Not checked yet."
    card.check_button.click()
    qtbot.waitUntil(lambda: "did not answer" in card.last_check_label.text(), timeout=10_000)
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP)))
    card.check_button.click()
    qtbot.waitUntil(lambda: card.last_check_label.text().endswith("A newer version is available."), timeout=10_000)
    assert card.last_check_label.text().startswith("Last checked 2026-11-2")
    assert card.update_panel.isVisible()


def test_offer_to_installer(window_with_update, system, qtbot):
    window = window_with_update()
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    assert view.install_button.text() == "Install now"
    assert view.headline_label.text() == "GPU Assistant 1.2.0 is ready to install"
    assert "This window closes" in view.instructions.text()
    assert system.started == []
    view.install_button.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    assert system.started == ["Setup-1.2.0.exe"]


def test_download_shows_progress_and_can_be_cancelled(window_with_update, publisher, qtbot):
    window = window_with_update()
    publisher.server.files["/files/Setup-1.2.0.exe"].faults = [Fault("stall", after=500_000)]
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(lambda: "500 kB of 1 MB" in view.progress_label.text(), timeout=10_000)
    assert view.headline_label.text() == "Downloading GPU Assistant 1.2.0"
    assert not view.detail_label.isVisible()
    assert view.progress_bar.isVisible()
    assert 0.4 < view.progress_bar.fraction() < 0.6
    assert not view.install_button.isVisible()
    view.cancel_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "found", timeout=10_000)
    publisher.server.let_go.set()
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)


def test_wrong_file_is_reported_and_can_be_retried(window_with_update, publisher, qtbot, system):
    window = window_with_update()
    served = publisher.server.files["/files/Setup-1.2.0.exe"]
    served.data = SETUP[:-1] + b"!"
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(view.error_label.isVisible, timeout=10_000)
    assert view.install_button.text() == "Update"
    served.data = SETUP
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    assert not view.error_label.isVisible()


def test_file_changed_after_download_is_not_started(window_with_update, qtbot, system, app):
    window = window_with_update()
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    window.main_area.updates.file_path.write_bytes(b"evil")
    view.install_button.click()
    qtbot.waitUntil(view.error_label.isVisible, timeout=10_000)
    assert "not the one that the publisher signed" in view.error_label.text()
    assert window.isVisible()
    assert system.started == []
    assert view.install_button.text() == "Update"


def test_installer_start_error_is_shown(window_with_update, qtbot, system, monkeypatch):
    def refused(program, check):
        raise OSError(13, "Access denied")

    monkeypatch.setattr(system, "start_checked", refused)
    window = window_with_update()
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    view.install_button.click()
    qtbot.waitUntil(lambda: "you do not have permission to do this" in view.error_label.text(), timeout=10_000)
    assert window.isVisible()
    assert view.install_button.text() == "Install now"


def test_running_work_is_confirmed_before_installer_starts(window_with_update, qtbot, system, app, monkeypatch):
    from gpu_assistant.gui.widgets.dialogs import ConfirmDialog

    answers, questions = [False, True], []

    def ask(parent, question, consequence, accept_text, reject_text, *, dismiss_signal=None):
        questions.append(question)
        return answers.pop(0)

    monkeypatch.setattr(ConfirmDialog, "ask", ask)
    window = window_with_update()
    view = offer(window)
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    monkeypatch.setattr(type(window.main_area), "is_benchmarking", property(lambda self: True))
    view.install_button.click()
    assert (questions, system.started, window.main_area.updates.stage) == (["Stop the benchmark?"], [], "ready")
    view.install_button.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    assert len(questions) == 2
    assert system.started == ["Setup-1.2.0.exe"]


def test_archive_is_shown_in_its_folder(publisher, tmp_path, open_window, qtbot, soon):
    system = FakeSystem()
    app = FakeMain(tmp_path)
    app.updates = publisher.service(tmp_path / "data", system, kind="deb")
    name = "gpu-assistant_1.2.0_amd64.deb"
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP, "deb", name)))
    window = open_window(app)
    qtbot.waitUntil(
        lambda: window.main_area.updates.newer_version is not None and not window.main_area.updates.is_checking,
        timeout=10_000,
    )
    view = offer(window)
    assert view.install_button.text() == "Download"
    view.install_button.click()
    qtbot.waitUntil(lambda: window.main_area.updates.stage == "ready", timeout=10_000)
    assert view.command_box.isVisible()
    assert shlex.split(view.command_box.text_edit.toPlainText()) == [
        "sudo",
        "apt",
        "install",
        str(window.main_area.updates.file_path),
    ]
    view.install_button.click()
    qtbot.waitUntil(lambda: bool(system.opened), timeout=10_000)
    assert system.opened == [app.updates.folder]
    assert window.isVisible()


def test_no_file_for_this_copy_offers_the_page(window_with_update, publisher):
    window = window_with_update(publisher.file(SETUP, "deb", "gpu-assistant_1.2.0_amd64.deb"))
    view = offer(window)
    assert not view.install_button.isVisible()
    assert view.notes_button.isVisible()
    assert "no file for this" in view.detail_label.text()


def test_source_checkout_shows_update_command(window_with_update, publisher, app, tmp_path, system):
    app.updates = publisher.service(tmp_path / "data", system, kind="source")
    view = offer(window_with_update(publisher.file(SETUP, "wheel", "gpu_assistant-1.2.0-py3-none-any.whl")))
    assert view.instructions.isVisible()
    assert "git pull" in view.instructions.text()
    assert "dev.py" in view.instructions.text()
    assert view.detail_label.text() == "Released 20 November 2026 · you have 1.0.0"
    assert not view.install_button.isVisible()
    assert not view.command_box.isVisible()


def test_closing_window_ends_running_check(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.2.0"))
    publisher.server.files[PLACE].faults = [Fault("stall", after=10)]
    window = open_window(app)
    qtbot.waitUntil(publisher.server.stalled.is_set, timeout=10_000)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=5_000)


def test_broken_catalog_is_shown_in_settings(open_window, tmp_path):
    class Broken(FakeMain):
        @property
        def updates(self):
            raise AppError("catalog-broken", file="updates.json", detail="cut")

        @updates.setter
        def updates(self, value):
            pass

    window = open_window(Broken(tmp_path))
    card = settings(window)
    assert "updates.json" in card.error_label.text()
    assert card.error_label.isVisible()


def test_check_runs_in_its_own_thread(publisher, open_window, app, qtbot, soon):
    threads = []
    check = app.updates.check

    def noted(ask):
        job = check(ask)
        run = job.run
        job.run = lambda context: (threads.append(threading.current_thread()), run(context))[1]
        return job

    app.updates.check = noted
    publisher.publish(publisher.statement("1.2.0"))
    window = open_window(app)
    qtbot.waitUntil(lambda: window.main_area.updates.newer_version is not None, timeout=10_000)
    assert threads
    assert threading.main_thread() not in threads
