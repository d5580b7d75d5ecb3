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
from gpu_assistant.gui.main.settings.cards import OFF, ON
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
    monkeypatch.setattr(model, "FIRST_LOOK_MS", 1)


@pytest.fixture
def found(publisher, open_window, app, qtbot, soon):
    """A window that has found version 1.2.0 by itself."""

    def opened(*files):
        publisher.publish(publisher.statement("1.2.0", *(files or (publisher.file(SETUP),))))
        window = open_window(app)
        qtbot.waitUntil(lambda: window.area.updates.newer is not None, timeout=10_000)
        qtbot.waitUntil(lambda: not window.area.updates.asking, timeout=5_000)
        return window

    return opened


def offer(window):
    return window.area.pages[HOME].update_card.offer


def settings(window):
    window.area.open(SETTINGS)
    return window.area.pages[SETTINGS].updates


def test_build_without_publisher_checks_nothing(open_window, tmp_path, qtbot, soon):
    window = open_window(FakeMain(tmp_path))
    card = settings(window)
    assert "looks for no updates" in card.dormant.text()
    assert card.dormant.isVisible()
    assert not any(part.isVisible() for part in (card.check, card.choice, card.last, card.offer))
    # The first look is due, waits for the graphs' libraries on a slow computer, and asks nobody.
    qtbot.waitUntil(lambda: window.area.updates._timer.interval() == model.CHECK_INTERVAL_MS, timeout=60_000)
    assert window.area.updates.look is None
    assert not (tmp_path / "data" / "state" / "updates.json").exists()


def test_home_announces_newer_version(found):
    window = found()
    card = window.area.pages[HOME].update_card
    assert card.isVisible()
    assert offer(window).headline.text() == "Version 1.2.0 is available"
    assert offer(window).detail.text() == "You have 1.0.0 · released 2026-11-20 · 1 MB"
    assert [b.text() for b in (offer(window).go, offer(window).news, offer(window).later)] == [
        "Download and install",
        "What is new",
        "Not now",
    ]
    assert not offer(window).progress.isVisible()


def test_current_version_shows_nothing(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.0.0"))
    window = open_window(app)
    qtbot.waitUntil(lambda: window.area.updates.known is not None and not window.area.updates.asking, timeout=10_000)
    assert not window.area.pages[HOME].update_card.isVisible()
    assert "This is the newest version." in settings(window).last.text()


def test_no_automatic_download(found, publisher, qtbot, app):
    window = found()
    qtbot.wait(50)
    assert {seen.path for seen in publisher.server.seen} == {PLACE}
    assert window.area.updates.stage == "found"
    assert not app.updates.folder.exists()


def test_release_notes_open_in_browser(found, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    window = found()
    offer(window).news.click()
    assert opened == ["https://example.invalid/notes"]


def test_declined_version_is_remembered(found, open_window, app, qtbot, publisher):
    window = found()
    offer(window).later.click()
    assert not window.area.pages[HOME].update_card.isVisible()
    qtbot.waitUntil(lambda: not window.area.updates._keeping.running, timeout=5_000)
    # Settings still offers it, for who changes their mind.
    assert settings(window).offer.isVisible()
    assert not settings(window).offer.later.isVisible()
    again = open_window(app)
    qtbot.waitUntil(lambda: again.area.updates.newer is not None, timeout=10_000)
    qtbot.waitUntil(lambda: not again.area.updates.asking, timeout=5_000)
    assert not again.area.pages[HOME].update_card.isVisible()
    assert publisher.asked() == 1


def test_disabled_checks_ask_nobody(publisher, open_window, app, qtbot, soon):
    publisher.publish(publisher.statement("1.2.0"))
    app.settings = replace(app.settings, look_for_updates=False)
    window = open_window(app)
    qtbot.waitUntil(lambda: window.area.updates.known is not None, timeout=10_000)
    assert publisher.asked() == 0
    assert settings(window).choice.current() == OFF


def test_daily_check_setting_is_saved(found, app):
    window = found()
    card = settings(window)
    assert card.choice.current() == ON
    card.choice.buttons[OFF].click()
    assert app.settings.look_for_updates is False
    window.area.open(HOME)
    assert not window.area.pages[HOME].update_card.isVisible()


def test_check_now_shows_outcome(publisher, open_window, app, qtbot):
    window = open_window(app)
    card = settings(window)
    qtbot.waitUntil(lambda: window.area.updates.known is not None and not window.area.updates.asking, timeout=5_000)
    assert card.last.text() == "Not checked yet."
    card.check.click()
    qtbot.waitUntil(lambda: "did not answer" in card.last.text(), timeout=10_000)
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP)))
    card.check.click()
    qtbot.waitUntil(lambda: card.last.text().endswith("A newer version is available."), timeout=10_000)
    assert card.last.text().startswith("Last check 2026-11-2")
    assert card.offer.isVisible()


