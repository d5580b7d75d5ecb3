"""Whether the cards are well: rules over samples, each alarm with its evidence; pure but for what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..catalog.health import Names, Rose
from ..core.health import Alarm, Health, HealthState
from ..core.results import GpuSample, Sample
from .conditions import Counters, Figures, found, holds
from .figures import CardFigures, ComputerFigures, Form, advice, card_name, tells_enough
from .past import Settler, Usual, load_of

if TYPE_CHECKING:
    from ..catalog.health import HealthRules, Rule
    from ..core.names import Value

LEAST_SAMPLES = 2  # one reading alone may be a slip
GRAVITY = {"error": 0, "warn": 1, "info": 2}

Allowed = Callable[[GpuSample], float | None]
Forms = Callable[[GpuSample], Form]
Lanes = Callable[[GpuSample], int | None]


def judge(samples: Iterable[Sample], rules: HealthRules, *, allowed: Allowed = lambda _: None) -> Health | None:
    """How things stand after these samples, oldest first; None for no sample at all."""
    watch = Watch(rules, allowed=allowed)
    health = None
    for sample in samples:
        health = watch.look(sample)
    return health


class Watch:
    """Looks at every sample and keeps what rules need to know of those before; bounded, whatever comes.

    `allowed` tells a card's highest temperature in °C by its maker, where the driver does not say one; `form` what it
    is built into, for the advice; `lanes` the PCI Express lanes it has by its maker. `cuda` is the state of the last
    check whether CUDA works ("pass", "fail"), if there was one.
    """

    def __init__(
        self,
        rules: HealthRules,
        *,
        allowed: Allowed = lambda _: None,
        form: Forms = lambda _: "any",
        lanes: Lanes = lambda _: None,
    ) -> None:
        self.cuda: str | None = None
        self._rules = rules
        self._allowed = allowed
        self._form = form
        self._lanes = lanes
        self._known_lanes: dict[str | None, int | None] = {}  # by name: looking it up takes longer than all rules
        self._xids = {xid.number: xid.kind for xid in rules.xids}
        self._sources = {key: source.url for key, source in rules.sources.items()}
        self._usual: dict[int, Usual] = {}
        self._reported: dict[str | int, tuple[int, float]] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._last: float | None = None
        self._health: Health | None = None
        self._looks = 0
        self._answers: int | None = None  # in a row since the driver was slow; None: enough
        self._tracks: dict[tuple[int, int | None], _Track] = {}
        self._settlers: dict[int, Settler] = {}
        self._known: dict[int, str] = {}

    def remember(self, gpu: int, usual: Usual) -> None:
        """What is usual for the card with this index (`past.remembered`)."""
        self._usual[gpu] = usual

    def recall(self, gpu: GpuSample, xid: int, at: float) -> None:
        """What the driver reported of this card before anybody looked, and when (`past.reported`): it tells only what
        comes while its session is open, and a window that was closed, or asked for no samples, has a new one.
        """
        known = self._reported.get(_who(gpu))
        if known is None or known[1] < at:
            self._reported[_who(gpu)] = xid, at

    def look(self, sample: Sample) -> Health:
        """Take the next sample in; how things stand now. While the driver takes its time no alarm begins or ends, and
        nobody is called well until it answered twice.
        """
        if sample.nvml == "slow" and self._health is not None:
            self._answers = 0
            if self._health.state in ("warn", "error"):
                return replace(self._health, ended=())
            return Health(t=sample.t, state="slow", alarms=self._health.alarms, cards=self._health.cards)
        if self._last is not None and not 0 <= sample.t - self._last <= self._rules.gap_seconds:
            self._begin_anew()  # the computer slept, or its clock was set: this is another time
        self._last = sample.t
        if self._answers is not None:
            self._answers += 1
            self._answers = self._answers if self._answers < LEAST_SAMPLES else None
        self._looks += 1
        moved = self._reseat(sample)
        on = list(self._after(sample))
        # What a graver alarm of the same card says already, or denies, is not said beside it.
        hushed = {(name, key[1]) for key, _ in on for name in self._rules.rules[key[0]].hushes}
        ringing = [self._alarm(key, track) for key, track in on]
        ringing = [alarm for alarm in ringing if (alarm.id, alarm.gpu) not in hushed]
        ringing.sort(key=lambda alarm: GRAVITY[alarm.level])
        still = {(self._rules.rules[key[0]].id, key[1]) for key, _ in on}
        before = self._health.alarms if self._health is not None else ()
        watching = self._watching()
        state = self._state(sample, ringing, watching=bool(watching))
        self._health = Health(
            t=sample.t,
            state=state,
            alarms=tuple(ringing),
            ended=tuple(alarm for alarm in before if alarm.gpu not in moved and (alarm.id, alarm.gpu) not in still),
            watching=watching,
            untold=_untold(sample),
            cards=len(sample.gpus),
            reported={gpu.index: known for gpu in sample.gpus if (known := self._reported.get(_who(gpu))) is not None},
        )
        return self._health

    def pending(self, gpu: int) -> tuple[Alarm, ...]:
        """Of this card, what held in two samples in a row, but not yet for as long as its rule asks."""
        held = [(key, track) for key, track in self._tracks.items() if key[1] == gpu and track.held >= LEAST_SAMPLES]
        return tuple(self._alarm(key, track) for key, track in held)

    def _after(self, sample: Sample) -> Iterator[tuple[tuple[int, int | None], _Track]]:
        """The tracks of the rules that ring, after this sample."""
        cards: dict[int | None, Figures] = {gpu.index: self._card(sample.t, gpu) for gpu in sample.gpus}
        computer: dict[int | None, Figures] = {None: ComputerFigures(sample, cuda=self.cuda)}
        known = {gpu.index: gpu for gpu in sample.gpus}
        recalled = {gpu.index for gpu in sample.gpus if not gpu.xid}
        for key, track in list(self._tracks.items()):
            if key[1] is not None and key[1] not in cards:  # the card is gone, and its alarms end
                track.take(sample.t, self._rules.rules[key[0]], self._rules.ends_seconds, met=False)
                if track.on:
                    yield key, track
                else:
                    del self._tracks[key]
        for place, rule in enumerate(self._rules.rules):
            for index, figures in (computer if rule.about == "computer" else cards).items():
                if (place, index) not in self._tracks:
                    self._tracks[place, index] = _Track()
                track = self._tracks[place, index]
                met = track.meets(sample.t, rule, figures)
                # What the driver reported before was seen then: it is no slip.
                least = 1 if met and index in recalled and rule.about_xid else LEAST_SAMPLES
                track.take(sample.t, rule, self._rules.ends_seconds, met=met, least=least)
                if met:
                    track.data = _evidence(rule, figures)
                    track.data |= self._about(known.get(index), several=len(known) > 1) if index is not None else {}
                if track.on:
                    yield (place, index), track

    def _reseat(self, sample: Sample) -> set[int]:
        """Numbers are the driver's: where a card went or came, one may be another card's now, whose past is not its.
        Those numbers.
        """
        moved: set[int] = set()
        for gpu in sample.gpus:
            if gpu.uuid is None:  # one that is lost cannot say who it is
                continue
            before, self._known[gpu.index] = self._known.get(gpu.index), gpu.uuid
            if before in (None, gpu.uuid):
                continue
            moved.add(gpu.index)
            self._usual.pop(gpu.index, None)
            self._settlers.pop(gpu.index, None)
            for key in [key for key in self._tracks if key[1] == gpu.index]:
                del self._tracks[key]
        return moved

    def _watching(self) -> tuple[int | None, ...]:
        """The cards for which a condition holds that has yet to last. Who was called well already is so until it held
        in two samples: one reading may be a slip.
        """
        least = LEAST_SAMPLES if self._health is not None and self._health.state == "well" else 1
        held = {
            index
            for (place, index), track in self._tracks.items()
            if self._rules.rules[place].level != "info" and track.held >= least
        }
        return tuple(sorted(held, key=lambda index: -1 if index is None else index))

    def _card(self, t: float, gpu: GpuSample) -> CardFigures:
        if gpu.xid and gpu.xid_t is not None:
            self.recall(gpu, gpu.xid, gpu.xid_t)
        elif (known := self._reported.get(_who(gpu))) is not None and known[1] <= t:
            gpu = replace(gpu, xid=known[0], xid_t=known[1])
        settler = self._settlers.setdefault(gpu.index, Settler(self._rules.settling))
        settler.add(t, gpu.temp, load_of(gpu))
        settled = settler.settled()
        usual = self._usual.get(gpu.index, {}).get(settled[1]) if settled is not None else None
        both = (settled[0], usual) if settled is not None and usual is not None else None
        return CardFigures(t, gpu, allowed=self._allowed, lanes=self._lanes_of, xids=self._xids, settled=both)

    def _about(self, gpu: GpuSample | None, *, several: bool) -> dict[str, Value]:
        """The card's name and the advice for one of its kind."""
        if gpu is None:
            return {}
        return {"name": card_name(gpu, several=several), **advice(self._form(gpu))}

    def _lanes_of(self, gpu: GpuSample) -> int | None:
        if gpu.name not in self._known_lanes:
            self._known_lanes[gpu.name] = self._lanes(gpu)
        return self._known_lanes[gpu.name]

    def _alarm(self, key: tuple[int, int | None], track: _Track) -> Alarm:
        place, gpu = key
        rule = self._rules.rules[place]
        return Alarm(
            id=rule.id,
            level=rule.level,
            gpu=gpu,
            since=track.since,
            data=track.data,
            source=self._sources.get(rule.source),
        )

    def _state(self, sample: Sample, alarms: list[Alarm], *, watching: bool) -> HealthState:
        if alarms and alarms[0].level != "info":
            return "error" if alarms[0].level == "error" else "warn"
        if sample.nvml == "absent":
            return "no-card"
        states = {gpu.state for gpu in sample.gpus}
        if sample.nvml == "asleep" or states == {"asleep"}:
            return "asleep"
        if self._looks < LEAST_SAMPLES or sample.nvml not in ("ready", "resting", "lost"):
            return "unknown"
        if not sample.gpus or states & {"lost", "gone", "silent"}:
            return "unknown" if sample.gpus else "no-card"
        return "slow" if self._answers is not None else "watching" if watching else _steady(sample)


