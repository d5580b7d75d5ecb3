"""Bundles: all files of a plan in a folder, for a computer without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.plan import Plan
    from ..core.recommendation import Choice, Recommendation
    from ..core.types import Channel
    from ..fetch.rate import RateLimiter
    from ..install.bundle.format import BundleContents
    from ..install.jobs.check_bundle import CheckBundleJob
    from ..install.jobs.create_bundle import CreateBundleJob
    from .context import AppContext
    from .setup import SetupService


class BundleService:
    """Creates bundles here, and reads and installs them on the other computer."""

    def __init__(self, context: AppContext, setup: SetupService) -> None:
        self._context = context
        self._setup = setup

    def read(self, folder: Path) -> BundleContents:
        """What a bundle was made for and its list of files, which are not read yet; raises UsageError."""
        from ..install.bundle.format import read_contents

        return read_contents(folder)

    def create(
        self,
        machine: Machine,
        recommendation: Recommendation,
        folder: Path,
        *,
        channel: Channel = "studio",
        choice: Choice | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> CreateBundleJob:
        """Collect all files that a plan for the machine needs in a folder; a stopped job continues there.

        `rate_limiter` limits the downloads, else the settings do.
        """
        from ..install.host import PreviewContext
        from ..install.jobs.create_bundle import CreateBundleJob
        from ..install.packages.requirements import platform_for
        from ..install.plan.planner import make_plan

        # Only the list of files matters: the other computer makes its own plan with its own folder.
        plan = make_plan(
            machine,
            recommendation,
            self._context.catalog,
            data=self._context.data,
            environment=self._context.data.environments / recommendation.goal,
            wheelhouse=self._context.wheelhouse,
            simulated=True,
        )
        (resolve_step,) = (step for step in plan.steps if step.kind == "resolve")
        platform = platform_for(machine.os, str(resolve_step.data["release"]))
        preview_context = PreviewContext(self._context.system, self._context.data, self._context.catalog)
        return CreateBundleJob(
            plan,
            platform,
            folder,
            preview_context,
            channel=channel,
            choice=choice,
            mirrors=self._context.mirrors,
            rate_limiter=rate_limiter or self._context.rate_limiter(),
        )

    def check(self, folder: Path, *, match_computer: bool = False) -> CheckBundleJob:
        """Verify every file of a bundle against its list.

        With `match_computer`, also check that the bundle was made for this operating system and architecture.
        """
        from ..install.jobs.check_bundle import CheckBundleJob

        simulated = self._context.simulated_machine
        operating_system = simulated.os if simulated is not None else self._context.system.operating_system()
        return CheckBundleJob(folder, operating_system if match_computer else None)

    def recommend(self, folder: Path, machine: Machine) -> Recommendation:
        """The recommendation that a bundle was made for; raises what `read` and `SetupService.recommend` raise."""
        contents = self.read(folder)
        return self._setup.recommend(
            machine, goal=contents.goal, channel=contents.channel, choice=contents.pinned_choice, bundle=folder
        )

    def plan(self, folder: Path, machine: Machine, recommendation: Recommendation, environment: Path) -> Plan:
        """The steps that take every file from a bundle; raises UsageError("bundle-other-machine"),
        AppError("bundle-lacks").
        """
        from ..install.bundle.source import BundleSource
        from ..install.packages.requirements import platform_for

        plan = self._setup.plan(machine, recommendation, environment, bundle=folder)
        bundle_source = BundleSource(folder)
        bundle_source.check_plan(plan, platform_for(machine.os, bundle_source.contents.request.label))
        return plan
