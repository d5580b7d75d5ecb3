"""What a plan is going to fetch and keep: how much of it is known, and what is not in that."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from .message import Value
from .plan import Plan, Step

# Steps that fetch something; what their packages or files are called is a text: `price.part.<kind>`.
FETCHES = frozenset(
    {
        "python-runtime",
        "conda-environment",
        "nvidia-driver",
        "cuda-toolkit",
        "cuda-installer",
        "cuda-run",
        "cudnn",
        "vc-redist",
        "download",
        "wsl2",
    }
)
# Steps whose size nobody tells though a part of it, or that of another release, is known: it stands in `data`.
TOLD_IN_DATA = frozenset({"download-about", "download-some", "download-torch"})
# Beside a size that is not this release's own, what is this small makes no difference.
SMALL = frozenset({"python-runtime", "vc-redist", "dependencies"})
# Steps that keep much on the disk of the plan, which shows only when it is unpacked.
KEEPS = frozenset({"conda-environment", "cuda-toolkit", "cudnn"})


class Share(Struct, frozen=True, kw_only=True):
    """A step's part of it: `bytes` that are known, `measured` the release that they were told of where that is
    another one, `lacks` what is not in them.
    """

    bytes: int
    measured: str | None = None
    lacks: str | None = None

    @property
    def known(self) -> bool:
        """Whether there is anything to tell."""
        return self.bytes > 0


class Price(Struct, frozen=True, kw_only=True):
    """`bytes` to fetch as far as they are known, `disk_bytes` to keep (None: nothing of it is known).

    `measured` names the release whose figures stand for those of the packages, `lacks` what is not in `bytes`
    because nobody tells how large it is. The disk's figure is the plan's own unless `disk_about`; with `disk_more`
    something large comes on top.
    """

    bytes: int
    disk_bytes: int | None
    disk_about: bool
    disk_more: bool = False
    measured: str | None = None
    lacks: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether nothing else is fetched."""
        return self.measured is None and not self.lacks


def share(code: str, count: int | None, data: Mapping[str, Value]) -> Share:
    """What is known of a step's download, by its text's code, its bytes and the figures of its text."""
    told, lacks, measured = data.get("bytes"), data.get("lacks"), data.get("measured")
    if count is None and code in TOLD_IN_DATA and isinstance(told, int):
        name = str(measured) if measured is not None else None
        return Share(bytes=told, measured=name, lacks=str(lacks) if lacks is not None else None)
    return Share(bytes=count or 0, lacks=str(lacks) if lacks is not None and count is not None else None)


def kept_least(step: Step) -> int | None:
    """What a step keeps on the disk of the plan at least, None where nothing of it is known: an archive's files take no
    less room than the archive does, which stays besides.
    """
    if step.disk_bytes is not None or step.kind not in KEEPS:
        return step.disk_bytes
    told = step.bytes or step.data.get("bytes")
    return told if isinstance(told, int) else None


def price(plan: Plan) -> Price:
    """All of a plan together."""
    shares = {step.id: share(step.code, step.bytes, step.data) for step in plan.steps}
    measured = next((each.measured for each in shares.values() if each.measured is not None), None)
    lacks = dict.fromkeys(part for step in plan.steps if (part := _lacks(step, shares[step.id])) is not None)
    if measured is not None:
        lacks = {part: None for part in lacks if part not in SMALL}
    about = next((step.data.get("kept_bytes") for step in plan.steps if step.kind == "check-space"), None)
    disk = plan.disk_bytes if plan.disk_bytes is not None else about
    fetched = sum(each.bytes for each in shares.values())
    # What is unpacked is larger than what came: a figure that is not rests on the download alone.
    packed = plan.disk_bytes is None and isinstance(disk, int) and disk <= fetched
    return Price(
        bytes=fetched,
        disk_bytes=disk if isinstance(disk, int) and (disk or plan.disk_bytes is not None) else None,
        disk_about=plan.disk_bytes is None,
        disk_more=packed or "tensorflow" in lacks or any(s.kind in KEEPS and s.disk_bytes is None for s in plan.steps),
        measured=measured,
        lacks=tuple(lacks),
    )


class Time(Struct, frozen=True, kw_only=True):
    """How long a plan takes: `least` where a part of it is unknown, which comes on top."""

    minutes: float
    least: bool


def time(plan: Plan, found: Price) -> Time | None:
    """As far as it is known; None where not even the packages' download is. `found` is the plan's price."""
    if plan.minutes is not None:
        return Time(minutes=plan.minutes, least=bool(found.lacks) or any(step.minutes_least for step in plan.steps))
    if any(step.kind == "download" and step.minutes is None for step in plan.steps):
        return None
    return Time(minutes=sum(step.minutes or 0 for step in plan.steps), least=True)


def _lacks(step: Step, known: Share) -> str | None:
    if known.lacks is not None:
        return known.lacks
    # What is only shown fetches nothing by itself.
    shown = step.kind == "wsl2" and not step.needs_admin
    unknown = step.bytes is None and not known.known and step.kind in FETCHES and not shown
    return step.kind if unknown else None
