"""Microsoft's Visual C++ runtime on Windows, where there is none: the libraries of PyTorch and TensorFlow do not load
without it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import ClassVar
from urllib.parse import urlsplit

from ...catalog.records.software import VcRuntimeRequirement
from ...catalog.store import Catalog
from ...core.machine import Tools
from ...core.plan import PlanFile, Step
from ...core.recommendation import Recommendation
from ...core.types import Value
from ...core.versions import Version
from ...fetch.request import DownloadRequest
from ..elevation.client import ElevationClient
from ..host import Host
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from . import nvidia_driver
from .base import StepKind
from .context import InstallContext, Outcome, download_files
from .plan_builder import PlanBuilder


def _elevation_client(context: InstallContext) -> ElevationClient:
    return ElevationClient(context.data.state, context.system, cancel=context.cancel)


def _framework_needs(catalog: Catalog, recommendation: Recommendation) -> tuple[VcRuntimeRequirement, ...]:
    """What is said of the frameworks that come."""
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    framework_needs = (
        catalog.vc_requirement(torch.version) if torch is not None else None,
        catalog.tensorflow_vc_requirement(tensorflow.version) if tensorflow is not None else None,
    )
    return tuple(need for need in framework_needs if need is not None)


def _is_missing(need: VcRuntimeRequirement, tools: Tools) -> bool:
    installed, libraries = Version.parse(tools.vc_redist), tools.vc_libraries
    is_old = need.lowest is not None and (installed is None or installed < need.lowest)
    # An older runtime has not all the files that a newer build asks for.
    is_incomplete = libraries is not None and not set(need.needs_files) <= set(libraries)
    return tools.vc_redist is None or is_old or is_incomplete


class VcRedistInstall(StepKind):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "vc-redist"
    external_installer: ClassVar[bool] = True

    def __init__(self, make_client: Callable[[InstallContext], ElevationClient] = _elevation_client) -> None:
        self._make_client = make_client

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the machine is known not to have the runtime that what comes needs, or only too old."""
        tools = builder.machine.tools
        if builder.machine.os.system != "windows" or tools is None:
            return ()
        if not any(_is_missing(need, tools) for need in _framework_needs(builder.catalog, builder.recommendation)):
            return ()
        package = builder.catalog.vc_redist.package
        # What the address gives changes from month to month: its signer is checked in place of a hash.
        file = PlanFile(url=package.url, name=PurePosixPath(urlsplit(package.url).path).name, sha256=package.sha256)
        return (
            Step(
                id="vc-redist",
                kind=self.name,
                code="vc-redist",
                bytes=builder.file_extent(package.url).bytes,
                needs_admin=True,
                commands=((file.name, *package.arguments),),
                files=(file,),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """Every library that is asked for is here, whoever put it there."""
        needs, windows = _framework_needs(context.catalog, context.plan.recommendation), context.system.windows
        if not needs or windows is None:
            return None
        here, folder = Version.parse(windows.visual_cpp()), windows.system32_folder()
        for need in needs:
            if not all((folder / name).is_file() for name in need.needs_files):
                return None
            # A release that says which version it needs goes by what the installer wrote down, besides.
            if need.lowest is not None and (here is None or here < need.lowest):
                return None
        return Outcome(code="progress.vc-redist-here")

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, AppError("vc-redist-failed"), and what fetching raises."""
        file, package = step.files[0], context.catalog.vc_redist.package
        # Never taken from an earlier time: nobody could say whether it is still the current one.
        path = context.data.files / file.name
        path.unlink(missing_ok=True)
        (path,) = download_files(context.downloads, [DownloadRequest(file=file.remote, path=path)])
        with context.effect(step, ProgramInstalled(name=self.name, after=package.signer)):
            answer = self._make_client(context).install_vc_redist(path, file.sha256)
            needs_restart = nvidia_driver.vc_redist_needs_restart(answer.exit_code or 0, package)
        return Outcome(code="progress.vc-redist", restart=needs_restart)

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """As its installer wrote it down."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        windows = host.system.windows
        return "made" if windows is not None and windows.visual_cpp() is not None else "before"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Other programs use it, too: it stays."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """Where Windows removes it."""
        return "leave-vc-redist", {}
