"""The user's settings, in our own JSON file (no registry, testable without Qt)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from . import json
from .types import Language, MirrorUse

Theme = Literal["system", "light", "dark", "contrast"]


class MutedAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """No notification for one kind of alarm of one card: the rule's id, the card's UUID (see `monitor.series.gpu_key`),
    and what the card was called, for who wants to hear of it again.
    """

    alarm: str
    card: str
    name: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """`language` None follows the system. `setup_done` decides whether the wizard or Home opens first; so does
    `only_look`, of who wants no setup and only to look at the card.

    `look_for_updates` counts only where the build knows an address to ask. `mirrors` tells when the publishers'
    mirrors give files: after a slow official source, before it, or never. `speed_limit` is
    in bytes per second for all downloads together; None is as fast as it goes. `silenced` are kinds of alarm that are
    not told of the computer, or of any card; `silenced_cards` those of one card.
    """

    language: Language | None = None
    theme: Theme = "system"
    text_scale: float = 1.0
    setup_done: bool = False
    only_look: bool = False
    environment: str | None = None
    look_for_updates: bool = True
    alarms: bool = True
    silenced: tuple[str, ...] = ()
    silenced_cards: tuple[MutedAlarm, ...] = ()
    tray: bool = True
    mirrors: MirrorUse = "when-slow"
    speed_limit: int | None = None

    @property
    def opens_home(self) -> bool:
        """Whether Home opens first."""
        return self.setup_done or self.only_look

    def is_muted(self, alarm: str, card: str | None) -> bool:
        """Whether nobody wants to be told of this kind of alarm of this card (None: of the computer)."""
        return alarm in self.silenced or any((each.alarm, each.card) == (alarm, card) for each in self.silenced_cards)


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing or damaged file gives the defaults (nothing in it is worth stopping for)."""
    try:
        return json.decode(path.read_bytes(), Settings)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Settings()


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings whole or not at all; raises AppError."""
    json.write_file(path, json.encode_pretty(settings) + "\n")
