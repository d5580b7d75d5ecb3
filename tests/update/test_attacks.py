"""The self-update against whoever holds the network, a mirror, one of the keys, or the folder of downloads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.encoding import HexEncoder

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.update.check import UpdateStatus
from gpu_assistant.update.signed_statement import ResponseRejected, read_signed_statement
from installers.statement import SecretKey
from tests.fakes.system import FakeSystem
from tests.fakes.updates import Publisher, secret

# The order of Ed25519's base point (RFC 8032, 5.1).
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.fixture
def check(publisher: Publisher, tmp_path: Path) -> Callable[..., UpdateStatus]:
    source = publisher.source

    def run(**changes: Any) -> UpdateStatus:
        return publisher.service(tmp_path, FakeSystem(), source=source, **changes).check("now").run(JobContext())

    return run


def signed_as(text: str, key: SecretKey, name: str) -> bytes:
    """A right signature of a key under some name."""
    signature = key.key.sign(text.encode(), encoder=HexEncoder).signature.decode()
    return json.dumps({"statement": text, "signatures": [{"key": name, "ed25519": signature}]}).encode()


def text_of(publisher: Publisher, version: str = "6.6.6") -> str:
    return msgspec.json.encode(publisher.statement(version)).decode()


def outcome(publisher: Publisher, check: Callable[..., UpdateStatus], answer: bytes) -> str:
    publisher.publish(answer)
    look = check()
    assert look.newer_release is None
    return str(look.state.outcome)


def test_wrong_key_id_is_a_forgery(publisher, check) -> None:
    assert outcome(publisher, check, signed_as(text_of(publisher), publisher.key, "2026-b")) == "forged"


def test_root_key_signs_no_release(publisher, check) -> None:
    for name in (publisher.root_key.id, publisher.key.id):
        assert outcome(publisher, check, signed_as(text_of(publisher), publisher.root_key, name)) == "forged"


def test_root_statement_is_no_release_and_a_release_no_root(publisher, check) -> None:
    root = msgspec.json.encode(publisher.root(2, publisher.root_key, releases=(publisher.key,))).decode()
    assert outcome(publisher, check, signed_as(root, publisher.key, publisher.key.id)) == "garbage"
    release = json.loads(publisher.signed(publisher.statement("1.2.0")))
    release["roots"] = [json.loads(signed_as(text_of(publisher), publisher.root_key, publisher.root_key.id))]
    assert outcome(publisher, check, json.dumps(release).encode()) == "garbage"


def test_statement_of_another_product_is_not_taken(publisher, check) -> None:
    text = text_of(publisher).replace("gpu-assistant/update/1", "other-program/update/1")
    assert outcome(publisher, check, publisher.signed_anyway(text)) == "garbage"


@pytest.mark.parametrize("kind", ["windows-installer", "windows-portable", "deb", "wheel"])
def test_statement_for_other_platforms_brings_no_file(publisher, check, tmp_path, kind) -> None:
    names = {"windows-installer": "a.exe", "windows-portable": "a.zip", "deb": "a.deb", "wheel": "a.whl"}
    files = [publisher.file(b"x", other, name) for other, name in names.items() if other != kind]
    publisher.publish(publisher.statement("1.2.0", *files))
    release = check(kind=kind).newer_release
    assert release is not None
    assert publisher.service(tmp_path, FakeSystem(), kind=kind).file(release) is None


def test_another_signature_of_the_same_numbers_is_a_forgery(publisher, check) -> None:
    """s + L instead of s: the equation holds, but RFC 8032 allows it not."""
    answer = json.loads(publisher.signed(publisher.statement("1.2.0")))
    raw = bytes.fromhex(answer["signatures"][0]["ed25519"])
    s = int.from_bytes(raw[32:], "little") + GROUP_ORDER
    answer["signatures"][0]["ed25519"] = (raw[:32] + s.to_bytes(32, "little")).hex()
    assert outcome(publisher, check, json.dumps(answer).encode()) == "forged"


def test_answer_that_is_cut_off_anywhere_is_not_taken(publisher) -> None:
    answer = publisher.signed(publisher.statement("1.2.0", publisher.file(b"setup")))
    for length in range(len(answer)):
        with pytest.raises(ResponseRejected):
            read_signed_statement(answer[:length], (publisher.key.public,))


def test_signature_holds_for_the_very_bytes_of_the_text(publisher) -> None:
    answer = json.loads(publisher.signed(publisher.statement("1.2.0")))
    text = answer["statement"]
    for other in (text + " ", " " + text, text.replace(",", ", "), text.replace('"', '"\u200b', 1), text + "\n"):
        with pytest.raises(ResponseRejected, match="forged"):
            read_signed_statement(json.dumps({**answer, "statement": other}), (publisher.key.public,))


def test_other_root_of_a_known_number_changes_nothing(publisher, check) -> None:
    """Somebody with the old root key makes another second root, for programs that have seen the true one."""
    old, publisher.root_key = publisher.root_key, secret("root-b")
    publisher.add_root(publisher.root(2, publisher.root_key, releases=(publisher.key,)), old, publisher.root_key)
    publisher.publish(publisher.statement("1.2.0"))
    assert check().state.outcome == "newer"
    known, thief = check().state.roots, secret("thief")
    publisher.roots.clear()
    publisher.add_root(publisher.root(2, old, releases=(thief,)), old)
    publisher.publish(publisher.signed(publisher.statement("6.6.6"), thief))
    look = check()
    assert (look.state.outcome, look.state.roots) == ("forged", known)


def test_chain_that_ends_in_an_older_root_takes_nothing_back(publisher, check) -> None:
    first, second = publisher.key, secret("release-2")
    publisher.add_root(publisher.root(2, publisher.root_key, releases=(first,)), publisher.root_key)
    publisher.key = second
    publisher.add_root(publisher.root(3, publisher.root_key, releases=(second,)), publisher.root_key)
    publisher.publish(publisher.statement("1.2.0"))
    assert check().state.outcome == "newer"
    # The second root alone, and both in the other order: the third one counts.
    for roots in (publisher.roots[:1], publisher.roots[::-1], [*publisher.roots, publisher.roots[0]]):
        stale = json.loads(publisher.signed(publisher.statement("6.6.6"), first))
        stale["roots"] = json.loads(msgspec.json.encode(roots))
        publisher.publish(json.dumps(stale).encode())
        look = check()
        assert look.state.outcome == "forged"
        assert look.newer_release.version == "1.2.0"


# The file that was fetched, between its check and its use


@pytest.mark.skipif(os.name == "nt", reason="pipes and links that anybody may make")
@pytest.mark.parametrize("kind", ["pipe", "device", "link", "folder"])
@pytest.mark.parametrize("installation", ["windows-installer", "deb"])
def test_what_is_no_file_any_more_is_not_started(publisher, tmp_path, kind, installation) -> None:
    system = FakeSystem(name="windows" if installation == "windows-installer" else "linux")
    service = publisher.service(tmp_path, system, kind=installation)
    name = "Setup-1.2.0.exe" if installation == "windows-installer" else "gpu-assistant_1.2.0.deb"
    file = publisher.file(b"#!/bin/sh\n", installation, name)
    path = service.download(file).run(JobContext())
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        (tmp_path / "evil").write_bytes(b"#!/bin/sh\ntouch /tmp/evil\n")
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "evil")
    with pytest.raises(AppError) as refused:
        service.install_or_show(file).run(JobContext())
    assert refused.value.code in ("update-changed", "update-start")
