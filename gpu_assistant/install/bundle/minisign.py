"""Signatures in minisign's format (https://jedisct1.github.io/minisign/, decision 0019), by PyNaCl's libsodium.

    key pair     made by `minisign -G`; the public key is one line that people compare and pass on
    signature    beside the file, `<name>.minisig`: an Ed25519 signature of the file's BLAKE2b-512 hash ("ED"), and one
                 over that signature and the trusted comment

Keys and signatures are untrusted text. Signatures of the older form without a hash ("Ed") are refused, as by
`minisign -V -H`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from ...core.errors import UsageError, os_error_text

SIGNATURE_SUFFIX = ".minisig"
COMMENT, TRUSTED_COMMENT = "untrusted comment: ", "trusted comment: "
ALGORITHM, HASHED_ALGORITHM = b"Ed", b"ED"
NO_KDF, SCRYPT, BLAKE2B = b"\0\0", b"Sc", b"B2"
ID_BYTES, PUBLIC_KEY_BYTES, SEED_BYTES, SIGNATURE_BYTES, SALT_BYTES, CHECKSUM_BYTES = 8, 32, 32, 64, 32, 32
MAX_FILE_BYTES = 4096
# minisign asks libsodium for 2^25 operations and 1 GiB (crypto_pwhash_…_SENSITIVE); a file may not ask for more.
MAX_OPERATIONS, MAX_MEMORY_BYTES = 1 << 25, 1 << 30


class PublicKey(Struct, frozen=True):
    """`id` is a label that names the key in signatures."""

    id: bytes
    key: bytes


class SecretKey(Struct, frozen=True):
    """`seed` is the private half."""

    id: bytes
    seed: bytes


def parse_public_key(text: str) -> PublicKey:
    """The line that `minisign -G` prints, or the file that it writes; raises ValueError."""
    lines = [line for line in text.splitlines() if line and not line.startswith(COMMENT)]
    if len(lines) != 1:
        raise ValueError(text[:40])
    data = _decode(lines[0], len(ALGORITHM) + ID_BYTES + PUBLIC_KEY_BYTES)
    algorithm, key_id, key = _split(data, len(ALGORITHM), ID_BYTES)
    if algorithm != ALGORITHM:
        raise ValueError(algorithm)
    return PublicKey(key_id, key)


def read_public_key(given: str) -> PublicKey:
    """A public key that the user names: the key itself, or its file. Raises UsageError("public-key")."""
    try:
        return parse_public_key(given.strip())
    except ValueError:
        pass
    try:
        return parse_public_key(_read_text(Path(given)))
    except (OSError, ValueError) as error:
        raise UsageError("public-key", path=given) from error


def read_secret_key(path: Path, ask_password: Callable[[], str]) -> SecretKey:
    """The key of a file; its password is asked for where it has one, as it has unless made by `minisign -G -W`.

    Raises UsageError("file-unreadable"), ("signing-key"), ("signing-password") and what `ask_password` raises.
    """
    try:
        fields = _parse_secret_key(_read_text(path))
    except OSError as error:
        raise UsageError("file-unreadable", path=str(path), detail=os_error_text(error)) from error
    except ValueError as error:
        raise UsageError("signing-key", path=str(path)) from error
    kdf, salt, operations, memory_bytes, hidden = fields
    if kdf == SCRYPT:
        from nacl.exceptions import CryptoError
        from nacl.pwhash import scrypt

        try:
            pad = scrypt.kdf(len(hidden), ask_password().encode(), salt, operations, memory_bytes)
        except (CryptoError, ValueError, MemoryError) as error:
            raise UsageError("signing-key", path=str(path)) from error
        hidden = bytes(a ^ b for a, b in zip(hidden, pad, strict=True))
    key_id, seed, public_key, checksum = _split(hidden, ID_BYTES, SEED_BYTES, PUBLIC_KEY_BYTES)
    # Without a password minisign writes zeros in the checksum's place.
    expected = hashlib.blake2b(ALGORITHM + key_id + seed + public_key, digest_size=CHECKSUM_BYTES).digest()
    if kdf == SCRYPT and not hmac.compare_digest(checksum, expected):
        raise UsageError("signing-password", path=str(path))
    return SecretKey(key_id, seed)


def sign(data: bytes, key: SecretKey, name: str) -> str:
    """The text of the signature file for a file's bytes; `name` and the time go into the trusted comment."""
    from nacl.signing import SigningKey

    signing_key = SigningKey(key.seed)
    signature = signing_key.sign(_hash(data)).signature
    comment = f"timestamp:{int(time.time())}\tfile:{name}\thashed"
    whole_signature = signing_key.sign(signature + comment.encode()).signature
    encoded = base64.b64encode(HASHED_ALGORITHM + key.id + signature).decode()
    label = key.id[::-1].hex().upper()
    return (
        f"{COMMENT}signature from minisign secret key {label}\n{encoded}\n"
        f"{TRUSTED_COMMENT}{comment}\n{base64.b64encode(whole_signature).decode()}\n"
    )


