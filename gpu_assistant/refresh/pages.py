"""What the publishers' pages say. Pure: bytes in, records out; what is not understood is left out, never guessed."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser
from typing import Annotated, Any
from urllib.parse import unquote, urljoin, urlsplit

import msgspec
from msgspec import Meta, Struct, ValidationError

from ..catalog.records.base import Arch, Hex32Bytes, IsoDate, Md5
from ..catalog.wheel_variants import parse_metadata_name, split_variant_label
from ..core import json
from ..core.machine import SystemName
from ..core.versions import Version

MAX_LINKS = 200_000

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


class UnexpectedPage(Exception):
    """An answer that is not what was asked for."""


class IndexedWheel(Struct, frozen=True, kw_only=True):
    """One PyTorch wheel of an index; `python` a series ("3.13"), `sha256` where the page carries it.

    A wheel variant has a `label`; its `variant` is None where the label is no version tag: its metadata tells more.
    """

    version: Version
    variant: str | None
    label: str | None = None
    python: str
    system: SystemName
    arch: Arch
    sha256: Hex32Bytes | None


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and len(self.hrefs) < MAX_LINKS:
            self.hrefs += [value for name, value in attrs if name == "href" and value]


def link_targets(page: bytes) -> list[str]:
    """The addresses that a page's links name."""
    parser = _LinkParser()
    parser.feed(page.decode("utf-8", errors="replace"))
    return parser.hrefs


class IndexedMetadata(Struct, frozen=True, kw_only=True):
    """A file of variant metadata on a page: its address, and its hash where the page carries it."""

    version: Version
    url: str
    sha256: Hex32Bytes | None


def parse_variant_metadata_links(page: bytes, page_url: str) -> tuple[IndexedMetadata, ...]:
    """The files of variant metadata of PyTorch's releases on a page of its index, newest release first."""
    found = []
    for link in link_targets(page):
        try:
            url = urlsplit(urljoin(page_url, link))
        except ValueError:
            continue
        name = parse_metadata_name(unquote(url.path).rpartition("/")[2])
        version = Version.parse(name[1]) if name is not None and name[0] == "torch" else None
        sha256 = _SHA256.fullmatch(url.fragment)
        if version is not None:
            address = url._replace(fragment="").geturl()
            found.append(IndexedMetadata(version=version, url=address, sha256=sha256[1] if sha256 else None))
    return tuple(sorted(found, key=lambda file: file.version, reverse=True))


def parse_wheels(page: bytes) -> tuple[IndexedWheel, ...]:
    """PyTorch's released wheels on a page of its index, wheel variants too; raises UnexpectedPage for a page without
    any.
    """
    parsed = [wheel for link in link_targets(page) if (wheel := _parse_wheel(link)) is not None]
    if not parsed:
        raise UnexpectedPage("no wheels")
    return tuple(parsed)


def _parse_wheel(link: str) -> IndexedWheel | None:
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    plain_name, label = split_variant_label(unquote(parts.path).rpartition("/")[2])
    match = _WHEEL.fullmatch(plain_name)
    if match is None:
        return None
    target = next(
        (
            (system_name, arch)
            for pattern, system_name, arch in _PLATFORMS
            if re.fullmatch(pattern, match["platform"], re.ASCII)
        ),
        None,
    )
    # Apple's builds carry no name of their own; elsewhere a nameless one is the general index's business.
    own_variant = "cpu" if target is not None and target[0] == "darwin" else label or ""
    variant: str | None = match["variant"] or own_variant
    if target is None:
        return None
    if _VARIANT.fullmatch(variant or "") is None:
        if label is None:
            return None
        variant = None
    sha256 = _SHA256.fullmatch(parts.fragment)
    return IndexedWheel(
        version=Version(match["version"]),
        variant=variant,
        label=label,
        python=f"{match['major']}.{match['minor']}",
        system=target[0],
        arch=target[1],
        sha256=sha256[1] if sha256 else None,
    )


