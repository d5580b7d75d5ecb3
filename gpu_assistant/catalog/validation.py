"""The catalog's files, the structs that they hold, and their schemas.

What must be true of the catalog beyond the form of its fields.

A rule gets its file's subject and all subjects that could be read, and yields (where, what stands there).

Whether a catalog is whole: each file fits its structs, and nothing contradicts itself or another file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin

import msgspec
from msgspec import Struct

from ..core import json
from ..core.errors import os_error_text
from ..core.json import describe_fault
from .estimates import DurationCatalog, MemoryPlanningCatalog
from .records.base import CatalogFile
from .records.catalog import (
    CudaCatalog,
    DriverCatalog,
    EnvironmentSizeCatalog,
    GpuCatalog,
    GpuGeneration,
    MirrorCatalog,
    PythonCatalog,
    RefreshSettings,
    UpdateCatalog,
)
from .records.hardware import AcceleratorCatalog, ReferenceCatalog
from .records.health import HealthRules
from .records.software import CudnnCatalog, PyTorchCatalog, TensorFlowCatalog, VcRuntimeCatalog
from .versions import parse_capability, parse_version

if TYPE_CHECKING:
    from .store import Catalog


FILE_TYPES: dict[str, type[CatalogFile]] = {
    "accelerators": AcceleratorCatalog,
    "cuda": CudaCatalog,
    "cudnn": CudnnCatalog,
    "drivers": DriverCatalog,
    "fit": MemoryPlanningCatalog,
    "gpus": GpuCatalog,
    "health": HealthRules,
    "mirrors": MirrorCatalog,
    "paces": DurationCatalog,
    "pythons": PythonCatalog,
    "pytorch": PyTorchCatalog,
    "reference": ReferenceCatalog,
    "refresh": RefreshSettings,
    "sizes": EnvironmentSizeCatalog,
    "tensorflow": TensorFlowCatalog,
    "updates": UpdateCatalog,
    "vc_redist": VcRuntimeCatalog,
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a file, as it stands in `resources/schemas/`: unknown fields are errors."""
    (root,), defs = msgspec.json.schema_components([FILE_TYPES[name]], ref_template="#/$defs/{name}")
    for part in defs.values():
        if "description" in part:
            part["description"] = cleandoc(
                part["description"]
            )  # Python 3.13 itself takes the indent away, 3.11 does not
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"GPU Assistant catalog: {name}.json",
        **root,
        "$defs": defs,
    }
    # Defaults are tuples here and lists in JSON.
    normalized_document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return normalized_document


def read_files(catalog: Catalog, names: Iterable[str]) -> dict[str, CatalogFile]:
    """The subjects of these files as a catalog reads them; raises AppError("catalog-broken")."""
    return {name: catalog.read(f"{name}.json", FILE_TYPES[name]) for name in names}


Violations = Iterator[tuple[str, str]]
CatalogRule = Callable[[Any, dict[str, CatalogFile]], Violations]

_CUDA_TAG = re.compile(r"cu(\d+)(\d)")
AMD, INTEL, NVIDIA = "1002:", "8086:", "10de:"


def _order_violations(values: Iterable[tuple[str, str]]) -> Violations:
    """(group, version): within a group each must be older than the one before; equal ones are twins."""
    previous: dict[str, tuple[int, ...]] = {}
    for index, (group, version) in enumerate(values):
        parsed = parse_version(version)
        if parsed is None or (group in previous and previous[group] <= parsed):
            yield str(index), f"{group} {version}".strip()
        if parsed is not None:
            previous[group] = parsed


def _duplicates(values: Iterable[Any]) -> Violations:
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            yield str(index), str(value)
        seen.add(value)


def _range_gaps(ranges: Iterable[tuple[str, str | None]]) -> Violations:
    """(from, below), highest first: the first is open, each goes on where the one before begins."""
    expected: str | None = None
    for index, (lowest, below) in enumerate(ranges):
        lower, upper = parse_capability(lowest), parse_capability(below)
        if parse_capability(expected) != upper or lower is None or (upper is not None and lower >= upper):
            yield str(index), f"{lowest}-{below}"
        expected = lowest