def is_signed(data: bytes, signature_text: str, key: PublicKey) -> bool:
    """Whether the text is a signature of these bytes by this key; its comments are authentic, too."""
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    lines = signature_text.removesuffix("\n").split("\n")
    try:
        comment, encoded, trusted_comment, whole_signature = (line.removesuffix("\r") for line in lines)
        signed = _decode(encoded, len(HASHED_ALGORITHM) + ID_BYTES + SIGNATURE_BYTES)
        algorithm, key_id, signature = _split(signed, len(HASHED_ALGORITHM), ID_BYTES)
        if not (comment.startswith(COMMENT) and trusted_comment.startswith(TRUSTED_COMMENT)):
            return False
        if (algorithm, key_id) != (HASHED_ALGORITHM, key.id):
            return False
        verify_key = VerifyKey(key.key)
        verify_key.verify(_hash(data), signature)
        verify_key.verify(
            signature + trusted_comment.removeprefix(TRUSTED_COMMENT).encode(),
            _decode(whole_signature, SIGNATURE_BYTES),
        )
    except (ValueError, CryptoError):
        return False
    return True


def _parse_secret_key(text: str) -> tuple[bytes, bytes, int, int, bytes]:
    """The derivation function, salt, operations and memory, and the part that a password hides."""
    lines = text.splitlines()
    if len(lines) < 2 or not lines[0].startswith(COMMENT):
        raise ValueError(text[:40])
    hidden_bytes = ID_BYTES + SEED_BYTES + PUBLIC_KEY_BYTES + CHECKSUM_BYTES
    data = _decode(lines[1], 3 * len(ALGORITHM) + SALT_BYTES + 8 + 8 + hidden_bytes)
    algorithm, kdf, checksum, salt, operations, memory, hidden = _split(data, 2, 2, 2, SALT_BYTES, 8, 8)
    limits = int.from_bytes(operations, "little"), int.from_bytes(memory, "little")
    if algorithm != ALGORITHM or kdf not in (NO_KDF, SCRYPT) or checksum != BLAKE2B:
        raise ValueError(algorithm + kdf + checksum)
    if limits[0] > MAX_OPERATIONS or limits[1] > MAX_MEMORY_BYTES:
        raise ValueError(limits)
    return kdf, salt, *limits, hidden


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data).digest()


def _decode(line: str, length: int) -> bytes:
    try:
        data = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(line[:40]) from error
    if len(data) != length:
        raise ValueError(line[:40])
    return data


def _split(data: bytes, *lengths: int) -> tuple[bytes, ...]:
    """The parts of these lengths, and the rest."""
    parts, start = [], 0
    for length in lengths:
        parts.append(data[start : start + length])
        start += length
    return (*parts, data[start:])


def _read_text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(path)
    return data.decode("utf-8")
