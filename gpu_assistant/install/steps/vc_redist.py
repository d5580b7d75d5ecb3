"""Microsoft's Visual C++ runtime on Windows, where there is none: the libraries of PyTorch and TensorFlow do not load
without it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import ClassVar
from urllib.parse import urlsplit

from ...catalog.libraries import VcNeed
from ...catalog.load import Catalog
from ...catalog.versions import numbers
from ...core.machine import Tools
from ...core.names import Value
from ...core.plan import Plan, PlanFile, Step
from ...core.recommendation import Recommendation
from ...fetch.wanted import Wanted
from ..door.ask import Door
from ..draft import Draft
from ..driver import windows
from ..effects import Effect, ProgramInstalled
from ..fetching import fetch
from ..journal import Why
from ..place import Ground, Place
from ..undoing import Sight
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused


def _door(work: Work) -> Door:
    return Door(work.data.state, work.system, cancel=work.cancel)


def _needs(catalog: Catalog, wanted: Recommendation) -> tuple[VcNeed, ...]:
    """What is said of the frameworks that come."""
    torch, flow = wanted.pytorch, wanted.tensorflow
    found = (
        catalog.vc_need(torch.version) if torch is not None else None,
        catalog.vc_need_tensorflow(flow.version) if flow is not None else None,
    )
    return tuple(need for need in found if need is not None)


def _lacking(need: VcNeed, tools: Tools) -> bool:
    here, lowest, libraries = tools.vc_redist, numbers(need.lowest), tools.vc_libraries
    old = lowest is not None and (numbers(here) or ()) < lowest
    # An older runtime has not all the files that a newer build asks for.
    partly = libraries is not None and not set(need.needs_files) <= set(libraries)
    return here is None or old or partly


class VcRedist(Kind):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "vc-redist"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = ("vc-redist",)

    def __init__(self, door: Callable[[Work], Door] = _door) -> None:
        self._door = door

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where the machine is known not to have the runtime that what comes needs, or only too old."""
        tools = draft.machine.tools
        if draft.machine.os.system != "windows" or tools is None:
            return ()
        if not any(_lacking(need, tools) for need in _needs(draft.catalog, draft.recommendation)):
            return ()
        package = draft.catalog.vc_redist.package
        # What the address gives changes from month to month: its signer is checked in place of a hash.
        file = PlanFile(url=package.url, name=PurePosixPath(urlsplit(package.url).path).name, sha256=package.sha256)
        return (
            Step(
                id="vc-redist",
                kind=self.name,
                code="vc-redist",
                bytes=draft.file_extent(package.url).bytes,
                needs_admin=True,
                commands=((file.name, *package.arguments),),
                files=(file,),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """The catalog's own file."""
        refuse_fields(step, files=True)
        package = ground.catalog.vc_redist.package
        if [(file.url, file.sha256) for file in step.files] != [(package.url, package.sha256)]:
            raise refused(f"{step.id}: files")
        if step.files[0].name != PurePosixPath(urlsplit(package.url).path).name:
            raise refused(f"{step.id}: {step.files[0].name}")

    def done(self, step: Step, work: Work) -> Outcome | None:  # noqa: ARG002
        """Every library that is asked for is here, whoever put it there."""
        needs, folder = _needs(work.catalog, work.plan.recommendation), work.system.shared_libraries()
        if not needs or folder is None:
            return None
        here = numbers(work.system.visual_cpp())
        for need in needs:
            if not all((folder / name).is_file() for name in need.needs_files):
                return None
            # A release that says which version it needs goes by what the installer wrote down, besides.
            lowest = numbers(need.lowest)
            if lowest is not None and (here is None or here < lowest):
                return None
        return Outcome(code="progress.vc-redist-here")

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises RightsRefused, AppError("vc-redist-failed"), and what fetching raises."""
        file, package = step.files[0], work.catalog.vc_redist.package
        # Never taken from an earlier time: nobody could say whether it is still the current one.
        path = work.data.files / file.name
        path.unlink(missing_ok=True)
        (path,) = fetch(work, [Wanted(url=file.url, path=path, sha256=file.sha256, bytes=file.bytes)])
        with work.effect(step, ProgramInstalled(name=self.name, after=package.signer)):
            answer = self._door(work).vc_redist(path, file.sha256)
            restart = windows.runtime_restart(answer.exit_code or 0, package)
        return Outcome(code="progress.vc-redist", restart=restart)

    def look(self, effect: Effect, place: Place) -> Sight:
        """As its installer wrote it down."""
        if not isinstance(effect, ProgramInstalled):
            return super().look(effect, place)
        return "made" if place.system.visual_cpp() is not None else "before"

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """Other programs use it, too: it stays."""
        if not isinstance(effect, ProgramInstalled):
            return super().undo(effect, place)
        return None if self.look(effect, place) == "before" else "system"

    def leaving(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """Where Windows removes it."""
        return "leave-vc-redist", {}
