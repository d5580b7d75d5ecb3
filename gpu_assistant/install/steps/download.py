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
from ..environment.location import environment_now
from ..host import ValidationContext
from .base import StepKind
from .context import EnvironmentStatus, FetchedPackages, InstallContext, Outcome, ResolvedLock, download_files
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

# What asking the sources again may mend; a broken line is not among it.
STALE_LOCK_ERRORS = ("hash-mismatch", "source-changed", "source-refused", "local-file-missing", "local-file-broken")


class PackageDownload(StepKind):
    """What is fetched stands in the lock; nothing of it comes from the plan."""

    name: ClassVar[str] = "download"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step for all packages."""
        sizes = builder.sizes
        # What the catalog measured is not for who brings wheels of his own.
        size = sizes.download_bytes if builder.local is None or builder.told is not None else None
        data: dict[str, Value] = {"release": builder.release, "bytes": UNKNOWN_SIZE if size is None else size}
        if builder.paces.line_speed_mbits is not None:
            data["mbits"] = builder.paces.line_speed_mbits
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
                needs=builder.ids("resolve"),
                data=data,
                bytes=size,
                disk_bytes=0,
                minutes=builder.paces.download_minutes(cost.bytes if cost.is_known or size == 0 else None),
                minutes_least=cost.unknown_part in ("tensorflow", "files"),
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """An environment that stands needs no files."""
        now = environment_now(plan, context)
        return CurrentState(code="now.nothing") if now is not None and now.code == "now.stands" else None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """An environment that stands, or is built, needs no files."""
        return Outcome(code="progress.nothing-to-fetch") if context.require(EnvironmentStatus).built else None

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises what fetching raises."""
        resolved = context.require(ResolvedLock)
        requests = [_download_request(context.data.files, package.file) for package in resolved.lock.packages]
        try:
            files = download_files(context.downloads, requests)
        except AppError as error:
            if error.code in STALE_LOCK_ERRORS:
                resolved.forget()
            raise
        return Outcome(produces=(FetchedPackages(files),))


def unneeded(step: Step) -> Step:
    """The step where the environment stands already: what it would have fetched is told of no more."""
    data = {name: value for name, value in step.data.items() if name in ("release", "mbits")}
    return structs.replace(step, code="download-here", data=data)


def _partial_size(builder: PlanBuilder) -> tuple[str, dict[str, Value]]:
    """The text for a size that is not known, and what it says: the largest part of it that is known."""
    local_wheel, similar_bytes, torch_bytes = (
        builder.local,
        builder.near_sizes.download_bytes,
        builder.torch_sizes.download_bytes,
    )
    least_bytes = builder.told.least_bytes if builder.told is not None else 0
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
