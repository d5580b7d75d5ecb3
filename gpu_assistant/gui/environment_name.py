"""What the user calls an environment: chosen in the wizard before it is made, changed on Home.

The name is a setting by the environment's path (`core/settings.py`). The folder keeps its own: programs in it contain
its path.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from . import theme
from .machine_facts import InstalledEnvironment
from .widgets.base import announce
from .widgets.buttons import Button
from .widgets.inputs import TextField
from .widgets.text import label

MAX_LENGTH = 60  # letters, as in core/settings.py
translate = QCoreApplication.translate


def name_problem(name: str, path: str, environments: Sequence[InstalledEnvironment]) -> str:
    """Why the environment at `path` cannot have a name, in one sentence; "" where it can."""
    if any(ord(character) < ord(" ") or ord(character) == 0x7F for character in name):
        return translate(
            "EnvironmentName", "The name contains characters that cannot be shown; type the name instead of pasting it."
        )
    if any(each.path != path and each.name.casefold() == name.casefold() for each in environments):
        template = translate("EnvironmentName", "Another environment is called “{name}”; choose another name.")
        return template.format(name=name)
    return ""


class EnvironmentNameField(QWidget):
    """The field for a name, above why the one in it cannot be used; `changed` brings whether it can."""

    changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._path = ""
        self._environments: Sequence[InstalledEnvironment] = ()
        self.field, self.problem_label = TextField(), label("small", "", "error")
        self.field.setMaxLength(MAX_LENGTH)
        self.field.setObjectName("environmentName")
        self.problem_label.setObjectName("environmentNameProblem")
        self.problem_label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.field)
        column.addWidget(self.problem_label)
        self.field.textChanged.connect(lambda _: self.check())

    @property
    def name(self) -> str:
        """The name in one line, without spaces at its ends; "" for the folder's own."""
        return " ".join(self.field.text().split())

    @property
    def problem(self) -> str:
        """Why the name cannot be used; "" where it can."""
        return name_problem(self.name, self._path, self._environments) if self.name else ""

    def set_environment(self, path: str, environments: Sequence[InstalledEnvironment]) -> None:
        """The environment that is named, and all that exist."""
        self._path, self._environments = path, environments
        self.check()

    def check(self) -> None:
        """Show what is wrong with the name."""
        problem = self.problem
        if problem and problem != self.problem_label.text():
            announce(self.field, problem)
        self.problem_label.setText(problem)
        self.problem_label.setVisible(bool(problem))
        self.changed.emit(not problem)


class RenameDialog(QDialog):
    """`name_field.name` is what was entered; "" gives the folder's name back."""

    def __init__(
        self, parent: QWidget, environment: InstalledEnvironment, environments: Sequence[InstalledEnvironment]
    ) -> None:
        super().__init__(parent)
        title = translate("RenameDialog", "Rename environment")
        self.setWindowTitle(title)
        self.setModal(True)
        self.name_field = EnvironmentNameField()
        self.name_field.field.setText(environment.name)
        self.name_field.field.selectAll()
        self.name_field.field.setAccessibleName(translate("RenameDialog", "Name"))
        template = translate("RenameDialog", "Only the name here changes. Its folder stays: {folder}")
        note = template.format(folder=environment.folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(10)
        for widget in (label("verdict", title), self.name_field, label("small", note)):
            column.addWidget(widget)
        column.addSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        self.cancel_button = Button(translate("RenameDialog", "Cancel"))
        self.rename_button = Button(translate("RenameDialog", "Rename"), "primary")
        for button in (self.cancel_button, self.rename_button):
            row.addWidget(button)
        column.addLayout(row)
        self.name_field.changed.connect(self.rename_button.setEnabled)
        self.name_field.set_environment(environment.path, environments)
        self.rename_button.setDefault(True)
        self.rename_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)
        self.setMinimumWidth(theme.px(440))
        self.name_field.field.setFocus(Qt.FocusReason.OtherFocusReason)
