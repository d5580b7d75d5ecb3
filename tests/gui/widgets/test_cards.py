"""Cards, heroes, pills and rows: what they show, and what a screen reader reads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.cards import ClickableCard, Hero, MetricTile, MetricValue, Pill, ValueRow

from .samples import heard


def test_clickable_card_is_one_target(show, qtbot: QtBot) -> None:
    card = show(ClickableCard("play", "Run a first script", "in 1 min"))
    clicks = heard(card.clicked)
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.title_label.geometry().center())
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert len(clicks) == 2
    assert card.accessibleName() == "Run a first script: in 1 min"


def test_unknown_is_a_dash_with_a_reason() -> None:
    tile = MetricTile("fan", "Fan")
    tile.set_value(None, "%", None, "This card does not report its fan.")
    assert tile.accessibleName() == "Fan: —"
    assert tile.toolTip() == tile.accessibleDescription() == "This card does not report its fan."
    assert not tile.progress_bar.isVisibleTo(tile)
    tile.set_value("0", "%", 0.0)
    assert tile.accessibleName() == "Fan: 0%"
    assert tile.progress_bar.isVisibleTo(tile)


@pytest.mark.parametrize(("code", "text"), [("en", "Load: 94%"), ("zh_CN", "占用: 94%")])
def test_a_tile_writes_percentages_as_its_language_does(language, code: str, text: str) -> None:
    language.set(code)
    tile = MetricTile("bolt", text.partition(":")[0])
    tile.set_value("94", "%", 0.94)
    assert tile.accessibleName() == text
    wide, narrow = MetricValue(), MetricValue()
    for value, unit in ((wide, "W"), (narrow, "%")):
        value.set("94", unit)
    assert narrow.accessibleName() == text.partition(": ")[2]
    assert wide.accessibleName() == "94 W"


def test_value_has_room_for_the_largest_figure() -> None:
    value = MetricValue()
    value.set("85", "of 115 W")
    value.set_largest("115")
    width = value.minimumSizeHint().width()
    value.set("115", "of 115 W")
    assert value.minimumSizeHint().width() == width


def test_hero_repaints_on_new_verdict(show, qtbot: QtBot) -> None:
    class Watched(Hero):
        regions: Sequence = ()

        def paintEvent(self, event) -> None:
            self.regions = [*self.regions, event.rect()]
            super().paintEvent(event)

    hero = show(Watched("neutral", "Looking"))
    qtbot.waitUntil(lambda: bool(hero.regions), timeout=5000)
    hero.regions = ()
    hero.set("ok", "Looking")
    qtbot.waitUntil(lambda: hero.rect() in hero.regions, timeout=5000)


@pytest.mark.parametrize("kind", ["ok", "warn", "error", "neutral", "accent"])
def test_a_hero_says_its_verdict(show, kind: str) -> None:
    hero = show(Hero(kind, "Your GPU is healthy", "41 °C"))
    assert hero.accessibleName() == "Your GPU is healthy. 41 °C"
    assert not hero.button.isVisible()
    hero.set(kind, "Hot", "", "What can I do?")
    assert hero.button.isVisible()
    assert not hero.detail_label.isVisible()


@pytest.mark.parametrize("detail", ["41 °C", "It slows itself down. " * 40])
def test_a_heros_icon_is_beside_its_title(show, qtbot: QtBot, detail: str) -> None:
    hero = show(Hero("warn", "Your GPU is hot", detail, action="Show live graphs"))
    icon, title = hero.icon_widget, hero.title_label
    qtbot.waitUntil(
        lambda: icon.geometry().top() <= title.geometry().center().y() <= icon.geometry().bottom(), timeout=5000
    )


def test_value_row_is_one_accessible_name() -> None:
    row = ValueRow("driver")
    row.set("Graphics driver", "566.03", "CUDA up to 12.7", ("warn", "update recommended"))
    assert row.accessibleName() == "Graphics driver: 566.03, CUDA up to 12.7, update recommended"
    row.set("Graphics driver", None, reason="could not be read")
    assert row.accessibleName() == "Graphics driver: —, could not be read"


def test_pill_has_icon_and_text(show) -> None:
    pictures = []
    for kind in ("ok", "warn", "error"):
        pill = show(Pill(kind, "state"))
        assert pill.accessibleName() == "state"
        grey = pill.grab().toImage().convertToFormat(QImage.Format.Format_Mono)
        pictures.append([grey.pixelIndex(x, y) for x in range(26) for y in range(grey.height())])
    assert pictures[0] != pictures[1] != pictures[2], "their icons differ without colour"
