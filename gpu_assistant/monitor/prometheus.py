"""Samples for a Prometheus server, under the names of NVIDIA's DCGM exporter where it has the metric.

Names, units and help texts are in `resources/monitor/metrics.json`; a dashboard for Grafana is beside it.
"""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from types import TracebackType
from typing import get_args

from msgspec import Struct
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ..core import json, paths
from ..core.errors import AppError, UsageError, os_error_text
from ..core.results import GpuSample, GpuState, NvmlState, Sample
from ..system.nvml.device import THROTTLE_REASONS
from .http_server import BoundedServer

GPU_LABELS = ("gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION")
# The errors of an address that the system cannot listen on.
ADDRESS_ERRNOS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
THROTTLE_METRIC = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"


class MetricsServer:
    """Serves http://<address>:<port>/metrics in a thread of its own until `close`; port 0 takes a free one."""

    def __init__(self, port: int, address: str) -> None:
        """Raises AppError("metrics-port") for a port in use, UsageError("metrics-address") for an address that is not
        this computer's.
        """
        self.collector = SampleCollector()
        registry = CollectorRegistry()
        registry.register(self.collector)
        try:
            self._server = BoundedServer(address, port, make_wsgi_app(registry))
        except (OSError, UnicodeError) as error:
            if not isinstance(error, OSError) or isinstance(error, socket.gaierror) or error.errno in ADDRESS_ERRNOS:
                raise UsageError("metrics-address", address=address) from error
            raise AppError("metrics-port", port=port, address=address, detail=os_error_text(error)) from error
        self.address = str(self._server.server_address[0])
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self.port}/metrics"

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving, and wait for the thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class MetricDefinition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric: a figure of a sample, less `minus` and (where known) `apart`, times `scale`. One that `counts` is a
    counter.
    """

    name: str
    figure: str
    minus: str | None = None
    apart: str | None = None
    counts: bool = False
    help: str
    scale: float = 1.0

    def read_value(self, source: Sample | GpuSample) -> float | None:
        """The metric's value; None where a figure is unknown."""
        value: float | None = getattr(source, self.figure)
        subtrahend: float | None = getattr(source, self.minus) if self.minus else 0.0
        second_subtrahend: float = (getattr(source, self.apart) if self.apart else None) or 0.0
        return None if value is None or subtrahend is None else (value - subtrahend - second_subtrahend) * self.scale


class MetricDefinitions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All metrics, of each GPU and of the computer."""

    source: str
    checked: str
    gpu: tuple[MetricDefinition, ...]
    machine: tuple[MetricDefinition, ...]


@cache
def metric_definitions() -> MetricDefinitions:
    """The built-in file."""
    return json.decode((paths.resources_dir() / "monitor" / "metrics.json").read_bytes(), MetricDefinitions)


class SampleCollector(Collector):
    """The metrics of the latest `sample`. A figure that a GPU does not report has no line."""

    def __init__(self, host: str | None = None) -> None:
        self._host = host or socket.gethostname()
        self.sample: Sample | None = None

    def collect(self) -> Iterator[Metric]:
        """Nothing before the first sample."""
        sample = self.sample
        if sample is None:
            return
        for definition in metric_definitions().machine:
            yield self._metric_family(definition, ("Hostname",), [([self._host], definition.read_value(sample))])
        for definition in metric_definitions().gpu:
            yield self._metric_family(
                definition,
                GPU_LABELS,
                [(self._gpu_label_values(gpu, sample), definition.read_value(gpu)) for gpu in sample.gpus],
            )
        yield self._throttle_metric(sample)
        yield _state_metric("gpu_assistant_driver_state", "Whether the driver answers", ["Hostname"], "state", [
            ([self._host], get_args(NvmlState), {sample.nvml}),
        ])  # fmt: skip
        yield _state_metric("gpu_assistant_gpu_state", "Whether the card answers", GPU_LABELS, "state", [
            (self._gpu_label_values(gpu, sample), get_args(GpuState), {gpu.state}) for gpu in sample.gpus
        ])  # fmt: skip
        yield _state_metric("gpu_assistant_throttled", "Why clocks are held back", GPU_LABELS, "reason", [
            (self._gpu_label_values(gpu, sample), THROTTLE_REASONS.values(), set(gpu.throttle))
            for gpu in sample.gpus if gpu.throttle is not None
        ])  # fmt: skip

    def _metric_family(
        self, definition: MetricDefinition, labels: Iterable[str], values: list[tuple[list[str], float | None]]
    ) -> Metric:
        # prometheus-client appends "_total" to a counter's name, which the exporter does not.
        family_type = UntypedMetricFamily if definition.counts else GaugeMetricFamily
        family = family_type(definition.name, definition.help, labels=list(labels))
        for names, value in values:
            if value is not None:
                family.add_metric(names, value)
        return family

    def _throttle_metric(self, sample: Sample) -> Metric:
        """NVML's bits in one number; the bit for "GPU idle" is never set."""
        family = GaugeMetricFamily(THROTTLE_METRIC, "Why clocks are held back, as NVML's bits", labels=list(GPU_LABELS))
        bits = {name: bit for bit, name in THROTTLE_REASONS.items()}
        for gpu in sample.gpus:
            if gpu.throttle is not None:
                family.add_metric(self._gpu_label_values(gpu, sample), float(sum(bits[name] for name in gpu.throttle)))
        return family

    def _gpu_label_values(self, gpu: GpuSample, sample: Sample) -> list[str]:
        # The exporter writes the PCI domain with eight digits.
        pci_address = f"0000{gpu.address}".upper() if gpu.address else ""
        index_text = str(gpu.index)
        return [
            index_text,
            gpu.uuid or "",
            pci_address,
            f"nvidia{index_text}",
            gpu.name or "",
            self._host,
            sample.driver or "",
        ]


def _state_metric(
    name: str,
    help_text: str,
    labels: Iterable[str],
    state_label: str,
    rows: Iterable[tuple[list[str], Iterable[str], set[str]]],
) -> Metric:
    """1 for active states and 0 for all others, so that changes are visible."""
    family = GaugeMetricFamily(name, help_text, labels=[*labels, state_label])
    for values, states, active in rows:
        for state in states:
            family.add_metric([*values, state], float(state in active))
    return family
