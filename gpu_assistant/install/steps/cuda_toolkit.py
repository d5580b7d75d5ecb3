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
from ...core.errors import AppError, CannotSetUp
from ...core.json import storage_error
from ...core.names import Value
from ...core.plan import Now, Plan, Step
from ...fetch.wanted import Wanted
from .. import listing, receipt
from ..draft import UNKNOWN_SIZE, Draft
from ..effects import TreeMade
from ..fetching import Getting, fetch
from ..place import Ground
from ..receipt import Archive, Part, Receipt
from ..redist import Index
from ..removal import delete, name, partial_path
from ..toolkit import (
    bytes_of,
    index_file,
    inner_place,
    layout_of,
    major_of,
    other_way,
    parts_of,
    platform_of,
    toolkit_of,
    tree,
)
from ..unpacking import checking, unpacked
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

RECEIPT = "gpu-assistant-toolkit.json"
NOTES = ".gpu-assistant-parts"
START_S = 60.0


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`, and NVIDIA's name of the `platform`: "linux-x86_64"."""

    version: str
    platform: str


class CudaToolkit(Kind):
    """Any version beside others, without an administrator."""

    name: ClassVar[str] = "cuda-toolkit"
    codes: ClassVar[tuple[str, ...]] = ("cuda-toolkit", "cuda-toolkit-linux")

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where a toolkit is to be installed; raises CannotSetUp for one without archives."""
        advice, machine = draft.recommendation.cuda_toolkit, draft.machine
        if advice.action != "install" or advice.version is None or advice.way == "installer":
            return ()
        redist, toolkit = draft.catalog.cuda.redist, toolkit_of(draft.catalog, advice.version)
        platform = platform_of(machine.os.system, machine.os.arch)
        file = index_file(toolkit) if toolkit is not None else None
        if redist is None or file is None or toolkit is None or platform not in redist.platforms:
            page = draft.catalog.source(draft.catalog.cuda, "installers")
            raise CannotSetUp("setup-no-toolkit", version=advice.version, page=page)
        folder = tree(draft.data.toolkits, toolkit.version)
        major = major_of(toolkit.version)
        count = bytes_of(redist, toolkit.version, platform)
        layout = layout_of(redist, machine.os.system, major)
        draft.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        draft.on_path += [str(folder.joinpath(*inner.split("/"))) for inner in layout.path]
        draft.variable_owners.append(self.name)
        data: dict[str, Value] = {
            "version": toolkit.version,
            "path": str(folder),
            "parts": len(parts_of(redist, major)),
            "bytes": UNKNOWN_SIZE if count is None else count,
        }
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name if machine.os.system == "windows" else f"{self.name}-linux",
                data=data | other_way(draft.catalog, toolkit, machine.os.system),
                spec={"version": toolkit.version, "platform": platform},
                files=(file,),
                bytes=count,
                minutes=draft.paces.archive_minutes(count),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The catalog's own index of a version that it knows, for this computer."""
        refuse_fields(step, files=True, spec=True)
        spec = spec_of(step, Spec)
        toolkit = toolkit_of(ground.catalog, spec.version)
        redist = ground.catalog.cuda.redist
        if toolkit is None or redist is None or step.files != (index_file(toolkit),):
            raise refused(f"{step.id}: {spec.version}")
        here = plan.simulated or spec.platform.startswith(f"{ground.system.name}-")
        if spec.platform not in redist.platforms or not here:
            raise refused(f"{step.id}: {spec.platform}")

    def gather(self, step: Step, getting: Getting) -> tuple[Wanted, ...]:
        """NVIDIA's index, and the archives that it names."""
        redist = getting.catalog.cuda.redist
        if redist is None:
            raise refused(step.id)
        index, archives = _indexed(step, spec_of(step, Spec), redist, getting)
        return (index.wanted, *(archive.wanted(getting.data.files) for archive in archives))

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """One that an earlier run put there; that each file has its hash, `done` looks at."""
        spec = spec_of(step, Spec)
        return receipt.now(tree(ground.data.toolkits, spec.version), RECEIPT, spec.version, spec.platform)

    def done(self, step: Step, work: Work) -> Outcome | None:
        """Every file is there with its hash."""
        spec = spec_of(step, Spec)
        folder = tree(work.data.toolkits, spec.version)
        there = receipt.read(folder / RECEIPT)
        if there is None or (there.version, there.platform) != (spec.version, spec.platform):
            return None
        if not receipt.whole(folder, there.files, work.cancel, checking(work)):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": spec.version, "path": str(folder)})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: redist-index-broken, redist-part-missing, toolkit-occupied, toolkit-broken, and what
        fetching and unpacking raise.
        """
        spec = spec_of(step, Spec)
        redist = work.catalog.cuda.redist
        if redist is None:
            raise refused(step.id)
        folder = tree(work.data.toolkits, spec.version)
        index, archives = _indexed(step, spec, redist, work)
        paths = fetch(work, [archive.wanted(work.data.files) for archive in archives])
        work.folder(step, folder.parent)
        ours = (folder / listing.FILES).is_file()
        if not ours and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        made = work.tree_made(folder)
        # What is damaged is repaired: what others put there stays.
        with work.effect(step, TreeMade(path=made.path, stood=made.stood and not ours)):
            if ours:
                _reopen(folder)
            partial = partial_path(folder)
            parts = _merge(archives, paths, partial, work)
            links = _link(partial, layout_of(redist, work.system.name, major_of(spec.version)).links)
            whole = Receipt(
                schema="gpu-assistant/receipt/1",
                version=spec.version,
                platform=spec.platform,
                index=index.source,
                parts=parts,
                links=links,
            )
            prove(partial, work)
            json.write_file(partial / RECEIPT, json.encode_pretty(whole))
            delete(partial / NOTES)
            listing.write(partial, sorted([*whole.files, RECEIPT]))
            name(folder)
        return Outcome(code="progress.toolkit", data={"version": spec.version, "path": str(folder)})


def _indexed(step: Step, spec: Spec, redist: CudaRedist, getting: Getting) -> tuple[Index, list[Archive]]:
    index = Index(step.files[0], getting)
    return index, [index.archive(part.names, spec.platform) for part in parts_of(redist, major_of(spec.version))]


def _merge(archives: Sequence[Archive], paths: Sequence[Path], partial: Path, work: Work) -> tuple[Part, ...]:
    """All archives in one tree; of a killed run, what was unpacked to the end and still is as it was counts."""
    parts: list[Part] = []
    taken: dict[str, str] = {}
    for archive, path in zip(archives, paths, strict=True):
        note = partial / NOTES / f"{archive.sha256}.json"
        part = receipt.read_part(note)
        if part is None or part.archive != archive or not receipt.whole(partial, part.files, work.cancel):
            part = unpacked(archive, path, partial, work, place=_place(archive), taken=taken)
            json.write_file(note, json.encode(part))
        taken |= part.files
        parts.append(part)
    return tuple(parts)


def _place(archive: Archive) -> Callable[[str], str]:
    return lambda given: inner_place(archive.part, given)


def _reopen(folder: Path) -> None:
    """A tree of ours that is not whole any more becomes a partial one, of which the whole parts count."""
    partial = partial_path(folder)
    delete(partial)
    there = receipt.read(folder / RECEIPT)
    try:
        folder.rename(partial)
    except OSError as error:
        raise storage_error(error, folder) from error
    for part in there.parts if there is not None else ():
        json.write_file(partial / NOTES / f"{part.archive.sha256}.json", json.encode(part))


def _link(partial: Path, links: dict[str, str]) -> dict[str, str]:
    """The links of the tree whose targets are there."""
    made = {link: target for link, target in links.items() if (partial / target).is_dir()}
    for link, target in made.items():
        try:
            (partial / link).unlink(missing_ok=True)
            (partial / link).symlink_to(target, target_is_directory=True)
        except OSError as error:
            raise storage_error(error, partial) from error
    return made


def prove(partial: Path, work: Work) -> None:
    """The compiler is there and starts; raises AppError("toolkit-broken")."""
    how = work.catalog.cuda.how(work.system.name)
    for inner in how.complete_when if how is not None else ():
        program = partial.joinpath(*inner.replace("\\", "/").split("/"))
        finished = work.system.run([program, "--version"], timeout=START_S, cancel=work.cancel)
        if finished.code != 0:
            raise AppError("toolkit-broken", name=program.name, detail=finished.err[-200:].strip() or None)
