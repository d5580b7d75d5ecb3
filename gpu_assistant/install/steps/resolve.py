"""Resolving: the lock file, from the cache, from a bundle, or from the first source that has all packages."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec import UNSET

from ...core.errors import AppError, UsageError
from ...core.plan import Step
from ...core.types import Value
from ...fetch.partial_file import local_path
from ...system.conda import is_conda_environment
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files.installed_packages import installed_packages
from ..files.inventory import find_damage, format_names
from ..packages.lockfile import Lockfile
from ..packages.requirements import PackageRequest, build_request
from ..packages.resolver import Resolver, named_requirements
from .base import StepKind, check_file
from .context import BaseInterpreter, EnvironmentStatus, InstallContext, Outcome, ResolvedLock
from .plan_builder import PlanBuilder


class PackageResolution(StepKind):
    """The packages are those of the plan's recommendation."""

    name: ClassVar[str] = "resolve"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        torch, tensorflow = builder.recommendation.pytorch, builder.recommendation.tensorflow
        optional_packages = (
            ("torch", torch),
            ("torchvision", torch and torch.torchvision),
            ("torchaudio", torch and torch.torchaudio),
            ("tensorflow", tensorflow),
        )
        constraints = builder.catalog.numpy_constraints(
            torch.version if torch is not None else None, builder.machine.os.system
        )
        constraints += tensorflow.constraints if tensorflow is not None else ()
        request = _index_request(builder)
        # A constrained package is listed once, with its constraint.
        unconstrained = [
            name for name in request.base_packages if not any(line.startswith(f"{name}<") for line in constraints)
        ]
        packages = ", ".join(
            [
                *(name for name, is_requested in optional_packages if is_requested),
                *request.toolkit,
                *constraints,
                *unconstrained,
            ]
        )
        data: dict[str, Value] = {"release": builder.release, "python": builder.series, "packages": packages}
        if builder.bundle is not None:
            data["path"] = str(builder.bundle)
        else:
            data["requirements"] = " ".join(named_requirements(request))
        return (
            Step(
                id="resolve",
                kind=self.name,
                # A bundle has a lock file: no program is run.
                code="resolve" if builder.bundle is None else "resolve-bundle",
                needs=builder.ids("python-runtime"),
                data=data,
                bytes=0,
                disk_bytes=0,
                minutes=builder.durations.resolve_minutes,
                commands=() if builder.bundle is not None else (_compile_command(builder),),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """A cached lock file for the same request, or the bundle's."""
        bundle = context.downloads.bundle
        if bundle is not None:
            lock = bundle.read_lockfile(_package_request(context, wheelhouse=None))
            return _outcome(ResolvedLock(lock, lambda: None), context)
        resolver = _make_resolver(context)
        cached = resolver.read_cached_lockfile()
        if cached is None:
            return None
        again = partial(self.run, step, context)
        return _outcome(ResolvedLock(cached, resolver.discard_cached_lockfile, again), context)

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises AppError: those of `Resolver.resolve`, environment-differs, environment-damaged."""
        resolver = _make_resolver(context)
        return _outcome(ResolvedLock(resolver.resolve(), resolver.discard_cached_lockfile), context)


def _make_resolver(context: InstallContext) -> Resolver:
    request = _package_request(context, wheelhouse=context.plan.wheelhouse)
    return Resolver(request, context.uv, context.data, context.require(BaseInterpreter).path)


def _package_request(context: InstallContext, *, wheelhouse: str | None) -> PackageRequest:
    system = context.system.operating_system()
    return build_request(context.plan.recommendation, context.catalog, system, wheelhouse=wheelhouse)


def _index_request(builder: PlanBuilder) -> PackageRequest:
    """What the indexes are asked for, whatever the wheelhouse has of it."""
    return build_request(builder.recommendation, builder.catalog, builder.machine.os, wheelhouse=None)


def _outcome(resolved: ResolvedLock, context: InstallContext) -> Outcome:
    """Raises AppError: environment-differs, environment-damaged; UsageError("plan-refused")."""
    lock = resolved.lock
    known_files = context.plan.wheelhouse_files
    for package in lock.packages:
        check_file(package.file)
        path = local_path(package.file.url)
        is_known = known_files is UNSET or path is None or known_files.get(path.name) == package.file.sha256
        if not is_known and context.downloads.bundle is None:
            raise UsageError("wheelhouse-differs", path=str(context.plan.wheelhouse), files=package.file.name)
    versions = {"PyTorch": lock.version("torch"), "TensorFlow": lock.version("tensorflow")}
    label = " + ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
    data: dict[str, Value] = {"count": len(lock.packages), "release": label}
    return Outcome(code="progress.resolved", data=data, produces=(resolved, _environment_status(lock, context)))


def _environment_status(lock: Lockfile, context: InstallContext) -> EnvironmentStatus:
    environment = context.environment
    manifest = managed_manifest(environment, context.data)
    if manifest is not None and manifest.lock != lock.fingerprint:
        raise AppError("environment-differs", path=str(environment))
    damaged = damaged_metadata(environment, context.data)
    if damaged:
        _check_same_packages(lock, environment)
    if manifest is not None:
        damaged = find_damage(environment, manifest, context.system)
    if damaged and is_conda_environment(environment):
        # A new one cannot be built beside it: conda writes the folder's path into its files.
        raise AppError("environment-damaged", path=str(environment), files=format_names(damaged))
    unverified = pending_verification(context.plan, context.journal)
    return EnvironmentStatus(
        is_complete=manifest is not None and not damaged,
        damaged=damaged,
        is_unverified=unverified is not None and unverified.lock == lock.fingerprint,
    )


def _check_same_packages(lock: Lockfile, environment: Path) -> None:
    """Raise AppError("environment-differs") if an environment without a manifest has other frameworks installed."""
    installed = {package.name for package in installed_packages(environment)}
    for name in ("torch", "tensorflow"):
        label = next((label for label in installed if label.startswith(f"{name} ")), None)
        if label is not None and label != f"{name} {lock.version(name)}":
            raise AppError("environment-differs", path=str(environment))


def _compile_command(builder: PlanBuilder) -> tuple[str, ...]:
    """The command that makes the lock file, as a person would type it, with the requirements in `requirements.in`."""
    # Another computer does not have this one's wheelhouse.
    folder = builder.wheelhouse if not builder.simulated else None
    index_options: tuple[str, ...] = ("--find-links", str(folder)) if folder is not None else ()
    torch = builder.recommendation.pytorch
    if torch is not None and torch.index_url is not None:
        index_options += ("--index", torch.index_url)
    return (
        "uv",
        "pip",
        "compile",
        "requirements.in",
        "--python-version",
        builder.series,
        *index_options,
        "-o",
        "pylock.toml",
    )
