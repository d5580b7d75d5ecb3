"""JSON as structs: strict decoding of untrusted files, and atomic writing.

Every struct of the program becomes JSON and comes back through this module alone, because msgspec is not safe when two
threads meet a type for the first time.
"""

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

from . import filesystem
from .errors import AppError, UsageError, os_error_text, storage_errors
from .filesystem import replace_surrogates
from .versions import decode_hook, encode_hook

T = TypeVar("T")
MAX_FILE_BYTES = 16_000_000  # of a file that the user names; a plan with every part of a CUDA Toolkit is below 1 MB

# msgspec builds a decoder when it first meets a type and lets every thread see the unfinished one: a second thread
# that meets the same type meanwhile crashes the interpreter.
_decoder_lock = threading.Lock()
_prepared_types: set[object] = set()


class NestingTooDeepError(msgspec.DecodeError):
    """Brackets nested deeper than the interpreter's stack: a damaged or a malicious file."""


def encode(value: Any) -> bytes:  # noqa: ANN401 - any struct
    """One line of UTF-8 JSON."""
    return msgspec.json.encode(value, enc_hook=encode_hook)


def encode_for_display(value: Any) -> bytes:  # noqa: ANN401 - any struct
    """The same; what is not Unicode, as names of files may be, has U+FFFD in its place."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        return encode(_replace_in(msgspec.to_builtins(value, enc_hook=encode_hook)))


def _replace_in(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {_replace_in(key): _replace_in(item) for key, item in value.items()}
    return [_replace_in(item) for item in value] if isinstance(value, list | tuple) else value


def encode_pretty(value: Any) -> str:  # noqa: ANN401 - any struct
    """JSON indented by two spaces."""
    return msgspec.json.format(encode(value), indent=2).decode()


@overload
def decode(data: bytes | str, kind: type[T]) -> T: ...


@overload
def decode(data: bytes | str, kind: UnionType) -> Any: ...  # noqa: ANN401 - one of the union's types


def decode(data: bytes | str, kind: Any) -> Any:
    """JSON as a struct, from any thread; raises msgspec.DecodeError, of which ValidationError is one."""
    _prepare_decoder(kind)
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=decode_hook)
    except RecursionError as error:
        raise NestingTooDeepError(str(error)) from error


def convert(value: object, kind: type[T]) -> T:
    """Decoded plain values as a struct, from any thread; raises msgspec.ValidationError."""
    _prepare_decoder(kind)
    return msgspec.convert(value, type=kind, dec_hook=decode_hook)


def _prepare_decoder(kind: object) -> None:
    if kind not in _prepared_types:
        with _decoder_lock:
            msgspec.json.Decoder(kind)
            _prepared_types.add(kind)


def read_file(path: Path, kind: type[T], *, code: str) -> T:
    """Decode a file that the user names.

    Raises UsageError "file-is-folder", "file-unreadable", "file-too-large", or `code` with `fault` and `where` as
    `describe_fault` has them; AppError("unsupported-processor") or ("unsupported-system") for a machine file of a
    computer that no struct describes.
    """
    return decode_file(path, read_bytes(path), kind, code=code)


def read_bytes(path: Path) -> bytes:
    """A file that the user names; raises UsageError "file-is-folder", "file-unreadable", "file-too-large"."""
    if path.is_dir():
        raise UsageError("file-is-folder", path=str(path))
    try:
        with path.open("rb") as file:
            data = filesystem.read_up_to(file, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError("file-unreadable", path=str(path), detail=os_error_text(error)) from error
    if len(data) > MAX_FILE_BYTES:
        raise UsageError("file-too-large", path=str(path), most_bytes=MAX_FILE_BYTES)
    return data


def decode_file(path: Path, data: bytes, kind: type[T], *, code: str) -> T:
    """Decode the bytes of a file that the user names; raises what `read_file` raises for its content."""
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
    """UTF-8 without a byte-order mark: editors and PowerShell on Windows write one, or UTF-16. Raises
    UnicodeDecodeError.
    """
    for bom, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(bom):
            return data.removeprefix(bom).decode(encoding).encode()
    return data.removeprefix(codecs.BOM_UTF8)


# Messages of msgspec, and the key of the text that says the same; a test has an example of each.
_FAULT_PATTERNS = {
    r"Object missing required field `(?P<field>.+?)`": "missing",
    r"Expected `\w+` of length .+": "length",
    # The pattern of a machine file's free texts (printable characters); every other pattern prescribes a form.
    r"Expected `str` matching regex '\^\[\^.+": "letters",
    r"Expected `str` matching regex .+": "form",
    r"Expected `(int|float)` [<>]=? .+|.* out of range": "range",
    r"Invalid (enum )?value .+": "choice",
    r"Expected `.+`, got `.+`": "kind",
    r"JSON is malformed: .+ \(byte (?P<byte>\d+)\)": "malformed",
    r"Input data was truncated": "truncated",
}
# Fields of a machine file whose unknown value means a kind of computer that is not supported, not a broken file.
_UNSUPPORTED_CHOICES = {"os.arch": "processor", "os.system": "system"}


def describe_fault(error: Exception, data: bytes = b"") -> tuple[str, str]:
    """What is wrong with `data`, and where, from the error that decoding it raised.

    The first is the code of a text ("@file.fault.missing"); the second a field ("gpus[0].vendor"), a line and a column
    ("3:14"), or the code of the text for the whole file ("@file.whole").
    """
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


# The file that `write_file` renames when it is complete: ".<name>.<pid>.partial".
_PARTIAL_NAME = re.compile(r"\.(?P<name>.+)\.\d+\.partial")


def write_file(path: Path, data: bytes | str) -> None:
    """Replace a file atomically, flushed to disk: `path` is always the old file or the complete new one.

    Creates the folder. Raises AppError as `storage_error` does.
    """
    content = data.encode() if isinstance(data, str) else data
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with storage_errors(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            filesystem.replace(partial, path)
        except OSError:
            # Fails for the same reason where the folder is a file or the disk was pulled out.
            with suppress(OSError):
                filesystem.unlink(partial, missing_ok=True)
            raise


def remove_partial_files(folder: Path, names: Container[str]) -> None:
    """Remove the temporary files of killed processes that were writing files of these names in a folder; no process
    may be writing them at the same time. Raises OSError.
    """
    for path in folder.iterdir():
        match = _PARTIAL_NAME.fullmatch(path.name)
        if match is not None and match["name"] in names:
            filesystem.unlink(path)
