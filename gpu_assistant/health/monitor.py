"""Whether the condition of a rule holds; what is not known meets none.

Whether the cards are well: rules over samples, each alarm with its evidence; pure but for what it remembers.

What the monitor's rules say during a test: the same grade, sentence and advice as beside the graphs; pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from ..catalog.records.health import AlarmRule, HealthRules, IncreaseCondition, NameCondition, NumberCondition
from ..core.results import Alarm, Check, CheckState, GpuSample, Health, HealthState, Sample
from .baselines import (
    Baseline,
    ComputerRuleInputs,
    FigureValue,
    FormFactor,
    GpuRuleInputs,
    SteadyState,
    advice_codes,
    gpu_display_name,
    is_judgeable,
    load_ratio,
)

if TYPE_CHECKING:
    from ..core.types import Value


MAX_COUNTER_READINGS = 60  # readings of a counter that are kept over its time


class RuleInputs(Protocol):
    """Figures by name."""

    def __getitem__(self, name: str) -> FigureValue: ...


class CounterHistory:
    """What the counters of one rule said before, for `Rose`."""

    def __init__(self) -> None:
        self._readings: dict[str, deque[tuple[float, float]]] = {}

    def has_risen(self, condition: IncreaseCondition, t: float, value: float) -> bool:
        """Take a reading in; whether the counter went up by so much within its time."""
        readings = self._readings.setdefault(condition.figure, deque())
        if readings and value < readings[-1][1]:
            readings.clear()  # it began anew, with the driver
        if not readings or t - readings[-1][0] >= condition.within_seconds / MAX_COUNTER_READINGS:
            readings.append((t, value))
        while len(readings) > 1 and readings[1][0] <= t - condition.within_seconds:
            readings.popleft()
        return value - readings[0][1] >= condition.by


def is_condition_met(
    condition: NumberCondition | NameCondition | IncreaseCondition,
    inputs: RuleInputs,
    t: float,
    counters: CounterHistory,
    *,
    is_active: bool,
) -> bool:
    """Whether it holds at `t`; `on`: the alarm rings, so that `until` counts."""
    value = inputs[condition.figure]
    if isinstance(condition, NameCondition):
        return _is_name_met(condition, value)
    if not isinstance(value, int | float):
        return False
    if isinstance(condition, IncreaseCondition):
        return counters.has_risen(condition, t, value)
    threshold = _threshold(condition, inputs, is_active=is_active)
    if threshold is None:
        return False
    return value >= threshold if condition.least is not None else value < threshold


def matching_name(condition: NameCondition, value: FigureValue) -> str | None:
    """The name that made it hold."""
    names = _as_names(value)
    return next((name for name in condition.any_of if name in names), None)


def _is_name_met(condition: NameCondition, value: FigureValue) -> bool:
    if value is None:
        return False
    names = _as_names(value)
    has_match = not condition.any_of or any(name in names for name in condition.any_of)
    return has_match and not any(name in names for name in condition.none_of)


def _as_names(value: FigureValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _threshold(condition: NumberCondition, inputs: RuleInputs, *, is_active: bool) -> float | None:
    threshold = condition.least if condition.least is not None else condition.below
    if is_active and condition.until is not None:
        threshold = condition.until
    if threshold is None:
        return None
    if condition.share_of is not None:
        base = inputs[condition.share_of]
        return threshold * base if isinstance(base, int | float) else None
    if condition.beyond is not None:
        base = inputs[condition.beyond]
        return threshold + base if isinstance(base, int | float) else None
    return threshold


MIN_SAMPLES = 2  # one reading alone may be a slip
SEVERITY_ORDER = {"error": 0, "warn": 1, "info": 2}

TemperatureLookup = Callable[[GpuSample], float | None]
FormFactorLookup = Callable[[GpuSample], FormFactor]
LaneLookup = Callable[[GpuSample], int | None]


def evaluate_samples(
    samples: Iterable[Sample], rules: HealthRules, *, max_temperature: TemperatureLookup = lambda _: None
) -> Health | None:
    """How things stand after these samples, oldest first; None for no sample at all."""
    monitor = HealthMonitor(rules, max_temperature=max_temperature)
    health = None
    for sample in samples:
        health = monitor.update(sample)
    return health


class HealthMonitor:
    """Looks at every sample and keeps what rules need to know of those before; bounded, whatever comes.

    `allowed` tells a card's highest temperature in °C by its maker, where the driver does not say one; `form` what it
    is built into, for the advice; `lanes` the PCI Express lanes it has by its maker. `cuda` is the state of the last
    check whether CUDA works ("pass", "fail"), if there was one.
    """

    def __init__(
        self,
        rules: HealthRules,
        *,
        max_temperature: TemperatureLookup = lambda _: None,
        form_factor: FormFactorLookup = lambda _: "any",
        lanes: LaneLookup = lambda _: None,
    ) -> None:
        self.cuda_state: str | None = None
        self._rules = rules
        self._max_temperature = max_temperature
        self._form_factor = form_factor
        self._lanes = lanes
        self._lanes_by_name: dict[str | None, int | None] = {}  # by name: looking it up takes longer than all rules
        self._xids = {xid.number: xid.kind for xid in rules.xids}
        self._sources = {key: source.url for key, source in rules.sources.items()}
        self._baselines: dict[int, Baseline] = {}
        self._reported_xids: dict[str | int, tuple[int, float]] = {}
        self._reset()

    def _reset(self) -> None:
        self._last_t: float | None = None
        self._health: Health | None = None
        self._sample_count = 0
        self._answers_since_slow: int | None = None  # in a row since the driver was slow; None: enough
        self._rule_states: dict[tuple[int, int | None], _RuleState] = {}
        self._steady_states: dict[int, SteadyState] = {}
        self._uuids: dict[int, str] = {}

    def set_baseline(self, gpu: int, baseline: Baseline) -> None:
        """What is usual for the card with this index (`past.remembered`)."""
        self._baselines[gpu] = baseline

    def record_xid(self, gpu: GpuSample, xid: int, reported_at: float) -> None:
        """What the driver reported of this card before anybody looked, and when (`past.reported`): it tells only what
        comes while its session is open, and a window that was closed, or asked for no samples, has a new one.
        """
        previous = self._reported_xids.get(_gpu_identity(gpu))
        if previous is None or previous[1] < reported_at:
            self._reported_xids[_gpu_identity(gpu)] = xid, reported_at

    def update(self, sample: Sample) -> Health:
        """Take the next sample in; how things stand now. While the driver takes its time no alarm begins or ends, and
        nobody is called well until it answered twice.
        """
        if sample.nvml == "slow" and self._health is not None:
            self._answers_since_slow = 0
            if self._health.state in ("warn", "error"):
                return replace(self._health, ended=())
            return Health(t=sample.t, state="slow", alarms=self._health.alarms, cards=self._health.cards)
        if self._last_t is not None and not 0 <= sample.t - self._last_t <= self._rules.gap_seconds:
            self._reset()  # the computer slept, or its clock was set: this is another time
        self._last_t = sample.t
        if self._answers_since_slow is not None:
            self._answers_since_slow += 1
            self._answers_since_slow = self._answers_since_slow if self._answers_since_slow < MIN_SAMPLES else None
        self._sample_count += 1
        reassigned = self._drop_reassigned(sample)
        active = list(self._active_rules(sample))
        # What a graver alarm of the same card says already, or denies, is not said beside it.
        suppressed = {(name, key[1]) for key, _ in active for name in self._rules.rules[key[0]].hushes}
        alarms = [self._make_alarm(key, rule_state) for key, rule_state in active]
        alarms = [alarm for alarm in alarms if (alarm.id, alarm.gpu) not in suppressed]
        alarms.sort(key=lambda alarm: SEVERITY_ORDER[alarm.level])
        active_ids = {(self._rules.rules[key[0]].id, key[1]) for key, _ in active}
        previous_alarms = self._health.alarms if self._health is not None else ()
        watched = self._watched_gpus()
        state = self._overall_state(sample, alarms, has_pending=bool(watched))
        self._health = Health(
            t=sample.t,
            state=state,
            alarms=tuple(alarms),
            ended=tuple(
                alarm
                for alarm in previous_alarms
                if alarm.gpu not in reassigned and (alarm.id, alarm.gpu) not in active_ids
            ),
            watching=watched,
            untold=_silent_gpus(sample),
            cards=len(sample.gpus),
            reported={
                gpu.index: record
                for gpu in sample.gpus
                if (record := self._reported_xids.get(_gpu_identity(gpu))) is not None
            },
        )
        return self._health

    def pending_alarms(self, gpu: int) -> tuple[Alarm, ...]:
        """Of this card, what held in two samples in a row, but not yet for as long as its rule asks."""
        pending = [
            (key, rule_state)
            for key, rule_state in self._rule_states.items()
            if key[1] == gpu and rule_state.pending_count >= MIN_SAMPLES
        ]
        return tuple(self._make_alarm(key, rule_state) for key, rule_state in pending)

    def _active_rules(self, sample: Sample) -> Iterator[tuple[tuple[int, int | None], _RuleState]]:
        """The tracks of the rules that ring, after this sample."""
        gpu_inputs: dict[int | None, RuleInputs] = {gpu.index: self._gpu_inputs(sample.t, gpu) for gpu in sample.gpus}
        computer_inputs: dict[int | None, RuleInputs] = {None: ComputerRuleInputs(sample, cuda_state=self.cuda_state)}
        gpus = {gpu.index: gpu for gpu in sample.gpus}
        gpus_without_xid = {gpu.index for gpu in sample.gpus if not gpu.xid}
        for key, rule_state in list(self._rule_states.items()):
            if key[1] is not None and key[1] not in gpu_inputs:  # the card is gone, and its alarms end
                rule_state.advance(sample.t, self._rules.rules[key[0]], self._rules.ends_seconds, is_met=False)
                if rule_state.active:
                    yield key, rule_state
                else:
                    del self._rule_states[key]
        for rule_index, rule in enumerate(self._rules.rules):
            for index, inputs in (computer_inputs if rule.about == "computer" else gpu_inputs).items():
                if (rule_index, index) not in self._rule_states:
                    self._rule_states[rule_index, index] = _RuleState()
                rule_state = self._rule_states[rule_index, index]
                is_met = rule_state.evaluate(sample.t, rule, inputs)
                # What the driver reported before was seen then: it is no slip.
                min_samples = 1 if is_met and index in gpus_without_xid and rule.is_xid_rule else MIN_SAMPLES
                rule_state.advance(sample.t, rule, self._rules.ends_seconds, is_met=is_met, min_samples=min_samples)
                if is_met:
                    rule_state.parameters = _alarm_parameters(rule, inputs)
                    rule_state.parameters |= (
                        self._gpu_parameters(gpus.get(index), has_several=len(gpus) > 1) if index is not None else {}
                    )
                if rule_state.active:
                    yield (rule_index, index), rule_state

    def _drop_reassigned(self, sample: Sample) -> set[int]:
        """Numbers are the driver's: where a card went or came, one may be another card's now, whose past is not its.
        Those numbers.
        """
        reassigned: set[int] = set()
        for gpu in sample.gpus:
            if gpu.uuid is None:  # one that is lost cannot say who it is
                continue
            previous_uuid, self._uuids[gpu.index] = self._uuids.get(gpu.index), gpu.uuid
            if previous_uuid in (None, gpu.uuid):
                continue
            reassigned.add(gpu.index)
            self._baselines.pop(gpu.index, None)
            self._steady_states.pop(gpu.index, None)
            for key in [key for key in self._rule_states if key[1] == gpu.index]:
                del self._rule_states[key]
        return reassigned

    def _watched_gpus(self) -> tuple[int | None, ...]:
        """The cards for which a condition holds that has yet to last. Who was called well already is so until it held
        in two samples: one reading may be a slip.
        """
        min_samples = MIN_SAMPLES if self._health is not None and self._health.state == "well" else 1
        pending = {
            index
            for (rule_index, index), rule_state in self._rule_states.items()
            if self._rules.rules[rule_index].level != "info" and rule_state.pending_count >= min_samples
        }
        return tuple(sorted(pending, key=lambda index: -1 if index is None else index))

    def _gpu_inputs(self, t: float, gpu: GpuSample) -> GpuRuleInputs:
        if gpu.xid and gpu.xid_t is not None:
            self.record_xid(gpu, gpu.xid, gpu.xid_t)
        elif (record := self._reported_xids.get(_gpu_identity(gpu))) is not None and record[1] <= t:
            gpu = replace(gpu, xid=record[0], xid_t=record[1])
        steady_state = self._steady_states.setdefault(gpu.index, SteadyState(self._rules.settling))
        steady_state.add(t, gpu.temp, load_ratio(gpu))
        steady = steady_state.current()
        baseline = self._baselines.get(gpu.index, {}).get(steady[1]) if steady is not None else None
        comparison = (steady[0], baseline) if steady is not None and baseline is not None else None
        return GpuRuleInputs(
            t,
            gpu,
            max_temperature=self._max_temperature,
            lanes=self._cached_lanes,
            xids=self._xids,
            temp_comparison=comparison,
        )

    def _gpu_parameters(self, gpu: GpuSample | None, *, has_several: bool) -> dict[str, Value]:
        """The card's name and the advice for one of its kind."""
        if gpu is None:
            return {}
        return {"name": gpu_display_name(gpu, has_several=has_several), **advice_codes(self._form_factor(gpu))}

    def _cached_lanes(self, gpu: GpuSample) -> int | None:
        if gpu.name not in self._lanes_by_name:
            self._lanes_by_name[gpu.name] = self._lanes(gpu)
        return self._lanes_by_name[gpu.name]

    def _make_alarm(self, key: tuple[int, int | None], rule_state: _RuleState) -> Alarm:
        rule_index, gpu = key
        rule = self._rules.rules[rule_index]
        return Alarm(
            id=rule.id,
            level=rule.level,
            gpu=gpu,
            since=rule_state.since,
            data=rule_state.parameters,
            source=self._sources.get(rule.source),
        )

    def _overall_state(self, sample: Sample, alarms: list[Alarm], *, has_pending: bool) -> HealthState:
        if alarms and alarms[0].level != "info":
            return "error" if alarms[0].level == "error" else "warn"
        if sample.nvml == "absent":
            return "no-card"
        states = {gpu.state for gpu in sample.gpus}
        if sample.nvml == "asleep" or states == {"asleep"}:
            return "asleep"
        if self._sample_count < MIN_SAMPLES or sample.nvml not in ("ready", "resting", "lost"):
            return "unknown"
        if not sample.gpus or states & {"lost", "gone", "silent"}:
            return "unknown" if sample.gpus else "no-card"
        return "slow" if self._answers_since_slow is not None else "watching" if has_pending else _idle_state(sample)


