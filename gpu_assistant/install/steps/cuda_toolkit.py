"""The CUDA Toolkit from NVIDIA's redistributable archives: the parts that compiling needs, merged into one folder
of the user's own. NVIDIA's installer, the other way, is named beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...catalog.toolkits import CudaRedist
from ...core import json
from ...core.errors import AppError, SetupNotSupported
from ...core.json import storage_error
from ...core.names import Value
from ...core.plan import CurrentState, Plan, Step
from ...fetch.wanted import Wanted
from .. import listing, receipt
from ..draft import UNKNOWN_SIZE, PlanBuilder
from ..effects import TreeCreated
from ..fetching import DownloadContext, download_files
from ..place import ValidationContext
from ..receipt import ArchiveRecord, ReceiptPart, Receipt
from ..redist import RedistIndex
from ..removal import delete_folder, commit_folder, partial_path
from ..toolkit import (
    toolkit_bytes,
    index_file,
    member_path,
    toolkit_layout,
    major_version,
    installer_hint,
    toolkit_parts,
    redist_platform,
    find_toolkit,
    toolkit_folder,
)
from ..unpacking import checking_progress, unpack_part
from ..work import Outcome, InstallContext
from .kind import StepKind, check_fields, plan_refused_error, parse_spec

TOOLKIT_RECEIPT = "gpu-assistant-toolkit.json"
PARTS_FOLDER = ".gpu-assistant-parts"
COMPILER_TIMEOUT_S = 60.0


class ToolkitSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`, and NVIDIA's name of the `platform`: "linux-x86_64"."""

    version: str
    platform: str


