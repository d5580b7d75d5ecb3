"""Each way to use an environment does what its card says, and says so in both languages."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import PlanEvent, StepEvent, StepSummary
from gpu_assistant.gui import environment_actions
from gpu_assistant.gui.environment_actions import EnvironmentActionsPanel
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.worker import JobRunner
from gpu_assistant.install.environment.integrations import LOCK_COMMENT
from gpu_assistant.install.files import inventory
from gpu_assistant.install.journal.validation import INTERPRETER_SETTING
from tests.fakes.app import FakeJob
from tests.fakes.examples import cpu_recommendation
from tests.fakes.integrations import FakeIntegrations
from tests.fakes.system import FakeDesktop, FakeSystem

pytestmark = pytest.mark.gui
BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


class Services(FakeIntegrations):
    """The real jobs on an environment that is ours by its manifest."""

    simulated = False

    def __init__(self, root: Path) -> None:
        self.integrations = self
        self.data = DataDir(root / "data")
        self.system = FakeSystem(name="linux")
        self.desktop = FakeDesktop(root / "desk", editor=root / "code")
        self.environment = root / "环境 env"
        self.environment.mkdir()
        (self.environment / inventory.LOCK_FILE).write_text('lock-version = "1.0"\n')
        inventory.write_manifest(
            self.environment,
            inventory.EnvironmentManifest(
                schema="gpu-assistant/environment/1",
                path=str(self.environment),
                created=1.0,
                python="3.11.2",
                torch=None,
                variant=None,
                lock="abc",
                packages={},
                recommendation=cpu_recommendation(None),
            ),
        )


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(tmp_path)


@pytest.fixture
def language(qapp: QApplication) -> Iterator[Language]:
    made = Language(qapp)
    made.set("en")
    yield made
    made.set("en")


@pytest.fixture
def panel(qtbot, services: Services, language: Language) -> Iterator[EnvironmentActionsPanel]:
    made = EnvironmentActionsPanel(services, language, on_home=True)
    made.resize(1000, 600)
    made.set_environment(services.environment)
    made.show()
    qtbot.waitUntil(made.python_button.isVisible)
    yield made
    qtbot.waitUntil(lambda: not any(runner.running for runner in made.findChildren(JobRunner)))
    made.deleteLater()


@BOTH
def test_menu_of_windows_is_the_start_menu(services, language, code):
    services.system.name = "windows"
    language.set(code)
    panel = EnvironmentActionsPanel(services, language, on_home=True)
    panel.set_environment(services.environment)
    assert panel.menu_button.text().startswith({"en": "Add to Start", "zh_CN": "添加到“开始”菜单"}[code])
    panel.deleteLater()


@BOTH
def test_menu_entry(panel, services, language, qtbot, code):
    language.set(code)
    with qtbot.waitSignal(panel.message_shown) as signal:
        panel.menu_button.click()
    assert signal.args == [{"en": "Added to the app menu.", "zh_CN": "已添加到应用菜单。"}[code]]
    assert list((services.desktop.root / "menu").iterdir())
    assert panel.result_banner.kind == "ok"


def test_project_opens_with_environment_python(panel, services, qtbot, tmp_path):
    project = tmp_path / "项目"
    project.mkdir()
    with qtbot.waitSignal(panel.message_shown):
        panel.open_project(project)
    assert services.desktop.started == [((str(tmp_path / "code"), str(project)), project)]
    python = services.system.environment_python(services.environment)
    assert json.loads((project / ".vscode" / "settings.json").read_text(encoding="utf-8"))[INTERPRETER_SETTING] == str(
        python
    )


@pytest.mark.parametrize("earlier", [None, "my own work"])
def test_program_opens_in_the_editor_and_the_users_own_stays(services, tmp_path, earlier):
    folder = tmp_path / "文档" / "GPU Assistant"
    if earlier is not None:
        folder.mkdir(parents=True)
        (folder / "first_program.py").write_text(earlier, encoding="utf-8")
    job = services.open_in_editor(services.environment, folder, ("first_program.py", b"print(1)"))
    job.run(JobContext())
    file = folder / "first_program.py"
    assert file.read_text(encoding="utf-8") == (earlier or "print(1)")
    assert services.desktop.started == [((str(tmp_path / "code"), str(folder), str(file)), folder)]
    assert (folder / ".vscode" / "settings.json").is_file()


def test_missing_editor_hides_its_card(qtbot, services, language):
    services.desktop = FakeDesktop(services.environment.parent / "desk", editor=None)
    panel = EnvironmentActionsPanel(services, language, on_home=True)
    panel.resize(1000, 600)
    panel.set_environment(services.environment)
    panel.show()
    qtbot.waitUntil(panel.python_button.isVisible)
    assert not panel.editor_card.isVisible()
    panel.deleteLater()


def test_python_path_is_copied(panel, services, qapp):
    panel.python_button.click()
    assert qapp.clipboard().text() == str(services.system.environment_python(services.environment))
    assert qapp.clipboard().text() in panel.result_banner.label.text()


RESOLVE = StepSummary(id="resolve", code="add-resolve", data={"packages": "jupyterlab", "env": "env"})
DOWNLOAD = StepSummary(id="download", code="add-download", data={"packages": "jupyterlab", "env": "env"})
HALF = (
    PlanEvent(steps=(RESOLVE, DOWNLOAD)),
    StepEvent(id="download", state="running", done=30, total=60, unit="bytes"),
)


def with_jupyter(services: Services) -> None:
    for name in ("ipykernel", "jupyterlab"):
        package = services.environment / "lib" / "python3.11" / "site-packages" / name / "__init__.py"
        package.parent.mkdir(parents=True)
        package.write_text("")


def answer(button: str) -> None:
    """Press a button of the question that is about to be asked."""

    def press() -> None:
        (dialog,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ConfirmDialog)]
        getattr(dialog, button).click()

    QTimer.singleShot(0, press)


@pytest.fixture
def documents(tmp_path, monkeypatch):
    folder = tmp_path / "文档"
    monkeypatch.setattr(environment_actions, "documents_folder", lambda: folder)
    return folder / "GPU Assistant"


def test_jupyter_is_installed_after_a_question_then_opens_the_first_program(panel, services, qtbot, documents):
    services.adding = FakeJob(lambda: with_jupyter(services), HALF)
    answer("accept_button")
    with qtbot.waitSignal(panel.message_shown):
        panel.jupyter_card.click()
    notebook = documents / "first_program.ipynb"
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4
    python = services.system.environment_python(services.environment)
    assert services.desktop.started == [((str(python), "-m", "jupyterlab", str(notebook)), documents)]
    (kernel,) = services.desktop.kernels_folder().glob("*/kernel.json")
    assert json.loads(kernel.read_text(encoding="utf-8"))["language"] == "python"
    assert panel.result_banner.kind == "ok"


def test_jupyter_that_is_there_opens_without_a_question(panel, services, qtbot, documents):
    with_jupyter(services)
    panel.set_environment(None)
    panel.set_environment(services.environment)
    qtbot.waitUntil(panel.python_button.isVisible)
    with qtbot.waitSignal(panel.message_shown):
        panel.jupyter_card.click()
    assert len(services.desktop.started) == 1


def test_declined_jupyter_changes_nothing(panel, services, documents):
    answer("reject_button")
    panel.jupyter_card.click()
    assert services.desktop.started == []
    assert not documents.exists()


@BOTH
def test_progress_of_the_packages_is_shown_and_cancel_ends_it(panel, services, language, qtbot, documents, code):
    language.set(code)
    services.adding = FakeJob(events=HALF, gate=threading.Event())
    answer("accept_button")
    panel.jupyter_card.click()
    qtbot.waitUntil(panel.progress_bar.isVisible)
    assert panel.progress_bar.fraction() == 0.5
    assert panel.progress_label.text() == {"en": "Download jupyterlab", "zh_CN": "下载 jupyterlab"}[code]
    with qtbot.waitSignal(panel.message_shown):
        panel.cancel_button.click()
    qtbot.waitUntil(lambda: not panel.progress_bar.isVisible())
    assert services.desktop.started == []


def test_pycharm_opens_only_where_it_is(qtbot, services, language, qapp, documents, tmp_path):
    pycharm = tmp_path / "pycharm"
    services.desktop = FakeDesktop(tmp_path / "desk", pycharm=pycharm)
    panel = EnvironmentActionsPanel(services, language, on_home=True)
    panel.resize(1000, 600)
    panel.set_environment(services.environment)
    panel.show()
    qtbot.waitUntil(panel.pycharm_card.isVisible)
    with qtbot.waitSignal(panel.message_shown):
        panel.pycharm_card.click()
    assert services.desktop.started == [((str(pycharm), str(documents)), documents)]
    assert (documents / "first_program.py").is_file()
    assert qapp.clipboard().text() == str(services.system.environment_python(services.environment))
    qtbot.waitUntil(lambda: not any(runner.running for runner in panel.findChildren(JobRunner)))
    panel.deleteLater()


def test_missing_pycharm_has_no_card(panel):
    assert not panel.pycharm_card.isVisible()


def test_lock_is_saved_to_chosen_file(panel, services, qtbot, tmp_path):
    with qtbot.waitSignal(panel.message_shown):
        panel.save_lock(tmp_path / "mine.toml")
    assert (tmp_path / "mine.toml").read_bytes() == LOCK_COMMENT + (
        services.environment / inventory.LOCK_FILE
    ).read_bytes()


def test_dialogs_ask_for_right_kind_and_use_the_answer(panel, services, qtbot, tmp_path):
    folder, file = panel.create_project_dialog(), panel.create_lock_dialog()
    assert folder.fileMode() == QFileDialog.FileMode.Directory
    assert file.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    with qtbot.waitSignal(panel.message_shown):
        file.fileSelected.emit(str(tmp_path / "chosen.toml"))
    assert (tmp_path / "chosen.toml").is_file()
    with qtbot.waitSignal(panel.message_shown):
        folder.fileSelected.emit(str(tmp_path))
    assert services.desktop.started


@BOTH
def test_message_follows_language(panel, language, qapp, code):
    panel.python_button.click()
    language.set(code)
    qapp.processEvents()
    assert panel.result_banner.label.text().startswith({"en": "Copied: ", "zh_CN": "已复制："}[code])


def test_removed_environment_offers_no_editor(panel, services, qtbot, tmp_path):
    panel.set_environment(tmp_path / "none")
    assert not panel.python_button.isVisible()
    panel.set_environment(None)
    assert not panel.terminal_card.isVisible()
