"""The signed statement of the newest version: read, and believed only where one of our keys has signed it.

It travels in one JSON object: `statement`, the statement as a text, and `signatures` over that text's UTF-8
bytes; `roots`, the statements that name the keys (`roots.py`). One file, so that statement and signature cannot come
from different days; several signatures, so that a key can be changed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from packaging.version import InvalidVersion, Version

from ..catalog.records.updates import UpdateKey
from ..core import json
from ..core.files import RemoteFile, is_plain_authority

STATEMENT_SCHEMA: Final = "gpu-assistant/update/1"

UpdateFileKind = Literal["windows-installer", "windows-portable", "deb", "wheel"]
RejectionReason = Literal["unreachable", "insecure", "too-large", "garbage", "forged", "expired", "older", "stopped"]

FILE_EXTENSIONS: dict[UpdateFileKind, str] = {
    "windows-installer": ".exe",
    "windows-portable": ".zip",
    "deb": ".deb",
    "wheel": ".whl",
}
# A plain file name on every system: no path, no stream, nothing hidden.
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,120}")


class ResponseRejected(Exception):
    """An answer that is not taken; `why` names the reason."""

    def __init__(self, reason: RejectionReason) -> None:
        super().__init__(reason)
        self.reason: RejectionReason = reason


class UpdateFile(Struct, frozen=True, kw_only=True):
    """One file of a version; `sha256` in lower-case hex."""

    kind: UpdateFileKind
    url: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    bytes: Annotated[int, Meta(ge=1)]

    @property
    def name(self) -> str:
        """Its file name, the last part of its address."""
        return PurePosixPath(urlsplit(self.url).path).name

    @property
    def remote(self) -> RemoteFile:
        """The file to download."""
        return RemoteFile(urls=(self.url,), name=self.name, bytes=self.bytes, sha256=self.sha256)


class ReleaseStatement(Struct, frozen=True, kw_only=True, dict=True):
    """What the publisher says about the newest version; it holds up to and including the day `expires`."""

    schema: Literal["gpu-assistant/update/1"]
    version: str
    released: date
    expires: date
    notes_url: str | None
    files: tuple[UpdateFile, ...]

    @cached_property
    def parsed_version(self) -> Version:
        """The version as one that can be compared."""
        return Version(self.version)

    def file(self, kind: UpdateFileKind) -> UpdateFile | None:
        """The file for one way of installing."""
        return next((file for file in self.files if file.kind == kind), None)


class Signature(Struct, frozen=True, kw_only=True):
    """Made with the key of that name: 64 bytes in hex."""

    key: str
    ed25519: Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]


class SignedText(Struct, frozen=True, kw_only=True):
    """A statement's very text and who signed it."""

    statement: str
    signatures: Annotated[tuple[Signature, ...], Meta(max_length=16)]


class SignedStatement(SignedText, frozen=True, kw_only=True):
    """A release statement, and the chain of roots that names its signers."""

    roots: Annotated[tuple[SignedText, ...], Meta(max_length=64)] = ()


def is_secure_url(url: str) -> bool:
    """Whether an address may be asked: https, or plain http to this very computer."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if not is_plain_authority(parts.netloc):
        return False
    if parts.scheme == "https":
        return bool(host)
    return parts.scheme == "http" and _is_loopback_host(host)


def read_signed_statement(response: bytes | str, keys: Sequence[UpdateKey]) -> ReleaseStatement:
    """The statement in an answer, signed by one of the keys; raises ResponseRejected."""
    envelope = read_envelope(response)
    # Nothing of the text is looked at before its signature was right.
    if not signer_keys(envelope, keys):
        raise ResponseRejected("forged")
    return parse_statement(envelope.statement.encode())


def read_envelope(response: bytes | str) -> SignedStatement:
    """An answer, of which nothing is proven; raises ResponseRejected("garbage")."""
    try:
        envelope = json.decode(response, SignedStatement)
        for text in (envelope.statement, *(root.statement for root in envelope.roots)):
            text.encode()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ResponseRejected("garbage") from error
    return envelope


def parse_statement(text: bytes) -> ReleaseStatement:
    """A statement's own bytes, checked except for its signature; raises ResponseRejected("garbage")."""
    try:
        statement = json.decode(text, ReleaseStatement)
        version = statement.parsed_version
    except (msgspec.DecodeError, UnicodeError, RecursionError, InvalidVersion) as error:
        raise ResponseRejected("garbage") from error
    # The version is shown as it stands: blanks, line ends and other spellings of the same number have no place in it.
    if str(version) != statement.version or statement.expires < statement.released:
        raise ResponseRejected("garbage")
    if len({file.kind for file in statement.files}) != len(statement.files):
        raise ResponseRejected("garbage")
    notes_urls = [] if statement.notes_url is None else [statement.notes_url]
    urls = [file.url for file in statement.files] + notes_urls
    if not all(is_secure_url(url) for url in urls):
        raise ResponseRejected("insecure")
    if not all(
        _FILE_NAME.fullmatch(file.name) and file.name.endswith(FILE_EXTENSIONS[file.kind]) for file in statement.files
    ):
        raise ResponseRejected("garbage")
    return statement


def signer_keys(signed: SignedText, keys: Sequence[UpdateKey]) -> tuple[UpdateKey, ...]:
    """Those of the keys that signed a text."""
    text = signed.statement.encode()
    return tuple(key for key in keys if any(_is_signed(text, signature, key) for signature in signed.signatures))


def _is_signed(text: bytes, signature: Signature, key: UpdateKey) -> bool:
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    if key.id != signature.key:
        return False
    try:
        VerifyKey(bytes.fromhex(key.ed25519)).verify(text, bytes.fromhex(signature.ed25519))
    except (CryptoError, ValueError):
        return False
    return True


def _is_loopback_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
