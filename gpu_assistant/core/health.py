"""Whether the cards are well: the state of a moment, and its alarms."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .names import Value

AlarmLevel = Literal["info", "warn", "error"]
# "unknown": nobody has looked twice yet; "no-card": no NVIDIA card or driver; "asleep": left asleep; "slow": the driver
# gives no answer just now; "watching": what would be a reason to worry has yet to last;
# "untold": a card reports too little for anybody to say.
HealthState = Literal["unknown", "no-card", "asleep", "slow", "watching", "untold", "well", "warn", "error"]


class Alarm(Struct, frozen=True, kw_only=True):
    """One thing that is not as it should be. Texts: `health.<id>.title`, `.evidence`, `.fix`, filled with `data`.

    `gpu` is the card's index, None for the whole computer. `since` is when its conditions began to hold, in seconds
    since the epoch. `source` is a public address that explains it. An "info" is no reason to worry.
    """

    id: str
    level: AlarmLevel
    gpu: int | None = None
    since: float
    data: dict[str, Value] = {}
    source: str | None = None
    title: str | None = None
    evidence: str | None = None
    fix: str | None = None


class Health(Struct, frozen=True, kw_only=True):
    """How the cards are at `t` (seconds since the epoch): the gravest alarm first. Text: `health.state.<state>`, or the
    first alarm's title where it is a reason to worry. `ended`: the alarms that rang until now and no longer do; one
    that a graver alarm says besides has not ended. `watching`: the cards (None: the whole computer) for which
    conditions of an alarm hold that have yet to last. `untold`: the cards that report too little to be judged.
    `cards`: how many there are. `reported`: by card, the number of the last error (Xid) that the driver is known to
    have reported, also before anybody looked, and when (seconds since the epoch).
    """

    t: float
    state: HealthState
    alarms: tuple[Alarm, ...] = ()
    ended: tuple[Alarm, ...] = ()
    watching: tuple[int | None, ...] = ()
    untold: tuple[int, ...] = ()
    cards: int = 1
    reported: dict[int, tuple[int, float]] = {}
    text: str | None = None
