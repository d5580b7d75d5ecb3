"""A plan may come from a file that somebody sent: everything in it that has an effect is checked first."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

import msgspec

from ..core.errors import CallError
from ..core.message import Value
from ..core.paths import DataDir
from ..core.plan import Plan, PlanFile, Step
from .occupied import IN_DATA, refuse_long, refuse_unfit
from .place import Ground

_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
# Of what a broken file holds, so much is shown.
LONGEST_DETAIL = 120
# Beyond these no plan of ours comes near.
MOST_BYTES = 2**50
MOST_MINUTES = 366 * 24 * 60
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check(plan: Plan, ground: Ground) -> None:
    """Raise CallError("plan-refused", detail=…) and those of `refuse_unfit` for a plan that must not run here."""
    from .steps import KINDS

    try:
        _check_letters(msgspec.to_builtins(plan))
    except RecursionError:
        raise refused("depth", part="steps") from None
    _check_figures(plan)
    _check_order(plan)
    env = Path(plan.env)
    if not plain_folder(env):
        foreign = PurePosixPath(plan.env).is_absolute() or PureWindowsPath(plan.env).is_absolute()
        if foreign and not env.is_absolute():
            raise CallError("plan-other-system", path=plan.env)
        raise refused(f"env: {plan.env}", part="env")
    if _kept_by_us(env, ground.data):
        raise refused(f"env: {plan.env}", part="env")
    refuse_unfit(env)
    refuse_long(ground.data.root, IN_DATA)
    if plan.wheelhouse is not None and not plain_folder(Path(plan.wheelhouse)):
        raise refused(f"wheelhouse: {plan.wheelhouse}", part="wheelhouse")
    if plan.bundle is not None and not plain_folder(Path(plan.bundle)):
        raise refused(f"bundle: {plan.bundle}", part="bundle")
    for step in plan.steps:
        try:
            KINDS[step.kind].refuse(step, plan, ground)
        except CallError as error:
            if error.code != "plan-refused":
                raise
            raise refused(str(error.data["detail"]), part=step.kind) from error


def _kept_by_us(env: Path, data: DataDir) -> bool:
    """Whether it is the data folder, or lies where that keeps its own: what is cleared there would take it along."""
    return env == data.root or any(
        place == env or place in env.parents
        for place in vars(data).values()
        if place not in (data.root, data.environments)
    )


def _check_letters(value: object, where: str = "") -> None:
    """Nothing that a terminal would obey, turn around or break the line at stands in any text of a plan."""
    if isinstance(value, str):
        if not value.isprintable():
            raise refused(where, part="letters")
    elif isinstance(value, dict):
        for name, each in value.items():
            _check_letters(name, where)
            _check_letters(each, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for each in value:
            _check_letters(each, where)


def _check_figures(plan: Plan) -> None:
    """Sizes and times that can be."""
    for step in (plan, *plan.steps):
        where = step.id if isinstance(step, Step) else "plan"
        for name, most in (("bytes", MOST_BYTES), ("disk_bytes", MOST_BYTES), ("minutes", MOST_MINUTES)):
            _check_figure(getattr(step, name), most, f"{where}: {name}")
        if isinstance(step, Step):
            for file in step.files:
                _check_figure(file.bytes, MOST_BYTES, f"{where}: files.bytes")
            for name, value in step.data.items():
                _check_figure(value, MOST_BYTES, f"{where}: data.{name}")


def _check_figure(value: Value, most: float, where: str) -> None:
    # What is no number at all, as infinity, is not between the two either.
    if isinstance(value, int | float) and not 0 <= value <= most:
        raise refused(f"{where}: {value}", part="figures")


def _check_order(plan: Plan) -> None:
    """Known kinds, ids that are unique, and before each step what it needs."""
    from .steps import KINDS

    seen: dict[str, Step] = {}
    if not plan.steps:
        raise refused("steps", part="steps")
    for place, step in enumerate(plan.steps):
        kind = KINDS.get(step.kind)
        if kind is None or step.code not in kind.codes:
            raise refused(f"steps: {step.kind} {step.code}", part="steps")
        if step.id in seen or _ID.match(step.id) is None:
            raise refused(f"steps: {step.id}", part="steps")
        if not kind.many and any(KINDS[other.kind].role == kind.role for other in seen.values()):
            raise refused(f"steps: two {kind.role}", part="steps")
        if not set(step.needs) <= set(seen):
            raise refused(f"steps: {step.id} needs {', '.join(step.needs)}", part="steps")
        there = {KINDS[seen[need].kind].role for need in step.needs}
        later = {other.kind for other in plan.steps[place + 1 :]}
        lacking = [name for name in kind.needs if name not in there] + [n for n in kind.then if n not in later]
        if lacking:
            raise refused(f"steps: {step.id} without {', '.join(lacking)}", part="steps")
        seen[step.id] = step


def check_file(file: PlanFile) -> None:
    """A file to fetch: a plain name, a hash, and an address that cannot be tampered with on the way."""
    try:
        parts = urlsplit(file.url)
    except ValueError:
        raise refused(f"file: {file.name} {file.url}", part="files") from None
    safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+%-]*", file.name) is not None
    if not safe or not plain or file.sha256 is None or _SHA256.match(file.sha256) is None:
        raise refused(f"file: {file.name} {file.url}", part="files")


def plain_folder(path: Path) -> bool:
    """Absolute, without "..", and not on another computer."""
    return path.is_absolute() and ".." not in path.parts and not str(path).startswith(("\\\\", "//"))


def refused(detail: str, *, part: str = "step") -> CallError:
    """The error for a plan with something in it that we do not make: `part` is a text's code, "plan.part.…", and
    `detail` the field for who looks into the file.
    """
    return CallError("plan-refused", part=f"@plan.part.{part}", detail=detail[:LONGEST_DETAIL])
