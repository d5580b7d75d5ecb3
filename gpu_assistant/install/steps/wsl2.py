"""A Linux inside Windows, for what uses the card only there: set up where the user asked for it, else shown.

Windows' own program does it: its parts of Windows through the door, for everybody; then, after a restart, the Linux
itself, for this user alone. A name and a password there nobody but the user can choose, and the setup here goes on
without all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ...core.errors import AppError
from ...core.plan import Step
from ...core.types import Value
from ...core.versions import version_text
from ...system.base import Processes, WslStatus
from ..elevation.client import ElevationClient
from ..elevation.helper import WSL_ENVIRONMENT, WSL_TIMEOUT_S
from ..elevation.protocol import find_wsl, wsl_route
from ..host import Host
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from .base import StepKind, refused
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.software import TensorFlowRoute


OFFER_CODE = "tensorflow-wsl2"
SHOW_CODE, INSTALL_CODE = "wsl2", "wsl2-install"
PLATFORM_PROGRAM, LINUX_PROGRAM = "WSL2", "WSL2 Linux"


def _wsl_status(system: Processes) -> WslStatus:
    return system.windows.wsl() if system.windows is not None else WslStatus()


def _elevation_client(context: InstallContext) -> ElevationClient:
    return ElevationClient(context.data.state, context.system, cancel=context.cancel)


class Wsl2Install(StepKind):
    """Planned where the advice offers it; `door` replaces the way to administrator rights."""

    name: ClassVar[str] = "wsl2"
    external_installer: ClassVar[bool] = True

    def __init__(self, make_client: Callable[[InstallContext], ElevationClient] = _elevation_client) -> None:
        self._make_client = make_client

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where a route of the catalog leads through it and says how it is set up."""
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
        """There is a Linux already; or it is left to the user."""
        here = _wsl_status(context.system)
        if here.ready and here.distributions:
            return Outcome(code="progress.wsl-here", data={"name": here.distributions[0]})
        if step.code == SHOW_CODE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, AppError: wsl-missing, wsl-failed, wsl-not-ready, wsl-linux-failed."""
        route = wsl_route(context.catalog)
        if route is None:
            raise refused(step.id)
        if not _wsl_status(context.system).ready:
            needs_restart = self._enable_platform(step, context, route)
            if needs_restart:
                return Outcome(code="progress.wsl-restart", restart=True)
        windows = context.system.windows
        path = find_wsl(windows.system32_folder() if windows is not None else None)
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="installing", code="progress.wsl-linux"
        )
        with context.effect(step, ProgramInstalled(name=LINUX_PROGRAM, after="2")):
            finished = context.system.run(
                [path, *route.user_words],
                timeout=WSL_TIMEOUT_S,
                environ=WSL_ENVIRONMENT,
                cwd=path.parent,
                cancel=context.cancel,
                on_line=context.reporter.log,
            )
            if finished.returncode != 0:
                raise AppError(
                    "wsl-linux-failed", status=finished.returncode, detail=_last_line(finished.stdout + finished.stderr)
                )
        return Outcome(code="progress.wsl-done")

    def _enable_platform(self, step: Step, context: InstallContext, route: TensorFlowRoute) -> bool:
        """Whether the parts of Windows that are there now work only after a restart."""
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.wsl-asking"
        )
        with context.effect(step, ProgramInstalled(name=PLATFORM_PROGRAM, after="2")):
            answer = self._make_client(context).enable_wsl_platform()
            if answer.exit_code not in (0, *route.restart_codes):
                raise AppError("wsl-failed", status=answer.exit_code, detail=_last_line("\n".join(answer.lines)))
        if _wsl_status(context.system).ready:
            return False
        # It says 0 with a restart, too: that Windows waits for one is seen elsewhere.
        if answer.exit_code in route.restart_codes or context.system.pending_reboot():
            return True
        raise AppError("wsl-not-ready")

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """By what Windows wrote down; parts that wait for a restart are not there yet."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        here = _wsl_status(host.system)
        there = bool(here.distributions) if effect.name == LINUX_PROGRAM else here.ready
        return "made" if there else "before"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """It may hold the user's own files by then: it stays, and the step's words say how it is removed."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """How each half of it is removed."""
        return ("leave-wsl-linux" if effect.name == LINUX_PROGRAM else "leave-wsl"), {}


def _setup_commands(route: TensorFlowRoute) -> tuple[tuple[str, ...], ...]:
    return (route.setup[0], *route.system_words), (route.setup[0], *route.user_words)


def _last_line(text: str) -> str | None:
    lines = [line.strip() for line in text.replace("\0", "").splitlines() if line.strip()]
    return lines[-1] if lines else None
