"""Download size, disk usage and duration of a plan, as far as they are known, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

from .plan import Plan, Step, needs_manual_driver
from .types import Value

Number = TypeVar("Number", int, float)

# Kinds of steps that download; the text `price.part.<kind>` names what they download.
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
# Steps of unknown size; `Step.data` has the size of a part of it, or of another release.
ESTIMATED_CODES = frozenset({"download-about", "download-some", "download-torch"})
# The field of `Step.data` with the size of another file of the same kind.
SIMILAR_BYTES = "similar_bytes"
# Too small to be named as missing from a size that is an estimate anyway.
NEGLIGIBLE_PARTS = frozenset({"python-runtime", "vc-redist", "dependencies"})
# Steps whose files on disk are much larger than their download.
UNPACKING_KINDS = frozenset({"conda-environment", "cuda-toolkit", "cuda-run", "cudnn"})
# The field of `Step.data` with the size of the copy that a step makes of a bundle's file and keeps while it runs.
COPY_BYTES = "copy_bytes"


class StepCost(Struct, frozen=True, kw_only=True):
    """A step's download: `bytes` that are known (0: none).

    `measured_release` is the release that they were measured on, None where it is the plan's own; `is_estimate`: they
    are the size of another file of the same kind. `unknown_part` names what `bytes` leave out (a kind of step,
    "dependencies" or "tensorflow"), None where they are all.
    """

    bytes: int
    measured_release: str | None = None
    is_estimate: bool = False
    unknown_part: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether any of the size is known."""
        return self.bytes > 0


class PlanCost(Struct, frozen=True, kw_only=True):
    """Known `bytes` to download, and `disk_bytes` that an install needs free, downloads included (None: unknown): the
    figure that the space is checked against, and the only one that is shown.

    `measured_release` is the release that the packages' sizes were measured on, None where it is the plan's own.
    `estimated_bytes` of them are the sizes of other files of the same kind, `unknown_parts` names what `bytes` leave
    out. `disk_estimated`: `disk_bytes` is not the plan's own figure; `disk_incomplete`: something large is not in it.
    `admin_prompts` of the plan's steps, and `restarts` of the computer, also for a driver that the user installs.
    """

    bytes: int
    disk_bytes: int | None
    disk_estimated: bool
    disk_incomplete: bool = False
    measured_release: str | None = None
    estimated_bytes: int = 0
    unknown_parts: tuple[str, ...] = ()
    admin_prompts: int = 0
    restarts: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether `bytes` is the whole download, of this very release."""
        return self.measured_release is None and not (self.estimated_bytes or self.unknown_parts)


def step_cost(code: str, count: int | None, data: Mapping[str, Value]) -> StepCost:
    """A step's known download from `Step.code`, `Step.bytes` and `Step.data`."""
    similar = data.get(SIMILAR_BYTES)
    if count is None and isinstance(similar, int):
        return StepCost(bytes=similar, is_estimate=True)
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
    """Lower bound of the bytes that a step takes on the plan's disk; None where it is unknown.

    For steps that unpack it is the archive's size: its files take no less, and the archive is kept. Where a bundle's
    archive is copied before it is used, the copy lies beside them.
    """
    if step.disk_bytes is not None or step.kind not in UNPACKING_KINDS:
        return step.disk_bytes
    estimate, copy_bytes = step.bytes or step.data.get("bytes"), step.data.get(COPY_BYTES)
    if not isinstance(estimate, int):
        return None
    return estimate + (copy_bytes if isinstance(copy_bytes, int) else 0)


def total(parts: Iterable[Number | None]) -> Number | None:
    """The sum; None as soon as one part is unknown."""
    known: list[Number] = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    return sum(known[1:], known[0]) if known else None


def plan_cost(plan: Plan) -> PlanCost:
    """Download and disk usage of all steps of a plan."""
    costs = {step.id: step_cost(step.code, step.bytes, step.data) for step in plan.steps}
    release = next((each.measured_release for each in costs.values() if each.measured_release is not None), None)
    unknown_parts = dict.fromkeys(
        part for step in plan.steps if (part := _unknown_part(step, costs[step.id])) is not None
    )
    if release is not None:
        unknown_parts = {part: None for part in unknown_parts if part not in NEGLIGIBLE_PARTS}
    space_step = next((step for step in plan.steps if step.kind == "check-space"), None)
    space = space_step.data if space_step is not None else {}
    disk_bytes = plan.disk_bytes if plan.disk_bytes is not None else space.get("kept_bytes")
    download_bytes = sum(each.bytes for each in costs.values())
    # Unpacked files are larger than the download: a figure that is not counts only a part.
    smaller_than_download = plan.disk_bytes is None and isinstance(disk_bytes, int) and disk_bytes <= download_bytes
    needed_bytes = space.get("disk_bytes")
    is_estimate = plan.disk_bytes is None
    if space_step is not None and isinstance(needed_bytes, int):
        is_estimate = space_step.code.startswith("check-space-about")
    else:
        needed_bytes = disk_bytes
    return PlanCost(
        bytes=download_bytes,
        disk_bytes=needed_bytes
        if isinstance(needed_bytes, int) and (needed_bytes or plan.disk_bytes is not None)
        else None,
        disk_estimated=is_estimate,
        disk_incomplete=smaller_than_download
        or (plan.disk_bytes is None and plan.recommendation.tensorflow is not None)
        or any(s.kind in UNPACKING_KINDS and s.disk_bytes is None for s in plan.steps),
        measured_release=release,
        estimated_bytes=sum(each.bytes for each in costs.values() if each.is_estimate),
        unknown_parts=tuple(unknown_parts),
        admin_prompts=sum(step.needs_admin for step in plan.steps),
        restarts=sum(step.needs_reboot for step in plan.steps) + needs_manual_driver(plan),
    )


def disk_shortage(plan: Plan) -> Step | None:
    """The step that says that a disk is known to be too small for a plan, which an install would refuse."""
    return next((step for step in plan.steps if step.kind == "check-space" and "-short" in step.code), None)


class PlanDuration(Struct, frozen=True, kw_only=True):
    """Estimated duration; `is_lower_bound` where a part of it is unknown and comes on top."""

    minutes: float
    is_lower_bound: bool


def plan_duration(plan: Plan, cost: PlanCost) -> PlanDuration | None:
    """Estimated duration of a plan with this cost; None where the packages' download is unknown."""
    if plan.minutes is not None:
        return PlanDuration(
            minutes=plan.minutes,
            is_lower_bound=bool(cost.unknown_parts or cost.estimated_bytes)
            or any(step.minutes_least for step in plan.steps),
        )
    if any(step.kind == "download" and step.minutes is None for step in plan.steps):
        return None
    return PlanDuration(minutes=sum(step.minutes or 0 for step in plan.steps), is_lower_bound=True)


def is_display_only(step: Step) -> bool:
    """Whether a step only shows commands, and downloads and installs nothing: WSL2's without administrator rights."""
    return step.kind == "wsl2" and not step.needs_admin


def _unknown_part(step: Step, cost: StepCost) -> str | None:
    if cost.unknown_part is not None:
        return cost.unknown_part
    is_unknown = step.bytes is None and not cost.is_known and step.kind in DOWNLOADING_KINDS
    is_unknown = is_unknown and not is_display_only(step)
    return step.kind if is_unknown else None