class _RuleState:
    """One rule and one card: for how long its conditions hold, or no longer do."""

    def __init__(self) -> None:
        self.active = False
        self.since = 0.0
        self.parameters: dict[str, Value] = {}
        self.counters = CounterHistory()
        self._met_count = 0
        self._unmet_count = 0
        self._unmet_since = 0.0

    @property
    def pending_count(self) -> int:
        """In how many samples in a row the conditions held, while that is not yet enough to ring."""
        return 0 if self.active else self._met_count

    def evaluate(self, t: float, rule: AlarmRule, inputs: RuleInputs) -> bool:
        """Whether all conditions hold."""
        all_met = True
        for condition in rule.when:
            # Counters want every reading; the rest need not be asked once one does not hold.
            if all_met or isinstance(condition, IncreaseCondition):
                all_met = is_condition_met(condition, inputs, t, self.counters, is_active=self.active) and all_met
        return all_met

    def advance(
        self, t: float, rule: AlarmRule, default_ends_seconds: float, *, is_met: bool, min_samples: int = MIN_SAMPLES
    ) -> None:
        """Count a sample in; it rings from the `least` on, and `ends_seconds` holds where the rule names none of its
        own.
        """
        if is_met:
            self._met_count += 1
            self._unmet_count = 0
            if self._met_count == 1 and not self.active:
                self.since = t
            if self._met_count >= min_samples and t - self.since >= rule.for_seconds:
                self.active = True
            return
        self._met_count = 0
        if not self.active:
            return
        required_seconds = default_ends_seconds if rule.ends_seconds is None else rule.ends_seconds
        self._unmet_count += 1
        if self._unmet_count == 1:
            self._unmet_since = t
        if self._unmet_count >= MIN_SAMPLES and t - self._unmet_since >= required_seconds:
            self.active = False
            self._unmet_count = 0


