"""Whether a catalog is valid: every file fits its structs, and no fact contradicts another one.

`validate_catalog` reads a folder and checks each file by itself (schema, sources, days), then applies `RULES`, which
compare facts within and between files. `json_schema` gives the schemas in `resources/schemas/` from the same structs.
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
from ..core.versions import Capability, Version, schema_hook
from .estimates import DurationCatalog, MemoryPlanningCatalog
from .records.accelerators import AcceleratorCatalog
from .records.base import CatalogFile
from .records.cuda import CudaCatalog
from .records.drivers import DriverCatalog, GpuGeneration
from .records.environment_contents import EnvironmentSizeCatalog, PythonCatalog
from .records.gpus import GpuCatalog
from .records.health import HealthRules
from .records.libraries import CudnnCatalog, TensorFlowCatalog, VcRuntimeCatalog
from .records.mirrors import MirrorCatalog
from .records.models import ModelCatalog
from .records.peak_specs import ReferenceCatalog
from .records.pytorch import PyTorchCatalog
from .records.updates import RefreshSettings, UpdateCatalog

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
    "models": ModelCatalog,
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


class CatalogIssue(Struct, frozen=True, kw_only=True):
    """One fault: the file's name without ending, the rule, the path of the field, and its value. For a value that does
    not fit its struct `fault` is the code of a text ("@file.fault.kind") and `detail` the message of the decoder.
    """

    file: str
    rule: str
    where: str = ""
    detail: str = ""
    fault: str | None = None


def validate_catalog(
    folder: Path, builtin: Path | None = None, *, today: date | None = None
) -> tuple[CatalogIssue, ...]:
    """Every fault of a folder's files; those that it lacks are read from `builtin`, if given.

    Days after `today` are faults; None where the clock of this computer is not to be trusted.
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


def read_files(catalog: Catalog, names: Iterable[str]) -> dict[str, CatalogFile]:
    """These files as a catalog reads them; raises AppError("catalog-broken")."""
    return {name: catalog.read(f"{name}.json", FILE_TYPES[name]) for name in names}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a file as `resources/schemas/` has it: unknown fields are errors."""
    types = [FILE_TYPES[name]]
    (root,), defs = msgspec.json.schema_components(types, ref_template="#/$defs/{name}", schema_hook=schema_hook)
    for part in defs.values():
        if "description" in part:
            # Python 3.13 removes the indentation of docstrings by itself, 3.11 does not.
            part["description"] = cleandoc(part["description"])
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"GPU Assistant catalog: {name}.json",
        **root,
        "$defs": defs,
    }
    # Default values are tuples here and lists in JSON.
    normalized_document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return normalized_document


# Rules. Each gets the file that it checks and all files that could be read, and yields the path and the value of each
# fault. Its name is the id of the rule, whose text is `catalog.rule.<id>`.

Violations = Iterator[tuple[str, str]]
CatalogRule = Callable[[Any, dict[str, CatalogFile]], Violations]

_CUDA_TAG = re.compile(r"cu(\d+)(\d)")
AMD, INTEL, NVIDIA = "1002:", "8086:", "10de:"


def _order_violations(values: Iterable[tuple[str, Version]]) -> Violations:
    """(group, version): within a group each version has to be lower than the one before."""
    previous: dict[str, Version] = {}
    for index, (group, version) in enumerate(values):
        if group in previous and previous[group] <= version:
            yield str(index), f"{group} {version}".strip()
        previous[group] = version


def _duplicates(values: Iterable[Any]) -> Violations:
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            yield str(index), str(value)
        seen.add(value)


def _range_gaps(ranges: Iterable[tuple[Capability, Capability | None]]) -> Violations:
    """(from, below), highest first: the first is open, each ends where the one before begins."""
    expected: Capability | None = None
    for index, (lowest, below) in enumerate(ranges):
        if expected != below or (below is not None and lowest >= below):
            yield str(index), f"{lowest}-{below}"
        expected = lowest


def newest_first(subject: Any, _all: dict[str, CatalogFile]) -> Violations:  # noqa: ANN401 - any of the files below
    """Lists of versions begin with the newest and have none twice."""
    lists: dict[str, Iterable[tuple[str, Version]]] = {}
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
            lists["minimum_drivers"] = (("", Version(str(m.major))) for m in subject.minimum_drivers)
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
    """PCI ids are sorted and unique, and each is its vendor's."""
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
    """All GPUs with one chip have one capability, and no two architectures share a capability."""
    signatures: dict[str, tuple[str, Capability | None]] = {}
    levels: dict[str, set[Capability]] = {}
    for index, row in enumerate(subject.gpus):
        signature = row.architecture, row.compute_capability
        if signatures.setdefault(row.chip, signature) != signature:
            yield f"gpus/{index}", f"{row.chip} {row.architecture} {row.compute_capability}"
        if row.compute_capability is not None:
            levels.setdefault(row.architecture, set()).add(row.compute_capability)
    ranges = sorted((min(capabilities), max(capabilities), name) for name, capabilities in levels.items())
    for (_, highest, older), (lowest, _, newer) in pairwise(ranges):
        if lowest <= highest:
            yield "gpus", f"{older} {newer}"
    yield from _id_range_violations(subject)


