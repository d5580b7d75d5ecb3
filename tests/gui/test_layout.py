"""Every page in every state: no text is cut and nothing overlaps, in both languages with text at 100, 150 and 200 %."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from gpu_assistant.core.types import Language as Code
from gpu_assistant.gui.help import DARK_FOLDER
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.text import label
from gpu_assistant.texts.guide import guide_dir
from tests.gui.geometry import layout_faults
from tests.gui.screenshots import ALL_SCENES, CODES, DOCS_SCENES, Size, Studio, shoot

pytestmark = pytest.mark.gui
MAX_DOCS_BYTES = 2_000_000
# Scenes with a table that is wider than the smallest window with text at 200 %, as figures in columns may be.
SMALLEST_AT_200 = "880x520_200"
WIDE_TABLES = ("monitor-table", "memory", "memory-measured", "memory-too-large", "benchmark-2-gpus")
REST_SECONDS = 3  # after a change of language or size everything has its place by then


class Inspector(Studio):
    """Looks at the geometry instead of taking pictures; the theme makes no difference to it."""

    pause = 0.02

    def __init__(self, out: Path) -> None:
        super().__init__(out, themes=("light",))
        self.faults: dict[str, list[str]] = {}

    def sizes_at(self, scale: int, code: Code, sizes: Sequence[Size]) -> Sequence[Size]:
        """With text at 200 % the smallest window, too, in English, whose words are longer."""
        return sizes if scale == 200 and code == "en" else super().sizes_at(scale, code, sizes)

    def take(self, widget: QWidget, name: str, how: str) -> None:
        end = time.monotonic() + REST_SECONDS
        while (faults := layout_faults(widget)) and time.monotonic() < end:
            self.settle(self.pause)  # words that wrap anew need some turns of the event loop
        if name in WIDE_TABLES and how.endswith(SMALLEST_AT_200):
            faults = [fault for fault in faults if "scrolls sideways" not in fault and "px wide in a view" not in fault]
        if faults:
            self.faults[f"{name}_{how}"] = faults


@pytest.fixture
def frame(qtbot):
    """A window with a layout, to put something wrong into."""
    made = QWidget()
    QVBoxLayout(made)
    made.resize(300, 200)
    qtbot.addWidget(made)
    made.show()
    return made


def put(frame, widget, *place):
    """A widget at a place that no layout gave it."""
    frame.layout().addWidget(widget)
    frame.layout().setEnabled(False)
    widget.show()
    widget.setGeometry(*place)
    return widget


def test_text_that_is_cut_is_found(frame):
    put(frame, label("body", "A sentence that is much too long for this place"), 0, 0, 60, 20)
    assert any("px high" in fault for fault in layout_faults(frame))


def test_one_line_that_is_elided_needs_a_tool_tip(frame):
    line = put(frame, label("body", "A line that is much too long for this place"), 0, 0, 60, 30)
    line.set_one_line(True)
    line.setToolTip("")
    assert any("no tool tip" in fault for fault in layout_faults(frame))
    line.setToolTip(line.text())
    assert not any("no tool tip" in fault for fault in layout_faults(frame))


def test_button_that_is_too_narrow_is_found(frame):
    put(frame, Button("Open in the editor"), 0, 0, 40, 40)
    assert any("px wide" in fault for fault in layout_faults(frame))


def test_widgets_on_one_another_are_found(frame):
    put(frame, Button("One"), 10, 10, 100, 40)
    put(frame, Button("Two"), 50, 20, 100, 40)
    assert any("lies on" in fault for fault in layout_faults(frame))


def test_widget_beyond_its_parent_is_found(frame):
    put(frame, Button("One"), 250, 10, 100, 40)
    assert any("beyond its parent" in fault for fault in layout_faults(frame))


def test_sideways_scrolling_is_found(frame):
    area, wide = QScrollArea(), QWidget()
    wide.setMinimumWidth(900)
    area.setWidget(wide)
    put(frame, area, 0, 0, 200, 100)
    QApplication.processEvents()
    assert any("scrolls sideways" in fault for fault in layout_faults(frame))


def test_pictures_of_the_documents_are_those_that_the_command_draws():
    drawn = {f"{name.removeprefix('rtx-')}.png" for name in DOCS_SCENES}
    assert set(DOCS_SCENES) <= set(ALL_SCENES)
    folders = [guide_dir(code) / "images" for code in CODES]
    folders += [folder / DARK_FOLDER for folder in folders]
    pictures = {folder: [path for path in folder.iterdir() if path.is_file()] for folder in folders}
    assert all({path.name for path in of_folder} == drawn for of_folder in pictures.values())
    # They are a part of a download of at most 50 MB.
    assert sum(path.stat().st_size for of_folder in pictures.values() for path in of_folder) <= MAX_DOCS_BYTES


@pytest.mark.layout
@pytest.mark.parametrize("name", ALL_SCENES)
def test_nothing_is_cut_and_nothing_overlaps(qapp, language, tmp_path, name):
    inspector = Inspector(tmp_path)
    shoot(inspector, name)
    assert inspector.faults == {}