def newest_first(subject: Any, _all: dict[str, CatalogFile]) -> Violations:  # noqa: ANN401 - any of the subjects below
    """Lists of versions begin with the newest, and name none twice."""
    lists: dict[str, Iterable[tuple[str, str]]] = {}
    match subject:
        case PyTorchCatalog():
            lists["releases"] = (("", r.version) for r in subject.releases)
            lists["glibc"] = ((f"{g.arch or ''} {' '.join(g.variants)}", g.from_release) for g in subject.glibc)
            lists["cudnn_floors"] = (("", f.from_version) for f in subject.cudnn_floors)
        case CudaCatalog():
            lists["toolkits"] = (("", t.version) for t in subject.toolkits)
            lists["branches"] = (("", b.branch) for b in subject.branches)
            lists["host_compilers"] = (("", h.from_toolkit) for h in subject.host_compilers)
            lists["gnu_compilers"] = (("", g.from_toolkit) for g in subject.gnu_compilers)
            lists["minimum_drivers"] = (("", str(m.major)) for m in subject.minimum_drivers)
        case CudnnCatalog():
            lists["releases"] = (("", r.version) for r in subject.releases)
        case TensorFlowCatalog():
            lists["builds"] = ((f"{b.system} {b.arch}", b.version) for b in subject.builds)
        case VcRuntimeCatalog():
            lists["needs"] = (("", n.from_release) for n in subject.needs)
            lists["tensorflow_needs"] = (("", n.from_release) for n in subject.tensorflow_needs)
        case PythonCatalog():
            lists["builds"] = ((f"{b.system} {b.arch}", b.version) for b in subject.builds)
        case DriverCatalog():
            lists["packages"] = (
                (f"{p.system} {p.generation} {p.segment} {p.channel}", p.version) for p in subject.packages
            )
    for name, values in lists.items():
        yield from ((f"{name}/{index}", detail) for index, detail in _order_violations(values))


def unique_ids(subject: Any, _all: dict[str, CatalogFile]) -> Violations:  # noqa: ANN401
    """Device ids are sorted, stand once, and belong to their maker."""
    lists: dict[str, tuple[str, list[str]]] = {}
    match subject:
        case GpuCatalog():
            lists["gpus"] = NVIDIA, [row.pci_id for row in subject.gpus]
        case AcceleratorCatalog():
            lists["amd_devices"] = AMD, [device.pci_id for device in subject.amd_devices]
            lists["intel_devices"] = INTEL, [device.pci_id for device in subject.intel_devices]
    for name, (vendor_prefix, ids) in lists.items():
        yield from ((f"{name}/{index}", detail) for index, detail in _duplicates(ids))
        yield from (
            (f"{name}/{index}", pci_id) for index, pci_id in enumerate(ids) if not pci_id.startswith(vendor_prefix)
        )
        if ids != sorted(ids):
            yield name, "not sorted"


