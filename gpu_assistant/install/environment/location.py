"""Whose folder stands where the environment is meant to be, and whether anything can be written there.

The environments that install made and that still stand.

An environment that was built whole and has no name yet, because a restart or the user came before its proof.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from msgspec import UNSET, Struct, structs

from ...core.errors import AppError, UsageError
from ...core.json import storage_error
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan
from ...core.types import EnvironmentKind
from ...system.paths import enclosing_system_folder, max_path_length, onedrive_root, reserved_path_part
from ..files import inventory, staging
from ..files.inventory import FILE_MANIFEST, EnvironmentManifest, find_damage, format_names
from ..files.staging import staging_path
from ..host import ValidationContext
from ..journal import log
from ..journal.log import ENVIRONMENT_KINDS, Journal
from ..packages import lockfile
from ..packages.conda import CONDA_META
from ..packages.requirements import lock_path
from ..packages.sizes import request_for_plan

# The longest path inside a wheel of PyTorch (measured on 2.15.0 for Windows), and what stands before it.
LONGEST_WHEEL_PATH = 127
ENVIRONMENT_PREFIX_LENGTH = len("..partial/Lib/site-packages/")
CACHE_PREFIX_LENGTH = len("/cache/uv/archive-v0/0123456789abcdef/")


def check_not_shared(environment: Path) -> None:
    """Raise CallError("folder-shared") for a disk's root, the user's home and what lies above it, links followed."""
    home = Path.home()
    real_path = Path(os.path.realpath(environment))
    if {environment, real_path} & {environment.parent, real_path.parent, home, *home.parents}:
        raise UsageError("folder-shared", path=str(environment))


def check_location(environment: Path) -> None:
    """Raise CallError: "folder-shared", "folder-of-system", "folder-name-odd" where Windows makes no such folder,
    "folder-synced" in OneDrive, "folder-too-long" where PyTorch would not fit.
    """
    invalid_name = reserved_path_part(environment)
    if invalid_name is not None:
        raise UsageError("folder-name-odd", path=str(environment), name=invalid_name)
    check_not_shared(environment)
    system_path = enclosing_system_folder(environment)
    if system_path is not None:
        raise UsageError("folder-of-system", path=str(environment), own=str(system_path))
    sync_root = onedrive_root(environment)
    if sync_root is not None:
        raise UsageError("folder-synced", path=str(environment), synced=str(sync_root))
    check_path_length(environment, ENVIRONMENT_PREFIX_LENGTH)


def check_path_length(folder: Path, prefix_length: int) -> None:
    """Raise CallError("folder-too-long") where the longest path in a wheel does not fit `between` letters below."""
    max_length = max_path_length()
    if max_length is not None and len(str(folder)) + prefix_length + LONGEST_WHEEL_PATH > max_length:
        max_folder_length = max_length - prefix_length - LONGEST_WHEEL_PATH
        raise UsageError("folder-too-long", path=str(folder), length=len(str(folder)), most=max_folder_length)


def check_no_file(environment: Path) -> None:
    """Raise AppError("not-a-folder") if a file stands where it, or one of the folders above, is meant to be."""
    for parent in (environment, *environment.parents):
        if parent.is_dir():
            return
        if os.path.lexists(parent):
            raise AppError("not-a-folder", path=str(parent))


def check_writable(folder: Path) -> None:
    """Raise "folder-unwritable", "disk-read-only", "storage" where nothing can be written to a folder, or to the
    nearest one above while it is not there; leaves nothing behind. A full disk is told by the plan.
    """
    try:
        existing = next(existing for existing in (folder, *folder.parents) if existing.is_dir())
        probe = existing / f".gpu-assistant-probe-{secrets.token_hex(4)}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        failure = storage_error(error, folder)
        if failure.code != "disk-full":
            raise failure from error


def managed_manifest(environment: Path, data: DataDir) -> EnvironmentManifest | None:
    """The manifest of a whole environment that an install from this data folder made there; else None."""
    environment_manifest = inventory.read_manifest(environment)
    return (
        environment_manifest
        if environment_manifest is not None and environment in log.environment_paths(data)
        else None
    )


def damaged_metadata(environment: Path, data: DataDir) -> tuple[str, ...]:
    """Our own notes that are gone or damaged in an environment that an install made there, and in which the list of its
    files still lies; nothing for any other folder.
    """
    if not _is_managed(environment, data) or not (environment / inventory.FILE_MANIFEST).is_file():
        return ()
    return inventory.missing_metadata(environment)


def has_lost_metadata(environment: Path, data: DataDir) -> bool:
    """Whether an install made it there, and nothing tells any more what in it is ours."""
    is_not_empty = environment.is_dir() and any(environment.iterdir())
    has_file_manifest = os.path.lexists(environment / inventory.FILE_MANIFEST)
    return (
        is_not_empty
        and not has_file_manifest
        and _is_managed(environment, data)
        and not log.has_retained_files(data, environment)
    )


def _is_managed(environment: Path, data: DataDir) -> bool:
    return environment in log.environment_paths(data) and not os.path.lexists(environment / inventory.UNFINISHED_MARK)


def check_not_foreign(environment: Path, data: DataDir) -> None:
    """Raise AppError("environment-occupied") if anything stands at `environment` that we did not make, and that no
    removal of ours left there: that is moved aside. ("environment-elsewhere") for an environment that GPU Assistant
    made from another data folder, ("environment-without-notes") for one of ours that nothing can tell
    from the user's files any more.
    """
    try:
        is_empty = not environment.exists() or (environment.is_dir() and not any(environment.iterdir()))
    except PermissionError as error:
        raise AppError("folder-unwritable", path=str(environment)) from error
    is_unfinished = staging.read_mark(environment) is not None and environment in log.environment_paths(data)
    if is_empty or is_unfinished or managed_manifest(environment, data) is not None or has_leftovers(environment, data):
        return
    if damaged_metadata(environment, data):
        return
    if has_lost_metadata(environment, data):
        raise AppError("environment-without-notes", path=str(environment))
    if inventory.read_unfinished_manifest(environment) is not None:
        raise AppError("environment-elsewhere", path=str(environment))
    raise AppError("environment-occupied", path=str(environment))


def has_leftovers(environment: Path, data: DataDir) -> bool:
    """Whether what stands there is what a removal left of the user's."""
    if not environment.is_dir() or not log.has_retained_files(data, environment):
        return False
    return not any(os.path.lexists(environment / name) for name in (inventory.FILE_MANIFEST, inventory.UNFINISHED_MARK))


