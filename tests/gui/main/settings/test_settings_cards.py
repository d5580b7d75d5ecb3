"""Settings: proxy, folders, start, removal; and the way to them from the wizard."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QDialog, QLineEdit

from gpu_assistant.core.downloads_folder import DownloadsRecord, write_record
from gpu_assistant.core.errors import AppError
from gpu_assistant.fetch.connection_check import ConnectionAnswer
from gpu_assistant.gui.main.main_area import SETTINGS
from gpu_assistant.gui.main.settings.page import SettingsPage
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.install.jobs.move_downloads import MoveProgress
from tests.fakes.app import FakeJob

pytestmark = pytest.mark.gui
MANUAL, NONE = 2, 1


@pytest.fixture
def window(open_window, app):
    return open_window(app)


@pytest.fixture
def page(window) -> SettingsPage:
    window.main_area.open_page(SETTINGS)
    return window.main_area.pages[SETTINGS]


class TestJump:
    def test_each_card_can_be_reached_from_the_top(self, page, language, qtbot):
        assert page.jump_button.text() == "Jump to section"
        entries = page.build_jump_menu().actions()
        titles = [entry.text() for entry in entries]
        assert titles[0] == "Language and appearance"
        assert titles[-1] == "Remove GPU Assistant"
        assert len(titles) == len(set(titles)) == sum(card.isVisible() for card in page.cards)
        assert all(titles)
        next(entry for entry in entries if entry.text() == "Internet connection").trigger()
        qtbot.waitUntil(lambda: not page.proxy_card.visibleRegion().isEmpty(), timeout=5000)
        assert page.verticalScrollBar().value() > 0
        assert page.proxy_card.isAncestorOf(page.window().focusWidget())
        language.set("zh_CN")
        qtbot.waitUntil(lambda: page.jump_button.text() == "跳转到", timeout=5000)
        assert page.build_jump_menu().actions()[1].text() == page.startup_card.card_title.text()


class TestOneTermForOneThing:
    def test_system_setting_is_called_the_same_for_theme_and_proxy(self, page, language, qtbot):
        for code, text in (("en", "Use system setting"), ("zh_CN", "跟随系统")):
            language.set(code)
            qtbot.waitUntil(lambda text=text: page.proxy_card.use_segments.buttons[0].text() == text, timeout=5000)
            assert page.theme_segments.buttons[0].text() == text

    def test_text_sizes_are_written_as_the_language_writes_percentages(self, page, language, qtbot):
        assert page.scale_segments.buttons[0].text() == "100%"
        language.set("zh_CN")
        qtbot.waitUntil(lambda: page.scale_segments.buttons[0].text() == "100%", timeout=5000)

    def test_the_label_says_speed_limit_and_the_choice_none(self, page):
        assert page.downloads_card.speed_picker.text() == "None"


class TestProxy:
    def test_fields_are_shown_for_a_proxy_by_hand_alone(self, page):
        card = page.proxy_card
        assert card.manual_panel.isHidden()
        card.use_segments.buttons[MANUAL].click()
        assert not card.manual_panel.isHidden()
        card.use_segments.buttons[NONE].click()
        assert card.manual_panel.isHidden()

    def test_address_is_saved_without_the_credentials_that_were_pasted_with_it(self, page, app):
        card = page.proxy_card
        card.use_segments.buttons[MANUAL].click()
        card.address_field.setText("http://mei:s%40fe@proxy.example:8080/")
        assert card.apply_fields()
        assert app.settings.proxy_address == "http://proxy.example:8080"
        assert app.proxy_credentials == ("mei", "s@fe")
        assert card.address_field.text() == "http://proxy.example:8080"
        assert card.password_field.echoMode() == QLineEdit.EchoMode.Password

    def test_what_is_no_address_is_named_and_not_saved(self, page, app):
        card = page.proxy_card
        card.use_segments.buttons[MANUAL].click()
        card.address_field.setText("socks5://proxy:1080")
        assert not card.apply_fields()
        assert card.result_label.text().startswith("This is not a proxy address.")
        assert app.settings.proxy_address is None
        card.test_button.click()
        assert not card.is_testing

    @pytest.mark.parametrize(
        ("outcome", "sentence"),
        [
            ("answers", "index.invalid answered in 0.4 s, without a proxy."),
            ("proxy-credentials", "The proxy http://p:1 asks for a user name and a password."),
        ],
    )
    def test_the_outcome_of_a_test_is_a_sentence(self, page, app, qtbot, outcome, sentence):
        app.results["connection"] = ConnectionAnswer(
            outcome=outcome, host="index.invalid", proxy="http://p:1", seconds=0.42
        )
        page.proxy_card.test_button.click()
        qtbot.waitUntil(lambda: page.proxy_card.result_label.text().startswith(sentence))

    def test_a_running_test_is_cancelled_by_the_same_button(self, page, app, qtbot):
        app.gate = threading.Event()
        card = page.proxy_card
        card.test_button.click()
        assert card.test_button.text() == "Cancel"
        card.test_button.click()
        qtbot.waitUntil(lambda: not card.is_testing)
        assert card.test_button.text() == "Test connection"


class TestFolders:
    def test_a_folder_is_opened(self, page, app, qtbot):
        app.data.root.mkdir(parents=True)
        page.folders_card.open_data_button.click()
        qtbot.waitUntil(lambda: ("folder", app.data.root) in app.system.opened)

    def test_one_that_is_not_there_yet_opens_the_one_above_it(self, page, app, qtbot):
        page.folders_card.downloads.open_button.click()
        qtbot.waitUntil(lambda: ("folder", app.folder) in app.system.opened)

    def test_new_environments_go_to_another_folder_and_back(self, page, app, qtbot):
        card, folder = page.folders_card, app.folder / "big" / "disk"
        card.use_folder(folder)
        qtbot.waitUntil(lambda: app.settings.environments_folder == str(folder))
        assert card.environments_row.path_label.text() == str(folder)
        card.reset_button.click()
        assert app.settings.environments_folder is None
        assert card.environments_row.path_label.text() == str(app.folder / "environments")

    def test_a_folder_that_cannot_be_used_changes_nothing_and_says_why(self, page, app, qtbot):
        card, folder = page.folders_card, app.folder / "usr"
        app.refusals[str(folder)] = AppError("folder-unwritable", path=str(folder))
        card.use_folder(folder)
        qtbot.waitUntil(lambda: str(folder) in card.message_label.text())
        assert app.settings.environments_folder is None


class TestStart:
    def test_start_with_the_computer_is_asked_and_set(self, page, app, qtbot):
        switch = page.startup_card.start_switch
        qtbot.waitUntil(lambda: switch.accessibleDescription() == "Off")
        switch.click()
        qtbot.waitUntil(lambda: app.starts_with_system)
        assert switch.is_on

    def test_a_system_that_refuses_is_named(self, page, app, qtbot):
        app.refusals["startup"] = AppError("startup-unusable", detail="read-only")
        switch = page.startup_card.start_switch
        qtbot.waitUntil(lambda: switch.accessibleDescription() == "Off")
        switch.click()
        qtbot.waitUntil(lambda: "read-only" in page.startup_card.error_label.text())

    def test_notices_of_finished_work_are_switched_off(self, page, app):
        page.startup_card.finish_switch.click()
        assert not app.settings.finish_notices


class TestMovingDownloads:
    @pytest.fixture
    def wheel(self, app) -> str:
        """A downloaded file's name."""
        path = app.data.claim(app.data.files) / "0123456789abcdef" / "torch.whl"
        path.parent.mkdir()
        path.write_bytes(b"torch")
        return "0123456789abcdef/torch.whl"

    def test_they_go_to_the_chosen_folder_and_back(self, page, app, qtbot, wheel):
        card, folder = page.folders_card, app.folder / "big"
        assert card.downloads.move_back_button.isHidden()
        card.downloads.move_to(folder)
        assert not card.downloads.progress_row.isHidden()
        assert not card.downloads.move_button.isEnabled()
        qtbot.waitUntil(lambda: card.downloads.note_label.text() == "Moved. Nothing is left in the old folder.")
        assert (folder / "files" / wheel).read_bytes() == b"torch"
        assert card.downloads.row.path_label.text() == str(folder / "files")
        assert card.downloads.progress_row.isHidden()
        card.downloads.move_back_button.click()
        qtbot.waitUntil(lambda: card.downloads.row.path_label.text() == str(app.data.cache / "files"))
        assert (app.data.cache / "files" / wheel).read_bytes() == b"torch"

    def test_the_dialog_of_the_button_leads_there(self, page, app, qtbot, wheel):
        card, folder = page.folders_card, app.folder / "big"
        card.downloads.create_dialog().fileSelected.emit(str(folder))
        qtbot.waitUntil(lambda: (folder / "files" / wheel).is_file() and not card.downloads.runner.running)

    def test_cancel_ends_it_and_says_that_nothing_moved(self, page, app, qtbot):
        app.gate = threading.Event()
        halfway = MoveProgress(done=1, total=2)
        app.move_downloads = lambda folder: FakeJob(None, (halfway,), app.gate)
        card = page.folders_card
        card.downloads.move_to(app.folder / "big")
        qtbot.waitUntil(lambda: card.downloads.progress_bar.fraction() == 0.5)
        card.downloads.cancel_button.click()
        qtbot.waitUntil(lambda: card.downloads.note_label.text() == "Stopped. The downloads are where they were.")
        assert card.downloads.progress_row.isHidden()
        assert card.downloads.move_button.isEnabled()

    def test_a_folder_that_cannot_be_used_says_why(self, page, app, qtbot, wheel):
        card = page.folders_card
        card.downloads.move_to(app.data.root / "more")
        qtbot.waitUntil(lambda: "GPU Assistant keeps its own files" in card.message_label.text())
        assert (app.data.files / wheel).is_file()

    def test_a_move_that_was_cut_off_is_finished_and_said(self, window, app, qtbot, wheel):
        write_record(app.data, DownloadsRecord(leftover=str(app.folder / "big")))
        window.main_area.open_page(SETTINGS)
        card = window.main_area.pages[SETTINGS].folders_card
        qtbot.waitUntil(lambda: "was interrupted last time" in card.downloads.note_label.text())
        assert str(app.data.cache) in card.downloads.note_label.text()
        assert app.finish_move() is None

    def test_a_missing_disk_is_named(self, page, app):
        app.missing_downloads = app.folder / "gone"
        page.refresh()
        assert str(app.folder / "gone") in page.folders_card.downloads.note_label.text()


