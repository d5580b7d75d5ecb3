"""Builds the environment from the files at hand, under a name that nothing counts as whole."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar

from ...core import json
from ...core.errors import AppError
from ...core.json import storage_error
from ...core.plan import CurrentState, Plan, Step
from ..environment.location import environment_now
from ..files import inventory
from ..files.staging import delete_folder, read_mark, write_mark
from ..host import ValidationContext
from ..packages.conda import python_version
from ..packages.uv import error_line
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
# pip reads the first of these in every environment on its own; only the system's own name counts there.
PIP_CONFIG_FILES = {"windows": "pip.ini"}
PINNED_PACKAGES = ("torch", "torchvision", "torchaudio", "tensorflow")


class PythonPackagesInstall(StepKind):
    """Where it is built, and of what, stand in the plan and the lock."""

    name: ClassVar[str] = "python-packages"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One environment."""
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
                code="python-packages" if builder.made_by == "venv" else "conda-packages",
                needs=("space", *builder.ids("python-runtime", "resolve", "download")),
                data={"release": builder.release, "env": environment},
                bytes=0,
                disk_bytes=sizes.disk_bytes,
                minutes=builder.paces.unpack_minutes(sizes.disk_bytes or builder.disk_about),
                # What was measured is PyTorch alone.
                minutes_least=sizes.disk_bytes is None and builder.recommendation.tensorflow is not None,
                commands=(
                    *((venv_command,) if builder.made_by == "venv" else ()),
                    ("uv", "pip", "sync", "--python", environment, "pylock.toml"),
                ),
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """The environment, if it stands."""
        return environment_now(plan, context)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:  # noqa: ARG002
        """It stands, made from the same lock, or is built of it and waits for its proof."""
        return Outcome(code="progress.standing") if context.require(EnvironmentStatus).built else None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: packages-failed, disk-full, folder-unwritable."""
        count = len(context.require(ResolvedLock).lock.packages)
        context.reporter.report_progress(done=0, total=count, unit="items", bottleneck="installing")
        # It has happened when the last step gives the environment its name.
        staged = context.produced(StagedEnvironment) or start_environment_effect(context, step)
        in_place = read_mark(context.environment) is not None
        if in_place:
            # conda's part is no longer as conda left it: a run that is killed from here on begins anew.
            write_mark(context.environment, "")
        else:
            if context.require(EnvironmentStatus).damaged:
                _clear_uv_cache(context)
            _create_venv(context)
        install_packages(context, break_system_packages=in_place)
        truncated = inventory.truncated_files(context.partial)
        if truncated and not in_place:
            _clear_uv_cache(context)
            _create_venv(context)
            install_packages(context, break_system_packages=False)
            truncated = inventory.truncated_files(context.partial)
        if truncated:
            _clear_uv_cache(context)
            raise AppError("packages-failed", path=str(context.environment), detail=truncated[0])
        write_metadata(context)
        context.reporter.report_progress(done=count, total=count, unit="items", bottleneck="installing")
        return Outcome(produces=(staged,))


def start_environment_effect(context: InstallContext, step: Step) -> StagedEnvironment:
    """Say in the journal that the environment is going to have its name."""
    effect = context.tree_made(context.environment)
    return StagedEnvironment(context.journal.start_effect(PythonPackagesInstall.name, effect, step.id))


def _create_venv(context: InstallContext) -> None:
    """An environment without packages, where it is built."""
    delete_folder(context.partial)
    _run_uv(context, "venv", "--relocatable", "--python", context.require(BaseInterpreter).path, context.partial)


def _clear_uv_cache(context: InstallContext) -> None:
    """Files of an environment and of what uv keeps unpacked are the same on the disk: both are damaged together."""
    delete_folder(context.data.uv_cache)


def install_packages(context: InstallContext, *, break_system_packages: bool) -> None:
    """The environment's packages; uv checks every file against the lock's hash once more.

    `force`: some of conda's Pythons bear a mark that only conda may install into them, which this one is for.
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
    requirements.unlink()


def write_metadata(context: InstallContext) -> None:
    """Lock, constraints, manifest, and the list of everything that is ours."""
    folder, lockfile = context.partial, context.require(ResolvedLock).lock
    json.write_file(folder / inventory.LOCK_FILE, lockfile.text)
    versions = {package.name: package.version for package in lockfile.packages}
    # The general index's PyTorch for Windows has no CUDA: without this a later `pip install` may put it in.
    json.write_file(
        folder / inventory.CONSTRAINTS_FILE,
        "".join(f"{name}=={versions[name]}\n" for name in PINNED_PACKAGES if name in versions),
    )
    config_name = PIP_CONFIG_FILES.get(context.system.name, "pip.conf")
    # As an address, because pip splits this setting at spaces.
    constraints = (context.environment / inventory.CONSTRAINTS_FILE).as_uri()
    json.write_file(folder / config_name, f"[install]\nconstraint = {constraints}\n")
    release, _, tag = (lockfile.version("torch") or "").partition("+")
    inventory.write_manifest(
        folder,
        inventory.EnvironmentManifest(
            schema="gpu-assistant/environment/1",
            path=str(context.environment),
            created=time.time(),
            python=python_version(folder) or _python_version(folder) or context.python,
            torch=release or None,
            variant=tag or (context.torch.variant if context.torch is not None else None),
            lock=lockfile.fingerprint,
            packages=versions,
            recommendation=context.plan.recommendation,
            bytes=_folder_bytes(folder),
        ),
    )
    inventory.write_file_manifest(folder)


def _run_uv(context: InstallContext, *arguments: str | Path) -> None:
    finished = context.uv.run(*arguments, timeout=INSTALL_TIMEOUT_S)
    if finished.returncode == 0:
        return
    text = finished.stderr.lower()
    if "os error 28" in text or "os error 112" in text:  # ENOSPC; Windows' ERROR_DISK_FULL
        raise AppError("disk-full", path=str(context.environment.parent))
    raise AppError("packages-failed", path=str(context.environment), detail=error_line(finished))


def _python_version(folder: Path) -> str | None:
    """The exact version that uv wrote into pyvenv.cfg."""
    config_path = folder / "pyvenv.cfg"
    if not config_path.is_file():
        return None
    for line in config_path.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version_info", "version"):
            return value.strip()
    return None


def _folder_bytes(folder: Path) -> int:
    """What the folder's files take, links not followed."""
    total = 0
    pending = [os.fspath(folder)]
    try:
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        raise storage_error(error, folder) from error
    return total
