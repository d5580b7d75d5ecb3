"""What a test says of the cards once its program has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.names import device_name
from ..core.results import Check, Curve, GpuSample
from . import cards, judged
from .cards import made
from .figures import Form, card_name
from .listening import Heard, TestedDevice, steadiness
from .minder import Minder, stop_limit

if TYPE_CHECKING:
    from ..catalog.health import HealthRules

Tell = Callable[[Check], None]


class Afterwards:
    """Judges what was seen of the cards, and heard of the program, in a test of this level and device."""

    def __init__(
        self,
        rules: HealthRules,
        *,
        level: int,
        device: str | None,
        allowed: Callable[[GpuSample], float | None],
        form: Callable[[GpuSample], Form],
    ) -> None:
        self._rules, self._tests = rules, rules.tests
        self._xids = {xid.number: xid.kind for xid in rules.xids}
        self._level = level
        self._device = device
        # As the driver numbers it: with no program to name its devices, that is the card which was asked for.
        number = (device or "").removeprefix("cuda:")
        self._number = int(number) if number.isdecimal() else None
        self._allowed = allowed
        self._form = form

    def tell(self, found: tuple[Check, ...], heard: Heard, minder: Minder, tell: Tell) -> tuple[Curve, ...]:
        """Tell every check of the cards, `found` being those of the program; the curves of the cards that worked."""
        several = minder.last is not None and len(minder.last.gpus) > 1
        tested = {
            index: device
            for device in (heard.start.devices if heard.start is not None else ())
            if (index := index_of(device, minder)) is not None
        }
        if minder.seen and heard.start is not None and self._device is None and not tested:
            # It was the processor that was tested.
            if heard.start.for_cards is False:
                name = card_name(next(iter(minder.seen.values()))[-1][1], several=several)
                tell(made("torch-build", "fail", value=heard.start.torch, device=name))
            else:
                tell(made("torch-cuda", "fail", reason="@verify.reason.no-device"))
        for gpu in self._asked(minder, tested, heard):
            tell(cards.answers(gpu, several=several, form=self._form(gpu)))
        curves = []
        for index, seen in sorted(minder.seen.items()):
            device = tested.get(index)
            worked = device is not None and self._level > 1
            hot = minder.too_hot is not None and minder.too_hot.gpu.index == index
            if not (self._is_asked(index, tested, heard) or hot):
                continue  # another card than the one that was asked for
            gpu = seen[-1][1]
            checks = cards.card(
                seen,
                self._rules,
                stop_limit(gpu, self._tests, self._allowed),
                worked=worked,
                xids=self._xids,
                allowed=self._allowed,
                several=several,
                form=self._form(gpu),
            )
            alarms = [alarm for alarm in minder.alarms.values() if alarm.gpu == index]
            for check in judged.told(checks, alarms, self._rules, card_name(gpu, several=several)):
                tell(check)
            if worked and device is not None:
                form = self._form(gpu)
                for check in cards.link_speed(found, seen, self._tests, several=several, form=form):
                    tell(check)
                speeds = [(t, speed) for t, _, speed in heard.speeds.get(device.id, ())]
                curves.append(cards.curve(seen, speeds))
        for check in self._steady(heard):
            tell(named(check, heard, minder))
        return tuple(curves)

    def _is_asked(self, index: int, tested: dict[int, TestedDevice], heard: Heard) -> bool:
        if self._device is None:
            return True
        return index in tested if heard.start is not None else index == self._number

    def _asked(self, minder: Minder, tested: dict[int, TestedDevice], heard: Heard) -> list[GpuSample]:
        """The cards that it is about, as they were last seen; a lost one cannot be found by the program."""
        last = minder.last.gpus if minder.last is not None else ()
        mine = [gpu for gpu in last if self._is_asked(gpu.index, tested, heard)]
        return [gpu for gpu in mine if gpu.state in ("ready", "lost", "gone")]

    def _steady(self, heard: Heard) -> Iterator[Check]:
        for name, speeds in heard.speeds.items():
            loss = steadiness(speeds)
            if loss is not None and name != "cpu":  # that one has other work, too
                state = "warn" if loss > self._tests.slower_share else "pass"
                data = cards.ours(self._tests)
                yield made("load-speed", state, value=round(100 * loss), device=name, **data)  # type: ignore[arg-type]


def named(check: Check, heard: Heard, minder: Minder) -> Check:
    """A check of the program, with the card called as everywhere: torch may number them otherwise than the driver."""
    device = check.data.get("device")
    found = heard.tested(device) if isinstance(device, str) else None
    index = index_of(found, minder) if found is not None else None
    if index is None:
        called = device_name(device) if isinstance(device, str) else None
        return replace(check, data={**check.data, "device": called})
    several = minder.last is not None and len(minder.last.gpus) > 1
    name = card_name(minder.seen[index][-1][1], several=several)
    case = {"case": "named"} if check.id == "device-query" and check.state == "pass" else {}
    return replace(check, data={**check.data, "device": name, "gpu": index, **case})


def index_of(device: TestedDevice, minder: Minder) -> int | None:
    """Which of the driver's cards a device of torch's is: by its number, else by its place and name."""
    if device.id == "cpu":
        return None
    for index, seen in minder.seen.items():
        if device.uuid is not None and seen[-1][1].uuid is not None:
            if seen[-1][1].uuid.lower() == device.uuid.lower():
                return index
        elif device.id == f"cuda:{index}" and device.name in (None, seen[-1][1].name):
            return index
    return None
