"""Home's verdict: one sentence, its evidence, and an action."""

from __future__ import annotations

import time
from statistics import median
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication

from ....core.results import Alarm, GpuSample, Health, Sample, Verdict
from ....health.rules import temperature_margin
from ....monitor.series import gpu_key
from ....texts.format import format_duration, uncapitalize
from ... import language
from ...machine_facts import MachineFacts
from ...monitor.alarms import SLOWING_ALARMS
from ...monitor.history_model import SampleHistory
from ...monitor.metrics import GPU_CLOCK
from ...widgets.cards import HeroKind
from ...widgets.text import SEPARATOR

VERDICTS_BY_WEIGHT: tuple[Verdict, ...] = ("pass", "warn", "fail")
HeroTarget = Literal["setup", "graphs", "test", "program", "advice"]
BEFORE_S = 600  # seconds before a slowdown in which the usual clock is looked for
LOADED_SHARE = 0.5  # of the highest clock there, and of the load now: with less, the GPU has nothing to do


class HomeVerdict(NamedTuple):
    """What Home's hero shows; without `action` there is no button.

    `target` is where the button leads; `shows_alarm`: the title is that of the most severe alarm.
    """

    kind: HeroKind
    title: str
    detail: str = ""
    action: str = ""
    icon: str | None = None
    shows_alarm: bool = False
    target: HeroTarget = "graphs"


class UsualClocks:
    """The clocks of GPUs under load before they were slowed down. A slowdown may last for hours, and with each sample
    its clock is asked for: it is read from the history once.
    """

    def __init__(self, history: SampleHistory) -> None:
        self._history = history
        self._clocks: dict[int, tuple[float, float | None]] = {}  # by GPU, of the slowdown since then

    def before(self, gpu: int, since: float) -> float | None:
        """MHz; None where the history does not tell, or is not read yet."""
        kept = self._clocks.get(gpu)
        if kept is not None and kept[0] == since:
            return kept[1]
        window = self._history.since(GPU_CLOCK, gpu, since - BEFORE_S)
        if window is None:
            return None
        clocks = window.mean[window.t < since]
        clocks = clocks[clocks > 0]  # the unknown ones are NaN
        clock = median(clocks[clocks >= LOADED_SHARE * clocks.max()].tolist()) if clocks.size else None
        self._clocks[gpu] = since, clock
        return clock


def home_verdict(
    facts: MachineFacts,
    sample: Sample | None,
    health: Health | None,
    *,
    simulated: bool,
    setup_skipped: bool = False,
    usual_clocks: UsualClocks | None = None,
) -> HomeVerdict:
    """The most severe thing that is known; what is not known yet is not judged.

    With `setup_skipped` the GPU's health comes before the offer of a setup. The `usual_clocks` tell how fast a GPU was
    before it was slowed down.
    """
    if simulated:
        return _simulated_verdict(facts)
    nvidia = facts.has_nvidia(sample)
    # "No GPU" is said only after detection, and only if none answers.
    if not facts.loaded or (facts.machine is None and not nvidia):
        return HomeVerdict(
            "neutral", QCoreApplication.translate("HomeVerdict", "Checking this computer…"), icon="search"
        )
    if facts.installed is None and not (nvidia and setup_skipped):
        return _setup_verdict(nvidia, sample, health, usual_clocks)
    return _gpu_verdict(facts, sample, health, usual_clocks) if nvidia else _no_gpu_verdict()


def _no_gpu_verdict() -> HomeVerdict:
    translate = QCoreApplication.translate
    return HomeVerdict(
        "neutral",
        translate("HomeVerdict", "No NVIDIA GPU: PyTorch works on the CPU"),
        translate("HomeVerdict", "Good for learning and small models; large ones need an NVIDIA GPU."),
        translate("HomeVerdict", "Run my first program"),
        icon="cpu",
        target="program",
    )


