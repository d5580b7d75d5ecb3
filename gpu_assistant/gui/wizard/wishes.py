"""What the user wants it for, which kind of driver, and whether they choose versions themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QWidget

from ...core.machine import Machine
from ...core.names import EnvironmentKind
from ...core.recommendation import Channel, Goal
from ..components import Button
from ..components.base import Live
from ..components.picker import Entry, Picker
from .facts import Facts
from .road import Road

# NVIDIA's own names for the kinds of its drivers, the same in every language.
CHANNELS: Mapping[Channel, str] = {"studio": "Studio", "game-ready": "Game Ready"}


class Wishes(Live, QWidget):
    """The pickers and the button to versions of one's own, or back from them."""

    def __init__(self, road: Road) -> None:
        super().__init__()
        self._road = road
        self.goal, self.channel, self.maker = Picker(), Picker(), Picker()
        self.by_hand = Button(kind="ghost", icon="pencil")
        self.ours = Button(kind="ghost", icon="undo")
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(8)
        self._pickers = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._pickers.setSpacing(8)
        self._pickers.addWidget(self.goal)
        self._pickers.addWidget(self.channel)
        self._pickers.addWidget(self.maker)
        self._pickers.addStretch(1)
        self._rows.addLayout(self._pickers)
        # One place for both buttons: what comes and goes there leaves the pickers where they are.
        self._ways = QWidget()
        self._both = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._ways)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(0)
        for button in (self.by_hand, self.ours):
            self._both.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._rows.addWidget(self._ways, 1)
        self._kinds_of: Machine | None = None
        self.goal.chosen.connect(lambda goal: road.want(goal=goal))
        self.channel.chosen.connect(lambda channel: road.want(channel=channel))
        self.maker.chosen.connect(road.make_by)
        self.by_hand.clicked.connect(road.choose_by_hand)
        self.ours.clicked.connect(road.ours_again)
        self.follow()

    def retranslate(self) -> None:
        """What holds now, in the language of now."""
        facts = self._road.flow.facts
        goals = self.goals()
        entries = [Entry(value=goal, text=goals[goal][0], detail=goals[goal][1]) for goal in get_args(Goal)]
        line = self.tr("For: {goal}")
        words = line.format(goal=goals[facts.goal][0])
        self.goal.reserve([line.format(goal=name) for name, _ in goals.values()])
        self.goal.set(entries, facts.goal, words, self.tr("What it is for"))
        kinds = self.channels()
        entries = [Entry(value=kind, text=kinds[kind][0], detail=kinds[kind][1]) for kind in get_args(Channel)]
        # A driver that was picked is of its own kind, whatever kind would be taken otherwise.
        advice = facts.recommendation.driver if facts.recommendation is not None else None
        picked = advice.channel if advice is not None and facts.choice is not None and facts.choice.driver else None
        kind = picked or facts.channel
        line = self.tr("Driver: {kind}")
        words = line.format(kind=kinds[kind][0])
        self.channel.reserve([line.format(kind=name) for name, _ in kinds.values()])
        self.channel.set(entries, kind, words, self.tr("Which kind of driver"))
        makers = self.makers()
        entries = [Entry(value=maker, text=name, detail=detail) for maker, (name, detail) in makers.items()]
        line = self.tr("Environment: {maker}")
        self.maker.reserve([line.format(maker=name) for name, _ in makers.values()])
        words = line.format(maker=makers[facts.made_by][0])
        self.maker.set(entries, facts.made_by, words, self.tr("What makes the environment"))
        self.by_hand.setText(self.tr("Customise"))
        self.ours.setText(self.tr("As recommended"))

    def draw(self) -> None:
        """The facts of now."""
        facts = self._road.flow.facts
        self.retranslate()
        known = facts.recommendation is not None or self._road.reckoning
        self.by_hand.setVisible(not facts.by_hand and known)
        # What does not work out leads back, too.
        self.ours.setVisible(facts.by_hand or facts.choice is not None)
        # What has kinds of drivers keeps them to choose from, whatever is picked.
        if _has_channels(facts.machine, facts):
            self._kinds_of = facts.machine
        self.channel.setVisible(facts.machine is not None and self._kinds_of is facts.machine)
        self.maker.setVisible(_conda(facts.machine) is not None)

    def fit(self, room: int) -> None:
        """Take the form that `room` allows, which is the same whatever is chosen and whichever buttons are shown."""
        ways = max(self.by_hand.sizeHint().width(), self.ours.sizeHint().width())
        pickers = sum(
            each.sizeHint().width() + 8 for each in (self.goal, self.channel, self.maker) if not each.isHidden()
        )
        level = room >= pickers + ways
        self._ways.setMinimumWidth(ways if level else 0)
        direction = QBoxLayout.Direction
        self._rows.setDirection(direction.LeftToRight if level else direction.TopToBottom)
        self._pickers.setDirection(direction.LeftToRight if room >= pickers else direction.TopToBottom)

    def goals(self) -> dict[Goal, tuple[str, str]]:
        """Each goal's name, and what it means to somebody who has never heard of it."""
        return {
            "pytorch": ("PyTorch", self.tr("Train and run models: what most people want")),
            "tensorflow": ("TensorFlow", self.tr("For a course or project that asks for TensorFlow")),
            "cuda-dev": (
                self.tr("CUDA development"),
                self.tr("Write and compile GPU programs yourself: adds the CUDA Toolkit and cuDNN"),
            ),
            "all": (self.tr("Everything"), self.tr("All three, for those who need them all; takes the most space")),
        }

    def channels(self) -> dict[Channel, tuple[str, str]]:
        """Both kinds of drivers."""
        return {
            "studio": (CHANNELS["studio"], self.tr("Tested longer: the calm choice for this kind of work")),
            "game-ready": (CHANNELS["game-ready"], self.tr("Ready for the newest games: for those who also play")),
        }

    def makers(self) -> dict[EnvironmentKind, tuple[str, str]]:
        """What can make the environment, where there is a conda."""
        version = _conda(self._road.flow.facts.machine) or ""
        return {
            "venv": ("venv", self.tr("Python's own kind, which every guide knows")),
            "conda": (
                f"conda {version}".rstrip(),
                self.tr("Made by your conda, with Python from conda-forge; base stays as it is"),
            ),
        }


def _conda(machine: Machine | None) -> str | None:
    """The version of the conda that is here."""
    return machine.tools.conda if machine is not None and machine.tools is not None else None


def _has_channels(machine: Machine | None, facts: Facts) -> bool:
    """Whether NVIDIA makes both kinds of drivers for what is here."""
    if machine is None or not machine.gpus_of("nvidia"):
        return False
    advice = facts.recommendation.driver if facts.recommendation is not None else None
    return facts.channel != "studio" or (advice is not None and advice.channel is not None)
