"""`health.json`: the rules of health alarms and the settings of health tests, with their sources."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .base import CatalogFile, Confidence

RuleLevel = Literal["info", "warn", "error"]
XidKind = Literal["program", "memory", "replaced", "card", "driver"]
RuleId = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
RuleInput = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$")]


class NumberCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="number"):
    """An input is at least `least`, or less than `below`; exactly one of them is set.

    The limit is multiplied by the input `share_of`, or added to the input `beyond`. While the alarm is active, `until`
    replaces it (hysteresis).
    """

    figure: RuleInput
    least: float | None = None
    below: float | None = None
    until: float | None = None
    share_of: RuleInput | None = None
    beyond: RuleInput | None = None


class NameCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="names"):
    """An input that is a name or a set of names has one of `any_of` (empty: any) and none of `none_of`.

    `<text_prefix>.<name>` is the text of the matched name, for {reason} in the alarm's evidence.
    """

    figure: RuleInput
    any_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    text_prefix: str | None = field(default=None, name="said")


class IncreaseCondition(Struct, frozen=True, kw_only=True, tag_field="test", tag="rose"):
    """A counter increased by at least `by` within `within_seconds`."""

    figure: RuleInput
    by: Annotated[float, Meta(gt=0)] = 1
    within_seconds: Annotated[float, Meta(gt=0)]


class AlarmRule(Struct, frozen=True, kw_only=True):
    """An alarm, active once all conditions of `when` held in two consecutive samples and for `for_seconds`.

    It ends when they have not held for `ends_seconds` (None: the value for all rules). An unknown input meets no
    condition. While it is active, alarms of the rules in `suppresses` are not shown for the same GPU, because they
    would repeat or contradict it. Texts: `health.<id>.title`, `.evidence`, `.fix`, filled with `text_inputs` (name in
    the text → input), the GPU's {name} and the {reason}.
    """

    id: RuleId
    about: Literal["card", "computer"] = "card"
    level: RuleLevel
    when: Annotated[tuple[NumberCondition | NameCondition | IncreaseCondition, ...], Meta(min_length=1)]
    for_seconds: Annotated[float, Meta(ge=0)]
    ends_seconds: Annotated[float, Meta(ge=0)] | None = None
    text_inputs: dict[str, RuleInput] = field(default_factory=dict, name="tells")
    suppresses: tuple[RuleId, ...] = field(default=(), name="hushes")
    source: str
    confidence: Confidence

    @property
    def is_xid_rule(self) -> bool:
        """Whether it is an alarm about an Xid error of the driver."""
        return any(condition.figure == "xid_kind" for condition in self.when)


class Xid(Struct, frozen=True, kw_only=True):
    """What an Xid error number of NVIDIA's driver indicates.

    "program": a fault of the application; "memory": memory errors; "replaced": memory was remapped or retired; "card":
    the GPU's hardware; "driver": the driver.
    """

    number: int
    kind: XidKind
    source: str


class SteadyStateSettings(Struct, frozen=True, kw_only=True):
    """When temperatures are comparable: the load was steady for `minutes`. Loads are shares of the power limit.

    Loads within one `band` are equal; those below `least_load` are not compared. A baseline needs `least_minutes` on
    `least_days`, all before the last `young_days`.
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
    """PCI Express: bandwidth of a lane in one direction, in 10^9 bytes per second by generation.

    Copies over a healthy link reach at least `share` of it. The link is judged after `settled_seconds` of load, because
    an idle GPU reduces its speed.
    """

    gb_s_per_lane: dict[str, float]
    share: float
    settled_seconds: float
    source: str
    confidence: Confidence


class HealthTestSettings(Struct, frozen=True, kw_only=True):
    """The settings of health tests. Temperatures are in °C, `*_share` are fractions, `*_percent` utilization.

    `memory_share` of a GPU's free memory is tested, `cpu_memory_bytes` of the computer's. `product_seconds` and
    `load_seconds` are the durations of matrix products and of the long load. `limits_seconds` limits levels 1, 2 and 3
    (level 3: in addition to its load).

    A test stops at the GPU's slowdown temperature less `stop_before_slow`; where that is unknown, at the maximum
    operating temperature plus `stop_beyond_max` and at the shutdown temperature less `stop_before_shutdown`; where none
    is known, at `stop_unknown_c`.

    A GPU's memory is full below `least_free_share` of free memory. Other programs disturb a test from `busy_percent`; a
    GPU is loaded from `loaded_percent`. Conditions that have not held long enough for an alarm when a test ends are
    watched for another `settle_seconds`. The last third of the long load may be `slower_share` slower than the first;
    throttling by heat or power supply may take `held_back_share` of the time.
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
    """`health.json`. The evaluation restarts after a pause of more than `gap_seconds` between samples. An alarm ends
    `ends_seconds` after its conditions. A GPU that the driver no longer lists is dropped with its alarms after
    `forget_seconds`.
    """

    gap_seconds: float
    ends_seconds: float
    forget_seconds: Annotated[float, Meta(gt=0)]
    xids: tuple[Xid, ...]
    settling: SteadyStateSettings
    tests: HealthTestSettings
    rules: tuple[AlarmRule, ...]
