"""Downloading the files of the lock file."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, get_args

from msgspec import UNSET, structs

from ...core.errors import AppError
from ...core.plan import CurrentState, FileSource, Plan, PlanFile, Step
from ...core.plan_cost import step_cost
from ...core.recommendation import PackageName, Recommendation, SourceAnswer
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..environment.location import environment_state
from ..host import PreviewContext
from .base import StepKind
from .context import (
    DownloadContext,
    EnvironmentStatus,
    FetchedPackages,
    InstallContext,
    Outcome,
    ResolvedLock,
    download_files,
)
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

# The code of the step where the environment is there already.
DOWNLOADED_CODE = "download-here"
# After these errors a cached lock file is discarded: the sources may name other files now.
STALE_LOCK_ERRORS = ("hash-mismatch", "source-changed", "source-refused", "local-file-missing", "local-file-broken")


class PackageDownload(StepKind):
    """The files are those of the lock file; the plan names PyTorch's own, where it is known which one that will be."""

    name: ClassVar[str] = "download"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        sizes = builder.sizes
        # The catalog's sizes do not apply to the user's own wheels.
        size = sizes.download_bytes if builder.local_torch is None or builder.probed_sizes is not None else None
        data: dict[str, Value] = {"release": builder.release, "bytes": UNKNOWN_SIZE if size is None else size}
        if builder.durations.line_speed_mbits is not None:
            data["mbits"] = builder.durations.line_speed_mbits
        if builder.bundle is not None:
            code, size, data["path"] = "download-bundle", 0, str(builder.bundle)
        elif size == 0 and sizes.includes_dependencies:
            code = "download-none"
        elif size is not None and sizes.includes_dependencies:
            code = "download-all" if "mbits" in data else "download"
        elif size is not None:
            # Only PyTorch's own wheel was measured.
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
                files=_known_files(builder),
                disk_bytes=0,
                minutes=builder.durations.download_minutes(cost.bytes if cost.is_known or size == 0 else None),
                minutes_least=cost.unknown_part in ("tensorflow", "files"),
            ),
        )

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:  # noqa: ARG002
        """None besides the lock file's."""
        return ()

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        """Nothing to do for a complete environment."""
        state = environment_state(plan, context)
        return CurrentState(code="now.nothing") if state is not None and state.code == "now.stands" else None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        return Outcome(code="progress.nothing-to-fetch") if context.require(EnvironmentStatus).is_built else None

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Where a lock file of an earlier run names a file that is gone, the sources are asked again, once. Raises what
        `download_files` and the step before raise.
        """
        resolved = context.require(ResolvedLock)
        if resolved.resolve_again is None:
            return Outcome(produces=(_fetch(resolved, context),))
        try:
            return Outcome(produces=(_fetch(resolved, context),))
        except AppError as error:
            if error.code not in STALE_LOCK_ERRORS:
                raise
            context.reporter.log(f"{error.code}: {error.data}; the sources are asked again")
        context.provide(*resolved.resolve_again().produces)
        renewed = context.require(ResolvedLock)
        return Outcome(produces=(renewed, _fetch(renewed, context)))


def _fetch(resolved: ResolvedLock, context: InstallContext) -> FetchedPackages:
    requests = [download_request(context.data.files, package.file) for package in resolved.lock.packages]
    try:
        return FetchedPackages(download_files(context.downloads, requests))
    except AppError as error:
        if error.code in STALE_LOCK_ERRORS:
            resolved.discard()
        raise


def _known_files(builder: PlanBuilder) -> tuple[PlanFile, ...]:
    """PyTorch's wheel and those of what goes with it: the user's own, or those that an index named when asked."""
    local, recommendation = builder.local_torch, builder.recommendation
    if local is not None and not builder.simulated:
        url = Path(local.path).absolute().as_uri()
        return (PlanFile(url=url, name=Path(local.path).name, bytes=local.bytes, source="wheelhouse", checked=True),)
    if recommendation.sources is UNSET:
        return ()
    files: dict[PackageName, PlanFile] = {}
    for answer in recommendation.sources:
        file = answer.file
        if file is not None and _is_planned(answer, recommendation):
            source: FileSource = answer.source
            named = PlanFile(
                url=file.url, name=file.name, sha256=file.sha256, bytes=file.bytes, source=source, checked=True
            )
            files.setdefault(answer.package, named)
    # PyTorch first: indexes answer in any order.
    return tuple(files[name] for name in get_args(PackageName) if name in files)


def _is_planned(answer: SourceAnswer, recommendation: Recommendation) -> bool:
    """Whether the wheel that an index named is one that the recommendation needs."""
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    if answer.package == "tensorflow":
        series = tensorflow.version.split(".")[:2] if tensorflow is not None else None
        return answer.newest is not None and answer.newest.split(".")[:2] == series
    if torch is None or answer.source != torch.source:
        return False
    versions = {"torch": torch.version, "torchvision": torch.torchvision, "torchaudio": torch.torchaudio}
    is_same_build = answer.variant == torch.variant or answer.source == "general"
    return is_same_build and answer.newest is not None and answer.newest == versions.get(answer.package)


def as_satisfied(step: Step) -> Step:
    """The step if the environment is complete already: its texts name no download."""
    data = {name: value for name, value in step.data.items() if name in ("release", "mbits")}
    return structs.replace(step, code=DOWNLOADED_CODE, data=data)


def _partial_size(builder: PlanBuilder) -> tuple[str, dict[str, Value]]:
    """The code and data of a text for a size of which only a part is known: the largest known part."""
    local_wheel, similar_bytes, torch_bytes = (
        builder.local_torch,
        builder.similar_sizes.download_bytes,
        builder.torch_sizes.download_bytes,
    )
    least_bytes = builder.probed_sizes.least_bytes if builder.probed_sizes is not None else 0
    if local_wheel is None and similar_bytes is not None and similar_bytes > least_bytes:
        return "download-about", {"bytes": similar_bytes, "measured": _measured_release(builder)}
    if local_wheel is None and torch_bytes is not None and torch_bytes > least_bytes:
        return "download-torch", {"bytes": torch_bytes, "measured": _measured_release(builder), "lacks": "tensorflow"}
    if least_bytes:
        return "download-some", {"bytes": least_bytes, "lacks": "files"}
    return ("download", {}) if local_wheel is None else ("download-rest", {"bytes": local_wheel.bytes})


def _measured_release(builder: PlanBuilder) -> str:
    """The release whose size was measured: "PyTorch 2.14.0", with the build if it is a different one; TensorFlow after
    it, or alone.
    """
    measured, torch = builder.torch_sizes, builder.recommendation.pytorch
    is_other_variant = torch is not None and measured.variant != torch.variant
    labels = []
    if torch is not None:
        build = f"+{measured.variant}" if is_other_variant else ""
        labels.append(f"PyTorch {measured.release}{build}")
    if builder.tensorflow_size is not None:
        labels.append(f"TensorFlow {builder.tensorflow_size.release}")
    return " + ".join(labels)


def download_request(folder: Path, file: PlanFile) -> DownloadRequest:
    """In a folder by hash: two indexes may give different files the same name."""
    target = folder / (file.sha256 or "")[:16] / file.name
    return DownloadRequest(file=file.remote, path=target)
