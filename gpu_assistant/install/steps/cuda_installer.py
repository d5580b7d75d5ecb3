"""The CUDA Toolkit by NVIDIA's own installer for Windows, for who wants it in the system's folder: through the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ...core.plan import Plan, Step
from ...fetch.wanted import Wanted
from .. import toolkit_installer as own
from ..door.ask import Door
from ..draft import UNKNOWN_SIZE, Draft
from ..effects import Effect, ProgramInstalled
from ..fetching import Getting, fetch
from ..journal import Why
from ..place import Ground, Place
from ..undoing import Sight
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...catalog.toolkits import Installer, ToolkitInstall


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`."""

    version: str


def _door(work: Work) -> Door:
    return Door(work.data.state, work.system, cancel=work.cancel)


class CudaInstaller(Kind):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "cuda-installer"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = ("cuda-installer",)

    def __init__(self, door: Callable[[Work], Door] = _door) -> None:
        self._door = door

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where the user picked this way on Windows; raises CannotSetUp."""
        version = draft.recommendation.cuda_toolkit.version
        if version is None or not own.wants_it(draft, "windows"):
            return ()
        installer, how = own.planned(draft)
        weight = UNKNOWN_SIZE if installer.bytes is None else installer.bytes
        return (
            Step(
                id=self.name,
                kind=self.name,
                code=self.name,
                data={"version": version, "path": own.folder_of(how, version), "bytes": weight},
                spec={"version": version},
                bytes=installer.bytes,
                needs_admin=True,
                commands=((installer.file, *how.words(version)),),
                files=(own.file_of(installer),),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The catalog's own file of a version that it knows, with a checksum."""
        refuse_fields(step, files=True, spec=True)
        installer, _ = _known(step, ground.catalog)
        here = plan.simulated or ground.system.name == "windows"
        if step.files != (own.file_of(installer),) or not here:
            raise refused(f"{step.id}: files")

    def gather(self, step: Step, getting: Getting) -> tuple[Wanted, ...]:
        """The installer, by whichever checksum its publisher gives."""
        installer, _ = _known(step, getting.catalog)
        return (own.wanted(installer, getting.data.files),)

    def done(self, step: Step, work: Work) -> Outcome | None:
        """This very version stands where its installer puts it."""
        version = spec_of(step, Spec).version
        _, how = _known(step, work.catalog)
        if own.here(work.system, how, version) != version:
            return None
        return Outcome(code="progress.toolkit-installed", data={"version": version})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises RightsRefused, AppError("toolkit-installer-failed"), and what fetching and the door raise."""
        version = spec_of(step, Spec).version
        installer, how = _known(step, work.catalog)
        (path,) = fetch(work, [own.wanted(installer, work.data.files)])
        effect = ProgramInstalled(
            name=f"CUDA Toolkit {version.rpartition('.')[0]}",
            after=version,
            before=own.here(work.system, how, version),
            more={"folder": own.folder_name(how, version)},
        )
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.toolkit-asking")
        with work.effect(step, effect):
            answer = self._door(work).cuda_toolkit(path, version)
            whole = own.here(work.system, how, version) == version
            restart = own.wants_restart(answer.exit_code or 0, version, how, whole=whole)
        return Outcome(code="progress.toolkit-installed", data={"version": version}, restart=restart)

    def look(self, effect: Effect, place: Place) -> Sight:
        """By what stands in the installer's folder."""
        if not isinstance(effect, ProgramInstalled):
            return super().look(effect, place)
        there = _standing(effect, place)
        if there == effect.before:
            return "before"
        return "made" if there == effect.after else "changed"

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """Other programs may have found it since: it stays, and the step's words say where Windows removes it."""
        if not isinstance(effect, ProgramInstalled):
            return super().undo(effect, place)
        return None if self.look(effect, place) == "before" else "needed"


def _known(step: Step, catalog: Catalog) -> tuple[Installer, ToolkitInstall]:
    version = spec_of(step, Spec).version
    installer, how = own.installer_of(catalog, version, "windows"), catalog.cuda.how("windows")
    if installer is None or how is None or how.signer is None:
        raise refused(f"{step.id}: {version}")
    return installer, how


def _standing(effect: ProgramInstalled, place: Place) -> str | None:
    """The toolkit in the folder that the effect names."""
    found = (folder for folder in place.system.cuda_folders() if folder.name == effect.more.get("folder"))
    return next((own.installed_version(folder) for folder in found), None)
