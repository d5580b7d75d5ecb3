"""The road of a setup: machine, recommendation, plan, install, proof, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import json, paths
from ..core.errors import CallError
from .base import Base

if TYPE_CHECKING:
    from ..advise.options import Options
    from ..core.machine import Machine
    from ..core.names import EnvironmentKind
    from ..core.plan import Interrupted, Plan
    from ..core.recommendation import Channel, Choice, Goal, LocalWheel, Recommendation
    from ..detect.job import DetectJob
    from ..fetch.job import DownloadJob
    from ..fetch.pace import Pace
    from ..install.environments import Environment
    from ..install.farewell import FarewellJob
    from ..install.pricing import PriceJob
    from ..install.runner import InstallJob
    from ..install.uninstall import UninstallJob
    from ..verify.job import VerifyJob


class Road(Base):
    """The road of a setup: machine, recommendation, plan, install, proof, and the way back."""

    def detect(self) -> DetectJob:
        """Look at this machine (a simulated one is returned as it stands)."""
        from ..detect.job import DetectJob

        return DetectJob(self.system, self.catalog, simulated=self.simulated_machine)

    def local_wheels(self, bundle: Path | None = None) -> tuple[LocalWheel, ...]:
        """What the wheelhouse offers, or a bundle in its place."""
        from ..install.bundle.contents import WHEELS
        from ..install.wheelhouse import scan

        folder = bundle / WHEELS if bundle is not None else self.wheelhouse
        return scan(folder) if folder is not None else ()

    def recommend(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
        bundle: Path | None = None,
    ) -> Recommendation:
        """Versions for a machine, with reasons. Raises CallError for a choice that cannot work."""
        from ..advise.recommend import recommend

        wheels = self.local_wheels(bundle)
        return recommend(machine, self.catalog, goal=goal, channel=channel, choice=choice, wheels=wheels)

    def options(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
    ) -> Options:
        """What can be picked by hand for each part, and what becomes of it. Raises what `recommend` raises."""
        from ..advise.options import options

        return options(machine, self.catalog, goal=goal, channel=channel, choice=choice, wheels=self.local_wheels())

    def environment_path(self, given: str | None, goal: Goal = "pytorch") -> Path:
        """The folder of the environment to work on: the given one, else the usual one for this goal. Raises
        CallError("not-a-folder") for a file.
        """
        if given:
            folder = paths.plain(given)
            if not self.simulated and folder.is_file():
                raise CallError("not-a-folder", path=str(folder))
            return folder
        return self.system.default_environments(self.data.root) / goal

    def plan(
        self,
        machine: Machine,
        recommendation: Recommendation,
        environment: Path,
        *,
        bundle: Path | None = None,
        made_by: EnvironmentKind = "venv",
    ) -> Plan:
        """The steps that carry a recommendation out; with a `bundle` they take every file from there.

        `made_by` says what makes the environment: uv, or the conda that is on this computer.
        """
        from ..install.planner import make_plan

        plan = make_plan(
            machine,
            recommendation,
            self.catalog,
            data=self.data,
            environment=environment,
            wheelhouse=self.wheelhouse,
            simulated=self.simulated,
            bundle=bundle,
            made_by=made_by,
            conda=self.system.program("conda") if made_by == "conda" and not self.simulated else None,
        )
        return self.look_ahead(plan)

    def look_ahead(self, plan: Plan) -> Plan:
        """The same plan with what each step finds on this computer just now."""
        from ..install.outlook import with_outlook
        from ..install.place import Ground

        return with_outlook(plan, Ground(self.system, self.data, self.catalog))

    def refuse_folder(self, environment: Path) -> None:
        """Raise CallError, AppError where no environment can be put into a folder, also because nothing can be written
        there or to the data folder; of a simulated machine's, and of what lies in it, nothing is known.
        """
        from ..install.occupied import refuse_taken, refuse_unfit, refuse_unwritable

        refuse_unfit(environment)
        if not self.simulated:
            refuse_taken(environment, self.data)
            refuse_unwritable(self.data.root)
            refuse_unwritable(environment.parent)

    def price(self, machine: Machine, plan: Plan) -> PriceJob:
        """Ask the publishers how large everything in a plan is: `plan` asked again then knows its price."""
        from ..install.place import Ground
        from ..install.pricing import PriceJob

        return PriceJob(plan, machine.os, Ground(self.system, self.data, self.catalog))

    def read_plan(self, path: Path) -> Plan:
        """A plan file somebody gives us, in our own words and figures; raises CallError when it is broken, or not one
        that we would make, or says something else than it does.
        """
        from ..core.plan import Plan
        from ..install.place import Ground
        from ..install.retold import retold
        from ..install.untrusted import check

        plan = json.read_file(path, Plan, code="plan-file")
        ground = Ground(self.system, self.data, self.catalog)
        check(plan, ground)
        return self.look_ahead(retold(plan, ground))

    def interrupted_plan(self) -> Plan | None:
        """The plan of the last install that began and did not end, if there is one."""
        found = self.interrupted()
        return found.plan if found is not None else None

    def interrupted(self) -> Interrupted | None:
        """The last install that began and did not end, and the step at which it stopped."""
        from ..install.journal import interrupted

        return interrupted(self.data)

    def install(
        self, plan: Plan, *, dry_run: bool = False, resume: Sequence[str] = (), pace: Pace | None = None
    ) -> InstallJob:
        """Carry a plan out (or only say what would be done); `resume` goes on after a restart (`resume_words`).

        Its downloads go at `pace`, else as fast as the settings allow.
        """
        from ..install.runner import InstallJob

        dry = dry_run or plan.simulated
        return InstallJob(
            plan,
            self.system,
            self.data,
            self.catalog,
            dry_run=dry,
            resume=resume,
            mirrors=self.mirrors,
            pace=pace or self.download_pace(),
        )

    def resume_words(self, *, window: bool) -> tuple[str, ...]:
        """The command that goes on after a restart: the window, or the command line's `install --resume`."""
        from ..install.login import resume_words

        return resume_words(self.data, self.system, window=window)

    def verify(self, environment: Path) -> VerifyJob:
        """Prove an environment."""
        from ..verify.job import VerifyJob

        return VerifyJob(environment, self.system)

    def uninstall(self, environment: Path, *, dry_run: bool = False) -> UninstallJob:
        """Take back what install put there (or only say what would be done)."""
        from ..install.uninstall import UninstallJob

        return UninstallJob(environment, self.data, self.system, dry_run=dry_run)

    def farewell(self, *, keep_environments: bool, dry_run: bool = False) -> FarewellJob:
        """Take away everything that the program keeps for itself (or only say what would be done)."""
        from ..install.farewell import FarewellJob

        return FarewellJob(self.data, self.system, keep_environments=keep_environments, dry_run=dry_run)

    def environments(self) -> tuple[Environment, ...]:
        """The environments that install made and that still stand."""
        from ..install.environments import known

        return known(self.data)

    def download(self, urls: Sequence[str], path: Path, *, sha256: str | None, connections: int) -> DownloadJob:
        """Fetch one file; the further addresses are mirrors. What lies in the cache or wheelhouse is not fetched, and
        another file of the same name not replaced.
        """
        from ..fetch.job import DownloadJob
        from ..fetch.limits import Limits
        from ..fetch.wanted import Wanted
        from ..install.mirrors import sourced

        copies = list(self.data.files.glob(f"{sha256[:16]}/*")) if sha256 else []
        if self.wheelhouse is not None:
            copies.append(self.wheelhouse / path.name)
        wanted = Wanted(
            url=urls[0], mirrors=tuple(urls[1:]), path=path, sha256=sha256, copies=tuple(copies), replace=False
        )
        limits = Limits(connections=connections)
        return DownloadJob(sourced(wanted, self.catalog, self.mirrors), limits, self.download_pace())
