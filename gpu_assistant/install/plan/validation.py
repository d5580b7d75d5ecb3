"""A plan may come from a file that somebody sent: everything in it that has an effect is checked first.

Whether a recommendation that came with a plan file is one that we could have made; its reasons are left out.

What a plan file says, told again: a step says what it does, and never what somebody wrote over it.

`untrusted.check` looks at what has an effect; this looks at the words and figures around it. Each kind plans its step
once more from the same recommendation: words and commands must be the same, and figures are our own.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import structs

from ...catalog import distributions
from ...catalog.versions import parse_version
from ...core.errors import AppError, UsageError
from ...core.machine import MACHINE_SCHEMA, CudaToolkit, Machine, OperatingSystem, Python, Tools
from ...core.paths import DataDir
from ...core.plan import Plan, PlanFile, Step
from ...core.recommendation import Alternative, DriverAdvice, Recommendation
from ...core.types import Value
from ..elevation.helper import allowed_packages
from ..environment.location import CACHE_PREFIX_LENGTH, check_location, check_path_length
from ..host import ValidationContext
from ..steps.cuda_redist import toolkit_folder
from ..steps.plan_builder import UNKNOWN_SIZE, PlanBuilder
from .planner import with_totals

if TYPE_CHECKING:
    from ...catalog.store import Catalog


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
    from ..steps.registry import STEP_KINDS

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
    from ..steps.registry import STEP_KINDS

    steps_by_id: dict[str, Step] = {}
    if not plan.steps:
        raise plan_refused_error("steps", part="steps")
    for index, step in enumerate(plan.steps):
        kind = STEP_KINDS.get(step.kind)
        if kind is None or step.code not in kind.codes:
            raise plan_refused_error(f"steps: {step.kind} {step.code}", part="steps")
        if step.id in steps_by_id or _STEP_ID.match(step.id) is None:
            raise plan_refused_error(f"steps: {step.id}", part="steps")
        if not kind.allows_many and any(
            STEP_KINDS[other.kind].provided_kind == kind.provided_kind for other in steps_by_id.values()
        ):
            raise plan_refused_error(f"steps: two {kind.provided_kind}", part="steps")
        if not set(step.needs) <= set(steps_by_id):
            raise plan_refused_error(f"steps: {step.id} needs {', '.join(step.needs)}", part="steps")
        provided = {STEP_KINDS[steps_by_id[needed_id].kind].provided_kind for needed_id in step.needs}
        later_kinds = {other.kind for other in plan.steps[index + 1 :]}
        missing = [name for name in kind.required_before if name not in provided] + [
            after_kind for after_kind in kind.required_after if after_kind not in later_kinds
        ]
        if missing:
            raise plan_refused_error(f"steps: {step.id} without {', '.join(missing)}", part="steps")
        steps_by_id[step.id] = step


def check_plan_file(file: PlanFile) -> None:
    """A file to fetch: a plain name, a hash, and an address that cannot be tampered with on the way."""
    try:
        url_parts = urlsplit(file.url)
    except ValueError:
        raise plan_refused_error(f"file: {file.name} {file.url}", part="files") from None
    is_safe = url_parts.scheme in ("https", "file") or (
        url_parts.scheme == "http" and url_parts.hostname in _LOOPBACK_HOSTS
    )
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


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
# What a card or a driver is called: nothing that could be typed into a terminal.
_NAME = re.compile(r"@?[\w(][\w .,()+/-]{0,79}\Z")


def sound(value: Recommendation, here: OperatingSystem, catalog: Catalog) -> Recommendation:
    """The same without all that nobody can check again: reasons, warnings, and offers that no step is planned by.

    Raises CallError("plan-refused") for a version that is none, and for a package, a command or a page that the
    catalog does not give for this computer.
    """
    torch, flow = value.pytorch, value.tensorflow
    if torch is not None:
        _versions("pytorch", torch.cuda, torch.cudnn)
    if flow is not None and not _asks_for(flow.requirement, flow.version):
        raise plan_refused_error(f"tensorflow: {flow.version}", part="resolve")
    _driver(value.driver, here, catalog)
    return structs.replace(
        value,
        reasons=(),
        warnings=(),
        alternatives=tuple(_offer(each) for each in value.alternatives if _plans(each)),
        catalog_date=value.catalog_date if _DATE.match(value.catalog_date or "") else None,
    )


def _driver(advice: DriverAdvice, here: OperatingSystem, catalog: Catalog) -> None:
    drivers, part = catalog.drivers, "nvidia-driver"
    _versions(part, advice.minimum, advice.recommended, advice.below)
    if advice.installed is not None and _NAME.match(advice.installed) is None:
        raise plan_refused_error("driver.installed", part=part)
    if advice.url is not None and advice.url not in _addresses(advice.recommended, catalog):
        raise plan_refused_error("driver.url", part=part)
    if advice.page is not None and advice.page not in {source.url for source in drivers.sources.values()}:
        raise plan_refused_error("driver.page", part=part)
    if advice.packages:
        try:
            names = allowed_packages(here, catalog)
        except AppError as error:
            raise plan_refused_error("driver.packages", part=part) from error
        if not all(names.match(name) for name in advice.packages):
            raise plan_refused_error("driver.packages", part=part)
    if advice.commands and advice.commands not in _taught(here, catalog):
        raise plan_refused_error("driver.commands", part=part)


def _addresses(version: str | None, catalog: Catalog) -> set[str]:
    """Every address that the catalog has, or builds, for a driver."""
    patterns = (pattern.url for pattern in catalog.drivers.address_patterns.values())
    built = {pattern.replace("{version}", version) for pattern in patterns} if version is not None else set()
    return built | {package.url for package in catalog.drivers.packages if package.url is not None}


def _taught(here: OperatingSystem, catalog: Catalog) -> list[distributions.CommandLines | None]:
    """What the catalog teaches to type on this distribution, with and without a key for Secure Boot."""
    own = (here.distro or "").casefold()
    rows = [row for row in catalog.drivers.linux_commands if own in row.distributions]
    orders = [(row.commands, (*row.enrol, *row.commands), (*row.commands, *row.enrol)) for row in rows]
    return [distributions.fill_commands(commands, here) for order in orders for commands in order]


def _versions(part: str, *versions: str | None) -> None:
    for version in versions:
        if version is not None and parse_version(version) is None:
            raise plan_refused_error(f"{part}: {version}", part=part if part == "nvidia-driver" else "resolve")


def _asks_for(requirement: str, version: str) -> bool:
    """Whether a requirement of the catalog's is for this very version."""
    from packaging.requirements import Requirement

    return Requirement(requirement).specifier.contains(version)


