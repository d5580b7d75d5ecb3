"""Puts packages into a finished environment beside those that it was made with: JupyterLab, Pillow.

    AddPackagesJob.run ─► Resolver (what is installed stays as it is) ─► the files that the environment lacks
      ─► download_files, each with its hash ─► EffectStarted(PackagesAdded) ─► pylock.<name>.toml, uv pip install
      ─► what was unpacked is compared with its RECORD ─► EffectDone
    RemovePackagesJob.run ─► revert of these effects: exactly these packages go; the environment's own never do

After a kill between the two records the next run puts in what is missing; an uninstall removes what came.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core import json
from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.types import Addition, MirrorUse, Value
from ...fetch.credentials import user_index_url
from ...fetch.rate import RateLimiter
from ...fetch.request import Limits
from ...system.base import System
from ...system.conda import is_conda_environment
from ...system.locks import data_folder_lock, environment_lock
from ..files.installed_packages import corrupt_files, installed_packages, present_packages
from ..files.inventory import EnvironmentManifest, read_manifest
from ..host import Host
from ..journal.log import Journal, PackagesAdded
from ..journal.recovery import active_effects, observe_state, recover
from ..journal.revert import revert
from ..journal.validation import INTEGRATION_KIND
from ..packages.lockfile import LockedPackage
from ..packages.requirements import PackageRequest
from ..packages.resolver import Resolver
from ..packages.uv import Uv, error_line, is_disk_full
from ..progress import ProgressReporter, failure_state
from ..steps.base import check_file
from ..steps.context import DownloadContext, download_files
from ..steps.download import STALE_LOCK_ERRORS, download_request
from ..steps.kinds import STEP_KINDS
from ..steps.python_packages import INSTALL_TIMEOUT_S

if TYPE_CHECKING:
    from ...catalog.store import Catalog

STEPS = ("resolve", "download", "install")
# The packages that each addition is for.
ADDED_PACKAGES: dict[Addition, tuple[str, ...]] = {
    "jupyter": ("ipykernel", "jupyterlab"),
    "kernel": ("ipykernel",),
    "pictures": ("pillow",),
}


class AddPackagesJob:
    """Adds `packages`, named for people by `name` ("jupyter"), and what they need. Reports the events of an install;
    nothing is done for packages that are there.
    """

    def __init__(
        self,
        environment: Path,
        packages: tuple[str, ...],
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        name: str,
        wheelhouse: str | None = None,
        limits: Limits | None = None,
        mirrors: MirrorUse = "when-slow",
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        self.environment = environment
        self.packages = packages
        self._lock_name = f"pylock.{name}.toml"
        self._system, self._data, self._catalog = system, data, catalog
        self._wheelhouse = wheelhouse
        self._limits = limits or Limits()
        self._mirrors: MirrorUse = mirrors
        self._rate_limiter = rate_limiter or RateLimiter()

    def run(self, context: JobContext[Any]) -> tuple[str, ...]:
        """What was added, as "name==version". Raises AppError: environment-missing, -not-ours, -busy, already-running,
        added-nowhere, packages-failed, those of `Resolver.resolve` and `download_files`; NetworkError; Cancelled.
        """
        reporter = ProgressReporter(context)
        manifest = _require_manifest(self.environment)
        reporter.report_plan(_plan_steps(self.packages, self.environment))
        try:
            with (
                reporter.show_busy_files(),
                data_folder_lock(self._data),
                environment_lock(self.environment),
                Journal(self._data, environment=str(self.environment)) as journal,
            ):
                recover(Host(self._system, self._data), journal, STEP_KINDS)
                added = self._add(manifest, journal, reporter, context)
        except AppError as error:
            reporter.fail_run(str(self.environment), error)
            raise
        reporter.end_run("done", str(self.environment))
        return added

    def _add(
        self, manifest: EnvironmentManifest, journal: Journal, reporter: ProgressReporter, context: JobContext[Any]
    ) -> tuple[str, ...]:
        downloads = DownloadContext(
            Host(self._system, self._data),
            self._catalog,
            reporter=reporter,
            cancel=context.cancel,
            limits=self._limits,
            mirrors=self._mirrors,
            rate_limiter=self._rate_limiter,
        )
        uv = Uv(self._system, self._data, cancel=context.cancel, log=reporter.log)
        with _ReportedStep(reporter, "resolve"):
            resolver = self._make_resolver(uv, manifest)
            lock = resolver.read_cached_lockfile() or resolver.resolve()
            added = tuple(each for each in lock.packages if each.name not in manifest.packages)
        names = tuple(f"{each.name}=={each.version}" for each in added)
        missing = [each for each, name in zip(added, names, strict=True) if not self._is_whole(name)]
        for each in missing:
            check_file(each.file)
        with _ReportedStep(reporter, "download"):
            try:
                files = download_files(downloads, [download_request(self._data.files, each.file) for each in missing])
            except AppError as error:
                if error.code in STALE_LOCK_ERRORS:
                    resolver.discard_cached_lockfile()
                raise
        with _ReportedStep(reporter, "install"):
            context.check_cancelled()
            if missing:
                effect = PackagesAdded(path=str(self.environment), packages=names, lock=self._lock_name)
                with journal.effect(INTEGRATION_KIND, effect):
                    json.write_file(self.environment / self._lock_name, lock.text)
                    self._install(uv, missing, files)
                    self._check(names, reporter, context)
        return names

    def _is_whole(self, name: str) -> bool:
        """Whether a package is there with all its files: an installation that was killed may have left some."""
        present = present_packages(self.environment, (name,))
        return bool(present) and not corrupt_files(self.environment, present.values())

    def _make_resolver(self, uv: Uv, manifest: EnvironmentManifest) -> Resolver:
        """Whatever is installed stays as it is, also what the user added."""
        own = {f"{name}=={version}" for name, version in manifest.packages.items()}
        others = {package.name.replace(" ", "==") for package in installed_packages(self.environment)}
        request = PackageRequest(
            python=".".join(manifest.python.split(".")[:2]),
            torch=None,
            variant=None,
            torchvision=None,
            torchaudio=None,
            tensorflow=None,
            constraints=tuple(sorted(own | {each for each in others if _project(each) not in manifest.packages})),
            index_url=None,
            wheelhouse=self._wheelhouse,
            serves_variant=False,
            default_index=user_index_url(),
            added=self.packages,
        )
        return Resolver(request, uv, self._data, self._system.environment_python(self.environment))

    def _install(self, uv: Uv, packages: list[LockedPackage], files: tuple[Path, ...]) -> None:
        """uv compares every file with its hash again."""
        requirements = self._data.locks / f"{self._lock_name}.requirements.txt"
        lines = [f"{each.name}=={each.version} --hash=sha256:{each.file.sha256}\n" for each in packages]
        json.write_file(requirements, "".join(lines))
        links = [
            option for folder in dict.fromkeys(file.parent for file in files) for option in ("--find-links", folder)
        ]
        finished = uv.run(
            *("pip", "install", "--offline", "--no-index", "--no-deps", "--reinstall", "--require-hashes"),
            *(("--break-system-packages",) if is_conda_environment(self.environment) else ()),
            *(*links, "--python", self._system.environment_python(self.environment), "--requirements", requirements),
            timeout=INSTALL_TIMEOUT_S,
        )
        if finished.returncode == 0:
            return
        if is_disk_full(finished):
            raise AppError("disk-full", path=str(self.environment.parent))
        raise AppError("packages-failed", path=str(self.environment), detail=error_line(finished))

    def _check(self, names: tuple[str, ...], reporter: ProgressReporter, context: JobContext[Any]) -> None:
        """uv takes files from its cache and compares none of them."""

        def report(done: int, total: int) -> None:
            reporter.report_progress(done=done, total=total, unit="bytes", bottleneck="checking")

        if corrupt := corrupt_files(
            self.environment, present_packages(self.environment, names).values(), context.cancel, report
        ):
            raise AppError("packages-failed", path=str(self.environment), detail=corrupt[0])


class RemovePackagesJob:
    """Takes the packages out again that AddPackagesJob put into an environment."""

    def __init__(self, environment: Path, system: System, data: DataDir) -> None:
        self.environment = environment
        self._host = Host(system, data)

    def run(self, context: JobContext[Any]) -> tuple[str, ...]:
        """What was removed, as "name==version". Raises AppError: environment-missing, -not-ours, -busy,
        already-running, and those of `storage_error`.
        """
        _require_manifest(self.environment)
        data = self._host.data
        removed: list[str] = []
        with (
            data_folder_lock(data),
            environment_lock(self.environment),
            Journal(data, environment=str(self.environment)) as journal,
        ):
            recover(self._host, journal, STEP_KINDS)
            for active in reversed(active_effects(data)):
                effect = active.effect
                if active.environment != str(self.environment) or not isinstance(effect, PackagesAdded):
                    continue
                context.check_cancelled()
                if observe_state(active, self._host, STEP_KINDS) != "absent":
                    journal.start_undo(active.run, active.number)
                    journal.finish_undo(active.run, active.number, revert(effect, self._host))
                    removed += effect.packages
        return tuple(dict.fromkeys(removed))


class _ReportedStep:
    """Reports a step as running, then as done, or as failed or cancelled by what was raised."""

    def __init__(self, reporter: ProgressReporter, step: str) -> None:
        self._reporter, self._step = reporter, step

    def __enter__(self) -> None:
        self._reporter.report_step(self._step, "running")

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is None:
            self._reporter.report_step(self._step, "done")
        elif isinstance(error, AppError):
            self._reporter.fail_step(self._step, error)
        else:
            self._reporter.report_step(self._step, failure_state(error))


def _plan_steps(packages: tuple[str, ...], environment: Path) -> tuple[Step, ...]:
    data: dict[str, Value] = {"packages": ", ".join(packages), "env": str(environment)}
    return tuple(
        Step(
            id=name,
            kind=INTEGRATION_KIND,
            code=f"add-{name}",
            data=data,
            bytes=None,
            disk_bytes=None,
            minutes=None,
        )
        for name in STEPS
    )


def _require_manifest(environment: Path) -> EnvironmentManifest:
    manifest = read_manifest(environment)
    if manifest is None:
        code = "environment-not-ours" if environment.exists() else "environment-missing"
        raise AppError(code, path=str(environment))
    return manifest


def _project(requirement: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(requirement.partition("==")[0])
