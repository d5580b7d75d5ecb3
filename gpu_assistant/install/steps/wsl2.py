"""WSL2, a Linux inside Windows, for frameworks that use the GPU only there.

wsl.exe installs it in two parts: the Windows features with administrator rights, for all users; then, after a restart,
the distribution, for this user. The user name and password in it are left to the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...core.errors import AppError
from ...core.plan import Step
from ...core.types import Value
from ...core.versions import version_text
from ...system.base import Processes, WslStatus
from ..elevation.protocol import WSL_ENVIRONMENT, WSL_TIMEOUT_S, find_wsl, wsl_route
from ..host import Host
from ..journal.log import ProgramInstalled
from ..journal.revert import EffectState
from .base import ProgramInstall, plan_error
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.libraries import TensorFlowRoute


OFFER_CODE = "tensorflow-wsl2"
SHOW_CODE, INSTALL_CODE = "wsl2", "wsl2-install"
PLATFORM_PROGRAM, LINUX_PROGRAM = "WSL2", "WSL2 Linux"


class Wsl2Install(ProgramInstall):
    """Planned if the recommendation offers it: installed if the user chose it, else only shown."""

    name: ClassVar[str] = "wsl2"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if it is recommended and the catalog has the commands."""
        offer = next(
            (alternative for alternative in builder.recommendation.alternatives if alternative.code == OFFER_CODE), None
        )
        route = wsl_route(builder.catalog)
        if offer is None or route is None or not route.setup:
            return ()
        tensorflow = builder.recommendation.tensorflow
        is_requested = tensorflow is not None and tensorflow.wsl
        return (
            Step(
                id="wsl2",
                kind=self.name,
                code=INSTALL_CODE if is_requested else SHOW_CODE,
                data={
                    "gpu": offer.data.get("gpu"),
                    "commands": " ".join(route.setup),
                    "driver": version_text(route.lowest_driver),
                },
                bytes=None,
                needs_admin=is_requested,
                needs_reboot=is_requested,
                commands=_setup_commands(route) if is_requested else (route.setup,),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """A distribution is installed, or installing it is left to the user."""
        wsl = _wsl_status(context.system)
        if wsl.ready and wsl.distributions:
            return Outcome(code="progress.wsl-here", data={"name": wsl.distributions[0]})
        if step.code == SHOW_CODE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises ElevationDenied; AppError: wsl-missing, -outdated, -failed, -not-ready, -linux-failed."""
        route = wsl_route(context.catalog)
        if route is None:
            raise plan_error(step.id)
        if not _wsl_status(context.system).ready:
            needs_restart = self._enable_platform(step, context, route)
            if needs_restart:
                return Outcome(code="progress.wsl-restart", restart=True)
        windows = context.system.windows
        path = find_wsl(windows.system32_folder() if windows is not None else None)
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="installing", code="progress.wsl-linux"
        )
        with context.effect(step, ProgramInstalled(name=LINUX_PROGRAM, version="2")):
            finished = context.system.run(
                [path, *route.user_words],
                timeout=WSL_TIMEOUT_S,
                environ=WSL_ENVIRONMENT,
                cwd=path.parent,
                cancel=context.cancel,
                on_line=context.reporter.log,
            )
            if finished.returncode != 0:
                raise _setup_error("wsl-linux-failed", finished.returncode, finished.stdout + finished.stderr, route)
        return Outcome(code="progress.wsl-done")

    def _enable_platform(self, step: Step, context: InstallContext, route: TensorFlowRoute) -> bool:
        """Enable the Windows features; returns whether they work only after a restart."""
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.wsl-asking"
        )
        with context.effect(step, ProgramInstalled(name=PLATFORM_PROGRAM, version="2")):
            answer = self._make_client(context).enable_wsl_platform()
            if answer.exit_code not in (0, *route.restart_codes):
                raise _setup_error("wsl-failed", answer.exit_code, "\n".join(answer.lines), route)
        if _wsl_status(context.system).ready:
            return False
        # wsl.exe may exit with 0 although a restart is needed; Windows records that elsewhere.
        if answer.exit_code in route.restart_codes or context.system.pending_reboot():
            return True
        raise AppError("wsl-not-ready")

    def program_state(self, effect: ProgramInstalled, host: Host) -> EffectState:
        """As Windows has recorded it; features that need a restart are still absent."""
        wsl = _wsl_status(host.system)
        is_installed = bool(wsl.distributions) if effect.name == LINUX_PROGRAM else wsl.ready
        return "applied" if is_installed else "absent"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        return ("leave-wsl-linux" if effect.name == LINUX_PROGRAM else "leave-wsl"), {}


def _wsl_status(system: Processes) -> WslStatus:
    return system.windows.wsl() if system.windows is not None else WslStatus()


def _setup_commands(route: TensorFlowRoute) -> tuple[tuple[str, ...], ...]:
    return (route.setup[0], *route.system_words), (route.setup[0], *route.user_words)


def _setup_error(code: str, status: int | None, output: str, route: TensorFlowRoute) -> AppError:
    """AppError("wsl-outdated") for the help of an old wsl.exe, else `code`."""
    if route.help_words and all(word in output for word in route.help_words):
        return AppError("wsl-outdated")
    return AppError(code, status=status, detail=_last_line(output))


def _last_line(text: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else None
