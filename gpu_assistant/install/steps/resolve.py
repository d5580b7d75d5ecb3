"""Which files exactly: the lock, from an earlier run or from the first source that has everything."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from ...core.errors import AppError
from ...core.plan import Step
from ...core.recommendation import Recommendation
from ...core.types import Value
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files import inventory
from ..files.inventory import find_damage, format_names
from ..packages.conda import CONDA_META
from ..packages.lockfile import Lockfile
from ..packages.requirements import BASE_PACKAGES, PackageRequest, Platform, build_request
from ..packages.resolver import Resolver, named_requirements
from .base import StepKind, check_file
from .context import BaseInterpreter, DownloadContext, EnvironmentStatus, InstallContext, Outcome, ResolvedLock
from .plan_builder import PlanBuilder


class PackageResolution(StepKind):
    """What is asked for stands in the plan's recommendation."""

    name: ClassVar[str] = "resolve"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step for the environment's packages."""
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
        # What is held back is named once, with its bound.
        unconstrained = [name for name in BASE_PACKAGES if not any(line.startswith(f"{name}<") for line in constraints)]
        packages = ", ".join(
            [*(name for name, is_requested in optional_packages if is_requested), *constraints, *unconstrained]
        )
        data: dict[str, Value] = {"release": builder.release, "python": builder.series, "packages": packages}
        if builder.bundle is not None:
            data["path"] = str(builder.bundle)
        else:
            data["requirements"] = " ".join(named_requirements(_published_request(builder)))
        return (
            Step(
                id="resolve",
                kind=self.name,
                # A bundle brings its lock: nothing is asked, and nothing is run.
                code="resolve" if builder.bundle is None else "resolve-bundle",
                needs=builder.ids("python-runtime"),
                data=data,
                bytes=0,
                disk_bytes=0,
                minutes=builder.paces.resolve_minutes,
                commands=() if builder.bundle is not None else (_compile_command(builder),),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """An earlier run's lock for the very same wish serves again; a bundle brings its own."""
        bundle = context.downloads.bundle
        if bundle is not None:
            lock = bundle.read_lockfile(request_for_step(context.plan.recommendation, context.downloads))
            return _resolved(ResolvedLock(lock, lambda: None), context)
        resolver = _make_resolver(context)
        earlier = resolver.read_cached_lockfile()
        return None if earlier is None else _resolved(ResolvedLock(earlier, resolver.discard_cached_lockfile), context)

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises AppError: release-unavailable, no-source, environment-differs, environment-damaged."""
        resolver = _make_resolver(context)
        return _resolved(ResolvedLock(resolver.resolve(), resolver.discard_cached_lockfile), context)


def _make_resolver(context: InstallContext) -> Resolver:
    request = request_for_step(context.plan.recommendation, context.downloads, wheelhouse=context.plan.wheelhouse)
    return Resolver(request, context.uv, context.data, context.require(BaseInterpreter).path)


def request_for_step(
    recommendation: Recommendation,
    context: DownloadContext,
    *,
    wheelhouse: str | None = None,
    platform: Platform | None = None,
) -> PackageRequest:
    """The packages of a recommendation, for this computer or another one."""
    torch, target_system = (
        recommendation.pytorch,
        platform if platform is not None else context.system.operating_system(),
    )
    arch, catalog = target_system.arch or "x86_64", context.catalog
    serves_variant = (
        torch is not None and catalog.default_variant(torch.version, target_system.system, arch) == torch.variant
    )
    python = str(recommendation.python)
    constraints = catalog.numpy_constraints(torch.version if torch is not None else None, target_system.system)
    return build_request(
        recommendation,
        python=python,
        wheelhouse_folder=wheelhouse,
        serves_variant=serves_variant,
        constraints=constraints,
        platform=platform,
    )


def _resolved(resolved: ResolvedLock, context: InstallContext) -> Outcome:
    lock = resolved.lock
    for package in lock.packages:
        check_file(package.file)
    status = _status(lock, context)
    found = {"PyTorch": lock.version("torch"), "TensorFlow": lock.version("tensorflow")}
    told = " + ".join(f"{name} {version}" for name, version in found.items() if version is not None)
    data: dict[str, Value] = {"count": len(lock.packages), "release": told}
    return Outcome(code="progress.resolved", data=data, produces=(resolved, status))


def _status(lock: Lockfile, context: InstallContext) -> EnvironmentStatus:
    """How the environment stands; raises AppError: environment-differs, environment-damaged."""
    env = context.environment
    standing = managed_manifest(env, context.data)
    if standing is not None and standing.lock != lock.fingerprint:
        raise AppError("environment-differs", path=str(env))
    damaged = damaged_metadata(env, context.data)
    if damaged:
        _check_same_packages(lock, env)
    if standing is not None:
        damaged = find_damage(env, standing, context.system)
    if damaged and (env / CONDA_META).is_dir():
        # conda writes a folder's path into its files: none can be made beside it.
        raise AppError("environment-damaged", path=str(env), files=format_names(damaged))
    waiting = pending_verification(context.plan, context.journal)
    return EnvironmentStatus(
        complete=standing is not None and not damaged,
        damaged=damaged,
        awaits_proof=waiting is not None and waiting.lock == lock.fingerprint,
    )


def _check_same_packages(lockfile: Lockfile, environment: Path) -> None:
    """Where its own notes do not tell it any more, the packages tell whether it is the environment that is wanted."""
    installed = {package.name for package in inventory.installed_packages(environment)}
    for name in ("torch", "tensorflow"):
        version = lockfile.version(name)
        other = next((label for label in installed if label.startswith(f"{name} ")), None)
        if other is not None and other != f"{name} {version}":
            raise AppError("environment-differs", path=str(environment))


def _published_request(builder: PlanBuilder) -> PackageRequest:
    """What is asked of the publishers, whatever a folder of wheels has of it."""
    torch, system = builder.recommendation.pytorch, builder.machine.os.system
    constraints = builder.catalog.numpy_constraints(torch.version if torch is not None else None, system)
    return build_request(
        builder.recommendation,
        python=builder.series,
        wheelhouse_folder=None,
        serves_variant=False,
        constraints=constraints,
    )


def _compile_command(builder: PlanBuilder) -> tuple[str, ...]:
    """What a person would type for the lock, with the requirements in `requirements.in`."""
    # A folder of this computer's means nothing on the one of a machine file.
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
