"""The cards along a run: temperature, clocks, power, what held them back."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from ..core.results import BenchWatch, GpuSample

INTERVAL_S = 0.5
BUSY_PERCENT, LOADED_PERCENT = 5, 50
BUSY_CPU_PERCENT, CPU_LOOK_S = 20, 0.5
# Of NVML's reasons those that say that something is not as it should be; a power limit holds every card in the end.
HELD_BACK = frozenset({"hardware-slowdown", "thermal", "hardware-thermal", "power-brake"})
HOT = frozenset({"thermal", "hardware-thermal"})


def cpu_load(cancel: threading.Event) -> float | None:
    """Percent of the processor that programs use just now; None where it cannot be read. Takes half a second."""
    import psutil

    try:
        psutil.cpu_percent(interval=None)
        cancel.wait(CPU_LOOK_S)
        return psutil.cpu_percent(interval=None)
    except (psutil.Error, OSError, RuntimeError):
        return None


class Watch:
    """Looks at the cards twice a second while it is open. `cards` gives all of them; it is called by one thread."""

    def __init__(self, cards: Callable[[], tuple[GpuSample, ...]]) -> None:
        self._cards = cards
        self._looks: list[tuple[GpuSample, ...]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="benchmark-watch", daemon=True)

    def __enter__(self) -> Self:
        self._looks.append(self._cards())
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._looks.append(self._cards())

    def seen(self) -> tuple[BenchWatch, ...]:
        """Each card's run in short; to be asked after the end."""
        return watched(self._looks)


def watched(looks: Sequence[tuple[GpuSample, ...]]) -> tuple[BenchWatch, ...]:
    """All looks at each card in short, the first one taken before anything ran; pure. A card's number is the one it had
    when it was first seen: that is how the run's own program, which started then, knows it.
    """
    cards: dict[str | int, list[GpuSample]] = {}
    seats: dict[int, str | int] = {}  # who had a number last: when a card is pulled out, those behind it move up
    for look in looks:
        for sample in look:
            if sample.state == "gone":
                continue
            before = seats.get(sample.index, sample.index)
            who = sample.uuid or before
            if before == sample.index and who not in cards and before in cards:
                cards[who] = cards.pop(before)  # the same card, which now says who it is
            seats[sample.index] = who
            cards.setdefault(who, []).append(sample)
    first = looks[0] if looks else ()
    told = [_one(seen, before=seen[0].util if seen[0] in first else None) for seen in cards.values()]
    return tuple(sorted(told, key=lambda card: card.index))


def _one(samples: list[GpuSample], *, before: int | None) -> BenchWatch:
    loaded = [each for each in samples[1:] if each.util is not None and each.util >= LOADED_PERCENT]
    temperatures = [each.temp for each in samples if each.temp is not None]
    return BenchWatch(
        index=samples[0].index,
        name=next((each.name for each in samples if each.name is not None), None),
        samples=len(samples),
        util_before=before,
        temp_start=temperatures[0] if temperatures else None,
        temp_end=temperatures[-1] if temperatures else None,
        temp_max=max(temperatures, default=None),
        clock_sm=_median(each.clock_sm for each in loaded),
        clock_mem=_median(each.clock_mem for each in loaded),
        power_max_w=max((each.power_w for each in samples if each.power_w is not None), default=None),
        power_limit_w=next((each.power_limit_w for each in samples if each.power_limit_w is not None), None),
        # A card at rest talks more slowly on purpose.
        pcie_gen=max((each.pcie_gen for each in loaded if each.pcie_gen is not None), default=None),
        pcie_width=max((each.pcie_width for each in loaded if each.pcie_width is not None), default=None),
        throttle=tuple(sorted({reason for each in samples[1:] for reason in each.throttle or ()})),
    )


def _median(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known)) if known else None
