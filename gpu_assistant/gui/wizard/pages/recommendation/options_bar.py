"""The options above a recommendation: goal, kind of driver, kind of environment, and choosing versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from .....core.machine import Machine
from .....core.recommendation import Choice
from .....core.types import Channel, EnvironmentKind, Goal
from ....widgets.base import Themed
from ....widgets.buttons import Button
from ....widgets.inputs import Dropdown, DropdownEntry
from ...controller import WizardController
from ...state import WizardState

# NVIDIA's own names for the kinds of its drivers, the same in every language.
CHANNEL_NAMES: Mapping[Channel, str] = {"studio": "Studio", "game-ready": "Game Ready"}


class OptionsBar(Themed, QWidget):
    """Three drop-downs, which show while the user chooses; `buttons` holds the button that begins that, or drops what
    was chosen, and stands beside the page's title.
    """

    def __init__(self, controller: WizardController) -> None:
        super().__init__()
        self._controller = controller
        self.goal_picker, self.channel_picker, self.environment_picker = Dropdown(), Dropdown(), Dropdown()
        self.customize_button = Button(kind="ghost", icon_name="pencil", flush="right")
        self.recommended_button = Button(kind="ghost", icon_name="undo")
        self._pickers_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._pickers_layout.setContentsMargins(0, 0, 0, 0)
        self._pickers_layout.setSpacing(8)
        self._pickers_layout.addWidget(self.goal_picker)
        self._pickers_layout.addWidget(self.channel_picker)
        self._pickers_layout.addWidget(self.environment_picker)
        self._pickers_layout.addStretch(1)
        self.buttons: QWidget = QWidget()
        buttons_layout = QVBoxLayout(self.buttons)
        buttons_layout.setContentsMargins(0, 0, 0, 0)
        buttons_layout.setSpacing(0)
        for button in (self.customize_button, self.recommended_button):
            buttons_layout.addWidget(button, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._channels_machine: Machine | None = None
        self.goal_picker.chosen.connect(lambda goal: controller.change_options(goal=goal))
        self.channel_picker.chosen.connect(lambda channel: controller.change_options(channel=channel))
        self.environment_picker.chosen.connect(controller.set_environment_kind)
        self.customize_button.clicked.connect(controller.start_customizing)
        self.recommended_button.clicked.connect(controller.reset_choices)
        self.apply_theme()

    def retranslate(self) -> None:
        state = self._controller.flow.state
        goal_texts = self.goal_texts()
        entries = [
            DropdownEntry(value=goal, text=goal_texts[goal][0], detail=goal_texts[goal][1]) for goal in get_args(Goal)
        ]
        template = self.tr("For: {goal}")
        text = template.format(goal=goal_texts[state.goal][0])
        self.goal_picker.reserve_width_for([template.format(goal=name) for name, _ in goal_texts.values()])
        self.goal_picker.set_entries(entries, state.goal, text, self.tr("Goal"))
        channel_texts = self.channel_texts()
        entries = [
            DropdownEntry(value=channel, text=channel_texts[channel][0], detail=channel_texts[channel][1])
            for channel in get_args(Channel)
        ]
        # A chosen driver has its own kind, whatever the option says.
        advice = state.recommendation.driver if state.recommendation is not None else None
        chosen_channel = (
            advice.channel if advice is not None and state.choice is not None and state.choice.driver else None
        )
        channel = chosen_channel or state.channel
        template = self.tr("Driver: {kind}")
        text = template.format(kind=channel_texts[channel][0])
        self.channel_picker.reserve_width_for([template.format(kind=name) for name, _ in channel_texts.values()])
        self.channel_picker.set_entries(entries, channel, text, self.tr("Driver type"))
        environment_texts = self.environment_texts()
        entries = [
            DropdownEntry(value=option, text=name, detail=detail)
            for option, (name, detail) in environment_texts.items()
        ]
        template = self.tr("Environment: {maker}")
        self.environment_picker.reserve_width_for(
            [template.format(maker=name) for name, _ in environment_texts.values()]
        )
        text = template.format(maker=environment_texts[state.environment_kind][0])
        self.environment_picker.set_entries(entries, state.environment_kind, text, self.tr("Environment type"))
        self.customize_button.setText(self.tr("Customise"))
        # With nothing chosen there is nothing to reset: the button only closes the lists.
        has_choice = state.choice is not None and replace(state.choice, way=None) != Choice()
        self.recommended_button.setText(self.tr("Reset to recommended") if has_choice else self.tr("Close"))
        self.recommended_button.set_icon("undo" if has_choice else "cross")

    def draw(self) -> None:
        """Show the current state."""
        state = self._controller.flow.state
        self.retranslate()
        has_recommendation = state.recommendation is not None or self._controller.is_recommending
        self.customize_button.setVisible(not state.customizing and has_recommendation)
        self.recommended_button.setVisible(is_choosing(state))
        # Once a machine has shown to have both kinds, the drop-down stays.
        if _has_driver_channels(state.machine, state):
            self._channels_machine = state.machine
        self.channel_picker.setVisible(state.machine is not None and self._channels_machine is state.machine)
        self.environment_picker.setVisible(_conda_version(state.machine) is not None)

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels; the form does not depend on the entries."""
        pickers_width = sum(
            each.sizeHint().width() + 8
            for each in (self.goal_picker, self.channel_picker, self.environment_picker)
            if not each.isHidden()
        )
        direction = QBoxLayout.Direction
        self._pickers_layout.setDirection(
            direction.LeftToRight if available_width >= pickers_width else direction.TopToBottom
        )

    def goal_texts(self) -> dict[Goal, tuple[str, str]]:
        """Each goal's name and an explanation for beginners."""
        return {
            "pytorch": ("PyTorch", self.tr("Train and run models: what most people want")),
            "tensorflow": ("TensorFlow", self.tr("For a course or project that asks for TensorFlow")),
            "cuda-dev": (
                self.tr("CUDA development"),
                self.tr("Write and compile GPU programs yourself: adds the CUDA Toolkit and cuDNN"),
            ),
            "all": (self.tr("Everything"), self.tr("All three, if you need them all; takes the most space")),
        }

    def channel_texts(self) -> dict[Channel, tuple[str, str]]:
        """Each kind of driver: name and explanation."""
        return {
            "studio": (CHANNEL_NAMES["studio"], self.tr("Tested longer: the safe choice for this kind of work")),
            "game-ready": (CHANNEL_NAMES["game-ready"], self.tr("Ready for the newest games: if you also play games")),
        }

    def environment_texts(self) -> dict[EnvironmentKind, tuple[str, str]]:
        """Each kind of environment: name and explanation."""
        version = _conda_version(self._controller.flow.state.machine) or ""
        return {
            "venv": ("venv", self.tr("Python's own kind, used in most guides")),
            "conda": (
                f"conda {version}".rstrip(),
                self.tr("Created by your conda, with Python from conda-forge; base stays as it is"),
            ),
        }


def is_choosing(state: WizardState) -> bool:
    """Whether the user chooses: versions, or another goal, kind of driver or environment than is recommended.

    Also where the choices have no recommendation. One of two ways is chosen on its own card.
    """
    has_versions = state.choice is not None and replace(state.choice, way=None) != Choice()
    return state.customizing or has_versions


def _conda_version(machine: Machine | None) -> str | None:
    """The version of the installed conda."""
    return machine.tools.conda if machine is not None and machine.tools is not None else None


def _has_driver_channels(machine: Machine | None, state: WizardState) -> bool:
    """Whether NVIDIA publishes both kinds of drivers for this machine."""
    if machine is None or not machine.gpus_of("nvidia"):
        return False
    advice = state.recommendation.driver if state.recommendation is not None else None
    return state.channel != "studio" or (advice is not None and advice.channel is not None)
