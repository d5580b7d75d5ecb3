"""The folder of an environment: may one be made there, and which one is there already.

`check_*` raise for a folder that cannot be used: before a plan is made (`plan/planner.py`), when the user picks it
(`app/setup.py`), and again when the install begins (`steps/preflight.py`). An environment is ours if the journal has
its path and its manifest is in it (`managed_manifest`). A plan is previewed with `location_state` and
`environment_state`; `pending_verification` finds an environment that was built completely, but not verified and
renamed before the run ended.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from msgspec import UNSET, Struct, structs

from ...core import filesystem
from ...core.errors import AppError, UsageError, storage_error
from ...core.ownership import is_owned
from ...core.paths import DataDir, home_dir
from ...core.plan import CurrentState, Plan
from ...core.types import EnvironmentKind
from ...system.conda import is_conda_environment
from ...system.paths import enclosing_system_folder, max_path_length, onedrive_root, reserved_path_part
from ..files import inventory, staging
from ..files.inventory import FILE_MANIFEST, EnvironmentManifest, find_damage, format_names
from ..files.staging import staging_path
from ..host import PreviewContext
from ..journal import log
from ..journal.log import ENVIRONMENT_KINDS, Journal
from ..packages import lockfile
from ..packages.requirements import build_request, cached_lock_path

# Characters: the longest path inside a PyTorch wheel (measured on 2.15.0 for Windows), and the folders above it.
LONGEST_WHEEL_PATH = 127
ENVIRONMENT_PREFIX_LENGTH = len("..partial/Lib/site-packages/")
DOWNLOADS_PREFIX_LENGTH = len("/uv/archive-v0/0123456789abcdef/")
CACHE_PREFIX_LENGTH = len("/cache") + DOWNLOADS_PREFIX_LENGTH


def check_not_shared(environment: Path) -> None:
    """Raise UsageError("folder-shared") for a disk's root, the home folder and the folders above it, links resolved."""
    home = home_dir()
    real_path = Path(os.path.realpath(environment))
    if {environment, real_path} & {environment.parent, real_path.parent, home, *home.parents}:
        raise UsageError("folder-shared", path=str(environment))


def check_location(environment: Path, prefix_length: int = ENVIRONMENT_PREFIX_LENGTH) -> None:
    """Raise UsageError: "folder-shared", "folder-of-system", "folder-name-odd" (a name that Windows reserves),
    "folder-synced" (in OneDrive), "folder-too-long" (the paths of PyTorch's files would be too long `prefix_length`
    characters below it).
    """
    check_name(environment)
    check_not_shared(environment)
    system_path = enclosing_system_folder(environment)
    if system_path is not None:
        raise UsageError("folder-of-system", path=str(environment), own=str(system_path))
    sync_root = onedrive_root(environment)
    if sync_root is not None:
        raise UsageError("folder-synced", path=str(environment), synced=str(sync_root))
    check_path_length(environment, prefix_length)


def check_name(folder: Path) -> None:
    """Raise UsageError("folder-name-odd") for a name that Windows reserves; there it looks like a file's."""
    invalid_name = reserved_path_part(folder)
    if invalid_name is not None:
        raise UsageError("folder-name-odd", path=str(folder), name=invalid_name)


def check_path_length(folder: Path, prefix_length: int) -> None:
    """Raise UsageError("folder-too-long") if the longest path in a wheel would be too long `prefix_length` characters
    below the folder.
    """
    max_length = max_path_length()
    if max_length is not None and len(str(folder)) + prefix_length + LONGEST_WHEEL_PATH > max_length:
        max_folder_length = max_length - prefix_length - LONGEST_WHEEL_PATH
        raise UsageError("folder-too-long", path=str(folder), length=len(str(folder)), most=max_folder_length)


def check_no_file(environment: Path) -> None:
    """Raise AppError("not-a-folder") if it, or one of the folders above, is a file."""
    for parent in (environment, *environment.parents):
        if parent.is_dir():
            return
        if os.path.lexists(parent):
            raise AppError("not-a-folder", path=str(parent))


