"""The CUDA Toolkit by NVIDIA's own installer for Windows, for who wants it in the system's folder: through the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ...core.names import Value
from ...core.plan import Step
from .. import toolkit_installer as own
from ..door.ask import Door
from ..draft import Draft
from ..effects import Effect, ProgramInstalled
from ..fetching import fetch
from ..journal import Why
from ..place import Place
from ..undoing import Sight
from ..work import Outcome, Work
from .by_installer import ByInstaller

if TYPE_CHECKING:
    from ...catalog.toolkits import ToolkitInstall
    from ...core.machine import SystemName


def _door(work: Work) -> Door:
    return Door(work.data.state, work.system, cancel=work.cancel)


class CudaInstaller(ByInstaller):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "cuda-installer"
    system: ClassVar[SystemName] = "windows"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = ("cuda-installer",)

    def __init__(self, door: Callable[[Work], Door] = _door) -> None:
        self._door = door

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where the user picked this way on Windows; raises CannotSetUp."""
        version = draft.recommendation.cuda_toolkit.version
        if version is None or not own.wants_it(draft, self.system):
            return ()
        installer, how = own.planned(draft)
        command = (installer.file, *how.words(version))
        return (self.step(draft, version, own.folder_of(how, version), command, needs_admin=True),)

    def can_be_run(self, how: ToolkitInstall) -> bool:
        """By whom it must be signed."""
        return how.signer is not None

    def done(self, step: Step, work: Work) -> Outcome | None:
        """This very version stands where its installer puts it."""
        version, _, how = self.known(step, work.catalog)
        if own.here(work.system, how, version) != version:
            return None
        return Outcome(code="progress.toolkit-installed", data={"version": version})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises RightsRefused, AppError("toolkit-installer-failed"), and what fetching and the door raise."""
        version, installer, how = self.known(step, work.catalog)
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
        return None if self.look(effect, place) == "before" else "system"

    def leaving(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """Where Windows removes it."""
        return "leave-cuda", {"version": effect.after}


def _standing(effect: ProgramInstalled, place: Place) -> str | None:
    """The toolkit in the folder that the effect names."""
    found = (folder for folder in place.system.cuda_folders() if folder.name == effect.more.get("folder"))
    return next((own.installed_version(folder) for folder in found), None)
