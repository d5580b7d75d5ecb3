"""What the user can choose for each part of a recommendation, and what each choice leads to.

Every value is tried with `recommend` itself beside the choices already made, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.store import Catalog
from ..core.errors import UsageError
from ..core.machine import Machine
from ..core.message import Message
from ..core.recommendation import Choice, LocalWheel, Recommendation
from ..core.types import Channel, Goal, Value
from ..core.versions import Version, version_key
from .builds import parse_cuda_tag
from .choices import driver_packages_for
from .drivers import find_driver_host, select_driver_system
from .gpus import nvidia_gpus
from .recommend import recommend

PartName = Literal["driver", "cuda_toolkit", "toolkit_way", "cudnn", "pytorch", "variant", "python", "tensorflow"]
OptionState = Literal["fine", "warned", "refused"]

PARTS: tuple[PartName, ...] = get_args(PartName)

_REFUSAL_FIELDS = frozenset({"part", "choice", "why", "newest"})
_IRRELEVANT_CODES = frozenset({"choice.other-gpu", "choice.no-card"})


class Option(Struct, frozen=True, kw_only=True):
    """One value of a part. `code` and `data` are the text that says why it is refused, or the first warning;
    `further_warnings` are the others.
    """

    value: str
    state: OptionState = "fine"
    code: str | None = None
    data: dict[str, Value] = {}
    further_warnings: tuple[Message, ...] = ()


class PartOptions(Struct, frozen=True, kw_only=True):
    """The values of a part, newest first: those that work before those that are refused, toolkits of PyTorch's CUDA
    before others. `recommended` is the value beside the user's other choices, `selected` the user's own (None: none).
    """

    name: PartName
    options: tuple[Option, ...]
    recommended: str | None
    selected: str | None


class Options(Struct, frozen=True, kw_only=True):
    """Every part with more than one value."""

    parts: tuple[PartOptions, ...]

    def part(self, name: PartName) -> PartOptions | None:
        """A part by its name; None where there is nothing to choose."""
        return next((part for part in self.parts if part.name == name), None)


def list_options(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal = "pytorch",
    channel: Channel = "studio",
    choice: Choice | None = None,
    wheels: tuple[LocalWheel, ...] = (),
) -> Options:
    """The values of each part, each tried beside the rest of `choice`. Raises what `recommend` raises for the machine
    and the goal; where the other choices already fail, all values of a part are refused.
    """
    base_choice = choice or Choice()

    def recommend_with(trial: Choice) -> Recommendation:
        return recommend(machine, catalog, goal=goal, channel=channel, choice=trial, wheels=wheels)

    def try_value(name: PartName, value: str, base: Recommendation | None) -> Option | None:
        try:
            result = recommend_with(replace(base_choice, **{name: value}))
            # A value that changes nothing here, such as a driver for an unused GPU, is not offered.
            return _compare_option(name, value, result, base) if selected_value(result, name) == value else None
        except UsageError as error:
            if error.code != "choice-impossible":
                raise
            if name == "toolkit_way":
                return None  # a way that cannot be gone is not offered
            details = {name: item for name, item in error.data.items() if name not in _REFUSAL_FIELDS}
            return Option(value=value, state="refused", code=str(error.data["why"]).removeprefix("@"), data=details)

    parts: list[PartOptions] = []
    for name in PARTS:
        base = _recommend_or_none(recommend_with, replace(base_choice, **{name: None}))
        values = _candidate_values(name, machine, catalog, goal, wheels)
        candidates = (option for value in values if (option := try_value(name, value, base)) is not None)
        # Builds for GPUs that are not here would only hide the others.
        available = [
            option for option in candidates if option.code not in _IRRELEVANT_CODES or parse_cuda_tag(option.value)
        ]
        if len(available) > 1:
            parts.append(
                PartOptions(
                    name=name,
                    options=tuple(
                        sorted(available, key=lambda o: (o.state == "refused", _toolkit_distance(name, o.value, base)))
                    ),
                    recommended=selected_value(base, name) if base is not None else None,
                    selected=getattr(base_choice, name),
                )
            )
    return Options(parts=tuple(parts))


def selected_value(recommendation: Recommendation, name: PartName) -> str | None:
    """What a recommendation has for a part, as a `Choice` would name it."""
    torch, driver, tensorflow = recommendation.pytorch, recommendation.driver, recommendation.tensorflow
    toolkit = recommendation.cuda_toolkit
    values: dict[PartName, str | None] = {
        "driver": driver.recommended if driver.needs_install else "keep" if driver.installed is not None else None,
        "cuda_toolkit": toolkit.version or "none",
        "toolkit_way": toolkit.way or "archives" if toolkit.action == "install" else None,
        "cudnn": recommendation.cudnn.version or "none",
        "pytorch": torch.version if torch is not None else None,
        "variant": torch.variant if torch is not None else None,
        "python": recommendation.python,
        "tensorflow": tensorflow.version if tensorflow is not None else None,
    }
    return values[name]


def _recommend_or_none(recommend_with: Callable[[Choice], Recommendation], choice: Choice) -> Recommendation | None:
    try:
        return recommend_with(choice)
    except UsageError as error:
        if error.code != "choice-impossible":
            raise
        return None


def _compare_option(name: PartName, value: str, result: Recommendation, base: Recommendation | None) -> Option:
    """A value with what it makes worse, the worst first."""
    if base is None:
        return Option(value=value)
    if base.accelerator != "cpu" and result.accelerator == "cpu":
        return Option(value=value, state="warned", code="option.cpu")
    driver, base_driver, downsides = result.driver, base.driver, []
    if name != "driver" and driver.needs_install and not base_driver.needs_install:
        downsides.append(Message("option.driver", {"driver": driver.minimum or driver.recommended}))
    known = {warning.code for warning in base.warnings}
    downsides += [Message(f"warning.{w.code}.text", w.data) for w in result.warnings if w.code not in known]
    if not downsides:
        return Option(value=value)
    return Option(
        value=value,
        state="warned",
        code=downsides[0].code,
        data=downsides[0].data,
        further_warnings=tuple(downsides[1:]),
    )


def _toolkit_distance(name: PartName, value: str, base: Recommendation | None) -> int:
    """How far a toolkit is from PyTorch's CUDA: 0 of the same minor, 1 of the same major, 2 of another one."""
    cuda = parse_cuda_tag(base.pytorch.variant) if base is not None and base.pytorch is not None else None
    version = Version.parse(value) if name == "cuda_toolkit" else None
    if cuda is None or version is None or version.series == cuda:
        return 0
    return 1 if version.major == cuda.major else 2


