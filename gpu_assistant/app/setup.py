"""From the detected machine to a verified environment, and back: detect, recommend, plan, install, verify, uninstall.

Each method either answers at once or returns a job (`core.jobs`) that the caller runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from ..core import json, paths
from ..core.errors import AppError, UsageError
from ..core.jobs import JobContext

if TYPE_CHECKING:
    import threading

    from ..advise.options import Options
    from ..core.machine import Machine
    from ..core.plan import InterruptedInstall, Plan
    from ..core.recommendation import Choice, LocalWheel, Recommendation, SourceAnswer
    from ..core.types import Channel, EnvironmentKind, Goal
    from ..detect.job import DetectJob
    from ..fetch.downloader import DownloadJob
    from ..fetch.rate import RateLimiter
    from ..install.elevation.client import ElevationPrompt
    from ..install.environment.location import Environment
    from ..install.jobs.install import InstallJob
    from ..install.jobs.move_downloads import FinishMoveJob, MoveDownloadsJob
    from ..install.jobs.purge import PurgeJob
    from ..install.jobs.size_probe import SizeProbeJob
    from ..install.jobs.uninstall import UninstallJob
    from ..system.base import FolderWriters
    from ..verify.job import FileFindings, VerifyJob
    from .available_plan import AvailableSetupJob
    from .context import AppContext


class SetupService:
    """From the detected machine to a verified environment, and back."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def detect(self) -> DetectJob:
        """Detect this machine; a simulated one is returned as its file describes it."""
        from ..detect.job import DetectJob

        return DetectJob(self._context.system, self._context.catalog, simulated=self._context.simulated_machine)

    def local_wheels(self, bundle: Path | None = None) -> tuple[LocalWheel, ...]:
        """What the wheelhouse offers, or a bundle in its place."""
        return _wheels(self._context.wheelhouse, bundle)

    def recommend(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
        bundle: Path | None = None,
        sources: tuple[SourceAnswer, ...] = (),
    ) -> Recommendation:
        """Versions for a machine, with reasons, by what the indexes answered when they were asked.

        Raises UsageError for a choice that cannot work.
        """
        from ..advise.recommend import recommend

        wheels, mirror_use = self.local_wheels(bundle), self._context.mirrors
        return recommend(
            machine,
            self._context.catalog,
            goal=goal,
            channel=channel,
            choice=choice,
            wheels=wheels,
            sources=sources,
            mirror_use=mirror_use,
        )

    def available_setup(
        self,
        machine: Machine,
        environment: Path,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
        made_by: EnvironmentKind = "venv",
        retries: bool = False,
    ) -> AvailableSetupJob:
        """Recommend and plan by what the sources have: each is asked once, within a few seconds; with `retries` once
        more where none of them answered in time.
        """
        from ..install.host import PreviewContext
        from .available_plan import AvailableSetupJob

        def recommend(sources: tuple[SourceAnswer, ...]) -> Recommendation:
            return self.recommend(machine, goal=goal, channel=channel, choice=choice, sources=sources)

        def plan(recommendation: Recommendation) -> Plan:
            return self.plan(machine, recommendation, environment, made_by=made_by)

        context = PreviewContext(self._context.system, self._context.data, self._context.catalog)
        return AvailableSetupJob(
            machine, context, recommend=recommend, plan=plan, mirrors=self._context.mirrors, retries=retries
        )

    def options(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
    ) -> Options:
        """What can be chosen for each part, and what each choice would change. Raises what `recommend` raises."""
        from ..advise.options import list_options

        return list_options(
            machine, self._context.catalog, goal=goal, channel=channel, choice=choice, wheels=self.local_wheels()
        )

    def availability_error(self, plan: Plan) -> AppError | None:
        """Why a plan cannot be carried out now, as its sources said when they were asked."""
        from .available_plan import availability_error

        return availability_error(plan)

    def environment_path(self, requested: str | None, goal: Goal = "pytorch") -> Path:
        """The environment's folder: the requested one, else the default for this goal.

        Raises UsageError("not-a-folder") for a file.
        """
        if requested:
            folder = paths.normalize_path(requested)
            if not self._context.simulated and folder.is_file():
                raise UsageError("not-a-folder", path=str(folder))
            return folder
        return self.environments_folder / goal

    @property
    def environments_folder(self) -> Path:
        """The folder for new environments: the user's choice, else the system's default."""
        chosen = self._context.settings.environments_folder
        if chosen is not None:
            return paths.normalize_path(chosen)
        return self._context.system.default_environments_folder(self._context.data.root)

    def plan(
        self,
        machine: Machine,
        recommendation: Recommendation,
        environment: Path,
        *,
        bundle: Path | None = None,
        made_by: EnvironmentKind = "venv",
    ) -> Plan:
        """The steps that install a recommendation; with a `bundle` they take every file from there.

        `made_by`: "venv" lets uv create the environment, "conda" the conda of this computer.
        """
        return self.preview(
            self._planned(
                machine,
                recommendation,
                environment,
                wheelhouse=self._context.wheelhouse,
                bundle=bundle,
                made_by=made_by,
                simulated=self._context.simulated,
            )
        )

    def _planned(
        self,
        machine: Machine,
        recommendation: Recommendation,
        environment: Path,
        *,
        wheelhouse: Path | None,
        bundle: Path | None,
        made_by: EnvironmentKind,
        simulated: bool,
    ) -> Plan:
        from ..install.plan.planner import make_plan

        return make_plan(
            machine,
            recommendation,
            self._context.catalog,
            data=self._context.data,
            environment=environment,
            wheelhouse=wheelhouse,
            simulated=simulated,
            bundle=bundle,
            environment_kind=made_by,
            conda=self._context.system.find_program("conda") if made_by == "conda" and not simulated else None,
        )

    def preview(self, plan: Plan) -> Plan:
        """The same plan, with what each step would find on this computer now."""
        from ..install.host import PreviewContext
        from ..install.plan.planner import preview

        return preview(plan, PreviewContext(self._context.system, self._context.data, self._context.catalog))

    def check_folder(self, environment: Path) -> None:
        """Raise UsageError or AppError if no environment can be created in a folder, or if the folder or the data
        folder cannot be written. For a simulated machine only the path itself is checked.
        """
        from ..install.environment.location import check_available, check_location, check_writable

        check_location(environment)
        if not self._context.simulated:
            check_available(environment, self._context.data)
            check_writable(self._context.data.root)
            check_writable(environment.parent)

    def check_environments_folder(self, folder: Path) -> None:
        """Raise UsageError or AppError if no environments can be created in a folder."""
        from ..install.environment.location import check_location, check_writable

        check_location(folder / "pytorch")
        check_writable(folder)

    def check_downloads_folder(self, folder: Path) -> Path:
        """Where the downloads would be: the folder, or a new one in it; raises UsageError or AppError if they cannot be
        moved there.
        """
        from ..install.jobs.move_downloads import check_downloads_folder

        return check_downloads_folder(self._context.data, folder)

    def move_downloads(self, folder: Path | None) -> MoveDownloadsJob:
        """Move the downloads to a folder, None: back into the data folder."""
        from ..install.jobs.move_downloads import MoveDownloadsJob

        return MoveDownloadsJob(self._context.data, self._context.system, folder)

    def finish_move(self) -> FinishMoveJob | None:
        """Removes the copies of a move that was cut off; None where there was none."""
        from ..core.downloads_folder import read_record
        from ..install.jobs.move_downloads import FinishMoveJob

        return FinishMoveJob(self._context.data) if read_record(self._context.data).leftover is not None else None

    def probe_sizes(self, machine: Machine, plan: Plan) -> SizeProbeJob:
        """Ask the publishers for the sizes of all downloads of a plan; the next call of `plan` then knows them."""
        from ..install.host import PreviewContext
        from ..install.jobs.size_probe import SizeProbeJob

        return SizeProbeJob(
            plan, machine.os, PreviewContext(self._context.system, self._context.data, self._context.catalog)
        )

    def read_plan(self, path: Path) -> Plan:
        """A plan from a file as it is written; only what `replan` makes of it may be installed.

        Raises UsageError for a malformed file, or one that names a folder that cannot be used.
        """
        from ..core.plan import Plan
        from ..install.plan.validation import check_sources_exist, validate_plan

        plan = json.read_file(path, Plan, code="plan-file")
        validate_plan(plan, self._context.data)
        check_sources_exist(plan)
        return plan

    def replan(self, given: Plan, machine: Machine) -> Plan:
        """Plan again for the goal, choices, folders and bundle of a plan file; `machine`: this one, or the file's.

        Raises UsageError("plan-differs") if the steps are not those of the file, ("plan-refused") for choices that
        cannot work, and what `recommend` and `plan` raise.
        """
        from ..advise.recommend import recommend
        from ..install.plan.validation import check_same_steps, check_sources
        from ..install.steps.base import plan_error

        asked = given.recommendation
        wheelhouse = Path(given.wheelhouse) if given.wheelhouse is not None else None
        bundle = Path(given.bundle) if given.bundle is not None else None
        wheels = _wheels(wheelhouse, bundle)
        try:
            advice = recommend(
                machine,
                self._context.catalog,
                goal=given.goal,
                channel=asked.channel or "studio",
                choice=asked.choice or None,
                wheels=wheels,
                sources=asked.sources or (),
                mirror_use=self._context.mirrors,
            )
        except UsageError as error:
            raise plan_error(f"recommendation.choice: {error.code}", part="choice") from error
        plan = self._planned(
            machine,
            advice,
            Path(given.env),
            wheelhouse=wheelhouse,
            bundle=bundle,
            made_by="conda" if any(step.kind == "conda-environment" for step in given.steps) else "venv",
            simulated=given.simulated,
        )
        check_same_steps(given, plan)
        bundle_sha256 = check_sources(given) or UNSET
        return replace(self.preview(plan), wheelhouse_files=given.wheelhouse_files, bundle_sha256=bundle_sha256)

    def with_checksums(self, plan: Plan) -> Plan:
        """The plan with the checksums of the packages in its wheelhouse, all of which are read; raises AppError."""
        from ..install.packages.requirements import hash_wheelhouse

        if plan.wheelhouse is None:
            return plan
        return replace(plan, wheelhouse_files=hash_wheelhouse(Path(plan.wheelhouse)))

    def unproven_folders(self, plan: Plan) -> dict[Path, FolderWriters]:
        """The folders of a plan file of which it names no checksums, and who may change what is there."""
        from ..install.plan.validation import unproven_folders
        from ..system.base import FolderWriters

        writers: dict[Path, FolderWriters] = {}
        for folder in unproven_folders(plan):
            try:
                writers[folder] = self._context.system.folder_writers(folder)
            except OSError:
                writers[folder] = FolderWriters((), everybody=True)
        return writers

    def interrupted_install(self) -> InterruptedInstall | None:
        """The last install that started and did not finish, and the step at which it stopped. A journal is untrusted:
        the plan is made again, for the machine that the journal has, and is the same one.

        Raises AppError("resume-differs") where it is not, and what `replan` raises.
        """
        from ..install.journal.log import interrupted_install
        from ..install.plan.validation import validate_plan

        interrupted = interrupted_install(self._context.data)
        if interrupted is None:
            return None
        plan, data = interrupted.plan, self._context.data
        try:
            validate_plan(plan, data)
            # Nothing says what is in the folders of somebody else's computer.
            if (plan.wheelhouse is not None or plan.bundle is not None) and not data.owns(data.journal):
                raise AppError("resume-differs", path=plan.env)
            return replace(interrupted, plan=self.replan(plan, plan.machine or self.detect().run(JobContext())))
        except UsageError as error:
            if error.code not in ("plan-differs", "plan-refused"):
                raise
            raise AppError("resume-differs", path=plan.env) from error

    def install(
        self,
        plan: Plan,
        *,
        dry_run: bool = False,
        resume: Sequence[str] = (),
        rate_limiter: RateLimiter | None = None,
        prompt: ElevationPrompt | None = None,
    ) -> InstallJob:
        """Install a plan; with `dry_run`, or for a simulated machine, only report what would be done.

        `resume` is the command that continues after a restart of the computer (`resume_command`). `rate_limiter` limits
        the downloads, None: the settings do. The system's prompt for rights belongs to the window of `prompt`.
        """
        from ..install.jobs.install import InstallJob

        simulate = dry_run or plan.simulated
        return InstallJob(
            plan,
            self._context.system,
            self._context.data,
            self._context.catalog,
            dry_run=simulate,
            login_command=resume,
            mirrors=self._context.mirrors,
            rate_limiter=rate_limiter or self._context.rate_limiter(),
            prompt=prompt,
        )

    def resume_command(self, *, window: bool) -> tuple[str, ...]:
        """The command that continues after a restart: the window, or the command line's `install --resume`."""
        from ..install.jobs.install import resume_command

        return resume_command(self._context.data, self._context.system, gui=window)

    @property
    def starts_with_system(self) -> bool:
        """Whether this program starts after each login; reads the disk or the registry. Raises AppError."""
        from ..install.jobs.install import starts_with_system

        return starts_with_system(self._context.data, self._context.system)

    def start_with_system(self, enabled: bool) -> None:
        """Start this program, minimised, after each login, or no longer. Raises AppError."""
        from ..install.jobs.install import startup_command

        command = self._context.system.startup_command
        try:
            if enabled:
                command.set(startup_command(self._context.data, self._context.system))
            else:
                command.clear()
        except AppError as error:
            raise AppError("startup-unusable", detail=str(error.data.get("detail", error.code))) from error

    def verify(self, environment: Path, *, files: bool = False) -> VerifyJob:
        """Check that an environment works: imports, devices, a first computation; with `files` every file, too."""
        from ..install.files.inventory import read_unfinished_manifest
        from ..install.steps.toolkit_proof import make_toolkit_proof
        from ..verify.job import VerifyJob

        context, manifest = self._context, read_unfinished_manifest(environment)
        return VerifyJob(
            environment,
            context.system,
            toolkit=make_toolkit_proof(
                manifest.recommendation if manifest is not None else None,
                environment,
                context.catalog,
                context.data,
                context.system,
            ),
            check_files=_check_files if files else None,
        )

    def uninstall(self, environment: Path, *, dry_run: bool = False, driver: bool = False) -> UninstallJob:
        """Remove an environment and what its install changed, with `driver` also the packages of a driver that it
        installed; with `dry_run`, only report it.
        """
        from ..install.jobs.uninstall import UninstallJob

        return UninstallJob(
            environment,
            self._context.data,
            self._context.system,
            dry_run=dry_run,
            driver_catalog=self._context.catalog if driver else None,
        )

    def purge(self, *, keep_environments: bool, dry_run: bool = False, driver: bool = False) -> PurgeJob:
        """Remove all data of the program itself, with `driver` as in `uninstall`; with `dry_run`, only report it."""
        from ..install.jobs.purge import PurgeJob

        return PurgeJob(
            self._context.data,
            self._context.system,
            keep_environments=keep_environments,
            dry_run=dry_run,
            driver_catalog=self._context.catalog if driver else None,
        )

    def environments(self) -> tuple[Environment, ...]:
        """The environments that this program installed and that still exist."""
        from ..install.environment.location import list_environments

        return list_environments(self._context.data)

    def download(self, urls: Sequence[str], path: Path, *, sha256: str | None, connections: int) -> DownloadJob:
        """Download one file; all addresses after the first are mirrors.

        A copy in the cache or the wheelhouse is used instead of the network; an existing file is not replaced.
        """
        from ..core.files import RemoteFile
        from ..fetch.downloader import DownloadJob
        from ..fetch.request import DownloadRequest, Limits
        from ..install.steps.context import with_mirrors

        local_copies = list(self._context.data.files.glob(f"{sha256[:16]}/*")) if sha256 else []
        if self._context.wheelhouse is not None:
            local_copies.append(self._context.wheelhouse / path.name)
        file = RemoteFile(urls=tuple(urls), name=path.name, sha256=sha256)
        request = DownloadRequest(file=file, path=path, copies=tuple(local_copies), replace=False)
        limits = Limits(connections=connections)
        return DownloadJob(
            with_mirrors(request, self._context.catalog, self._context.mirrors), limits, self._context.rate_limiter()
        )


def _check_files(environment: Path, cancel: threading.Event, progress: Callable[[int, int], None]) -> FileFindings:
    """What `verify --files` looks for."""
    from ..install.files.installed_packages import corrupt_files, installed_packages
    from ..install.files.wheel_files import unlisted_files
    from ..verify.job import FileFindings

    corrupt = corrupt_files(environment, installed_packages(environment), cancel, progress)
    return FileFindings(corrupt=corrupt, unlisted=unlisted_files(environment))


def _wheels(wheelhouse: Path | None, bundle: Path | None) -> tuple[LocalWheel, ...]:
    """The wheels in a bundle, else in a wheelhouse."""
    from ..install.bundle.format import WHEELS_FOLDER
    from ..install.packages.requirements import scan_wheelhouse

    folder = bundle / WHEELS_FOLDER if bundle is not None else wheelhouse
    return scan_wheelhouse(folder) if folder is not None else ()
