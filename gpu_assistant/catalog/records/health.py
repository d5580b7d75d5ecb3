"""When a card is not well, and how hard it is tested: thresholds with their sources."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .base import CatalogFile, Confidence

RuleLevel = Literal["info", "warn", "error"]
XidKind = Literal["program", "memory", "replaced", "card", "driver"]
RuleId = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
RuleInput = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$")]


class NumberCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="number"):
    """A figure is at least, or below, a number: `share_of` another figure (times), or `beyond` one (plus).

    While the alarm is on, `until` stands in the number's place, so that it does not flicker.
    """

    figure: RuleInput
    least: float | None = None
    below: float | None = None
    until: float | None = None
    share_of: RuleInput | None = None
    beyond: RuleInput | None = None


class NameCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="names"):
    """A figure that is a name, or a set of names, has one of these, and none of those.

    `said` begins the text that says a found name (`<said>.<name>`), for the evidence's {reason}.
    """

    figure: RuleInput
    any_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    said: str | None = None


class IncreaseCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="rose"):
    """A counter went up by so much within so many seconds."""

    figure: RuleInput
    by: Annotated[float, Meta(gt=0)] = 1
    within_seconds: Annotated[float, Meta(gt=0)]


class AlarmRule(Struct, frozen=True, kw_only=True):
    """An alarm: on when all conditions held in two samples in a row and for so long, off when they no longer do.

    Texts: `health.<id>.title`, `.evidence`, `.fix`, filled with `tells` (their name for it → figure), {name} of the
    card, and {reason}. A figure that is not known meets no condition. While it rings, the rules that it `hushes` are
    not told of the same card: they would say the same thing again, or the opposite. `ends_seconds` is for how long the
    conditions no longer hold before it ends, where that is not what holds for all rules.
    """

    id: RuleId
    about: Literal["card", "computer"] = "card"
    level: RuleLevel
    when: Annotated[tuple[NumberCondition | NameCondition | IncreaseCondition, ...], Meta(min_length=1)]
    for_seconds: Annotated[float, Meta(ge=0)]
    ends_seconds: Annotated[float, Meta(ge=0)] | None = None
    tells: dict[str, RuleInput] = {}
    hushes: tuple[RuleId, ...] = ()
    source: str
    confidence: Confidence

    @property
    def is_xid_rule(self) -> bool:
        """Whether it rings for an error that the driver reported."""
        return any(condition.figure == "xid_kind" for condition in self.when)


class Xid(Struct, frozen=True, kw_only=True):
    """What the driver's error number speaks of: a program, the card's memory (errors, or a bad
    piece replaced), the card itself or the driver.
    """

    number: int
    kind: XidKind
    source: str


class SteadyStateSettings(Struct, frozen=True, kw_only=True):
    """When a temperature may be compared with the past: the load, a share of the power limit, was even for so long.

    Loads within one `band` count as the same; a usual temperature needs so many minutes on so many days before
    the last `young_days`.
    """

    minutes: Annotated[int, Meta(ge=1)]
    band: Annotated[float, Meta(gt=0, le=1)]
    least_load: float
    least_minutes: int
    least_days: int
    young_days: int
    source: str
    confidence: Confidence


class PcieLinkSettings(Struct, frozen=True, kw_only=True):
    """What a PCI Express lane carries one way, in 10^9 bytes a second by generation, and the share of it that copies
    reach at least where the link is sound. It is judged once the card has worked for `settled_seconds`.
    """

    gb_s_per_lane: dict[str, float]
    share: float
    settled_seconds: float
    source: str
    confidence: Confidence


class HealthTestSettings(Struct, frozen=True, kw_only=True):
    """How hard the levels work.

    `memory_share` of the free memory is filled; of the processor's, `cpu_memory_bytes`. Products and load take so many
    seconds, a whole level at most `limits_seconds` (level 3: besides its load). A test stops `stop_before_slow` °C
    before the card slows itself down; where it does not tell when, `stop_beyond_max` above what the driver or the
    maker allows, and `stop_before_shutdown` before it switches itself off; where nobody knows any of these, at
    `stop_unknown_c`. From `hot_before_limit` °C before a card's limit on it is called hot, and below
    `least_free_share` of free memory it is called full. Other programs count from `busy_percent` on; a card
    is under load from `loaded_percent` on. What has yet to last when the work is done is looked at for
    `settle_seconds` more. The last third of the long load may be slower than the first by
    `slower_share`; a card may be held back by heat or power supply for `held_back_share` of the time.
    """

    memory_share: Annotated[float, Meta(gt=0, lt=1)]
    cpu_memory_bytes: int
    product_seconds: float
    load_seconds: float
    limits_seconds: tuple[float, float, float]
    stop_before_slow: int
    stop_beyond_max: int
    stop_before_shutdown: int
    stop_unknown_c: int
    hot_before_limit: int
    least_free_share: Annotated[float, Meta(gt=0, lt=1)]
    settle_seconds: Annotated[float, Meta(ge=0)]
    busy_percent: int
    loaded_percent: int
    slower_share: float
    held_back_share: float
    link: PcieLinkSettings
    source: str
    confidence: Confidence


class HealthRules(CatalogFile, frozen=True, kw_only=True):
    """`health.json`. A pause between samples longer than `gap_seconds` begins anew; an alarm ends `ends_seconds`
    after its conditions did. A card that the driver no longer lists is forgotten after `forget_seconds`, and its alarm
    ends with it.
    """

    gap_seconds: float
    ends_seconds: float
    forget_seconds: Annotated[float, Meta(gt=0)]
    xids: tuple[Xid, ...]
    settling: SteadyStateSettings
    tests: HealthTestSettings
    rules: tuple[AlarmRule, ...]