def check_writable(folder: Path) -> None:
    """Raise AppError "folder-unwritable", "disk-read-only", "storage" if nothing can be written to the folder or, if it
    is missing, to the nearest one above. Leaves nothing behind. A full disk is not an error here: the plan says it.
    """
    try:
        existing = next(existing for existing in (folder, *folder.parents) if existing.is_dir())
        probe = existing / f".gpu-assistant-probe-{secrets.token_hex(4)}"
        probe.write_bytes(b"")
        filesystem.unlink(probe)
    except OSError as error:
        failure = storage_error(error, folder)
        if failure.code != "disk-full":
            raise failure from error


def check_not_app_data(folder: Path, data: DataDir) -> None:
    """Raise UsageError("folder-of-ours") for a folder in which we keep our own files, and for any below."""
    app_path = data.managed_folder(folder)
    if app_path is not None:
        raise UsageError("folder-of-ours", path=str(folder), own=str(app_path))


def check_not_foreign(environment: Path, data: DataDir) -> None:
    """Raise AppError "environment-occupied" if the folder holds anything that we did not make, except what an uninstall
    left there of the user's, which an install moves aside. "environment-elsewhere" for an environment made with another
    data folder, "environment-without-notes" for one of ours without its file manifest.
    """
    try:
        is_empty = not environment.exists() or (environment.is_dir() and not any(environment.iterdir()))
    except PermissionError as error:
        raise AppError("folder-unwritable", path=str(environment)) from error
    is_unfinished = (
        staging.read_mark(environment) is not None
        and is_owned(environment, environment)
        and environment in log.environment_paths(data)
    )
    if is_empty or is_unfinished or managed_manifest(environment, data) is not None or has_leftovers(environment, data):
        return
    if damaged_metadata(environment, data):
        return
    if has_lost_metadata(environment, data):
        raise AppError("environment-without-notes", path=str(environment))
    if inventory.read_unfinished_manifest(environment) is not None:
        raise AppError("environment-elsewhere", path=str(environment))
    raise AppError("environment-occupied", path=str(environment))


def check_available(environment: Path, data: DataDir) -> None:
    """Raise what an install would raise for this folder: "folder-of-ours", "not-a-folder", and those of
    `check_not_foreign`. Changes nothing.
    """
    check_not_app_data(environment, data)
    check_no_file(environment)
    check_not_foreign(environment, data)
    if environment in log.environment_paths(data):
        return
    for path in (staging.partial_path, staging.trash_path, staging.old_path):
        if path(environment).exists():
            raise AppError("environment-occupied", path=str(path(environment)))


def managed_manifest(environment: Path, data: DataDir) -> EnvironmentManifest | None:
    """The manifest of a complete environment that an install with this data folder made there; else None."""
    manifest = inventory.read_manifest(environment)
    return manifest if manifest is not None and environment in log.environment_paths(data) else None


def damaged_metadata(environment: Path, data: DataDir) -> tuple[str, ...]:
    """The missing or unreadable metadata files of an environment that an install made and whose file manifest is there;
    empty for any other folder.
    """
    if not _is_managed(environment, data) or not (environment / inventory.FILE_MANIFEST).is_file():
        return ()
    return inventory.missing_metadata(environment)


def has_lost_metadata(environment: Path, data: DataDir) -> bool:
    """Whether an install made it, and its file manifest, which says which files are ours, is missing."""
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


def has_leftovers(environment: Path, data: DataDir) -> bool:
    """Whether the folder holds only what an uninstall left of the user's."""
    if not environment.is_dir() or not log.has_retained_files(data, environment):
        return False
    return not any(os.path.lexists(environment / name) for name in (inventory.FILE_MANIFEST, inventory.UNFINISHED_MARK))


def location_state(plan: Plan, context: PreviewContext) -> CurrentState | None:
    """What a plan shows of the folder before an environment is made there: what is moved aside or continued."""
    env, data = Path(plan.env), context.data
    if has_leftovers(env, data) and any(env.iterdir()):
        return CurrentState(code="now.moves-aside", data={"path": plan.env, "to": str(staging.aside_path(env))})
    if env in log.environment_paths(data) and is_owned(staging.staging_path(env), env):
        return CurrentState(code="now.half-made", data={"path": plan.env})
    return None


