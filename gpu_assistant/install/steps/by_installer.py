"""What the two ways to a CUDA Toolkit by NVIDIA's own installer share: Windows' through the door, Linux' without."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ...core.names import Value
from ...core.plan import Plan, Step
from ...fetch.wanted import Wanted
from .. import toolkit_installer as own
from ..draft import UNKNOWN_SIZE, PlanBuilder
from ..fetching import DownloadContext
from ..place import ValidationContext
from .kind import StepKind, check_fields, plan_refused_error, parse_spec

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...catalog.toolkits import ToolkitInstaller, ToolkitInstallerSettings
    from ...core.machine import SystemName


class InstallerSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`."""

    version: str


class NvidiaInstaller(StepKind):
    """A step that fetches the catalog's own file of one version and runs it, on one `system`."""

    system: ClassVar[SystemName]

    def make_step(self, builder: PlanBuilder, version: str, folder: str, command: tuple[str, ...], *, needs_admin: bool) -> Step:
        """As a plan has it, the toolkit going into `folder`; raises CannotSetUp."""
        installer, _ = own.planned_installer(builder)
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
            files=(own.installer_file(installer),),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """The catalog's own file of a version that it knows, with a checksum."""
        check_fields(step, allow_files=True, allow_spec=True)
        _, installer, _ = self.catalog_installer(step, context.catalog)
        is_this_system = plan.simulated or context.system.name == self.system
        if step.files != (own.installer_file(installer),) or not is_this_system:
            raise plan_refused_error(f"{step.id}: files")

    def downloads(self, step: Step, context: DownloadContext) -> tuple[Wanted, ...]:
        """The installer, by whichever checksum its publisher gives."""
        _, installer, _ = self.catalog_installer(step, context.catalog)
        return (own.download_request(installer, context.data.files),)

    def catalog_installer(self, step: Step, catalog: Catalog) -> tuple[str, ToolkitInstaller, ToolkitInstallerSettings]:
        """A step's version, its file and how that is run; raises CallError("plan-refused") for any other."""
        version = parse_spec(step, InstallerSpec).version
        installer, install_options = own.find_installer(catalog, version, self.system), catalog.cuda.installer_settings(self.system)
        if installer is None or install_options is None or not self.is_supported(install_options):
            raise plan_refused_error(f"{step.id}: {version}")
        return version, installer, install_options

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """Whether the catalog tells what this way needs."""
        raise NotImplementedError
