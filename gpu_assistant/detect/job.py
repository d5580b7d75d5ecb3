"""Finding out what this computer is: all probes side by side, each with its own time limit and field to lose."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ..catalog.store import Catalog
from ..core.jobs import JobContext
from ..core.machine import MACHINE_SCHEMA, Cudnn, Gpu, Machine, Network, OperatingSystem, ProbeNote
from ..system.base import Hardware, Processes, UserEnvironment
from ..system.nvml.monitor import NvmlMonitor
from . import cuda, nvidia, pythons, tools
from .nvidia import DRIVER_TIMEOUT_S, DriverProbe, TakeSnapshot
from .partial_result import PartialResult, wrap_partial

PROBE_TIMEOUT_S = 4.0
DEPENDENT_PROBE_MARGIN_S = 1.0  # a probe that waits for other calls gets so much more than they
POLL_INTERVAL_S = 0.05  # how soon a cancel is seen

# Fields of a partial machine that is reported: without them "no GPU" and "no driver" would look like results.
_REQUIRED_FIELDS = {"os", "gpus", "driver"}


class ProbeSystem(Hardware, Processes, UserEnvironment, Protocol):
    """The roles of the operating system that the probes use."""


class Probe(Struct, frozen=True, kw_only=True):
    """Reads the field of the machine that it is named after. `read` may raise anything; it has `timeout` seconds."""

    name: str
    read: Callable[[], Any]
    timeout: float = PROBE_TIMEOUT_S


class ProbeFinished(Struct, frozen=True, kw_only=True):
    """A probe ended. `fields` has its field of the machine; nothing if it was slow or failed."""

    probe: str
    seconds: float
    ok: bool
    fields: dict[str, Any] = {}


class _ProbeAnswer(Struct, frozen=True, kw_only=True):
    probe: Probe
    seconds: float
    value: Any = None
    error: Exception | None = None


class DetectJob:
    """Finds out what this computer is; a simulated machine is returned as it is.

    Reports a `ProbeFinished` for each probe as it ends, and after it the `Machine` as far as it is known, once
    operating system, GPUs and driver are. A probe that fails or is slow leaves its field empty and a `ProbeNote`.
    Raises `Cancelled` only.
    """

    def __init__(
        self,
        system: ProbeSystem,
        catalog: Catalog,
        *,
        simulated: Machine | None = None,
        snapshot: TakeSnapshot | None = None,
        probes: tuple[Probe, ...] | None = None,
    ) -> None:
        self._system = system
        self._catalog = catalog
        self._simulated = simulated
        self._snapshot = snapshot
        self._probes = probes

    def run(self, context: JobContext[Any]) -> Machine:
        """Takes as long as the slowest probe, at most its time limit."""
        if self._simulated is not None:
            return self._report_simulated(self._simulated, context)
        stop = threading.Event()
        probes = self._probes
        if probes is None:
            probes = all_probes(self._system, self._catalog, stop, self._snapshot)
        try:
            return self._run_probes(probes, context)
        finally:
            stop.set()

    def _run_probes(self, probes: tuple[Probe, ...], context: JobContext[Any]) -> Machine:
        answers: queue.SimpleQueue[_ProbeAnswer] = queue.SimpleQueue()
        started = time.monotonic()
        for probe in probes:
            # Daemon threads: a call that never returns must not keep us from ending.
            threading.Thread(target=_run_probe, args=(probe, answers), name=f"probe {probe.name}", daemon=True).start()
        waiting = {probe.name: probe for probe in probes}
        fields: dict[str, Any] = {}
        notes: list[ProbeNote] = []
        while waiting:
            context.check_cancelled()
            try:
                answer = answers.get(timeout=POLL_INTERVAL_S)
            except queue.Empty:
                elapsed = time.monotonic() - started
                timed_out = [probe for probe in waiting.values() if elapsed >= probe.timeout]
                finished = [_ProbeAnswer(probe=probe, seconds=elapsed, error=TimeoutError()) for probe in timed_out]
            else:
                finished = [answer]
            for finished_answer in finished:
                if waiting.pop(finished_answer.probe.name, None) is None:
                    continue  # too late
                self._apply_answer(finished_answer, fields, notes, context)
                if not _REQUIRED_FIELDS & waiting.keys():
                    context.report(self._build_machine(fields, notes))
        return self._build_machine(fields, notes)

    def _apply_answer(
        self, answer: _ProbeAnswer, fields: dict[str, Any], notes: list[ProbeNote], context: JobContext[Any]
    ) -> None:
        name, error = answer.probe.name, answer.error
        value = answer.value
        if isinstance(value, PartialResult):
            notes.append(ProbeNote(probe=name, code=f"detect.{name}.{value.reason}", detail=value.detail))
            context.log(f"{name}: {value.detail or value.reason}")
            value = value.value
        if error is None:
            fields[name] = value
        else:
            is_timeout = isinstance(error, TimeoutError)
            detail = None if is_timeout else f"{type(error).__name__}: {error}"
            notes.append(
                ProbeNote(probe=name, code=f"detect.{name}.{'slow' if is_timeout else 'failed'}", detail=detail)
            )
            context.log(f"{name}: {detail or f'no answer in {answer.seconds:.1f} s'}")
        context.report(
            ProbeFinished(
                probe=name,
                seconds=answer.seconds,
                ok=error is None,
                fields={name: value} if error is None else {},
            )
        )

    def _build_machine(self, fields: dict[str, Any], notes: list[ProbeNote]) -> Machine:
        values = {"os": OperatingSystem(system=self._system.name), "gpus": (), **fields}
        return Machine(schema=MACHINE_SCHEMA, notes=tuple(notes), **values)

    @staticmethod
    def _report_simulated(machine: Machine, context: JobContext[Any]) -> Machine:
        for name, value in msgspec.structs.asdict(machine).items():
            if name not in ("schema", "notes"):
                context.report(ProbeFinished(probe=name, seconds=0.0, ok=True, fields={name: value}))
        context.report(machine)
        return machine


def _run_probe(probe: Probe, answers: queue.SimpleQueue[_ProbeAnswer]) -> None:
    started = time.monotonic()
    try:
        value = probe.read()
    except Exception as error:  # noqa: BLE001 - any error costs this probe's field and no more
        answers.put(_ProbeAnswer(probe=probe, seconds=time.monotonic() - started, error=error))
    else:
        answers.put(_ProbeAnswer(probe=probe, seconds=time.monotonic() - started, value=value))


def all_probes(
    system: ProbeSystem, catalog: Catalog, stop: threading.Event, snapshot: TakeSnapshot | None = None
) -> tuple[Probe, ...]:
    """Every probe. Programs that they start are ended when `stop` is set."""
    nvml = NvmlMonitor(system)
    driver = DriverProbe(system, snapshot or nvml.snapshot, stop, nvml_state=lambda: nvml.state)
    driver_timeout = DRIVER_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S
    return (
        Probe(name="driver", read=driver.read_driver, timeout=driver_timeout),
        Probe(name="gpus", read=lambda: _read_gpus(system, driver, catalog), timeout=driver_timeout),
        Probe(name="os", read=system.operating_system),
        Probe(name="cpu", read=system.cpu),
        Probe(name="disks", read=lambda: _read_disks(system)),
        Probe(
            name="pythons",
            read=lambda: pythons.find_pythons(system, stop),
            timeout=pythons.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S,
        ),
        Probe(
            name="tools",
            read=lambda: tools.find_tools(system, stop),
            timeout=tools.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S,
        ),
        Probe(name="memory_bytes", read=system.memory_bytes),
        Probe(
            name="cuda_toolkits",
            read=lambda: cuda.find_toolkits(system, stop),
            timeout=cuda.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S,
        ),
        Probe(name="cudnn", read=lambda: _read_cudnn(system)),
        Probe(name="user", read=system.user),
        Probe(name="network", read=lambda: Network(proxy=system.proxy())),
        Probe(name="pending_reboot", read=lambda: _read_pending_reboot(system, driver, nvml), timeout=driver_timeout),
        Probe(name="laptop", read=lambda: _read_laptop(system, catalog)),
        Probe(name="virtual_machine", read=system.virtual_machine),
        Probe(name="remote_desktop", read=system.remote_desktop),
        Probe(name="container", read=system.container),
        Probe(name="cloud", read=system.cloud),
    )


def _read_gpus(system: Hardware, driver: DriverProbe, catalog: Catalog) -> tuple[Gpu, ...]:
    adapters = system.display_adapters()
    return nvidia.merge_gpus(adapters, driver.wait_for_gpus(), nvidia.CatalogGpuLookup(catalog))


def _read_pending_reboot(system: Hardware, driver: DriverProbe, nvml: NvmlMonitor) -> bool | None:
    """As the system tells, and True after an update of the driver, whose parts differ in version until a restart."""
    driver.wait_for_gpus()  # sets the state of `nvml`
    return True if nvml.state == "version-mismatch" else system.pending_reboot()


def _read_disks(system: Hardware) -> Any:  # noqa: ANN401 - Disks, or a part of them
    disks = system.disks()
    return wrap_partial(disks, [disk.path for disk in disks if disk.total_bytes is None])


def _read_cudnn(system: Processes) -> tuple[Cudnn, ...]:
    return cuda.find_cudnn(system.cudnn_folders())


def _read_laptop(system: Hardware, catalog: Catalog) -> bool | None:
    """By the computer itself, else by a GPU that exists in laptops only."""
    is_laptop = system.laptop()
    if is_laptop is not None:
        return is_laptop
    rows = (catalog.gpu(gpu.pci_id or "") for gpu in system.display_adapters())
    return True if any(row is not None and row.is_laptop for row in rows) else None
