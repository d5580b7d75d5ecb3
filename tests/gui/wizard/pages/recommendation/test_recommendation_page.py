"""Recommendation: what should I install, and why?"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.environment.location import Environment
from tests.fakes.examples import cpu_recommendation

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


def at_end(page) -> bool:
    bar = page.verticalScrollBar()
    return bar.maximum() > 0 and bar.value() == bar.maximum()


def refuse(choice: Choice | None):
    raise UsageError("choice-impossible", choice="2.13.0", why="@choice.no-code", newest="2.15.0+cpu")


class TestRecommendation:
    @BOTH
    def test_driver_and_pytorch_with_installed_and_planned(self, simulated, at_recommendation, speak, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        page = wizard.recommendation
        driver = page.part_cards["driver"]
        assert (driver.installed_label.text(), driver.planned_label.text()) == ("566.03", "617.42")
        assert driver.pill.text == {"en": "Update", "zh_CN": "更新"}[code]
        assert not page.part_cards["cuda"].isVisible()
        assert page.part_cards["torch"].planned_label.text() == "2.15.0"
        included = {"en": "with CUDA 13.2 and cuDNN", "zh_CN": "自带 CUDA 13.2 和 cuDNN"}[code]
        assert included in page.part_cards["torch"].planned_detail.text()
        assert "566.03" in driver.accessibleName()
        assert "617.42" in driver.accessibleName()
        assert {"en": "Nothing is changed before you press Install.", "zh_CN": "不会改动任何东西"}[code] in seen(page)

    @BOTH
    def test_manual_driver_is_announced(self, simulated, at_recommendation, speak, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        assert {"en": "Install NVIDIA driver 617.42 yourself", "zh_CN": "安装 NVIDIA 驱动 617.42"}[code] in seen(
            wizard.recommendation.warnings_card
        )

    def test_reasons_have_source(self, simulated, at_recommendation):
        wizard = at_recommendation(simulated)
        page = wizard.recommendation
        assert not page.reasons_card.isVisible()
        page.more_options.reasons_button.click()
        driver = page.reasons_card.sections[0]
        assert page.reasons_card.isVisible()
        assert driver.title_label.text() == "Graphics driver"
        assert "580.88" in driver.claims.text()
        assert "docs.example.invalid" in driver.claims.source_buttons[0].text()
        assert page.more_options.reasons_button.text() == "Hide the reasons"
        page.more_options.reasons_button.click()
        assert not page.reasons_card.isVisible()

    def test_one_button_opens_the_reasons_of_all_parts_and_of_the_cost(self, app, at_recommendation, seen):
        page = at_recommendation(app).recommendation
        page.more_options.reasons_button.click()
        titles = [each.title_label.text() for each in page.reasons_card.sections if not each.isHidden()]
        assert titles == ["PyTorch", "Download, disk space and time"]
        assert "The disk space includes the downloaded files." in seen(page.reasons_card)

    def test_driver_that_is_neither_here_nor_needed_has_no_row(self, app, at_recommendation):
        page = at_recommendation(app).recommendation
        assert not page.part_cards["driver"].isVisible()
        assert page.part_cards["torch"].isVisible()

    def test_wheelhouse_alternative_is_taken_and_undone(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page = wizard.recommendation
        assert not page.alternatives_card.isVisible()
        page.more_options.toggle_button.click()
        assert page.alternatives_card.isVisible()
        assert "2.13.0 for the CPU" in page.alternatives_card.buttons[0].text()
        assert not page.options_bar.recommended_button.isVisible()
        page.alternatives_card.buttons[0].click()
        qtbot.waitUntil(
            lambda: (
                page.part_cards["torch"].planned_label.text() == "2.13.0"
                and page.options_bar.recommended_button.isVisible()
            ),
            timeout=5000,
        )
        page.options_bar.recommended_button.click()
        qtbot.waitUntil(lambda: page.part_cards["torch"].planned_label.text() == "2.15.0", timeout=5000)
        assert wizard.flow.state.choice is None

    def test_cost_card(self, app, at_recommendation, seen):
        shown = seen(at_recommendation(app).recommendation.cost_card)
        assert "192 MB" in shown
        assert "910 MB" in shown
        assert "About 2 minutes\nto set up" in shown
        assert "—" not in shown
        assert "No administrator prompt\nno restart" in shown

    def test_plan_lists_steps_with_commands(self, app, at_recommendation, seen, qtbot):
        page = at_recommendation(app).recommendation
        assert not page.plan_list.isVisible()
        assert page.more_options.steps_button.text() == "Show all 6 steps"
        page.more_options.steps_button.click()
        assert page.plan_list.isVisible()
        top = lambda: page.cost_card.mapTo(page.page.viewport(), QPoint()).y()  # noqa: E731
        qtbot.waitUntil(lambda: 0 <= top() < 100 or at_end(page.page), timeout=5000)
        assert len(page.plan_list.rows) == 6
        page.plan_list.rows[2].details_button.click()
        assert "uv pip compile requirements.in -o pylock.toml" in seen(page.plan_list)
        page.more_options.steps_button.click()
        assert not page.plan_list.isVisible()

    def test_options_are_seen_once_they_are_opened(self, app, at_recommendation, qtbot):
        page = at_recommendation(app, (880, 520)).recommendation
        button, field = page.more_options.toggle_button, page.folder_card.name_field.field
        button.click()
        qtbot.waitUntil(lambda: not (field.visibleRegion().isEmpty() or button.visibleRegion().isEmpty()))

    def test_folder_of_another_system_is_left_out(self, simulated, at_recommendation):
        page = at_recommendation(simulated).recommendation
        is_other = page.controller.flow.state.machine.os.system != simulated.system.name
        page.more_options.toggle_button.click()
        assert page.folder_card.name_field.isVisible()
        assert page.folder_card.change_button.isVisible() != is_other

    def test_another_folder(self, app, at_recommendation, qtbot, tmp_path):
        wizard = at_recommendation(app)
        wizard.recommendation.use_folder(str(tmp_path / "elsewhere"))
        wanted = str(tmp_path / "elsewhere" / "pytorch")
        qtbot.waitUntil(
            lambda: wizard.flow.state.plan is not None and wizard.flow.state.plan.env == wanted, timeout=5000
        )
        assert wanted in wizard.recommendation.folder_card.accessibleName()

    def test_impossible_choice_is_refused_with_undo(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page = wizard.recommendation
        app.recommendation = refuse
        page.alternatives_card.buttons[0].click()
        qtbot.waitUntil(lambda: page.hero.isVisible() and page.hero.kind == "error", timeout=5000)
        assert "2.13.0" in page.hero.detail_label.text()
        assert not page.primary_button.isEnabled()
        app.recommendation = cpu_recommendation
        page.hero.button.click()
        qtbot.waitUntil(page.primary_button.isEnabled, timeout=5000)

    def test_existing_environment_is_only_verified(self, app, at_recommendation, qtbot):
        app.known = (
            Environment(
                path=str(app.folder / "environments" / "pytorch"),
                name="pytorch",
                torch="2.15.0",
                variant="cpu",
                python="3.11",
                bytes=None,
                created=0.0,
            ),
        )
        wizard = at_recommendation(app)
        page = wizard.recommendation
        assert page.hero.title_label.text() == "You have everything you need"
        assert not page.source_check_row.isVisible()
        assert page.primary_button.text() == "Check it"
        assert page.part_cards["torch"].pill.text == "Keep"
        page.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)
        assert "install" not in app.calls
        assert "verify" in app.calls


class TestFolder:
    @BOTH
    def test_unwritable_folder_is_reported_before_install(
        self, app, at_recommendation, speak, qtbot, monkeypatch, code
    ):
        folder = app.folder / "environments" / "pytorch"
        app.refusals[str(folder)] = AppError("disk-read-only", path=str(folder.parent))
        wizard = at_recommendation(app)
        speak(code)
        page = wizard.recommendation
        assert page.hero.isVisible()
        assert str(folder.parent) in page.hero.detail_label.text()
        assert not page.primary_button.isEnabled()
        assert "install" not in wizard.flow.reachable_pages()
        chosen = app.folder / "other"
        monkeypatch.setattr(page.folder_card, "choose_folder", lambda: page.use_folder(str(chosen)))
        page.hero.button.click()
        qtbot.waitUntil(lambda: not wizard.controller.busy and page.primary_button.isEnabled(), timeout=5000)
        assert not page.hero.isVisible()
        assert wizard.flow.state.plan.env == str(chosen / "pytorch")

    @BOTH
    def test_refused_folder_is_not_taken(self, app, at_recommendation, speak, qtbot, code):
        wizard = at_recommendation(app)
        page, controller = wizard.recommendation, wizard.controller
        before = wizard.flow.state.plan
        refused = app.folder / "OneDrive" / "pytorch"
        app.refusals[str(refused)] = UsageError("folder-synced", path=str(refused), synced=str(refused.parent))
        page.use_folder(str(refused))
        qtbot.waitUntil(lambda: "check-folder" in controller.errors and not controller.busy, timeout=5000)
        speak(code)
        assert wizard.flow.state.plan == before
        assert page.primary_button.isEnabled()
        assert not page.hero.isVisible()
        assert page.folder_card.error_banner.isVisible()
        told = {"en": "The folder you chose cannot be used.", "zh_CN": "你选的文件夹不能用"}[code]
        assert page.folder_card.error_banner.label.text().startswith(told)
        assert str(refused.parent) in page.folder_card.error_banner.label.text()
        action = {"en": "Choose another folder", "zh_CN": "换一个文件夹"}[code]
        assert page.folder_card.change_button.text() == action
        page.use_folder(str(app.folder / "other"))
        qtbot.waitUntil(
            lambda: not controller.busy and wizard.flow.state.environment == str(app.folder / "other" / "pytorch"),
            timeout=5000,
        )
        assert not page.folder_card.error_banner.isVisible()

    def test_name_that_was_entered_is_the_environments_from_the_install_on(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page, path = wizard.recommendation, wizard.flow.state.plan.env
        field = page.folder_card.name_field.field
        assert (field.text(), field.placeholderText()) == ("", "pytorch (default)")
        page.more_options.toggle_button.click()
        qtbot.keyClicks(field, " My  course ")
        page.primary_button.click()
        qtbot.waitUntil(lambda: app.settings.environment_names == {path: "My course"}, timeout=5000)

    def test_without_a_name_it_is_called_as_its_folder(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=5000)
        assert app.settings.environment_names == {}

    @BOTH
    def test_name_of_another_environment_is_refused_until_it_is_changed(
        self, app, at_recommendation, speak, qtbot, code
    ):
        other = Environment(
            path=str(app.folder / "thesis"),
            name="thesis",
            torch=None,
            variant=None,
            python="3.12",
            bytes=1,
            created=1.0,
        )
        app.known = (other,)
        wizard = at_recommendation(app)
        speak(code)
        page = wizard.recommendation
        page.more_options.toggle_button.click()
        name = page.folder_card.name_field
        qtbot.keyClicks(name.field, "Thesis")
        assert name.problem_label.isVisible()
        assert {"en": "Another environment is called “Thesis”", "zh_CN": "已有环境叫“Thesis”"}[
            code
        ] in name.problem_label.text()
        assert not page.primary_button.isEnabled()
        qtbot.keyClicks(name.field, " 2")
        assert not name.problem_label.isVisible()
        assert page.primary_button.isEnabled()

    def test_last_of_two_chosen_folders_is_taken(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page, controller = wizard.recommendation, wizard.controller
        refused = app.folder / "refused" / "pytorch"
        app.refusals[str(refused)] = UsageError("folder-shared", path=str(refused))
        page.use_folder(str(refused))
        page.use_folder(str(app.folder / "other"))
        qtbot.waitUntil(
            lambda: not controller.busy and wizard.flow.state.environment == str(app.folder / "other" / "pytorch"),
            timeout=5000,
        )
        assert "check-folder" not in controller.errors

    def test_refused_default_folder_offers_another(self, app, at_recommendation, monkeypatch):
        folder = app.folder / "environments" / "pytorch"
        refusal = UsageError("folder-too-long", path=str(folder), length=200, most=100)

        def plan(*_arguments: object, **_options: object) -> None:
            raise refusal

        monkeypatch.setattr(app, "plan", plan)
        page = at_recommendation(app).recommendation
        assert page.hero.isVisible()
        assert page.hero.button.text() == "Choose another folder"
        assert page.part_cards["torch"].isVisible()
        assert not page.primary_button.isEnabled()

    def test_unwritable_data_folder_can_be_retried(self, app, at_recommendation, qtbot):
        folder = app.folder / "environments" / "pytorch"
        app.refusals[str(folder)] = AppError("folder-unwritable", path=str(app.data.root))
        page = at_recommendation(app).recommendation
        assert not page.primary_button.isEnabled()
        app.refusals.clear()
        page.hero.button.click()
        qtbot.waitUntil(page.primary_button.isEnabled, timeout=5000)
