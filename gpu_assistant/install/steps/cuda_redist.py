"""The CUDA Toolkit and cuDNN from NVIDIA's redistributable archives, without administrator rights.

    catalog: redistrib_<version>.json ─► RedistIndex ─► one archive for each part of the toolkit, with its sha256
    download_files ─► unpack_part into one tree, <data>/toolkits/.cuda-<version>.partial ─► check_compiler
    ─► receipt and file manifest ─► commit_folder

Several versions can be installed beside each other. cuDNN is put into the toolkit's tree, as NVIDIA's guides do, or
into a folder of its own. If the catalog has the index's sha256, the index must match it; else it is downloaded from
NVIDIA's own address each time, and its sha256 is recorded in the receipt. `cuda_installer.py` is the other way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct, structs

from ...catalog.records.cuda import CudaRedist, ToolkitRelease
from ...catalog.records.libraries import CudnnRelease
from ...catalog.store import Catalog
from ...core import filesystem, json
from ...core.errors import AppError, SetupNotSupported, storage_errors
from ...core.machine import SystemName
from ...core.ownership import mark_folder
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...core.types import Value
from ...fetch.request import DownloadRequest
from ..files import inventory, staging
from ..files.archives import (
    ArchiveRecord,
    IndexSource,
    Receipt,
    ReceiptPart,
    files_match,
    read_receipt,
    read_receipt_part,
    receipt_state,
)
from ..files.staging import commit_folder, delete_folder, partial_path, resume_partial
from ..host import PreviewContext
from ..journal.log import Effect, FilesAdded, FolderCreated, TreeCreated
from ..journal.validation import is_above, is_child, is_tree_in
from .base import StepKind, parse_spec, plan_error
from .context import (
    DownloadContext,
    InstallContext,
    Outcome,
    download_bytes,
    download_files,
    has_receipt_files,
    unpack_part,
)
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

TOOLKIT_RECEIPT = "gpu-assistant-toolkit.json"
PARTS_FOLDER = ".gpu-assistant-parts"
CUDNN_RECEIPT = "gpu-assistant-cudnn.json"
INDEX_SUFFIX = ".json"
LICENSES_FOLDER = "licenses"
COMPILER_TIMEOUT_S = 60.0
# What an index may say of an archive: a path below its own address, a hash, a size.
_RELATIVE_PATH = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._+/-]{1,300}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_DIGITS = re.compile(r"[0-9]{1,13}\Z")


class ToolkitSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`, and NVIDIA's name of the `platform`: "linux-x86_64"."""

    version: str
    platform: str


