"""What to do about a slow card: numbered steps, with a button where the program can do one or open the place for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....bench.expected_ranges import STEP_PREFIX
from ... import language
from ...remedies import Remedy, remedy_text
from ...widgets.buttons import Button
from ...widgets.layouts import WrappingRow, clear_layout
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
        self._rows_layout = QVBoxLayout(self)
        self._rows_layout.setContentsMargins(0, 10, 0, 0)
        self._rows_layout.setSpacing(8)

    def show_steps(self, steps: Sequence[str]) -> None:
        """Show the steps of these texts' codes, in the current language."""
        clear_layout(self._rows_layout)
        self.buttons = {}
        self.steps = tuple(NumberedStep() for _ in steps)
        for number, (code, step) in enumerate(zip(steps, self.steps, strict=True), 1):
            step.set_texts(language.texts().translate(code))
            step.set_number(number)
            remedy = STEP_REMEDIES.get(code.removeprefix(STEP_PREFIX))
            if remedy is None:
                self._rows_layout.addWidget(step)
            else:
                self._rows_layout.addLayout(WrappingRow(step, self._make_button(remedy), spacing=12))
        self._update_buttons()
        width = max((button.sizeHint().width() for button in self.buttons.values()), default=0)
        for button in self.buttons.values():
            button.setMinimumWidth(width)

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
