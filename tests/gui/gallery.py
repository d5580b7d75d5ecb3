"""Draws all components into pictures: `python tests/gui/gallery.py OUT_FOLDER`; a help for whoever changes them."""

from __future__ import annotations

import itertools
import math
import os
import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QLabel, QTableWidgetItem, QVBoxLayout, QWidget

from gpu_assistant.gui import theme
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.widgets.buttons import Button, SegmentedControl
from gpu_assistant.gui.widgets.cards import (
    Banner,
    Card,
    ClickableCard,
    Divider,
    EmptyState,
    Hero,
    MetricTile,
    MetricValue,
    Pill,
    ValueRow,
)
from gpu_assistant.gui.widgets.charts import BarChart, Sparkline, SpeedSparkline
from gpu_assistant.gui.widgets.claims import ClaimList, SourcedClaim
from gpu_assistant.gui.widgets.console import CommandBox, LogDrawer
from gpu_assistant.gui.widgets.inputs import Dropdown, DropdownEntry, Menu, ScrollBar, SpinBox
from gpu_assistant.gui.widgets.menus import LanguageMenu, ThemeMenu
from gpu_assistant.gui.widgets.navigation import NavigationRail, RailButton, StepRail
from gpu_assistant.gui.widgets.page import Footer, Page
from gpu_assistant.gui.widgets.progress import ProgressBar, StepList
from gpu_assistant.gui.widgets.table import DataTable
from gpu_assistant.gui.widgets.text import label

ZH = {
    "Welcome": "欢迎",
    "This computer": "这台电脑",
    "Recommendation": "推荐方案",
    "Install": "安装",
    "Done": "完成",
    "Download and set up": "下载并装好",
    "Back": "上一步",
    "Cancel": "取消",
    "Installing": "正在安装",
    "Step 5 of 7 · about 2 minutes left. You can minimise this window.": (
        "第 5 步，共 7 步 · 大约还要 2 分钟。可以把窗口最小化，先去做别的事。"
    ),
    "Good news: this computer can train on its GPU": "好消息：这台电脑可以用显卡训练",
    "Only the driver is too old for the newest PyTorch. We look after that.": (
        "只是驱动对最新的 PyTorch 来说太旧，这个交给我们。"
    ),
    "Show live graphs": "看实时曲线",
    "Your GPU is hot and slowing itself down": "显卡过热，正在自动降速",
    "The GPU no longer responds": "显卡不再响应",
    "Asleep to save power. We do not wake it.": "正在休眠省电，我们不会唤醒它。",
    "Home": "首页",
    "Monitor": "监控",
    "Benchmark": "测速",
    "Settings": "设置",
    "Help": "帮助",
    "Load": "占用",
    "Memory": "显存",
    "Temperature": "温度",
    "Graphics card": "显卡",
    "works with PyTorch": "适合 PyTorch",
    "update recommended": "建议更新",
    "Graphics driver": "显卡驱动",
    "Simulated computer: nothing on this computer will be changed.": "模拟机器：不会改动这台电脑上的任何东西。",
    "Nothing is changed before you press Install.": "点“安装”之前，不会改动任何东西。",
}


def t(text: str) -> str:
    return ZH.get(text, text) if Gallery.chinese else text


class Gallery:
    chinese = False


