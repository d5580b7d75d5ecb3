"""Writes, signs and checks the statement of the newest version, which the program asks for (`gpu_assistant/update/`).

Run in the checkout, with its packages:

python -m installers.statement key NAME -o FILE              make a key; prints what goes into updates.json
python -m installers.statement write --version V --base URL --days N [--notes URL] -o FILE ARTIFACT...
python -m installers.statement sign STATEMENT --key FILE [--key FILE] -o FILE
python -m installers.statement check SIGNED [--catalog FILE]

`write` needs no key and `sign` needs no artifacts: the key may lie on a computer of its own. `--days` says for how
long the statement holds; sign a new one before that, also when there is no new version. A new key is listed in
resources/catalog/updates.json one release before anything is signed with it alone; until then sign with both.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from nacl.encoding import HexEncoder
from nacl.signing import SigningKey
from packaging.version import InvalidVersion, Version

from gpu_assistant.catalog.records.updates import UpdateCatalog, UpdateKey
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.localized import Texts
from gpu_assistant.update.signed_statement import (
    FILE_EXTENSIONS,
    STATEMENT_SCHEMA,
    RejectionReason,
    ReleaseStatement,
    ResponseRejected,
    Signature,
    SignedStatement,
    UpdateFile,
    parse_statement,
    read_signed_statement,
)

KEY_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z"
DATA = Path(__file__).resolve().parent / "statement.json"
# Why the program would not take what is made or checked here, for the person who makes it.
REFUSALS: dict[RejectionReason, str] = {
    "insecure": "an address in it does not begin with https://.",
    "too-large": "it is larger than the program reads (answer_bytes in updates.json).",
    "garbage": "it does not say what a statement says (fields, version, dates, file names, one file of a kind).",
    "forged": "none of its signatures fits a key in updates.json.",
    "expired": "the last day on which it holds is over; write and sign a new one.",
}


class Wrong(Exception):
    """What was given does not fit; the text is one sentence that says why."""


class Limits(Struct, frozen=True, kw_only=True):
    """`statement.json`: the longest time that a statement may hold."""

    most_days: int


class SecretKey(Struct, frozen=True, kw_only=True):
    """A key's name and its secret 32 bytes in hex, as its file holds them."""

    id: Annotated[str, Meta(pattern=KEY_NAME)]
    secret: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]

    @property
    def key(self) -> SigningKey:
        """What signs."""
        return SigningKey(self.secret.encode(), encoder=HexEncoder)

    @property
    def public(self) -> UpdateKey:
        """What may be known."""
        return UpdateKey(id=self.id, ed25519=self.key.verify_key.encode(HexEncoder).decode())


def make_key(name: str, file: Path) -> SecretKey:
    """A new key in a new file that only its owner may read; raises Wrong, OSError."""
    if not re.search(KEY_NAME, name):
        raise Wrong("A key's name is made of 1 to 64 letters, digits, dots, hyphens and underscores, such as 2026-a.")
    made = SecretKey(id=name, secret=SigningKey.generate().encode(HexEncoder).decode())
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(json.encode(made))
    return made


def secret_key(file: Path) -> SecretKey:
    """The key in a file of `make_key`; raises Wrong, OSError."""
    try:
        return json.decode(file.read_bytes(), SecretKey)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Without the reason: it might quote the secret.
        raise Wrong(f"{file} is not a key file as the command key writes it.") from None


