"""What a Prometheus server gets, and that Grafana's dashboard asks for nothing else."""

from __future__ import annotations

import re
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from http.client import HTTPConnection

import msgspec
import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor import http_server
from gpu_assistant.monitor.prometheus import THROTTLE_METRIC, MetricsServer, SampleCollector, metric_definitions

prometheus_parser = pytest.importorskip("prometheus_client.parser")

LOOPBACK = "127.0.0.1"
CARD = GpuSample(
    index=1,
    name="NVIDIA H100 80GB HBM3",
    uuid="GPU-1",
    address="0000:1b:00.0",
    util=0,
    mem_used=3 * 2**30,
    mem_total=80 * 2**30,
    mem_reserved=2**30,
    energy_j=12.5,
    remapped_corrected=2,
    remapped_uncorrected=1,
    remap_pending=True,
    pcie_rx=3_400_000,
    ecc=True,
    xid=0,
    throttle=("thermal",),
)
SAMPLE = Sample(t=1795000000.0, gpus=(CARD, GpuSample(index=2, state="lost")), cpu=12.5, nvml="lost", driver="566.03")


def scraped(server: MetricsServer) -> dict[str, list[tuple[dict[str, str], float]]]:
    with urllib.request.urlopen(server.url, timeout=60) as answer:
        text = answer.read().decode()
    metrics: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in prometheus_parser.text_string_to_metric_families(text):
        for line in family.samples:
            metrics.setdefault(line.name, []).append((line.labels, line.value))
    return metrics