def _gpu_identity(gpu: GpuSample) -> str | int:
    return gpu.uuid or gpu.index


def _idle_state(sample: Sample) -> HealthState:
    """How cards are of which nothing speaks against them; who tells nothing is not well for that."""
    return "untold" if _silent_gpus(sample) else "well"


def _silent_gpus(sample: Sample) -> tuple[int, ...]:
    return tuple(gpu.index for gpu in sample.gpus if gpu.state == "ready" and not is_judgeable(gpu))


def _alarm_parameters(rule: AlarmRule, inputs: RuleInputs) -> dict[str, Value]:
    parameters: dict[str, Value] = {"name": None}
    for key, figure in rule.tells.items():
        value = inputs[figure]
        parameters[key] = " ".join(value) if isinstance(value, tuple) else value
    for condition in rule.when:
        if isinstance(condition, NameCondition) and condition.said is not None:
            matched = matching_name(condition, inputs[condition.figure])
            parameters["reason"] = None if matched is None else f"@{condition.said}.{matched}"
    return parameters


STATE_BY_LEVEL: dict[str, CheckState] = {"error": "fail", "warn": "warn", "info": "pass"}
# The check in whose place alarms are told. What is not here has checks of its own, which know what the test did to the
# card meanwhile: lost cards, a full memory, the link at work, errors that the driver reports.
RULES_BY_CHECK = {
    "card-fan": ("fan-stopped",),
    "card-errors": (
        "memory-errors",
        "memory-errors-before",
        "remap-failed",
        "pages-full",
        "pages-pending",
        "rows-pending",
        "memory-mended",
    ),
    "card-heat": (
        "too-hot",
        "too-hot-unknown",
        "memory-too-hot",
        "hot",
        "hot-unknown",
        "memory-hot",
        "hotter-than-before",
    ),
    "card-held-back": ("power-supply", "slowed-by-heat", "slowed-by-itself", "power-starved", "clocks-low"),
    "card-link": ("pcie-slot",),
}
CHECK_BY_RULE = {rule: check for check, rules in RULES_BY_CHECK.items() for rule in rules}