def described(artifact: Path, version: str, base: str) -> UpdateFile:
    """One artifact of a version, to be found below the address `base` by its name; what it is, its ending tells.

    Raises Wrong, OSError.
    """
    name = artifact.name
    kind = next((kind for kind, ending in FILE_EXTENSIONS.items() if name.endswith(ending)), None)
    if kind is None:
        raise Wrong(f"{name} is none of the files that the program knows ({', '.join(FILE_EXTENSIONS.values())}).")
    if not re.search(rf"[-_]{re.escape(version)}(?=[-_]|{re.escape(FILE_EXTENSIONS[kind])}$)", name):
        raise Wrong(f"{name} is not a file of version {version}: its name does not say so.")
    with artifact.open("rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    size = artifact.stat().st_size
    if not size:
        raise Wrong(f"{name} is empty.")
    return UpdateFile(kind=kind, url=f"{base.rstrip('/')}/{name}", sha256=sha256, bytes=size)


def written(version: str, base: str, days: int, notes: str | None, artifacts: Sequence[Path]) -> bytes:
    """The statement's text, released today; raises Wrong, OSError, and Refused where the program would not take it."""
    most = json.decode(DATA.read_bytes(), Limits).most_days
    if not 1 <= days <= most:
        raise Wrong(f"A statement holds for 1 to {most} days, not for {days}.")
    try:
        plain = str(Version(version))
    except InvalidVersion:
        raise Wrong(f"{version!r} is not a version such as 1.2.0 or 1.2.0rc1.") from None
    if version != plain:
        raise Wrong(f"The version {version!r} must be written {plain}.")
    files = tuple(described(artifact, version, base) for artifact in artifacts)
    for file in files:
        if sum(file.kind == each.kind for each in files) > 1:
            raise Wrong(f"More than one file ends in {FILE_EXTENSIONS[file.kind]}: name each artifact once.")
    today = datetime.now(UTC).date()
    statement = ReleaseStatement(
        schema=STATEMENT_SCHEMA,
        version=version,
        released=today,
        expires=today + timedelta(days=days),
        notes_url=notes,
        files=files,
    )
    text = msgspec.json.format(msgspec.json.encode(statement), indent=1) + b"\n"
    parse_statement(text)
    return text


def signed(text: bytes, keys: Sequence[SecretKey]) -> bytes:
    """The text with its signatures, as it is published."""
    parse_statement(text)
    signatures = tuple(
        Signature(key=each.id, ed25519=each.key.sign(text, encoder=HexEncoder).signature.decode()) for each in keys
    )
    answer = json.encode(SignedStatement(statement=text.decode(), signatures=signatures))
    read_signed_statement(answer, [each.public for each in keys])
    return answer


def checked(answer: bytes, source: UpdateCatalog) -> ReleaseStatement:
    """What a program with this catalog reads in it today; raises Wrong, Refused."""
    if not source.keys:
        raise Wrong("updates.json lists no key: a program with this catalog looks for no updates.")
    if len(answer) > source.answer_bytes:
        raise ResponseRejected("too-large")
    statement = read_signed_statement(answer, source.keys)
    if statement.expires < datetime.now(UTC).date():
        raise ResponseRejected("expired")
    return statement


def main(arguments: list[str]) -> int:
    """The command; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    key = commands.add_parser("key")
    key.add_argument("name")
    key.add_argument("-o", "--out", type=Path, required=True)
    write = commands.add_parser("write")
    write.add_argument("artifacts", nargs="+", type=Path)
    write.add_argument("--version", required=True)
    write.add_argument("--base", required=True)
    write.add_argument("--days", type=int, required=True)
    write.add_argument("--notes")
    write.add_argument("-o", "--out", type=Path, required=True)
    sign = commands.add_parser("sign")
    sign.add_argument("statement", type=Path)
    sign.add_argument("--key", dest="keys", type=Path, action="append", required=True)
    sign.add_argument("-o", "--out", type=Path, required=True)
    check = commands.add_parser("check")
    check.add_argument("signed", type=Path)
    check.add_argument("--catalog", type=Path, default=resources_dir() / "catalog")
    given = parser.parse_args(arguments)
    try:
        if given.command == "key":
            print(json.encode_pretty(make_key(given.name, given.out).public))
        elif given.command == "write":
            text = written(given.version, given.base, given.days, given.notes, given.artifacts)
            json.write_file(given.out, text)
        elif given.command == "sign":
            keys = [secret_key(path) for path in given.keys]
            json.write_file(given.out, signed(given.statement.read_bytes(), keys))
        else:
            print(json.encode_pretty(checked(given.signed.read_bytes(), load_catalog(given.catalog).updates)))
    except ResponseRejected as refusal:
        print(f"The program would not take it: {REFUSALS[refusal.reason]}", file=sys.stderr)
        return 1
    except Wrong as error:
        print(error, file=sys.stderr)
        return 1
    except AppError as error:
        print(Texts("en").error_text(error), file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
