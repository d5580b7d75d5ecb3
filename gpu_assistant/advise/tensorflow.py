"""TensorFlow: which release, for which Python, and whether it can use the card."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.libraries import TensorFlowBuild
from ..catalog.load import Catalog
from ..catalog.versions import capability, numbers
from ..core.recommendation import TensorFlowChoice
from .builds import Code, excluded_devices
from .cards import Card, nvidia_cards
from .drivers import Floor, floor, reachable, series_of
from .pick import Site

Why = Literal[
    "card",
    "no-card",
    "windows",
    "windows-chip",
    "windows-unknown",
    "windows-update",
    "old-windows",
    "chip",
    "no-code",
    "driver",
    "no-gpu-build",
]


class TensorFlowPick(Struct, frozen=True, kw_only=True):
    """One TensorFlow: `why` says why it uses the card ("card") or not; `floor` is the driver that it needs then,
    `may_try` that the wheels have portable code that could run on the card all the same. `cudnn` is the requirement
    that holds cuDNN back for a card (`held_for`) which newer ones do not support.
    """

    build: TensorFlowBuild
    version: str
    why: Why
    floor: Floor | None = None
    may_try: bool = False
    by_hand: bool = False
    cudnn: str | None = None
    held_for: str | None = None

    @property
    def gpu(self) -> bool:
        """Whether TensorFlow computes on the card."""
        return self.why == "card"

    @property
    def choice(self) -> TensorFlowChoice:
        """The release with the requirement that installs it."""
        plain, bracket, rest = self.build.requirement.partition("[")
        # Without a card the CUDA libraries would be gigabytes for nothing.
        plain = plain + rest.partition("]")[2] if bracket and not self.gpu else self.build.requirement
        constraints = (self.cudnn,) if self.cudnn is not None else ()
        return TensorFlowChoice(version=self.version, requirement=plain, gpu=self.gpu, constraints=constraints)


def tensorflow_builds(where: Site) -> tuple[TensorFlowBuild, ...]:
    """The builds for this kind of computer, newest first."""
    here = (where.machine.os.system, where.arch)
    mine = (b for b in where.catalog.tensorflow.builds if (b.system, b.arch) == here)
    return tuple(b for b in mine if not _glibc_lacking(where, b))


def _glibc_lacking(where: Site, build: TensorFlowBuild) -> bool:
    """Whether this Linux is known to have too old a glibc for a build."""
    version = numbers(build.version) or ()
    for need in where.catalog.tensorflow.glibc:
        since, lowest = numbers(need.from_release), numbers(need.lowest)
        if where.glibc is not None and since is not None and lowest is not None and version >= since:
            return where.glibc < lowest
    return False


def exact(catalog: Catalog, build: TensorFlowBuild) -> str:
    """The exact release of a series where it is known: "2.21" is 2.21.0."""
    newest = catalog.tensorflow.newest
    return newest if series_of(newest) == series_of(build.version) else build.version


def judged(where: Site, build: TensorFlowBuild) -> TensorFlowPick:
    """A build with whether the card can be used, and the reason."""
    version = exact(where.catalog, build)

    def pick(why: Why, lowest: Floor | None = None, *, may_try: bool = False) -> TensorFlowPick:
        return TensorFlowPick(build=build, version=version, why=why, floor=lowest, may_try=may_try)

    if where.card is None or where.state is None:
        return pick("no-card")
    if where.machine.os.system == "windows":
        # 2.10 needs a CUDA and a cuDNN that nobody here can install any more.
        if build.gpu:
            return pick("old-windows")
        return pick(_on_windows(where, where.card.capability, build))
    chip = where.card.capability
    code = _code(where.catalog, build, chip)
    if not build.gpu or code is None or _gap(where.catalog, chip):
        why: Why = "no-gpu-build" if not build.gpu else "no-code" if code is None else "chip"
        return pick(why, may_try=why == "chip")
    lowest = _floor(where, build, code)
    if lowest is None or not reachable(where.state, lowest):
        return pick("driver")
    return _with_cudnn(where, build, pick("card", lowest))


def _with_cudnn(where: Site, build: TensorFlowBuild, pick: TensorFlowPick) -> TensorFlowPick:
    """The pick with what holds cuDNN back for the oldest card that needs it."""
    for card in _served_oldest_first(where, build):
        held = _held_back(where.catalog, build, card.capability)
        if held is not None:
            return replace(pick, cudnn=held, held_for=card.name)
    return pick


def _on_windows(where: Site, chip: tuple[int, int] | None, build: TensorFlowBuild) -> Why:
    """Why TensorFlow on Windows uses no card: one that the Linux builds do not suit either, or of which that is not
    known, is not sent to WSL2, and neither is anybody whose Windows has none yet.
    """
    if chip is None:
        return "windows-unknown"
    if _gap(where.catalog, chip) or _code(where.catalog, build, chip) is None:
        return "windows-chip"
    route = where.catalog.tensorflow.route("windows", "wsl2")
    here, lowest = where.machine.os.build, route.lowest_windows_build if route is not None else None
    return "windows-update" if here is not None and lowest is not None and here < lowest else "windows"


def _served_oldest_first(where: Site, build: TensorFlowBuild) -> list[Card]:
    """The cards that the build has code for, oldest first."""
    served = [
        (card.capability, card)
        for card in nvidia_cards(where.machine, where.catalog)
        if card.capability is not None
        and _code(where.catalog, build, card.capability) is not None
        and not _gap(where.catalog, card.capability)
    ]
    return [card for _, card in sorted(served, key=lambda pair: pair[0])]


def _held_back(catalog: Catalog, build: TensorFlowBuild, chip: tuple[int, int] | None) -> str | None:
    """[and-cuda] takes the newest cuDNN, which has no code for older chips: those need the last one that has."""
    last, cuda = catalog.cudnn.last_for_old_chips, series_of(build.cuda) if build.cuda is not None else None
    below = capability(last.below_capability)
    if chip is None or below is None or chip >= below or cuda is None or not build.bundled_cuda:
        return None
    package = catalog.cudnn.wheel_packages.get(str(cuda[0]))
    return f"{package}=={last.version}" if package is not None else None


def _gap(catalog: Catalog, chip: tuple[int, int] | None) -> bool:
    for gap in catalog.tensorflow.not_for:
        low, high = capability(gap.from_capability), capability(gap.below_capability)
        if chip is not None and low is not None and chip >= low and (high is None or chip < high):
            return True
    return False


def _code(catalog: Catalog, build: TensorFlowBuild, chip: tuple[int, int] | None) -> Code | None:
    """How the build runs on a chip, by the build itself or by the newest that somebody looked into."""
    known = build if build.arch_list is not None else next((b for b in catalog.tensorflow.builds if b.arch_list), None)
    if chip is None or known is None or known.arch_list is None:
        return "unknown"
    compiled = [c for text in known.arch_list if (c := capability(text)) is not None]
    excluded = excluded_devices(catalog)
    if any(c[0] == chip[0] and c[1] <= chip[1] and chip not in excluded.get(c, ()) for c in compiled):
        return "binary"
    portable = [c for text in known.ptx_for if (c := capability(text)) is not None]
    return "ptx" if any(c <= chip for c in portable) else None


def _floor(where: Site, build: TensorFlowBuild, code: Code) -> Floor | None:
    cuda = series_of(build.cuda) if build.cuda is not None else None
    if where.state is None or cuda is None:
        return None
    if code == "ptx":
        return floor(where.catalog, cuda, where.state.system, "ptx")
    text = where.catalog.tensorflow.minimum_drivers.get("wsl" if where.machine.os.wsl else "linux")
    version = numbers(text)
    return Floor(text, version) if text is not None and version is not None else None


def tensorflow_for(where: Site) -> TensorFlowPick | None:
    """The newest TensorFlow for this system; None where none is known."""
    return next((judged(where, build) for build in tensorflow_builds(where)), None)