class CudaRedistInstall(StepKind):
    """Installs the toolkit's parts that compiling needs."""

    name: ClassVar[str] = "cuda-toolkit"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if a toolkit from archives is recommended; raises SetupNotSupported without archives."""
        advice, machine = builder.recommendation.cuda_toolkit, builder.machine
        if advice.action != "install" or advice.version is None or advice.way is not None:
            return ()
        redist, toolkit = builder.catalog.cuda.redist, builder.catalog.cuda.toolkit(advice.version)
        platform = redist_platform(machine.os.system, machine.os.arch)
        file = index_file(toolkit) if toolkit is not None else None
        if redist is None or file is None or toolkit is None or platform not in redist.platforms:
            page = builder.catalog.source_url(builder.catalog.cuda, "installers")
            raise SetupNotSupported("setup-no-toolkit", version=advice.version, page=page)
        folder = toolkit_folder(builder.data.toolkits, toolkit.version.text)
        major = toolkit.version.major
        size = redist.toolkit_bytes(toolkit.version, machine.os.system, machine.os.arch or "x86_64")
        layout = redist.toolkit_folders(machine.os.system, major)
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.on_path += [str(folder.joinpath(*relative_path.split("/"))) for relative_path in layout.path]
        builder.variable_owners.append(self.name)
        data: dict[str, Value] = {
            "version": toolkit.version.text,
            "path": str(folder),
            "parts": len(redist.toolkit_parts(major)),
            "bytes": UNKNOWN_SIZE if size is None else size,
        }
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name if machine.os.system == "windows" else f"{self.name}-linux",
                data=data | installer_hint(builder.catalog, toolkit, machine.os.system, machine.os.arch or "x86_64"),
                spec={"version": toolkit.version.text, "platform": platform},
                files=(file,),
                bytes=size,
                minutes=builder.durations.archive_minutes(size),
            ),
        )

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """NVIDIA's index, and the archives that it names."""
        redist = context.catalog.cuda.redist
        if redist is None:
            raise plan_error(step.id)
        index, archives = _read_index(step, parse_spec(step, ToolkitSpec), redist, context)
        return (index.request, *(archive.download_request(context.data.files) for archive in archives))

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        """By file names only; `is_satisfied` also compares hashes."""
        spec = parse_spec(step, ToolkitSpec)
        return receipt_state(
            toolkit_folder(context.data.toolkits, spec.version), TOOLKIT_RECEIPT, spec.version, spec.platform
        )

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return is_tree_in(effect, data.toolkits)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        spec = parse_spec(step, ToolkitSpec)
        folder = toolkit_folder(context.data.toolkits, spec.version)
        if not has_receipt_files(context, folder, TOOLKIT_RECEIPT, version=spec.version, platform=spec.platform):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, toolkit-broken, and what
        downloading and unpacking raise.
        """
        spec = parse_spec(step, ToolkitSpec)
        redist = context.catalog.cuda.redist
        if redist is None:
            raise plan_error(step.id)
        folder = toolkit_folder(context.data.toolkits, spec.version)
        index, archives = _read_index(step, spec, redist, context.downloads)
        paths = download_files(
            context.downloads, [archive.download_request(context.data.files) for archive in archives]
        )
        context.folder(step, folder.parent)
        is_managed = (folder / inventory.FILE_MANIFEST).is_file()
        if not is_managed and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        tree_effect = context.tree_effect(folder)
        # A damaged toolkit is repaired in place, so that files of others in it stay.
        with context.effect(step, TreeCreated(path=tree_effect.path, existed=tree_effect.existed and not is_managed)):
            if is_managed:
                _reopen_as_partial(folder)
            partial = resume_partial(folder)
            parts = _merge_archives(archives, paths, partial, context)
            links = _create_links(
                partial, redist.toolkit_folders(context.system.name, major_version(spec.version)).links
            )
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
            with storage_errors(partial):
                filesystem.rmtree(partial / PARTS_FOLDER)
            inventory.write_file_manifest(partial, sorted([*complete_receipt.files, TOOLKIT_RECEIPT]))
            commit_folder(folder)
        return Outcome(code="progress.toolkit", data={"version": spec.version, "path": str(folder)})


def _read_index(
    step: Step, spec: ToolkitSpec, redist: CudaRedist, context: DownloadContext
) -> tuple[RedistIndex, list[ArchiveRecord]]:
    index = RedistIndex(step.files[0], context)
    return index, [
        index.find_archive(part.names, spec.platform) for part in redist.toolkit_parts(major_version(spec.version))
    ]


def _merge_archives(
    archives: Sequence[ArchiveRecord], paths: Sequence[Path], partial: Path, context: InstallContext
) -> tuple[ReceiptPart, ...]:
    """Unpack all archives into one tree, except those that a killed run has unpacked completely."""
    parts: list[ReceiptPart] = []
    existing: dict[str, str] = {}
    for archive, path in zip(archives, paths, strict=True):
        part_file = partial / PARTS_FOLDER / f"{archive.sha256}.json"
        part = read_receipt_part(part_file)
        if part is None or part.archive != archive or not files_match(partial, part.files, context.cancel):
            part = unpack_part(
                archive, path, partial, context, path_for=_toolkit_member_path(archive), existing=existing
            )
            json.write_file(part_file, json.encode(part))
        existing |= part.files
        parts.append(part)
    return tuple(parts)


def _toolkit_member_path(archive: ArchiveRecord) -> Callable[[str], str]:
    return lambda given: member_path(archive.part, given)


def _reopen_as_partial(folder: Path) -> None:
    """Rename a damaged toolkit to its partial name; its intact archives count as unpacked."""
    partial = partial_path(folder)
    delete_folder(partial)
    mark_folder(folder, folder)
    existing = read_receipt(folder / TOOLKIT_RECEIPT)
    with storage_errors(folder):
        filesystem.rename(folder, partial)
    for part in existing.parts if existing is not None else ():
        json.write_file(partial / PARTS_FOLDER / f"{part.archive.sha256}.json", json.encode(part))


def _create_links(partial: Path, links: dict[str, str]) -> dict[str, str]:
    """Make the links whose targets are in the tree; returns them."""
    created = {link: target for link, target in links.items() if (partial / target).is_dir()}
    with storage_errors(partial):
        for link, target in created.items():
            filesystem.unlink(partial / link, missing_ok=True)
            (partial / link).symlink_to(target, target_is_directory=True)
    return created


def check_compiler(partial: Path, context: InstallContext) -> None:
    """Run the compiler; raises AppError("toolkit-broken")."""
    install_options = context.catalog.cuda.installer_settings(context.system.name)
    for relative_path in install_options.complete_when if install_options is not None else ():
        program = partial.joinpath(*relative_path.replace("\\", "/").split("/"))
        finished = context.system.run([program, "--version"], timeout=COMPILER_TIMEOUT_S, cancel=context.cancel)
        if finished.returncode != 0:
            raise AppError("toolkit-broken", name=program.name, detail=finished.stderr[-200:].strip() or None)


class CudnnSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """cuDNN's `version` for a major version of CUDA; `toolkit` is the version of the toolkit whose tree it is put into,
    None for a folder of its own.
    """

    version: str
    cuda: int
    platform: str
    toolkit: str | None = None


class CudnnInstall(StepKind):
    """The step's file is the archive if the catalog has it, else the index that names it."""

    name: ClassVar[str] = "cudnn"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the recommendation is to install cuDNN; raises SetupNotSupported without archives."""
        recommendation, machine = builder.recommendation, builder.machine
        advice = recommendation.cudnn
        if advice.action != "install" or advice.version is None or advice.way is not None:
            return ()
        toolkit = recommendation.cuda_toolkit.version
        torch = recommendation.pytorch.cuda if recommendation.pytorch is not None else None
        cuda = toolkit or torch
        release = _find_release(builder.catalog, advice.version)
        platform = redist_platform(machine.os.system, machine.os.arch)
        file = (
            _release_file(release, platform, major_version(cuda)) if release is not None and cuda is not None else None
        )
        if file is None or cuda is None:
            raise SetupNotSupported("setup-no-cudnn", version=advice.version, page=builder.catalog.cudnn.index)
        joins_toolkit = toolkit is not None and self._joins_own_toolkit(builder, toolkit)
        spec = CudnnSpec(
            version=advice.version,
            cuda=major_version(cuda),
            platform=platform,
            toolkit=toolkit if joins_toolkit else None,
        )
        folder = _cudnn_folder(builder.data.toolkits, spec)
        if not joins_toolkit:
            builder.variables["CUDNN_PATH"] = str(folder)
            if machine.os.system == "windows":  # programs find DLLs by PATH
                builder.on_path.append(str(folder / "bin"))
            builder.variable_owners.append(self.name)
        size = None if file.name.endswith(INDEX_SUFFIX) else file.bytes
        data: dict[str, Value] = {"version": spec.version, "cuda": spec.cuda, "path": str(folder)}
        data["bytes"] = UNKNOWN_SIZE if size is None else size
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name,
                needs=builder.ids("cuda-toolkit") if joins_toolkit else (),
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
        return bool(builder.ids("cuda-toolkit")) or toolkit_folder(builder.data.toolkits, toolkit) in toolkit_paths

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """The archive, and NVIDIA's index where that names it."""
        index, archive = _cudnn_archive(step.files[0], parse_spec(step, CudnnSpec), context)
        indexes = (index.request,) if index is not None else ()
        return (*indexes, archive.download_request(context.data.files))

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        """By file names only; `is_satisfied` also compares hashes."""
        spec = parse_spec(step, CudnnSpec)
        return receipt_state(_cudnn_folder(context.data.toolkits, spec), CUDNN_RECEIPT, spec.version, spec.platform)

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        match effect:
            case FolderCreated(path=path):
                return is_child(path, data.toolkits) or is_above(path, data.toolkits)
            case FilesAdded(path=path, receipt=receipt):
                return is_child(path, data.toolkits) and receipt == CUDNN_RECEIPT
            case _:
                return False

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        spec = parse_spec(step, CudnnSpec)
        folder = _cudnn_folder(context.data.toolkits, spec)
        if not has_receipt_files(context, folder, CUDNN_RECEIPT, version=spec.version, platform=spec.platform):
            return None
        return Outcome(code="progress.cudnn-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, and what downloading and
        unpacking raise.
        """
        spec = parse_spec(step, CudnnSpec)
        folder = _cudnn_folder(context.data.toolkits, spec)
        index, archive = _cudnn_archive(step.files[0], spec, context.downloads)
        (path,) = download_files(context.downloads, [archive.download_request(context.data.files)])
        context.folder(step, folder)
        receipt_head = Receipt(
            schema="gpu-assistant/receipt/1",
            version=spec.version,
            platform=spec.platform,
            index=index.source if index is not None else None,
            parts=(),
        )

        def unpack(destination: Path) -> ReceiptPart:
            return unpack_part(archive, path, destination, context, path_for=_cudnn_member_path(spec, context))

        with context.effect(step, FilesAdded(path=str(folder), receipt=CUDNN_RECEIPT)):
            if (folder / CUDNN_RECEIPT).is_file():  # damaged, or another version
                staging.remove_merged_files(folder, CUDNN_RECEIPT)
            staging.merge_files(folder, CUDNN_RECEIPT, receipt_head, unpack)
        return Outcome(code="progress.cudnn", data={"version": spec.version, "path": str(folder)})


def _find_release(catalog: Catalog, version: str) -> CudnnRelease | None:
    return next(
        (release for release in catalog.cudnn.releases if release.version.text == version and not release.yanked), None
    )


def _release_file(release: CudnnRelease, platform: str, cuda: int) -> PlanFile | None:
    """The archive if the catalog has its hash, else NVIDIA's index of the release."""
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
    return separate_cudnn_folder(toolkits, spec.version, spec.cuda)


def separate_cudnn_folder(toolkits: Path, version: str, cuda: int) -> Path:
    """The folder of a cuDNN that joins no toolkit of ours."""
    return toolkits / f"cudnn-{version}-cuda{cuda}"


def _cudnn_archive(
    file: PlanFile, spec: CudnnSpec, context: DownloadContext
) -> tuple[RedistIndex | None, ArchiveRecord]:
    if file.name.endswith(INDEX_SUFFIX):
        index = RedistIndex(file, context)
        return index, index.find_archive(["cudnn"], spec.platform, f"cuda{spec.cuda}")
    if file.sha256 is None:
        raise plan_error(file.name)
    return None, ArchiveRecord(part="cudnn", version=spec.version, url=file.url, sha256=file.sha256, bytes=file.bytes)


def _cudnn_member_path(spec: CudnnSpec, context: InstallContext) -> Callable[[str], str | None]:
    """The path of each member; some folders in the archives for Windows have other names in the toolkit's tree."""
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


def toolkit_folder(toolkits: Path, version: str) -> Path:
    """The folder of a toolkit from archives."""
    return toolkits / f"cuda-{version}"


def redist_platform(system: str, arch: str | None) -> str:
    """NVIDIA's name of a platform: "linux-x86_64"; "linux-sbsa" for servers on ARM (their Base System Architecture)."""
    return "linux-sbsa" if (system, arch) == ("linux", "arm64") else f"{system}-{arch or 'x86_64'}"


def installer_hint(catalog: Catalog, toolkit: ToolkitRelease | None, system: SystemName, arch: str) -> dict[str, Value]:
    """A text's data about NVIDIA's own installer: its page, size and command; None each where it is unknown."""
    wanted = (system, arch, "local")
    installers = toolkit.installers if toolkit is not None else ()
    installer = next((each for each in installers if (each.system, each.arch, each.kind) == wanted), None)
    install_options = catalog.cuda.installer_settings(system)
    if toolkit is None or installer is None or install_options is None:
        return {"installer": None, "installer_bytes": None, "command": None}
    command = [installer.file] if system == "windows" else ["sh", installer.file]
    page = catalog.source_url(catalog.cuda, "installers")
    size = UNKNOWN_SIZE if installer.bytes is None else installer.bytes
    return {
        "installer": page,
        "installer_bytes": size,
        "command": " ".join([*command, *install_options.installer_arguments(toolkit.version.text)]),
    }


def member_path(part: str, member: str) -> str:
    """The path of an archive's member: without the archive's top folder, and the licence in a folder for the part."""
    path = member.partition("/")[2]
    return path if "/" in path or not path else f"{LICENSES_FOLDER}/{part}/{path}"


def index_file(toolkit: ToolkitRelease) -> PlanFile | None:
    """NVIDIA's index of a toolkit's archives, with the sha256 if the catalog has it."""
    if toolkit.redist_index is None:
        return None
    url = toolkit.redist_index
    return PlanFile(url=url, name=url.rpartition("/")[2], sha256=toolkit.redist_sha256)


def major_version(version: str) -> int:
    """13 for "13.2.2"."""
    return int(version.partition(".")[0])


class RedistIndex:
    """A downloaded index; raises AppError("redist-index-broken", name=…) if it does not have the form of one."""

    def __init__(self, file: PlanFile, context: DownloadContext) -> None:
        self.request = DownloadRequest(file=file.remote, path=context.data.files / file.name)
        if file.sha256 is None:
            filesystem.unlink(self.request.path, missing_ok=True)
        data = download_bytes(context, self.request)
        self.name = file.name
        self.source = IndexSource(url=file.url, sha256=hashlib.sha256(data).hexdigest(), pinned=file.sha256 is not None)
        try:
            self._entries = json.decode(data, dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._broken_error() from error
        # A bundle must contain the very index that the archives were read from.
        self.request = structs.replace(self.request, file=structs.replace(self.request.file, sha256=self.source.sha256))
        context.reporter.log(f"{file.url} sha256 {self.source.sha256}")

    def find_archive(self, names: Sequence[str], platform: str, variant: str | None = None) -> ArchiveRecord:
        """The archive of the first of these parts that is in the index, for a platform and a variant like "cuda13".

        Raises AppError: redist-part-missing, redist-index-broken.
        """
        named_part = next(((name, part) for name in names if isinstance(part := self._entries.get(name), dict)), None)
        entry = named_part[1].get(platform) if named_part is not None else None
        if isinstance(entry, dict) and variant is not None:
            entry = entry.get(variant)
        if named_part is None or not isinstance(entry, dict):
            raise AppError("redist-part-missing", part=names[0], name=self.name)
        path, sha256, size = (entry.get(key) for key in ("relative_path", "sha256", "size"))
        version = named_part[1].get("version")
        texts = (path, sha256, size, version)
        if not all(isinstance(text, str) for text in texts):
            raise self._broken_error()
        if not (_RELATIVE_PATH.match(str(path)) and _SHA256.match(str(sha256)) and _DIGITS.match(str(size))):
            raise self._broken_error()
        base = self.source.url.rpartition("/")[0]
        return ArchiveRecord(
            part=names[0], version=str(version), url=f"{base}/{path}", sha256=str(sha256), bytes=int(str(size))
        )

    def _broken_error(self) -> AppError:
        return AppError("redist-index-broken", name=self.name)
