"""What a plan is going to fetch and keep: how much of it is known, and what is not in that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

from .plan import Plan, Step
from .types import Value

Number = TypeVar("Number", int, float)

# Steps that fetch something; what their packages or files are called is a text: `price.part.<kind>`.
DOWNLOADING_KINDS = frozenset(
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
ESTIMATED_CODES = frozenset({"download-about", "download-some", "download-torch"})
# Beside a size that is not this release's own, what is this small makes no difference.
NEGLIGIBLE_PARTS = frozenset({"python-runtime", "vc-redist", "dependencies"})
# Steps that keep much on the disk of the plan, which shows only when it is unpacked.
UNPACKING_KINDS = frozenset({"conda-environment", "cuda-toolkit", "cudnn"})


class StepCost(Struct, frozen=True, kw_only=True):
    """A step's part of it: `bytes` that are known, `measured` the release that they were told of where that is
    another one, `lacks` what is not in them.
    """

    bytes: int
    measured_release: str | None = None
    unknown_part: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to tell."""
        return self.bytes > 0


class PlanCost(Struct, frozen=True, kw_only=True):
    """`bytes` to fetch as far as they are known, `disk_bytes` to keep (None: nothing of it is known).

    `measured` names the release whose figures stand for those of the packages, `lacks` what is not in `bytes`
    because nobody tells how large it is. The disk's figure is the plan's own unless `disk_about`; with `disk_more`
    something large comes on top.
    """

    bytes: int
    disk_bytes: int | None
    disk_estimated: bool
    disk_incomplete: bool = False
    measured_release: str | None = None
    unknown_parts: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether nothing else is fetched."""
        return self.measured_release is None and not self.unknown_parts


def step_cost(code: str, count: int | None, data: Mapping[str, Value]) -> StepCost:
    """What is known of a step's download, by its text's code, its bytes and the figures of its text."""
    estimate, unknown_part, release = data.get("bytes"), data.get("lacks"), data.get("measured")
    if count is None and code in ESTIMATED_CODES and isinstance(estimate, int):
        name = str(release) if release is not None else None
        return StepCost(
            bytes=estimate, measured_release=name, unknown_part=str(unknown_part) if unknown_part is not None else None
        )
    return StepCost(
        bytes=count or 0, unknown_part=str(unknown_part) if unknown_part is not None and count is not None else None
    )


def minimum_disk_bytes(step: Step) -> int | None:
    """What a step keeps on the disk of the plan at least, None where nothing of it is known: an archive's files take no
    less room than the archive does, which stays besides.
    """
    if step.disk_bytes is not None or step.kind not in UNPACKING_KINDS:
        return step.disk_bytes
    estimate = step.bytes or step.data.get("bytes")
    return estimate if isinstance(estimate, int) else None


def total(parts: Iterable[Number | None]) -> Number | None:
    """The sum; None as soon as one part is unknown."""
    known: list[Number] = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    return sum(known[1:], known[0]) if known else None


def plan_cost(plan: Plan) -> PlanCost:
    """All of a plan together."""
    costs = {step.id: step_cost(step.code, step.bytes, step.data) for step in plan.steps}
    release = next((each.measured_release for each in costs.values() if each.measured_release is not None), None)
    unknown_parts = dict.fromkeys(
        part for step in plan.steps if (part := _unknown_part(step, costs[step.id])) is not None
    )
    if release is not None:
        unknown_parts = {part: None for part in unknown_parts if part not in NEGLIGIBLE_PARTS}
    estimate = next((step.data.get("kept_bytes") for step in plan.steps if step.kind == "check-space"), None)
    disk_bytes = plan.disk_bytes if plan.disk_bytes is not None else estimate
    download_bytes = sum(each.bytes for each in costs.values())
    # What is unpacked is larger than what came: a figure that is not rests on the download alone.
    smaller_than_download = plan.disk_bytes is None and isinstance(disk_bytes, int) and disk_bytes <= download_bytes
    return PlanCost(
        bytes=download_bytes,
        disk_bytes=disk_bytes if isinstance(disk_bytes, int) and (disk_bytes or plan.disk_bytes is not None) else None,
        disk_estimated=plan.disk_bytes is None,
        disk_incomplete=smaller_than_download
        or "tensorflow" in unknown_parts
        or any(s.kind in UNPACKING_KINDS and s.disk_bytes is None for s in plan.steps),
        measured_release=release,
        unknown_parts=tuple(unknown_parts),
    )


class PlanDuration(Struct, frozen=True, kw_only=True):
    """How long a plan takes: `least` where a part of it is unknown, which comes on top."""

    minutes: float
    is_lower_bound: bool


def plan_duration(plan: Plan, cost: PlanCost) -> PlanDuration | None:
    """As far as it is known; None where not even the packages' download is. `cost` is the plan's cost."""
    if plan.minutes is not None:
        return PlanDuration(
            minutes=plan.minutes,
            is_lower_bound=bool(cost.unknown_parts) or any(step.minutes_least for step in plan.steps),
        )
    if any(step.kind == "download" and step.minutes is None for step in plan.steps):
        return None
    return PlanDuration(minutes=sum(step.minutes or 0 for step in plan.steps), is_lower_bound=True)


def _unknown_part(step: Step, cost: StepCost) -> str | None:
    if cost.unknown_part is not None:
        return cost.unknown_part
    # What is only shown fetches nothing by itself.
    is_display_only = step.kind == "wsl2" and not step.needs_admin
    is_unknown = step.bytes is None and not cost.is_known and step.kind in DOWNLOADING_KINDS and not is_display_only
    return step.kind if is_unknown else None