def _plans(offer: Alternative) -> bool:
    from ..steps.wsl2 import OFFER_CODE

    return offer.code == OFFER_CODE


def _offer(offer: Alternative) -> Alternative:
    gpu = offer.data.get("gpu")
    if gpu is not None and (not isinstance(gpu, str) or _NAME.match(gpu) is None):
        raise plan_refused_error("alternatives: gpu", part="wsl2")
    return Alternative(code=offer.code, change={}, data={"gpu": gpu})


def retold(plan: Plan, ground: ValidationContext) -> Plan:
    """A checked plan in our own words; raises CallError("plan-refused") where its own say something else, and
    ("wheelhouse-missing") or what reading a bundle raises where the folder that it names is not there.
    """
    from ..steps.preflight import Preflight
    from ..steps.registry import STEP_KINDS

    _refuse_missing(plan)
    here = plan.os if plan.simulated else ground.system.operating_system()
    if here is None:
        raise plan_refused_error("os", part="computer")
    advice = sound(plan.recommendation, here, ground.catalog)
    draft = _draft(structs.replace(plan, recommendation=advice), here, ground)
    told: dict[str, Step] = {}
    # The look at the room on the disk knows what all the others take: it is planned last.
    for step in sorted(plan.steps, key=lambda each: each.kind == Preflight.name):
        kind = STEP_KINDS[step.kind]
        try:
            again = kind.replan(step, draft)
        except AppError as error:
            raise plan_refused_error(f"{step.id}: {error.code}", part=step.kind) from error
        _refuse_other_words(step, again, loose=kind.has_variable_text)
        told[step.id] = again
        draft.steps.append(again)
    return with_totals(structs.replace(plan, recommendation=advice, steps=tuple(told[step.id] for step in plan.steps)))


