"""Writes, signs and checks the statement of the newest version, which the program asks for (`gpu_assistant/update/`).

Run in the checkout, with its packages:

python -m installers.statement key NAME -o FILE              make a key; prints what goes into updates.json
python -m installers.statement root --version N --days N --root-key PUBLIC... --release-key PUBLIC... -o FILE
python -m installers.statement sign-root ROOT --key FILE [--key FILE] -o FILE
python -m installers.statement write --version V --base URL --days N [--notes URL] -o FILE ARTIFACT...
python -m installers.statement sign STATEMENT --key FILE [--key FILE] [--root SIGNED_ROOT...] -o FILE
python -m installers.statement check SIGNED [--catalog FILE]

`write` needs no key and `sign` needs no artifacts: the key may lie on a computer of its own. `--days` says for how
long the statement holds; sign a new one before that, also when there is no new version.

The root (docs/decisions/0017) names the keys that sign releases. Root 1 stands in resources/catalog/updates.json. For
another release key or root key: `root --version 2 …` with all public keys as `key` prints them, `sign-root` with the
old and the new root keys on the computer without network, and from then on `sign … --root` of every root after 1.
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

from gpu_assistant.catalog.records.updates import RootStatement, UpdateCatalog, UpdateKey
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.localized import Texts
from gpu_assistant.update.roots import TrustedRoot, parse_root
from gpu_assistant.update.signed_statement import (
    FILE_EXTENSIONS,
    STATEMENT_SCHEMA,
    RejectionReason,
    ReleaseStatement,
    ResponseRejected,
    Signature,
    SignedStatement,
    SignedText,
    UpdateFile,
    parse_statement,
    read_envelope,
    read_signed_statement,
)

KEY_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z"
DATA = Path(__file__).resolve().parent / "statement.json"
# Why the program would not take what is made or checked here, for the person who makes it.
REFUSALS: dict[RejectionReason, str] = {
    "insecure": "an address in it does not begin with https://.",
    "too-large": "it is larger than the program reads (answer_bytes in updates.json).",
    "garbage": "it does not say what a statement says (fields, version, dates, file names, one file of a kind).",
    "forged": "its signatures do not fit the keys of the root in updates.json, or of those that follow it.",
    "expired": "the last day on which it holds is over; write and sign a new one.",
}


class Wrong(Exception):
    """What was given does not fit; the text is one sentence that says why."""


class Limits(Struct, frozen=True, kw_only=True):
    """`statement.json`: the longest time that a statement, and a root, may hold."""

    most_days: int
    most_root_days: int


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


def signed(text: bytes, keys: Sequence[SecretKey], roots: Sequence[SignedText] = ()) -> bytes:
    """The text with its signatures and the roots after the program's own, as it is published."""
    parse_statement(text)
    signatures = signatures_of(text, keys)
    answer = json.encode(SignedStatement(statement=text.decode(), signatures=signatures, roots=tuple(roots)))
    read_signed_statement(answer, [each.public for each in keys])
    return answer


def written_root(
    version: int, days: int, threshold: int, root_keys: Sequence[Path], release_keys: Sequence[Path]
) -> bytes:
    """The text of root `version`, from files with public keys; raises Wrong, OSError."""
    limits = json.decode(DATA.read_bytes(), Limits)
    if not 1 <= days <= limits.most_root_days:
        raise Wrong(f"A root holds for 1 to {limits.most_root_days} days, not for {days}.")
    if version < 1 or not 1 <= threshold <= len(root_keys):
        raise Wrong("A root has a number from 1 on, and wants at least one and at most all of its keys.")
    root = RootStatement(
        schema="gpu-assistant/update-root/1",
        version=version,
        expires=datetime.now(UTC).date() + timedelta(days=days),
        keys=tuple(map(public_key, root_keys)),
        threshold=threshold,
        release_keys=tuple(map(public_key, release_keys)),
    )
    return msgspec.json.format(msgspec.json.encode(root), indent=1) + b"\n"


def public_key(file: Path) -> UpdateKey:
    """The key in a file with what the command key printed; raises Wrong, OSError."""
    try:
        return json.decode(file.read_bytes(), UpdateKey)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Wrong(f"{file} is not a public key as the command key prints it.") from None


def signed_root(text: bytes, keys: Sequence[SecretKey]) -> SignedText:
    """A root's text with its signatures."""
    parse_root(text.decode())
    return SignedText(statement=text.decode(), signatures=signatures_of(text, keys))


def signatures_of(text: bytes, keys: Sequence[SecretKey]) -> tuple[Signature, ...]:
    """A signature of each key."""
    return tuple(
        Signature(key=each.id, ed25519=each.key.sign(text, encoder=HexEncoder).signature.decode()) for each in keys
    )


def checked(answer: bytes, source: UpdateCatalog) -> ReleaseStatement:
    """What a program with this catalog reads in it today; raises Wrong, Refused."""
    if source.root is None:
        raise Wrong("updates.json has no root: a program with this catalog looks for no updates.")
    if len(answer) > source.answer_bytes:
        raise ResponseRejected("too-large")
    today = datetime.now(UTC).date()
    root = TrustedRoot(source.root).follow(read_envelope(answer).roots)
    root.check_date(today)
    statement = read_signed_statement(answer, root.root.release_keys)
    if statement.expires < today:
        raise ResponseRejected("expired")
    return statement


def parsed(arguments: list[str]) -> argparse.Namespace:
    """What was typed."""
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
    sign.add_argument("--root", dest="roots", type=Path, action="append", default=[])
    root = commands.add_parser("root")
    root.add_argument("--version", type=int, required=True)
    root.add_argument("--days", type=int, required=True)
    root.add_argument("--threshold", type=int, default=1)
    root.add_argument("--root-key", dest="root_keys", type=Path, action="append", required=True)
    root.add_argument("--release-key", dest="release_keys", type=Path, action="append", required=True)
    root.add_argument("-o", "--out", type=Path, required=True)
    sign_root = commands.add_parser("sign-root")
    sign_root.add_argument("root", type=Path)
    sign_root.add_argument("--key", dest="keys", type=Path, action="append", required=True)
    sign_root.add_argument("-o", "--out", type=Path, required=True)
    check = commands.add_parser("check")
    check.add_argument("signed", type=Path)
    check.add_argument("--catalog", type=Path, default=resources_dir() / "catalog")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """The command; the exit status."""
    given = parsed(arguments)
    try:
        if given.command == "key":
            print(json.encode_pretty(make_key(given.name, given.out).public))
        elif given.command == "write":
            text = written(given.version, given.base, given.days, given.notes, given.artifacts)
            json.write_file(given.out, text)
        elif given.command == "sign":
            keys = [secret_key(path) for path in given.keys]
            roots = [json.decode(path.read_bytes(), SignedText) for path in given.roots]
            json.write_file(given.out, signed(given.statement.read_bytes(), keys, roots))
        elif given.command == "root":
            root_text = written_root(given.version, given.days, given.threshold, given.root_keys, given.release_keys)
            json.write_file(given.out, root_text)
        elif given.command == "sign-root":
            keys = [secret_key(path) for path in given.keys]
            json.write_file(given.out, json.encode(signed_root(given.root.read_bytes(), keys)))
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
