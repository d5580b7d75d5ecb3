"""The window of the example programs: from Done one click to a network that learns, its figures, and every ending."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from gpu_assistant.core.errors import AppError
from gpu_assistant.examples.child_protocol import ExampleProgress, ExampleStart, ShownPicture
from gpu_assistant.examples.job import ExampleResult
from gpu_assistant.examples.programs import program_source
from gpu_assistant.gui import theme
from gpu_assistant.gui.examples import messages
from gpu_assistant.gui.examples.dialog import ExampleDialog
from tests.fakes.app import FakeApp, FakeJob

pytestmark = pytest.mark.gui

PICTURES = tuple(
    ShownPicture(width=2, height=2, channels=1, pixels=bytes(4), caption=str(digit), correct=digit != 3)
    for digit in range(10)
)
START = ExampleStart(torch="2.15.0+cu132", device="cuda:0", name="NVIDIA GeForce RTX 4060")
MIDDLE = ExampleProgress(step=300, steps=600, loss=0.25, score=0.9, pictures=PICTURES)
LAST = ExampleProgress(step=600, steps=600, loss=0.04, score=0.996, pictures=PICTURES)
RESULT = ExampleResult(
    program="first-program", torch=START.torch, device=START.device, name=START.name, last=LAST, seconds=12.0
)


@pytest.fixture
def app(tmp_path):
    app = FakeApp(tmp_path)
    app.results["example"] = RESULT
    app.events["example"] = (START, MIDDLE, LAST)
    return app


@pytest.fixture
def open_dialog(qtbot, language):
    parents: list[QWidget] = []

    def opened(app: FakeApp, environment: Path = Path("/env")) -> ExampleDialog:
        parent = QWidget()
        parents.append(parent)
        parent.resize(1180, 760)
        parent.show()
        dialog = ExampleDialog.show_dialog(app, language, environment, parent)
        dialog.resize(1080, 720)
        return dialog

    yield opened
    for parent in parents:
        for dialog in parent.findChildren(ExampleDialog):
            dialog.reject()
            qtbot.waitUntil(lambda dialog=dialog: not dialog.runner.running, timeout=20_000)
        parent.deleteLater()


def test_done_page_leads_to_the_first_program_in_one_click(app, at_done, qtbot):
    wizard = at_done(app)
    assert "first program" in wizard.done.primary_button.text()
    wizard.done.primary_button.click()
    (dialog,) = wizard.findChildren(ExampleDialog)
    qtbot.waitUntil(lambda: not dialog.runner.running, timeout=20_000)
    assert app.example[:2] == (wizard.controller.environment, "first-program")
    assert "99%" in dialog.result_hero.title_label.text()
    dialog.reject()


def test_figures_and_pictures_are_shown_while_it_runs(app, open_dialog, qtbot):
    app.gate = threading.Event()
    app.events["example"] = (START, MIDDLE)
    dialog = open_dialog(app)
    qtbot.waitUntil(lambda: dialog.picture_grid.pictures == PICTURES, timeout=20_000)
    assert dialog.state_label.text() == "Step 300 of 600 · RTX 4060"
    assert dialog.progress_bar.fraction() == 0.5
    assert dialog.score_tile.value_widget.figure == "90"
    assert dialog.curve_label.text() == "Error (loss), lower is better: 0.25"
    assert dialog.picture_grid.accessibleName() == "9 of 10 correct"
    assert "nn.Conv2d" in dialog.code_view.toPlainText()
    assert not dialog.run_button.isVisible()
    app.gate.set()
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)


@pytest.mark.parametrize(
    ("code", "title"),
    [("en", "Your network reads 99% of the digits"), ("zh_CN", "你的神经网络认对了 99% 的数字")],
)
def test_result_is_said_in_both_languages(app, open_dialog, language, qtbot, code, title):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    language.set(code)
    qtbot.waitUntil(lambda: dialog.result_hero.title_label.text() == title)
    assert ("小神经网络" in dialog.code_view.toPlainText()) == (code == "zh_CN")


def test_digits_stand_ten_in_a_row_and_nothing_moves_when_the_curve_comes(app, open_dialog, qtbot):
    app.gate = threading.Event()
    thirty = replace(MIDDLE, pictures=PICTURES * 3, step=30)
    app.events["example"] = (START, thirty)
    dialog = open_dialog(app)
    qtbot.waitUntil(lambda: len(dialog.picture_grid.pictures) == 30, timeout=20_000)
    qtbot.waitUntil(lambda: dialog.picture_grid.height() > 0)
    before = dialog.picture_grid.shape(dialog.picture_grid.width())
    assert before[0] == 10
    dialog.runner.reported.emit(replace(thirty, step=60, loss=0.1))
    qtbot.waitUntil(dialog.curve.isVisible)
    assert dialog.picture_grid.shape(dialog.picture_grid.width()) == before
    assert dialog.curve_label.text() == "Error (loss), lower is better: 0.25 → 0.10"
    assert dialog.curve.height() >= 100
    assert dialog.curve.points == ((30.0, 0.25), (60.0, 0.1))
    bottom = dialog.picture_grid.mapTo(dialog, dialog.picture_grid.rect().bottomLeft()).y()
    assert bottom < dialog.stop_button.mapTo(dialog, dialog.stop_button.rect().topLeft()).y()
    app.gate.set()


def test_program_that_has_not_run_says_what_it_will_show(app, open_dialog, qtbot):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    assert not dialog.empty_state.isVisible()
    dialog.programs.buttons[1].click()
    qtbot.waitUntil(dialog.empty_state.isVisible)
    assert "a subfolder for each class" in dialog.empty_state.message_label.text()


def test_no_line_of_the_code_is_cut_off(app, open_dialog):
    dialog = open_dialog(app)
    bar = dialog.code_view.horizontalScrollBar()
    assert (bar.minimum(), bar.maximum()) == (0, 0)


@pytest.mark.parametrize(
    ("first", "step", "now", "seconds"),
    [
        ((0, 100.0), 150, 130.0, 90.0),
        ((0, 100.0), 0, 130.0, None),  # nothing to go by yet
        ((0, 100.0), 600, 220.0, None),
        (None, 30, 1.0, None),
    ],
)
def test_time_left_is_what_the_remaining_steps_take(first, step, now, seconds):
    progress = ExampleProgress(step=step, steps=600)
    assert messages.seconds_left(first, progress, now) == seconds


def test_stop_ends_it_and_says_so(app, open_dialog, qtbot):
    app.gate = threading.Event()
    dialog = open_dialog(app)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is dialog)  # not Stop, which Enter would press
    dialog.stop_button.setFocus()
    qtbot.keyClick(dialog.stop_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not dialog.runner.running, timeout=20_000)
    assert dialog.banner.label.text() == "Stopped. Nothing was kept."
    assert dialog.run_button.text() == "Run again"


def test_escape_ends_it_before_it_closes(app, open_dialog, qtbot):
    app.gate = threading.Event()
    dialog = open_dialog(app)
    runner = dialog.runner
    with qtbot.waitSignal(runner.cancelled), qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_failure_is_shown_with_what_to_do(app, open_dialog, qtbot):
    app.events["example"] = (START,)
    app.results["example"] = AppError("example-memory", memory="@example.memory.gpu")
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    assert dialog.result_hero.kind == "warn"
    assert dialog.result_hero.title_label.text() == "The program stopped before the end"
    assert "enough GPU memory for this program; close other programs" in dialog.result_hero.detail_label.text()
    assert not dialog.banner.isVisible()


@pytest.fixture
def qt_file_dialogs():
    """Qt's own file dialogs: a test cannot close the system's."""
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    yield
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, False)


# Qt's own file dialog on Windows asks for the points of a font that is sized in pixels.
@pytest.mark.qt_log_ignore("QFont::setPointSize: Point size <= 0", extend=True)
@pytest.mark.usefixtures("qt_file_dialogs")
def test_picture_sorter_asks_for_a_folder_first(app, open_dialog, qtbot, tmp_path):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    dialog.choose_program("picture-sorter")
    assert not dialog.result_hero.isVisible()
    assert dialog.run_button.text() == "Choose folder…"  # the only thing to do before there are any
    assert not dialog.folder_button.isVisible()
    dialog.run_button.click()
    assert not dialog.runner.running
    (asked,) = dialog.findChildren(QFileDialog)
    asked.reject()
    dialog.set_folder(tmp_path)
    qtbot.waitUntil(lambda: not dialog.runner.running, timeout=20_000)
    assert app.example[1:] == ("picture-sorter", app.example[2])
    assert app.example[2].pictures == tmp_path
    assert dialog.run_button.text() == "Run again"
    assert dialog.folder_button.isVisible()


def test_output_stands_before_the_code_below_a_title(app, open_dialog, language, qtbot):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    left = {each: each.mapTo(dialog, QPoint(0, 0)).x() for each in (dialog.live_card, dialog.code_card)}
    assert left[dialog.live_card] < left[dialog.code_card]
    assert dialog.live_card.width() >= dialog.code_card.width()
    assert dialog.title_label.text() == "My first program: reading digits"
    assert dialog.result_hero.width() > 1.5 * dialog.live_card.width()  # above both
    assert not dialog.score_tile.isVisible()  # the verdict has it


def test_output_and_code_keep_their_height_in_a_small_window(app, open_dialog, qtbot):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    dialog.resize(880, 520)
    qtbot.waitUntil(lambda: dialog.code_card.height() >= 180)
    dialog.resize(880, 900)
    qtbot.waitUntil(lambda: dialog.code_card.width() > 700)  # below the output


def test_next_program_is_offered_after_the_first(app, open_dialog, qtbot):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    qtbot.waitUntil(dialog.next_button.isVisible)
    assert dialog.next_button.text() == "Next: Sort my pictures"
    assert (dialog.next_button.kind, dialog.run_button.kind) == ("primary", "secondary")
    dialog.next_button.click()
    assert dialog.programs.current() == 1
    assert not dialog.runner.running
    assert not dialog.next_button.isVisible()
    assert dialog.run_button.kind == "primary"


def test_saved_copy_has_the_language_of_the_window(app, open_dialog, language, qtbot, tmp_path):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    language.set("zh_CN")
    dialog.save_program(tmp_path / "程序.py")
    qtbot.waitUntil(dialog.banner.isVisible, timeout=20_000)
    saved = (tmp_path / "程序.py").read_text(encoding="utf-8")
    assert saved == program_source("first-program", "zh_CN")
    # The marks of cells are for editors: the copy has them, the window shows the same code without them.
    shown = dialog.code_view.toPlainText()
    assert "# %%" in saved
    assert "# %%" not in shown
    assert shown.splitlines() == [line for line in saved.splitlines() if line != "# %%"]
    assert "小神经网络" in dialog.code_view.toPlainText()


@pytest.mark.parametrize("theme_name", ["light", "dark", "contrast"])
def test_pictures_are_drawn_in_every_theme(app, open_dialog, qtbot, qapp, theme_name):
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.result_hero.isVisible, timeout=20_000)
    theme.set_theme(qapp, theme_name)
    image = dialog.picture_grid.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(min(image.height(), 40))}
    assert {theme.color("ok").name(), theme.color("error").name()} <= colours


def test_missing_pillow_is_installed_by_a_button_then_the_program_runs(app, open_dialog, qtbot):
    app.results["example"] = AppError("example-package", package="pillow", path="/env")
    dialog = open_dialog(app)
    qtbot.waitUntil(dialog.install_button.isVisible, timeout=20_000)

    def installed() -> None:
        app.results["example"] = RESULT

    app.adding = FakeJob(installed)
    dialog.install_button.click()
    qtbot.waitUntil(lambda: dialog.result_hero.kind == "ok", timeout=20_000)
    assert not dialog.install_button.isVisible()
