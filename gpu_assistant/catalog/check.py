"""Whether a catalog is whole: each file fits its structs, and nothing contradicts itself or another file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from msgspec import Struct

from ..core import json
from ..core.json import describe_fault
from ..core.refusal import os_error_text
from .files import FILE_TYPES
from .records import GpuCatalog
from .rules import RULES
from .subject import CatalogFile
from .versions import parse_capability

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


def validate_catalog(folder: Path, builtin: Path | None = None, *, today: date | None = None) -> tuple[CatalogIssue, ...]:
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
    issues.extend(CatalogIssue(file=name, rule="schema", where=where, detail="unknown") for where in _unknown_fields(raw, subject))
    issues.extend(
        CatalogIssue(file=name, rule="source", where=where, detail=key)
        for where, key in _source_keys({field: value for field, value in raw.items() if field != "sources"})
        if key not in subject.sources
    )
    issues.extend(
        CatalogIssue(file=name, rule="date", where=where, detail=day) for where, day in _dates(raw) if day > subject.as_of
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
            file=name, rule="schema", where="/".join(filter(None, (where, location))), detail=str(exception), fault=fault
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
    lowest, highest = (parse_capability(limits.lowest), parse_capability(limits.highest)) if limits is not None else (None, None)
    for where, text in _capability_values(raw):
        parsed = parse_capability(text)
        if parsed is not None and lowest is not None and highest is not None and not lowest <= parsed <= highest:
            yield CatalogIssue(file=name, rule="capability", where=where, detail=text)


def _capability_values(raw: Any, where: str = "", *, in_capability_field: bool = False) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Every compute capability, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            yield from _capability_values(value, f"{where}/{field}", in_capability_field=in_capability_field or match_capability_field(field) is not None)
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
