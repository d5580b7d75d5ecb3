"""The options above a recommendation: goal, kind of driver, kind of environment, and choosing versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .....core.machine import Machine
from .....core.recommendation import Choice
from .....core.types import Channel, EnvironmentKind, Goal
from ....widgets.buttons import Button
from ....widgets.cards import Card
from ....widgets.icons import IconWidget
from ....widgets.inputs import FIELD_SPACING, CaptionedField, Dropdown, DropdownEntry, arrange_fields
from ....widgets.text import TextLabel, label
from ...controller import WizardController
from ...state import WizardState

CARD_MARGIN = 16  # pixels beside the content of every card of the page
ICON_GROUND_SIZE = 38  # pixels at 100 % text of the ground of a card's icon
LOW_PADDING, PADDING = 6, 11  # above and below a card's text, in a low window and in others
# NVIDIA's own names for the kinds of its drivers, the same in every language.
CHANNEL_NAMES: Mapping[Channel, str] = {"studio": "Studio", "game-ready": "Game Ready"}


class OptionsBar(Card):
    """Three fields, which show while the user chooses; `buttons` holds the button that begins that, or drops what
    was chosen, and stands beside the page's title.
    """

    def __init__(self, controller: WizardController) -> None:
        self._is_built = False
        super().__init__(padding=CARD_MARGIN)
        self._controller = controller
        self.goal_picker, self.channel_picker, self.environment_picker = Dropdown(), Dropdown(), Dropdown()
        self.customize_button = Button(kind="ghost", icon_name="pencil", flush="right")
        self.recommended_button = Button(kind="ghost", icon_name="undo")
        self._fields = [
            CaptionedField(picker) for picker in (self.goal_picker, self.channel_picker, self.environment_picker)
        ]
        self._explanations = [label("small") for _ in self._fields]
        self._columns = [
            _build_column(field, explanation)
            for field, explanation in zip(self._fields, self._explanations, strict=True)
        ]
        self._is_low = False
        self._icon = IconWidget("settings", size=20, background="square", background_size=ICON_GROUND_SIZE)
        self._row = QHBoxLayout()
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        self._fields_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._fields_layout.setSpacing(FIELD_SPACING)
        for column in self._columns:
            self._fields_layout.addWidget(column, 0, Qt.AlignmentFlag.AlignTop)
        self._fields_layout.addStretch(1)
        self._row.addLayout(self._fields_layout, 1)
        self.column.addLayout(self._row)
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
        self._is_built = True
        self.apply_theme()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        state = self._controller.flow.state
        goal_texts = self.goal_texts()
        entries = [
            DropdownEntry(value=goal, text=goal_texts[goal][0], detail=goal_texts[goal][1]) for goal in get_args(Goal)
        ]
        self.goal_picker.reserve_width_for([name for name, _ in goal_texts.values()])
        self.goal_picker.set_entries(entries, state.goal, goal_texts[state.goal][0], self.tr("Goal"))
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
        self.channel_picker.reserve_width_for([name for name, _ in channel_texts.values()])
        self.channel_picker.set_entries(entries, channel, channel_texts[channel][0], self.tr("Driver type"))
        environment_texts = self.environment_texts()
        entries = [
            DropdownEntry(value=option, text=name, detail=detail)
            for option, (name, detail) in environment_texts.items()
        ]
        self.environment_picker.reserve_width_for([name for name, _ in environment_texts.values()])
        self.environment_picker.set_entries(
            entries, state.environment_kind, environment_texts[state.environment_kind][0], self.tr("Environment type")
        )
        captions = (self.tr("Goal"), self.tr("Driver type"), self.tr("Environment type"))
        for field, caption in zip(self._fields, captions, strict=True):
            field.set_caption(caption)
        details = (
            goal_texts[state.goal][1],
            channel_texts[channel][1],
            environment_texts[state.environment_kind][1],
        )
        for explanation, detail in zip(self._explanations, details, strict=True):
            explanation.setText(detail)
        self.customize_button.setText(self.tr("Customise"))
        # With nothing chosen, not even a way, there is nothing to reset: the button only closes the lists.
        chosen = state.choice is not None and state.choice != Choice()
        self.recommended_button.setText(self.tr("Reset to recommended") if chosen else self.tr("Done"))
        self.recommended_button.set_icon("undo" if chosen else "check")

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
        _, channel_column, environment_column = self._columns
        channel_column.setVisible(state.machine is not None and self._channels_machine is state.machine)
        environment_column.setVisible(_conda_version(state.machine) is not None)

    def set_available_width(self, available_width: int, indent: int) -> None:
        """Lay out for this width in pixels; the fields begin so far from the text's edge as those of the parts."""
        self._icon.setVisible(indent > 0)
        self._row.setSpacing(max(indent - self._icon.sizeHint().width(), 0))
        content_width = available_width - 2 * CARD_MARGIN - indent
        fields = [field for field, column in zip(self._fields, self._columns, strict=True) if not column.isHidden()]
        arrange_fields(self._fields_layout, fields, content_width)
        # Beside each other they share what the fields leave.
        in_row = self._fields_layout.direction() == QBoxLayout.Direction.LeftToRight
        spare = content_width - sum(field.sizeHint().width() for field in fields) - FIELD_SPACING * (len(fields) - 1)
        for field, explanation in zip(self._fields, self._explanations, strict=True):
            width = field.sizeHint().width() + max(spare, 0) // len(fields)
            explanation.setFixedWidth(max(width if in_row else content_width, 1))
            # In a low window the opened list has them.
            explanation.setVisible(not self._is_low)

    def set_low(self, low: bool) -> None:
        """Take less height, in a low window."""
        self._is_low = low
        padding = LOW_PADDING if low else PADDING
        self.column.setContentsMargins(CARD_MARGIN, padding, CARD_MARGIN, padding)

    def goal_texts(self) -> dict[Goal, tuple[str, str]]:
        """Each goal's name and an explanation for beginners."""
        return {
            "pytorch": ("PyTorch", self.tr("Train and run models: what most people want")),
            "tensorflow": ("TensorFlow", self.tr("For a course or project that asks for TensorFlow")),
            "cuda-dev": (
                self.tr("CUDA development"),
                self.tr("Write and compile GPU programs yourself: adds the CUDA Toolkit and cuDNN"),
            ),
            "all": (self.tr("Everything"), self.tr("PyTorch, TensorFlow and the CUDA Toolkit; takes the most space")),
        }

    def channel_texts(self) -> dict[Channel, tuple[str, str]]:
        """Each kind of driver: name and explanation."""
        return {
            "studio": (CHANNEL_NAMES["studio"], self.tr("Tested longer: the safe choice for this kind of work")),
            "game-ready": (
                CHANNEL_NAMES["game-ready"],
                self.tr("Ready for the newest games: the choice if you also play"),
            ),
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


def _build_column(field: CaptionedField, explanation: TextLabel) -> QWidget:
    """A field with what its value means below it."""
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(3)
    layout.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
    layout.addWidget(explanation)
    return column


def is_choosing(state: WizardState) -> bool:
    """Whether the user chooses: versions, or another goal, kind of driver or environment than is recommended.

    Also where the choices have no recommendation.
    """
    return state.customizing or has_chosen_versions(state)


def has_chosen_versions(state: WizardState) -> bool:
    """Whether the user chose versions; one of two ways is chosen on its own card."""
    return state.choice is not None and replace(state.choice, way=None) != Choice()


def _conda_version(machine: Machine | None) -> str | None:
    """The version of the installed conda."""
    return machine.tools.conda if machine is not None and machine.tools is not None else None


def _has_driver_channels(machine: Machine | None, state: WizardState) -> bool:
    """Whether NVIDIA publishes both kinds of drivers for this machine."""
    if machine is None or not machine.gpus_of("nvidia"):
        return False
    advice = state.recommendation.driver if state.recommendation is not None else None
    return state.channel != "studio" or (advice is not None and advice.channel is not None)
