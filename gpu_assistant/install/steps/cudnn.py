"""cuDNN from NVIDIA's archive, put into the CUDA Toolkit's folder as the guides do; else into one of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...catalog.libraries import CudnnRelease
from ...catalog.load import Catalog
from ...core.errors import CannotSetUp
from ...core.names import Value
from ...core.plan import Now, Plan, PlanFile, Step
from ...fetch.wanted import Wanted
from .. import added, receipt
from ..draft import UNKNOWN_SIZE, Draft
from ..effects import FilesAdded
from ..fetching import Getting, fetch
from ..place import Ground
from ..receipt import Archive, Part, Receipt
from ..redist import Index
from ..toolkit import inner_place, major_of, platform_of, toolkit_of, tree
from ..unpacking import checking, unpacked
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

RECEIPT = "gpu-assistant-cudnn.json"
INDEX = ".json"


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """cuDNN's `version` for a CUDA major; `toolkit` of whose tree it becomes a part, None for a folder of its own."""

    version: str
    cuda: int
    platform: str
    toolkit: str | None = None


class Cudnn(Kind):
    """The step's one file is the archive where the catalog knows it, else the index that names it."""

    name: ClassVar[str] = "cudnn"
    codes: ClassVar[tuple[str, ...]] = ("cudnn",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where a separate cuDNN is to be installed; raises CannotSetUp without archives."""
        recommended, machine = draft.recommendation, draft.machine
        advice = recommended.cudnn
        if advice.action != "install" or advice.version is None:
            return ()
        toolkit = recommended.cuda_toolkit.version
        torch = recommended.pytorch.cuda if recommended.pytorch is not None else None
        cuda = toolkit or torch
        release = _release(draft.catalog, advice.version)
        platform = platform_of(machine.os.system, machine.os.arch)
        file = _file(release, platform, major_of(cuda)) if release is not None and cuda is not None else None
        if file is None or cuda is None:
            raise CannotSetUp("setup-no-cudnn", version=advice.version, page=draft.catalog.cudnn.index)
        own = toolkit is not None and self._own(draft, toolkit)
        spec = Spec(version=advice.version, cuda=major_of(cuda), platform=platform, toolkit=toolkit if own else None)
        folder = _folder(draft.data.toolkits, spec)
        if not own:
            draft.variables["CUDNN_PATH"] = str(folder)
            if machine.os.system == "windows":  # where programs find libraries by PATH
                draft.on_path.append(str(folder / "bin"))
            draft.variable_owners.append(self.name)
        count = None if file.name.endswith(INDEX) else file.bytes
        data: dict[str, Value] = {"version": spec.version, "cuda": spec.cuda, "path": str(folder)}
        data["bytes"] = UNKNOWN_SIZE if count is None else count
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name,
                needs=draft.ids("cuda-toolkit") if own else (),
                data=data,
                spec={"version": spec.version, "cuda": spec.cuda, "platform": platform, "toolkit": spec.toolkit},
                files=(file,),
                bytes=count,
                minutes=draft.paces.archive_minutes(count),
            ),
        )

    def _own(self, draft: Draft, toolkit: str) -> bool:
        """Whether the toolkit is planned here, or was made by us before."""
        here = {Path(each.path) for each in draft.machine.cuda_toolkits or ()}
        return bool(draft.ids("cuda-toolkit")) or tree(draft.data.toolkits, toolkit) in here

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The catalog's own file for this computer, and a toolkit that it knows."""
        refuse_fields(step, files=True, spec=True)
        spec = spec_of(step, Spec)
        release = _release(ground.catalog, spec.version)
        if release is None or step.files != (_file(release, spec.platform, spec.cuda),):
            raise refused(f"{step.id}: {spec.version}")
        if not plan.simulated and not spec.platform.startswith(f"{ground.system.name}-"):
            raise refused(f"{step.id}: {spec.platform}")
        if spec.toolkit is not None and toolkit_of(ground.catalog, spec.toolkit) is None:
            raise refused(f"{step.id}: {spec.toolkit}")

    def gather(self, step: Step, getting: Getting) -> tuple[Wanted, ...]:
        """The archive, and NVIDIA's index where that names it."""
        index, archive = _archive(step.files[0], spec_of(step, Spec), getting)
        indexes = (index.wanted,) if index is not None else ()
        return (*indexes, archive.wanted(getting.data.files))

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """One that an earlier run put there; that each file has its hash, `done` looks at."""
        spec = spec_of(step, Spec)
        return receipt.now(_folder(ground.data.toolkits, spec), RECEIPT, spec.version, spec.platform)

    def done(self, step: Step, work: Work) -> Outcome | None:
        """Every file is there with its hash."""
        spec = spec_of(step, Spec)
        folder = _folder(work.data.toolkits, spec)
        there = receipt.read(folder / RECEIPT)
        if there is None or (there.version, there.platform) != (spec.version, spec.platform):
            return None
        if not receipt.whole(folder, there.files, work.cancel, checking(work)):
            return None
        return Outcome(code="progress.cudnn-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, and what fetching and
        unpacking raise.
        """
        spec = spec_of(step, Spec)
        folder = _folder(work.data.toolkits, spec)
        index, archive = _archive(step.files[0], spec, work)
        (path,) = fetch(work, [archive.wanted(work.data.files)])
        work.folder(step, folder)
        whole = Receipt(
            schema="gpu-assistant/receipt/1",
            version=spec.version,
            platform=spec.platform,
            index=index.source if index is not None else None,
            parts=(),
        )

        def unpack(into: Path) -> Part:
            return unpacked(archive, path, into, work, place=_place(spec, work))

        with work.effect(step, FilesAdded(path=str(folder), receipt=RECEIPT)):
            if (folder / RECEIPT).is_file():  # damaged, or another version
                added.remove(folder, RECEIPT)
            added.add(folder, RECEIPT, whole, unpack)
        return Outcome(code="progress.cudnn", data={"version": spec.version, "path": str(folder)})


def _release(catalog: Catalog, version: str) -> CudnnRelease | None:
    return next((each for each in catalog.cudnn.releases if each.version == version and not each.yanked), None)


def _file(release: CudnnRelease, platform: str, cuda: int) -> PlanFile | None:
    """The archive with its hash, else NVIDIA's index of this release."""
    for each in release.archives:
        if (platform_of(each.system, each.arch), each.cuda) == (platform, cuda):
            name = each.url.rpartition("/")[2]
            return PlanFile(url=each.url, name=name, sha256=each.sha256, bytes=each.bytes)
    if release.index_url is None:
        return None
    url = release.index_url
    return PlanFile(url=url, name=url.rpartition("/")[2], sha256=release.index_sha256)


def _folder(toolkits: Path, spec: Spec) -> Path:
    if spec.toolkit is not None:
        return tree(toolkits, spec.toolkit)
    return toolkits / f"cudnn-{spec.version}-cuda{spec.cuda}"


def _archive(file: PlanFile, spec: Spec, getting: Getting) -> tuple[Index | None, Archive]:
    if file.name.endswith(INDEX):
        index = Index(file, getting)
        return index, index.archive(["cudnn"], spec.platform, f"cuda{spec.cuda}")
    if file.sha256 is None:
        raise refused(file.name)
    return None, Archive(part="cudnn", version=spec.version, url=file.url, sha256=file.sha256, bytes=file.bytes)


def _place(spec: Spec, work: Work) -> Callable[[str], str | None]:
    """Windows' archives have folders that the toolkit's tree names otherwise."""
    folders = work.catalog.cudnn.windows_install.folders.get(str(spec.cuda), {})
    renamed = {old.replace("\\", "/"): new.replace("\\", "/") for old, new in folders.items()}
    if work.system.name != "windows":
        renamed = {}

    def place(given: str) -> str | None:
        inner = inner_place("cudnn", given)
        for old, new in renamed.items():
            if inner.startswith(f"{old}/"):
                return f"{new}/{inner.removeprefix(f'{old}/')}"
        return inner

    return place