def test_offer_to_installer(found, system, qtbot):
    window = found()
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    assert view.go.text() == "Install now"
    assert "This window closes" in view.how.text()
    assert system.started == []
    view.go.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    assert system.started == ["Setup-1.2.0.exe"]


def test_download_shows_progress_and_can_be_cancelled(found, publisher, qtbot):
    window = found()
    publisher.server.files["/files/Setup-1.2.0.exe"].faults = [Fault("stall", after=500_000)]
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(lambda: "500 kB of 1 MB" in view.figures.text(), timeout=10_000)
    assert view.progress.isVisible()
    assert 0.4 < view.progress.fraction() < 0.6
    assert not view.go.isVisible()
    view.cancel.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "found", timeout=10_000)
    publisher.server.let_go.set()
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)


def test_wrong_file_is_reported_and_can_be_retried(found, publisher, qtbot, system):
    window = found()
    served = publisher.server.files["/files/Setup-1.2.0.exe"]
    served.data = SETUP[:-1] + b"!"
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(view.trouble.isVisible, timeout=10_000)
    assert view.go.text() == "Download and install"
    served.data = SETUP
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    assert not view.trouble.isVisible()


def test_file_changed_after_download_is_not_started(found, qtbot, system, app):
    window = found()
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    window.area.updates.path.write_bytes(b"evil")
    view.go.click()
    qtbot.waitUntil(view.trouble.isVisible, timeout=10_000)
    assert "not the one that the publisher signed" in view.trouble.text()
    assert window.isVisible()
    assert system.started == []
    assert view.go.text() == "Download and install"


def test_installer_start_error_is_shown(found, qtbot, system, monkeypatch):
    def refused(program, check):
        raise OSError(13, "Access denied")

    monkeypatch.setattr(system, "start_checked", refused)
    window = found()
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    view.go.click()
    qtbot.waitUntil(lambda: "you have no right to do this there" in view.trouble.text(), timeout=10_000)
    assert window.isVisible()
    assert view.go.text() == "Install now"


def test_running_work_is_confirmed_before_installer_starts(found, qtbot, system, app, monkeypatch):
    from gpu_assistant.gui.widgets.dialogs import ConfirmDialog

    answers, asked = [False, True], []

    def ask(parent, question, lost, go, stay):
        asked.append(question)
        return answers.pop(0)

    monkeypatch.setattr(ConfirmDialog, "ask", ask)
    window = found()
    view = offer(window)
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    monkeypatch.setattr(type(window.area), "measuring", property(lambda self: True))
    view.go.click()
    assert (asked, system.started, window.area.updates.stage) == (["Stop the benchmark?"], [], "ready")
    view.go.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)
    assert len(asked) == 2
    assert system.started == ["Setup-1.2.0.exe"]


def test_archive_is_shown_in_its_folder(publisher, tmp_path, open_window, qtbot, soon):
    system = FakeSystem()
    app = FakeMain(tmp_path)
    app.updates = publisher.service(tmp_path / "data", system, kind="deb")
    name = "gpu-assistant_1.2.0_amd64.deb"
    publisher.publish(publisher.statement("1.2.0", publisher.file(SETUP, "deb", name)))
    window = open_window(app)
    qtbot.waitUntil(lambda: window.area.updates.newer is not None and not window.area.updates.asking, timeout=10_000)
    view = offer(window)
    assert view.go.text() == "Download"
    view.go.click()
    qtbot.waitUntil(lambda: window.area.updates.stage == "ready", timeout=10_000)
    assert view.command.isVisible()
    assert shlex.split(view.command.text.toPlainText()) == ["sudo", "apt", "install", str(window.area.updates.path)]
    view.go.click()
    qtbot.waitUntil(lambda: bool(system.opened), timeout=10_000)
    assert system.opened == [app.updates.folder]
    assert window.isVisible()


def test_no_file_for_this_copy_offers_the_page(found, publisher):
    window = found(publisher.file(SETUP, "deb", "gpu-assistant_1.2.0_amd64.deb"))
    view = offer(window)
    assert not view.go.isVisible()
    assert view.news.isVisible()
    assert "without a file" in view.detail.text()


def test_source_checkout_shows_update_command(found, publisher, app, tmp_path, system):
    app.updates = publisher.service(tmp_path / "data", system, kind="source")
    view = offer(found(publisher.file(SETUP, "wheel", "gpu_assistant-1.2.0-py3-none-any.whl")))
    assert view.how.isVisible()
    assert "git pull" in view.how.text()
    assert "dev.py" in view.how.text()
    assert view.detail.text() == "You have 1.0.0 · released 2026-11-20"
    assert not view.go.isVisible()
    assert not view.command.isVisible()


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
    assert "updates.json" in card.trouble.text()
    assert card.trouble.isVisible()


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
    qtbot.waitUntil(lambda: window.area.updates.newer is not None, timeout=10_000)
    assert threads
    assert threading.main_thread() not in threads