def environment_state(plan: Plan, context: PreviewContext) -> CurrentState | None:
    """What a plan shows of the environment that is there: complete, damaged, or a different one."""
    environment = Path(plan.env)
    manifest = managed_manifest(environment, context.data)
    if manifest is None:
        return _damage_state(environment, damaged_metadata(environment, context.data))
    if not _has_requested_packages(manifest, plan, context):
        versions = {
            "PyTorch": manifest.torch,
            "TensorFlow": manifest.packages.get("tensorflow"),
            "Python": manifest.python,
        }
        label = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
        return CurrentState(code="now.differs", data={"path": plan.env, "versions": label})
    return _damage_state(environment, find_damage(environment, manifest, context.system)) or CurrentState(
        code="now.stands", data={"path": plan.env}
    )


def _damage_state(environment: Path, damaged: tuple[str, ...]) -> CurrentState | None:
    if not damaged:
        return None
    code = "now.damaged-conda" if is_conda_environment(environment) else "now.damaged"
    return CurrentState(code=code, data={"path": str(environment), "files": format_names(damaged)})


def _has_requested_packages(manifest: EnvironmentManifest, plan: Plan, context: PreviewContext) -> bool:
    """Whether it was made from the lock file that the plan will use; without a cached one, by the main versions."""
    advice = plan.recommendation
    request = build_request(advice, context.catalog, context.system.operating_system(), wheelhouse=plan.wheelhouse)
    try:
        text = filesystem.read_text(cached_lock_path(context.data, request))
        lock = lockfile.parse_lockfile(text, request.python, request.platform, request.sdists)
        return lock.fingerprint == manifest.lock
    except (OSError, UnicodeDecodeError, AppError):
        torch, tensorflow = advice.pytorch, advice.tensorflow
        requested = (torch and torch.version, torch and torch.variant, tensorflow and tensorflow.version)
        return (manifest.torch, manifest.variant, manifest.packages.get("tensorflow")) == requested


class Environment(Struct, frozen=True, kw_only=True):
    """An environment for people to choose from. `torch` "2.13.0" and `variant` "cpu" are None without PyTorch; `bytes`
    on disk; `created` in seconds since the epoch; `made_by` the user's conda, or uv ("venv").
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
    """The environment in a folder; None if it is not ours or incomplete."""
    manifest = inventory.read_manifest(path)
    if manifest is None:
        return None
    return Environment(
        path=str(path),
        name=path.name,
        torch=manifest.torch,
        variant=manifest.variant,
        python=manifest.python,
        bytes=manifest.bytes,
        created=manifest.created,
        made_by="conda" if is_conda_environment(path) else "venv",
    )


def list_environments(data: DataDir) -> tuple[Environment, ...]:
    """Every complete environment whose path is in the journal, newest first."""
    environments = [
        environment for path in log.environment_paths(data) if (environment := read_environment(path)) is not None
    ]
    return tuple(sorted(environments, key=lambda environment: environment.created, reverse=True))


def pending_verification(plan: Plan, current_run: Journal) -> EnvironmentManifest | None:
    """The manifest of an environment that was built for this very recommendation and is not verified yet; else None.

    The run that built it must have ended by itself: after a power failure, files may be empty. All listed files must be
    there and have the recorded total size.
    """
    environment = Path(plan.env)
    partial = staging_path(environment)
    # Only conda makes environments in their final place.
    if not is_owned(partial, environment) or (partial == environment) != any(
        step.kind == ENVIRONMENT_KINDS[1] for step in plan.steps
    ):
        return None
    manifest = inventory.read_unfinished_manifest(partial)
    if manifest is None or manifest.path != plan.env or not _same_versions(manifest, plan):
        return None
    if not log.previous_install_ended(current_run, plan.env):
        return None
    return manifest if _listed_size(partial) == manifest.bytes else None


def _same_versions(manifest: EnvironmentManifest, plan: Plan) -> bool:
    """Whether both recommend the same, whatever the user chose by hand."""
    first, second = (structs.replace(each.recommendation, channel=UNSET, choice=UNSET) for each in (manifest, plan))
    return first == second


def discard_pending(environment: Path) -> None:
    """Have the next run build an environment again that failed its verification."""
    filesystem.unlink(staging_path(environment) / FILE_MANIFEST, missing_ok=True)


def _listed_size(folder: Path) -> int | None:
    """The bytes of the listed files without the manifest, which records this number; None if one is missing."""
    try:
        names = (name for name in inventory.read_file_manifest(folder) if not name.endswith("/"))
        return sum((folder / name).lstat().st_size for name in names if name != inventory.MANIFEST_FILE)
    except OSError:
        return None
