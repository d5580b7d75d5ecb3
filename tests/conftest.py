"""What holds for every test: no network but loopback, no thread left running, a data folder of its own."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

from gpu_assistant.core.log import LogFile

# jsonschema takes two seconds in every process to load a grammar of addresses; no schema of ours has one.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# How fast examples are made says something of the machine, nothing of the product.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

if sys.platform == "linux":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

pytest_plugins = ["tests.fixtures.torch_env"]

ROOT = Path(__file__).resolve().parent.parent


# Python looks for garbage after each 700 new objects; looking a thirtieth as often saves a twelfth of all CPU time.
DEFAULT_THRESHOLDS = gc.get_threshold()
TEST_THRESHOLDS = (20_000, 20, 20)
gc.set_threshold(*TEST_THRESHOLDS)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Python does not look for garbage among thousands of tests while they are collected, nor later: that took a third
    of the collection, which each worker does.
    """
    gc.disable()
    try:
        everything = [Path(argument).resolve() for argument in session.config.args] == [ROOT / "tests"]
        if everything and hasattr(session.config, "workerinput"):
            import_share(**session.config.workerinput)
        yield
    finally:
        gc.freeze()
        gc.enable()


def import_share(workerid: str, workercount: int, **_: Any) -> None:
    """Import every n-th test module first, where n workers collect all: in a new checkout each would compile them all
    at the same time; so it finds those of the others compiled.
    """
    for path in sorted((ROOT / "tests").rglob("test_*.py"))[int(workerid.removeprefix("gw")) :: workercount]:
        # What cannot be imported is reported when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A limit for what hangs: the real PyTorch takes ten times as long on a slow computer as on a usual one."""
    for item in items:
        if item.get_closest_marker("real_install") is not None:
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(autouse=True)
def own_data_folder(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Nothing of the person who runs the tests is read or written, and no source is asked."""
    if "tmp_path" in request.fixturenames:
        data, folder = request.getfixturevalue("tmp_path") / "data", None
    else:  # most tests of these write nothing: making and removing a folder takes as long as they do
        folder = tmp_path_factory.getbasetemp() / "without-tmp-path"
        data = folder / "data"
    monkeypatch.setenv("GPU_ASSISTANT_DATA_DIR", str(data))
    # Whether a plan's files can be had is asked only by the tests of that.
    monkeypatch.setenv("UV_OFFLINE", "1")
    if request.node.get_closest_marker("real_install") is None:
        monkeypatch.delenv("GPU_ASSISTANT_WHEELHOUSE", raising=False)
    else:
        # These share an environment, which one program at a time measures in.
        locks = request.getfixturevalue("tmp_path")
        monkeypatch.setattr("gpu_assistant.system.locks.lock_parent", lambda: locks)
    yield
    if folder is not None and folder.exists():
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A test that reaches for the network beyond loopback fails; real installs may ask the package index."""
    if request.node.get_closest_marker("real_install") is not None:
        return
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        here = address[0] in ("127.0.0.1", "::1", "localhost")
        # A datagram's socket that is connected sends nothing; these are addresses of nobody.
        asks = self.type == socket.SOCK_DGRAM and address[0] in ("192.0.2.1", "2001:db8::1")
        if self.family in (socket.AF_INET, socket.AF_INET6) and not (here or asks):
            raise AssertionError(f"this test reaches for the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """A thread that outlives its test is a thread that nobody waits for."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    for thread in left:
        thread.join(timeout=5)
    assert not [thread.name for thread in left if thread.is_alive()]


@pytest.fixture
def default_collector() -> Iterator[None]:
    """Python looks for garbage as often as in the program."""
    gc.set_threshold(*DEFAULT_THRESHOLDS)
    yield
    gc.set_threshold(*TEST_THRESHOLDS)


@pytest.fixture(autouse=True)
def no_log_left() -> Iterator[None]:
    """What a test logs does not go into the log files of the tests before it."""
    root = logging.getLogger()
    before, level = set(root.handlers), root.level
    yield
    root.setLevel(level)
    for handler in set(root.handlers) - before:
        if isinstance(handler, LogFile | logging.NullHandler):  # pytest has handlers of its own
            root.removeHandler(handler)
            handler.close()


class SlowMachineQtBot(QtBot):
    """Waits long for what must come: how soon it comes says something of the machine and of what else it does."""

    LEAST_MS = 60_000

    def waitUntil(self, callback: Any, *, timeout: int = 0) -> None:
        super().waitUntil(callback, timeout=max(timeout, self.LEAST_MS))

    def waitSignal(self, signal: Any, *, timeout: int = 0, raising: bool | None = None, **more: Any) -> Any:
        # Without `raising` it waits for what must not come (assertNotEmitted).
        patience = timeout if raising is False else max(timeout, self.LEAST_MS)
        return super().waitSignal(signal, timeout=patience, raising=raising, **more)

    def waitExposed(self, widget: Any, *, timeout: int = 0) -> Any:
        return super().waitExposed(widget, timeout=max(timeout, self.LEAST_MS))


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
    return SlowMachineQtBot(request)