def _gpu_verdict(
    facts: MachineFacts, sample: Sample | None, health: Health | None, usual_clocks: UsualClocks | None
) -> HomeVerdict:
    """Alarms come first: no setup helps a defective GPU."""
    translate = QCoreApplication.translate
    state = health.state if health is not None else "unknown"
    if health is not None and state in ("warn", "error"):
        return _alarm_verdict(health, sample, usual_clocks)
    if facts.is_gpu_unused():
        return HomeVerdict(
            "warn",
            translate("HomeVerdict", "PyTorch cannot use your GPU: this build has no CUDA."),
            translate("HomeVerdict", "The setup can replace it with a build that has CUDA."),
            translate("HomeVerdict", "Set up again"),
            target="setup",
        )
    if state in ("asleep", "slow"):
        return _no_readings_verdict(slow=state == "slow")
    if sample is None or not sample.gpus:
        return HomeVerdict(
            "neutral",
            translate("HomeVerdict", "No readings from your GPU right now"),
            translate("HomeVerdict", "It may be asleep to save power, or its driver may be waiting for a restart."),
            translate("HomeVerdict", "Show live graphs"),
        )
    if state == "untold":
        text = language.texts().localize_health(health).text if health is not None else ""
        return HomeVerdict(
            "neutral", text or "", _readings_text(sample.gpus), translate("HomeVerdict", "Show live graphs")
        )
    return (
        (_failed_test_verdict(facts, sample.gpus) or _normal_verdict(facts, sample))
        if state == "well"
        else _observing_verdict(sample.gpus, watching=state == "watching")
    )


def _normal_verdict(facts: MachineFacts, sample: Sample) -> HomeVerdict:
    """An idle GPU whose driver was released has no readings, which is no defect."""
    normal = _normal_gpus_verdict(sample.gpus)
    resting_text = language.texts().translate("monitor.nvml.resting") if sample.nvml == "resting" else ""
    return normal._replace(detail=SEPARATOR.join(filter(None, (normal.detail or resting_text, _updates_text(facts)))))


def _updates_text(facts: MachineFacts) -> str:
    """How many updates wait, none of which must be taken: what is here works; "" for none."""
    if not facts.update_count:
        return ""
    if facts.update_count == 1:
        return QCoreApplication.translate("HomeVerdict", "1 optional update")
    return QCoreApplication.translate("HomeVerdict", "{count} optional updates").format(count=facts.update_count)


def _failed_test_verdict(facts: MachineFacts, gpus: tuple[GpuSample, ...]) -> HomeVerdict | None:
    """The newest health test that one of these GPUs failed; None where all passed or were not tested."""
    tests = (facts.health_tests.get(gpu_key(gpu)) for gpu in gpus)
    failed = [test for test in tests if test is not None and test.verdict == "fail"]
    if not failed:
        return None
    translate, newest = QCoreApplication.translate, max(failed, key=lambda test: test.ended)
    return HomeVerdict(
        "warn",
        translate("HomeVerdict", "The last health test found a problem"),
        translate("HomeVerdict", "{date}, {level}. Run the test again to see what the problem is.").format(
            date=_date_text(newest.ended), level=_level_name(newest.level)
        ),
        translate("HomeVerdict", "Run health test"),
        target="test",
    )


def last_test_text(facts: MachineFacts, gpus: tuple[GpuSample, ...]) -> str:
    """What the last health test of these GPUs came to, and when; that there was none."""
    translate = QCoreApplication.translate
    tests = [facts.health_tests.get(gpu_key(gpu)) for gpu in gpus]
    known = [test for test in tests if test is not None]
    if not known:
        return translate("HomeVerdict", "Health test: not run yet")
    worst = max(known, key=lambda test: (VERDICTS_BY_WEIGHT.index(test.verdict), test.ended))
    oldest = min(known, key=lambda test: test.ended)
    if worst.verdict == "fail":
        text = translate("HomeVerdict", "Health test failed on {date}")
    elif worst.verdict == "warn":
        text = translate("HomeVerdict", "Health test gave warnings on {date}")
    elif len(known) < len(tests):
        return translate("HomeVerdict", "Health test: {count} of {total} cards passed").format(
            count=len(known), total=len(tests)
        )
    else:
        worst, text = oldest, translate("HomeVerdict", "Health test passed on {date} ({level})")
    return text.format(date=_date_text(worst.ended), level=_level_name(worst.level))