def parse_index_versions(page: bytes) -> tuple[Version, ...]:
    """The versions whose index files a listing names; raises UnexpectedPage for a listing without any."""
    names = (unquote(link).partition("?")[0].rpartition("/")[2] for link in link_targets(page))
    versions = {Version(match[1]) for name in names if (match := _INDEX.fullmatch(name)) is not None}
    if not versions:
        raise UnexpectedPage("no index files")
    return tuple(versions)


class RedistIndexHeader(Struct, frozen=True, kw_only=True):
    """The head of an index of redistributable parts."""

    release_date: IsoDate


class RedistArchive(Struct, frozen=True, kw_only=True):
    """One archive: a path below the index's address, and what it must be. The size is a text of digits."""

    relative_path: Annotated[str, Meta(pattern=r"^[a-z0-9_]+(/[A-Za-z0-9_.-]+){2}$")]
    sha256: Hex32Bytes
    md5: Md5 | None = None
    size: Annotated[str, Meta(pattern=r"^\d{1,15}$")]


class _CudnnEntry(Struct, frozen=True, kw_only=True):
    version: Version
    cuda_variant: tuple[Annotated[str, Meta(pattern=r"^\d{1,3}$")], ...]
    linux: dict[str, RedistArchive] = msgspec.field(name="linux-x86_64", default_factory=dict)
    windows: dict[str, RedistArchive] = msgspec.field(name="windows-x86_64", default_factory=dict)


class CudnnIndex(RedistIndexHeader, frozen=True, kw_only=True):
    """An index of cuDNN: its version, the CUDA majors, and the archives by system and "cuda12"."""

    cudnn: _CudnnEntry


def parse_toolkit_index(data: bytes) -> RedistIndexHeader:
    """The head of a toolkit's index; raises UnexpectedPage, also where it lists no compiler."""
    try:
        raw: dict[str, Any] = json.decode(data, dict[str, Any])
        if "cuda_nvcc" not in raw:
            raise UnexpectedPage("no compiler")
        return json.convert(raw, RedistIndexHeader)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnexpectedPage(str(error)) from error


def parse_cudnn_index(data: bytes) -> CudnnIndex:
    """An index of cuDNN; raises UnexpectedPage."""
    try:
        return json.decode(data, CudnnIndex)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnexpectedPage(str(error)) from error


class DriverListing(Struct, frozen=True, kw_only=True):
    """One driver of the lookup's answer; `studio` None where the answer does not say."""

    version: Version
    url: str
    day: IsoDate | None
    studio: bool | None


class _DriverDownload(Struct, frozen=True, kw_only=True):
    version: Version = msgspec.field(name="Version")
    url: str = msgspec.field(name="DownloadURL")
    day: str | None = msgspec.field(name="ReleaseDateTime", default=None)
    beta: int | str | None = msgspec.field(name="IsBeta", default=None)
    studio: int | str | None = msgspec.field(name="IsCRD", default=None)


def parse_drivers(data: bytes) -> tuple[DriverListing, ...]:
    """The drivers of the lookup's answer that are no betas; empty where it found none; raises UnexpectedPage."""
    try:
        raw = json.decode(data, dict[str, Any])
        if str(raw.get("Success", "")) not in ("0", "1"):
            raise UnexpectedPage("no answer")
        downloads = [json.convert(entry["downloadInfo"], _DriverDownload) for entry in raw.get("IDS") or ()]
    except (msgspec.DecodeError, ValidationError, UnicodeDecodeError, RecursionError, KeyError, TypeError) as error:
        raise UnexpectedPage(str(error)) from error
    return tuple(
        DriverListing(
            version=download.version,
            url=unquote(download.url),
            day=_iso_date(download.day),
            studio=None if download.studio is None else str(download.studio) == "1",
        )
        for download in downloads
        if str(download.beta) != "1"
    )


MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_US_DATE = re.compile(r"\w{3} (\w{3}) (\d{1,2}), (\d{4})", re.ASCII)


def _iso_date(text: str | None) -> str | None:
    """ "Tue May 26, 2026" as 2026-05-26, whatever this computer's language."""
    match = _US_DATE.fullmatch((text or "").strip())
    if match is None or match[1] not in MONTH_NAMES:
        return None
    try:
        return date(int(match[3]), MONTH_NAMES.index(match[1]) + 1, int(match[2])).isoformat()
    except ValueError:
        return None
