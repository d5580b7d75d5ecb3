"""Every file of the lock onto this disk, each one checked."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import structs

from ...core.errors import AppError
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...core.price import step_cost
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..host import ValidationContext
from ..plan.planner import environment_state
from .base import StepKind, check_fields
from .context import InstallContext, Outcome, download_files
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

# What asking the sources again may mend; a broken line is not among it.
STALE_LOCK_ERRORS = ("hash-mismatch", "source-changed", "source-refused", "local-file-missing", "local-file-broken")


class PackageDownload(StepKind):
    """What is fetched stands in the lock; nothing of it comes from the plan."""

    name: ClassVar[str] = "download"
    has_variable_text: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (
        "download",
        "download-about",
        "download-some",
        "download-torch",
        "download-rest",
        "download-bundle",
        "download-all",
        "download-none",
        "download-here",
    )
    required_before: ClassVar[tuple[str, ...]] = ("resolve",)

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step for all packages."""
        sizes = builder.sizes
        # What the catalog measured is not for who brings wheels of his own.
        size = sizes.download_bytes if builder.local_wheel is None or builder.size_answer is not None else None
        data: dict[str, Value] = {"release": builder.release_label, "bytes": UNKNOWN_SIZE if size is None else size}
        if builder.durations.line_speed_mbits is not None:
            data["mbits"] = builder.durations.line_speed_mbits
        if builder.bundle is not None:
            code, size, data["path"] = "download-bundle", 0, str(builder.bundle)
        elif size == 0 and sizes.whole:
            code = "download-none"
        elif size is not None and sizes.whole:
            code = "download-all" if "mbits" in data else "download"
        elif size is not None:
            # PyTorch's own wheel; what it needs besides nobody measured.
            code, data["lacks"] = "download", "dependencies"
        else:
            code, details = _partial_size(builder)
            data |= details
        cost = step_cost(code, size, data)
        return (
            Step(
                id="download",
                kind=self.name,
                code=code,
                needs=builder.step_ids("resolve"),
                data=data,
                bytes=size,
                disk_bytes=0,
                minutes=builder.durations.download_minutes(cost.bytes if cost.is_known or size == 0 else None),
                minutes_least=cost.unknown_part in ("tensorflow", "files"),
            ),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        check_fields(step)

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """An environment that stands needs no files."""
        state = environment_state(plan, context)
        return CurrentState(code="now.nothing") if state is not None and state.code == "now.stands" else None

    def without_cost(self, step: Step) -> Step:
        """What it would have fetched is told of no more."""
        data = {name: value for name, value in step.data.items() if name in ("release", "mbits")}
        return structs.replace(super().without_cost(step), code="download-here", data=data)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """An environment that stands, or is built, needs no files."""
        return (
            Outcome(code="progress.nothing-to-fetch") if context.is_installed or context.awaits_verification else None
        )

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises what fetching raises."""
        requests = [_download_request(context.data.files, package.file) for package in context.lockfile.packages]
        try:
            context.wheel_paths = download_files(context, requests)
        except AppError as error:
            if error.code in STALE_LOCK_ERRORS:
                context.discard_lockfile()
            raise
        return Outcome()


def _partial_size(builder: PlanBuilder) -> tuple[str, dict[str, Value]]:
    """The text for a size that is not known, and what it says: the largest part of it that is known."""
    local_wheel, similar_bytes, torch_bytes = (
        builder.local_wheel,
        builder.similar_sizes.download_bytes,
        builder.torch_sizes.download_bytes,
    )
    least_bytes = builder.size_answer.least_bytes if builder.size_answer is not None else 0
    if local_wheel is None and similar_bytes is not None and similar_bytes > least_bytes:
        return "download-about", {"bytes": similar_bytes, "measured": _measured_release(builder)}
    if local_wheel is None and torch_bytes is not None and torch_bytes > least_bytes:
        return "download-torch", {"bytes": torch_bytes, "measured": _measured_release(builder), "lacks": "tensorflow"}
    if least_bytes:
        return "download-some", {"bytes": least_bytes, "lacks": "files"}
    return ("download", {}) if local_wheel is None else ("download-rest", {"bytes": local_wheel.bytes})


def _measured_release(builder: PlanBuilder) -> str:
    """Which release was measured: "PyTorch 2.14.0", with its build where that is another one."""
    measured, torch = builder.torch_sizes, builder.recommendation.pytorch
    is_other_variant = torch is not None and measured.variant != torch.variant
    return f"PyTorch {measured.release}+{measured.variant}" if is_other_variant else f"PyTorch {measured.release}"


def _download_request(folder: Path, file: PlanFile) -> DownloadRequest:
    """By hash, because two indexes may give different files the same name."""
    target = folder / (file.sha256 or "")[:16] / file.name
    return DownloadRequest(file=file.remote, path=target)