class _Track:
    """One rule and one card: for how long its conditions hold, or no longer do."""

    def __init__(self) -> None:
        self.on = False
        self.since = 0.0
        self.data: dict[str, Value] = {}
        self.counters = Counters()
        self._met = 0
        self._unmet = 0
        self._unmet_since = 0.0

    @property
    def held(self) -> int:
        """In how many samples in a row the conditions held, while that is not yet enough to ring."""
        return 0 if self.on else self._met

    def meets(self, t: float, rule: Rule, figures: Figures) -> bool:
        """Whether all conditions hold."""
        met = True
        for one in rule.when:
            # Counters want every reading; the rest need not be asked once one does not hold.
            if met or isinstance(one, Rose):
                met = holds(one, figures, t, self.counters, on=self.on) and met
        return met

    def take(self, t: float, rule: Rule, ends_seconds: float, *, met: bool, least: int = LEAST_SAMPLES) -> None:
        """Count a sample in; it rings from the `least` on, and `ends_seconds` holds where the rule names none of its
        own.
        """
        if met:
            self._met += 1
            self._unmet = 0
            if self._met == 1 and not self.on:
                self.since = t
            if self._met >= least and t - self.since >= rule.for_seconds:
                self.on = True
            return
        self._met = 0
        if not self.on:
            return
        ends = ends_seconds if rule.ends_seconds is None else rule.ends_seconds
        self._unmet += 1
        if self._unmet == 1:
            self._unmet_since = t
        if self._unmet >= LEAST_SAMPLES and t - self._unmet_since >= ends:
            self.on = False
            self._unmet = 0


def _who(gpu: GpuSample) -> str | int:
    return gpu.uuid or gpu.index


def _steady(sample: Sample) -> HealthState:
    """How cards are of which nothing speaks against them; who tells nothing is not well for that."""
    return "untold" if _untold(sample) else "well"


def _untold(sample: Sample) -> tuple[int, ...]:
    return tuple(gpu.index for gpu in sample.gpus if gpu.state == "ready" and not tells_enough(gpu))


def _evidence(rule: Rule, figures: Figures) -> dict[str, Value]:
    data: dict[str, Value] = {"name": None}
    for key, figure in rule.tells.items():
        value = figures[figure]
        data[key] = " ".join(value) if isinstance(value, tuple) else value
    for condition in rule.when:
        if isinstance(condition, Names) and condition.said is not None:
            which = found(condition, figures[condition.figure])
            data["reason"] = None if which is None else f"@{condition.said}.{which}"
    return data
