"""A publisher of new versions on a loopback server: real keys, real signatures, the release tool's own form."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
from nacl.encoding import HexEncoder
from nacl.signing import SigningKey

from gpu_assistant.catalog.records.updates import RootStatement, UpdateCatalog
from gpu_assistant.core.paths import DataDir
from gpu_assistant.fetch.request import Limits
from gpu_assistant.update.service import UpdateService
from gpu_assistant.update.signed_statement import ReleaseStatement, Signature, SignedStatement, SignedText, UpdateFile
from installers.statement import SecretKey, signed, signed_root

from .fault_server import FaultServer

TODAY = date(2026, 11, 21)
NOON = 1_795_262_400.0  # 12:00 UTC that day
DAY = 86_400.0
PLACE = "/newest.json"
# A busy computer is no silent publisher; tests of silence set their own.
LIMITS = Limits(connect_seconds=20, stall_seconds=20, tries=2, backoff_seconds=0.01, max_backoff_seconds=0.1)


def secret(name: str = "2026-a") -> SecretKey:
    """A new key."""
    return SecretKey(id=name, secret=SigningKey.generate().encode(HexEncoder).decode())


class Clock:
    """A clock that the test sets."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Publisher:
    """Signs statements and serves them; `source` is what a build of the program knows about it."""

    def __init__(self, server: FaultServer) -> None:
        self.server = server
        self.key = secret()
        self.root_key = secret("root-a")
        self.roots: list[SignedText] = []

    @property
    def source(self) -> UpdateCatalog:
        return UpdateCatalog(
            subject="a test's own",
            as_of="2026-11-21",
            sources={},
            address=self.server.url + PLACE,
            root=self.root(1, self.root_key, releases=(self.key,)),
            interval_hours=24,
            answer_bytes=65_536,
            answer_seconds=60,
        )

    @staticmethod
    def root(version: int, *keys: SecretKey, releases: tuple[SecretKey, ...], **changes: Any) -> RootStatement:
        """A root with these keys, one of which is enough."""
        root = RootStatement(
            schema="gpu-assistant/update-root/1",
            version=version,
            expires=TODAY + timedelta(days=365),
            keys=tuple(key.public for key in keys),
            threshold=1,
            release_keys=tuple(key.public for key in releases),
        )
        return msgspec.structs.replace(root, **changes)

    def add_root(self, root: RootStatement, *keys: SecretKey) -> None:
        """Publish a root, signed by these keys, from now on."""
        self.roots.append(signed_root(msgspec.json.encode(root), keys))

    def file(self, data: bytes, kind: str = "windows-installer", name: str = "Setup-1.2.0.exe") -> UpdateFile:
        """Serve a version's file."""
        url = self.server.add(f"/files/{name}", data)
        return UpdateFile(kind=kind, url=url, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))

    def statement(self, version: str = "1.2.0", *files: UpdateFile, **changes: Any) -> ReleaseStatement:
        """What is true today."""
        statement = ReleaseStatement(
            schema="gpu-assistant/update/1",
            version=version,
            released=TODAY - timedelta(days=1),
            expires=TODAY + timedelta(days=60),
            notes_url="https://example.invalid/notes",
            files=files,
        )
        return msgspec.structs.replace(statement, **changes)

    def signed(self, statement: ReleaseStatement, *keys: SecretKey) -> bytes:
        """As the release tool signs it."""
        return signed(msgspec.json.encode(statement), keys or (self.key,), self.roots)

    def signed_anyway(self, text: str) -> bytes:
        """Right signatures on a text that the release tool would refuse."""
        signature = self.key.key.sign(text.encode(), encoder=HexEncoder).signature.decode()
        answer = SignedStatement(statement=text, signatures=(Signature(key=self.key.id, ed25519=signature),))
        return msgspec.json.encode(answer)

    def publish(self, answer: ReleaseStatement | bytes) -> bytes:
        """Serve it as the newest word."""
        data = self.signed(answer) if isinstance(answer, ReleaseStatement) else answer
        self.server.add(PLACE, data)
        return data

    def request_count(self) -> int:
        """How often the statement was asked for."""
        return len(self.server.gets(PLACE))

    def service(self, folder: Path, system: Any, **changes: Any) -> UpdateService:
        """A copy of the program, version 1.0.0, that listens to this publisher."""
        source = changes.pop("source", self.source)
        given: dict[str, Any] = {
            "current_version": "1.0.0",
            "kind": "windows-installer",
            "limits": LIMITS,
            "clock": Clock(),
        }
        return UpdateService(source, DataDir(folder), system, **(given | changes))