def _candidate_values(
    name: PartName, machine: Machine, catalog: Catalog, goal: Goal, wheels: tuple[LocalWheel, ...]
) -> Iterable[str]:
    """The values of a part that are worth trying on this system for a goal, newest first."""
    system, arch = machine.os.system, machine.os.arch or "x86_64"
    match name:
        case "driver":
            installed = machine.driver.version if machine.driver is not None else None
            driver_os = select_driver_system(machine)
            cards = nvidia_gpus(machine, catalog) if find_driver_host(machine, catalog) is None else ()
            packages = driver_packages_for(catalog, driver_os, cards[0]) if cards else ()
            versions = [p.version.text for p in packages if p.version.text != installed]
            return _newest_first(versions) if installed is None else ["keep", *_newest_first(versions)]
        case "cuda_toolkit":
            toolkits = catalog.cuda.toolkits
            installable = [t.version for t in toolkits if any(i.system == system for i in t.installers)]
            # A newer release is listed, too, though no installer of it is known yet.
            newer = [t.version for t in toolkits if t.date and all(t.version > version for version in installable)]
            versions = [version.text for version in (*installable, *newer)]
            versions += [t.version for t in machine.cuda_toolkits or () if t.version is not None and t.nvcc]
        case "toolkit_way":
            return "wheels", "archives", "installer"
        case "cudnn":
            versions = [r.version.text for r in catalog.cudnn.releases if not r.yanked]
            versions += [c.version for c in machine.cudnn or () if c.version is not None]
        case "python":
            return _newest_first(series for r in catalog.releases for series in r.python)
        case "tensorflow":
            needs_tensorflow = goal in ("tensorflow", "all")
            return _newest_first(
                b.version.text
                for b in catalog.tensorflow.builds
                if needs_tensorflow and (b.system, b.arch) == (system, arch)
            )
        case _:
            return _torch_values(name, machine, catalog, wheels) if goal != "tensorflow" else ()
    return ["none", *_newest_first(versions)]


def _torch_values(name: PartName, machine: Machine, catalog: Catalog, wheels: tuple[LocalWheel, ...]) -> Iterable[str]:
    """PyTorch's releases or variants, those of the wheelhouse included."""
    torch = [wheel for wheel in wheels if wheel.project == "torch"]
    platform = (machine.os.system, machine.os.arch or "x86_64")
    builds = [
        (r.version.text, v.variant) for r in catalog.releases for v in r.variants if (v.system, v.arch) == platform
    ]
    if name == "pytorch":
        return _newest_first((*(version for version, _ in builds), *(wheel.version for wheel in torch)))
    tags = {variant for _, variant in builds} | {wheel.variant for wheel in torch if wheel.variant is not None}
    return sorted(tags, key=_variant_order)


def _newest_first(versions: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(versions), key=version_key, reverse=True)


def _variant_order(tag: str) -> tuple[int, tuple[int, ...], str]:
    """CUDA variants, newest first, then those of other vendors; the CPU's last."""
    cuda = parse_cuda_tag(tag)
    if cuda is not None:
        return 0, (-cuda.major, -cuda.minor), tag
    return (2 if tag == "cpu" else 1), (), tag
