"""Done: does it really work?"""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import InterruptedInstall
from gpu_assistant.core.results import Check
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.gui.wizard.pages.done import MAIN_CHECKS, VerificationRow, first_rows, verification_rows
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify.job import ALL_CHECK_IDS
from tests.fakes.benchmarks import processor_benchmark
from tests.fakes.examples import (
    cpu_benchmark,
    good_checks,
    gpu_checks,
    make_plan,
    rtx4060,
    rtx4060_recommendation,
)

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


class TestDone:
    @BOTH
    def test_verification_passed(self, app, at_done, speak, seen, code):
        wizard = at_done(app)
        speak(code)
        page = wizard.done
        assert (
            page.hero.title_label.text()
            == {"en": "PyTorch works on your CPU", "zh_CN": "PyTorch 已能在你的 CPU 上运行"}[code]
        )
        assert page.checks_pill.text == {"en": "All 6 checks passed", "zh_CN": "6 项检查全部通过"}[code]
        assert {"en": "Right PyTorch build", "zh_CN": "PyTorch 的计算平台正确"}[code] in seen(page.verification_card)
        assert {"en": "Python works", "zh_CN": "Python 可以运行"}[code] in seen(page.verification_card)
        assert "3.11.2" in seen(page.verification_card)
        assert "2.13.0" in seen(page.verification_card)
        assert "+cpu" not in seen(page.verification_card)
        assert str(app.folder / "environments" / "pytorch") in page.command_box.text_edit.toPlainText()

    @pytest.mark.parametrize("system", ["windows", "linux"])
    def test_powershell_has_a_line_of_its_own(self, app, at_done, system):
        app.system.name = system
        page = at_done(app).done
        assert not page.command_box.isVisible()
        page.commands_button.click()
        assert page.command_box.isVisible()
        assert page.powershell_box.isVisible() == (system == "windows")
        assert page.powershell_box.text_edit.toPlainText().startswith("&") == (system == "windows")

    def test_unused_gpu_is_a_warning(self, app, at_done):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        wizard = at_done(app)
        assert wizard.done.hero.kind == "warn"
        assert wizard.done.hero.title_label.text() == "It works, but on the CPU"

    def test_gpu_name_in_verdict(self, app, at_done):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        computed = Check(id="device-compute", state="pass", value="cuda:0", data={"device": "cuda:0"})
        app.results["verify"] = replace(good_checks(), checks=(*good_checks().checks, computed))
        wizard = at_done(app)
        assert wizard.done.hero.title_label.text() == "PyTorch works on your RTX 4060"

    def test_failed_check_is_first_with_its_fix(self, app, at_done, seen):
        failed = Check(id="torch-import", state="fail", data={"reason": "OSError", "value": None, "expected": None})
        app.results["verify"] = replace(good_checks(), verdict="fail", checks=(*good_checks().checks, failed))
        wizard = at_done(app)
        assert wizard.done.hero.kind == "error"
        assert "PyTorch does not load: OSError" in seen(wizard.done.verification_card)
        assert "Install PyTorch again" in seen(wizard.done.verification_card)
        assert not wizard.done.benchmark_card.isVisible()
        assert app.settings.environment is None

    def test_failed_part_that_pytorch_does_not_need_hides_nothing(self, app, at_done, seen):
        failed = Check(id="torch-extension", state="fail", data={"reason": "no compiler"})
        app.results["verify"] = replace(good_checks(), verdict="fail", checks=(*good_checks().checks, failed))
        page = at_done(app).done
        assert page.hero.kind == "warn"
        assert page.hero.title_label.text() == "PyTorch works on your CPU"
        assert page.primary_button.text() == "Run my first program"
        assert page.benchmark_card.isVisible()

    @BOTH
    def test_proof_has_values(self, app, at_done, speak, seen, code):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        card = "NVIDIA GeForce RTX 4060"
        data = {"device": "cuda:0", "name": card, "memory_bytes": 8_585_740_288, "compute_capability": "8.9"}
        query = Check(id="device-query", state="pass", value=card, data=data)
        computed = Check(id="device-compute", state="pass", data={"device": "cuda:0"})
        app.results["verify"] = replace(good_checks(), checks=(*good_checks().checks, query, computed))
        page = at_done(app).done
        speak(code)
        rows = {row.text: row.value for row in verification_rows(page.controller.flow.state.checks, page.texts)}
        expected = {
            "en": {
                "PyTorch starts": "2.13.0",
                "Right PyTorch build": "CPU",
                "PyTorch recognises your RTX 4060": "8 GB",
                "Test calculation": "matches the CPU",
            },
            "zh_CN": {
                "PyTorch 可以启动": "2.13.0",
                "PyTorch 的计算平台正确": "CPU",
                "PyTorch 已识别 RTX 4060": "8 GB",
                "试算结果正确": "与 CPU 一致",
            },
        }[code]
        assert expected.items() <= rows.items()

    @BOTH
    @pytest.mark.parametrize("check", sorted({*ALL_CHECK_IDS} - {"environment"}))
    def test_passed_check_is_a_name_and_no_sentence(self, code, check):
        data = {"value": "1.2", "seconds": 1.4, "device": "cuda:0", "name": "RTX 4060", "memory_bytes": 8_585_740_288}
        data |= {"up_gb_s": 12.1, "down_gb_s": 12.3}
        checks = replace(good_checks(), checks=(Check(id=check, state="pass", value="1.2", data=data),))
        [row] = verification_rows(checks, Texts(code))
        assert row.text
        assert not row.text.endswith((".", "。"))
        assert len(row.text) < 45

    def test_calculation_on_the_cpu_is_shown_at_once_where_windows_adds_a_check(self, app, at_done, seen):
        runtime = Check(id="visual-cpp", state="pass")
        app.results["verify"] = replace(good_checks(), checks=(runtime, *good_checks().checks))
        card = at_done(app).done.verification_card
        assert len(card.row_widgets) == 7
        assert "CPU calculation" in seen(card)

    def test_failed_verification_can_be_repeated(self, app, at_done, qtbot):
        app.results["verify"] = AppError("environment-missing", path="/x")
        wizard = at_done(app)
        assert wizard.done.hero.kind == "error"
        app.results["verify"] = good_checks()
        wizard.done.hero.button.click()
        qtbot.waitUntil(lambda: wizard.done.hero.kind == "ok", timeout=5000)

    def test_quick_benchmark_on_the_page(self, app, at_done, qtbot, seen):
        wizard = at_done(app)
        assert wizard.done.benchmark_card.button.text() == "Run benchmark"
        wizard.done.benchmark_card.button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.benchmark == cpu_benchmark(), timeout=5000)
        assert "141" in seen(wizard.done.benchmark_card)

    def test_measured_speed_leads_to_the_whole_benchmark(self, app, at_done, qtbot):
        wizard = at_done(app)
        card = wizard.done.benchmark_card
        card.button.click()
        qtbot.waitUntil(card.details_button.isVisible, timeout=5000)
        assert not card.button.isVisible()
        with qtbot.waitSignal(wizard.benchmark_requested):
            card.details_button.click()
        assert app.calls.count("bench") == 1

    def test_speed_of_a_cpu_is_one_figure_that_everybody_understands(self, app, at_done, qtbot):
        app.results["bench"] = processor_benchmark()
        card = at_done(app).done.benchmark_card
        card.button.click()
        qtbot.waitUntil(card.details_button.isVisible, timeout=5000)
        assert (card.value_label.text(), card.caption_label.text()) == ("2 minutes", "to train on 1,000 images")

    def test_card_is_named_after_a_restart_too(self, app, open_wizard, qtbot):
        recommendation = rtx4060_recommendation()
        plan = make_plan(recommendation, "/x/pytorch")
        app.results["verify"] = gpu_checks()
        app.begun = InterruptedInstall(plan=plan, step="pytorch", began=0.0, state="reboot-needed")
        wizard = open_wizard(app)
        qtbot.waitUntil(lambda: wizard.controller.interrupted_install is not None, timeout=5000)
        wizard.controller.resume()
        qtbot.waitUntil(lambda: wizard.flow.page == "done" and wizard.flow.state.checks is not None, timeout=5000)
        qtbot.waitUntil(lambda: wizard.done.hero.kind == "ok", timeout=5000)
        assert wizard.done.hero.title_label.text() == "PyTorch works on your RTX 4060"

    def test_footer_has_one_storey_in_the_smallest_window(self, app, at_done, qtbot, speak):
        wizard = at_done(app, (880, 520))
        footer, button = wizard.done.footer, wizard.done.primary_button
        for code in ("en", "zh_CN"):
            speak(code)
            qtbot.waitUntil(lambda: footer.height() < 2 * button.height(), timeout=5000)
            assert abs(button.geometry().center().y() - footer.hint_label.geometry().center().y()) <= 1

    def test_benchmark_can_be_stopped(self, app, at_done, qtbot):
        wizard = at_done(app)
        app.gate = threading.Event()
        wizard.done.benchmark_card.button.click()
        qtbot.waitUntil(lambda: wizard.done.benchmark_card.button.text() == "Stop", timeout=5000)
        wizard.done.benchmark_card.button.click()
        qtbot.waitUntil(lambda: wizard.done.benchmark_card.button.text() == "Run benchmark", timeout=5000)

    def test_terminal_and_folder(self, app, at_done, qtbot):
        wizard = at_done(app)
        wizard.done.actions_panel.terminal_card.click()
        wizard.done.actions_panel.folder_button.click()
        qtbot.waitUntil(lambda: len(app.system.opened) == 2)
        environment = app.folder / "environments" / "pytorch"
        assert app.system.opened == [("terminal", environment), ("folder", environment)]

    def test_log_of_finished_steps(self, app, at_done, qtbot, seen):
        wizard = at_done(app)
        assert not wizard.done.log_card.isVisible()
        wizard.done.toggle_log_button.click()
        qtbot.waitUntil(lambda: "gpu-assistant uninstall" in seen(wizard.done.log_card))

    def test_go_to_home(self, app, at_done, qtbot):
        wizard = at_done(app)
        with qtbot.waitSignal(wizard.finished):
            wizard.done.home_button.click()

    def test_proven_environment_is_remembered_without_going_home(self, app, at_done, qtbot):
        app.settings = replace(app.settings, setup_done=False)
        at_done(app)
        qtbot.waitUntil(lambda: app.settings.environment == str(app.folder / "environments" / "pytorch"))
        assert app.settings.opens_home

    def test_names_and_values_of_the_proof_are_on_one_line(self, app, at_done, qtbot):
        card = at_done(app).done.verification_card
        rows = [(row.findChildren(TextLabel)) for row in card.row_widgets]
        pairs = [labels for labels in rows if len(labels) == 2]
        assert len(pairs) >= 4

        def middle(each: TextLabel) -> int:
            return each.mapTo(card, each.rect().center()).y()

        assert all(abs(middle(name) - middle(value)) <= 1 for name, value in pairs)
        assert all(value.alignment() & Qt.AlignmentFlag.AlignVCenter for _name, value in pairs)

    def test_of_many_checks_the_main_ones_are_shown_and_all_on_request(self, app, at_done, seen):
        app.recommendation = rtx4060_recommendation
        app.results["detect"], app.results["verify"] = rtx4060(), gpu_checks()
        card = at_done(app).done.verification_card
        assert len(card.row_widgets) == 7
        first = seen(card.row_widgets[0])
        assert "Graphics driver works" in first
        assert "617.42" in first
        assert all(text in seen(card) for text in ("recognises your RTX 4060", "9.26.0", "12.6 GB/s"))
        assert card.toggle_button.text() == "Show all 13 checks"
        card.toggle_button.click()
        assert len(card.row_widgets) == 13
        assert card.toggle_button.text() == "Show fewer"

    def test_failed_check_is_never_folded(self, app, at_done, seen):
        app.recommendation = rtx4060_recommendation
        failed = Check(id="torch-extension", state="fail", data={"reason": "no compiler"})
        app.results["detect"] = rtx4060()
        app.results["verify"] = replace(gpu_checks(), verdict="fail", checks=(*gpu_checks().checks, failed))
        card = at_done(app).done.verification_card
        assert len(card.row_widgets) == 7
        assert "no compiler" in seen(card.row_widgets[0])

    @pytest.mark.parametrize(
        ("passed", "failed", "shown"),
        [
            (("python", "packages", "torch-import", "cpu-compute", "torch-variant", "environment"), (), 6),
            (("python", "packages", "torch-import", "cpu-compute", "torch-variant", "environment", "x", "y"), (), 7),
            (("python", "cudnn"), tuple("abcdefgh"), 8),  # what failed is always there
        ],
    )
    def test_first_rows_fill_the_room_there_is(self, passed, failed, shown):
        rows = (
            *(VerificationRow(state="fail", text=name) for name in failed),
            *(VerificationRow(state="pass", text=name, is_main=name in MAIN_CHECKS) for name in passed),
        )
        first = first_rows(rows)
        assert len(first) == shown
        assert all(row in first for row in rows if row.state == "fail")
        assert all(row in first for row in rows if row.is_main) or len(failed) > 6

    def test_checks_appear_while_they_run_and_the_primary_button_waits(self, app, at_done, qtbot, seen):
        page = at_done(app).done
        app.gate = threading.Event()
        app.events["verify"] = (good_checks().checks[2],)
        page.controller.verify()
        qtbot.waitUntil(lambda: "3.11.2" in seen(page.verification_card), timeout=5000)
        assert len(page.verification_card.row_widgets) == 2
        assert "next check" in seen(page.verification_card)
        assert not page.primary_button.isEnabled()
        app.gate.set()
        qtbot.waitUntil(page.primary_button.isEnabled, timeout=5000)
        qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
        assert "next check" not in seen(page.verification_card)
        assert len(page.verification_card.row_widgets) == 6