def _level_name(level: int) -> str:
    """The name of a level of the health test, for within a sentence."""
    return uncapitalize(language.texts().health_level_name(level))


def _date_text(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))


def _no_readings_verdict(*, slow: bool) -> HomeVerdict:
    """A GPU that is left asleep, or a driver that does not answer."""
    translate, say_text = QCoreApplication.translate, language.texts().translate
    if not slow:
        detail = translate("HomeVerdict", "Readings appear as soon as a program uses it.")
        return HomeVerdict("neutral", say_text("health.state.asleep"), detail, icon="moon")
    graphs_text = translate("HomeVerdict", "Show live graphs")
    return HomeVerdict("neutral", say_text("health.state.slow"), say_text("health.slow.fix"), graphs_text, icon="clock")


def _observing_verdict(gpus: tuple[GpuSample, ...], *, watching: bool) -> HomeVerdict:
    """The state is not known yet; with `watching`, the readings are shown beside it."""
    title = language.texts().translate("health.state.watching" if watching else "health.state.unknown")
    graphs_text = QCoreApplication.translate("HomeVerdict", "Show live graphs") if watching else ""
    return HomeVerdict("neutral", title, _readings_text(gpus) if watching else "", graphs_text, icon="search")


def _alarm_verdict(health: Health, sample: Sample | None, usual_clocks: UsualClocks | None) -> HomeVerdict:
    """The most severe alarm and its evidence; what to do is unfolded below it, where other alarms are shown."""
    return HomeVerdict(
        "error" if health.state == "error" else "warn",
        language.texts().most_severe_alarm_title(health),
        _evidence_text(health, sample, usual_clocks),
        QCoreApplication.translate("HomeVerdict", "What to do"),
        shows_alarm=True,
        target="advice",
    )


def _evidence_text(health: Health, sample: Sample | None, usual_clocks: UsualClocks | None) -> str:
    """For how long and how far a GPU has been slowed down, else the evidence; where several GPUs have the most severe
    alarm, of the first of them.
    """
    alarm = health.alarms[0]
    slowdown = _slowdown_text(alarm, health.t, sample, usual_clocks) if alarm.id in SLOWING_ALARMS else ""
    text = slowdown or language.texts().alarm_cause(alarm)
    is_shared = sum(each.id == alarm.id for each in health.alarms) > 1
    return f"GPU {alarm.gpu}{SEPARATOR}{text}" if is_shared else text


def _slowdown_text(alarm: Alarm, now: float, sample: Sample | None, usual_clocks: UsualClocks | None) -> str:
    """For how long, and of a GPU at work the clock now and before; "" for one whose clock is unknown."""
    translate = QCoreApplication.translate
    gpu = next((each for each in sample.gpus if each.index == alarm.gpu), None) if sample is not None else None
    if gpu is None or gpu.clock_sm is None:
        return ""
    duration = format_duration(max(now - alarm.since, 0.0), language.texts().language)
    if gpu.util is None or gpu.util < LOADED_SHARE * 100:  # it may be slow for want of work
        return translate("HomeVerdict", "{time} so far").format(time=duration)
    clock = f"{gpu.clock_sm:,}"
    before = usual_clocks.before(gpu.index, alarm.since) if usual_clocks is not None else None
    percent = round((1 - gpu.clock_sm / before) * 100) if before else 0
    if before is None or percent < 1:
        return translate("HomeVerdict", "{time} so far · clock {clock} MHz").format(time=duration, clock=clock)
    return translate("HomeVerdict", "{time} so far · clock down {percent}%: {before} → {clock} MHz").format(
        time=duration, percent=percent, before=f"{before:,.0f}", clock=clock
    )


