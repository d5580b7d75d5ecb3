"""Tests the cards: looks at them through the driver while `child.py` works in the environment's own Python."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..core.errors import AppError, CallError, Cancelled
from ..core.jobs import JobContext
from ..core.names import Value, device_name
from ..core.results import Check, Checks, CheckState, Curve, GpuSample, Sample
from ..system.base import KILLED
from ..system.json_lines import Patience, run_child
from ..verify.job import verdict
from . import cards
from .afterwards import Afterwards, index_of, named
from .cards import made
from .figures import Form
from .judged import rules_of_test
from .listening import HealthProgress, Heard, Line
from .minder import PERIOD_S, Looks, Minder, stop_limit
from .watch import Watch

if TYPE_CHECKING:
    from ..catalog.health import HealthRules
    from ..system.base import System

CHILD = Path(__file__).with_name("child.py")
LEVELS = (1, 2, 3)

# What each level looks at, in this order; the texts say each (`health.area.<id>`).
AREAS = {
    1: (
        "driver",
        "card-answers",
        "card-link",
        "card-memory",
        "card-errors",
        "card-xid",
        "card-fan",
        "cpu-compute",
        "device-compute",
    ),
    2: ("copy-bandwidth", "link-speed", "matmul-bits", "memory-test", "card-heat", "card-held-back"),
    3: ("load", "load-speed"),
}
EITHER = ("matmul-bits", "memory-test", "load")  # what the processor can do as well; its areas are `<id>-cpu`
NEVER = ("graphics", "rare")  # whatever the level
# What a verdict lacks most where it was not looked at: told before the rest.
MATTERS = ("device-compute", "matmul-bits", "memory-test", "load", "copy-bandwidth")
LOOKS_S = 2.5 * PERIOD_S  # how long the driver alone is asked, where there is nothing to compute with
ANSWER_S = (
    20.0  # how long a driver that has yet to answer is waited for: until the sampler calls it hung, and some more
)

STOPPED = {
    "program-endless": "@verify.reason.garbage",
    "program-missing": "@verify.reason.not-started",
    "program-refused": "@verify.reason.not-started",
}


class HealthJob:
    """One test of a level: 1 takes seconds, 2 minutes, 3 `load_seconds` more. News are `Check` and `HealthProgress`.

    `device` ("cpu", "cuda:0") leaves the others out; without it all cards are tested, where there is none the
    processor. `allowed` tells the highest temperature in °C that a card's maker allows, `form` what a card is built
    into, `lanes` how many it has by its maker. `looks` is used here alone. PyTorch has `start_limit` seconds to load
    (None: there is no such limit), then everything has `time_limit`. Without an environment (level 1 alone) nothing is
    computed: the driver is asked.
    """

    def __init__(
        self,
        environment: Path | None,
        system: System,
        rules: HealthRules,
        looks: Looks,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
        allowed: Callable[[GpuSample], float | None] = lambda _: None,
        form: Callable[[GpuSample], Form] = lambda _: "any",
        lanes: Callable[[GpuSample], int | None] = lambda _: None,
        start_limit: float | None = None,
        time_limit: float | None = None,
    ) -> None:
        if level not in LEVELS:
            raise ValueError(f"there is no level {level}")
        if environment is None and level > 1:
            raise ValueError(f"level {level} wants an environment")
        self.environment = environment
        self._system = system
        self._rules, self._tests = rules, rules.tests
        self._watch = Watch(rules_of_test(rules), allowed=allowed, form=form, lanes=lanes)
        self._looks = looks
        self._level = level
        self._device = device
        self._load_seconds = load_seconds or rules.tests.load_seconds
        self._allowed = allowed
        self._afterwards = Afterwards(rules, level=level, device=device, allowed=allowed, form=form)
        load = self._load_seconds if level == 3 else 0.0
        self._start_limit = start_limit
        self._time_limit = time_limit or rules.tests.limits_seconds[level - 1] + load

    def run(self, context: JobContext[Any]) -> Checks:
        """All checks of the level; what is broken is a failed check.

        Raises AppError("environment-missing"), CallError("health-no-device") and Cancelled: then nothing runs any more.
        """
        interpreter = None
        if self.environment is not None:
            interpreter = self._system.environment_python(self.environment)
            if not interpreter.is_file():
                raise AppError("environment-missing", path=str(self.environment))
        found: list[Check] = []

        def tell(check: Check) -> None:
            found.append(check)
            context.report(check)

        def hear(check: Check) -> None:
            tell(named(check, heard, minder))

        began = time.monotonic()
        with self._system.keep_awake("health test"), self._minder(context.cancel) as minder:
            heard = Heard(hear, lambda news: context.report(_with_card(news, heard, minder)), _since(began))
            first = minder.last
            if first is not None and not cards.undecided(first):
                tell(cards.driver(first, self._rules, card_there=self._card_there()))
            if self._level > 1:
                tell(cards.mains(self._system.power()))
            if interpreter is not None:
                self._work(interpreter, heard, minder, hear, context)
            else:
                context.cancel.wait(LOOKS_S)
                minder.wait_until(lambda sample: sample.nvml not in ("untried", "slow"), ANSWER_S)
                context.check_cancelled()
                self._refuse_unknown(minder.last)
                tell(made("torch-import", "skip", reason="@health.reason.no-environment"))
            minder.settle(self._tests.settle_seconds)
            context.check_cancelled()
        if heard.missing is not None:
            have = ", ".join(heard.missing.have)
            raise CallError("health-no-device", device=heard.missing.missing, have=have)
        last = minder.last
        if last is not None:
            silent = cards.driver(last, self._rules, card_there=self._card_there())
            # One that answered at first may have fallen silent meanwhile.
            told = any(check.id == "driver" for check in found)
            if silent not in found and (silent.state == "fail" or not told):
                tell(silent)
        curves = self._afterwards.tell(tuple(found), heard, minder, tell)
        return self._checks(found, curves)

    def _minder(self, cancel: threading.Event) -> Minder:
        return Minder(self._looks, cancel, self._limit, self._watch)

    def _work(
        self,
        interpreter: Path,
        heard: Heard,
        minder: Minder,
        tell: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """Run the child to its end, or to the stop of the user, of heat or of a lost card."""
        patience = Patience(minder.stop, self._start_limit)

        def line(line: Line) -> None:
            if line.start is not None:
                patience.give(self._time_limit)
            heard.line(line)

        try:
            finished = run_child(
                self._system,
                [interpreter, CHILD, *self._words()],
                Line,
                line,
                timeout=threading.TIMEOUT_MAX,
                cancel=patience,
                log=context.log,
            )
        except Cancelled:
            context.check_cancelled()
            if not patience.cancelled:
                tell(_broken_off(heard, "@verify.reason.timeout"))
                return
            reason = "@health.reason.too-hot" if minder.too_hot is not None else "@health.reason.lost"
            # What was under way is not to blame; heat and loss are checks of their own.
            tell(_broken_off(heard, reason, state="skip"))
            return
        except AppError as error:
            if error.code not in STOPPED:
                raise
            tell(_broken_off(heard, STOPPED[error.code]))
            return
        context.check_cancelled()
        if not heard.ended and heard.missing is None:
            if finished.code == KILLED:
                # What was under way is not to blame.
                tell(_broken_off(heard, "@health.reason.killed", state="skip"))
                tell(made("test-end", "fail"))
                return
            garbage = not finished.code and not heard.told
            reason = "@verify.reason.garbage" if garbage else "@verify.reason.crashed"
            tell(_broken_off(heard, reason))

    def _refuse_unknown(self, last: Sample | None) -> None:
        """Without a program to name its devices, those that the driver numbers are there."""
        have = ("cpu", *(f"cuda:{gpu.index}" for gpu in (last.gpus if last is not None else ())))
        if self._device is not None and self._device not in have:
            raise CallError("health-no-device", device=self._device, have=", ".join(have))

    def _words(self) -> list[str]:
        tests, cores = self._tests, self._system.cpu().cores
        words = {
            "--level": self._level,
            "--device": self._device,
            "--cores": cores,
            "--cpu-bytes": tests.cpu_memory_bytes,
            "--memory-share": tests.memory_share,
            "--product-seconds": tests.product_seconds,
            "--load-seconds": self._load_seconds,
        }
        return [word for name, value in words.items() if value is not None for word in (name, str(value))]

    def _limit(self, gpu: GpuSample) -> float:
        return stop_limit(gpu, self._tests, self._allowed)

    def _card_there(self) -> bool:
        return any(gpu.vendor == "nvidia" for gpu in self._system.display_adapters())

    def _checks(self, found: list[Check], curves: tuple[Curve, ...]) -> Checks:
        where: dict[str, set[Value]] = {}
        for check in found:
            if check.state != "skip":
                where.setdefault(check.id, set()).add(check.data.get("device"))
        processor = device_name("cpu")
        # What the processor alone did says nothing of a card.
        without = {area for area in EITHER if where.get(area) == {processor}}
        looked_at = where.keys() - without
        areas = [area for level in LEVELS for area in AREAS[level]]
        covers = tuple(
            f"{area}-cpu" if area in without else area for area in areas if area in looked_at or area in without
        )
        worst = verdict(found)
        return Checks(
            schema="gpu-assistant/checks/1",
            # Where nothing was tested, nothing has passed.
            verdict="warn" if worst == "pass" and not covers else worst,
            checks=tuple(found),
            level=self._level,
            covers=covers,
            leaves_out=(*(area for area in dict.fromkeys((*MATTERS, *areas)) if area not in looked_at), *NEVER),
            curves=curves,
        )


def _with_card(news: HealthProgress, heard: Heard, minder: Minder) -> HealthProgress:
    """The same news with what the card says; the one card, where it is not known which."""
    device = heard.tested(news.device) if news.device is not None else None
    index = index_of(device, minder) if device is not None else 0
    seen = minder.seen.get(index) if index is not None else None
    if not seen or news.device == "cpu":
        return news
    gpu = seen[-1][1]
    return replace(news, temp=gpu.temp, power_w=gpu.power_w)


def _broken_off(heard: Heard, reason: str, *, state: CheckState = "fail") -> Check:
    """What it was about when it ended."""
    return made(heard.stage, state, device=heard.device, reason=reason, dtype=heard.dtype)


def _since(began: float) -> Callable[[], float]:
    return lambda: time.monotonic() - began
