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
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct
from nacl.encoding import HexEncoder
from nacl.signing import SigningKey

from gpu_assistant.catalog.load import load
from gpu_assistant.catalog.records import UpdateKey, Updates
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources
from gpu_assistant.update.statement import (
    ENDINGS,
    STATEMENT_SCHEMA,
    Refused,
    Signature,
    Signed,
    Statement,
    UpdateFile,
    parse,
    read,
)


class SecretKey(Struct, frozen=True, kw_only=True):
    """A key's name and its secret 32 bytes in hex, as its file holds them."""

    id: str
    secret: str

    @property
    def key(self) -> SigningKey:
        """What signs."""
        return SigningKey(self.secret.encode(), encoder=HexEncoder)

    @property
    def public(self) -> UpdateKey:
        """What may be known."""
        return UpdateKey(id=self.id, ed25519=self.key.verify_key.encode(HexEncoder).decode())


def make_key(name: str, file: Path) -> SecretKey:
    """A new key in a new file that only its owner may read."""
    made = SecretKey(id=name, secret=SigningKey.generate().encode(HexEncoder).decode())
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(json.encode(made))
    return made


def described(artifact: Path, base: str) -> UpdateFile:
    """One artifact, to be found below the address `base` by its name; what it is, its ending tells."""
    kind = next((kind for kind, ending in ENDINGS.items() if artifact.name.endswith(ending)), None)
    if kind is None:
        raise SystemExit(f"{artifact.name}: not one of {', '.join(ENDINGS.values())}")
    with artifact.open("rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    return UpdateFile(
        kind=kind, url=f"{base.rstrip('/')}/{artifact.name}", sha256=sha256, bytes=artifact.stat().st_size
    )


def written(version: str, base: str, days: int, notes: str | None, artifacts: Sequence[Path]) -> bytes:
    """The statement's text, released today; raises Refused where the program would not take it."""
    today = datetime.now(UTC).date()
    statement = Statement(
        schema=STATEMENT_SCHEMA,
        version=version,
        released=today,
        expires=today + timedelta(days=days),
        notes_url=notes,
        files=tuple(described(artifact, base) for artifact in artifacts),
    )
    text = msgspec.json.format(msgspec.json.encode(statement), indent=1) + b"\n"
    parse(text)
    return text


def signed(text: bytes, keys: Sequence[SecretKey]) -> bytes:
    """The text with its signatures, as it is published."""
    parse(text)
    signatures = tuple(
        Signature(key=each.id, ed25519=each.key.sign(text, encoder=HexEncoder).signature.decode()) for each in keys
    )
    answer = json.encode(Signed(statement=text.decode(), signatures=signatures))
    read(answer, [each.public for each in keys])
    return answer


def checked(answer: bytes, source: Updates) -> Statement:
    """What a program with this catalog reads in it; raises Refused."""
    if len(answer) > source.answer_bytes:
        raise Refused("too-large")
    return read(answer, source.keys)


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
    check.add_argument("--catalog", type=Path, default=resources() / "catalog")
    given = parser.parse_args(arguments)
    try:
        if given.command == "key":
            print(json.encode_pretty(make_key(given.name, given.out).public))
        elif given.command == "write":
            text = written(given.version, given.base, given.days, given.notes, given.artifacts)
            json.write_file(given.out, text)
        elif given.command == "sign":
            keys = [json.read_file(path, SecretKey, code="file-unreadable") for path in given.keys]
            json.write_file(given.out, signed(given.statement.read_bytes(), keys))
        else:
            print(json.encode_pretty(checked(given.signed.read_bytes(), load(given.catalog).updates)))
    except Refused as refusal:
        print(f"The program would not take it: {refusal.why}", file=sys.stderr)
        return 1
    except (AppError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