def _simulated_verdict(facts: MachineFacts) -> HomeVerdict:
    translate = QCoreApplication.translate
    return HomeVerdict(
        "neutral",
        translate("HomeVerdict", "This is a simulated computer"),
        translate(
            "HomeVerdict",
            "Nothing is installed or measured on it. The readings below are from the real computer in front of you.",
        ),
        translate("HomeVerdict", "Try the setup") if facts.installed is None else "",
        icon="sim",
        target="setup",
    )


def _setup_verdict(
    nvidia: bool, sample: Sample | None, health: Health | None, usual_clocks: UsualClocks | None
) -> HomeVerdict:
    """The offer of a setup; an unhealthy GPU comes before it, a healthy one is named beside it."""
    translate = QCoreApplication.translate
    if nvidia:
        if health is not None and health.state in ("warn", "error"):
            return _alarm_verdict(health, sample, usual_clocks)
        detail = translate("HomeVerdict", "About 10 minutes. Nothing is changed before you agree.")
        if sample is not None and sample.gpus and health is not None and health.state == "well":
            normal = _normal_gpus_verdict(sample.gpus)
            detail = translate("HomeVerdict", "{first}. {then}").format(first=normal.title, then=detail)
        title = translate("HomeVerdict", "Your GPU is not set up for deep learning yet")
        return HomeVerdict(
            "accent", title, detail, translate("HomeVerdict", "Set up my GPU"), icon="bolt", target="setup"
        )
    return HomeVerdict(
        "accent",
        translate("HomeVerdict", "No NVIDIA GPU: PyTorch works on the CPU"),
        translate("HomeVerdict", "For learning and small models. Nothing is changed before you agree."),
        translate("HomeVerdict", "Set up PyTorch"),
        icon="cpu",
        target="setup",
    )


def _readings_text(gpus: tuple[GpuSample, ...]) -> str:
    """The highest temperature and load; of several GPUs these may belong to two, so the text says so."""
    translate, has_several = QCoreApplication.translate, len(gpus) > 1
    temperatures = [gpu.temp for gpu in gpus if gpu.temp is not None]
    utilizations = [gpu.util for gpu in gpus if gpu.util is not None]
    parts = []
    if temperatures:
        temperature_text = translate("HomeVerdict", "hottest {temp} °C") if has_several else "{temp} °C"
        parts.append(temperature_text.format(temp=max(temperatures)))
    if utilizations:
        utilization_text = (
            translate("HomeVerdict", "busiest {load}%") if has_several else translate("HomeVerdict", "load {load}%")
        )
        parts.append(utilization_text.format(load=max(utilizations)))
    return translate("HomeVerdict", ", ").join(parts)


def _normal_gpus_verdict(gpus: tuple[GpuSample, ...]) -> HomeVerdict:
    """What the readings say: whether the GPU is sound only the health test can tell."""
    translate = QCoreApplication.translate
    title = (
        translate("HomeVerdict", "Your GPU is running normally")
        if len(gpus) == 1
        else translate("HomeVerdict", "Your GPUs are running normally")
    )
    # The values themselves are in the card below.
    margin = temperature_margin(gpus)
    if margin is not None:
        margin_text = (
            translate("HomeVerdict", "{degrees} °C below its slowdown temperature")
            if len(gpus) == 1
            else translate("HomeVerdict", "The hottest is {degrees} °C below its slowdown temperature")
        )
        detail = margin_text.format(degrees=margin)
    elif any(gpu.temp is not None for gpu in gpus):
        detail = translate("HomeVerdict", "Temperature, power and memory are all fine")
    else:
        detail = ""
    return HomeVerdict("ok", title, detail, translate("HomeVerdict", "Show live graphs"))