def _id_range_violations(subject: GpuCatalog) -> Violations:
    """Ranges of ids ascend without overlap, are NVIDIA's, and have the capability of every GPU in them."""
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
    """A release has each build once; the index of a build ends with its variant, and its CUDA is the variant's."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for release in subject.releases:
        keys = [(v.system, v.arch, v.variant) for v in release.variants]
        yield from ((f"{release.version}/{index}", detail) for index, detail in _duplicates(keys))
        for build in release.variants:
            where = f"{release.version}/{build.system}/{build.variant}"
            is_pytorchs = build.chip_extra is None  # AMD's own index has all its builds in one
            if (
                build.index_url is not None
                and is_pytorchs
                and build.index_url.rstrip("/").rpartition("/")[2] != build.variant
            ):
                yield where, build.index_url
            tag = _CUDA_TAG.fullmatch(build.variant)
            if tag is None:
                continue
            version = Version(f"{tag[1]}.{tag[2]}")
            if majors is not None and version.major not in majors:
                yield where, "no lowest driver"
            if build.cuda is not None and build.cuda.series != version:
                yield where, str(build.cuda)
        for system, variant in release.default_variant.items():
            if variant not in {v.variant for v in release.variants if v.system == system}:
                yield f"{release.version}/default_variant", f"{system} {variant}"


def generations(subject: DriverCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """Generations of GPUs, and the kinds of kernel modules, have no gaps and do not overlap; those of one architecture
    come behind.
    """
    first_of_arch = next((n for n, m in enumerate(subject.linux_modules) if m.arch is not None), None)
    lists = {
        "generations": [(g.from_capability, g.below_capability) for g in subject.generations],
        "linux_modules": [(m.from_capability, m.below_capability) for m in subject.linux_modules[:first_of_arch]],
    }
    for name, ranges in lists.items():
        yield from ((f"{name}/{index}", detail) for index, detail in _range_gaps(ranges))


def last_branches(subject: DriverCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """A generation's last branch is a known branch, and lower than the first driver without the generation."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    known = {row.branch for row in cuda.branches} if cuda is not None else None
    for index, generation in enumerate(subject.generations):
        last_branch = generation.last_branch
        if last_branch is None:
            continue
        where, branch = f"generations/{index}", Version(str(last_branch))
        if known is not None and branch not in known:
            yield where, str(last_branch)
        for system, first_version in generation.first_without.items():
            if first_version < branch:
                yield where, f"{last_branch} {system} {first_version}"


