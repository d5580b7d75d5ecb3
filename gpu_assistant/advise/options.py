"""What can be picked by hand for each part of a recommendation, and what becomes of it.

Every value is tried with `recommend` itself, beside what is picked already: the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.errors import CallError
from ..core.machine import Machine
from ..core.message import Message, Value
from ..core.recommendation import Channel, Choice, Goal, LocalWheel, Recommendation
from .builds import cuda_of
from .cards import nvidia_cards
from .driver_choices import packages_for
from .drivers import driver_system, series_of
from .recommend import recommend

PartName = Literal["driver", "cuda_toolkit", "toolkit_way", "cudnn", "pytorch", "variant", "python", "tensorflow"]
State = Literal["fine", "warned", "refused"]

PARTS: tuple[PartName, ...] = get_args(PartName)


_REFUSAL = frozenset({"part", "choice", "why", "newest"})
_BESIDE_THE_POINT = frozenset({"choice.other-gpu", "choice.no-card"})


class Option(Struct, frozen=True, kw_only=True):
    """One value of a part. `code` and `data` are the sentence that says why it is warned of or refused, `also` what
    else it is warned of.
    """

    value: str
    state: State = "fine"
    code: str | None = None
    data: dict[str, Value] = {}
    also: tuple[Message, ...] = ()


class PartOptions(Struct, frozen=True, kw_only=True):
    """What a part can be: those that work first, toolkits that match PyTorch's CUDA before others, each group newest
    first. `recommended` is what we take beside
    the user's other picks, `picked` what the user took (None: nothing).
    """

    name: PartName
    offered: tuple[Option, ...]
    recommended: str | None
    picked: str | None


class Options(Struct, frozen=True, kw_only=True):
    """Every part that has something to choose from."""

    parts: tuple[PartOptions, ...]

    def part(self, name: PartName) -> PartOptions | None:
        """A part by its name; None where there is nothing to choose."""
        return next((part for part in self.parts if part.name == name), None)


def options(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal = "pytorch",
    channel: Channel = "studio",
    choice: Choice | None = None,
    wheels: tuple[LocalWheel, ...] = (),
) -> Options:
    """Each part's values, each tried beside the rest of `choice`. Raises what `recommend` raises for the machine
    and goal themselves; a part whose other picks already fail has only refused values.
    """
    picked = choice or Choice()

    def tried(wish: Choice) -> Recommendation:
        return recommend(machine, catalog, goal=goal, channel=channel, choice=wish, wheels=wheels)

    def judged(name: PartName, value: str, base: Recommendation | None) -> Option | None:
        try:
            taken = tried(replace(picked, **{name: value}))
            # What would change nothing here, such as a driver for a card that stays unused, is no choice.
            return _beside(name, value, taken, base) if value_of(taken, name) == value else None
        except CallError as error:
            if error.code != "choice-impossible":
                raise
            if name == "toolkit_way":
                return None  # an installer that nobody could check is not offered
            about = {name: what for name, what in error.data.items() if name not in _REFUSAL}
            return Option(value=value, state="refused", code=str(error.data["why"]).removeprefix("@"), data=about)

    parts: list[PartOptions] = []
    for name in PARTS:
        base = _or_none(tried, replace(picked, **{name: None}))
        values = _values(name, machine, catalog, goal, wheels)
        known = (option for value in values if (option := judged(name, value, base)) is not None)
        # Builds for makers of whom there is no card would only bury the others.
        found = [option for option in known if option.code not in _BESIDE_THE_POINT or cuda_of(option.value)]
        if len(found) > 1:
            parts.append(
                PartOptions(
                    name=name,
                    offered=tuple(sorted(found, key=lambda o: (o.state == "refused", _apart(name, o.value, base)))),
                    recommended=value_of(base, name) if base is not None else None,
                    picked=getattr(picked, name),
                )
            )
    return Options(parts=tuple(parts))


def value_of(recommendation: Recommendation, name: PartName) -> str | None:
    """What a recommendation has for a part, as a choice would name it."""
    torch, driver, tensorflow = recommendation.pytorch, recommendation.driver, recommendation.tensorflow
    toolkit = recommendation.cuda_toolkit
    held: dict[PartName, str | None] = {
        "driver": driver.recommended if driver.changes else "keep" if driver.installed is not None else None,
        "cuda_toolkit": toolkit.version or "none",
        "toolkit_way": toolkit.way or "archives" if toolkit.action == "install" else None,
        "cudnn": recommendation.cudnn.version or "none",
        "pytorch": torch.version if torch is not None else None,
        "variant": torch.variant if torch is not None else None,
        "python": recommendation.python,
        "tensorflow": tensorflow.version if tensorflow is not None else None,
    }
    return held[name]


def _or_none(tried: Callable[[Choice], Recommendation], wish: Choice) -> Recommendation | None:
    try:
        return tried(wish)
    except CallError as error:
        if error.code != "choice-impossible":
            raise
        return None


def _beside(name: PartName, value: str, with_it: Recommendation, base: Recommendation | None) -> Option:
    """What taking a value changes for the worse, the worst first."""
    if base is None:
        return Option(value=value)
    if base.accelerator != "cpu" and with_it.accelerator == "cpu":
        return Option(value=value, state="warned", code="option.cpu")
    wants, wanted, worse = with_it.driver, base.driver, []
    if name != "driver" and wants.changes and not wanted.changes:
        worse.append(Message("option.driver", {"driver": wants.minimum or wants.recommended}))
    known = {warning.code for warning in base.warnings}
    worse += [Message(f"warning.{w.code}.text", w.data) for w in with_it.warnings if w.code not in known]
    if not worse:
        return Option(value=value)
    return Option(value=value, state="warned", code=worse[0].code, data=worse[0].data, also=tuple(worse[1:]))


def _apart(name: PartName, value: str, base: Recommendation | None) -> int:
    """How far a toolkit is from PyTorch's own CUDA: of its very minor, of its major, of another one."""
    cuda = cuda_of(base.pytorch.variant) if base is not None and base.pytorch is not None else None
    series = series_of(value) if name == "cuda_toolkit" and value != "none" else None
    if cuda is None or series is None or series == cuda:
        return 0
    return 1 if series[0] == cuda[0] else 2