class CudaRedistInstall(StepKind):
    """Any version beside others, without an administrator."""

    name: ClassVar[str] = "cuda-toolkit"
    codes: ClassVar[tuple[str, ...]] = ("cuda-toolkit", "cuda-toolkit-linux")

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where a toolkit is to be installed; raises CannotSetUp for one without archives."""
        advice, machine = builder.recommendation.cuda_toolkit, builder.machine
        if advice.action != "install" or advice.version is None or advice.way == "installer":
            return ()
        redist, toolkit = builder.catalog.cuda.redist, find_toolkit(builder.catalog, advice.version)
        platform = redist_platform(machine.os.system, machine.os.arch)
        file = index_file(toolkit) if toolkit is not None else None
        if redist is None or file is None or toolkit is None or platform not in redist.platforms:
            page = builder.catalog.source_url(builder.catalog.cuda, "installers")
            raise SetupNotSupported("setup-no-toolkit", version=advice.version, page=page)
        folder = toolkit_folder(builder.data.toolkits, toolkit.version)
        major = major_version(toolkit.version)
        size = toolkit_bytes(redist, toolkit.version, platform)
        layout = toolkit_layout(redist, machine.os.system, major)
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.path_folders += [str(folder.joinpath(*relative_path.split("/"))) for relative_path in layout.path]
        builder.variable_owners.append(self.name)
        data: dict[str, Value] = {
            "version": toolkit.version,
            "path": str(folder),
            "parts": len(toolkit_parts(redist, major)),
            "bytes": UNKNOWN_SIZE if size is None else size,
        }
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name if machine.os.system == "windows" else f"{self.name}-linux",
                data=data | installer_hint(builder.catalog, toolkit, machine.os.system),
                spec={"version": toolkit.version, "platform": platform},
                files=(file,),
                bytes=size,
                minutes=builder.durations.archive_minutes(size),
            ),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """The catalog's own index of a version that it knows, for this computer."""
        check_fields(step, allow_files=True, allow_spec=True)
        spec = parse_spec(step, ToolkitSpec)
        toolkit = find_toolkit(context.catalog, spec.version)
        redist = context.catalog.cuda.redist
        if toolkit is None or redist is None or step.files != (index_file(toolkit),):
            raise plan_refused_error(f"{step.id}: {spec.version}")
        is_this_system = plan.simulated or spec.platform.startswith(f"{context.system.name}-")
        if spec.platform not in redist.platforms or not is_this_system:
            raise plan_refused_error(f"{step.id}: {spec.platform}")

    def downloads(self, step: Step, context: DownloadContext) -> tuple[Wanted, ...]:
        """NVIDIA's index, and the archives that it names."""
        redist = context.catalog.cuda.redist
        if redist is None:
            raise plan_refused_error(step.id)
        index, archives = _read_index(step, parse_spec(step, ToolkitSpec), redist, context)
        return (index.request, *(archive.download_request(context.data.files) for archive in archives))

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """One that an earlier run put there; that each file has its hash, `done` looks at."""
        spec = parse_spec(step, ToolkitSpec)
        return receipt.receipt_state(toolkit_folder(context.data.toolkits, spec.version), TOOLKIT_RECEIPT, spec.version, spec.platform)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        spec = parse_spec(step, ToolkitSpec)
        folder = toolkit_folder(context.data.toolkits, spec.version)
        existing = receipt.read_receipt(folder / TOOLKIT_RECEIPT)
        if existing is None or (existing.version, existing.platform) != (spec.version, spec.platform):
            return None
        if not receipt.files_match(folder, existing.files, context.cancel, checking_progress(context)):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, toolkit-broken, and what
        fetching and unpacking raise.
        """
        spec = parse_spec(step, ToolkitSpec)
        redist = context.catalog.cuda.redist
        if redist is None:
            raise plan_refused_error(step.id)
        folder = toolkit_folder(context.data.toolkits, spec.version)
        index, archives = _read_index(step, spec, redist, context)
        paths = download_files(context, [archive.download_request(context.data.files) for archive in archives])
        context.make_folder(step, folder.parent)
        is_managed = (folder / listing.FILE_MANIFEST).is_file()
        if not is_managed and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        tree_effect = context.tree_effect(folder)
        # What is damaged is repaired: what others put there stays.
        with context.record_effect(step, TreeCreated(path=tree_effect.path, stood=tree_effect.stood and not is_managed)):
            if is_managed:
                _reopen_as_partial(folder)
            partial = partial_path(folder)
            parts = _merge_archives(archives, paths, partial, context)
            links = _create_links(partial, toolkit_layout(redist, context.system.name, major_version(spec.version)).links)
            complete_receipt = Receipt(
                schema="gpu-assistant/receipt/1",
                version=spec.version,
                platform=spec.platform,
                index=index.source,
                parts=parts,
                links=links,
            )
            check_compiler(partial, context)
            json.write_file(partial / TOOLKIT_RECEIPT, json.encode_pretty(complete_receipt))
            delete_folder(partial / PARTS_FOLDER)
            listing.write_file_manifest(partial, sorted([*complete_receipt.files, TOOLKIT_RECEIPT]))
            commit_folder(folder)
        return Outcome(code="progress.toolkit", data={"version": spec.version, "path": str(folder)})


def _read_index(step: Step, spec: ToolkitSpec, redist: CudaRedist, context: DownloadContext) -> tuple[RedistIndex, list[ArchiveRecord]]:
    index = RedistIndex(step.files[0], context)
    return index, [index.find_archive(part.names, spec.platform) for part in toolkit_parts(redist, major_version(spec.version))]


def _merge_archives(archives: Sequence[ArchiveRecord], paths: Sequence[Path], partial: Path, context: InstallContext) -> tuple[ReceiptPart, ...]:
    """All archives in one tree; of a killed run, what was unpacked to the end and still is as it was counts."""
    parts: list[ReceiptPart] = []
    existing: dict[str, str] = {}
    for archive, path in zip(archives, paths, strict=True):
        part_file = partial / PARTS_FOLDER / f"{archive.sha256}.json"
        part = receipt.read_receipt_part(part_file)
        if part is None or part.archive != archive or not receipt.files_match(partial, part.files, context.cancel):
            part = unpack_part(archive, path, partial, context, path_for=_toolkit_member_path(archive), existing=existing)
            json.write_file(part_file, json.encode(part))
        existing |= part.files
        parts.append(part)
    return tuple(parts)


def _toolkit_member_path(archive: ArchiveRecord) -> Callable[[str], str]:
    return lambda given: member_path(archive.part, given)


def _reopen_as_partial(folder: Path) -> None:
    """A tree of ours that is not whole any more becomes a partial one, of which the whole parts count."""
    partial = partial_path(folder)
    delete_folder(partial)
    existing = receipt.read_receipt(folder / TOOLKIT_RECEIPT)
    try:
        folder.rename(partial)
    except OSError as error:
        raise storage_error(error, folder) from error
    for part in existing.parts if existing is not None else ():
        json.write_file(partial / PARTS_FOLDER / f"{part.archive.sha256}.json", json.encode(part))


def _create_links(partial: Path, links: dict[str, str]) -> dict[str, str]:
    """The links of the tree whose targets are there."""
    created = {link: target for link, target in links.items() if (partial / target).is_dir()}
    for link, target in created.items():
        try:
            (partial / link).unlink(missing_ok=True)
            (partial / link).symlink_to(target, target_is_directory=True)
        except OSError as error:
            raise storage_error(error, partial) from error
    return created


def check_compiler(partial: Path, context: InstallContext) -> None:
    """The compiler is there and starts; raises AppError("toolkit-broken")."""
    install_options = context.catalog.cuda.installer_settings(context.system.name)
    for relative_path in install_options.complete_when if install_options is not None else ():
        program = partial.joinpath(*relative_path.replace("\\", "/").split("/"))
        finished = context.system.run([program, "--version"], timeout=COMPILER_TIMEOUT_S, cancel=context.cancel)
        if finished.returncode != 0:
            raise AppError("toolkit-broken", name=program.name, detail=finished.stderr[-200:].strip() or None)
