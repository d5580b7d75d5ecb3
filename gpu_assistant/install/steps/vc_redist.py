"""Microsoft's Visual C++ runtime on Windows, without which the libraries of PyTorch and TensorFlow do not load."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar
from urllib.parse import urlsplit

from ...catalog.records.software import VcRuntimePackage, VcRuntimeRequirement
from ...catalog.store import Catalog
from ...core import filesystem
from ...core.errors import AppError
from ...core.machine import Tools
from ...core.plan import PlanFile, Step
from ...core.recommendation import Recommendation
from ...core.types import Value
from ...core.versions import Version
from ...fetch.request import DownloadRequest
from ..host import Host
from ..journal.log import ProgramInstalled
from ..journal.revert import EffectState
from .base import ProgramInstall
from .context import InstallContext, Outcome, download_files
from .plan_builder import PlanBuilder


class VcRedistInstall(ProgramInstall):
    """Runs Microsoft's installer, whose current version is always downloaded."""

    name: ClassVar[str] = "vc-redist"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the machine is known to lack the runtime that a framework needs."""
        tools = builder.machine.tools
        if builder.machine.os.system != "windows" or tools is None:
            return ()
        if not any(_is_missing(need, tools) for need in _framework_needs(builder.catalog, builder.recommendation)):
            return ()
        package = builder.catalog.vc_redist.package
        # The file behind the address is replaced every few months: its signer is checked instead of a hash.
        file = PlanFile(url=package.url, name=PurePosixPath(urlsplit(package.url).path).name, sha256=package.sha256)
        return (
            Step(
                id="vc-redist",
                kind=self.name,
                code="vc-redist",
                bytes=builder.remote_size(package.url).bytes,
                needs_admin=True,
                commands=((file.name, *package.arguments),),
                files=(file,),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """Every library that is needed is installed."""
        needs, windows = _framework_needs(context.catalog, context.plan.recommendation), context.system.windows
        if not needs or windows is None:
            return None
        installed, folder = Version.parse(windows.visual_cpp()), windows.system32_folder()
        for need in needs:
            if not all((folder / name).is_file() for name in need.needs_files):
                return None
            # A release that needs a certain version is checked against the registered one, too.
            if need.lowest is not None and (installed is None or installed < need.lowest):
                return None
        return Outcome(code="progress.vc-redist-here")

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises ElevationDenied, AppError("vc-redist-failed"), and what `download_files` raises."""
        file, package = step.files[0], context.catalog.vc_redist.package
        # An earlier download is not used: it may be outdated.
        path = context.data.files / file.name
        filesystem.unlink(path, missing_ok=True)
        (path,) = download_files(context.downloads, [DownloadRequest(file=file.remote, path=path)])
        with context.effect(step, ProgramInstalled(name=self.name, version=package.signer)):
            answer = self._make_client(context).install_vc_redist(path, file.sha256)
            is_restart_needed = needs_restart(answer.exit_code or 0, package)
        return Outcome(code="progress.vc-redist", restart=is_restart_needed)

    def program_state(self, effect: ProgramInstalled, host: Host) -> EffectState:  # noqa: ARG002
        windows = host.system.windows
        return "applied" if windows is not None and windows.visual_cpp() is not None else "absent"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        return "leave-vc-redist", {}


def needs_restart(exit_code: int, package: VcRuntimePackage) -> bool:
    """Whether the installer asks for a restart; raises AppError("vc-redist-failed")."""
    if exit_code in package.success_codes:
        return exit_code in package.restart_codes
    raise AppError("vc-redist-failed", status=exit_code)


def _framework_needs(catalog: Catalog, recommendation: Recommendation) -> tuple[VcRuntimeRequirement, ...]:
    """What the frameworks to be installed need of the runtime, as far as the catalog says."""
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    framework_needs = (
        catalog.vc_requirement(torch.version) if torch is not None else None,
        catalog.tensorflow_vc_requirement(tensorflow.version) if tensorflow is not None else None,
    )
    return tuple(need for need in framework_needs if need is not None)


def _is_missing(need: VcRuntimeRequirement, tools: Tools) -> bool:
    installed, libraries = Version.parse(tools.vc_redist), tools.vc_libraries
    is_old = need.lowest is not None and (installed is None or installed < need.lowest)
    # An older runtime lacks files that newer builds need.
    is_incomplete = libraries is not None and not set(need.needs_files) <= set(libraries)
    return tools.vc_redist is None or is_old or is_incomplete