def packages(subject: DriverCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A package is of a known generation, not past its last branch, and on a host of the driver lookup."""
    known: dict[str, GpuGeneration] = {generation.id: generation for generation in subject.generations}
    for index, package in enumerate(subject.packages):
        where, generation = f"packages/{index}", known.get(package.generation)
        if generation is None:
            yield where, package.generation
            continue
        # R580 is 580 to 589 on Linux and 58x.yy on Windows.
        if generation.last_branch is not None and package.version.major // 10 > generation.last_branch // 10:
            yield where, str(package.version)
        host = (package.url or "").partition("//")[2].partition("/")[0]
        if package.url is not None and subject.lookup is not None and not host.endswith(subject.lookup.hosts):
            yield where, package.url
    yield from ((f"products/{index}", detail) for index, detail in _duplicates(p.id for p in subject.products))


def floors_agree(subject: CudnnCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """The oldest chip of a cuDNN for CUDA 12 is the one that PyTorch's floors have."""
    torch = cast("PyTorchCatalog | None", subjects.get("pytorch"))
    floors = torch.cudnn_floors if torch is not None else ()
    for release in subject.releases:
        minimum = next((f for f in floors if release.version >= f.from_version), None)
        lowest = release.lowest_capability.get("12")
        if minimum is not None and lowest is not None and lowest != minimum.lowest_capability:
            yield f"releases/{release.version}", str(lowest)


def archives(subject: CudnnCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A yanked cuDNN has no wheels; an archive is for a CUDA of its release, and its address has the version."""
    for release in subject.releases:
        where = f"releases/{release.version}"
        if release.yanked and release.wheels:
            yield where, "yanked"
        for archive in release.archives:
            if archive.cuda not in release.cuda_majors or release.version.text not in archive.url:
                yield where, archive.url


def installers(subject: CudaCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """An installer's address ends with its file name, which has the toolkit's version."""
    for toolkit in subject.toolkits:
        for installer in toolkit.installers:
            if installer.url.rpartition("/")[2] != installer.file or toolkit.version.text not in installer.file:
                yield f"toolkits/{toolkit.version}", installer.url


def pythons(subject: PythonCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A standalone Python is of its series, and its address has its version."""
    for index, build in enumerate(subject.builds):
        if not build.version.text.startswith(f"{build.series}.") or build.version.text not in build.url:
            yield f"builds/{index}", build.url


def lowest_drivers(subject: TensorFlowCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """Every CUDA that a TensorFlow was built with has a minimum driver."""
    cuda = cast("CudaCatalog | None", subjects.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for index, build in enumerate(subject.builds):
        if build.gpu and (build.cuda is None or (majors is not None and build.cuda.major not in majors)):
            yield f"builds/{index}", str(build.cuda)


def families(subject: AcceleratorCatalog, subjects: dict[str, CatalogFile]) -> Violations:
    """An Intel GPU is of a described family; the builds of an AMD chip were published by some PyTorch release."""
    known = {family.family for family in subject.intel.families}
    for index, device in enumerate(subject.intel_devices):
        if device.family not in known:
            yield f"intel_devices/{index}", device.family
    torch = cast("PyTorchCatalog | None", subjects.get("pytorch"))
    published = {v.variant for r in torch.releases for v in r.variants} if torch is not None else None
    for chip in subject.amd_chips:
        for variant in chip.variants or ():
            if published is not None and variant not in published:
                yield f"amd_chips/{chip.gfx}", variant


def publishers(subject: MirrorCatalog, _all: dict[str, CatalogFile]) -> Violations:
    """A mirror is of a listed publisher."""
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


# Checks of a single file, on its plain JSON: fields that no struct has, sources that are not listed, impossible days.

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
    "compile_source",
    "cudnn_source",
    "gnu_commands_source",
    "msvc_command_source",
    "key_source",
    "preferred_source",
    "packages_source",
    "lowest_source",
    "signed_source",
)
EXTRA_SOURCE_FIELDS = ("arch_source", "max_temp_source")
# Names of the fields that hold compute capabilities.
match_capability_field = re.compile(
    r"\w*capabilit(y|ies)|arch_list|ptx_for|excluded_devices|deprecated_below|lowest_with_cuda_11"
).fullmatch


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
    """The first fault of every record that does not fit its struct, if the file is JSON at all."""
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
        attributes = dict(zip(parsed.__struct_encode_fields__, parsed.__struct_fields__, strict=True))
        for field, value in raw.items():
            if field == parsed.__struct_config__.tag_field:
                continue
            if field not in attributes:
                yield f"{where}/{field}"
            else:
                yield from _unknown_fields(value, getattr(parsed, attributes[field]), f"{where}/{field}")
    elif isinstance(parsed, tuple):
        for index, (value, item) in enumerate(zip(raw, parsed, strict=True)):
            yield from _unknown_fields(value, item, f"{where}/{index}")
    elif isinstance(parsed, dict):
        for (field, value), item in zip(raw.items(), parsed.values(), strict=True):
            yield from _unknown_fields(value, item, f"{where}/{field}")


def _source_keys(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every key of a source that a record has, with its path."""
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
    for where, text in _capability_values(raw):
        capability = Capability.parse(text)
        if capability is not None and limits is not None and not limits.lowest <= capability <= limits.highest:
            yield CatalogIssue(file=name, rule="capability", where=where, detail=text)


def _capability_values(raw: Any, where: str = "", *, in_capability_field: bool = False) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Every compute capability with its path."""
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
    """Days that do not exist, and days in the future."""
    for where, text in (("/as_of", raw["as_of"]), *_dates(raw)):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            yield CatalogIssue(file=name, rule="no-day", where=where, detail=text)
        else:
            if today is not None and day > today:
                yield CatalogIssue(file=name, rule="future", where=where, detail=text)


def _dates(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every record's day with its path."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            if field == "date" and isinstance(value, str):
                yield f"{where}/{field}", value
            else:
                yield from _dates(value, f"{where}/{field}")
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from _dates(value, f"{where}/{index}")
