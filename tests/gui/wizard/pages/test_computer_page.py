"""This computer: what have I got?"""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from gpu_assistant.app.available_plan import AvailableSetup
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import OperatingSystem, ProbeNote
from gpu_assistant.core.plan import Plan
from gpu_assistant.gui.help import HelpDialog
from tests.fakes.app import FakeApp
from tests.fakes.examples import cpu_recommendation, make_plan, plain_linux, rtx4060, rtx4060_recommendation

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


class TestComputer:
    @BOTH
    def test_no_nvidia_gpu(self, app, at_computer, speak, seen, code):
        wizard = at_computer(app)
        speak(code)
        expected = {
            "en": "PyTorch will run on your CPU",
            "zh_CN": "PyTorch 会用 CPU 运行",
        }[code]
        assert wizard.computer.hero.title_label.text() == expected
        assert "52.0 GB" in seen(wizard.computer)
        assert "Debian GNU/Linux 12" in seen(wizard.computer)

    @BOTH
    def test_help_on_a_missing_card_is_offered_where_none_is_seen(self, app, at_computer, speak, qtbot, code):
        page = at_computer(app).computer
        speak(code)
        assert page.hero.button.text() == {"en": "Card not found?", "zh_CN": "找不到显卡？"}[code]
        assert page.hero.button.isVisible()
        page.hero.button.click()
        dialog = page.window().findChild(HelpDialog)
        assert isinstance(dialog, HelpDialog)
        assert dialog.topic == "computer"
        power = {"en": "power cable", "zh_CN": "供电线"}[code]
        found = dialog.browser.document().find(power)
        qtbot.waitUntil(lambda: dialog.browser.rect().contains(dialog.browser.cursorRect(found)), timeout=5000)
        dialog.close()

    def test_help_on_a_missing_card_is_not_offered_with_a_card(self, app, at_computer):
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        assert not at_computer(app).computer.hero.button.isVisible()

    @BOTH
    def test_every_row_is_seen_whole_in_the_smallest_window(self, app, at_computer, speak, qtbot, code):
        wizard = at_computer(app, (880, 520))
        speak(code)
        page = wizard.computer
        qtbot.waitUntil(lambda: page.page.verticalScrollBar().maximum() == 0, timeout=5000)
        bottom = page.rows["python"].mapTo(page.page.viewport(), page.rows["python"].rect().bottomLeft()).y()
        assert bottom < page.page.viewport().height()

    def test_details_end_at_one_place_beside_pills_of_any_length(self, simulated, at_computer, qtbot):
        page = at_computer(simulated, (1180, 760)).computer

        def aligned() -> None:
            rows = [row for row in page.rows.values() if row.isVisible() and row.detail_label.text()]
            ends = {row.detail_label.mapTo(page, row.detail_label.rect().topRight()).x() for row in rows}
            assert len(rows) > 3
            assert len({row.pill.width() for row in rows}) > 1
            assert len(ends) == 1

        qtbot.waitUntil(aligned, timeout=5000)

    @BOTH
    def test_gpu_that_can_train(self, simulated, at_computer, speak, seen, code):
        wizard = at_computer(simulated)
        speak(code)
        shown = seen(wizard.computer)
        assert {"en": "Good news", "zh_CN": "好消息"}[code] in shown
        assert "NVIDIA GeForce RTX 4060" in shown
        assert wizard.computer.rows["driver"].pill.kind == "warn"
        # A PyTorch works with the driver that is there: it is not called too old.
        assert {"en": "Your driver works. A newer one lets", "zh_CN": "现有驱动能用；更新后"}[code] in shown
        pill_text = {"en": "Update recommended", "zh_CN": "建议更新"}[code]
        assert wizard.computer.rows["driver"].accessibleName().endswith(pill_text)
        assert wizard.computer.rows["card"].pill.kind == "ok"
        assert "NVIDIA GeForce RTX 4060" in wizard.computer.rows["card"].accessibleName()

    @BOTH
    def test_full_disk_is_no_good_news(self, app, at_computer, monkeypatch, speak, qtbot, code):
        plan = app.plan

        def plan_with_full_disk(*arguments: object, **options: object) -> Plan:
            made = plan(*arguments, **options)
            data = {"disk": "/home", "free_bytes": 300_000_000, "disk_bytes": 910_000_000, "env": made.env}
            steps = (
                replace(step, code="check-space-short", data=data) if step.kind == "check-space" else step
                for step in made.steps
            )
            return replace(made, steps=tuple(steps))

        monkeypatch.setattr(app, "plan", plan_with_full_disk)
        app.recommendation = rtx4060_recommendation
        app.results["detect"] = rtx4060()
        wizard = at_computer(app)
        speak(code)
        hero = wizard.computer.hero
        assert (hero.kind, hero.title_label.text()) == (
            "warn",
            {"en": "The disk is too full", "zh_CN": "磁盘空间不够"}[code],
        )
        assert "300 MB" in hero.detail_label.text()
        wizard.computer.primary_button.click()
        page = wizard.recommendation
        qtbot.waitUntil(lambda: page.isVisible() and not wizard.controller.busy)
        assert not page.primary_button.isEnabled()
        assert "910 MB" in page.hero.detail_label.text()
        assert page.hero.button.text() == {"en": "Choose another folder", "zh_CN": "换一个文件夹"}[code]

    def test_simulated_machine_shows_its_own_system_name(self, tmp_path, open_wizard):
        machine = replace(plain_linux(), os=OperatingSystem(system="linux"))
        wizard = open_wizard(FakeApp(tmp_path, machine, simulated=True))
        assert wizard.banner.label.text() == "Simulated computer: Linux. Nothing is executed."

    def test_unreadable_probe_is_reported_and_other_rows_stay(self, app, at_computer):
        app.results["detect"] = replace(
            plain_linux(),
            disks=None,
            notes=(ProbeNote(probe="disks", code="nothing.like.this", detail="PermissionError"),),
        )
        wizard = at_computer(app)
        assert wizard.computer.rows["space"].value_label.text() == "could not be read"
        # A program's own words say nothing to a beginner.
        assert wizard.computer.rows["space"].toolTip() == "This could not be read, so it is treated as unknown."
        assert wizard.computer.rows["system"].value_label.text() == "Debian GNU/Linux 12"

    def test_rows_appear_during_detection(self, app, open_wizard, qtbot):
        app.gate = threading.Event()
        app.events["detect"] = (replace(plain_linux(), disks=None, pythons=None),)
        wizard = open_wizard(app)
        wizard.welcome.primary_button.click()
        rows = wizard.computer.rows
        qtbot.waitUntil(lambda: rows["system"].value_label.text() == "Debian GNU/Linux 12", timeout=5000)
        assert rows["space"].value_label.text() == "…"
        assert not wizard.computer.primary_button.isEnabled()
        app.gate.set()
        qtbot.waitUntil(lambda: "52.0 GB" in rows["space"].value_label.text(), timeout=5000)
        assert wizard.computer.primary_button.isEnabled()

    def test_needed_space_waits_for_the_sources(self, app, open_wizard, qtbot):
        recommendation = replace(cpu_recommendation(None), sources=())
        plan = make_plan(recommendation, str(app.folder / "env"))
        app.results["sources"] = AvailableSetup(recommendation=recommendation, plan=plan, files={})
        app.may_ask_sources, app.source_gate = True, threading.Event()
        wizard = open_wizard(app)
        wizard.welcome.primary_button.click()
        space = wizard.computer.rows["space"]
        qtbot.waitUntil(lambda: wizard.controller.is_checking_sources, timeout=10_000)
        qtbot.waitUntil(lambda: space.detail_label.text() == "Working out how much is needed…", timeout=5000)
        assert "52.0 GB" in space.value_label.text()
        app.source_gate.set()
        qtbot.waitUntil(lambda: "needed" in space.detail_label.text() and "…" not in space.detail_label.text())

    def test_no_verdict_before_recommendation(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        page, titles = wizard.computer, []
        machine = plain_linux()
        wizard.controller.changed.connect(lambda: titles.append(page.compute_verdict(machine)[1]))
        wizard.welcome.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.recommendation is not None, timeout=5000)
        qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=5000)
        assert set(titles[:-1]) >= {"Preparing your recommendation"}
        other_titles = [title for title in titles if title != "Preparing your recommendation"]
        assert other_titles
        assert titles == sorted(titles, key=lambda title: title in other_titles)
        assert set(other_titles) == {page.hero.title_label.text()}

    def test_detect_again(self, app, at_computer, qtbot):
        wizard = at_computer(app)
        app.results["detect"] = rtx4060()
        app.recommendation = rtx4060_recommendation
        wizard.computer.detect_button.click()
        qtbot.waitUntil(lambda: "Good news" in wizard.computer.hero.title_label.text(), timeout=5000)
        assert app.calls.count("detect") == 2

    def test_details_are_copied_to_clipboard(self, app, at_computer):
        wizard = at_computer(app)
        wizard.computer.copy_button.click()
        copied = QApplication.clipboard().text()
        assert "Debian GNU/Linux 12" in copied
        assert len(copied.splitlines()) == 5
        assert wizard.computer.copy_button.text() == "Copied"

    def test_failed_detection_shows_reason_and_can_be_repeated(self, app, open_wizard, qtbot):
        app.results["detect"] = AppError("internal", detail="boom")
        wizard = open_wizard(app)
        wizard.welcome.primary_button.click()
        qtbot.waitUntil(wizard.computer.error_banner.isVisible, timeout=5000)
        assert "boom" in wizard.computer.error_banner.label.text()
        app.results["detect"] = plain_linux()
        wizard.computer.detect_button.click()
        qtbot.waitUntil(wizard.computer.primary_button.isEnabled, timeout=5000)
        assert not wizard.computer.error_banner.isVisible()