class TestRemoval:
    @pytest.fixture
    def dialogs(self, monkeypatch):
        """Answers each question that opens; `shown` collects them."""
        shown: list[ConfirmDialog] = []

        def opened(dialog: ConfirmDialog) -> None:
            shown.append(dialog)

        monkeypatch.setattr(ConfirmDialog, "open", opened)
        monkeypatch.setattr(ConfirmDialog, "exec", lambda dialog: shown.append(dialog) or QDialog.DialogCode.Rejected)
        return shown

    def test_what_goes_is_listed_before_anything_does(self, page, app, qtbot, dialogs):
        page.removal_card.all_button.click()
        qtbot.waitUntil(lambda: bool(dialogs))
        assert "4.2 GB" in dialogs[0].accessibleDescription()
        dialogs[0].reject()
        assert app.calls.count("purge") == 1
        assert not page.removal_card.purge_runner.running

    def test_environments_stay_if_that_is_wanted(self, page, app, qtbot, dialogs):
        page.removal_card.data_button.click()
        qtbot.waitUntil(lambda: bool(dialogs))
        assert "purge keeping" in app.calls

    def test_after_the_removal_nothing_is_written_and_the_window_closes(self, window, page, app, qtbot, dialogs):
        page.removal_card.all_button.click()
        qtbot.waitUntil(lambda: bool(dialogs))
        dialogs[0].accepted.emit()
        qtbot.waitUntil(window.isHidden)
        assert (window.data_removed, window.environments_kept) == (True, False)
        assert not (app.data.state / "window.geometry").exists()

    def test_a_removal_that_failed_keeps_the_window_and_says_so(self, window, page, app, qtbot, dialogs):
        app.results["purge"] = AppError("environment-in-use", path="/environments/pytorch")
        page.removal_card.all_button.click()
        qtbot.waitUntil(lambda: bool(dialogs))
        dialogs[0].accepted.emit()
        qtbot.waitUntil(lambda: "Not everything was removed." in page.removal_card.error_label.text())
        assert window.isVisible()
        assert not window.data_removed


