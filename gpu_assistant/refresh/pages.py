"""What the publishers' pages say. Pure: bytes in, records out; what is not understood is left out, never guessed."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta, Struct, ValidationError

from ..catalog.subject import Arch, Day, Hex32, Md5, Numbers
from ..core import json
from ..core.machine import SystemName

MOST_LINKS = 200_000

_WHEEL = re.compile(
    r"torch-(?P<version>\d{1,4}(?:\.\d{1,4}){1,3})(?:\+(?P<variant>[a-z0-9.]{2,16}))?"
    r"-cp(?P<major>\d)(?P<minor>\d{1,2})-cp\d+-(?P<platform>[a-z0-9_.]+)\.whl",
    re.ASCII,
)
_VARIANT = re.compile(r"cpu|xpu|cu\d{2,4}|rocm\d+(?:\.\d+){1,2}", re.ASCII)
_SHA256 = re.compile(r"sha256=([0-9a-f]{64})", re.ASCII)
_INDEX = re.compile(r"redistrib_(\d{1,4}(?:\.\d{1,4}){1,3})\.json", re.ASCII)
_PLATFORMS: tuple[tuple[str, SystemName, Arch], ...] = (
    (r"win_amd64", "windows", "x86_64"),
    (r"(?:many)?linux\w*_x86_64", "linux", "x86_64"),
    (r"(?:many)?linux\w*_aarch64", "linux", "arm64"),
    (r"macosx_\w+_arm64", "darwin", "arm64"),
)


class Garbage(Exception):
    """An answer that is not what was asked for."""


class Wheel(Struct, frozen=True, kw_only=True):
    """One PyTorch wheel of an index; `python` a series ("3.13"), `sha256` where the page carries it."""

    version: Numbers
    variant: str
    python: str
    system: SystemName
    arch: Arch
    sha256: Hex32 | None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and len(self.found) < MOST_LINKS:
            self.found += [value for name, value in attrs if name == "href" and value]


def links(page: bytes) -> list[str]:
    """The addresses that a page's links name."""
    parser = _Links()
    parser.feed(page.decode("utf-8", errors="replace"))
    return parser.found


def wheels(page: bytes) -> tuple[Wheel, ...]:
    """PyTorch's released wheels on a page of its index; raises Garbage for a page without any."""
    found = [wheel for link in links(page) if (wheel := _wheel(link)) is not None]
    if not found:
        raise Garbage("no wheels")
    return tuple(found)


def _wheel(link: str) -> Wheel | None:
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    match = _WHEEL.fullmatch(unquote(parts.path).rpartition("/")[2])
    if match is None:
        return None
    system = next(((s, a) for pattern, s, a in _PLATFORMS if re.fullmatch(pattern, match["platform"], re.ASCII)), None)
    # Apple's builds carry no name of their own; elsewhere a nameless one is the general index's business.
    variant = match["variant"] or ("cpu" if system is not None and system[0] == "darwin" else "")
    if system is None or _VARIANT.fullmatch(variant) is None:
        return None
    sha256 = _SHA256.fullmatch(parts.fragment)
    return Wheel(
        version=match["version"],
        variant=variant,
        python=f"{match['major']}.{match['minor']}",
        system=system[0],
        arch=system[1],
        sha256=sha256[1] if sha256 else None,
    )


def index_files(page: bytes) -> tuple[str, ...]:
    """The versions whose index files a listing names; raises Garbage for a listing without any."""
    names = (unquote(link).partition("?")[0].rpartition("/")[2] for link in links(page))
    found = {match[1] for name in names if (match := _INDEX.fullmatch(name)) is not None}
    if not found:
        raise Garbage("no index files")
    return tuple(found)


class Index(Struct, frozen=True, kw_only=True):
    """The head of an index of redistributable parts."""

    release_date: Day


class ArchivePart(Struct, frozen=True, kw_only=True):
    """One archive: a path below the index's address, and what it must be. The size is a text of digits."""

    relative_path: Annotated[str, Meta(pattern=r"^[a-z0-9_]+(/[A-Za-z0-9_.-]+){2}$")]
    sha256: Hex32
    md5: Md5 | None = None
    size: Annotated[str, Meta(pattern=r"^\d{1,15}$")]


class _CudnnPart(Struct, frozen=True, kw_only=True):
    version: Numbers
    cuda_variant: tuple[Annotated[str, Meta(pattern=r"^\d{1,3}$")], ...]
    linux: dict[str, ArchivePart] = msgspec.field(name="linux-x86_64", default_factory=dict)
    windows: dict[str, ArchivePart] = msgspec.field(name="windows-x86_64", default_factory=dict)


class CudnnIndex(Index, frozen=True, kw_only=True):
    """An index of cuDNN: its version, the CUDA majors, and the archives by system and "cuda12"."""

    cudnn: _CudnnPart


def toolkit_index(data: bytes) -> Index:
    """The head of a toolkit's index; raises Garbage, also where it lists no compiler."""
    try:
        raw: dict[str, Any] = json.decode(data, dict[str, Any])
        if "cuda_nvcc" not in raw:
            raise Garbage("no compiler")
        return json.convert(raw, Index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbage(str(error)) from error


def cudnn_index(data: bytes) -> CudnnIndex:
    """An index of cuDNN; raises Garbage."""
    try:
        return json.decode(data, CudnnIndex)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Garbage(str(error)) from error


class FoundDriver(Struct, frozen=True, kw_only=True):
    """One driver of the lookup's answer; `studio` None where the answer does not say."""

    version: Numbers
    url: str
    day: Day | None
    studio: bool | None


class _Download(Struct, frozen=True, kw_only=True):
    version: Numbers = msgspec.field(name="Version")
    url: str = msgspec.field(name="DownloadURL")
    day: str | None = msgspec.field(name="ReleaseDateTime", default=None)
    beta: int | str | None = msgspec.field(name="IsBeta", default=None)
    studio: int | str | None = msgspec.field(name="IsCRD", default=None)


def drivers(data: bytes) -> tuple[FoundDriver, ...]:
    """The drivers of the lookup's answer that are no trial versions; empty where it found none; raises Garbage."""
    try:
        raw = json.decode(data, dict[str, Any])
        if str(raw.get("Success", "")) not in ("0", "1"):
            raise Garbage("no answer")
        found = [json.convert(entry["downloadInfo"], _Download) for entry in raw.get("IDS") or ()]
    except (msgspec.DecodeError, ValidationError, UnicodeDecodeError, RecursionError, KeyError, TypeError) as error:
        raise Garbage(str(error)) from error
    return tuple(
        FoundDriver(
            version=one.version,
            url=unquote(one.url),
            day=_day(one.day),
            studio=None if one.studio is None else str(one.studio) == "1",
        )
        for one in found
        if str(one.beta) != "1"
    )


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SPOKEN_DAY = re.compile(r"\w{3} (\w{3}) (\d{1,2}), (\d{4})", re.ASCII)


def _day(text: str | None) -> str | None:
    """ "Tue May 26, 2026" as 2026-05-26, whatever this computer's language."""
    match = _SPOKEN_DAY.fullmatch((text or "").strip())
    if match is None or match[1] not in MONTHS:
        return None
    try:
        return date(int(match[3]), MONTHS.index(match[1]) + 1, int(match[2])).isoformat()
    except ValueError:
        return None
