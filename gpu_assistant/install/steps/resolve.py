"""Which files exactly: the lock, from an earlier run or from the first source that has everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from ...core.errors import AppError
from ...core.plan import Plan, Step
from ...core.recommendation import PyTorchChoice, Recommendation, TensorFlowChoice
from ...core.types import Value
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files import inventory
from ..files.inventory import find_damage, format_names
from ..host import ValidationContext
from ..packages.conda import CONDA_META
from ..packages.lockfile import Lockfile
from ..packages.requirements import BASE_PACKAGES, PackageRequest, Platform, build_request
from ..packages.resolver import Resolver, named_requirements
from ..plan.validation import check_plan_file, plan_refused_error
from .base import StepKind, check_fields
from .context import DownloadContext, InstallContext, Outcome
from .plan_builder import PlanBuilder

_SERIES_PATTERN = re.compile(r"3\.\d{1,2}\Z")
_VERSION_PATTERN = re.compile(r"\d+(\.\d+){1,3}((a|b|rc)\d+)?\Z")
_EXTRA_PATTERN = re.compile(r"\[.*?\]")
_VARIANT_PATTERN = re.compile(r"[a-z]+[0-9.]*\Z")


class PackageResolution(StepKind):
    """What is asked for stands in the plan's recommendation."""

    name: ClassVar[str] = "resolve"
    codes: ClassVar[tuple[str, ...]] = ("resolve", "resolve-bundle")
    required_before: ClassVar[tuple[str, ...]] = ("python-runtime",)

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
        data: dict[str, Value] = {
            "release": builder.release_label,
            "python": builder.python_series,
            "packages": packages,
        }
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
                needs=builder.step_ids("python-runtime"),
                data=data,
                bytes=0,
                disk_bytes=0,
                minutes=builder.durations.resolve_minutes,
                commands=() if builder.bundle is not None else (_compile_command(builder),),
            ),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """The recommendation's versions are versions, and packages come from no address of the plan's own."""
        check_fields(step)
        torch, tensorflow = plan.recommendation.pytorch, plan.recommendation.tensorflow
        if torch is None and tensorflow is None:
            raise plan_refused_error("pytorch")
        if _SERIES_PATTERN.match(plan.recommendation.python or "") is None:
            raise plan_refused_error(f"python: {plan.recommendation.python}")
        if torch is not None:
            _validate_pytorch(torch, context)
        if tensorflow is not None:
            _validate_tensorflow(tensorflow, context)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """An earlier run's lock for the very same wish serves again; a bundle brings its own."""
        if context.bundle is not None:
            return _use_lockfile(
                context.bundle.read_lockfile(request_for_step(context.plan.recommendation, context)), context
            )
        cached = _make_resolver(context).read_cached_lockfile()
        return None if cached is None else _use_lockfile(cached, context)

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises AppError: release-unavailable, no-source, environment-differs, environment-damaged."""
        return _use_lockfile(_make_resolver(context).resolve(), context)


def _make_resolver(context: InstallContext) -> Resolver:
    request = request_for_step(context.plan.recommendation, context, wheelhouse=context.plan.wheelhouse)
    resolver = Resolver(request, context.uv, context.data, context.interpreter)
    context.discard_lockfile = resolver.discard_cached_lockfile
    return resolver


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


def _use_lockfile(lockfile: Lockfile, context: InstallContext) -> Outcome:
    context.lockfile = lockfile
    for package in lockfile.packages:
        check_plan_file(package.file)
    existing = managed_manifest(context.environment, context.data)
    if existing is not None and existing.lock != lockfile.fingerprint:
        raise AppError("environment-differs", path=str(context.environment))
    context.damaged_files = damaged_metadata(context.environment, context.data)
    if context.damaged_files:
        _check_same_packages(lockfile, context.environment)
    if existing is not None:
        context.damaged_files = find_damage(context.environment, existing, context.system)
    if context.damaged_files and (context.environment / CONDA_META).is_dir():
        # conda writes a folder's path into its files: none can be made beside it.
        raise AppError("environment-damaged", path=str(context.environment), files=format_names(context.damaged_files))
    context.is_installed = existing is not None and not context.damaged_files
    pending = pending_verification(context.plan, context.journal)
    context.awaits_verification = pending is not None and pending.lock == lockfile.fingerprint
    versions = {"PyTorch": lockfile.version("torch"), "TensorFlow": lockfile.version("tensorflow")}
    release = " + ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
    return Outcome(code="progress.resolved", data={"count": len(lockfile.packages), "release": release})


def _check_same_packages(lockfile: Lockfile, environment: Path) -> None:
    """Where its own notes do not tell it any more, the packages tell whether it is the environment that is wanted."""
    installed = {package.name for package in inventory.installed_packages(environment)}
    for name in ("torch", "tensorflow"):
        version = lockfile.version(name)
        other = next((label for label in installed if label.startswith(f"{name} ")), None)
        if other is not None and other != f"{name} {version}":
            raise AppError("environment-differs", path=str(environment))


def _validate_pytorch(torch: PyTorchChoice, context: ValidationContext) -> None:
    versions = [v for v in (torch.version, torch.torchvision, torch.torchaudio) if v is not None]
    if (
        not all(_VERSION_PATTERN.match(version) for version in versions)
        or _VARIANT_PATTERN.match(torch.variant) is None
    ):
        raise plan_refused_error(f"pytorch: {torch.version} {torch.variant} {torch.torchvision} {torch.torchaudio}")
    # Packages run code: only an address that the catalog names for some build may bring them.
    known_urls = {variant.index_url for release in context.catalog.releases for variant in release.variants}
    if torch.index_url is not None and torch.index_url not in known_urls:
        raise plan_refused_error(f"index_url: {torch.index_url}")


def _validate_tensorflow(tensorflow: TensorFlowChoice, context: ValidationContext) -> None:
    """Only a requirement of the catalog, with or without its extra, and the cuDNN that the catalog holds back."""
    known_requirements = {build.requirement for build in context.catalog.tensorflow.builds}
    known_requirements |= {_EXTRA_PATTERN.sub("", requirement) for requirement in known_requirements}
    if tensorflow.requirement not in known_requirements or _VERSION_PATTERN.match(tensorflow.version) is None:
        raise plan_refused_error(f"tensorflow: {tensorflow.requirement} {tensorflow.version}")
    cudnn = context.catalog.cudnn
    known_constraints = {f"{package}=={cudnn.last_for_old_chips.version}" for package in cudnn.wheel_packages.values()}
    if not known_constraints.issuperset(tensorflow.constraints):
        raise plan_refused_error(f"tensorflow: {' '.join(tensorflow.constraints)}")


def _published_request(builder: PlanBuilder) -> PackageRequest:
    """What is asked of the publishers, whatever a folder of wheels has of it."""
    torch, system = builder.recommendation.pytorch, builder.machine.os.system
    constraints = builder.catalog.numpy_constraints(torch.version if torch is not None else None, system)
    return build_request(
        builder.recommendation,
        python=builder.python_series,
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
        builder.python_series,
        *index_options,
        "-o",
        "pylock.toml",
    )
