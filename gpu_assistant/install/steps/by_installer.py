"""What the two ways to a CUDA Toolkit by NVIDIA's own installer share: Windows' through the door, Linux' without."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ...core.names import Value
from ...core.plan import Plan, Step
from ...fetch.wanted import Wanted
from .. import toolkit_installer as own
from ..draft import UNKNOWN_SIZE, Draft
from ..fetching import Getting
from ..place import Ground
from .kind import Kind, refuse_fields, refused, spec_of

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...catalog.toolkits import Installer, ToolkitInstall
    from ...core.machine import SystemName


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`."""

    version: str


class ByInstaller(Kind):
    """A step that fetches the catalog's own file of one version and runs it, on one `system`."""

    system: ClassVar[SystemName]

    def step(self, draft: Draft, version: str, folder: str, command: tuple[str, ...], *, needs_admin: bool) -> Step:
        """As a plan has it, the toolkit going into `folder`; raises CannotSetUp."""
        installer, _ = own.planned(draft)
        data: dict[str, Value] = {
            "version": version,
            "path": folder,
            "bytes": UNKNOWN_SIZE if installer.bytes is None else installer.bytes,
        }
        return Step(
            id=self.name,
            kind=self.name,
            code=self.name,
            data=data,
            spec={"version": version},
            bytes=installer.bytes,
            needs_admin=needs_admin,
            commands=(command,),
            files=(own.file_of(installer),),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The catalog's own file of a version that it knows, with a checksum."""
        refuse_fields(step, files=True, spec=True)
        _, installer, _ = self.known(step, ground.catalog)
        here = plan.simulated or ground.system.name == self.system
        if step.files != (own.file_of(installer),) or not here:
            raise refused(f"{step.id}: files")

    def gather(self, step: Step, getting: Getting) -> tuple[Wanted, ...]:
        """The installer, by whichever checksum its publisher gives."""
        _, installer, _ = self.known(step, getting.catalog)
        return (own.wanted(installer, getting.data.files),)

    def known(self, step: Step, catalog: Catalog) -> tuple[str, Installer, ToolkitInstall]:
        """A step's version, its file and how that is run; raises CallError("plan-refused") for any other."""
        version = spec_of(step, Spec).version
        installer, how = own.installer_of(catalog, version, self.system), catalog.cuda.how(self.system)
        if installer is None or how is None or not self.can_be_run(how):
            raise refused(f"{step.id}: {version}")
        return version, installer, how

    def can_be_run(self, how: ToolkitInstall) -> bool:
        """Whether the catalog tells what this way needs."""
        raise NotImplementedError
