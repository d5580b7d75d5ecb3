"""A package index with user and password: downloads have them, and nothing else does."""

from __future__ import annotations

import base64
import logging
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.fetch.credentials import index_credentials, redact_credentials

from ..bundle_sandbox import create
from ..sandbox import Sandbox, end

INDEX = "https://me@index.example:8443/simple"


def kept(sandbox: Sandbox, *folders: Path) -> bytes:
    """Everything that was written: the data folder with its cache, the environment, other folders; names included."""
    below = [path for folder in (sandbox.data.root, sandbox.environment, *folders) for path in folder.rglob("*")]
    return b"".join(
        os.fsencode(path) + (path.read_bytes() if path.is_file() and path.stat().st_size < 10**6 else b"")
        for path in below
    )


# As they stand in an address, and as they are sent.
PASSWORDS = {
    "s%65cret": "secret",
    "p%40ss%2Fw%3Ard%25": "p@ss/w:rd%",
    "gpu@assist@nt": "gpu@assist@nt",
    "%E5%AF%86": "密",
}


@pytest.mark.parametrize("given", PASSWORDS)
def test_downloads_of_an_index_with_password_have_it_and_no_file_does(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, given: str
) -> None:
    caplog.set_level(logging.DEBUG)
    address, password = urlsplit(sandbox.general), PASSWORDS[given]
    # The same server under another name, so that what is PyTorch's index is not the user's.
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://me:{given}@localhost:{address.port}{address.path}")
    create(sandbox, sandbox.root / "stick")
    events = sandbox.install()
    assert end(events).state == "done"
    wheels = [seen for seen in sandbox.server.seen if seen.path.endswith(".whl") and "torch" not in seen.path]
    sent = base64.b64encode(f"me:{password}".encode()).decode()
    assert {seen.authorization for seen in wheels} == {f"Basic {sent}"}
    assert {seen.authorization for seen in sandbox.server.seen if "torch" in seen.path} == {None}
    told = caplog.text + repr(events) + repr(sandbox.plan())
    written = kept(sandbox, sandbox.root / "stick")
    for secret in (given, password, sent):
        # U+5BC6 alone is in texts of our own.
        if len(secret) > 1:
            assert secret.encode() not in written, secret
            assert secret not in told, secret


@pytest.mark.parametrize("given", PASSWORDS)
def test_index_that_fails_is_named_without_its_password(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, given: str
) -> None:
    """Nothing listens there; what uv and the downloads say of it is an error's text, and lines of the log."""
    caplog.set_level(logging.DEBUG)
    password = PASSWORDS[given]
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://me:{given}@localhost:9/simple")
    with pytest.raises(AppError) as failed:
        sandbox.install()
    told = caplog.text + repr(failed.value.data) + repr(failed.value.events)  # type: ignore[attr-defined]
    assert "localhost" in told
    for secret in (given, password):
        if len(secret) > 1:
            assert secret not in told
            assert secret.encode() not in kept(sandbox)


@pytest.mark.parametrize(
    ("url", "has_it"),
    [
        ("https://index.example:8443/files/a.whl", True),
        ("https://index.example/files/a.whl", False),
        ("http://index.example:8443/files/a.whl", False),
        ("https://other.example:8443/a.whl", False),
        ("https://[", False),
    ],
)
def test_netrc_is_for_the_server_of_the_index_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, *, has_it: bool
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine index.example login me password secret\ndefault login me password secret\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    credentials = ("me", "secret") if has_it else None
    assert index_credentials(url, {"UV_DEFAULT_INDEX": "https://index.example:8443/simple"}) == credentials
    assert index_credentials(url, {"UV_INDEX_URL": INDEX}) == credentials
    assert index_credentials(url, {"UV_DEFAULT_INDEX": INDEX.replace("me@", "you@")}) is None
    assert index_credentials(url, {}) is None


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_keyring_is_asked_where_the_user_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "keyring"
    program.write_text('#!/bin/sh\n[ "$2 $3" = "https://index.example:8443/simple me" ] && echo s3cret\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    url = "https://index.example:8443/a.whl"
    assert index_credentials(url, {"UV_DEFAULT_INDEX": INDEX}) is None
    environ = {"UV_DEFAULT_INDEX": INDEX, "UV_KEYRING_PROVIDER": "subprocess"}
    assert index_credentials(url, environ) == ("me", "s3cret")


def test_a_password_with_an_at_sign_leaves_nothing_of_it() -> None:
    assert redact_credentials("https://me:p@ss@a.example/simple") == "https://a.example/simple"


def test_addresses_in_a_text_lose_user_and_password() -> None:
    text = 'error: https://me:p%40s@a.example/x and "http://you@b.example:1/y" but https://c.example/@z, a@b'
    assert redact_credentials(text) == (
        'error: https://a.example/x and "http://b.example:1/y" but https://c.example/@z, a@b'
    )