def check_not_app_data(folder: Path, data: DataDir) -> None:
    """Raise CallError("folder-of-ours") for a folder in which we keep our own files, and what lies in one."""
    app_path = data.managed_folder(folder)
    if app_path is not None:
        raise UsageError("folder-of-ours", path=str(folder), own=str(app_path))


def check_available(environment: Path, data: DataDir) -> None:
    """Raise what an install would where the place is not free: "folder-of-ours", "not-a-folder",
    "environment-occupied"; changes nothing.
    """
    check_not_app_data(environment, data)
    check_no_file(environment)
    check_not_foreign(environment, data)
    if environment in log.environment_paths(data):
        return
    for path in (staging.partial_path, staging.trash_path, staging.old_path):
        if path(environment).exists():
            raise AppError("environment-occupied", path=str(path(environment)))


def place_now(plan: Plan, context: ValidationContext) -> CurrentState | None:
    """What happens to the place of the environment before anything is put there."""
    env, data = Path(plan.env), context.data
    if has_leftovers(env, data) and any(env.iterdir()):
        return CurrentState(code="now.moves-aside", data={"path": plan.env, "to": str(staging.aside_path(env))})
    if env in log.environment_paths(data) and staging.staging_path(env).is_dir():
        return CurrentState(code="now.half-made", data={"path": plan.env})
    return None


def environment_now(plan: Plan, context: ValidationContext) -> CurrentState | None:
    """How the environment itself stands: whole, damaged, or another one."""
    env = Path(plan.env)
    made = managed_manifest(env, context.data)
    if made is None:
        return _damaged(env, damaged_metadata(env, context.data))
    if not _same(made, plan, context):
        versions = {"PyTorch": made.torch, "TensorFlow": made.packages.get("tensorflow"), "Python": made.python}
        told = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
        return CurrentState(code="now.differs", data={"path": plan.env, "versions": told})
    return _damaged(env, find_damage(env, made, context.system)) or CurrentState(
        code="now.stands", data={"path": plan.env}
    )


