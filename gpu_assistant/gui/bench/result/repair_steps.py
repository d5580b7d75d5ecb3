"""What to do about a slow card: numbered steps, with a button where the program can do one or open the place for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from ....bench.expected_ranges import STEP_PREFIX
from ... import language
from ...remedies import Remedy, remedy_text
from ...widgets.buttons import Button
from ...widgets.layouts import clear_layout
from ...widgets.numbered_steps import NumberedStep

# By the codes of `STEPS_BY_CAUSE` and `LAST_STEPS`.
STEP_REMEDIES: Mapping[str, Remedy] = {
    "close-programs": "show-programs",
    "cool": "watch-temperature",
    "power-plan": "open-power-settings",
    "update-driver": "update-driver",
    "measure-again": "measure-again",
    "health-test": "health-test",
}


class RepairSteps(QWidget):
    """The `steps` below each other; `requested` brings the remedy of the button that was clicked.

    The first button that can be clicked is the page's primary one: that step is to be tried first.
    """

    requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.steps: tuple[NumberedStep, ...] = ()
        self.buttons: dict[Remedy, Button] = {}
        self._can_measure, self._measure_tip = True, ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 10, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)

    def show_steps(self, steps: Sequence[str]) -> None:
        """Show the steps of these texts' codes, in the current language."""
        clear_layout(self._grid)
        self.buttons = {}
        self.steps = tuple(NumberedStep() for _ in steps)
        for row, (step, text) in enumerate(zip(steps, self.steps, strict=True)):
            text.set_texts(language.texts().translate(step))
            text.set_number(row + 1)
            remedy = STEP_REMEDIES.get(step.removeprefix(STEP_PREFIX))
            self._grid.addWidget(text, row, 0, 1, 2 if remedy is None else 1, Qt.AlignmentFlag.AlignVCenter)
            if remedy is not None:
                self._grid.addWidget(self._make_button(remedy), row, 1, Qt.AlignmentFlag.AlignRight)
        self._update_buttons()
        hints = [button.sizeHint() for button in self.buttons.values()]
        for button in self.buttons.values():
            button.setMinimumWidth(max(hint.width() for hint in hints))
        row_height = max((hint.height() for hint in hints), default=0)
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, row_height if row < len(steps) else 0)

    def set_measurable(self, *, enabled: bool, tool_tip: str) -> None:
        """Whether a benchmark can be started now; the tool tip says how long it takes, or why none can be started."""
        self._can_measure, self._measure_tip = enabled, tool_tip
        self._update_buttons()

    def _update_buttons(self) -> None:
        """Enable the button that measures again or disable it, and choose the primary one."""
        measure_button = self.buttons.get("measure-again")
        if measure_button is not None:
            measure_button.setEnabled(self._can_measure)
            measure_button.setToolTip(self._measure_tip)
        first = next((button for button in self.buttons.values() if button.isEnabledTo(self)), None)
        for button in self.buttons.values():
            button.set_kind("primary" if button is first else "secondary")

    def _make_button(self, remedy: Remedy) -> Button:
        button = Button(remedy_text(remedy), small=True)
        button.setObjectName(remedy)
        button.clicked.connect(lambda: self.requested.emit(remedy))
        self.buttons[remedy] = button
        return button