def install() -> QWidget:
    window = QWidget()
    row = QHBoxLayout(window)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    titles = ("Welcome", "This computer", "Recommendation", "Install", "Done")
    rail = StepRail([(t(title), t("Download and set up")) for title in titles])
    rail.set_current(3)
    rail.add_footer_row(ThemeMenu())
    rail.add_footer_row(LanguageMenu(Gallery.language), RailButton("help", "F1"))
    row.addWidget(rail)
    right = QVBoxLayout()
    right.setSpacing(0)
    right.addWidget(Banner("simulated", t("Simulated computer: nothing on this computer will be changed.")))
    page = Page(t("Installing"), t("Step 5 of 7 · about 2 minutes left. You can minimise this window."))
    bar = ProgressBar(height=6)
    bar.set_fraction(0.71)
    page.column.addWidget(bar)
    columns = QHBoxLayout()
    columns.setSpacing(16)
    left = Card(padding=8)
    steps = StepList()
    for index, state in enumerate(("done", "done", "running", "failed", "skipped", "cancelled", "waiting")):
        steps.add_step(str(index), "PyTorch 2.15.0", "", "", admin=index == 1)
        steps.set_state(str(index), state, "1.62 / 2.61 GB", "62%" if index == 2 else "3 s")
    left.column.addWidget(steps)
    columns.addWidget(left, 2, Qt.AlignmentFlag.AlignTop)
    block = Card("PyTorch 2.15.0")
    block.column.addWidget(label("small", "下载到 1.62 GB 时网络断了，已下载的都在。 " * 2))
    bar = ProgressBar()
    bar.set_fraction(None if theme.choice() == "dark" else 0.62)
    block.column.addWidget(bar)
    figures = QHBoxLayout()
    for figure, unit in (("1.62", "/ 2.61 GB"), ("18.4", "MB/s"), ("54", "s")):
        one = MetricValue()
        one.set(figure, unit)
        figures.addWidget(one, 1)
    block.column.addLayout(figures)
    clock = itertools.count()
    line = SpeedSparkline(clock=lambda: next(clock))
    for index in range(90):
        line.add(18e6 + 2e6 * math.sin(index / 7) if not 40 < index < 46 else None)
    block.column.addWidget(line)
    why = ClaimList()
    why.set_claims(
        SourcedClaim(
            text="PyTorch 2.15 is built with CUDA 13, and CUDA 13 needs driver 580 or newer. Yours stops at CUDA 12.7.",
            source=("NVIDIA", "https://example.invalid"),
        ),
    )
    block.column.addWidget(why)
    side = QVBoxLayout()
    side.setSpacing(12)
    side.addWidget(block)
    drawer = LogDrawer()
    drawer.append(["torch-2.15.0+cu132-cp313-cp313-win_amd64.whl"] * 3)
    side.addWidget(drawer)
    side.addWidget(CommandBox("D:\\AI\\torch\\Scripts\\activate"))
    side.addStretch(1)
    columns.addLayout(side, 3)
    page.column.addLayout(columns)
    page.column.addStretch(1)
    right.addWidget(page, 1)
    footer = Footer()
    footer.set_hint(t("Nothing is changed before you press Install."), "shield")
    footer.add_left_button(Button("Check again", "ghost", "restart"))
    footer.add_button(Button(t("Back")))
    busy = footer.add_button(Button(t("Cancel")))
    busy.set_busy(True)
    primary = footer.add_button(Button(t("Install"), "primary", "download"))
    right.addWidget(footer)
    row.addLayout(right, 1)
    window.primary = primary
    return window


