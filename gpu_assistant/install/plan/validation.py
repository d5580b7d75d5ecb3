"""Checks of a plan file, which is untrusted: it may come from a stranger (decision 0011).

    app/setup.py: validate_plan ─► check_sources_exist ─► recommend and make_plan here, from the file's goal, choices,
                  folders and bundle ─► check_same_steps ─► our own plan is shown and run

The steps of the file are compared by kind, files and spec, and never run; none of its texts is shown.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec
from msgspec import UNSET

from ...core.errors import UsageError
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ..bundle.format import list_hash, read_contents
from ..environment.location import CACHE_PREFIX_LENGTH, DOWNLOADS_PREFIX_LENGTH, check_location, check_path_length
from ..files.inventory import format_names
from ..packages.requirements import hash_wheelhouse
from ..steps.base import plan_error
from ..steps.kinds import STEP_KINDS


def validate_plan(plan: Plan, data: DataDir) -> None:
    """Raise UsageError: "plan-refused" for unknown kinds of steps, control characters, and folders that we do not use;
    "plan-other-system" for the paths of another operating system; those of `check_location`.
    """
    try:
        _check_characters(msgspec.to_builtins(plan))
    except RecursionError:
        raise plan_error("depth", part="steps") from None
    unknown = [step.kind for step in plan.steps if step.kind not in STEP_KINDS]
    if unknown or not plan.steps:
        raise plan_error(f"steps: {', '.join(unknown)}", part="steps")
    environment = Path(plan.env)
    if not _is_plain(environment):
        is_other_system = PurePosixPath(plan.env).is_absolute() or PureWindowsPath(plan.env).is_absolute()
        if is_other_system and not environment.is_absolute():
            raise UsageError("plan-other-system", path=plan.env)
        raise plan_error(f"env: {plan.env}", part="env")
    if _is_app_data(environment, data):
        raise plan_error(f"env: {plan.env}", part="env")
    check_location(environment)
    if data.downloads == data.cache:
        check_path_length(data.root, CACHE_PREFIX_LENGTH)
    else:
        check_path_length(data.downloads, DOWNLOADS_PREFIX_LENGTH)
    if plan.wheelhouse is not None and not _is_plain(Path(plan.wheelhouse)):
        raise plan_error(f"wheelhouse: {plan.wheelhouse}", part="wheelhouse")
    if plan.bundle is not None and not _is_plain(Path(plan.bundle)):
        raise plan_error(f"bundle: {plan.bundle}", part="bundle")


def check_sources_exist(plan: Plan) -> None:
    """Raise UsageError("wheelhouse-missing"), or what `read_contents` raises, if a folder of the plan is missing."""
    if plan.wheelhouse is not None and not Path(plan.wheelhouse).is_dir():
        raise UsageError("wheelhouse-missing", path=plan.wheelhouse)
    if plan.bundle is not None:
        read_contents(Path(plan.bundle))


def check_sources(plan: Plan) -> str | None:
    """Compare a plan's folders with the checksums that it names; returns the SHA-256 of its bundle's list.

    Raises UsageError("wheelhouse-differs"), ("bundle-differs"), AppError.
    """
    if plan.wheelhouse is not None and plan.wheelhouse_files is not UNSET:
        given, found = plan.wheelhouse_files, hash_wheelhouse(Path(plan.wheelhouse))
        names = tuple(name for name in sorted({*given, *found}) if given.get(name) != found.get(name))
        if names:
            raise UsageError("wheelhouse-differs", path=plan.wheelhouse, files=format_names(names))
    return None if plan.bundle is None else list_hash(Path(plan.bundle), plan.bundle_sha256 or None)


def unproven_folders(plan: Plan) -> tuple[Path, ...]:
    """The folders of a plan of which it names no checksums: whoever may write there decides what is installed."""
    folders = ((plan.wheelhouse, plan.wheelhouse_files), (plan.bundle, plan.bundle_sha256))
    return tuple(Path(folder) for folder, known in folders if folder is not None and known is UNSET)


def check_same_steps(plan_file: Plan, own_plan: Plan) -> None:
    """Raise UsageError("plan-differs", parts=…) with every part in which a plan file differs from our own plan."""
    given, own = _contents(plan_file), _contents(own_plan)
    kinds = [kind for kind in (*own, *given) if given.get(kind) != own.get(kind)]
    if kinds:
        parts = dict.fromkeys(f"@plan.part.{kind if kind in STEP_KINDS else 'step'}" for kind in kinds)
        raise UsageError("plan-differs", parts=", ".join(parts))


def _contents(plan: Plan) -> dict[str, list[object]]:
    """What has an effect, by kind of step; for "resolve" that is also the recommended versions."""
    contents: dict[str, list[object]] = {}
    for step in plan.steps:
        contents.setdefault(step.kind, []).append((msgspec.to_builtins(step.spec), _files(step)))
    advice = plan.recommendation
    versions = (advice.python, advice.pytorch, advice.tensorflow)
    return contents | {"resolve": [*contents.get("resolve", ()), versions]}


def _files(step: Step) -> list[tuple[str, str, str | None]]:
    return [(file.url, file.name, file.sha256) for file in step.files]


def _is_app_data(environment: Path, data: DataDir) -> bool:
    """Whether it is the data folder, or below a folder in it whose contents we delete."""
    return environment == data.root or any(
        folder == environment or folder in environment.parents
        for folder in vars(data).values()
        if folder not in (data.root, data.environments)
    )


def _is_plain(path: Path) -> bool:
    """Whether it is absolute, without "..", and not on the network."""
    return path.is_absolute() and ".." not in path.parts and not str(path).startswith(("\\\\", "//"))


def _check_characters(value: object, field: str = "") -> None:
    """Raise if a text has control characters, line breaks or characters that change the direction of writing."""
    if isinstance(value, str):
        if not value.isprintable():
            raise plan_error(field, part="letters")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_characters(name, field)
            _check_characters(item, f"{field}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for item in value:
            _check_characters(item, field)
