"""The cards on the desktop: an icon with the temperature, a word for each alarm, both as the settings say."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from gpu_assistant.core.results import Alarm
from gpu_assistant.core.settings import load_settings
from gpu_assistant.gui.main.main_area import MONITOR, SETTINGS
from gpu_assistant.gui.main.tray import GpuNotifier, gpu_status_text, temperature_icon
from tests.fakes.main_window import feed, gpu, sample

# Offscreen there is no bar for icons; the icon itself is there.
pytestmark = [pytest.mark.gui, pytest.mark.qt_log_ignore("systemTrayWindowChanged")]


@pytest.fixture
def watched(open_window, app, qtbot, monkeypatch):
    """A window whose desktop has a bar for icons, and is behind other windows; the words that were said."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    window = open_window(app)
    qtbot.waitUntil(lambda: bool(window.desktop_integration.findChildren(GpuNotifier)), timeout=5000)
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    notifications = []
    window.desktop_integration.notified.connect(notifications.append)
    return window, notifications


def seconds(count, end=None, **figures):
    now = time.time() if end is None else end
    return [sample(gpu(**figures), t=now - count + i) for i in range(count)]


HOT = {"temp": 87, "throttle": ("hardware-thermal",)}


def test_icon_shows_hottest_gpu_and_its_load(watched):
    window, _ = watched
    feed(window, sample(gpu(0, temp=51, util=12), gpu(1, temp=66, util=97)))
    assert window.desktop_integration.tray.toolTip() == "GPU 0: 51 °C · 12%\nGPU 1: 66 °C · 97%"
    assert window.desktop_integration.tray.isVisible()


def test_tooltip_of_eight_gpus_lists_the_hottest(watched):
    window, _ = watched
    feed(window, sample(*(gpu(index, temp=40 + index, util=0) for index in range(8))))
    assert window.desktop_integration.tray.toolTip().splitlines() == [
        *(f"GPU {index}: {40 + index} °C · 0%" for index in range(4, 8)),
        "and 4 more",
    ]


def test_gpu_without_readings_says_why():
    asleep = replace(gpu(), temp=None, util=None, state="asleep")
    assert gpu_status_text(asleep) == "asleep"
    assert gpu_status_text(replace(asleep, state="ready")) == "—"


def test_icon_color_follows_health(qapp):
    grounds = {
        temperature_icon("66", state).pixmap(64, 64).toImage().pixelColor(32, 4).name()
        for state in ("well", "warn", "error")
    }
    assert len(grounds) == 3


def test_lost_gpu_turns_the_icon_red(watched):
    window, _ = watched
    now = time.time()
    lost = gpu(temp=None, util=None, power_w=None, state="lost")
    feed(window, *(sample(lost, t=now - 30 + second) for second in range(30)), state="lost")
    icon = window.desktop_integration.tray.icon().pixmap(64, 64).toImage()
    assert icon == temperature_icon("!", "error").pixmap(64, 64).toImage()
    assert window.desktop_integration.tray.toolTip() == "NVIDIA GeForce RTX 4060: no longer responds"


def test_alarm_is_notified_once_until_it_ends(watched):
    window, notifications = watched
    now = time.time()
    feed(window, *seconds(10, now, **HOT))
    assert [word.title for word in notifications] == ["Your GPU is hot and slowing itself down"]
    assert "87 °C" in notifications[0].text
    assert "dust" in notifications[0].text
    feed(window, *seconds(10, now + 10, temp=50))
    feed(window, *seconds(10, now + 20, **HOT))
    assert len(notifications) == 2


