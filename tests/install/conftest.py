"""A world for each test, a bundle of it, and a network that refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.fault_server import fault_server

from .bundle_world import create
from .world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with fault_server() as server:
        world = World(tmp_path, server)
        monkeypatch.setenv("UV_DEFAULT_INDEX", world.general)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield world


@pytest.fixture
def bundle(world: World) -> Path:
    folder = world.root / "stick" / "我的 bundle"
    create(world, folder)
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