def _refuse_missing(plan: Plan) -> None:
    if plan.wheelhouse is not None and not Path(plan.wheelhouse).is_dir():
        raise UsageError("wheelhouse-missing", path=plan.wheelhouse)
    if plan.bundle is not None:
        from ..bundle.format import read_contents

        read_contents(Path(plan.bundle))


def _draft(plan: Plan, here: OperatingSystem, ground: ValidationContext) -> PlanBuilder:
    """The draft that such a plan comes from, on a computer of which no more is known than the plan tells."""
    by_kind = {step.kind: step for step in plan.steps}
    conda, runtime = by_kind.get("conda-environment"), by_kind.get("python-runtime")
    found = runtime.spec.get("path") if runtime is not None else None
    version = runtime.data.get("python") if runtime is not None else None
    pythons = (Python(path=found, version=str(version), kind="system"),) if isinstance(found, str) else ()
    cudnn = by_kind.get("cudnn")
    beside = cudnn.spec.get("toolkit") if cudnn is not None and "cuda-toolkit" not in by_kind else None
    toolkits = (CudaToolkit(path=str(toolkit_folder(ground.data.toolkits, beside))),) if isinstance(beside, str) else ()
    # That it has no runtime yet is what such a step says.
    lacks = conda is not None or "vc-redist" in by_kind
    machine = Machine(
        schema=MACHINE_SCHEMA,
        os=here,
        gpus=(),
        pythons=pythons,
        cuda_toolkits=toolkits,
        tools=Tools(conda="1" if conda is not None else None) if lacks else None,
    )
    program = conda.spec.get("conda") if conda is not None else None
    return PlanBuilder(
        machine,
        plan.recommendation,
        ground.catalog,
        data=ground.data,
        environment=Path(plan.env),
        wheelhouse=Path(plan.wheelhouse) if plan.wheelhouse is not None else None,
        bundle=Path(plan.bundle) if plan.bundle is not None else None,
        simulated=plan.simulated,
        environment_kind="venv" if conda is None else "conda",
        conda=Path(program) if isinstance(program, str) else None,
    )


def _refuse_other_words(given: Step, ours: Step, *, loose: bool) -> None:
    """Raise CallError for the first field that says something else; figures may be another computer's."""
    same = ("id", "needs", "spec", "commands", "needs_admin", "needs_reboot", *(() if loose else ("code",)))
    for field in same:
        if _plain(getattr(given, field)) != _plain(getattr(ours, field)):
            raise plan_refused_error(f"{given.id}: {field}", part=given.kind)
    if [(file.url, file.name, file.sha256) for file in given.files] != [
        (file.url, file.name, file.sha256) for file in ours.files
    ]:
        raise plan_refused_error(f"{given.id}: files", part=given.kind)
    for name, value in given.data.items():
        if name not in ours.data:
            # Another size is told in other words, which may want fewer of them.
            if loose:
                continue
            raise plan_refused_error(f"{given.id}: data.{name}", part=given.kind)
        other = ours.data[name]
        if not (_figure(value) and _figure(other)) and value != other:
            raise plan_refused_error(f"{given.id}: data.{name}", part=given.kind)


def _figure(value: Value) -> bool:
    """Whether it is a size or a time, known or not."""
    return value in (None, UNKNOWN_SIZE) or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a step
    return msgspec.to_builtins(value)
