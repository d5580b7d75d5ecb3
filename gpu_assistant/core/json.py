"""JSON in and out: strict decoding of untrusted files, and writing that never leaves half a file."""

from __future__ import annotations

import codecs
import os
import re
import threading
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, overload

import msgspec

from .errors import AppError, UsageError, os_error_text
from .paths import is_name_too_long

T = TypeVar("T")
MAX_FILE_BYTES = (
    16_000_000  # a file that a person gives us; a plan with every part of a CUDA Toolkit has less than 1 MB
)


class NestingTooDeepError(msgspec.DecodeError):
    """Brackets within brackets, more than there is room for: damaged, or made to do harm."""


def encode(value: Any) -> bytes:  # noqa: ANN401 - any struct of ours
    """One line of UTF-8 JSON."""
    return msgspec.json.encode(value)


def encode_pretty(value: Any) -> str:  # noqa: ANN401 - any struct of ours
    """Indented JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


# What `write_file` writes into until it is whole.
_PARTIAL_NAME = re.compile(r"\.(?P<name>.+)\.\d+\.partial")

# msgspec looks at a type when it first meets it, and shows what it has so far to every thread: another one that meets
# the same type meanwhile takes the program down.
_decoder_lock = threading.Lock()
_prepared_types: set[object] = set()


@overload
def decode(data: bytes | str, kind: type[T]) -> T: ...


@overload
def decode(data: bytes | str, kind: UnionType) -> Any: ...  # noqa: ANN401 - one of a union's


def decode(data: bytes | str, kind: Any) -> Any:
    """Decode and check; raises msgspec.ValidationError or msgspec.DecodeError (`TooDeep`). From any thread."""
    _prepare_decoder(kind)
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise NestingTooDeepError(str(error)) from error


def convert(value: object, kind: type[T]) -> T:
    """What was decoded as plain values, as a struct of ours; raises msgspec.ValidationError. From any thread."""
    _prepare_decoder(kind)
    return msgspec.convert(value, type=kind)


def _prepare_decoder(kind: object) -> None:
    if kind not in _prepared_types:
        with _decoder_lock:
            msgspec.json.Decoder(kind)
            _prepared_types.add(kind)


def read_file(path: Path, kind: type[T], *, code: str) -> T:
    """Decode a file that a person gave us; raises CallError(code, path=…, fault=…, where=…) on anything wrong, and
    AppError("unsupported-processor") or ("unsupported-system") for a computer of another kind than those we know.

    `fault` names a text ("@file.fault.missing"), `where` is a field ("gpus[0].vendor"), a line and column ("3:14"), or
    the text for the whole file.
    """
    if path.is_dir():
        raise UsageError("file-is-folder", path=str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError("file-unreadable", path=str(path), detail=os_error_text(error)) from error
    if len(data) > MAX_FILE_BYTES:
        raise UsageError("file-too-large", path=str(path), most_bytes=MAX_FILE_BYTES)
    try:
        data = _to_utf8(data)
        return decode(data, kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        fault, location = describe_fault(error, data)
        fault_code = fault.removeprefix("@file.fault.")
        if fault_code in _UNSUPPORTED_CHOICES.values():
            raise AppError(f"unsupported-{fault_code}", path=str(path)) from error
        raise UsageError(code, path=str(path), fault=fault, where=location) from error


def _to_utf8(data: bytes) -> bytes:
    """What editors and PowerShell on Windows write, by its byte-order mark; raises UnicodeDecodeError."""
    for bom, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(bom):
            return data.removeprefix(bom).decode(encoding).encode()
    return data.removeprefix(codecs.BOM_UTF8)


# What msgspec writes, and the text that says the same; a test knows each.
_FAULT_PATTERNS = {
    r"Object missing required field `(?P<field>.+?)`": "missing",
    r"Expected `\w+` of length .+": "length",
    # The machine file's texts may hold whatever can be shown; every other pattern asks for a certain form.
    r"Expected `str` matching regex '\^\[\^.+": "letters",
    r"Expected `str` matching regex .+": "form",
    r"Expected `(int|float)` [<>]=? .+|.* out of range": "range",
    r"Invalid (enum )?value .+": "choice",
    r"Expected `.+`, got `.+`": "kind",
    r"JSON is malformed: .+ \(byte (?P<byte>\d+)\)": "malformed",
    r"Input data was truncated": "truncated",
}


# What a computer can be, of which this program knows a few kinds.
_UNSUPPORTED_CHOICES = {"os.arch": "processor", "os.system": "system"}


def describe_fault(error: Exception, data: bytes = b"") -> tuple[str, str]:
    """What is wrong ("@file.fault.missing") and where, of an error that decoding `data` raised."""
    fault, location = _classify_fault(error, data)
    return f"@file.fault.{fault}", location


def _classify_fault(error: Exception, data: bytes) -> tuple[str, str]:
    if isinstance(error, NestingTooDeepError):
        return "deep", "@file.whole"
    if isinstance(error, UnicodeDecodeError):
        return "letters", "@file.whole"
    message, _, path = str(error).partition(" - at `")
    location = path.rstrip("`").removeprefix("$").removeprefix(".")
    for pattern, fault in _FAULT_PATTERNS.items():
        if match := re.fullmatch(pattern, message, re.DOTALL):
            groups = match.groupdict()
            if "field" in groups:
                location = f"{location}.{groups['field']}".removeprefix(".")
            if fault in ("malformed", "truncated"):
                location = _line_and_column(data, int(groups.get("byte", len(data))))
            unsupported = _UNSUPPORTED_CHOICES.get(location) if fault == "choice" else None
            return unsupported or fault, location or "@file.whole"
    return "malformed", location or "@file.whole"


def _line_and_column(data: bytes, byte: int) -> str:
    *lines, last_line = data[:byte].split(b"\n")
    return f"{len(lines) + 1}:{len(last_line.decode(errors='replace')) + 1}"


def write_file(path: Path, data: bytes | str) -> None:
    """Write so that `path` is at every moment the old file or the whole new one; flushed to disk.

    Raises AppError as `storage_error` has it.
    """
    content = data.encode() if isinstance(data, str) else data
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        # Where the folder is a file, or the disk has gone, the clean-up fails for the same reason.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise storage_error(error, path) from error


def remove_partial_files(folder: Path, names: Container[str]) -> None:
    """Remove what killed processes left when they wrote files of these names into a folder; no other process may be
    writing them just now. Raises OSError.
    """
    for path in folder.iterdir():
        match = _PARTIAL_NAME.fullmatch(path.name)
        if match is not None and match["name"] in names:
            path.unlink()


def storage_error(error: OSError, path: Path) -> AppError:
    """The sentence for a failed write: full or read-only disk, no permission, a long name, or what the system says."""
    import errno

    folder = str(path)
    if is_name_too_long(error, path):
        return UsageError("name-too-long", path=folder)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return AppError("disk-full", path=folder)
    if error.errno == errno.EROFS:
        return AppError("disk-read-only", path=folder)
    if error.errno in (errno.EACCES, errno.EPERM):
        return AppError("folder-unwritable", path=folder)
    return AppError("storage", path=folder, detail=os_error_text(error))
