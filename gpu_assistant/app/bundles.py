"""All files of a plan in a folder, for a computer without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .setup import SetupService

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.plan import Plan
    from ..core.recommendation import Choice, Recommendation
    from ..core.types import Channel
    from ..fetch.rate import RateLimiter
    from ..install.bundle.format import BundleContents, CheckBundleJob
    from ..install.jobs.create_bundle import CreateBundleJob


class BundleService(SetupService):
    """All files of a plan in a folder, for a computer without internet."""

    def read_bundle(self, folder: Path) -> BundleContents:
        """What a bundle was made for and holds; raises CallError. Its files are read when they are used."""
        from ..install.bundle.format import read_contents

        return read_contents(folder)

    def create_bundle(
        self,
        machine: Machine,
        recommendation: Recommendation,
        folder: Path,
        *,
        channel: Channel = "studio",
        choice: Choice | None = None,
        pace: RateLimiter | None = None,
    ) -> CreateBundleJob:
        """Gather all that a plan for the machine needs in a folder; a stopped one goes on where it was.

        Its downloads go at `pace`, else as fast as the settings allow.
        """
        from ..install.host import ValidationContext
        from ..install.jobs.create_bundle import CreateBundleJob
        from ..install.packages.requirements import platform_for
        from ..install.plan.planner import make_plan

        # Where the environment will be, only the other computer knows; nothing of the plan is carried out here.
        plan = make_plan(
            machine,
            recommendation,
            self.catalog,
            data=self.data,
            environment=self.data.environments / recommendation.goal,
            wheelhouse=self.wheelhouse,
            simulated=True,
        )
        (resolve_step,) = (step for step in plan.steps if step.kind == "resolve")
        platform = platform_for(machine.os, str(resolve_step.data["release"]))
        validation_context = ValidationContext(self.system, self.data, self.catalog)
        return CreateBundleJob(
            plan,
            platform,
            folder,
            validation_context,
            channel=channel,
            choice=choice,
            mirrors=self.mirrors,
            rate_limiter=pace or self.rate_limiter(),
        )

    def check_bundle(self, folder: Path, *, match_computer: bool = False) -> CheckBundleJob:
        """Read every byte of a bundle and compare it with its list; with `here`, ask too whether this computer is of
        the kind that it was made for.
        """
        from ..install.bundle.format import CheckBundleJob

        simulated = self.simulated_machine
        operating_system = simulated.os if simulated is not None else self.system.operating_system()
        return CheckBundleJob(folder, operating_system if match_computer else None)

    def recommend_for_bundle(self, folder: Path, machine: Machine) -> Recommendation:
        """What a bundle was made for, on this machine; raises what reading it and `recommend` raise."""
        contents = self.read_bundle(folder)
        return self.recommend(
            machine, goal=contents.goal, channel=contents.channel, choice=contents.pinned_choice, bundle=folder
        )

    def plan_for_bundle(
        self, folder: Path, machine: Machine, recommendation: Recommendation, environment: Path
    ) -> Plan:
        """The steps that take every file from a bundle; raises CallError("bundle-other-machine"),
        AppError("bundle-lacks").
        """
        from ..install.bundle.source import BundleSource
        from ..install.packages.requirements import platform_for

        plan = self.plan(machine, recommendation, environment, bundle=folder)
        bundle_source = BundleSource(folder)
        bundle_source.check_plan(plan, platform_for(machine.os, bundle_source.contents.wish.label))
        return plan