def test_settings_open_over_the_wizard_and_leave_it_as_it_was(open_window, app):
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    wizard = window.wizard
    wizard.controller.go_next()
    shown = wizard.flow.page
    wizard.settings_button.click()
    overlay = window.settings_overlay
    assert overlay.isVisible()
    overlay.back_button.click()
    assert wizard.isVisible()
    assert (window.wizard, wizard.flow.page) == (wizard, shown)


@pytest.fixture
def over_wizard(open_window, app):
    """The window with the settings over the wizard's second page."""
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    window.wizard.controller.go_next()
    window.wizard.settings_button.click()
    return window


def test_settings_over_the_wizard_keep_its_steps_in_view(over_wizard, language, qtbot):
    wizard, overlay = over_wizard.wizard, over_wizard.settings_overlay
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    wizard_steps = [button.accessibleName() for button in wizard.rail.buttons]
    assert [button.accessibleName() for button in overlay.rail.buttons] == wizard_steps
    assert overlay.rail.width() == wizard.rail.width()
    language.set("zh_CN")
    qtbot.waitUntil(lambda: "欢迎" in overlay.rail.buttons[0].accessibleName(), timeout=5000)
    overlay.rail.buttons[0].click()
    assert wizard.isVisible()
    assert wizard.flow.page == "welcome"


@pytest.mark.parametrize("button", ["create_bundle_button", "load_bundle_button"])
def test_offline_folders_open_from_the_settings_over_the_wizard_and_lead_back_to_it(over_wizard, button, qtbot):
    wizard = over_wizard.wizard
    shown = wizard.flow.page
    card = over_wizard.settings_overlay.page.offline_card
    assert card.isVisibleTo(over_wizard)
    getattr(card, button).click()
    pages = wizard.side_pages
    page = pages.create_page if button == "create_bundle_button" else pages.load_page
    qtbot.waitUntil(page.isVisible)
    page.back_button.click()
    assert over_wizard.wizard is wizard
    assert wizard.isVisible()
    assert wizard.flow.page == shown
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)


def test_no_offline_folder_is_begun_beside_an_install(over_wizard, monkeypatch):
    overlay = over_wizard.settings_overlay
    assert overlay.page.offline_card.create_bundle_button.isEnabled()
    overlay.back_button.click()
    # Undone before the window closes, which would ask whether to stop the install.
    with monkeypatch.context() as patch:
        patch.setattr(type(over_wizard.wizard.flow), "is_locked", property(lambda self: True))
        over_wizard.wizard.settings_button.click()
        assert not overlay.page.offline_card.create_bundle_button.isEnabled()