def _damaged(env: Path, broken: tuple[str, ...]) -> CurrentState | None:
    code = "now.damaged-conda" if (env / CONDA_META).is_dir() else "now.damaged"
    return CurrentState(code=code, data={"path": str(env), "files": format_names(broken)}) if broken else None


def _same(made: EnvironmentManifest, plan: Plan, context: ValidationContext) -> bool:
    """Whether it was made from the lock that this plan will use, as far as that is known before it is asked for."""
    advice = plan.recommendation
    wanted = request_for_plan(
        advice,
        context.system.operating_system(),
        context.catalog,
        python=str(advice.python),
        wheelhouse=plan.wheelhouse,
        simulated=False,
    )
    try:
        text = lock_path(context.data, wanted).read_text(encoding="utf-8")
        return lockfile.parse_lockfile(text, wanted.python, wanted.target).fingerprint == made.lock
    except (OSError, UnicodeDecodeError, AppError):
        torch, flow = advice.pytorch, advice.tensorflow
        asked = (torch and torch.version, torch and torch.variant, flow and flow.version)
        return (made.torch, made.variant, made.packages.get("tensorflow")) == asked


class Environment(Struct, frozen=True, kw_only=True):
    """One environment. `torch` "2.13.0" and `variant` "cpu" are None where it has no PyTorch; `bytes` on disk;
    `created` in seconds since the epoch; `made_by` the user's conda, or uv.
    """

    path: str
    name: str
    torch: str | None
    variant: str | None
    python: str
    bytes: int | None
    created: float
    made_by: EnvironmentKind = "venv"


def read_environment(path: Path) -> Environment | None:
    """The environment in a folder; None if it is not one of ours, or not a whole one."""
    environment_manifest = inventory.read_manifest(path)
    if environment_manifest is None:
        return None
    return Environment(
        path=str(path),
        name=path.name,
        torch=environment_manifest.torch,
        variant=environment_manifest.variant,
        python=environment_manifest.python,
        bytes=environment_manifest.bytes,
        created=environment_manifest.created,
        made_by="conda" if (path / CONDA_META).is_dir() else "venv",
    )


def list_environments(data: DataDir) -> tuple[Environment, ...]:
    """Every environment that the journal names and that stands whole, newest first."""
    environments = [
        environment for path in log.environment_paths(data) if (environment := read_environment(path)) is not None
    ]
    return tuple(sorted(environments, key=lambda environment: environment.created, reverse=True))


def pending_verification(plan: Plan, current_run: Journal) -> EnvironmentManifest | None:
    """The manifest of what waits for its proof, made for this very recommendation; else None.

    Only what an install left that came to an end of its own: what a power loss left may be hollow. Every file of its
    list is there, and they come to the size that was written down when it was made.
    """
    environment = Path(plan.env)
    partial = staging_path(environment)
    # What conda makes is made in its place, and is nobody else's.
    if (partial == environment) != any(step.kind == ENVIRONMENT_KINDS[1] for step in plan.steps):
        return None
    manifest_found = inventory.read_unfinished_manifest(partial)
    if manifest_found is None or manifest_found.path != plan.env or not _same_versions(manifest_found, plan):
        return None
    if not log.last_install_ended(current_run, plan.env):
        return None
    return manifest_found if _listed_size(partial) == manifest_found.bytes else None


def _same_versions(made: EnvironmentManifest, plan: Plan) -> bool:
    """Whether it is recommended alike, whichever of it was picked by hand."""
    plain = (structs.replace(each.recommendation, channel=UNSET, choice=UNSET) for each in (made, plan))
    return next(plain) == next(plain)


def discard_pending(environment: Path) -> None:
    """It did not pass its proof: the next run makes it again."""
    (staging_path(environment) / FILE_MANIFEST).unlink(missing_ok=True)


def _listed_size(folder: Path) -> int | None:
    """What the files of its list take but for the manifest, which tells it; None where one is missing."""
    try:
        names = (name for name in inventory.read_file_manifest(folder) if not name.endswith("/"))
        return sum((folder / name).lstat().st_size for name in names if name != inventory.MANIFEST_FILE)
    except OSError:
        return None
