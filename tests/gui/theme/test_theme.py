from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.core.theme import load_theme_file
from gpu_assistant.gui import theme
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.widgets.text import label

THEMES = ("light", "dark", "contrast")
GROUNDS = ("window", "rail", "card", "sunken")
TEXT_PAIRS = [
    *((ink, ground) for ink in ("text", "soft") for ground in (*GROUNDS, "hover")),
    *(("text", ground) for ground in ("accent_soft", "ok_soft", "warn_soft", "error_soft", "pressed")),
    *(("soft", ground) for ground in ("ok_soft", "warn_soft", "error_soft", "accent_soft")),
    *((kind, ground) for kind in ("ok", "warn", "error") for ground in ("card", f"{kind}_soft")),
    *(("accent_text", ground) for ground in ("card", "window", "accent_soft", "sunken")),
    *(("on_accent", ground) for ground in ("accent", "accent_hover", "accent_pressed")),
    *(("card", kind) for kind in ("warn", "error")),
]
CONTROL_PAIRS = [
    *((token, ground) for token in ("control", "focus", "accent") for ground in GROUNDS),
    *((f"s{number}", "card") for number in range(1, 6)),
    ("accent", "accent_soft"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("pair", TEXT_PAIRS, ids="-on-".join)
def test_text_contrast_meets_wcag(name: str, pair: tuple[str, str]) -> None:
    colours = load_theme_file().themes[name].colours()
    assert contrast(colours[pair[0]], colours[pair[1]]) >= 4.5


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("pair", CONTROL_PAIRS, ids="-on-".join)
def test_control_contrast_meets_wcag(name: str, pair: tuple[str, str]) -> None:
    colours = load_theme_file().themes[name].colours()
    assert contrast(colours[pair[0]], colours[pair[1]]) >= 3


@pytest.mark.parametrize("name", THEMES)
def test_theme_sets_qt_palette(qapp: QApplication, qtbot: QtBot, name: str) -> None:
    plain = QWidget()
    qtbot.addWidget(plain)
    theme.set_theme(qapp, name)
    tokens, role = load_theme_file().themes[name], QPalette.ColorRole
    assert theme.current() == tokens
    for palette in (qapp.palette(), plain.palette(), QToolTip.palette()):
        assert palette.color(role.Window).name().upper() == tokens.window
        assert palette.color(role.Highlight).name().upper() == tokens.accent
        assert palette.color(role.ToolTipBase).name().upper() == tokens.card
        assert palette.color(role.ToolTipText).name().upper() == tokens.text
        assert palette.color(QPalette.ColorGroup.Disabled, role.Text).name().upper() == tokens.disabled


def test_application_has_no_style_sheet(qapp: QApplication) -> None:
    theme.set_theme(qapp, "dark")
    assert not qapp.styleSheet()


def test_an_unknown_theme_follows_the_system(qapp: QApplication) -> None:
    theme.set_theme(qapp, "pink")
    assert theme.choice() == "system"


def test_a_change_is_announced_once(qapp: QApplication, qtbot: QtBot) -> None:
    heard = []
    theme.changed.connect(lambda: heard.append(theme.current()))
    theme.set_theme(qapp, "dark")
    assert heard == [load_theme_file().themes["dark"]]


def test_deleted_widget_gets_no_update(qapp: QApplication, qtbot: QtBot) -> None:
    from gpu_assistant.gui.widgets.buttons import Button

    button = Button("Back")
    with qtbot.waitSignal(button.destroyed):
        button.deleteLater()
    theme.set_theme(qapp, "dark")


def test_type_scale_grows_with_the_text(qapp: QApplication) -> None:
    assert theme.font("title").pixelSize() == 24
    theme.set_text_scale(qapp, 1.5)
    assert theme.font("title").pixelSize() == 36
    assert qapp.font().pixelSize() == 21
    theme.set_text_scale(qapp, 9)
    assert theme.text_scale() == 2.0


def test_every_font_kind_has_installed_family(qapp: QApplication) -> None:
    for kind in load_theme_file().type:
        assert theme.font(kind).pixelSize() >= 11
        assert theme.font(kind).families()


def test_chinese_uses_weight_700(qapp: QApplication) -> None:
    theme.set_chinese(qapp, True)
    assert theme.font("title").weight() == 700
    theme.set_chinese(qapp, False)
    assert theme.font("title").weight() == 600


def test_quotation_marks_are_narrow_in_english_also_after_a_change(
    qapp: QApplication, qtbot: QtBot, language: Language
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    quotes = label("body", "“”")
    QVBoxLayout(parent).addWidget(quotes)
    for code in ("zh_CN", "en", "zh_CN", "en"):
        language.set(code)
        width = theme.advance("body", "“”")
        for widget in (parent, quotes):
            qtbot.waitUntil(lambda w=widget, wide=width: QFontMetricsF(w.font()).horizontalAdvance("“”") == wide)
        if code == "en":
            assert width < 1.4 * theme.font("body").pixelSize()  # two wide ones take 2


def test_english_lines_are_equally_far_apart_in_every_font(qapp: QApplication) -> None:
    theme.set_chinese(qapp, chinese=False)
    metrics = QFontMetricsF(theme.font("body"))
    pitch = metrics.height() * theme.line_height() / theme.font("body").pixelSize()
    assert 1.4 < pitch < 1.5


def test_changed_signal_reports_size_change(qapp: QApplication) -> None:
    theme.set_theme(qapp, "light")
    heard: list[bool] = []
    theme.changed.connect(heard.append)
    theme.set_theme(qapp, "dark")
    theme.set_text_scale(qapp, 1.5)
    theme.set_theme(qapp, "contrast")  # its lines are thicker
    theme.set_chinese(qapp, True)  # the widgets hear of the language itself
    theme.set_chinese(qapp, False)
    theme.changed.disconnect(heard.append)
    assert heard == [False, True, True]


@pytest.mark.parametrize("tone", ["soft", "accent_text", "ok", "warn", "error"])
@pytest.mark.parametrize("name", THEMES)
def test_text_label_uses_tone(qapp: QApplication, qtbot: QtBot, name: str, tone: str) -> None:
    theme.set_theme(qapp, name)
    text_label = label("display", "I", tone)
    qtbot.addWidget(text_label)
    picture = text_label.grab().toImage()
    colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert theme.color(tone).name() in colours
