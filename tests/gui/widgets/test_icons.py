from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets import icons
from gpu_assistant.gui.widgets.text import label

NAMED = (
    "plus",
    "home",
    "monitor",
    "bench",
    "envs",
    "doctor",
    "settings",
    "help",
    "chip",
    "card",
    "driver",
    "cuda",
    "cudnn",
    "torch",
    "tensorflow",
    "cpu",
    "memory",
    "slot",
    "disk",
    "temp",
    "bolt",
    "fan",
    "clock",
    "net",
    "pc",
    "ok",
    "warn",
    "error",
    "info",
    "check",
    "minus",
    "cross",
    "download",
    "play",
    "pause",
    "restart",
    "undo",
    "copy",
    "search",
    "share",
    "open",
    "swap",
    "file",
    "log",
    "image",
    "table",
    "flag",
    "terminal",
    "code",
    "book",
    "folder",
    "trash",
    "pencil",
    "globe",
    "sun",
    "moon",
    "shield",
    "sim",
    "bell",
    "right",
    "left",
    "down",
    "up",
    "long",
    "mark",
)


def inked(image: QImage) -> int:
    return sum(image.pixelColor(x, y).alpha() > 128 for x in range(image.width()) for y in range(image.height()))


def test_all_icons_exist() -> None:
    assert set(icons.icon_names()) == set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_an_icon_is_drawn_in_its_colour(name: str) -> None:
    image = icons.pixmap(name, "accent", 24, 2.0).toImage()
    assert image.width() == 48
    assert 40 < inked(image) < 48 * 48 / 2
    colours = Counter(
        image.pixelColor(x, y).name().upper()
        for x in range(48)
        for y in range(48)
        if image.pixelColor(x, y).alpha() == 255
    )
    assert colours.most_common(1)[0][0] == theme.current().accent
    edge = [image.pixelColor(at, y).alpha() for at in range(48) for y in (0, 47)]
    assert not any(edge), "nothing is cut off"


@pytest.mark.parametrize("name", NAMED)
def test_icon_svg_is_valid(name: str) -> None:
    text = (resources_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    assert 'viewBox="0 0 24 24"' in text
    assert 'stroke-width="1.7"' in text
    assert text.count("currentColor") == 1


def test_icons_follow_theme(qapp: QApplication) -> None:
    before = icons.pixmap("home", "accent", 20, 1.0).toImage()
    theme.set_theme(qapp, "dark")
    assert icons.pixmap("home", "accent", 20, 1.0).toImage() != before


def test_icon_pixmaps_are_cached() -> None:
    assert icons.pixmap("home").cacheKey() == icons.pixmap("home").cacheKey()


def test_unknown_icon_raises() -> None:
    with pytest.raises(KeyError):
        icons.pixmap("gpuu")


def test_the_mark_and_the_window_icon() -> None:
    image = icons.brand_mark(30, 1.0).toImage()
    assert image.pixelColor(15, 2).name().upper() == theme.current().accent
    assert {size.width() for size in icons.app_icon().availableSizes()} >= {16, 32, 256}


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_icon_beside_text_is_as_high_as_its_line(qapp: QApplication, scale: float) -> None:
    theme.set_text_scale(qapp, scale)
    icon, text = icons.IconWidget("ok", "ok", 16, beside="body"), label("body", "13.0 显卡")
    assert icon.sizeHint().height() == text.sizeHint().height()


def test_icons_follow_text_scale(qapp: QApplication) -> None:
    theme.set_text_scale(qapp, 2.0)
    assert icons.pixmap("home", "text", 20, 1.0).width() == 40
