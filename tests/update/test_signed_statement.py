"""Whose word is taken, and what a statement may say."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.update.signed_statement import (
    ResponseRejected,
    is_secure_url,
    parse_statement,
    read_signed_statement,
)
from tests.fakes.updates import Publisher, secret

SHA = "0" * 64


def why(answer: bytes, publisher: Publisher) -> str:
    with pytest.raises(ResponseRejected) as refused:
        read_signed_statement(answer, (publisher.key.public,))
    return refused.value.reason


def test_a_signed_statement_is_read(publisher: Publisher) -> None:
    file = publisher.file(b"setup")
    statement = publisher.statement("1.2.0", file)
    parsed = read_signed_statement(publisher.signed(statement), (publisher.key.public,))
    assert parsed == statement
    assert parsed.file("windows-installer") == file
    assert parsed.file("deb") is None
    assert file.name == "Setup-1.2.0.exe"


def test_it_fits_its_schema(publisher: Publisher) -> None:
    schema = json.loads((resources_dir() / "schemas" / "update.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    file = msgspec.structs.replace(publisher.file(b"setup"), url="https://example.invalid/Setup-1.2.0.exe")
    jsonschema.validate(json.loads(msgspec.json.encode(publisher.statement("1.2.0", file))), schema)


def test_one_changed_byte_is_a_forgery(publisher: Publisher) -> None:
    answer = publisher.signed(publisher.statement("1.2.0"))
    changed = answer.replace(b"1.2.0", b"1.2.1")
    assert changed != answer
    assert why(changed, publisher) == "forged"


def test_a_signature_of_another_key_is_a_forgery(publisher: Publisher) -> None:
    statement = publisher.statement()
    assert why(publisher.signed(statement, secret()), publisher) == "forged"  # of the same name
    assert why(publisher.signed(statement, secret("other")), publisher) == "forged"


def test_no_signature_is_a_forgery(publisher: Publisher) -> None:
    text = msgspec.json.encode(publisher.statement()).decode()
    assert why(json.dumps({"statement": text, "signatures": []}).encode(), publisher) == "forged"


def test_no_keys_reject_everything(publisher: Publisher) -> None:
    with pytest.raises(ResponseRejected, match="forged"):
        read_signed_statement(publisher.signed(publisher.statement()), ())


def test_keys_can_be_changed(publisher: Publisher) -> None:
    old, new = publisher.key, secret("2027-a")
    both = publisher.signed(publisher.statement(), old, new)
    for keys in ((old.public,), (new.public,), (old.public, new.public)):
        assert read_signed_statement(both, keys).version == "1.2.0"
    only_new = publisher.signed(publisher.statement(), new)
    assert read_signed_statement(only_new, (old.public, new.public)).version == "1.2.0"


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>Log in</html>", b"{}", b"[]", b'{"statement": 1, "signatures": []}', b"\xff\xfe", b"[" * 9000],
)
def test_garbage(publisher: Publisher, answer: bytes) -> None:
    assert why(answer, publisher) == "garbage"


def test_lone_surrogates_are_garbage(publisher: Publisher) -> None:
    assert why(b'{"statement": "\\ud800", "signatures": []}', publisher) == "garbage"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"schema": "gpu-assistant/update/2"}, "garbage"),
        ({"version": "newest"}, "garbage"),
        ({"version": "9.0.0\n"}, "garbage"),
        ({"version": "  9 "}, "garbage"),
        ({"version": "v9"}, "garbage"),
        ({"expires": "2000-01-01"}, "garbage"),
        ({"notes_url": ""}, "insecure"),
        ({"files": [{}, {}]}, "garbage"),
        ({"expires": "soon"}, "garbage"),
        ({"notes_url": "http://example.invalid/notes"}, "insecure"),
        ({"notes_url": "file:///etc/passwd"}, "insecure"),
        ({"notes_url": "javascript:alert(1)"}, "insecure"),
        ({"files": [{"url": "http://example.invalid/Setup.exe"}]}, "insecure"),
        ({"files": [{"url": "file:///C:/Setup.exe"}]}, "insecure"),
        ({"files": [{"url": "https://example.invalid/..%5CSetup.exe"}]}, "garbage"),
        ({"files": [{"url": "https://example.invalid/.exe"}]}, "garbage"),
        ({"files": [{"url": "https://example.invalid/Setup.bat"}]}, "garbage"),
        ({"files": [{"url": "https://example.invalid/a:b.exe"}]}, "garbage"),
        ({"files": [{"sha256": "0" * 63}]}, "garbage"),
        ({"files": [{"sha256": SHA + "\n"}]}, "garbage"),
        ({"files": [{"bytes": 0}]}, "garbage"),
        ({"files": [{"kind": "msi"}]}, "garbage"),
    ],
)
def test_signed_but_invalid_content(publisher: Publisher, changes: dict, expected: str) -> None:
    content = json.loads(msgspec.json.encode(publisher.statement()))
    file = {"kind": "windows-installer", "url": "https://example.invalid/Setup.exe", "sha256": SHA, "bytes": 1}
    if "files" in changes:
        changes = {"files": [{**file, **each} for each in changes["files"]]}
    assert why(publisher.signed_anyway(json.dumps({**content, **changes})), publisher) == expected
    content["files"] = [file]
    assert parse_statement(json.dumps(content).encode()).files[0].name == "Setup.exe"


def test_versions_compare_as_versions(publisher: Publisher) -> None:
    def number(version: str):
        return publisher.statement(version).parsed_version

    assert number("1.10.0") > number("1.9.9")
    assert number("1.2.0rc1") < number("1.2.0")
    assert number("1.2") == number("1.2.0")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.invalid/x", True),
        ("http://127.0.0.1:8000/x", True),
        ("http://[::1]/x", True),
        ("http://localhost/x", False),
        ("http://example.invalid/x", False),
        ("http://127.0.0.1.example.invalid/x", False),
        ("https:///x", False),
        ("ftp://example.invalid/x", False),
        ("https://[bad/x", False),
        ("", False),
        ("http://evil.example\\@127.0.0.1/x", False),  # urllib3 connects to what stands before the backslash
    ],
)
def test_secure_urls(url: str, expected: bool) -> None:
    assert is_secure_url(url) is expected
