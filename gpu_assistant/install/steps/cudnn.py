"""cuDNN from NVIDIA's archive, put into the CUDA Toolkit's folder as the guides do; else into one of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...catalog.libraries import CudnnRelease
from ...catalog.load import Catalog
from ...core.errors import SetupNotSupported
from ...core.names import Value
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...fetch.wanted import Wanted
from .. import added, receipt
from ..draft import UNKNOWN_SIZE, PlanBuilder
from ..effects import FilesAdded
from ..fetching import DownloadContext, download_files
from ..place import ValidationContext
from ..receipt import ArchiveRecord, ReceiptPart, Receipt
from ..redist import RedistIndex
from ..toolkit import member_path, major_version, redist_platform, find_toolkit, toolkit_folder
from ..unpacking import checking_progress, unpack_part
from ..work import Outcome, InstallContext
from .kind import StepKind, check_fields, plan_refused_error, parse_spec

CUDNN_RECEIPT = "gpu-assistant-cudnn.json"
INDEX_SUFFIX = ".json"


class CudnnSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """cuDNN's `version` for a CUDA major; `toolkit` of whose tree it becomes a part, None for a folder of its own."""

    version: str
    cuda: int
    platform: str
    toolkit: str | None = None


class CudnnInstall(StepKind):
    """The step's one file is the archive where the catalog knows it, else the index that names it."""

    name: ClassVar[str] = "cudnn"
    codes: ClassVar[tuple[str, ...]] = ("cudnn",)

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where a separate cuDNN is to be installed; raises CannotSetUp without archives."""
        recommendation, machine = builder.recommendation, builder.machine
        advice = recommendation.cudnn
        if advice.action != "install" or advice.version is None:
            return ()
        toolkit = recommendation.cuda_toolkit.version
        torch = recommendation.pytorch.cuda if recommendation.pytorch is not None else None
        cuda = toolkit or torch
        release = _find_release(builder.catalog, advice.version)
        platform = redist_platform(machine.os.system, machine.os.arch)
        file = _release_file(release, platform, major_version(cuda)) if release is not None and cuda is not None else None
        if file is None or cuda is None:
            raise SetupNotSupported("setup-no-cudnn", version=advice.version, page=builder.catalog.cudnn.index)
        joins_toolkit = toolkit is not None and self._joins_own_toolkit(builder, toolkit)
        spec = CudnnSpec(version=advice.version, cuda=major_version(cuda), platform=platform, toolkit=toolkit if joins_toolkit else None)
        folder = _cudnn_folder(builder.data.toolkits, spec)
        if not joins_toolkit:
            builder.variables["CUDNN_PATH"] = str(folder)
            if machine.os.system == "windows":  # where programs find libraries by PATH
                builder.path_folders.append(str(folder / "bin"))
            builder.variable_owners.append(self.name)
        size = None if file.name.endswith(INDEX_SUFFIX) else file.bytes
        data: dict[str, Value] = {"version": spec.version, "cuda": spec.cuda, "path": str(folder)}
        data["bytes"] = UNKNOWN_SIZE if size is None else size
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name,
                needs=builder.step_ids("cuda-toolkit") if joins_toolkit else (),
                data=data,
                spec={"version": spec.version, "cuda": spec.cuda, "platform": platform, "toolkit": spec.toolkit},
                files=(file,),
                bytes=size,
                minutes=builder.durations.archive_minutes(size),
            ),
        )

    def _joins_own_toolkit(self, builder: PlanBuilder, toolkit: str) -> bool:
        """Whether the toolkit is planned here, or was made by us before."""
        toolkit_paths = {Path(installed.path) for installed in builder.machine.cuda_toolkits or ()}
        return bool(builder.step_ids("cuda-toolkit")) or toolkit_folder(builder.data.toolkits, toolkit) in toolkit_paths

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """The catalog's own file for this computer, and a toolkit that it knows."""
        check_fields(step, allow_files=True, allow_spec=True)
        spec = parse_spec(step, CudnnSpec)
        release = _find_release(context.catalog, spec.version)
        if release is None or step.files != (_release_file(release, spec.platform, spec.cuda),):
            raise plan_refused_error(f"{step.id}: {spec.version}")
        if not plan.simulated and not spec.platform.startswith(f"{context.system.name}-"):
            raise plan_refused_error(f"{step.id}: {spec.platform}")
        if spec.toolkit is not None and find_toolkit(context.catalog, spec.toolkit) is None:
            raise plan_refused_error(f"{step.id}: {spec.toolkit}")

    def downloads(self, step: Step, context: DownloadContext) -> tuple[Wanted, ...]:
        """The archive, and NVIDIA's index where that names it."""
        index, archive = _cudnn_archive(step.files[0], parse_spec(step, CudnnSpec), context)
        indexes = (index.request,) if index is not None else ()
        return (*indexes, archive.download_request(context.data.files))

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """One that an earlier run put there; that each file has its hash, `done` looks at."""
        spec = parse_spec(step, CudnnSpec)
        return receipt.receipt_state(_cudnn_folder(context.data.toolkits, spec), CUDNN_RECEIPT, spec.version, spec.platform)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        spec = parse_spec(step, CudnnSpec)
        folder = _cudnn_folder(context.data.toolkits, spec)
        existing = receipt.read_receipt(folder / CUDNN_RECEIPT)
        if existing is None or (existing.version, existing.platform) != (spec.version, spec.platform):
            return None
        if not receipt.files_match(folder, existing.files, context.cancel, checking_progress(context)):
            return None
        return Outcome(code="progress.cudnn-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, and what fetching and
        unpacking raise.
        """
        spec = parse_spec(step, CudnnSpec)
        folder = _cudnn_folder(context.data.toolkits, spec)
        index, archive = _cudnn_archive(step.files[0], spec, context)
        (path,) = download_files(context, [archive.download_request(context.data.files)])
        context.make_folder(step, folder)
        receipt_head = Receipt(
            schema="gpu-assistant/receipt/1",
            version=spec.version,
            platform=spec.platform,
            index=index.source if index is not None else None,
            parts=(),
        )

        def unpack(destination: Path) -> ReceiptPart:
            return unpack_part(archive, path, destination, context, path_for=_cudnn_member_path(spec, context))

        with context.record_effect(step, FilesAdded(path=str(folder), receipt=CUDNN_RECEIPT)):
            if (folder / CUDNN_RECEIPT).is_file():  # damaged, or another version
                added.remove_merged_files(folder, CUDNN_RECEIPT)
            added.merge_files(folder, CUDNN_RECEIPT, receipt_head, unpack)
        return Outcome(code="progress.cudnn", data={"version": spec.version, "path": str(folder)})


def _find_release(catalog: Catalog, version: str) -> CudnnRelease | None:
    return next((release for release in catalog.cudnn.releases if release.version == version and not release.yanked), None)


def _release_file(release: CudnnRelease, platform: str, cuda: int) -> PlanFile | None:
    """The archive with its hash, else NVIDIA's index of this release."""
    for archive in release.archives:
        if (redist_platform(archive.system, archive.arch), archive.cuda) == (platform, cuda):
            name = archive.url.rpartition("/")[2]
            return PlanFile(url=archive.url, name=name, sha256=archive.sha256, bytes=archive.bytes)
    if release.index_url is None:
        return None
    url = release.index_url
    return PlanFile(url=url, name=url.rpartition("/")[2], sha256=release.index_sha256)


def _cudnn_folder(toolkits: Path, spec: CudnnSpec) -> Path:
    if spec.toolkit is not None:
        return toolkit_folder(toolkits, spec.toolkit)
    return toolkits / f"cudnn-{spec.version}-cuda{spec.cuda}"


def _cudnn_archive(file: PlanFile, spec: CudnnSpec, context: DownloadContext) -> tuple[RedistIndex | None, ArchiveRecord]:
    if file.name.endswith(INDEX_SUFFIX):
        index = RedistIndex(file, context)
        return index, index.find_archive(["cudnn"], spec.platform, f"cuda{spec.cuda}")
    if file.sha256 is None:
        raise plan_refused_error(file.name)
    return None, ArchiveRecord(part="cudnn", version=spec.version, url=file.url, sha256=file.sha256, bytes=file.bytes)


def _cudnn_member_path(spec: CudnnSpec, context: InstallContext) -> Callable[[str], str | None]:
    """Windows' archives have folders that the toolkit's tree names otherwise."""
    folders = context.catalog.cudnn.windows_install.folders.get(str(spec.cuda), {})
    renamed = {old.replace("\\", "/"): new.replace("\\", "/") for old, new in folders.items()}
    if context.system.name != "windows":
        renamed = {}

    def redist_member_path(member: str) -> str | None:
        path = member_path("cudnn", member)
        for old, new in renamed.items():
            if path.startswith(f"{old}/"):
                return f"{new}/{path.removeprefix(f'{old}/')}"
        return path

    return redist_member_path
