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
from ..core.json import fault_of
from ..core.refusal import why
from .files import FILES
from .records import Gpus
from .rules import RULES
from .subject import Subject
from .versions import capability

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
CAPABILITY_FIELD = re.compile(
    r"\w*capabilit(y|ies)|arch_list|ptx_for|excluded_devices|deprecated_below|lowest_with_cuda_11"
).fullmatch
ALSO_SOURCES = ("arch_source", "max_temp_source")


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that is wrong: the file's name without ending, the rule, where, and what stands there; `fault` is the
    text ("@file.fault.kind") for a value that does not fit, `detail` then the reader's own words.
    """

    file: str
    rule: str
    where: str = ""
    detail: str = ""
    fault: str | None = None


def check(folder: Path, floor: Path | None = None, *, today: date | None = None) -> tuple[Finding, ...]:
    """Everything wrong with a folder's catalog; files that it lacks are looked for in `floor`, if there is one. What
    is of a day after `today` is wrong; None: what day it is, is not to be trusted.
    """
    found: list[Finding] = []
    subjects: dict[str, Subject] = {}
    strangers = sorted({path.stem for path in folder.glob("*.json")} - set(FILES))
    found += [Finding(file=name, rule="unknown-file") for name in strangers]
    raw: dict[str, Any] = {}
    for name in FILES:
        own = folder / f"{name}.json"
        path = own if own.is_file() or floor is None else floor / own.name
        subject = _file(path, name, found, raw)
        if subject is not None:
            subjects[name] = subject
    for name in subjects:
        found.extend(_outside(name, raw[name], subjects))
        found.extend(_no_days(name, raw[name], today))
    for name, rules in RULES.items():
        if name in subjects:
            for rule in rules:
                found.extend(
                    Finding(file=name, rule=rule.__name__.replace("_", "-"), where=where, detail=detail)
                    for where, detail in rule(subjects[name], subjects)
                )
    return tuple(found)


def _file(path: Path, name: str, found: list[Finding], whole: dict[str, Any]) -> Subject | None:
    try:
        data = path.read_bytes()
        subject = json.decode(data, FILES[name])
        raw = whole[name] = msgspec.json.decode(data)
    except OSError as error:
        found.append(Finding(file=name, rule="readable", detail=why(error)))
        return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        found.extend(_misfits(name, data, error))
        return None
    found.extend(Finding(file=name, rule="schema", where=where, detail="unknown") for where in _unknown(raw, subject))
    found.extend(
        Finding(file=name, rule="source", where=where, detail=key)
        for where, key in _sources({field: value for field, value in raw.items() if field != "sources"})
        if key not in subject.sources
    )
    found.extend(
        Finding(file=name, rule="date", where=where, detail=day) for where, day in _days(raw) if day > subject.as_of
    )
    return subject


def _misfits(name: str, data: bytes, first: Exception) -> Iterator[Finding]:
    """What does not fit its struct: the first fault of every record, where the file is JSON at all."""
    faults: list[tuple[str, Exception]] = []
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw = json.decode(data, dict[str, Any])
        for field in msgspec.structs.fields(FILES[name]):
            value = raw.get(field.encode_name)
            records, kind = [("", value)] if value is not None else [], field.type
            if get_origin(kind) is tuple and isinstance(value, list):
                kind = get_args(kind)[0]
                records = [(f"/{place}", record) for place, record in enumerate(value)]
            for place, record in records:
                try:
                    json.convert(record, kind)
                except msgspec.ValidationError as error:
                    faults.append((f"/{field.encode_name}{place}", error))
    for where, wrong in faults or [("", first)]:
        fault, place = fault_of(wrong, data)
        place = "" if place.startswith("@") else place.replace(".", "/")
        yield Finding(
            file=name, rule="schema", where="/".join(filter(None, (where, place))), detail=str(wrong), fault=fault
        )


def _unknown(raw: Any, known: Any, where: str = "") -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Fields that the structs do not have."""
    if isinstance(known, Struct):
        for field, value in raw.items():
            if field == known.__struct_config__.tag_field:
                continue
            if field not in known.__struct_fields__:
                yield f"{where}/{field}"
            else:
                yield from _unknown(value, getattr(known, field), f"{where}/{field}")
    elif isinstance(known, tuple):
        for place, (value, one) in enumerate(zip(raw, known, strict=True)):
            yield from _unknown(value, one, f"{where}/{place}")
    elif isinstance(known, dict):
        for (field, value), one in zip(raw.items(), known.values(), strict=True):
            yield from _unknown(value, one, f"{where}/{field}")


def _sources(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every key of a source that a record names, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            place = f"{where}/{field}"
            if field in (*SOURCE_FIELDS, *ALSO_SOURCES) and value is not None:
                yield from ((place, key) for key in ([value] if isinstance(value, str) else value))
            else:
                yield from _sources(value, place)
    elif isinstance(raw, list):
        for number, value in enumerate(raw):
            yield from _sources(value, f"{where}/{number}")


def _outside(name: str, raw: Any, subjects: dict[str, Subject]) -> Iterator[Finding]:  # noqa: ANN401 - any JSON
    """Compute capabilities that no chip is known to have."""
    gpus = subjects.get("gpus")
    known = gpus.capabilities if isinstance(gpus, Gpus) else None
    lowest, highest = (capability(known.lowest), capability(known.highest)) if known is not None else (None, None)
    for where, text in _capabilities(raw):
        found = capability(text)
        if found is not None and lowest is not None and highest is not None and not lowest <= found <= highest:
            yield Finding(file=name, rule="capability", where=where, detail=text)


def _capabilities(raw: Any, where: str = "", *, inside: bool = False) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Every compute capability, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            yield from _capabilities(value, f"{where}/{field}", inside=inside or CAPABILITY_FIELD(field) is not None)
    elif isinstance(raw, list):
        for number, value in enumerate(raw):
            yield from _capabilities(value, f"{where}/{number}", inside=inside)
    elif inside and isinstance(raw, str):
        yield where, raw


def _no_days(name: str, raw: Any, today: date | None) -> Iterator[Finding]:  # noqa: ANN401 - any JSON
    """Days that no calendar has, and days that have not come yet."""
    for where, text in (("/as_of", raw["as_of"]), *_days(raw)):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            yield Finding(file=name, rule="no-day", where=where, detail=text)
        else:
            if today is not None and day > today:
                yield Finding(file=name, rule="future", where=where, detail=text)


def _days(raw: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Every record's day, and where."""
    if isinstance(raw, dict):
        for field, value in raw.items():
            if field == "date" and isinstance(value, str):
                yield f"{where}/{field}", value
            else:
                yield from _days(value, f"{where}/{field}")
    elif isinstance(raw, list):
        for number, value in enumerate(raw):
            yield from _days(value, f"{where}/{number}")
