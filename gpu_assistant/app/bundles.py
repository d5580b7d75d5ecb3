"""All files of a plan in a folder, for a computer without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .road import Road

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.recommendation import Channel, Recommendation
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
        self, machine: Machine, recommendation: Recommendation, folder: Path, *, channel: Channel = "studio"
    ) -> CreateJob:
        """Gather all that a plan for the machine needs in a folder; a stopped one goes on where it was."""
        from ..install.bundle.create import CreateJob
        from ..install.place import Ground
        from ..install.target import target_of

        # Where the environment will be, only the other computer knows.
        plan = self.plan(machine, recommendation, self.data.environments / recommendation.goal)
        (resolve,) = (step for step in plan.steps if step.kind == "resolve")
        target = target_of(machine.os, str(resolve.data["release"]))
        ground = Ground(self.system, self.data, self.catalog)
        return CreateJob(plan, target, folder, ground, channel=channel, mirrors=self.mirrors)

    def check_bundle(self, folder: Path) -> CheckJob:
        """Read every byte of a bundle and compare it with its list."""
        from ..install.bundle.check import CheckJob

        return CheckJob(folder)