def test_muted_gpu_alarm_is_silent_and_can_be_unmuted(watched, app, qtbot):
    window, notifications = watched
    now = time.time()
    two = [sample(gpu(0, uuid="GPU-a", **HOT), gpu(1, uuid="GPU-b"), t=now - 20 + i) for i in range(10)]
    feed(window, *two)
    # A sample that the thread took meanwhile begins anew; it goes on with the last one.
    qtbot.waitUntil(lambda: bool(window.main_area.sampling.health.alarms), timeout=60_000)
    alarm = window.main_area.sampling.health.alarms[0]
    window.main_area.set_muted(alarm, True)
    other = replace(alarm, id="fan-stopped")
    window.main_area.set_muted(other, True)
    assert [(each.alarm, each.card) for each in app.settings.muted_gpu_alarms] == [
        ("slowed-by-heat", "GPU-a"),
        ("fan-stopped", "GPU-a"),
    ]
    notifications.clear()
    calm = [sample(gpu(0, uuid="GPU-a", temp=50), gpu(1, uuid="GPU-b", temp=50), t=now - 10 + i) for i in range(10)]
    both = [sample(gpu(0, uuid="GPU-a", **HOT), gpu(1, uuid="GPU-b", **HOT), t=now + i) for i in range(10)]
    feed(window, *calm, *both)
    # The other card rings.
    qtbot.waitUntil(lambda: bool(notifications), timeout=60_000)
    assert {word.text.partition(":")[0] for word in notifications} == {"GPU 1 (NVIDIA GeForce RTX 4060)"}
    window.main_area.open_page(SETTINGS)
    listed = window.main_area.pages[SETTINGS].gpu_card.muted_alarms_list
    assert [label.text() for label, _ in listed.rows.values()] == [
        "Your GPU is hot and slowing itself down · GPU 0 (NVIDIA GeForce RTX 4060)",
        "Your GPU is hot and its fan is not turning · GPU 0 (NVIDIA GeForce RTX 4060)",
    ]
    listed.rows["slowed-by-heat", "GPU-a"][1].click()
    assert [each.alarm for each in app.settings.muted_gpu_alarms] == ["fan-stopped"]
    listed.rows["fan-stopped", "GPU-a"][1].click()
    assert not listed.isVisible()


def test_old_global_mute_still_works_and_can_be_unmuted(watched, app, tmp_path):
    window, notifications = watched
    settings_file = tmp_path / "settings.json"
    settings_file.write_text('{"setup_done": true, "silenced": ["slowed-by-heat", "fan-stopped"]}', encoding="utf-8")
    app.settings = load_settings(settings_file)
    feed(window, *seconds(10, **HOT))
    assert not notifications
    window.main_area.open_page(SETTINGS)
    listed = window.main_area.pages[SETTINGS].gpu_card.muted_alarms_list
    listed.rows["slowed-by-heat", None][1].click()
    assert app.settings.muted_alarms == ("fan-stopped",)
    alarm = Alarm(id="fan-stopped", level="error", gpu=0, since=0.0)
    window.main_area.set_muted(alarm, False)
    assert app.settings.muted_alarms == ()


def test_own_threshold_is_named_as_such(watched, qtbot):
    window, notifications = watched
    feed(window, *seconds(15, temp=90, fan=0))
    qtbot.waitUntil(lambda: bool(notifications), timeout=60_000)
    assert "our own choice" in notifications[0].text


def test_disabled_alarms_notify_nothing(watched, app, qtbot):
    window, notifications = watched
    window.main_area.open_page(SETTINGS)
    card = window.main_area.pages[SETTINGS].gpu_card
    card.tray_switch.click()
    assert window.desktop_integration.tray is None
    assert window.main_area.sampling.running
    card.alarms_switch.click()
    assert (app.settings.alarms, app.settings.tray) == (False, False)
    assert not window.main_area.sampling.running
    feed(window, *seconds(10, **HOT))
    assert not notifications


@pytest.mark.qt_log_ignore("does not support raise", "systemTrayWindowChanged")
def test_tray_menu_opens_and_closes_the_window(watched, language, qtbot):
    window, _ = watched
    tray = window.desktop_integration.tray
    opens, leaves = tray.contextMenu().actions()
    assert (opens.text(), leaves.text()) == ("Open GPU Assistant", "Close GPU Assistant")
    language.set("zh_CN")
    assert leaves.text() == "退出 GPU 助手"
    window.showMinimized()
    tray.activated.emit(QSystemTrayIcon.ActivationReason.Context)  # the menu comes, and not the window
    assert window.isMinimized()
    tray.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert not window.isMinimized()
    window.showMinimized()
    opens.trigger()
    assert not window.isMinimized()
    leaves.trigger()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=10_000)


def test_rail_badge_on_every_page(watched, language, qtbot):
    window, _ = watched
    row = window.main_area.rail.buttons[MONITOR]
    window.main_area.open_page(SETTINGS)
    now = time.time()
    feed(window, *seconds(10, now, **HOT))
    assert row.accessibleDescription() == "Your GPU is hot and slowing itself down"
    language.set("zh_CN")
    qtbot.waitUntil(lambda: row.accessibleDescription() == "显卡过热，正在自动降速", timeout=5000)
    feed(window, *seconds(10, now + 10, temp=50))
    assert row.accessibleDescription() == ""
