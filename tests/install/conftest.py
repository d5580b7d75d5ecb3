"""A sandbox for each test, a bundle of it, and a network that refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.fault_server import fault_server

from .bundle_sandbox import create
from .sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with fault_server() as server:
        sandbox = Sandbox(tmp_path, server)
        monkeypatch.setenv("UV_DEFAULT_INDEX", sandbox.general)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield sandbox


@pytest.fixture
def bundle(sandbox: Sandbox) -> Path:
    folder = sandbox.root / "stick" / "我的 bundle"
    create(sandbox, folder)
    return folder


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Everything that asks the network asks here, and is counted."""
    with fault_server() as proxy:
        requested: list[str] = []
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.upper(), proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        yield requested
        requested += [seen.path for seen in proxy.seen]
        assert requested == []
