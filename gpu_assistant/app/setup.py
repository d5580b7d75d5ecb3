"""The road of a setup: machine, recommendation, plan, install, proof, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import json, paths
from ..core.errors import UsageError
from .context import AppContext

if TYPE_CHECKING:
    from ..advise.options import Options
    from ..core.machine import Machine
    from ..core.plan import InterruptedInstall, Plan
    from ..core.recommendation import Choice, LocalWheel, Recommendation
    from ..core.types import Channel, EnvironmentKind, Goal
    from ..detect.job import DetectJob
    from ..fetch.downloader import DownloadJob
    from ..fetch.rate import RateLimiter
    from ..install.environment.location import Environment
    from ..install.jobs.install import InstallJob
    from ..install.jobs.purge import PurgeJob
    from ..install.jobs.size_probe import SizeProbeJob
    from ..install.jobs.uninstall import UninstallJob
    from ..verify.job import VerifyJob


class SetupService(AppContext):
    """The road of a setup: machine, recommendation, plan, install, proof, and the way back."""

    def detect(self) -> DetectJob:
        """Look at this machine (a simulated one is returned as it stands)."""
        from ..detect.job import DetectJob

        return DetectJob(self.system, self.catalog, simulated=self.simulated_machine)

    def local_wheels(self, bundle: Path | None = None) -> tuple[LocalWheel, ...]:
        """What the wheelhouse offers, or a bundle in its place."""
        from ..install.bundle.format import WHEELS_FOLDER
        from ..install.packages.requirements import scan_wheelhouse

        folder = bundle / WHEELS_FOLDER if bundle is not None else self.wheelhouse
        return scan_wheelhouse(folder) if folder is not None else ()

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
        from ..advise.options import list_options

        return list_options(
            machine, self.catalog, goal=goal, channel=channel, choice=choice, wheels=self.local_wheels()
        )

    def environment_path(self, requested: str | None, goal: Goal = "pytorch") -> Path:
        """The folder of the environment to work on: the given one, else the usual one for this goal. Raises
        CallError("not-a-folder") for a file.
        """
        if requested:
            folder = paths.normalize_path(requested)
            if not self.simulated and folder.is_file():
                raise UsageError("not-a-folder", path=str(folder))
            return folder
        return self.system.default_environments_folder(self.data.root) / goal

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
        from ..install.plan.planner import make_plan

        plan = make_plan(
            machine,
            recommendation,
            self.catalog,
            data=self.data,
            environment=environment,
            wheelhouse=self.wheelhouse,
            simulated=self.simulated,
            bundle=bundle,
            environment_kind=made_by,
            conda=self.system.find_program("conda") if made_by == "conda" and not self.simulated else None,
        )
        return self.preview(plan)

    def preview(self, plan: Plan) -> Plan:
        """The same plan with what each step finds on this computer just now."""
        from ..install.host import ValidationContext
        from ..install.plan.planner import preview

        return preview(plan, ValidationContext(self.system, self.data, self.catalog))

    def check_folder(self, environment: Path) -> None:
        """Raise CallError, AppError where no environment can be put into a folder, also because nothing can be written
        there or to the data folder; of a simulated machine's, and of what lies in it, nothing is known.
        """
        from ..install.environment.location import check_available, check_location, check_writable

        check_location(environment)
        if not self.simulated:
            check_available(environment, self.data)
            check_writable(self.data.root)
            check_writable(environment.parent)

    def probe_sizes(self, machine: Machine, plan: Plan) -> SizeProbeJob:
        """Ask the publishers how large everything in a plan is: `plan` asked again then knows its price."""
        from ..install.host import ValidationContext
        from ..install.jobs.size_probe import SizeProbeJob

        return SizeProbeJob(plan, machine.os, ValidationContext(self.system, self.data, self.catalog))

    def read_plan(self, path: Path) -> Plan:
        """A plan file somebody gives us, in our own words and figures; raises CallError when it is broken, or not one
        that we would make, or says something else than it does.
        """
        from ..core.plan import Plan
        from ..install.host import ValidationContext
        from ..install.plan.validation import retold, validate_plan

        plan = json.read_file(path, Plan, code="plan-file")
        validation_context = ValidationContext(self.system, self.data, self.catalog)
        validate_plan(plan, validation_context)
        return self.preview(retold(plan, validation_context))

    def interrupted_plan(self) -> Plan | None:
        """The plan of the last install that began and did not end, if there is one."""
        interrupted = self.interrupted_install()
        return interrupted.plan if interrupted is not None else None

    def interrupted_install(self) -> InterruptedInstall | None:
        """The last install that began and did not end, and the step at which it stopped."""
        from ..install.journal.log import interrupted_install

        return interrupted_install(self.data)

    def install(
        self, plan: Plan, *, dry_run: bool = False, resume: Sequence[str] = (), pace: RateLimiter | None = None
    ) -> InstallJob:
        """Carry a plan out (or only say what would be done); `resume` goes on after a restart (`resume_words`).

        Its downloads go at `pace`, else as fast as the settings allow.
        """
        from ..install.jobs.install import InstallJob

        simulate = dry_run or plan.simulated
        return InstallJob(
            plan,
            self.system,
            self.data,
            self.catalog,
            dry_run=simulate,
            login_command=resume,
            mirrors=self.mirrors,
            rate_limiter=pace or self.rate_limiter(),
        )

    def resume_command(self, *, window: bool) -> tuple[str, ...]:
        """The command that goes on after a restart: the window, or the command line's `install --resume`."""
        from ..install.jobs.install import resume_command

        return resume_command(self.data, self.system, gui=window)

    def verify(self, environment: Path) -> VerifyJob:
        """Prove an environment."""
        from ..verify.job import VerifyJob

        return VerifyJob(environment, self.system)

    def uninstall(self, environment: Path, *, dry_run: bool = False) -> UninstallJob:
        """Take back what install put there (or only say what would be done)."""
        from ..install.jobs.uninstall import UninstallJob

        return UninstallJob(environment, self.data, self.system, dry_run=dry_run)

    def purge(self, *, keep_environments: bool, dry_run: bool = False) -> PurgeJob:
        """Take away everything that the program keeps for itself (or only say what would be done)."""
        from ..install.jobs.purge import PurgeJob

        return PurgeJob(self.data, self.system, keep_environments=keep_environments, dry_run=dry_run)

    def environments(self) -> tuple[Environment, ...]:
        """The environments that install made and that still stand."""
        from ..install.environment.location import list_environments

        return list_environments(self.data)

    def download(self, urls: Sequence[str], path: Path, *, sha256: str | None, connections: int) -> DownloadJob:
        """Fetch one file; the further addresses are mirrors. What lies in the cache or wheelhouse is not fetched, and
        another file of the same name not replaced.
        """
        from ..core.files import RemoteFile
        from ..fetch.downloader import DownloadJob
        from ..fetch.request import DownloadRequest, Limits
        from ..install.steps.context import with_mirrors

        local_copies = list(self.data.files.glob(f"{sha256[:16]}/*")) if sha256 else []
        if self.wheelhouse is not None:
            local_copies.append(self.wheelhouse / path.name)
        file = RemoteFile(urls=tuple(urls), name=path.name, sha256=sha256)
        request = DownloadRequest(file=file, path=path, copies=tuple(local_copies), replace=False)
        limits = Limits(connections=connections)
        return DownloadJob(with_mirrors(request, self.catalog, self.mirrors), limits, self.rate_limiter())
