"""Whether the GPUs are healthy: rules over samples, each alarm with its evidence. Pure but for what it remembers.

Sample
  GpuRuleInputs, ComputerRuleInputs    figures by name                                  rules.py
  SteadyState, Baseline                mean temperature under steady load, and usually  baselines.py
  is_condition_met                     each condition of each rule                      rules.py
  _RuleState                           for how long the conditions hold
Health                                 alarms by severity, and a state for all
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..catalog.records.health import AlarmRule, HealthRules, IncreaseCondition, NameCondition
from ..core.results import Alarm, GpuSample, Health, HealthState, Sample
from .baselines import Baseline, SteadyState, load_ratio
from .rules import (
    ComputerRuleInputs,
    CounterHistory,
    FormFactor,
    GpuRuleInputs,
    RuleInputs,
    advice_codes,
    gpu_display_name,
    is_condition_met,
    is_judgeable,
    matching_name,
    temperature_excess,
)

if TYPE_CHECKING:
    from ..core.types import Value


MIN_SAMPLES = 2  # one reading may be wrong
RANK_STEP_C = 2
SEVERITY_ORDER = {"error": 0, "warn": 1, "info": 2}

TemperatureLookup = Callable[[GpuSample], float | None]
FormFactorLookup = Callable[[GpuSample], FormFactor]
LaneLookup = Callable[[GpuSample], int | None]


class HealthMonitor:
    """Evaluates the rules at each sample, and remembers what they need of earlier ones in bounded memory.

    `max_temperature` is a GPU's highest temperature in °C by its vendor, where the driver does not tell one;
    `form_factor` chooses the advice; `lanes` are the GPU's own PCI Express lanes by its vendor. `cuda_state` is the
    state of the last check of CUDA ("pass", "fail"), if there was one.
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
        # Looking these up takes longer than all rules.
        self._lanes_by_name: dict[str | None, int | None] = {}
        self._form_factor_by_name: dict[str | None, FormFactor] = {}
        self._xids = {xid.number: xid.kind for xid in rules.xids}
        self._sources = {key: source.url for key, source in rules.sources.items()}
        self._baselines: dict[int, Baseline] = {}
        self._reported_xids: dict[str | int, tuple[int, float]] = {}
        self._reset()

    def _reset(self) -> None:
        self._last_t: float | None = None
        self._health: Health | None = None
        self._sample_count = 0
        self._answers_since_slow: int | None = None  # samples since the driver was slow; None: enough
        self._rule_states: dict[tuple[int, int | None], _RuleState] = {}
        self._steady_states: dict[int, SteadyState] = {}
        self._uuids: dict[int, str] = {}

    def set_baseline(self, gpu: int, baseline: Baseline) -> None:
        """Set the baseline of the GPU with this index (`baselines.baseline_from_history`)."""
        self._baselines[gpu] = baseline

    def record_xid(self, gpu: GpuSample, xid: int, reported_at: float) -> None:
        """Set an earlier Xid error of this GPU and when it was reported (`baselines.last_reported_xid`).

        The driver reports errors only to open sessions, and after a pause of sampling there is a new session.
        """
        previous = self._reported_xids.get(_gpu_identity(gpu))
        if previous is None or previous[1] < reported_at:
            self._reported_xids[_gpu_identity(gpu)] = xid, reported_at

    def update(self, sample: Sample) -> Health:
        """Add the next sample; the health now.

        While the driver is slow no alarm begins or ends, and no GPU is healthy until the driver answered twice.
        """
        if sample.nvml == "slow" and self._health is not None:
            self._answers_since_slow = 0
            if self._health.state in ("warn", "error"):
                return replace(self._health, ended=())
            return Health(t=sample.t, state="slow", alarms=self._health.alarms, cards=self._health.cards)
        if self._last_t is not None and not 0 <= sample.t - self._last_t <= self._rules.gap_seconds:
            self._reset()  # the computer was asleep, or its clock was set
        self._last_t = sample.t
        if self._answers_since_slow is not None:
            self._answers_since_slow += 1
            self._answers_since_slow = self._answers_since_slow if self._answers_since_slow < MIN_SAMPLES else None
        self._sample_count += 1
        reassigned = self._drop_reassigned(sample)
        active = list(self._active_rules(sample))
        # Alarms that a more severe one of the same GPU includes or contradicts are left out.
        suppressed = {(name, key[1]) for key, _ in active for name in self._rules.rules[key[0]].suppresses}
        active.sort(key=self._rank)
        alarms = [self._make_alarm(key, rule_state) for key, rule_state in active]
        alarms = [alarm for alarm in alarms if (alarm.id, alarm.gpu) not in suppressed]
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
        """Alarms of this GPU whose conditions held in two samples, but not yet for as long as their rules ask."""
        pending = [
            (key, rule_state)
            for key, rule_state in self._rule_states.items()
            if key[1] == gpu and rule_state.pending_count >= MIN_SAMPLES
        ]
        return tuple(self._make_alarm(key, rule_state) for key, rule_state in pending)

    def _active_rules(self, sample: Sample) -> Iterator[tuple[tuple[int, int | None], _RuleState]]:
        """The states of the rules with an active alarm, after this sample."""
        gpu_inputs: dict[int | None, RuleInputs] = {gpu.index: self._gpu_inputs(sample.t, gpu) for gpu in sample.gpus}
        computer_inputs: dict[int | None, RuleInputs] = {None: ComputerRuleInputs(sample, cuda_state=self.cuda_state)}
        gpus = {gpu.index: gpu for gpu in sample.gpus}
        gpus_without_xid = {gpu.index for gpu in sample.gpus if not gpu.xid}
        for key, rule_state in list(self._rule_states.items()):
            if key[1] is not None and key[1] not in gpu_inputs:  # alarms of a removed GPU end
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
                # An error that the driver reported earlier needs no second reading.
                min_samples = 1 if is_met and index in gpus_without_xid and rule.is_xid_rule else MIN_SAMPLES
                rule_state.advance(sample.t, rule, self._rules.ends_seconds, is_met=is_met, min_samples=min_samples)
                if is_met:
                    rule_state.rank_by(temperature_excess(rule, inputs))
                    rule_state.parameters = _alarm_parameters(rule, inputs)
                    rule_state.parameters |= (
                        self._gpu_parameters(gpus.get(index), has_several=len(gpus) > 1) if index is not None else {}
                    )
                if rule_state.active:
                    yield (rule_index, index), rule_state

    def _drop_reassigned(self, sample: Sample) -> set[int]:
        """Indexes that are another GPU's now, because one was added or removed; drops what is known of the old one."""
        reassigned: set[int] = set()
        for gpu in sample.gpus:
            if gpu.uuid is None:  # a lost GPU does not tell its UUID
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
        """The GPUs with conditions that hold, but not long enough. After "well" two samples are needed."""
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
            form_factor=self._cached_form_factor(gpu),
        )

    def _cached_form_factor(self, gpu: GpuSample) -> FormFactor:
        if gpu.name not in self._form_factor_by_name:
            self._form_factor_by_name[gpu.name] = self._form_factor(gpu)
        return self._form_factor_by_name[gpu.name]

    def _gpu_parameters(self, gpu: GpuSample | None, *, has_several: bool) -> dict[str, Value]:
        """The GPU's name, and the advice for its form factor."""
        if gpu is None:
            return {}
        advice = advice_codes(self._cached_form_factor(gpu), has_several=has_several)
        return {"name": gpu_display_name(gpu, has_several=has_several), **advice}

    def _cached_lanes(self, gpu: GpuSample) -> int | None:
        if gpu.name not in self._lanes_by_name:
            self._lanes_by_name[gpu.name] = self._lanes(gpu)
        return self._lanes_by_name[gpu.name]

    def _rank(self, active: tuple[tuple[int, int | None], _RuleState]) -> tuple[int, int, float]:
        """The worst first: by level, by the order of the rules, and of one rule the GPU that is the most too hot."""
        (rule_index, _), rule_state = active
        return SEVERITY_ORDER[self._rules.rules[rule_index].level], rule_index, -rule_state.excess

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
    """One rule for one GPU: since when its conditions hold, or no longer do."""

    def __init__(self) -> None:
        self.active = False
        self.since = 0.0
        self.parameters: dict[str, Value] = {}
        self.excess = 0.0  # see `rank_by`
        self.counters = CounterHistory()
        self._met_count = 0
        self._unmet_count = 0
        self._unmet_since = 0.0

    @property
    def pending_count(self) -> int:
        """In how many samples in a row the conditions held; 0 once the alarm is active."""
        return 0 if self.active else self._met_count

    def rank_by(self, excess: float) -> None:
        """Rank it among the alarms of its rule by `temperature_excess`, in steps: two similar GPUs would change places
        with every sample.
        """
        if not self.active or abs(excess - self.excess) >= RANK_STEP_C:
            self.excess = excess

    def evaluate(self, t: float, rule: AlarmRule, inputs: RuleInputs) -> bool:
        """Whether all conditions hold."""
        all_met = True
        for condition in rule.when:
            # Counters need every reading; the rest is not evaluated once one condition does not hold.
            if all_met or isinstance(condition, IncreaseCondition):
                all_met = is_condition_met(condition, inputs, t, self.counters, is_active=self.active) and all_met
        return all_met

    def advance(
        self, t: float, rule: AlarmRule, default_ends_seconds: float, *, is_met: bool, min_samples: int = MIN_SAMPLES
    ) -> None:
        """Add a sample; the alarm needs `min_samples`. `default_ends_seconds` is for rules without their own."""
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
    """The state without any alarm: GPUs that report too little are not "well"."""
    return "untold" if _silent_gpus(sample) else "well"


def _silent_gpus(sample: Sample) -> tuple[int, ...]:
    return tuple(gpu.index for gpu in sample.gpus if gpu.state == "ready" and not is_judgeable(gpu))


def _alarm_parameters(rule: AlarmRule, inputs: RuleInputs) -> dict[str, Value]:
    parameters: dict[str, Value] = {"name": None}
    for key, figure in rule.text_inputs.items():
        value = inputs[figure]
        parameters[key] = " ".join(value) if isinstance(value, tuple) else value
    for condition in rule.when:
        if isinstance(condition, NameCondition) and condition.text_prefix is not None:
            matched = matching_name(condition, inputs[condition.figure])
            parameters["reason"] = None if matched is None else f"@{condition.text_prefix}.{matched}"
    return parameters


def evaluate_samples(
    samples: Iterable[Sample], rules: HealthRules, *, max_temperature: TemperatureLookup = lambda _: None
) -> Health | None:
    """The health after these samples, oldest first; None without any sample."""
    monitor = HealthMonitor(rules, max_temperature=max_temperature)
    health = None
    for sample in samples:
        health = monitor.update(sample)
    return health
