"""A plan may come from a file that somebody sent: everything in it that has an effect is checked first."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

import msgspec

from ..core.errors import UsageError
from ..core.message import Value
from ..core.paths import DataDir
from ..core.plan import Plan, PlanFile, Step
from .occupied import CACHE_PREFIX_LENGTH, check_path_length, check_location
from .place import ValidationContext

_STEP_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}\Z")
_SHA256_PATTERN = re.compile(r"[0-9a-f]{64}\Z")
# Of what a broken file holds, so much is shown.
MAX_DETAIL_LENGTH = 120
# Beyond these no plan of ours comes near.
MAX_BYTES = 2**50
MAX_MINUTES = 366 * 24 * 60
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


def validate_plan(plan: Plan, context: ValidationContext) -> None:
    """Raise CallError("plan-refused", detail=…) and those of `refuse_unfit` for a plan that must not run here."""
    from .steps import STEP_KINDS

    try:
        _check_characters(msgspec.to_builtins(plan))
    except RecursionError:
        raise plan_refused_error("depth", part="steps") from None
    _check_numbers(plan)
    _check_order(plan)
    environment = Path(plan.env)
    if not is_plain_folder(environment):
        is_other_system = PurePosixPath(plan.env).is_absolute() or PureWindowsPath(plan.env).is_absolute()
        if is_other_system and not environment.is_absolute():
            raise UsageError("plan-other-system", path=plan.env)
        raise plan_refused_error(f"env: {plan.env}", part="env")
    if _is_app_data(environment, context.data):
        raise plan_refused_error(f"env: {plan.env}", part="env")
    check_location(environment)
    check_path_length(context.data.root, CACHE_PREFIX_LENGTH)
    if plan.wheelhouse is not None and not is_plain_folder(Path(plan.wheelhouse)):
        raise plan_refused_error(f"wheelhouse: {plan.wheelhouse}", part="wheelhouse")
    if plan.bundle is not None and not is_plain_folder(Path(plan.bundle)):
        raise plan_refused_error(f"bundle: {plan.bundle}", part="bundle")
    for step in plan.steps:
        try:
            STEP_KINDS[step.kind].validate(step, plan, context)
        except UsageError as error:
            if error.code != "plan-refused":
                raise
            raise plan_refused_error(str(error.data["detail"]), part=step.kind) from error


def _is_app_data(environment: Path, data: DataDir) -> bool:
    """Whether it is the data folder, or lies where that keeps its own: what is cleared there would take it along."""
    return environment == data.root or any(
        app_path == environment or app_path in environment.parents
        for app_path in vars(data).values()
        if app_path not in (data.root, data.environments)
    )


def _check_characters(value: object, field: str = "") -> None:
    """Nothing that a terminal would obey, turn around or break the line at stands in any text of a plan."""
    if isinstance(value, str):
        if not value.isprintable():
            raise plan_refused_error(field, part="letters")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_characters(name, field)
            _check_characters(item, f"{field}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for item in value:
            _check_characters(item, field)


def _check_numbers(plan: Plan) -> None:
    """Sizes and times that can be."""
    for step in (plan, *plan.steps):
        field = step.id if isinstance(step, Step) else "plan"
        for name, maximum in (("bytes", MAX_BYTES), ("disk_bytes", MAX_BYTES), ("minutes", MAX_MINUTES)):
            _check_number(getattr(step, name), maximum, f"{field}: {name}")
        if isinstance(step, Step):
            for file in step.files:
                _check_number(file.bytes, MAX_BYTES, f"{field}: files.bytes")
            for name, value in step.data.items():
                _check_number(value, MAX_BYTES, f"{field}: data.{name}")


def _check_number(value: Value, maximum: float, field: str) -> None:
    # What is no number at all, as infinity, is not between the two either.
    if isinstance(value, int | float) and not 0 <= value <= maximum:
        raise plan_refused_error(f"{field}: {value}", part="figures")


def _check_order(plan: Plan) -> None:
    """Known kinds, ids that are unique, and before each step what it needs."""
    from .steps import STEP_KINDS

    steps_by_id: dict[str, Step] = {}
    if not plan.steps:
        raise plan_refused_error("steps", part="steps")
    for index, step in enumerate(plan.steps):
        kind = STEP_KINDS.get(step.kind)
        if kind is None or step.code not in kind.codes:
            raise plan_refused_error(f"steps: {step.kind} {step.code}", part="steps")
        if step.id in steps_by_id or _STEP_ID.match(step.id) is None:
            raise plan_refused_error(f"steps: {step.id}", part="steps")
        if not kind.allows_many and any(STEP_KINDS[other.kind].provided_kind == kind.provided_kind for other in steps_by_id.values()):
            raise plan_refused_error(f"steps: two {kind.provided_kind}", part="steps")
        if not set(step.needs) <= set(steps_by_id):
            raise plan_refused_error(f"steps: {step.id} needs {', '.join(step.needs)}", part="steps")
        provided = {STEP_KINDS[steps_by_id[needed_id].kind].provided_kind for needed_id in step.needs}
        later_kinds = {other.kind for other in plan.steps[index + 1 :]}
        missing = [name for name in kind.required_before if name not in provided] + [after_kind for after_kind in kind.required_after if after_kind not in later_kinds]
        if missing:
            raise plan_refused_error(f"steps: {step.id} without {', '.join(missing)}", part="steps")
        steps_by_id[step.id] = step


def check_plan_file(file: PlanFile) -> None:
    """A file to fetch: a plain name, a hash, and an address that cannot be tampered with on the way."""
    try:
        url_parts = urlsplit(file.url)
    except ValueError:
        raise plan_refused_error(f"file: {file.name} {file.url}", part="files") from None
    is_safe = url_parts.scheme in ("https", "file") or (url_parts.scheme == "http" and url_parts.hostname in _LOOPBACK_HOSTS)
    is_plain_name = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+%-]*", file.name) is not None
    if not is_safe or not is_plain_name or file.sha256 is None or _SHA256_PATTERN.match(file.sha256) is None:
        raise plan_refused_error(f"file: {file.name} {file.url}", part="files")


def is_plain_folder(path: Path) -> bool:
    """Absolute, without "..", and not on another computer."""
    return path.is_absolute() and ".." not in path.parts and not str(path).startswith(("\\\\", "//"))


def plan_refused_error(detail: str, *, part: str = "step") -> UsageError:
    """The error for a plan with something in it that we do not make: `part` is a text's code, "plan.part.…", and
    `detail` the field for who looks into the file.
    """
    return UsageError("plan-refused", part=f"@plan.part.{part}", detail=detail[:MAX_DETAIL_LENGTH])
