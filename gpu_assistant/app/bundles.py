"""All files of a plan in a folder, for a computer without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .road import Road

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.plan import Plan
    from ..core.recommendation import Channel, Choice, Recommendation
    from ..fetch.pace import Pace
    from ..install.bundle.check import CheckJob
    from ..install.bundle.contents import Contents
    from ..install.bundle.create import CreateJob


class Bundles(Road):
    """All files of a plan in a folder, for a computer without internet."""

    def read_bundle(self, folder: Path) -> Contents:
        """What a bundle was made for and holds; raises CallError. Its files are read when they are used."""
        from ..install.bundle.contents import read

        return read(folder)

    def create_bundle(
        self,
        machine: Machine,
        recommendation: Recommendation,
        folder: Path,
        *,
        channel: Channel = "studio",
        choice: Choice | None = None,
        pace: Pace | None = None,
    ) -> CreateJob:
        """Gather all that a plan for the machine needs in a folder; a stopped one goes on where it was.

        Its downloads go at `pace`, else as fast as the settings allow.
        """
        from ..install.bundle.create import CreateJob
        from ..install.place import Ground
        from ..install.planner import make_plan
        from ..install.target import target_of

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
        (resolve,) = (step for step in plan.steps if step.kind == "resolve")
        target = target_of(machine.os, str(resolve.data["release"]))
        ground = Ground(self.system, self.data, self.catalog)
        return CreateJob(
            plan,
            target,
            folder,
            ground,
            channel=channel,
            choice=choice,
            mirrors=self.mirrors,
            pace=pace or self.download_pace(),
        )

    def check_bundle(self, folder: Path, *, here: bool = False) -> CheckJob:
        """Read every byte of a bundle and compare it with its list; with `here`, ask too whether this computer is of
        the kind that it was made for.
        """
        from ..install.bundle.check import CheckJob

        simulated = self.simulated_machine
        system = simulated.os if simulated is not None else self.system.operating_system()
        return CheckJob(folder, system if here else None)

    def recommend_from(self, folder: Path, machine: Machine) -> Recommendation:
        """What a bundle was made for, on this machine; raises what reading it and `recommend` raise."""
        contents = self.read_bundle(folder)
        return self.recommend(
            machine, goal=contents.goal, channel=contents.channel, choice=contents.picks, bundle=folder
        )

    def plan_from(self, folder: Path, machine: Machine, recommendation: Recommendation, environment: Path) -> Plan:
        """The steps that take every file from a bundle; raises CallError("bundle-other-machine"),
        AppError("bundle-lacks").
        """
        from ..install.bundle.shelf import Shelf
        from ..install.target import target_of

        plan = self.plan(machine, recommendation, environment, bundle=folder)
        shelf = Shelf(folder)
        shelf.refuse_strange(plan, target_of(machine.os, shelf.contents.wish.label))
        return plan
