"""Install: what is happening, how long, can I leave?"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from gpu_assistant.app.available_plan import AvailableSetup
from gpu_assistant.core.errors import AppError, ElevationDenied, NetworkError, RebootRequired, UsageError
from gpu_assistant.core.plan import InterruptedInstall, LogEvent, Step, StepEvent
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.wizard.pages.install import messages
from tests.fakes.examples import WHEELHOUSE_OFFER, cpu_recommendation, make_plan

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


def answer(qtbot, press: str) -> None:
    """Press a button of the question that is going to be asked."""

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, ConfirmDialog):
            getattr(dialog, press).click()
        else:
            QTimer.singleShot(10, look)

    QTimer.singleShot(10, look)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("PyTorch 2.15.0 is gone. Try again.", ("PyTorch 2.15.0 is gone.", "Try again.")),
        ("没有 PyTorch 2.15.0。请重试。", ("没有 PyTorch 2.15.0。", "请重试。")),
        ("The line broke", ("The line broke", "")),
        ("torch.whl is damaged", ("torch.whl is damaged", "")),
    ],
)
def test_first_sentence_of_a_failure_is_its_headline(text, sentences):
    assert messages.split_first_sentence(text) == sentences


class TestInstall:
    @pytest.fixture
    def installing(self, app, at_recommendation, qtbot):
        """In the middle of a download; `app.gate` lets it go on."""
        app.gate = None
        wizard = at_recommendation(app)
        plan = wizard.flow.state.plan
        app.gate = threading.Event()
        app.events["install"] = (
            StepEvent(id="space", state="running"),
            StepEvent(id="space", state="done"),
            StepEvent(id="download", state="running"),
            StepEvent(
                id="download",
                state="running",
                done=119_000_000,
                total=192_000_000,
                unit="bytes",
                speed=18.4e6,
                bottleneck="network",
            ),
            LogEvent(id="download", line="torch.whl"),
        )
        app.results["install"] = Path(plan.env)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.install.step_panel.percent_figure.figure == "62%", timeout=5000)
        return wizard

    @BOTH
    def test_download_is_paused_and_resumed(self, installing, speak, seen, code):
        speak(code)
        block = installing.install.step_panel
        block.download_controls.pause_button.click()
        assert installing.controller.rate_limiter.paused
        assert {"en": "Paused", "zh_CN": "已暂停"}[code] in seen(block)
        assert "4 s" not in installing.install.page.subtitle_label.text()
        block.download_controls.pause_button.click()
        assert not installing.controller.rate_limiter.paused
        assert {"en": "Limited by your internet connection", "zh_CN": "快慢取决于网络"}[code] in seen(block)

    @BOTH
    def test_speed_limit_applies_at_once_and_is_saved(self, installing, app, speak, qtbot, code):
        speak(code)
        limit = installing.install.step_panel.download_controls.limit_picker
        limit.choose(next(entry for entry in limit.entries if entry.value == 5_000_000))
        assert installing.controller.rate_limiter.limit == 5_000_000
        assert limit.text() == {"en": "At most 5 MB/s", "zh_CN": "最高 5 MB/s"}[code]
        qtbot.waitUntil(lambda: app.settings.speed_limit == 5_000_000)

    @BOTH
    @pytest.mark.parametrize(("limit", "own"), [(20_000_000, True), (10_000_000, True), (100_000_000, False)])
    def test_own_speed_limit_is_not_blamed_on_the_connection(self, installing, speak, seen, code, limit, own):
        speak(code)
        panel = installing.install.step_panel  # at 18.4 MB/s
        panel.download_controls.limit_picker.set_rate(limit)
        panel.set_step(installing.controller.progress.running_step, installing.install.texts)
        shown = seen(panel)
        assert ({"en": "Limited by your speed limit", "zh_CN": "受你设的限速影响"}[code] in shown) is own
        assert ({"en": "Limited by your internet connection", "zh_CN": "快慢取决于网络"}[code] in shown) is not own

    @BOTH
    def test_running_step_is_described(self, installing, speak, seen, code):
        speak(code)
        page = installing.install
        shown = seen(page)
        assert page.step_list.state("space") == "done"
        assert page.step_list.state("download") == "running"
        assert page.step_list.state("verify") == "waiting"
        assert page.step_panel.progress_bar.fraction() == pytest.approx(119 / 192)
        assert (page.step_panel.done_figure.figure, page.step_panel.done_figure.unit) == ("119", "MB / 192 MB")
        assert (page.step_panel.speed_figure.figure, page.step_panel.speed_figure.unit) == ("18.4", "MB/s")
        # How far it is and how long it takes are told once: by the panel, and by the line below the title.
        assert page.step_list.rows["download"].accessibleName().count("%") == 0
        assert "4 s" not in seen(page.step_panel)
        assert {"en": "Limited by your internet connection", "zh_CN": "快慢取决于网络"}[code] in shown
        assert {"en": "Step 4 of 6", "zh_CN": "第 4 步，共 6 步"}[code] in shown
        assert {"en": "Safe to interrupt", "zh_CN": "可以放心中断"}[code] in shown
        assert page.log_drawer.text() == "torch.whl"
        assert {"en": "Your download is kept; next time, the setup continues from here.", "zh_CN": "从这里继续安装"}[
            code
        ] in shown

    def test_question_about_stopping_goes_when_the_install_ends(self, installing, app, qtbot):
        asked = []

        def end() -> None:
            asked.append(isinstance(QApplication.activeModalWidget(), ConfirmDialog))
            app.gate.set()

        QTimer.singleShot(50, end)
        installing.install.confirm_stop()
        assert asked == [True]
        qtbot.waitUntil(lambda: installing.flow.page == "done" and not installing.controller.busy, timeout=5000)
        assert installing.flow.state.stage == "done"

    def test_running_install_locks_pages(self, installing):
        assert not installing.install.primary_button.isEnabled()
        assert not installing.install.back_button.isVisible()
        assert installing.rail.buttons[1].toolTip()
        assert not installing.rail.buttons[4].toolTip()
        installing.rail.buttons[1].click()
        assert installing.flow.page == "install"

    def test_cancel_asks_first_and_can_be_declined(self, installing, qtbot):
        answer(qtbot, "reject_button")
        installing.install.cancel_button.click()
        assert installing.flow.state.stage == "running"

    def test_cancelled_install_can_be_resumed(self, app, installing, qtbot):
        answer(qtbot, "accept_button")
        installing.install.cancel_button.click()
        qtbot.waitUntil(lambda: installing.flow.state.stage == "cancelled", timeout=5000)
        page = installing.install
        assert page.step_list.state("download") == "cancelled"
        words = (
            "119 MB of 192 MB downloaded. Nothing is installed yet. Your download is kept, even if you go back; "
            "you can continue later from the first page of the setup."
        )
        assert (page.stopped_hero.isVisible(), page.stopped_hero.accessibleName()) == (True, words)
        assert page.step_list.rows["download"].accessibleName().endswith("119 MB / 192 MB, stopped")
        assert page.primary_button.text() == "Continue installing"
        assert page.back_button.isVisible()
        app.gate.set()
        page.primary_button.click()
        qtbot.waitUntil(lambda: installing.flow.page == "done" and not installing.controller.busy, timeout=5000)
        # The time of the second leg is not the time it took.
        assert " in " not in installing.done.hero.detail_label.text()

    def test_cancelled_install_is_offered_on_the_first_page(self, app, installing, qtbot):
        app.begun = InterruptedInstall(plan=installing.flow.state.plan, step="download", began=0.0)
        answer(qtbot, "accept_button")
        installing.install.cancel_button.click()
        qtbot.waitUntil(lambda: installing.controller.interrupted_install is not None)
        installing.controller.go_to("welcome")
        assert installing.welcome.resume_hero.isVisible()
        app.gate.set()
        installing.welcome.resume_hero.button.click()
        qtbot.waitUntil(lambda: installing.flow.page == "done" and not installing.controller.busy)
        assert installing.controller.interrupted_install is None

    def test_events_after_leaving_the_page_are_applied(self, app, installing, qtbot):
        app.gate.set()
        qtbot.waitUntil(lambda: installing.flow.page == "done", timeout=5000)
        assert installing.controller.log_lines == ["torch.whl"]

    @BOTH
    def test_failed_install_shows_reason_and_can_be_retried(self, app, at_recommendation, speak, qtbot, code):
        app.results["install"] = NetworkError(
            "no-source",
            version="2.15.0",
            variant="cpu",
            site="@site.pytorch-wheels",
            wheelhouse="@answer.absent",
            index="@answer.unreachable",
            general="@answer.unreachable",
        )
        app.events["install"] = (StepEvent(id="resolve", state="running"),)
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        speak(code)
        page = wizard.install
        assert page.step_list.state("resolve") == "failed"
        headline = {"en": "PyTorch 2.15.0 (CPU) could not be downloaded", "zh_CN": "PyTorch 2.15.0（CPU）下载不到"}
        assert page.error_panel.hero.title_label.text() == headline[code]
        cause = page.error_panel.hero.detail_label.text()
        assert {"en": "did not answer", "zh_CN": "没有响应"}[code] in cause
        assert "--" not in cause
        assert page.primary_button.text() == {"en": "Try again", "zh_CN": "再试一次"}[code]
        assert not page.retry_button.isVisible()
        app.results["install"] = None
        app.events["install"] = ()
        page.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)

    def test_file_that_is_gone_is_planned_anew_on_the_page_before(self, app, at_recommendation, qtbot):
        recommendation = cpu_recommendation(None)
        plan = make_plan(recommendation, str(app.folder / "env"))
        app.may_ask_sources = True
        app.results["sources"] = AvailableSetup(recommendation=recommendation, plan=plan, files={})
        app.results["install"] = NetworkError("source-refused", name="torch.whl", host="example.org", status=404)
        wizard = at_recommendation(app)
        qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        app.calls.clear()
        wizard.controller.go_back()
        qtbot.waitUntil(lambda: app.calls.count("check sources") == 1, timeout=5000)
        qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
        # Once: coming back again asks nobody.
        wizard.controller.go_back()
        wizard.controller.go_next()
        assert app.calls.count("check sources") == 1

    @BOTH
    def test_alternative_release_is_taken_by_the_primary_button(self, app, at_recommendation, qtbot, speak, seen, code):
        app.results["install"] = AppError(
            "release-unavailable",
            alternatives=(WHEELHOUSE_OFFER,),
            version="2.15.0",
            variant="cpu",
            site="@site.pytorch-wheels",
            wheelhouse="@answer.absent",
            index="@answer.unreachable",
            general="@answer.not-asked",
            offer="2.13.0",
        )
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        button, panel = wizard.install.primary_button, wizard.install.error_panel
        qtbot.waitUntil(button.hasFocus, timeout=5000)
        speak(code)
        assert button.hasFocus()
        assert button.text() == {"en": "Use PyTorch 2.13.0 instead", "zh_CN": "改用 PyTorch 2.13.0"}[code]
        assert (panel.buttons, wizard.install.retry_button.isVisible()) == ([], True)
        headline = {"en": "PyTorch 2.15.0 is not available right now", "zh_CN": "暂时没有可用的 PyTorch 2.15.0"}[code]
        assert panel.hero.title_label.text() == headline
        cause = {"en": "PyTorch's own site did not answer", "zh_CN": "PyTorch 官网没有响应"}[code]
        assert cause in panel.hero.detail_label.text()
        assert {"en": "Your wheel folder has", "zh_CN": "你的 wheel 文件夹里有"}[code] in seen(panel)
        qtbot.keyClick(button, Qt.Key.Key_Return)
        qtbot.waitUntil(
            lambda: wizard.recommendation.part_cards["torch"].planned_label.text() == "2.13.0", timeout=5000
        )
        assert wizard.flow.page == "recommendation"

    def test_each_further_alternative_has_a_button_of_its_own(self, app, at_recommendation, qtbot):
        older = replace(WHEELHOUSE_OFFER, change={**WHEELHOUSE_OFFER.change, "pytorch": "2.12.1"})
        answers = {"index": "@answer.absent", "general": "@answer.absent", "wheelhouse": "@answer.absent"}
        data = {"version": "2.15.0", "variant": "cpu", "site": "@site.pytorch-wheels", "offer": "2.13.0", **answers}
        app.results["install"] = AppError("release-unavailable", alternatives=(WHEELHOUSE_OFFER, older), **data)
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        # No source has it: that is no matter of the moment.
        hero = wizard.install.error_panel.hero
        assert hero.title_label.text() == "PyTorch 2.15.0 was not found for this computer"
        assert hero.detail_label.text().startswith("Neither PyTorch's own site nor the general package index")
        [button] = wizard.install.error_panel.buttons
        assert button.text() == "Use PyTorch 2.12.1 instead"
        button.click()
        qtbot.waitUntil(
            lambda: wizard.recommendation.part_cards["torch"].planned_label.text() == "2.12.1", timeout=5000
        )

    def test_failure_that_repeating_cannot_cure_leads_back(self, app, at_recommendation, qtbot):
        app.results["install"] = UsageError("bundle-link", path="/x")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        page = wizard.install
        assert (page.primary_button.text(), page.back_button.isVisible()) == ("Back", False)
        assert wizard.rail.buttons[3].accessibleName().endswith("failed")
        page.primary_button.click()
        assert wizard.flow.page == "recommendation"
        assert wizard.rail.buttons[2].accessibleName().endswith("current")

    def test_occupied_folder_offers_another_folder(self, app, at_recommendation, qtbot):
        app.results["install"] = AppError("environment-occupied", path="/x")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "failed", timeout=5000)
        # The dialog itself is the system's; that it is asked for is ours.
        wizard.install.folder_requested.disconnect()
        with qtbot.waitSignal(wizard.install.folder_requested):
            wizard.install.primary_button.click()
        assert wizard.install.primary_button.text() == "Choose another folder"
        assert wizard.install.retry_button.isVisible()

    @BOTH
    def test_reboot_note_says_why_and_what_follows(self, app, at_recommendation, speak, qtbot, seen, code):
        app.events["install"] = (StepEvent(id="space", state="running"), StepEvent(id="space", state="done"))
        app.results["install"] = RebootRequired("restart-needed")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "reboot-needed", timeout=5000)
        assert app.resume == ("gpu-assistant", "--resume")
        speak(code)
        page = wizard.install
        shown = seen(page)
        assert not page.error_panel.isVisible()
        assert {"en": "After you sign in, GPU Assistant opens and continues", "zh_CN": "登录后 GPU 助手会自动打开"}[
            code
        ] in shown
        assert {"en": "5 steps are left; the first is: Use the installed Python 3.11.2", "zh_CN": "还剩 5 步"}[
            code
        ] in shown
        assert not page.note_cards[1].isVisible()
        assert page.primary_button.text() == {"en": "Close", "zh_CN": "关闭"}[code]

    @BOTH
    def test_awaited_driver_is_named_before_the_restart(self, app, at_recommendation, speak, qtbot, seen, code):
        app.events["install"] = (StepEvent(id="space", state="running"), StepEvent(id="space", state="done"))
        app.results["install"] = RebootRequired("driver-awaited-by-hand", commands="https://nvidia.example")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "reboot-needed", timeout=5000)
        speak(code)
        shown = seen(wizard.install)
        assert {"en": "Now install the driver", "zh_CN": "现在请安装驱动"}[code] in shown
        assert {"en": "Install the driver, then restart", "zh_CN": "安装驱动，然后重启"}[code] in shown
        assert {"en": "A restart is needed", "zh_CN": "需要重启"}[code] not in shown
        assert "https://nvidia.example" in shown

    @BOTH
    def test_driver_is_installed_while_the_rest_downloads(self, app, at_recommendation, speak, qtbot, seen, code):
        data = {"version": "595.84", "installed": None, "commands": "https://nvidia.example"}
        driver = Step(id="driver", kind="nvidia-driver", code="nvidia-driver-by-hand-windows", data=data)
        wizard = at_recommendation(app)
        facts = wizard.flow.state
        wizard.flow.state = replace(facts, plan=replace(facts.plan, steps=(driver, *facts.plan.steps)))
        by_hand = StepEvent(id="driver", state="skipped", code="progress.driver-by-hand", data=data)
        app.events["install"] = (StepEvent(id="driver", state="running"), by_hand)
        app.gate = threading.Event()
        wizard.controller.install()
        page = wizard.install
        title = {"en": "Meanwhile, install the driver", "zh_CN": "请趁现在安装驱动"}[code]
        speak(code)
        qtbot.waitUntil(lambda: title in seen(page), timeout=5000)
        shown = seen(page)
        assert "https://nvidia.example" in shown
        assert {"en": "restart only when this page asks", "zh_CN": "等这个页面提示后再重启"}[code] in shown
        app.gate.set()
        qtbot.waitUntil(lambda: wizard.flow.state.stage != "running", timeout=5000)

    def test_secure_boot_enrolment_is_explained_before_reboot(self, app, at_recommendation, qtbot, seen):
        enrol = {"version": "580", "installed": None, "packages": "nvidia-driver", "enrol": "sudo mokutil --import key"}
        driver = Step(id="driver", kind="nvidia-driver", code="nvidia-driver-secure-boot", data=enrol, needs_admin=True)
        wizard = at_recommendation(app)
        facts = wizard.flow.state
        wizard.flow.state = replace(facts, plan=replace(facts.plan, steps=(driver, *facts.plan.steps)))
        app.events["install"] = (StepEvent(id="driver", state="running"), StepEvent(id="driver", state="done"))
        app.results["install"] = RebootRequired("restart-by-hand")
        wizard.controller.install()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "reboot-needed", timeout=5000)
        shown = seen(wizard.install)
        assert shown.index("Enroll MOK") < shown.index("Restart now or later")
        assert "sudo mokutil --import key" in shown
        assert "Then open GPU Assistant again" in shown
        assert "--resume" not in shown

    @BOTH
    def test_refused_rights_list_skipped_steps_and_ask_again(self, app, at_recommendation, speak, qtbot, seen, code):
        events = (StepEvent(id="verify", state="running"), StepEvent(id="verify", state="done"))
        app.events["install"] = events
        app.results["install"] = ElevationDenied("rights-left-out", steps="space")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "steps-skipped", timeout=5000)
        speak(code)
        page = wizard.install
        shown = seen(page)
        assert {"en": "• Check the disk space", "zh_CN": "• 检查磁盘空间"}[code] in shown
        assert {"en": "Ask again", "zh_CN": "再问一次"}[code] in shown
        assert not page.error_panel.isVisible()
        app.events["install"], app.results["install"] = (), None
        page.retry_button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=5000)

    def test_environment_works_without_skipped_step(self, app, at_recommendation, qtbot):
        app.results["install"] = ElevationDenied("rights-left-out", steps="space")
        wizard = at_recommendation(app)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "steps-skipped", timeout=5000)
        wizard.install.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=5000)
        assert "verify" in app.calls

    @BOTH
    def test_last_steps_describe_what_they_do(self, app, at_recommendation, speak, qtbot, seen, code):
        wizard = at_recommendation(app)
        speak(code)
        app.gate = threading.Event()
        app.events["install"] = (
            StepEvent(
                id="download",
                state="running",
                done=192_000_000,
                total=192_000_000,
                unit="bytes",
                code="progress.fetching",
                data={"name": "setuptools.whl"},
            ),
            StepEvent(id="download", state="done"),
            StepEvent(id="pytorch", state="running", done=0, total=11, unit="items", bottleneck="installing"),
        )
        wizard.recommendation.primary_button.click()
        page = wizard.install
        qtbot.waitUntil(lambda: page.step_list.state("pytorch") == "running", timeout=5000)
        shown = seen(page)
        assert "0%" not in shown
        assert "setuptools" not in shown
        assert "192 MB" in shown
        assert {"en": "Your download is kept.", "zh_CN": "已下载的会保留。"}[code] in shown
        assert {"en": "next start", "zh_CN": "从这里继续安装"}[code] not in shown
        verifying = StepEvent(id="verify", state="running", done=2, unit="items", bottleneck="checking")
        wizard.controller.runners.install.reported.emit(verifying)
        QApplication.processEvents()
        assert {"en": "Trying it out", "zh_CN": "正在试运行"}[code] in seen(page.step_panel)
        assert {"en": "the official one exactly", "zh_CN": "官方"}[code] not in seen(page.step_panel)
