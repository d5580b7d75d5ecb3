"""Measures an environment's devices: starts the child in its own Python, listens, judges, keeps the result."""

from __future__ import annotations

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
from ..system.json_lines import run_child
from ..system.nvml import Nvml
from . import expected, scaling
from .compare import speedup
from .lines import NOTE, REASONS, REMARKS, BenchProgress, Heard, Line
from .places import CHILD
from .watch import BUSY_PERCENT, HELD_BACK, Watch

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..core.paths import DataDir
    from ..system.base import System

__all__ = ["NOTES", "BenchJob", "BenchProgress"]

QUICK_LIMIT_S, FULL_LIMIT_S = 300.0, 3600.0  # the child ends long before; this is for one that hangs
NOTES = frozenset(
    NOTE + name
    for name in (*REASONS, *REMARKS, "stopped", "unsaved", "battery", "saving", "busy", "throttled", "parallel")
)


class BenchJob:
    """One run. News are `BenchProgress` and `BenchResult`.

    `device` ("cpu", "cuda:0") leaves the others out, `only` all workloads but those of these names or families
    ("matmul", "copy", "training", "decode", "parallel"). `catalog` knows what healthy cards reach. `cards` are the GPUs
    just now, the driver's word unless given. `time_limit` in seconds ends a child that hangs.
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
        time_limit: float | None = None,
    ) -> None:
        self.environment = environment
        self._system = system
        self._data = data
        self._full = full
        self._device = device
        self._only = tuple(only)
        self._catalog = catalog
        self._cards = cards
        self._time_limit = time_limit or (FULL_LIMIT_S if full else QUICK_LIMIT_S)

    def run(self, context: JobContext[Any]) -> Benchmark:
        """Measure, and keep the result below the data folder.

        A child that dies or hangs after its first results leaves those, with a note. Raises
        AppError("environment-missing", "bench-no-torch", "bench-no-device", "bench-stopped") and Cancelled.
        """
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        started = time.time()
        heard = Heard(context.report)
        power = self._system.power()
        awake, nvml = self._system.keep_awake("benchmark"), Nvml(self._system)
        with awake, nvml, Watch(self._cards or nvml.sample) as watch:
            self._listen(interpreter, heard, context)
            if heard.ended:
                self._together(interpreter, heard, context)
        if heard.start is None or not heard.results:
            raise self._trouble(heard)
        if not heard.ended:
            heard.notes[NOTE + "stopped"] = None
        watched = watch.seen()
        on_battery = None if power.source is None else power.source == "battery"
        for note in _conditions(watched, on_battery=on_battery, saving=power.saving):
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

    def _listen(self, interpreter: Path, heard: Heard, context: JobContext[Any]) -> None:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD]
        argv += ["--full"] if self._full else []
        argv += ["--device", self._device] if self._device else []
        for name in self._only:
            argv += ["--only", name]
        argv += ["--cores", str(cores)] if cores else []
        try:
            run_child(
                self._system,
                argv,
                Line,
                heard.line,
                timeout=self._time_limit,
                cancel=context.cancel,
                log=context.log,
            )
        except Cancelled:
            raise
        except AppError as error:
            # What was measured before a hang is still true.
            if error.code != "program-timeout" or not heard.results:
                raise

    def _together(self, interpreter: Path, heard: Heard, context: JobContext[Any]) -> None:
        """Where there are several GPUs, the same training step on all of them."""
        gpus = [device for device in (heard.start.devices if heard.start else ()) if device.id != "cpu"]
        if len(gpus) < 2 or self._device is not None or (self._only and "parallel" not in self._only):
            return
        for model in scaling.MODELS if self._full else scaling.MODELS[:1]:
            result = scaling.measure(self._system, interpreter, context, processes=len(gpus), model=model)
            if result is None:
                heard.notes[NOTE + "parallel"] = None
            else:
                heard.take(result)

    def _judged(self, benchmark: Benchmark, *, saving: bool | None) -> Benchmark:
        """With the range that is right for these cards, where it is known, and the verdict."""
        if all(result.device == "cpu" for result in benchmark.results):
            return replace(benchmark, verdict="bench.verdict.cpu-only")
        if self._catalog is None:
            return replace(benchmark, verdict="bench.verdict.measured")
        cards = expected.cards_of(benchmark.devices, self._catalog)
        ranges = expected.expected(benchmark.results, cards, self._catalog, benchmark.watched)
        if not ranges:
            return replace(benchmark, verdict="bench.verdict.measured")
        if not expected.below(benchmark.results, ranges):
            return replace(benchmark, expected=ranges, verdict="bench.verdict.as-expected")
        causes = expected.causes(benchmark.watched, cards.values(), on_battery=benchmark.on_battery, saving=saving)
        return replace(
            benchmark,
            expected=ranges,
            verdict="bench.verdict.below",
            causes=causes or (expected.CAUSE + "unknown",),
        )

    def _trouble(self, heard: Heard) -> AppError:
        if heard.broken is not None:
            return AppError("bench-no-torch", path=str(self.environment), reason=heard.broken)
        if heard.missing is not None:
            return CallError("bench-no-device", device=heard.missing.missing, have=", ".join(heard.missing.have))
        reason = next((left.why for left in heard.left_out), NOTE + "stopped")
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
            return replace(benchmark, notes=(*benchmark.notes, "bench.note.unsaved"))
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
