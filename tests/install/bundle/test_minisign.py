"""Keys and signatures as minisign 0.11 wrote them, and ours in its format."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from nacl.pwhash import scrypt

from gpu_assistant.core.errors import UsageError
from gpu_assistant.install.bundle import minisign

# Made for these tests by `minisign -G -W`, `minisign -S` and `minisign -S -l`.
DATA = b'{"schema": "an example"}\n'
SECRET_KEY = """untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJwEX/xthlIDShe2Xe8oJC16Ck6UteqFTkMfHhJg+rW44s0x9KXCBF65bQ4q0JIoB2zDpPs7/KIrRxXqjHsR0QZJSwOs1+xK4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
"""
PUBLIC_KEY = """untrusted comment: minisign public key 8094611BFF170127
RWQnARf/G2GUgK5bQ4q0JIoB2zDpPs7/KIrRxXqjHsR0QZJSwOs1+xK4
"""
SIGNATURE = """untrusted comment: signature from minisign secret key
RUQnARf/G2GUgEiAtAzmi3+7KViwUvfVR3FeVpdt7sz1jW41VwY/s9wD8Z1aecXkCLwgtT/+wagAOd3htsXZVIvof448gWLS6Qc=
trusted comment: timestamp:1 file:bundle.json
DiQhcidhPO+1FVrg7i8Gpa9v7tmS/PNQB77yayiiQmksv+JwIl7z6s6Vwb9d4bAqiTGBe8zBClUKmWUy4RkuDA==
"""
LEGACY_SIGNATURE = """untrusted comment: signature from minisign secret key
RWQnARf/G2GUgK7mZTykWTNj+Yqfb3t/iVaW/EjuYnm1vJmJ71lhV10JJhTABVYKgn5tnE1BkeaxCZXqm320n+SHjRso/hu3MAA=
trusted comment: timestamp:1795469003	file:bundle.json
ECNr89pdB/mzXtfU15OjT1ukREK1fZTzTSrsxvYicaU6ATNUU0xf0nh80XNDCYvujmbirR3qRAXJdfRWc5lzDw==
"""
PASSWORD = "secret words"


def no_password() -> str:
    raise AssertionError


def locked(key_text: str, *, memory: int = 1 << 24) -> str:
    """The same key under a password, with limits that take no second."""
    data = base64.b64decode(key_text.splitlines()[1])
    salt, operations = b"s" * 32, 32768
    key_id, secret = data[54:62], data[62:126]
    checksum = hashlib.blake2b(b"Ed" + key_id + secret, digest_size=32).digest()
    hidden = key_id + secret + checksum
    pad = scrypt.kdf(len(hidden), PASSWORD.encode(), salt, operations, 1 << 24)
    sealed = bytes(a ^ b for a, b in zip(hidden, pad, strict=True))
    limits = operations.to_bytes(8, "little") + memory.to_bytes(8, "little")
    return f"untrusted comment: x\n{base64.b64encode(b'EdScB2' + salt + limits + sealed).decode()}\n"


def read_key(folder: Path, text: str, password: str | None = None) -> minisign.SecretKey:
    path = folder / "key"
    path.write_text(text, encoding="utf-8")
    return minisign.read_secret_key(path, no_password if password is None else lambda: password)


def test_signature_of_minisign_is_accepted() -> None:
    key = minisign.parse_public_key(PUBLIC_KEY)
    assert minisign.is_signed(DATA, SIGNATURE, key)
    assert minisign.is_signed(DATA, SIGNATURE.replace("\n", "\r\n"), key)
    assert key == minisign.read_public_key(PUBLIC_KEY.splitlines()[1])


def test_own_signature_is_accepted(tmp_path: Path) -> None:
    text = minisign.sign(DATA, read_key(tmp_path, SECRET_KEY), "bundle.json")
    assert minisign.is_signed(DATA, text, minisign.parse_public_key(PUBLIC_KEY))
    assert text.splitlines()[1][:12] == SIGNATURE.splitlines()[1][:12]  # algorithm and key


def other_signer() -> str:
    return minisign.sign(DATA, minisign.SecretKey(minisign.parse_public_key(PUBLIC_KEY).id, b"x" * 32), "bundle.json")


@pytest.mark.parametrize(
    ("data", "signature"),
    {
        "changed": (DATA + b" ", SIGNATURE),
        "legacy": (DATA, LEGACY_SIGNATURE),
        "comment": (DATA, SIGNATURE.replace("timestamp:1", "timestamp:2")),
        "signer": (DATA, other_signer()),
        "empty": (DATA, ""),
        "garbage": (DATA, "untrusted comment: \n%\ntrusted comment: \n%\n"),
    }.values(),
)
def test_other_signature_is_refused(data: bytes, signature: str) -> None:
    assert not minisign.is_signed(data, signature, minisign.parse_public_key(PUBLIC_KEY))


def test_key_with_password_is_opened_by_it_alone(tmp_path: Path) -> None:
    text = locked(SECRET_KEY)
    assert read_key(tmp_path, text, PASSWORD) == read_key(tmp_path, SECRET_KEY)
    with pytest.raises(UsageError, match="signing-password"):
        read_key(tmp_path, text, "wrong")


@pytest.mark.parametrize("text", ["", "thesis", PUBLIC_KEY, SIGNATURE, "x" * 5000, locked(SECRET_KEY, memory=1 << 40)])
def test_other_file_is_no_secret_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="signing-key"):
        read_key(tmp_path, text)


@pytest.mark.parametrize("text", ["", "thesis", "RWQ", SIGNATURE])
def test_other_text_is_no_public_key(text: str) -> None:
    with pytest.raises(UsageError, match="public-key"):
        minisign.read_public_key(text)
