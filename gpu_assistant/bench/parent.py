"""Measures an environment's devices: starts the child in its own Python, listens, judges, keeps the result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..core import json
from ..core.errors import AppError, CallError, Cancelled
from ..core.jobs import JobContext
from ..core.results import BenchDevice, Benchmark, BenchWatch, GpuSample
from ..system.json_lines import Patience
from ..system.nvml import Nvml
from . import expected, scaling
from .alone import alone
from .compare import speedup
from .lines import NOTE, PARALLEL, UNSAVED, VERDICT, Begin, BenchProgress, Heard, Line, Loading, Start
from .listen import GRACE_S, Ending, broken, ended, listen
from .places import CHILD
from .watch import BUSY_CPU_PERCENT, BUSY_PERCENT, HELD_BACK, Watch, cpu_load

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..core.paths import DataDir
    from ..system.base import System

__all__ = ["BenchJob", "BenchProgress"]

RESULT_BYTES = 256 * 1024  # what a result takes on the disk at most, about


class BenchJob:
    """One run. News are `Loading`, `BenchProgress` and `BenchResult`.

    `device` ("cpu", "cuda:0") leaves the others out, `only` all workloads but those of these names or families
    ("matmul", "copy", "training", "decode", "parallel"). `catalog` knows what healthy cards reach. `cards` are the GPUs
    just now, the driver's word unless given, `load` is how busy the processor is (percent). A child that has not loaded
    torch after `start_limit` seconds (None: there is no such limit), or is late afterwards, is ended.
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        data: DataDir,
        *,
        full: bool = False,
        device: str | None = None,
        only: Sequence[str] = (),
        catalog: Catalog | None = None,
        cards: Callable[[], tuple[GpuSample, ...]] | None = None,
        load: Callable[[threading.Event], float | None] = cpu_load,
        start_limit: float | None = None,
        simulated: bool = False,
    ) -> None:
        self.environment = environment
        self._system = system
        self._data = data
        self._full = full
        self._device = device
        self._only = tuple(only)
        self._catalog = catalog
        self._cards, self._load = cards, load
        self._start_limit = start_limit
        self._simulated = simulated

    def run(self, context: JobContext[Any]) -> Benchmark:
        """Measure, and keep the result below the data folder.

        A child that dies or hangs after its first results leaves those, with a note; so does a full test that somebody
        stops, which took long. Raises Cancelled (nothing was kept then), CallError where
        the machine is a simulated one or has no such device, and AppError("environment-missing", "bench-running": two
        at once would disturb each other, what `storage_error` has where there is no room for the result, and what
        `listen` finds).
        """
        if self._simulated:
            raise CallError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        with alone(self._data, context.log):
            self._refuse_full()
            return self._measured(interpreter, context)

    def _refuse_full(self) -> None:
        """Nobody shall wait for a figure to hear then that the disk is full."""
        trial = self._data.root / "benchmark.room"
        json.write_file(trial, bytes(RESULT_BYTES))
        trial.unlink(missing_ok=True)

    def _measured(self, interpreter: Path, context: JobContext[Any]) -> Benchmark:
        started = time.time()
        busy = (self._load(context.cancel) or 0.0) > BUSY_CPU_PERCENT
        context.check_cancelled()
        heard = Heard(context.report, context.log, lambda start: len(self._models(start)), busy=busy)
        patience = Patience(context.cancel, self._start_limit)
        context.report(Loading(limit_s=self._start_limit))
        power = self._system.power()
        awake, nvml = self._system.keep_awake("benchmark"), Nvml(self._system)
        stopped = False
        with awake, nvml, Watch(self._cards or nvml.sample) as watch:
            try:
                ending = self._listen(interpreter, heard, patience, context, since=started, busy=busy)
                if heard.ended:
                    self._together(interpreter, heard, context)
                else:
                    context.check_cancelled()  # a terminal's Ctrl+C may end the child before we hear of it
            except Cancelled:
                if not (self._full and heard.results):
                    raise
                ending, stopped = Ending(None, 0, ""), True
        if heard.start is None or not heard.results:
            raise self._trouble(heard, ending, patience)
        if stopped or not heard.ended:
            heard.give_up("cancelled" if stopped else ending.how)
        watched = watch.seen()
        on_battery = None if power.source is None else power.source == "battery"
        on_cards = any(result.device != "cpu" for result in heard.results)
        for note in _conditions(watched if on_cards else (), on_battery=on_battery, saving=power.saving):
            heard.notes[NOTE + note] = None
        benchmark = Benchmark(
            schema="gpu-assistant/benchmark/1",
            torch=heard.start.torch,
            devices=self._named(heard.start.devices),
            results=tuple(heard.results),
            speedup=speedup(heard.results),
            started=started,
            seconds=time.time() - started,
            notes=tuple(heard.notes),
            scope="full" if self._full else "quick",
            versions={**heard.start.versions, **({"driver": nvml.driver} if nvml.driver else {})},
            left_out=tuple(heard.left_out),
            watched=watched,
            on_battery=on_battery,
        )
        return self._kept(self._judged(benchmark, saving=power.saving), context)

    def _listen(
        self, interpreter: Path, heard: Heard, patience: Patience, context: JobContext[Any], *, since: float, busy: bool
    ) -> Ending:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD, "--since", repr(since)]
        argv += ["--full"] if self._full else []
        # Beside other programs a thread that waits for the others must not keep a core from them.
        argv += ["--yielding"] if busy else []
        argv += ["--device", self._device] if self._device else []
        for name in self._only:
            argv += ["--only", name]
        argv += ["--cores", str(cores)] if cores else []

        def line(line: Line) -> None:
            heard.line(line)
            if line.start is not None:
                patience.give(line.start.limit_s + GRACE_S)

        return listen(self._system, argv, line, patience=patience, log=context.log)

    def _models(self, start: Start) -> tuple[str, ...]:
        """What all cards train together, where there are several."""
        several = sum(device.id != "cpu" for device in start.devices) > 1
        if not several or self._device is not None or (self._only and "parallel" not in self._only):
            return ()
        return scaling.models(full=self._full)

    def _together(self, interpreter: Path, heard: Heard, context: JobContext[Any]) -> None:
        """The same training step on all cards, in the format that each of them trained in alone."""
        if heard.start is None:
            return
        count = sum(device.id != "cpu" for device in heard.start.devices)
        for number, model in enumerate(self._models(heard.start), heard.start.of + 1):
            alone = [r for r in heard.results if r.id == model and r.device != "cpu"]
            like = next((r for r in alone if r.dtype.startswith("mixed-")), alone[0] if alone else None)
            dtype, size = (like.dtype, like.size) if like is not None else ("float32", ())
            heard.say(Begin(n=number, workload=f"{model}-parallel", device="cuda", dtype=dtype, size=size))
            limit_s = scaling.limit_s(full=self._full)
            result = scaling.measure(
                self._system, interpreter, context, processes=count, model=model, dtype=dtype, limit_s=limit_s
            )
            if result is None:
                heard.notes[PARALLEL] = None
            else:
                heard.take(result)

    def _judged(self, benchmark: Benchmark, *, saving: bool | None) -> Benchmark:
        """With the range that is right for these cards, where it is known, and the verdict."""
        if all(result.device == "cpu" for result in benchmark.results):
            return replace(benchmark, verdict=VERDICT + self._why_cpu(benchmark))
        if self._catalog is None:
            return replace(benchmark, verdict=VERDICT + "measured")
        cards = expected.cards_of(benchmark.devices, self._catalog)
        ranges = expected.expected(benchmark.results, cards, self._catalog, benchmark.watched)
        if not ranges:
            return replace(benchmark, verdict=VERDICT + "measured")
        if not expected.below(benchmark.results, ranges):
            how = "above" if expected.above(benchmark.results, ranges) else "as-expected"
            return replace(benchmark, expected=ranges, verdict=VERDICT + how)
        causes = expected.causes(benchmark.watched, cards.values(), on_battery=benchmark.on_battery, saving=saving)
        return replace(
            benchmark,
            expected=ranges,
            verdict=VERDICT + "below",
            causes=causes or (expected.CAUSE + "unknown",),
        )

    def _why_cpu(self, benchmark: Benchmark) -> str:
        """Why there is no card's figure: torch has none, though the driver may; or it was not wanted, or gave none."""
        seen = any(device.id != "cpu" for device in benchmark.devices)
        if not seen and not benchmark.watched:
            return "cpu-only"
        if self._device == "cpu":
            return "cpu-chosen"
        if seen:
            return "card-failed"
        return "card-unseen" if {"cuda", "hip"} & set(benchmark.versions) else "cpu-build"

    def _trouble(self, heard: Heard, ending: Ending, patience: Patience) -> AppError:
        if heard.broken is not None:
            return broken(self.environment, heard.broken)
        if heard.missing is not None:
            return CallError("bench-no-device", device=heard.missing.missing, have=", ".join(heard.missing.have))
        if not heard.ended:
            return ended(self.environment, ending, patience)
        reason = next((left.why for left in heard.left_out), None)
        if reason is None:
            return AppError("bench-garbled", path=str(self.environment))
        return AppError("bench-stopped", reason=f"@{reason}")

    def _named(self, devices: tuple[BenchDevice, ...]) -> tuple[BenchDevice, ...]:
        """The processor's name and the memory, which torch does not know."""
        name = self._system.cpu().name
        return tuple(replace(device, name=name) if device.id == "cpu" else device for device in devices)

    def _kept(self, benchmark: Benchmark, context: JobContext[Any]) -> Benchmark:
        moment = datetime.fromtimestamp(benchmark.started or 0, UTC)
        path = self._data.benchmarks / f"{moment:%Y%m%dT%H%M%S.%fZ}.json"
        try:
            json.write_file(path, json.encode_pretty(benchmark) + "\n")
        except AppError as error:
            context.log(f"{error.code}: {path}")
            return replace(benchmark, notes=(*benchmark.notes, UNSAVED))
        return benchmark


def _conditions(watched: Sequence[BenchWatch], *, on_battery: bool | None, saving: bool | None) -> tuple[str, ...]:
    """What made the test unfair."""
    found = {
        "battery": on_battery is True,
        "saving": saving is True,
        "busy": any(card.util_before is not None and card.util_before > BUSY_PERCENT for card in watched),
        "throttled": any(HELD_BACK & set(card.throttle) for card in watched),
    }
    return tuple(code for code, seen in found.items() if seen)