def chips(subject: GpuCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """All cards of a chip compute alike, and what one architecture computes on is no other's."""
    signatures: dict[str, tuple[str, str | None]] = {}
    levels: dict[str, set[tuple[int, int]]] = {}
    for index, row in enumerate(subject.gpus):
        signature = row.architecture, row.compute_capability
        if signatures.setdefault(row.chip, signature) != signature:
            yield f"gpus/{index}", f"{row.chip} {row.architecture} {row.compute_capability}"
        if (level := parse_capability(row.compute_capability)) is not None:
            levels.setdefault(row.architecture, set()).add(level)
    ranges = sorted((min(capabilities), max(capabilities), name) for name, capabilities in levels.items())
    for (_, highest, older), (lowest, _, newer) in pairwise(ranges):
        if lowest <= highest:
            yield "gpus", f"{older} {newer}"
    yield from _id_range_violations(subject)


def _id_range_violations(subject: GpuCatalog) -> Violations:
    """Stretches of ids ascend without a common id, are NVIDIA's, and every card in one computes as it says."""
    previous_end = ""
    for index, id_range in enumerate(subject.ranges):
        if not (previous_end < id_range.first <= id_range.last and id_range.first[:5] == id_range.last[:5] == NVIDIA):
            yield f"ranges/{index}", f"{id_range.first}-{id_range.last}"
        previous_end = max(previous_end, id_range.last)
        for row in subject.gpus:
            in_range = id_range.first <= row.pci_id <= id_range.last
            if in_range and row.compute_capability not in (None, id_range.compute_capability):
                yield f"ranges/{index}", f"{row.pci_id} {row.compute_capability}"


def builds(subject: PyTorchCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """A release names each build once, its index ends with its name, and its CUDA is the name's."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for release in subject.releases:
        keys = [(v.system, v.arch, v.variant) for v in release.variants]
        yield from ((f"{release.version}/{index}", detail) for index, detail in _duplicates(keys))
        for build in release.variants:
            where = f"{release.version}/{build.system}/{build.variant}"
            if build.index_url is not None and build.index_url.rstrip("/").rpartition("/")[2] != build.variant:
                yield where, build.index_url
            tag = _CUDA_TAG.fullmatch(build.variant)
            if tag is None:
                continue
            version = (int(tag[1]), int(tag[2]))
            if majors is not None and version[0] not in majors:
                yield where, "no lowest driver"
            build_cuda = parse_version(build.cuda)
            if build_cuda is not None and (*build_cuda, 0)[:2] != version:
                yield where, str(build.cuda)
        for system, variant in release.default_variant.items():
            if variant not in {v.variant for v in release.variants if v.system == system}:
                yield f"{release.version}/default_variant", f"{system} {variant}"


def generations(subject: DriverCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """Generations of cards, and the kinds of kernel modules, have no gaps and do not overlap."""
    lists = {
        "generations": [(g.from_capability, g.below_capability) for g in subject.generations],
        "linux_modules": [(m.from_capability, m.below_capability) for m in subject.linux_modules],
    }
    for name, ranges in lists.items():
        yield from ((f"{name}/{index}", detail) for index, detail in _range_gaps(ranges))


def last_branches(subject: DriverCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """A generation's last branch is a branch that is known, and older than the first driver without it."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    known = {parse_version(row.branch) for row in cuda.branches} if cuda is not None else None
    for index, generation in enumerate(subject.generations):
        last_branch = generation.last_branch
        if last_branch is None:
            continue
        where, branch = f"generations/{index}", (last_branch,)
        if known is not None and branch not in known:
            yield where, str(last_branch)
        for system, first_version in generation.first_without.items():
            limit = parse_version(first_version)
            if limit is None or limit < branch:
                yield where, f"{last_branch} {system} {first_version}"


def packages(subject: DriverCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A package belongs to a generation, is not past its last branch, and comes from a host of the lookup's."""
    known: dict[str, GpuGeneration] = {generation.id: generation for generation in subject.generations}
    for index, package in enumerate(subject.packages):
        where, generation = f"packages/{index}", known.get(package.generation)
        if generation is None:
            yield where, package.generation
            continue
        version = parse_version(package.version)
        # R580 is 580 to 589 on Linux and 58x.yy on Windows.
        if version is None or (generation.last_branch is not None and version[0] // 10 > generation.last_branch // 10):
            yield where, package.version
        host = (package.url or "").partition("//")[2].partition("/")[0]
        if package.url is not None and subject.lookup is not None and not host.endswith(subject.lookup.hosts):
            yield where, package.url
    yield from ((f"products/{index}", detail) for index, detail in _duplicates(p.id for p in subject.products))


def floors_agree(subject: CudnnCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """The oldest chip of a cuDNN is the one that PyTorch's floors say."""
    torch = cast("PyTorchCatalog | None", subjects.get("pytorch"))
    floors = torch.cudnn_floors if torch is not None else ()
    for release in subject.releases:
        version = parse_version(release.version) or ()
        minimum = next((f for f in floors if version >= (parse_version(f.from_version) or ())), None)
        lowest = release.lowest_capability.get("12")
        if minimum is not None and lowest is not None and lowest != minimum.lowest_capability:
            yield f"releases/{release.version}", lowest


def archives(subject: CudnnCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A yanked cuDNN has no wheels; archives are for a CUDA that the release is built for, and of its version."""
    for release in subject.releases:
        where = f"releases/{release.version}"
        if release.yanked and release.wheels:
            yield where, "yanked"
        for archive in release.archives:
            if archive.cuda not in release.cuda_majors or release.version not in archive.url:
                yield where, archive.url


def installers(subject: CudaCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """An installer's address ends with its file, and its name holds the toolkit's version."""
    for toolkit in subject.toolkits:
        for installer in toolkit.installers:
            if installer.url.rpartition("/")[2] != installer.file or toolkit.version not in installer.file:
                yield f"toolkits/{toolkit.version}", installer.url


def pythons(subject: PythonCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A standalone Python's address names its version, and the version its series."""
    for index, build in enumerate(subject.builds):
        if not build.version.startswith(f"{build.series}.") or build.version not in build.url:
            yield f"builds/{index}", build.url


def lowest_drivers(subject: TensorFlowCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """Every CUDA that a TensorFlow was built with has a lowest driver."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for index, build in enumerate(subject.builds):
        version = parse_version(build.cuda)
        if build.gpu and (version is None or (majors is not None and version[0] not in majors)):
            yield f"builds/{index}", str(build.cuda)


def families(subject: AcceleratorCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """An Intel device is of a family that is described; an AMD chip's builds were published by some PyTorch."""
    known = {family.family for family in subject.intel.families}
    for index, device in enumerate(subject.intel_devices):
        if device.family not in known:
            yield f"intel_devices/{index}", device.family
    torch = cast("PyTorchCatalog | None", subjects.get("pytorch"))
    published = {v.variant for r in torch.releases for v in r.variants} if torch is not None else None
    for chip in subject.amd_chips:
        for variant in chip.variants:
            if published is not None and variant not in published:
                yield f"amd_chips/{chip.gfx}", variant


def publishers(subject: MirrorCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A mirror mirrors a publisher that is listed."""
    known = {publisher.id for publisher in subject.publishers}
    yield from (
        (f"mirrors/{index}", m.publisher) for index, m in enumerate(subject.mirrors) if m.publisher not in known
    )
    yield from ((f"publishers/{index}", detail) for index, detail in _duplicates(p.id for p in subject.publishers))


RULES: dict[str, tuple[CatalogRule, ...]] = {
    "accelerators": (unique_ids, families),
    "cuda": (newest_first, installers),
    "cudnn": (newest_first, floors_agree, archives),
    "drivers": (newest_first, generations, last_branches, packages),
    "gpus": (unique_ids, chips),
    "mirrors": (publishers,),
    "pythons": (newest_first, pythons),
    "pytorch": (newest_first, builds),
    "tensorflow": (newest_first, lowest_drivers),
    "vc_redist": (newest_first,),
}


SOURCE_FIELDS = (
    "source",
    "sources",
    "python_source",
    "branch_source",
    "driver_source",
    "products_source",
    "releases_source",
    "seen_source",
    "line_source",
    "nvidia_source",
    "own_folder_source",
    "gnu_packages_source",
    "key_source",
)
# The fields that hold compute capabilities, by what they are called.
match_capability_field = re.compile(
    r"\w*capabilit(y|ies)|arch_list|ptx_for|excluded_devices|deprecated_below|lowest_with_cuda_11"
).fullmatch
EXTRA_SOURCE_FIELDS = ("arch_source", "max_temp_source")


class CatalogIssue(Struct, frozen=True, kw_only=True):
    """One thing that is wrong: the file's name without ending, the rule, where, and what stands there; `fault` is the
    text ("@file.fault.kind") for a value that does not fit, `detail` then the reader's own words.
    """

    file: str
    rule: str
    where: str = ""
    detail: str = ""
    fault: str | None = None


def validate_catalog(
    folder: Path, builtin: Path | None = None, *, today: date | None = None
) -> tuple[CatalogIssue, ...]:
    """Everything wrong with a folder's catalog; files that it lacks are looked for in `floor`, if there is one. What
    is of a day after `today` is wrong; None: what day it is, is not to be trusted.
    """
    issues: list[CatalogIssue] = []
    subjects: dict[str, CatalogFile] = {}
    unknown_names = sorted({path.stem for path in folder.glob("*.json")} - set(FILE_TYPES))
    issues += [CatalogIssue(file=name, rule="unknown-file") for name in unknown_names]
    raw_files: dict[str, Any] = {}
    for name in FILE_TYPES:
        own_path = folder / f"{name}.json"
        path = own_path if own_path.is_file() or builtin is None else builtin / own_path.name
        subject = _check_file(path, name, issues, raw_files)
        if subject is not None:
            subjects[name] = subject
    for name in subjects:
        issues.extend(_capability_issues(name, raw_files[name], subjects))
        issues.extend(_date_issues(name, raw_files[name], today))
    for name, rules in RULES.items():
        if name in subjects:
            for rule in rules:
                issues.extend(
                    CatalogIssue(file=name, rule=rule.__name__.replace("_", "-"), where=where, detail=detail)
                    for where, detail in rule(subjects[name], subjects)
                )
    return tuple(issues)


def _check_file(path: Path, name: str, issues: list[CatalogIssue], raw_files: dict[str, Any]) -> CatalogFile | None:
    try:
        data = path.read_bytes()
        subject = json.decode(data, FILE_TYPES[name])
        raw = raw_files[name] = msgspec.json.decode(data)
    except OSError as error:
        issues.append(CatalogIssue(file=name, rule="readable", detail=os_error_text(error)))
        return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        issues.extend(_schema_issues(name, data, error))
        return None
    issues.extend(
        CatalogIssue(file=name, rule="schema", where=where, detail="unknown") for where in _unknown_fields(raw, subject)
    )
    issues.extend(
        CatalogIssue(file=name, rule="source", where=where, detail=key)
        for where, key in _source_keys({field: value for field, value in raw.items() if field != "sources"})
        if key not in subject.sources
    )
    issues.extend(
        CatalogIssue(file=name, rule="date", where=where, detail=day)
        for where, day in _dates(raw)
        if day > subject.as_of
    )
    return subject


def _schema_issues(name: str, data: bytes, first_error: Exception) -> Iterator[CatalogIssue]:
    """What does not fit its struct: the first fault of every record, where the file is JSON at all."""
    faults: list[tuple[str, Exception]] = []
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw = json.decode(data, dict[str, Any])
        for field in msgspec.structs.fields(FILE_TYPES[name]):
            value = raw.get(field.encode_name)
            records, kind = [("", value)] if value is not None else [], field.type
            if get_origin(kind) is tuple and isinstance(value, list):
                kind = get_args(kind)[0]
                records = [(f"/{location}", record) for location, record in enumerate(value)]
            for location, record in records:
                try:
                    json.convert(record, kind)
                except msgspec.ValidationError as error:
                    faults.append((f"/{field.encode_name}{location}", error))
    for where, exception in faults or [("", first_error)]:
        fault, location = describe_fault(exception, data)
        location = "" if location.startswith("@") else location.replace(".", "/")
        yield CatalogIssue(
            file=name,
            rule="schema",
            where="/".join(filter(None, (where, location))),
            detail=str(exception),
            fault=fault,
        )


def _unknown_fields(raw: Any, parsed: Any, where: str = "") -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Fields that the structs do not have."""
    if isinstance(parsed, Struct):
        for field, value in raw.items():
            if field == parsed.__struct_config__.tag_field:
                continue
            if field not in parsed.__struct_fields__:
                yield f"{where}/{field}"
            else:
                yield from _unknown_fields(value, getattr(parsed, field), f"{where}/{field}")
    elif isinstance(parsed, tuple):
        for index, (value, item) in enumerate(zip(raw, parsed, strict=True)):
            yield from _unknown_fields(value, item, f"{where}/{index}")
    elif isinstance(parsed, dict):
        for (field, value), item in zip(raw.items(), parsed.values(), strict=True):
            yield from _unknown_fields(value, item, f"{where}/{field}")


def _source_keys(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every key of a source that a record names, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            location = f"{where}/{field}"
            if field in (*SOURCE_FIELDS, *EXTRA_SOURCE_FIELDS) and value is not None:
                yield from ((location, key) for key in ([value] if isinstance(value, str) else value))
            else:
                yield from _source_keys(value, location)
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from _source_keys(value, f"{where}/{index}")


def _capability_issues(name: str, raw: Any, subjects: dict[str, CatalogFile]) -> Iterator[CatalogIssue]:  # noqa: ANN401 - any JSON
    """Compute capabilities that no chip is known to have."""
    gpus = subjects.get("gpus")
    limits = gpus.capabilities if isinstance(gpus, GpuCatalog) else None
    lowest, highest = (
        (parse_capability(limits.lowest), parse_capability(limits.highest)) if limits is not None else (None, None)
    )
    for where, text in _capability_values(raw):
        parsed = parse_capability(text)
        if parsed is not None and lowest is not None and highest is not None and not lowest <= parsed <= highest:
            yield CatalogIssue(file=name, rule="capability", where=where, detail=text)


def _capability_values(raw: Any, where: str = "", *, in_capability_field: bool = False) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Every compute capability, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            yield from _capability_values(
                value,
                f"{where}/{field}",
                in_capability_field=in_capability_field or match_capability_field(field) is not None,
            )
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from _capability_values(value, f"{where}/{index}", in_capability_field=in_capability_field)
    elif in_capability_field and isinstance(raw, str):
        yield where, raw


def _date_issues(name: str, raw: Any, today: date | None) -> Iterator[CatalogIssue]:  # noqa: ANN401 - any JSON
    """Days that no calendar has, and days that have not come yet."""
    for where, text in (("/as_of", raw["as_of"]), *_dates(raw)):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            yield CatalogIssue(file=name, rule="no-day", where=where, detail=text)
        else:
            if today is not None and day > today:
                yield CatalogIssue(file=name, rule="future", where=where, detail=text)


def _dates(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every record's day, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            if field == "date" and isinstance(value, str):
                yield f"{where}/{field}", value
            else:
                yield from _dates(value, f"{where}/{field}")
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from _dates(value, f"{where}/{index}")
