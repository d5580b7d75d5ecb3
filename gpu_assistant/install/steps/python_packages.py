"""Building the environment from the downloaded files, under its partial name.

`verify.py` gives it its final name after it has passed verification.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from ...core import filesystem, json
from ...core.errors import AppError, Cancelled, storage_errors
from ...core.ownership import MARKER_NAME
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, Step
from ..environment.location import environment_state
from ..files import inventory
from ..files.installed_packages import CONSTRAINTS_FILE, corrupt_files, installed_packages, is_conda_record
from ..files.inventory import LOCK_FILE, FolderScan, scan_folder
from ..files.staging import begin_partial, read_mark, write_mark
from ..files.wheel_files import WheelFiles, find_strays, read_wheel, wheel_contents
from ..host import PreviewContext
from ..journal.log import Effect, TreeCreated
from ..journal.validation import is_same
from ..packages.conda import python_version
from ..packages.uv import clear_cache, error_line, is_disk_full
from .base import StepKind
from .context import (
    BaseInterpreter,
    EnvironmentStatus,
    FetchedPackages,
    InstallContext,
    Outcome,
    ResolvedLock,
    StagedEnvironment,
)
from .plan_builder import PlanBuilder

INSTALL_TIMEOUT_S = 3600.0
# The configuration file that pip reads in an environment; elsewhere it is pip.conf.
PIP_CONFIG_FILES = {"windows": "pip.ini"}
CONSTRAINED_PACKAGES = ("torch", "torchvision", "torchaudio", "tensorflow")


class PythonPackagesInstall(StepKind):
    """Installs the lock file's packages into a new environment, or into conda's."""

    name: ClassVar[str] = "python-packages"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        environment, sizes = str(builder.environment), builder.sizes
        (runtime,) = (step for step in builder.steps if step.id in builder.ids("python-runtime"))
        venv_command = (
            "uv",
            "venv",
            "--relocatable",
            "--python",
            str(runtime.spec.get("path") or builder.series),
            environment,
        )
        return (
            Step(
                id="pytorch",
                kind=self.name,
                code="python-packages" if builder.environment_kind == "venv" else "conda-packages",
                needs=("space", *builder.ids("python-runtime", "resolve", "download")),
                data={"release": builder.release, "env": environment},
                bytes=0,
                disk_bytes=sizes.disk_bytes,
                minutes=builder.durations.unpack_minutes(sizes.disk_bytes or builder.estimated_disk_bytes),
                # Only PyTorch was measured.
                minutes_least=sizes.disk_bytes is None and builder.recommendation.tensorflow is not None,
                commands=(
                    *((venv_command,) if builder.environment_kind == "venv" else ()),
                    ("uv", "pip", "sync", "--python", environment, "pylock.toml"),
                ),
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        return environment_state(plan, context)

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return isinstance(effect, TreeCreated) and environment is not None and is_same(effect.path, Path(environment))

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        return Outcome(code="progress.standing") if context.require(EnvironmentStatus).is_built else None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: packages-failed, disk-full, folder-unwritable."""
        count = len(context.require(ResolvedLock).lock.packages)
        context.reporter.report_progress(done=0, total=count, unit="items", bottleneck="installing")
        # The effect is done when `verify.py` gives the environment its name.
        staged = context.produced(StagedEnvironment) or start_environment_effect(context, step)
        in_place = read_mark(context.environment) is not None
        with ThreadPoolExecutor(1, "wheels") as thread:
            # Read while uv works.
            wheels = thread.submit(_read_wheels, context)
            if in_place:
                # The environment is no longer as conda made it: after a kill from here on it is made again.
                write_mark(context.environment, "")
            else:
                if context.require(EnvironmentStatus).damaged:
                    _clear_uv_cache(context)
                _create_venv(context)
            scan = _install_sound_packages(context, wheels, in_place=in_place)
        write_metadata(context, scan)
        context.reporter.report_progress(done=count, total=count, unit="items", bottleneck="installing")
        return Outcome(produces=(staged,))


def start_environment_effect(context: InstallContext, step: Step) -> StagedEnvironment:
    """Record in the journal that the environment is about to be made."""
    effect = context.tree_effect(context.environment)
    return StagedEnvironment(context.journal.start_effect(PythonPackagesInstall.name, effect, step.id))


def _read_wheels(context: InstallContext) -> tuple[WheelFiles, ...]:
    """What the downloaded wheels hold; raises AppError("local-file-broken"), Cancelled."""
    wheels = []
    for path in context.require(FetchedPackages).files:
        if context.cancel.is_set():
            raise Cancelled
        if path.suffix == ".whl":
            wheels.append(read_wheel(path))
    return tuple(wheels)


def _install_sound_packages(
    context: InstallContext, wheels: Future[tuple[WheelFiles, ...]], *, in_place: bool
) -> FolderScan:
    """Install the packages; once more with an empty cache where uv fails, or gives other files than the wheels have.
    Returns what is in the environment then. Raises AppError: packages-failed, disk-full.
    """
    try:
        return _install_and_compare(context, wheels, break_system_packages=in_place)
    except AppError as error:
        if error.code != "packages-failed":
            raise
        _clear_uv_cache(context)
        if in_place:
            raise
        context.reporter.log(f"once more with an empty cache: {error.data.get('detail')}")
        _create_venv(context)
        return _install_and_compare(context, wheels, break_system_packages=False)


