"""The CUDA Toolkit by NVIDIA's own installer for Windows, for who wants it in the system's folder: through the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ...core.names import Value
from ...core.plan import Step
from .. import toolkit_installer as own
from ..door.ask import ElevationClient
from ..draft import PlanBuilder
from ..effects import Effect, ProgramInstalled
from ..fetching import download_files
from ..journal import RetentionReason
from ..place import Host
from ..undoing import EffectState
from ..work import Outcome, InstallContext
from .by_installer import NvidiaInstaller

if TYPE_CHECKING:
    from ...catalog.toolkits import ToolkitInstallerSettings
    from ...core.machine import SystemName


def _elevation_client(context: InstallContext) -> ElevationClient:
    return ElevationClient(context.data.state, context.system, cancel=context.cancel)


class WindowsInstaller(NvidiaInstaller):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "cuda-installer"
    system: ClassVar[SystemName] = "windows"
    external_installer: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = ("cuda-installer",)

    def __init__(self, make_client: Callable[[InstallContext], ElevationClient] = _elevation_client) -> None:
        self._make_client = make_client

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the user picked this way on Windows; raises CannotSetUp."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not own.is_requested(builder, self.system):
            return ()
        installer, install_options = own.planned_installer(builder)
        command = (installer.file, *install_options.installer_arguments(version))
        return (self.make_step(builder, version, own.default_folder(install_options, version), command, needs_admin=True),)

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """By whom it must be signed."""
        return install_options.signer is not None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """This very version stands where its installer puts it."""
        version, _, install_options = self.catalog_installer(step, context.catalog)
        if own.installed_toolkit(context.system, install_options, version) != version:
            return None
        return Outcome(code="progress.toolkit-installed", data={"version": version})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, AppError("toolkit-installer-failed"), and what fetching and the door raise."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        (path,) = download_files(context, [own.download_request(installer, context.data.files)])
        effect = ProgramInstalled(
            name=f"CUDA Toolkit {version.rpartition('.')[0]}",
            after=version,
            before=own.installed_toolkit(context.system, install_options, version),
            more={"folder": own.default_folder_name(install_options, version)},
        )
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.toolkit-asking")
        with context.record_effect(step, effect):
            answer = self._make_client(context).install_cuda_toolkit(path, version)
            is_complete = own.installed_toolkit(context.system, install_options, version) == version
            restart = own.needs_restart(answer.exit_code or 0, version, install_options, is_installed=is_complete)
        return Outcome(code="progress.toolkit-installed", data={"version": version}, restart=restart)

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """By what stands in the installer's folder."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        installed_version = _effect_version(effect, host)
        if installed_version == effect.before:
            return "before"
        return "made" if installed_version == effect.after else "changed"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Other programs may have found it since: it stays, and the step's words say where Windows removes it."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """Where Windows removes it."""
        return "leave-cuda", {"version": effect.after}


def _effect_version(effect: ProgramInstalled, host: Host) -> str | None:
    """The toolkit in the folder that the effect names."""
    folders = (folder for folder in host.system.cuda_folders() if folder.name == effect.more.get("folder"))
    return next((own.installed_version(folder) for folder in folders), None)
