"""Samples for a Prometheus server, under the names of NVIDIA's DCGM exporter where it has one.

Names, units and help stand in `resources/monitor/metrics.json`; a dashboard for Grafana lies beside it.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable, Iterator
from functools import cache
from types import TracebackType
from typing import get_args

from msgspec import Struct
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ..core import json, paths
from ..core.errors import AppError, CallError
from ..core.refusal import why
from ..core.results import GpuSample, GpuState, NvmlState, Sample
from ..system.nvml_figures import THROTTLE_REASONS

CARD = ("gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION")
# What a system says of an address that it cannot answer at.
NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
REASONS = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"


class Figure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of a sample (`minus` another, and `apart` from a third where that is told), how it is called outside,
    and what it is multiplied with there. What `counts` only ever goes up.
    """

    name: str
    figure: str
    minus: str | None = None
    apart: str | None = None
    counts: bool = False
    help: str
    scale: float = 1.0

    def of(self, source: Sample | GpuSample) -> float | None:
        """Its value outside."""
        value: float | None = getattr(source, self.figure)
        less: float | None = getattr(source, self.minus) if self.minus else 0.0
        apart: float = (getattr(source, self.apart) if self.apart else None) or 0.0
        return None if value is None or less is None else (value - less - apart) * self.scale


class Figures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of them, of each GPU and of the machine."""

    source: str
    checked: str
    gpu: tuple[Figure, ...]
    machine: tuple[Figure, ...]


@cache
def figures() -> Figures:
    """The built-in file."""
    return json.decode((paths.resources() / "monitor" / "metrics.json").read_bytes(), Figures)


class Latest(Collector):
    """The sample that a scrape gets. A figure that a card does not report has no line."""

    def __init__(self, host: str | None = None) -> None:
        self._host = host or socket.gethostname()
        self.sample: Sample | None = None

    def collect(self) -> Iterator[Metric]:
        """All figures of the latest sample; nothing before the first."""
        sample = self.sample
        if sample is None:
            return
        for each in figures().machine:
            yield self._family(each, ("Hostname",), [([self._host], each.of(sample))])
        for each in figures().gpu:
            yield self._family(each, CARD, [(self._card(gpu, sample), each.of(gpu)) for gpu in sample.gpus])
        yield self._reasons(sample)
        yield _choice("gpu_assistant_driver_state", "Whether the driver answers", ["Hostname"], "state", [
            ([self._host], get_args(NvmlState), {sample.nvml}),
        ])  # fmt: skip
        yield _choice("gpu_assistant_gpu_state", "Whether the card answers", CARD, "state", [
            (self._card(gpu, sample), get_args(GpuState), {gpu.state}) for gpu in sample.gpus
        ])  # fmt: skip
        yield _choice("gpu_assistant_throttled", "Why clocks are held back", CARD, "reason", [
            (self._card(gpu, sample), THROTTLE_REASONS.values(), set(gpu.throttle))
            for gpu in sample.gpus if gpu.throttle is not None
        ])  # fmt: skip

    def _family(self, of: Figure, labels: Iterable[str], values: list[tuple[list[str], float | None]]) -> Metric:
        # prometheus-client ends a counter's name with "_total", which the exporter's names do not have.
        kind = UntypedMetricFamily if of.counts else GaugeMetricFamily
        family = kind(of.name, of.help, labels=list(labels))
        for names, value in values:
            if value is not None:
                family.add_metric(names, value)
        return family

    def _reasons(self, sample: Sample) -> Metric:
        """NVML's bits in one number; that of a card at rest is never set."""
        family = GaugeMetricFamily(REASONS, "Why clocks are held back, as NVML's bits", labels=list(CARD))
        bits = {name: bit for bit, name in THROTTLE_REASONS.items()}
        for gpu in sample.gpus:
            if gpu.throttle is not None:
                family.add_metric(self._card(gpu, sample), float(sum(bits[name] for name in gpu.throttle)))
        return family

    def _card(self, gpu: GpuSample, sample: Sample) -> list[str]:
        # The exporter writes the bus's domain with eight digits.
        place = f"0000{gpu.address}".upper() if gpu.address else ""
        number = str(gpu.index)
        return [number, gpu.uuid or "", place, f"nvidia{number}", gpu.name or "", self._host, sample.driver or ""]


class Server:
    """Answers http://<address>:<port>/metrics from a thread of its own until `close`; port 0 takes a free one."""

    def __init__(self, port: int, address: str) -> None:
        """Raises AppError("metrics-port") where the port is taken, CallError("metrics-address") where the address is
        none of this computer's.
        """
        self.latest = Latest()
        registry = CollectorRegistry()
        registry.register(self.latest)
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except (OSError, UnicodeError) as error:
            if not isinstance(error, OSError) or isinstance(error, socket.gaierror) or error.errno in NOT_HERE:
                raise CallError("metrics-address", address=address) from error
            raise AppError("metrics-port", port=port, address=address, detail=why(error)) from error
        self.port = self._server.server_port
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self.port}/metrics"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End it, and wait until it has."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _choice(
    name: str,
    text: str,
    labels: Iterable[str],
    of: str,
    rows: Iterable[tuple[list[str], Iterable[str], set[str]]],
) -> Metric:
    """1 for what holds and 0 for the others, so that a change can be seen."""
    family = GaugeMetricFamily(name, text, labels=[*labels, of])
    for values, choices, chosen in rows:
        for choice in choices:
            family.add_metric([*values, choice], float(choice in chosen))
    return family
