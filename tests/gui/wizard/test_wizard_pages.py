"""Each page on fake services, in its states and in both languages."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError, CallError, NetworkError
from gpu_assistant.core.machine import ProbeNote
from gpu_assistant.core.plan import EndEvent, LogEvent, StepEvent
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.results import Check
from gpu_assistant.gui import theme
from gpu_assistant.gui.components import ConfirmDialog
from gpu_assistant.install.environments import Environment
from tests.fakes.app import (
    WHEELHOUSE_OFFER,
    FakeApp,
    cpu_benchmark,
    cpu_recommendation,
    good_checks,
    make_plan,
    plain_linux,
    rtx4060,
    rtx4060_recommendation,
)

pytestmark = pytest.mark.gui
BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


def answer(qtbot, press: str) -> None:
    """Press a button of the question that is going to be asked."""
    from PySide6.QtCore import QTimer

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, ConfirmDialog):
            getattr(dialog, press).click()
        else:
            QTimer.singleShot(10, look)

    QTimer.singleShot(10, look)


class TestWelcome:
    @BOTH
    def test_says_what_will_happen(self, app, open_wizard, speak, seen, code):
        wizard = open_wizard(app)
        speak(code)
        shown = seen(wizard.welcome)
        assert {"en": "Set up my GPU", "zh_CN": "开始设置"}[code] in shown
        assert {"en": "Nothing is sent anywhere.", "zh_CN": "也不上传任何信息"}[code] in shown

    def test_the_language_is_chosen_on_the_page_and_kept(self, app, open_wizard, language, qtbot):
        wizard = open_wizard(app)
        wizard.welcome.languages.buttons[1].click()
        assert language.current == "zh_CN"
        qtbot.waitUntil(lambda: wizard.welcome.title.text() == "让你的显卡开始跑深度学习")
        qtbot.waitUntil(lambda: app.settings.language == "zh_CN")

    def test_the_theme_is_chosen_in_the_rail_and_kept(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        wizard.themes.choose("dark")
        assert theme.current().dark
        qtbot.waitUntil(lambda: app.settings.theme == "dark")

    def test_only_looking_asks_for_home(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        with qtbot.waitSignal(wizard.only_look), qtbot.assertNotEmitted(wizard.finished):
            wizard.welcome.only.click()

    def test_an_interrupted_install_is_offered_and_taken_up(self, app, open_wizard, qtbot):
        app.interrupted = make_plan(cpu_recommendation(), str(app.folder / "env"))
        wizard = open_wizard(app)
        qtbot.waitUntil(wizard.welcome.resume.isVisible, timeout=5000)
        assert str(app.folder / "env") in wizard.welcome.resume.detail.text()
        page = wizard.welcome
        assert (page.resume.button.kind, page.primary.kind) == ("primary", "secondary")
        qtbot.waitUntil(page.resume.button.hasFocus, timeout=5000)
        wizard.welcome.resume.button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)
        assert "install" in app.asked

    def test_nothing_to_resume_shows_nothing(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        qtbot.waitUntil(lambda: not wizard.road.busy)
        assert not wizard.welcome.resume.isVisible()
        assert wizard.welcome.primary.kind == "primary"


class TestComputer:
    @BOTH
    def test_no_nvidia_card(self, app, at_computer, speak, seen, code):
        wizard = at_computer(app)
        speak(code)
        expected = {
            "en": "No NVIDIA GPU here. PyTorch still works, on the CPU.",
            "zh_CN": "没有找到 NVIDIA 显卡。PyTorch 仍可用 CPU 运行。",
        }[code]
        assert wizard.computer.hero.title.text() == expected
        assert "52.0 GB" in seen(wizard.computer)
        assert "Debian GNU/Linux 12" in seen(wizard.computer)

    @BOTH
    def test_a_card_that_trains(self, simulated, at_computer, speak, seen, code):
        wizard = at_computer(simulated)
        speak(code)
        shown = seen(wizard.computer)
        assert {"en": "Good news", "zh_CN": "好消息"}[code] in shown
        assert "NVIDIA GeForce RTX 4060" in shown
        assert wizard.computer.rows["driver"].pill.kind == "warn"
        assert wizard.computer.rows["card"].pill.kind == "ok"
        assert "NVIDIA GeForce RTX 4060" in wizard.computer.rows["card"].accessibleName()

    def test_what_could_not_be_read_says_so_and_the_rest_stands(self, app, at_computer):
        app.results["detect"] = replace(
            plain_linux(),
            disks=None,
            notes=(ProbeNote(probe="disks", code="nothing.like.this", detail="PermissionError"),),
        )
        wizard = at_computer(app)
        assert wizard.computer.rows["space"].value.text() == "could not be read"
        assert wizard.computer.rows["space"].toolTip() == "PermissionError"
        assert wizard.computer.rows["system"].value.text() == "Debian GNU/Linux 12"

    def test_rows_appear_as_they_are_found(self, app, open_wizard, qtbot):
        app.gate = threading.Event()
        app.news["detect"] = (replace(plain_linux(), disks=None, pythons=None),)
        wizard = open_wizard(app)
        wizard.welcome.primary.click()
        rows = wizard.computer.rows
        qtbot.waitUntil(lambda: rows["system"].value.text() == "Debian GNU/Linux 12", timeout=5000)
        assert rows["space"].value.text() == "…"
        assert not wizard.computer.primary.isEnabled()
        app.gate.set()
        qtbot.waitUntil(lambda: "52.0 GB" in rows["space"].value.text(), timeout=5000)
        assert wizard.computer.primary.isEnabled()

    def test_look_again_looks_again(self, app, at_computer, qtbot):
        wizard = at_computer(app)
        app.results["detect"] = rtx4060()
        app.recommendation = rtx4060_recommendation
        wizard.computer.again.click()
        qtbot.waitUntil(lambda: "Good news" in wizard.computer.hero.title.text(), timeout=5000)
        assert app.asked.count("detect") == 2

    def test_details_are_copied(self, app, at_computer):
        wizard = at_computer(app)
        wizard.computer.copy.click()
        copied = QApplication.clipboard().text()
        assert "Debian GNU/Linux 12" in copied
        assert len(copied.splitlines()) == 5
        assert wizard.computer.copy.text() == "Copied"

    def test_a_look_that_fails_says_why_and_can_be_repeated(self, app, open_wizard, qtbot):
        app.results["detect"] = AppError("internal", detail="boom")
        wizard = open_wizard(app)
        wizard.welcome.primary.click()
        qtbot.waitUntil(wizard.computer.trouble.isVisible, timeout=5000)
        assert "boom" in wizard.computer.trouble.label.text()
        app.results["detect"] = plain_linux()
        wizard.computer.again.click()
        qtbot.waitUntil(wizard.computer.primary.isEnabled, timeout=5000)
        assert not wizard.computer.trouble.isVisible()


class TestRecommendation:
    @BOTH
    def test_four_parts_with_now_and_after(self, simulated, at_recommendation, speak, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        page = wizard.recommendation
        driver = page.cards["driver"]
        assert (driver.now.text(), driver.after.text()) == ("566.03", "617.42")
        assert driver.pill.text == {"en": "Update", "zh_CN": "更新"}[code]
        assert page.cards["cuda"].pill.text == {"en": "Included", "zh_CN": "已包含"}[code]
        assert page.cards["torch"].after.text() == "2.15.0"
        assert "566.03" in driver.accessibleName()
        assert "617.42" in driver.accessibleName()
        assert {"en": "Nothing is changed before you press Install.", "zh_CN": "不会改动任何东西"}[code] in seen(page)

    @BOTH
    def test_a_driver_to_be_installed_by_hand_is_said(self, simulated, at_recommendation, speak, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        assert {"en": "install 617.42 from NVIDIA first", "zh_CN": "先从 NVIDIA 官网安装 617.42"}[code] in seen(
            wizard.recommendation.offers
        )

    def test_why_has_reason_source_and_the_alternative(self, simulated, at_recommendation, qtbot):
        wizard = at_recommendation(simulated)
        why = wizard.recommendation.cards["driver"].why
        assert not why.isVisible()
        why.toggle.click()
        assert "580.88" in why.sentence.text()
        assert "docs.example.invalid" in why.source.text()
        assert "2.14.1" in why.alternative.text()
        why.choose.click()
        qtbot.waitUntil(lambda: wizard.recommendation.cards["torch"].after.text() == "2.14.1", timeout=5000)
        assert wizard.flow.facts.choice == Choice(pytorch="2.14.1", variant="cu126")
        assert wizard.recommendation.cards["driver"].pill.kind == "ok"

    def test_the_wheelhouse_is_offered_in_the_open_and_taken_back(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page = wizard.recommendation
        assert page.offers.isVisible()
        assert "2.13.0+cpu" in page.offers.buttons[0].text()
        assert not page.ours.isVisible()
        page.offers.buttons[0].click()
        qtbot.waitUntil(lambda: page.cards["torch"].after.text() == "2.13.0" and page.ours.isVisible(), timeout=5000)
        page.ours.click()
        qtbot.waitUntil(lambda: page.cards["torch"].after.text() == "2.15.0", timeout=5000)
        assert wizard.flow.facts.choice is None

    def test_the_price(self, app, at_recommendation, seen):
        shown = seen(at_recommendation(app).recommendation.price)
        assert "192 MB" in shown
        assert "910 MB" in shown
        assert "—" in shown  # nobody knows how many minutes
        assert "No consent" in shown

    def test_all_steps_with_their_commands(self, app, at_recommendation, seen, qtbot):
        page = at_recommendation(app).recommendation
        assert not page.steps.isVisible()
        assert page.price.steps.text() == "Show all 6 steps"
        page.price.steps.click()
        assert page.steps.isVisible()
        top = lambda: page.price.mapTo(page.page.viewport(), QPoint()).y()  # noqa: E731
        qtbot.waitUntil(lambda: 0 <= top() < 100 or at_end(page.page), timeout=5000)
        assert len(page.steps.rows) == 6
        assert "uv pip compile requirements.in -o pylock.toml" in seen(page.steps)
        page.price.steps.click()
        assert not page.steps.isVisible()

    def test_another_folder(self, app, at_recommendation, qtbot, tmp_path):
        wizard = at_recommendation(app)
        wizard.recommendation.use_folder(str(tmp_path / "elsewhere"))
        wanted = str(tmp_path / "elsewhere" / "pytorch")
        qtbot.waitUntil(
            lambda: wizard.flow.facts.plan is not None and wizard.flow.facts.plan.env == wanted, timeout=5000
        )
        assert wanted in wizard.recommendation.folder.accessibleName()

    def test_a_choice_that_cannot_work_is_refused_with_a_way_back(self, app, at_recommendation, qtbot):
        wizard = at_recommendation(app)
        page = wizard.recommendation
        app.recommendation = refuse
        page.offers.buttons[0].click()
        qtbot.waitUntil(lambda: page.hero.isVisible() and page.hero.kind == "error", timeout=5000)
        assert "2.13.0" in page.hero.detail.text()
        assert not page.primary.isEnabled()
        app.recommendation = cpu_recommendation
        page.hero.button.click()
        qtbot.waitUntil(page.primary.isEnabled, timeout=5000)

    def test_what_is_there_already_is_only_proven(self, app, at_recommendation, qtbot):
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
        assert page.hero.title.text() == "You have all you need"
        assert page.primary.text() == "Check it"
        assert page.cards["torch"].pill.text == "Keep"
        page.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)
        assert "install" not in app.asked
        assert "verify" in app.asked


def at_end(page) -> bool:
    bar = page.verticalScrollBar()
    return bar.maximum() > 0 and bar.value() == bar.maximum()


def refuse(choice: Choice | None):
    raise CallError("choice-impossible", choice="2.13.0", why="@choice.no-code", newest="2.15.0+cpu")


class TestInstall:
    @pytest.fixture
    def installing(self, app, at_recommendation, qtbot):
        """In the middle of a download; `app.gate` lets it go on."""
        app.gate = None
        wizard = at_recommendation(app)
        plan = wizard.flow.facts.plan
        app.gate = threading.Event()
        app.news["install"] = (
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
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.install.block.percent.figure == "62 %", timeout=5000)
        return wizard

    @BOTH
    def test_what_is_happening(self, installing, speak, seen, code):
        speak(code)
        page = installing.install
        shown = seen(page)
        assert page.steps.state("space") == "done"
        assert page.steps.state("download") == "running"
        assert page.steps.state("verify") == "waiting"
        assert page.block.bar.fraction() == pytest.approx(119 / 192)
        assert (page.block.done.figure, page.block.done.unit) == ("119", "MB / 192 MB")
        assert (page.block.speed.figure, page.block.speed.unit) == ("18.4", "MB/s")
        assert page.block.left.figure == "4"
        assert {"en": "Your line sets the pace", "zh_CN": "快慢取决于网络"}[code] in shown
        assert {"en": "Step 4 of 6", "zh_CN": "第 4 步，共 6 步"}[code] in shown
        assert {"en": "Safe to interrupt", "zh_CN": "可以放心中断"}[code] in shown
        assert page.log.text() == "torch.whl"
        assert {"en": "The next start goes on from here.", "zh_CN": "接着装"}[code] in shown

    def test_no_page_is_left_while_it_runs(self, installing):
        assert not installing.install.primary.isEnabled()
        assert not installing.install.back.isVisible()
        assert installing.rail.buttons[1].toolTip()
        assert not installing.rail.buttons[4].toolTip()
        installing.rail.buttons[1].click()
        assert installing.flow.page == "install"

    def test_cancel_asks_and_staying_goes_on(self, installing, qtbot):
        answer(qtbot, "stay")
        installing.install.cancel.click()
        assert installing.flow.facts.stage == "running"

    def test_cancel_stops_and_it_can_go_on(self, app, installing, qtbot):
        answer(qtbot, "go")
        installing.install.cancel.click()
        qtbot.waitUntil(lambda: installing.flow.facts.stage == "cancelled", timeout=5000)
        page = installing.install
        assert page.steps.state("download") == "cancelled"
        assert page.primary.text() == "Go on"
        assert page.back.isVisible()
        app.gate.set()
        page.primary.click()
        qtbot.waitUntil(lambda: installing.flow.page == "done" and not installing.road.busy, timeout=5000)
        # The time of the second leg is not the time it took.
        assert " in " not in installing.done.hero.detail.text()

    def test_news_that_come_after_a_page_was_left_are_not_lost(self, app, installing, qtbot):
        app.gate.set()
        qtbot.waitUntil(lambda: installing.flow.page == "done", timeout=5000)
        assert installing.road.lines == ["torch.whl"]

    @BOTH
    def test_failure_says_why_and_can_be_repeated(self, app, at_recommendation, speak, qtbot, code):
        app.results["install"] = NetworkError(
            "no-source",
            version="2.15.0",
            variant="cpu",
            wheelhouse="@answer.absent",
            index="@answer.unreachable",
            general="@answer.unreachable",
        )
        app.news["install"] = (StepEvent(id="resolve", state="running"),)
        wizard = at_recommendation(app)
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.stage == "failed", timeout=5000)
        speak(code)
        page = wizard.install
        assert page.steps.state("resolve") == "failed"
        assert {"en": "did not answer", "zh_CN": "没有响应"}[code] in page.trouble.sentence.text()
        assert "--" not in page.trouble.sentence.text()
        app.results["install"] = None
        app.news["install"] = ()
        page.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)

    def test_an_offered_release_is_taken_with_its_button(self, app, at_recommendation, qtbot):
        app.results["install"] = AppError(
            "release-unavailable",
            offers=(WHEELHOUSE_OFFER,),
            version="2.15.0",
            variant="cpu",
            wheelhouse="@answer.absent",
            index="@answer.unreachable",
            general="@answer.not-asked",
            offer="2.13.0",
        )
        wizard = at_recommendation(app)
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.stage == "failed", timeout=5000)
        [button] = wizard.install.trouble.buttons
        assert "2.13.0+cpu" in button.text()
        assert (button.kind, wizard.install.primary.kind) == ("primary", "secondary")
        # A source that did not answer may have it: nobody can say that none does.
        assert "could not be had" in wizard.install.trouble.sentence.text()
        qtbot.waitUntil(button.hasFocus, timeout=5000)
        qtbot.keyClick(button, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: wizard.recommendation.cards["torch"].after.text() == "2.13.0", timeout=5000)
        assert wizard.flow.page == "recommendation"

    def test_an_occupied_folder_offers_another_one(self, app, at_recommendation, qtbot):
        app.results["install"] = AppError("environment-occupied", path="/x")
        wizard = at_recommendation(app)
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.stage == "failed", timeout=5000)
        # The dialog itself is the system's; that it is asked for is ours.
        wizard.install.folder_wanted.disconnect()
        with qtbot.waitSignal(wizard.install.folder_wanted):
            wizard.install.trouble.buttons[0].click()

    def test_a_restart_is_said(self, app, at_recommendation, qtbot, seen):
        plan_end = EndEvent(state="reboot-needed")
        app.news["install"] = (StepEvent(id="space", state="done"), plan_end)
        app.results["install"] = Path("env")
        wizard = at_recommendation(app)
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.stage == "reboot-needed", timeout=5000)
        assert "restart once" in seen(wizard.install)

    @BOTH
    def test_the_last_steps_say_what_they_do_and_promise_no_more_than_holds(
        self, app, at_recommendation, speak, qtbot, seen, code
    ):
        wizard = at_recommendation(app)
        speak(code)
        app.gate = threading.Event()
        app.news["install"] = (
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
        wizard.recommendation.primary.click()
        page = wizard.install
        qtbot.waitUntil(lambda: page.steps.state("pytorch") == "running", timeout=5000)
        shown = seen(page)
        assert "0 %" not in shown
        assert "setuptools" not in shown
        assert "192 MB" in shown
        assert page.whole.fraction() is None
        assert {"en": "What is downloaded is kept.", "zh_CN": "已下载的文件会保留。"}[code] in shown
        assert {"en": "next start", "zh_CN": "接着装"}[code] not in shown
        verifying = StepEvent(id="verify", state="running", done=2, unit="items", bottleneck="checking")
        wizard.road._step(verifying)
        assert {"en": "Trying it out", "zh_CN": "正在试运行"}[code] in seen(page.block)
        assert {"en": "exactly the official one", "zh_CN": "官方"}[code] not in seen(page.block)


class TestDone:
    @BOTH
    def test_the_proof(self, app, at_done, speak, seen, code):
        wizard = at_done(app)
        speak(code)
        page = wizard.done
        assert page.hero.title.text() == {"en": "PyTorch works on your CPU", "zh_CN": "PyTorch 已经能用你的 CPU"}[code]
        assert page.pill.text == {"en": "All 6 checks passed", "zh_CN": "6 项检查全部通过"}[code]
        assert {"en": "the build that was chosen", "zh_CN": "这是所选的版本"}[code] in seen(page.proof)
        assert {"en": "Python 3.11.2 runs.", "zh_CN": "Python 3.11.2 可以运行。"}[code] in seen(page.proof)
        assert str(app.folder / "environments" / "pytorch") in page.command.text.toPlainText()

    def test_a_gpu_that_is_not_used_is_no_success(self, app, at_done):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        wizard = at_done(app)
        assert wizard.done.hero.kind == "warn"
        assert wizard.done.hero.title.text() == "It works, but on the CPU"

    def test_the_gpu_is_named(self, app, at_done):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        computed = Check(id="device-compute", state="pass", value="cuda:0", data={"device": "cuda:0"})
        app.results["verify"] = replace(good_checks(), checks=(*good_checks().checks, computed))
        wizard = at_done(app)
        assert wizard.done.hero.title.text() == "PyTorch works on your RTX 4060"

    def test_a_failed_check_comes_first_with_what_mends_it(self, app, at_done, seen):
        failed = Check(id="torch-import", state="fail", data={"reason": "OSError", "value": None, "expected": None})
        app.results["verify"] = replace(good_checks(), verdict="fail", checks=(*good_checks().checks, failed))
        wizard = at_done(app)
        assert wizard.done.hero.kind == "error"
        assert "PyTorch does not load: OSError" in seen(wizard.done.proof)
        assert "Install PyTorch again" in seen(wizard.done.proof)
        assert not wizard.done.speed.isVisible()

    def test_a_proof_that_breaks_can_be_repeated(self, app, at_done, qtbot):
        app.results["verify"] = AppError("environment-missing", path="/x")
        wizard = at_done(app)
        assert wizard.done.hero.kind == "error"
        app.results["verify"] = good_checks()
        wizard.done.hero.button.click()
        qtbot.waitUntil(lambda: wizard.done.hero.kind == "ok", timeout=5000)

    def test_the_speed_is_measured_in_place(self, app, at_done, qtbot, seen):
        wizard = at_done(app)
        assert wizard.done.speed.button.text() == "Measure it"
        wizard.done.speed.button.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.benchmark == cpu_benchmark(), timeout=5000)
        assert "141" in seen(wizard.done.speed)

    def test_measuring_can_be_stopped(self, app, at_done, qtbot):
        wizard = at_done(app)
        app.gate = threading.Event()
        wizard.done.speed.button.click()
        qtbot.waitUntil(lambda: wizard.done.speed.button.text() == "Stop", timeout=5000)
        wizard.done.speed.button.click()
        qtbot.waitUntil(lambda: wizard.done.speed.button.text() == "Measure it", timeout=5000)

    def test_terminal_and_folder(self, app, at_done, qtbot):
        wizard = at_done(app)
        wizard.done.terminal.click()
        qtbot.waitUntil(lambda: not wizard.road.busy)
        wizard.done.folder.click()
        qtbot.waitUntil(lambda: not wizard.road.busy)
        environment = app.folder / "environments" / "pytorch"
        assert app.system.opened == [("terminal", environment), ("folder", environment)]

    def test_what_was_done(self, app, at_done, qtbot, seen):
        wizard = at_done(app)
        assert not wizard.done.was_done.isVisible()
        wizard.done.show_done.click()
        qtbot.waitUntil(lambda: "gpu-assistant uninstall" in seen(wizard.done.was_done))

    def test_home(self, app, at_done, qtbot):
        wizard = at_done(app)
        with qtbot.waitSignal(wizard.finished):
            wizard.done.primary.click()
        qtbot.waitUntil(lambda: app.settings.environment == str(app.folder / "environments" / "pytorch"))


class TestSimulated:
    @BOTH
    def test_the_whole_way_and_nothing_is_executed(self, simulated, at_recommendation, speak, qtbot, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        assert wizard.banner.isVisible()
        assert {"en": "Simulated machine", "zh_CN": "模拟的电脑"}[code] in wizard.banner.label.text()
        wizard.recommendation.primary.click()
        qtbot.waitUntil(lambda: wizard.flow.facts.stage == "done", timeout=5000)
        assert wizard.flow.page == "install"
        assert {wizard.install.steps.state(step) for step in wizard.install.steps.rows} == {"skipped"}
        shown = seen(wizard.install)
        assert "uv pip compile requirements.in -o pylock.toml" in shown
        assert "192 MB" in shown
        assert not wizard.install.log.isVisible()
        wizard.install.primary.click()
        assert not wizard.done.show_done.isVisible()
        assert wizard.banner.isVisible()
        assert {"en": "Nothing was installed", "zh_CN": "没有安装任何东西"}[code] in wizard.done.hero.title.text()
        assert set(simulated.asked) <= {"detect", "recommend", "dry install"}
        with qtbot.waitSignal(wizard.finished):
            wizard.done.primary.click()
        assert simulated.settings.environment is None


def test_language_and_theme_change_on_every_page_without_losing_anything(app, at_done, speak, qapp):
    wizard = at_done(app)
    facts = wizard.flow.facts
    for page in ("done", "install", "recommendation", "computer", "welcome"):
        wizard.road.go(page)
        for code in ("zh_CN", "en"):
            speak(code)
        for colours in ("dark", "contrast", "light"):
            theme.set_theme(qapp, colours)
        assert wizard.flow.page == page
    assert wizard.flow.facts == facts


@pytest.mark.parametrize("size", [(880, 520), (1024, 640)])
def test_nothing_is_wider_than_a_small_window(simulated, at_recommendation, qtbot, size):
    wizard = at_recommendation(simulated, size)
    for card in wizard.recommendation.cards.values():
        card.why.set_open(True)
    wizard.recommendation.price.steps.click()
    qtbot.wait(50)
    for name in ("recommendation", "computer"):
        page = wizard.page(name).page
        wizard.road.go(name)
        qtbot.wait(20)
        assert page.content.minimumSizeHint().width() <= page.viewport().width(), name


def test_large_text_fits_too(app, at_recommendation, qapp, qtbot):
    wizard = at_recommendation(app, (1024, 640))
    theme.set_text_scale(qapp, 1.5)
    try:
        qtbot.wait(50)
        page = wizard.recommendation.page
        assert page.content.minimumSizeHint().width() <= page.viewport().width()
    finally:
        theme.set_text_scale(qapp, 1.0)


def test_a_fake_app_has_the_methods_of_the_real_one():
    from gpu_assistant.app import App

    for name in ("detect", "recommend", "plan", "install", "verify", "bench", "environments", "interrupted_plan"):
        assert callable(getattr(App, name))
        assert callable(getattr(FakeApp, name))