def _values(
    name: PartName, machine: Machine, catalog: Catalog, goal: Goal, wheels: tuple[LocalWheel, ...]
) -> Iterable[str]:
    """A part's values worth trying on this system for a goal, newest first."""
    system, arch = machine.os.system, machine.os.arch or "x86_64"
    match name:
        case "driver":
            there = machine.driver.version if machine.driver is not None else None
            belongs = driver_system(machine)
            cards = nvidia_cards(machine, catalog)
            fitting = packages_for(catalog, belongs, cards[0]) if cards else ()
            known = [p.version for p in fitting if p.version != there]
            return _newest_first(known) if there is None else ["keep", *_newest_first(known)]
        case "cuda_toolkit":
            known = [t.version for t in catalog.cuda.toolkits if any(i.system == system for i in t.installers)]
            # One that is out and newer than all of these is told of, though it cannot be had from here yet.
            newest = max((numbers(version) or () for version in known), default=())
            known += [t.version for t in catalog.cuda.toolkits if t.date and (numbers(t.version) or ()) > newest]
            known += [t.version for t in machine.cuda_toolkits or () if t.version is not None and t.nvcc]
        case "toolkit_way":
            return "archives", "installer"
        case "cudnn":
            known = [r.version for r in catalog.cudnn.releases if not r.yanked]
            known += [c.version for c in machine.cudnn or () if c.version is not None]
        case "python":
            return _newest_first(series for r in catalog.releases for series in r.python)
        case "tensorflow":
            wanted = goal in ("tensorflow", "all")
            return _newest_first(
                b.version for b in catalog.tensorflow.builds if wanted and (b.system, b.arch) == (system, arch)
            )
        case _:
            return _torch_values(name, machine, catalog, wheels) if goal != "tensorflow" else ()
    return ["none", *_newest_first(known)]


def _torch_values(name: PartName, machine: Machine, catalog: Catalog, wheels: tuple[LocalWheel, ...]) -> Iterable[str]:
    """PyTorch's releases or builds, those of a local source too."""
    torch = [wheel for wheel in wheels if wheel.project == "torch"]
    here = (machine.os.system, machine.os.arch or "x86_64")
    builds = [(r.version, v.variant) for r in catalog.releases for v in r.variants if (v.system, v.arch) == here]
    if name == "pytorch":
        return _newest_first((*(version for version, _ in builds), *(wheel.version for wheel in torch)))
    tags = {variant for _, variant in builds} | {wheel.variant for wheel in torch if wheel.variant is not None}
    return sorted(tags, key=_variant_order)


def _newest_first(versions: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(versions), key=lambda text: numbers(text) or (), reverse=True)


def _variant_order(tag: str) -> tuple[int, tuple[int, ...], str]:
    """CUDA, newest first; then the other makers'; the processor's last."""
    cuda = cuda_of(tag)
    if cuda is not None:
        return 0, tuple(-part for part in cuda), tag
    return (2 if tag == "cpu" else 1), (), tag