def home() -> QWidget:
    window = QWidget()
    row = QHBoxLayout(window)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    icons = (("home", "Home"), ("monitor", "Monitor"), ("bench", "Benchmark"))
    rail = NavigationRail([(icon, t(word)) for icon, word in icons], [("settings", t("Settings")), ("help", t("Help"))])
    rail.set_current(0)
    rail.set_badge(1, "warn", "!", "hot")
    rail.set_badge(2, "error", "1", "hot")
    rail.add_footer_row(LanguageMenu(Gallery.language))
    row.addWidget(rail)
    page = Page(t("Home"), "NVIDIA GeForce RTX 4060 · Windows 11 Pro · Ryzen 5 7500F")
    page.add_action(SegmentedControl(["1 min", "10 min", "1 h"], 1))
    page.add_action(Button("", icon_name="image"))
    for kind, text in (
        ("ok", "Good news: this computer can train on its GPU"),
        ("warn", "Your GPU is hot and slowing itself down"),
        ("error", "The GPU no longer responds"),
        ("neutral", "Asleep to save power. We do not wake it."),
    ):
        detail = t("Only the driver is too old for the newest PyTorch. We look after that.")
        hero = Hero(kind, t(text), detail, action=t("Show live graphs") if kind != "error" else "")
        if kind == "error":
            hero.add_widget(Pill("ok", "6 / 6", on_tint=True))
        page.column.addWidget(hero)
    tiles = QHBoxLayout()
    tiles.setSpacing(12)
    for index, (icon, word) in enumerate((("chip", "Load"), ("memory", "Memory"), ("temp", "Temperature"))):
        tile = MetricTile(icon, t(word), token=f"s{index + 1}")
        if index < 2:
            tile.set_value("5.6", "of 8.0 GB", 0.7)
        else:
            tile.set_value(None, "", None, "not reported")
        tiles.addWidget(tile)
    spark = Card()
    one = Sparkline("s2")
    one.set_points([(x, 40 + 6 * math.sin(x / 5)) for x in range(60)])
    spark.column.addWidget(one)
    tiles.addWidget(spark)
    page.column.addLayout(tiles)
    grid = QGridLayout()
    grid.setSpacing(12)
    card = Card(t("Graphics card"))
    row1 = ValueRow("card")
    row1.set(t("Graphics card"), "NVIDIA GeForce RTX 4060", "8 GB · Ada Lovelace", ("ok", t("works with PyTorch")))
    row2 = ValueRow("driver")
    row2.set(t("Graphics driver"), "566.03", "CUDA up to 12.7 · Dec 2024", ("warn", t("update recommended")))
    for widget in (row1, Divider(), row2):
        card.column.addWidget(widget)
    grid.addWidget(card, 0, 0)
    bars = Card(t("Benchmark"))
    bars.column.addWidget(BarChart([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", 262, "262 images/s", "accent")]))
    pills = QHBoxLayout()
    for kind in ("ok", "warn", "error", "accent", "neutral"):
        pills.addWidget(Pill(kind, kind))
    pills.addStretch(1)
    bars.column.addLayout(pills)
    grid.addWidget(bars, 1, 0)
    page.column.addLayout(grid)
    presses = QHBoxLayout()
    presses.setSpacing(12)
    choices = (("play", "Run a first script"), ("terminal", "Terminal"), ("code", "VS Code"))
    cards = [ClickableCard(icon, word, "Environment ready") for icon, word in choices]
    for clickable in cards:
        presses.addWidget(clickable)
    window.primary = cards[0]
    page.column.addLayout(presses)
    page.column.addWidget(EmptyState("chip", t("The GPU no longer responds"), t("Install"), kind="primary"))
    row.addWidget(page, 1)
    return window


def controls() -> QWidget:
    """What Qt draws by style: scroll bars, menu, list of a drop-down, number boxes, table, text that scrolls."""
    window = QWidget()
    row = QHBoxLayout(window)
    page = Page("Controls")
    row.addWidget(page)
    boxes = QHBoxLayout()
    numbers = [SpinBox() for _ in range(3)]
    for box in numbers:
        box.setRange(1, 4096)
        boxes.addWidget(box)
    numbers[2].setValue(4096)
    numbers[2].setEnabled(False)
    window.primary = numbers[1]
    dropdown = Dropdown()
    entries = [DropdownEntry(value=n, text=f"2.{n}.0", hint="2026-11", detail="Built with CUDA 13") for n in range(20)]
    dropdown.set_entries(entries, 3, "2.3.0", "PyTorch")
    boxes.addWidget(dropdown)
    boxes.addStretch(1)
    page.column.addLayout(boxes)
    table = DataTable()
    table.setColumnCount(3)
    table.setHorizontalHeaderLabels([t("Load"), t("Memory"), t("Temperature")])
    table.setRowCount(12)
    for cell in range(36):
        item = QTableWidgetItem(f"{cell}%")
        item.setTextAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        table.setItem(cell // 3, cell % 3, item)
    table.selectRow(2)
    table.setFixedHeight(220)
    page.column.addWidget(table)
    drawer = LogDrawer()
    drawer.append([f"{number}: torch-2.15.0+cu132-cp313-cp313-win_amd64.whl " * 3 for number in range(60)])
    drawer.set_open(True)
    page.column.addWidget(drawer)
    scroll_bars = QHBoxLayout()
    for maximum, enabled in ((100, True), (5000, True), (100, False)):
        bar = ScrollBar(Qt.Orientation.Horizontal)
        bar.setRange(0, maximum)
        bar.setPageStep(50)
        bar.setValue(maximum // 3)
        bar.setEnabled(enabled)
        scroll_bars.addWidget(bar)
    page.column.addLayout(scroll_bars)
    menu = Menu(window)
    for word in ("Use system setting", "Light", "Dark", "High contrast"):
        action = menu.addAction(word)
        action.setCheckable(True)
        action.setChecked(word == "Light")
        action.setEnabled(word != "High contrast")
    menu.setActiveAction(menu.actions()[2])
    popup = QHBoxLayout()
    for widget in (menu, _popup_of(dropdown, entries)):
        picture = QLabel()
        picture.setPixmap(widget.grab())
        popup.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
    popup.addStretch(1)
    page.column.addLayout(popup)
    return window


def _popup_of(dropdown: Dropdown, entries: list[DropdownEntry]) -> QWidget:
    dropdown.open_popup()
    popup = dropdown.popup
    popup.resize(320, 240)
    popup.hide()
    return popup


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    Gallery.language = Language(app)
    for language in ("en", "zh_CN"):
        Gallery.language.set(language)
        Gallery.chinese = language == "zh_CN"
        for look in ("light", "dark", "contrast"):
            theme.set_theme(app, look)
            theme.set_text_scale(app, scale)
            for name, make in (("install", install), ("home", home), ("controls", controls)):
                window = make()
                for width, height in ((1180, 760), (880, 520)):
                    window.resize(width, height)
                    window.show()
                    window.activateWindow()
                    app.processEvents()
                    window.primary.setFocus(Qt.FocusReason.TabFocusReason)
                    for _ in range(4):
                        app.processEvents()
                    window.grab().save(str(out / f"{name}_{language}_{look}_{width}.png"))
                page = window.findChild(Page)
                page.content.grab().save(str(out / f"{name}_{language}_{look}_all.png"))
                window.close()
                window.deleteLater()
                QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


if __name__ == "__main__":
    main()
