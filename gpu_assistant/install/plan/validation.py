"""A plan file is untrusted: what it asks for is planned again on this computer, and has to come to the same steps.

Only the goal, the choices, the folders and the bundle of a file are used. Its steps are compared with our own by
kind, files and spec, and never carried out; nor is any text of theirs shown.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import msgspec

from ...core.errors import UsageError
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ..bundle.format import read_contents
from ..environment.location import CACHE_PREFIX_LENGTH, check_location, check_path_length
from ..steps.base import refused
from ..steps.registry import STEP_KINDS


def validate_plan(plan: Plan, data: DataDir) -> None:
    """Raise CallError("plan-refused"), ("plan-other-system") and those of `refuse_unfit` for a plan with unknown kinds
    of steps, with control characters in a text, or with a folder that we would not use.
    """
    try:
        _check_characters(msgspec.to_builtins(plan))
    except RecursionError:
        raise refused("depth", part="steps") from None
    unknown = [step.kind for step in plan.steps if step.kind not in STEP_KINDS]
    if unknown or not plan.steps:
        raise refused(f"steps: {', '.join(unknown)}", part="steps")
    environment = Path(plan.env)
    if not _is_plain(environment):
        is_other_system = PurePosixPath(plan.env).is_absolute() or PureWindowsPath(plan.env).is_absolute()
        if is_other_system and not environment.is_absolute():
            raise UsageError("plan-other-system", path=plan.env)
        raise refused(f"env: {plan.env}", part="env")
    if _is_ours(environment, data):
        raise refused(f"env: {plan.env}", part="env")
    check_location(environment)
    check_path_length(data.root, CACHE_PREFIX_LENGTH)
    if plan.wheelhouse is not None and not _is_plain(Path(plan.wheelhouse)):
        raise refused(f"wheelhouse: {plan.wheelhouse}", part="wheelhouse")
    if plan.bundle is not None and not _is_plain(Path(plan.bundle)):
        raise refused(f"bundle: {plan.bundle}", part="bundle")


def refuse_missing(plan: Plan) -> None:
    """Raise CallError("wheelhouse-missing"), or what reading a bundle raises, where a folder is not there."""
    if plan.wheelhouse is not None and not Path(plan.wheelhouse).is_dir():
        raise UsageError("wheelhouse-missing", path=plan.wheelhouse)
    if plan.bundle is not None:
        read_contents(Path(plan.bundle))


def refuse_differences(given: Plan, ours: Plan) -> None:
    """Raise CallError("plan-differs", parts=…) with every part in which a plan file is not what we plan here."""
    theirs, own = _contents(given), _contents(ours)
    kinds = [kind for kind in (*own, *theirs) if theirs.get(kind) != own.get(kind)]
    if kinds:
        parts = dict.fromkeys(f"@plan.part.{kind if kind in STEP_KINDS else 'step'}" for kind in kinds)
        raise UsageError("plan-differs", parts=", ".join(parts))


def _contents(plan: Plan) -> dict[str, list[object]]:
    """What has an effect, by the kind of step. The packages to resolve stand in the recommendation alone."""
    found: dict[str, list[object]] = {}
    for step in plan.steps:
        found.setdefault(step.kind, []).append((msgspec.to_builtins(step.spec), _files(step)))
    advice = plan.recommendation
    choice = (advice.python, advice.pytorch, advice.tensorflow)
    return found | {"resolve": [*found.get("resolve", ()), choice]}


def _files(step: Step) -> list[tuple[str, str, str | None]]:
    return [(file.url, file.name, file.sha256) for file in step.files]


def _is_ours(env: Path, data: DataDir) -> bool:
    """Whether it is the data folder, or lies where that keeps its own: what is cleared there would take it along."""
    return env == data.root or any(
        folder == env or folder in env.parents
        for folder in vars(data).values()
        if folder not in (data.root, data.environments)
    )


def _is_plain(path: Path) -> bool:
    """Absolute, without "..", and not on another computer."""
    return path.is_absolute() and ".." not in path.parts and not str(path).startswith(("\\\\", "//"))


def _check_characters(value: object, field: str = "") -> None:
    """No text has a character that a terminal would obey, turn around or break the line at."""
    if isinstance(value, str):
        if not value.isprintable():
            raise refused(field, part="letters")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_characters(name, field)
            _check_characters(item, f"{field}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for item in value:
            _check_characters(item, field)
