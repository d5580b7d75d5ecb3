"""Which source is asked: mirrors by data alone, slow ones left, the reserve only where it is needed."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import NetworkError
from gpu_assistant.fetch.rate import RateLimiter
from gpu_assistant.fetch.request import Limits
from gpu_assistant.fetch.sources import HostLimiter, Mirror, mirror_urls

from ..fakes.fault_server import Fault, FaultServer
from .downloads import LARGE, SMALL, fetch, flipped

WHEELS = Mirror(official="https://a.example/whl/{variant}/", mirror="https://m.example/torch/whl/{variant}/")
FILES = Mirror(official="https://b.example/{path}", mirror="https://m.example/b/{path}")


def test_placeholders_and_the_rest_of_a_path_stay() -> None:
    urls = mirror_urls("https://a.example/whl/cu126/torch-2.9%2Bcu126.whl", [WHEELS, FILES, WHEELS])
    assert urls == ("https://m.example/torch/whl/cu126/torch-2.9%2Bcu126.whl",)


def test_the_last_placeholder_may_hold_folders() -> None:
    assert mirror_urls("https://b.example/x/y.zip", [FILES]) == ("https://m.example/b/x/y.zip",)


def test_other_addresses_have_no_mirrors() -> None:
    assert mirror_urls("https://c.example/x", [WHEELS, FILES]) == ()
    assert mirror_urls("https://a.example.evil/whl/cu126/x", [WHEELS]) == ()


def test_no_mirror_leaves_https_or_a_placeholder() -> None:
    plain = Mirror(official="https://b.example/{path}", mirror="http://m.example/{path}")
    unfilled = Mirror(official="https://b.example/{path}", mirror="https://m.example/{tag}/{path}")
    assert mirror_urls("https://b.example/x", [plain, unfilled]) == ()


def test_a_server_gets_only_so_many_connections() -> None:
    hosts = HostLimiter(2)
    assert [hosts.acquire("a"), hosts.acquire("a"), hosts.acquire("a"), hosts.acquire("b")] == [True, True, False, True]
    hosts.release("a")
    assert hosts.acquire("a")


@pytest.mark.parametrize("busy", [429, 403, 503])
def test_a_busy_server_gets_fewer_connections(server: FaultServer, path: Path, more_tries: Limits, busy: int) -> None:
    # A server on a busy computer counts a request for a while after its connection was closed.
    limits = msgspec.structs.replace(more_tries, tries=50)
    fetch(path, limits, server.add("/file", LARGE, rate=20_000_000, most=1, busy=busy), data=LARGE)


def test_a_slow_source_is_left_for_a_fast_one(server: FaultServer, path: Path, more_tries: Limits) -> None:
    slow = server.add("/slow", LARGE, rate=200_000)
    fast = server.add("/fast", LARGE, rate=20_000_000)
    started = time.monotonic()
    fetch(path, more_tries, slow, fast, data=LARGE)
    # The slow one alone would take 15 seconds over all its connections.
    assert time.monotonic() - started < 10
    assert len(server.gets("/fast")) > len(server.gets("/slow"))


def test_a_silent_source_is_not_waited_for(server: FaultServer, path: Path, more_tries: Limits) -> None:
    silent = server.add("/silent", LARGE, faults=[Fault("stall")] * 30)
    limits = msgspec.structs.replace(more_tries, stall_seconds=60, connect_seconds=60, probe_seconds=5)
    started = time.monotonic()
    fetch(path, limits, silent, server.add("/mirror", LARGE), data=LARGE)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("status", [403, 404])
def test_a_mirror_helps_out(server: FaultServer, path: Path, more_tries: Limits, status: int) -> None:
    url = server.add("/file", LARGE, faults=[Fault("status", status=status)] * 50)
    fetch(path, more_tries, url, server.add("/mirror", LARGE), data=LARGE)


def test_the_official_sources_error_is_reported(server: FaultServer, path: Path, more_tries: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        fetch(path, more_tries, server.url + "/not/here", server.url + "/nor/here")
    assert caught.value.data["status"] == 404


def test_a_mirror_with_another_size_is_not_used(server: FaultServer, path: Path, more_tries: Limits) -> None:
    fetch(path, more_tries, server.add("/file", LARGE), server.add("/mirror", LARGE + b"more"), data=LARGE)


def test_without_a_checksum_sources_are_not_mixed(server: FaultServer, path: Path, more_tries: Limits) -> None:
    fetch(path, more_tries, server.add("/file", LARGE), server.add("/mirror", flipped(LARGE, 0)), data=None)
    assert path.read_bytes() == LARGE
    assert server.gets("/mirror") == []


def test_without_a_checksum_the_next_source_starts_over(server: FaultServer, path: Path, more_tries: Limits) -> None:
    faults = [Fault("drop", after=2_000_000)] + [Fault("status", status=410)] * 50
    url = server.add("/file", flipped(LARGE, 5, 20_000_000), faults=faults)
    fetch(path, more_tries, url, server.add("/mirror", LARGE), data=None)
    assert path.read_bytes() == LARGE


def test_chosen_mirrors_are_asked_first(server: FaultServer, path: Path, more_tries: Limits) -> None:
    url, mirror = server.add("/file", SMALL), server.add("/mirror", SMALL)
    limits = msgspec.structs.replace(more_tries, probe_seconds=60)  # on a busy machine the first answer takes its time
    fetch(path, limits, url, mirror, mirrors_first=True)
    assert server.gets("/mirror")
    assert server.gets("/file") == []


# The reserve


def test_a_fast_official_source_needs_no_reserve(server: FaultServer, path: Path, more_tries: Limits) -> None:
    # Slow enough for several looks at it, and still fast, on a computer with much else to do, too.
    url, mirror = server.add("/file", LARGE, rate=1_000_000), server.add("/mirror", LARGE)
    fetch(path, more_tries, url, data=LARGE, reserve=(mirror,), slow_bytes=250_000)
    assert server.gets("/mirror") == []


def test_a_slow_official_source_calls_the_reserve(server: FaultServer, path: Path, more_tries: Limits) -> None:
    url, mirror = server.add("/file", LARGE, rate=100_000), server.add("/mirror", LARGE, rate=20_000_000)
    started = time.monotonic()
    fetch(path, more_tries, url, data=LARGE, reserve=(mirror,), slow_bytes=2_000_000)
    # The official one alone would take 30 seconds over all its connections.
    assert time.monotonic() - started < 15
    assert server.gets("/file")
    assert server.gets("/mirror")


@pytest.mark.parametrize("fault", [Fault("status", status=403), Fault("drop"), Fault("stall")], ids=lambda f: f.kind)
def test_a_failing_official_source_calls_the_reserve(
    server: FaultServer, path: Path, more_tries: Limits, fault: Fault
) -> None:
    url = server.add("/file", LARGE, faults=[fault] * 60)
    fetch(path, more_tries, url, data=LARGE, reserve=(server.add("/mirror", LARGE),), slow_bytes=2_000_000)


def test_a_speed_limit_calls_no_reserve(server: FaultServer, path: Path, more_tries: Limits) -> None:
    limits = msgspec.structs.replace(more_tries, probe_seconds=0.2)
    url, mirror = server.add("/file", LARGE), server.add("/mirror", LARGE)
    fetch(path, limits, url, data=LARGE, rate=RateLimiter(len(LARGE) // 4), reserve=(mirror,), slow_bytes=1e9)
    assert server.gets("/mirror") == []