def _install_and_compare(
    context: InstallContext, wheels: Future[tuple[WheelFiles, ...]], *, break_system_packages: bool
) -> FolderScan:
    """Install the packages, and compare every file with what the wheels have. uv compares none, and takes all from its
    cache: there a disk's fault, or whoever changed an environment that shares them by hard links, may have left others.
    Returns what was compared.
    """
    base = scan_folder(context.partial)
    install_packages(context, break_system_packages=break_system_packages)
    locked = context.require(ResolvedLock).lock.packages
    sources = {package.name for package in locked if not package.file.name.endswith(".whl")}
    scan = scan_folder(context.partial)
    sizes = {name: stamp.size for name, stamp in scan.stamps.items() if stamp is not None}
    # A RECORD may have been changed with its files: of what the wheels' own say, theirs counts.
    known_lines = {line for wheel in wheels.result() for line in wheel.record_lines}
    packages = installed_packages(context.partial, known_lines)
    contents = wheel_contents(context.partial, packages, wheels.result())

    def report(done: int, total: int) -> None:
        context.reporter.report_progress(done=done, total=total, unit="bytes", bottleneck="checking")

    # conda compares its own.
    by_wheels = (package for package in packages if not is_conda_record(package.record_path))
    corrupt = corrupt_files(context.partial, by_wheels, context.cancel, report, expected=contents, scanned_sizes=sizes)
    wrong = (*corrupt, *find_strays(scan, packages, base, contents, sources))
    if wrong:
        raise AppError("packages-failed", path=str(context.environment), detail=wrong[0])
    return scan


def _create_venv(context: InstallContext) -> None:
    """Make an environment without packages."""
    begin_partial(context.environment)
    _run_uv(
        context,
        "venv",
        "--offline",
        "--allow-existing",
        "--relocatable",
        "--python",
        context.require(BaseInterpreter).path,
        context.partial,
    )


def _clear_uv_cache(context: InstallContext) -> None:
    """uv links the files of an environment to those of its cache: if one is damaged, so is the other."""
    clear_cache(context.data, context.cancel.is_set)


def install_packages(context: InstallContext, *, break_system_packages: bool) -> None:
    """Install the packages; uv compares every file with the lock file's hash again.

    `break_system_packages`: conda marks some of its Pythons as externally managed (PEP 668).
    """
    requirements = context.partial / "requirements.txt"
    lines = [
        f"{package.name}=={package.version} --hash=sha256:{package.file.sha256}\n"
        for package in context.require(ResolvedLock).lock.packages
    ]
    json.write_file(requirements, "".join(lines))
    folders = dict.fromkeys(file.parent for file in context.require(FetchedPackages).files)
    link_options = [option for folder in folders for option in ("--find-links", folder)]
    python = context.system.environment_python(context.partial)
    _run_uv(
        context,
        *("pip", "install", "--offline", "--no-index", "--no-deps", "--require-hashes"),
        *(("--break-system-packages",) if break_system_packages else ()),
        *(*link_options, "--python", python, "--requirements", requirements),
    )
    filesystem.unlink(requirements)


def write_metadata(context: InstallContext, scan: FolderScan) -> None:
    """Write the lock file, pip's constraints, the manifest, and the file manifest, which lists what was compared as it
    was then.
    """
    folder, lockfile = context.partial, context.require(ResolvedLock).lock
    json.write_file(folder / LOCK_FILE, lockfile.text)
    versions = {package.name: package.version for package in lockfile.packages}
    # PyPI's PyTorch for Windows has no CUDA; without constraints, a later `pip install` may replace ours with it.
    json.write_file(
        folder / CONSTRAINTS_FILE,
        "".join(f"{name}=={versions[name]}\n" for name in CONSTRAINED_PACKAGES if name in versions),
    )
    config_name = PIP_CONFIG_FILES.get(context.system.name, "pip.conf")
    # As a URL, because pip splits this setting at spaces.
    constraints = (context.environment / CONSTRAINTS_FILE).as_uri()
    json.write_file(folder / config_name, f"[install]\nconstraint = {constraints}\n")
    release, _, tag = (lockfile.version("torch") or "").partition("+")
    names = (LOCK_FILE, CONSTRAINTS_FILE, config_name)
    with storage_errors(folder):
        stamps = scan.stamps | inventory.stamp_files(folder, names)
    inventory.write_manifest(
        folder,
        inventory.EnvironmentManifest(
            schema="gpu-assistant/environment/1",
            path=str(context.environment),
            created=time.time(),
            python=python_version(folder) or _python_version(folder) or context.python_series,
            torch=release or None,
            variant=tag or (context.torch.variant if context.torch is not None else None),
            lock=lockfile.fingerprint,
            packages=versions,
            recommendation=context.plan.recommendation,
            bytes=sum(stamp.size for name, stamp in stamps.items() if stamp is not None and name != MARKER_NAME),
        ),
    )
    inventory.write_scanned_manifest(folder, scan, (*names, inventory.MANIFEST_FILE))


def _run_uv(context: InstallContext, *arguments: str | Path) -> None:
    finished = context.uv.run(*arguments, timeout=INSTALL_TIMEOUT_S)
    if finished.returncode == 0:
        return
    if is_disk_full(finished):
        raise AppError("disk-full", path=str(context.environment.parent))
    raise AppError("packages-failed", path=str(context.environment), detail=error_line(finished))


def _python_version(folder: Path) -> str | None:
    """The exact Python version, from pyvenv.cfg."""
    config_path = folder / "pyvenv.cfg"
    if not config_path.is_file():
        return None
    for line in config_path.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version_info", "version"):
            return value.strip()
    return None