def test_names_and_units_match_dcgm() -> None:
    with MetricsServer(0, LOOPBACK) as server:
        server.collector.sample = SAMPLE
        metrics = scraped(server)
    [(labels, util)] = metrics["DCGM_FI_DEV_GPU_UTIL"]
    assert util == 0  # zero is a figure, and the lost card has none
    assert labels == {
        "gpu": "1",
        "UUID": "GPU-1",
        "pci_bus_id": "00000000:1B:00.0",
        "device": "nvidia1",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": socket.gethostname(),
        "DCGM_FI_DRIVER_VERSION": "566.03",
    }
    values = {name: lines[0][1] for name, lines in metrics.items()}
    assert values["DCGM_FI_DEV_FB_USED"] == 3 * 1024
    assert values["DCGM_FI_DEV_FB_RESERVED"] == 1024
    assert values["DCGM_FI_DEV_FB_FREE"] == 76 * 1024
    assert values["DCGM_FI_DEV_ROW_REMAP_PENDING"] == 1
    assert values["DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"] == 2
    assert values["DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"] == 1
    assert values["DCGM_FI_DEV_CLOCKS_EVENT_REASONS"] == 0x20
    assert values["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 12_500
    assert values["DCGM_FI_DEV_PCIE_RX_THROUGHPUT"] == pytest.approx(3400)
    assert values["DCGM_FI_DEV_XID_ERRORS"] == 0
    assert values["DCGM_FI_DEV_ECC_CURRENT"] == 1
    assert values["gpu_assistant_cpu_percent"] == 12.5
    assert "DCGM_FI_DEV_GPU_TEMP" not in metrics
    assert "gpu_assistant_memory_bytes" not in metrics


def test_counters_are_not_gauges() -> None:
    latest = SampleCollector("host")
    latest.sample = SAMPLE
    kinds = {family.name: family.type for family in latest.collect()}
    assert kinds["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == kinds["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"] == "unknown"
    assert kinds["DCGM_FI_DEV_XID_ERRORS"] == kinds["DCGM_FI_DEV_GPU_TEMP"] == "gauge"


def test_states_and_reasons_are_0_or_1() -> None:
    with MetricsServer(0, LOOPBACK) as server:
        server.collector.sample = SAMPLE
        metrics = scraped(server)
    states = {(labels["gpu"], labels["state"]): value for labels, value in metrics["gpu_assistant_gpu_state"]}
    assert {key for key, value in states.items() if value} == {("1", "ready"), ("2", "lost")}
    assert {labels["state"] for labels, value in metrics["gpu_assistant_driver_state"] if value} == {"lost"}
    reasons = {labels["reason"]: value for labels, value in metrics["gpu_assistant_throttled"]}
    assert (reasons["thermal"], reasons["power-cap"]) == (1, 0)


def test_empty_before_first_sample_closed_after() -> None:
    with MetricsServer(0, LOOPBACK) as server:
        assert scraped(server) == {}
    with pytest.raises(urllib.error.URLError):
        scraped(server)


def test_default_address_is_loopback() -> None:
    with MetricsServer(0, LOOPBACK) as server:
        assert server.address == LOOPBACK
        assert server.url == f"http://127.0.0.1:{server.port}/metrics"


def test_port_in_use() -> None:
    with MetricsServer(0, LOOPBACK) as server, pytest.raises(AppError) as caught:
        MetricsServer(server.port, LOOPBACK)
    assert caught.value.code == "metrics-port"


@pytest.mark.windows
@pytest.mark.skipif(not hasattr(socket, "SO_EXCLUSIVEADDRUSE"), reason="Windows alone lets two programs have one port")
def test_port_is_shared_with_no_other_program() -> None:
    """Not even with one that asks for it by SO_REUSEADDR, as HTTP servers of Python's library do."""
    assert not http_server.BoundedServer.allow_reuse_address
    with MetricsServer(0, LOOPBACK) as server, socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="WinError"):
            other.bind((server.address, server.port))


def test_metrics_map_to_sample_fields_once() -> None:
    of_gpu = {field.name for field in msgspec.structs.fields(GpuSample)}
    of_machine = {field.name for field in msgspec.structs.fields(Sample)}
    assert {each.figure for each in metric_definitions().gpu} | {
        part for each in metric_definitions().gpu for part in (each.minus, each.apart)
    } <= of_gpu | {None}
    assert {each.figure for each in metric_definitions().machine} <= of_machine
    names = [each.name for each in (*metric_definitions().gpu, *metric_definitions().machine)]
    assert len(names) == len(set(names))


def test_dashboard_uses_existing_metrics() -> None:
    board = msgspec.json.decode((resources_dir() / "monitor" / "grafana.json").read_bytes())
    given = {each.name for each in (*metric_definitions().gpu, *metric_definitions().machine)}
    given |= {THROTTLE_METRIC, "gpu_assistant_gpu_state", "gpu_assistant_driver_state", "gpu_assistant_throttled"}
    used = re.findall(r"\b(?:DCGM_FI|gpu_assistant)_\w+", msgspec.json.encode(board).decode())
    assert set(used) <= given
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 8
    assert all(panel["targets"][0]["expr"] for panel in panels)


def test_2000_half_open_connections_keep_no_scrape_out() -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2500
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip("this account may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    try:
        with ExitStack() as connections, MetricsServer(0, LOOPBACK) as server:
            server.collector.sample = SAMPLE
            for number in range(2000):
                connection = connections.enter_context(socket.create_connection((LOOPBACK, server.port), timeout=60))
                if number % 2:
                    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127")
            durations = []
            for _ in range(3):  # the fastest counts: other tests run beside this one
                started = time.monotonic()
                assert "DCGM_FI_DEV_GPU_UTIL" in scraped(server)
                durations.append(time.monotonic() - started)
            assert min(durations) < 1.0
            assert threading.active_count() < 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connection_that_sends_too_slowly_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "CONNECTION_TIME_S", 0.2)
    with (
        MetricsServer(0, LOOPBACK) as server,
        socket.create_connection((LOOPBACK, server.port), timeout=60) as connection,
    ):
        connection.sendall(b"GET")
        assert connection.recv(1) == b""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9400", 200),
        ("localhost", 200),
        ("[::1]:9400", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("", 403),
        ("[", 403),
    ],
)
def test_only_own_names_are_answered(host: str, status: int) -> None:
    with MetricsServer(0, LOOPBACK) as server:
        connection = HTTPConnection(LOOPBACK, server.port, timeout=60)
        connection.request("GET", "/metrics", headers={"Host": host})
        assert connection.getresponse().status == status
        connection.close()


def test_name_in_the_network_is_answered_where_the_network_may_ask() -> None:
    with MetricsServer(0, "0.0.0.0") as server:
        for host, status in ((f"{socket.gethostname()}.lab.example", 200), ("evil.example", 403)):
            connection = HTTPConnection(LOOPBACK, server.port, timeout=60)
            connection.request("GET", "/metrics", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()