def select_test_rules(rules: HealthRules) -> HealthRules:
    """Those rules about cards that a test judges by; what is no reason to worry is none of its matters."""
    test_rules = (
        rule for rule in rules.rules if rule.id in CHECK_BY_RULE and rule.about == "card" and rule.level != "info"
    )
    return replace(rules, rules=tuple(test_rules))


def check_state(rules: HealthRules, rule_id: str) -> CheckState:
    """The state of a check that says what this rule says."""
    return next(STATE_BY_LEVEL[rule.level] for rule in rules.rules if rule.id == rule_id)


def find_driver_rule(rules: HealthRules, state: str) -> AlarmRule | None:
    """The rule that rings for a driver in this state."""
    for rule in rules.rules:
        for condition in rule.when:
            if isinstance(condition, NameCondition) and condition.figure == "nvml" and state in condition.any_of:
                return rule
    return None


def alarms_as_checks(
    checks: Iterable[Check], alarms: Sequence[Alarm], rules: HealthRules, device: str
) -> Iterator[Check]:
    """The checks of a card, and in their places the alarms that rang meanwhile, as far as no graver one says it."""
    suppressed = {name for rule in rules.rules for name in rule.hushes if rule.id in {alarm.id for alarm in alarms}}
    remaining = [alarm for alarm in alarms if alarm.id in CHECK_BY_RULE and alarm.id not in suppressed]
    for check in checks:
        own_alarms = [alarm for alarm in remaining if CHECK_BY_RULE[alarm.id] == check.id]
        remaining = [alarm for alarm in remaining if alarm not in own_alarms]
        if not own_alarms or (
            check.id == "card-heat" and check.state == "fail"
        ):  # that one says why the test was stopped
            yield check
        else:
            yield from (_check_from_alarm(alarm, check.id, device, check.value) for alarm in own_alarms)
    yield from (_check_from_alarm(alarm, CHECK_BY_RULE[alarm.id], device) for alarm in remaining)


def _check_from_alarm(alarm: Alarm, check_id: str, device: str, value: Value = None) -> Check:
    has_own_threshold = alarm.source is None
    data: dict[str, Value] = {
        **alarm.data,
        "device": device,
        "gpu": alarm.gpu,
        "alarm": alarm.id,
        "own": has_own_threshold,
    }
    return Check(id=check_id, state=STATE_BY_LEVEL[alarm.level], value=value, data=data)
