"""The look at a machine: its news, its patience, and what it does when a question goes wrong."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json as core_json
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Cpu, Driver, Gpu, Machine, OperatingSystem, ProbeNote
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.detect.job import DetectJob, Probe, ProbeFinished, all_probes
from gpu_assistant.system import current_system
from gpu_assistant.system.nvml.monitor import NvmlSnapshot
from gpu_assistant.texts.localized import Texts
from tests.fakes.system import FakeSystem

CATALOG = load_catalog(resources_dir() / "catalog")
SCHEMA = json.loads((resources_dir() / "schemas/machine.schema.json").read_text(encoding="utf-8"))
OS = OperatingSystem(system="linux", name="A Linux")


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Holds a probe until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def nothing() -> None:
    return None


def look(*probes: Probe, events: list[Any] | None = None, log: list[str] | None = None) -> Machine:
    context: JobContext[Any] = JobContext(
        report=events.append if events is not None else None, log=log.append if log is not None else None
    )
    return DetectJob(FakeSystem(), CATALOG, probes=probes).run(context)


def usual() -> tuple[Probe, ...]:
    return (
        Probe(name="os", read=lambda: OS),
        Probe(name="gpus", read=lambda: (Gpu(vendor="amd"),)),
        Probe(name="driver", read=nothing),
    )


def test_each_probe_fills_its_field_and_reports() -> None:
    events: list[Any] = []
    machine = look(*usual(), Probe(name="cpu", read=lambda: Cpu(cores=4)), events=events)
    assert machine.os == OS
    assert machine.gpus == (Gpu(vendor="amd"),)
    assert machine.cpu == Cpu(cores=4)
    assert machine.notes == ()
    done = {each.probe: each for each in events if isinstance(each, ProbeFinished)}
    assert set(done) == {"os", "gpus", "driver", "cpu"}
    assert done["cpu"].fields == {"cpu": Cpu(cores=4)}
    assert all(each.ok and each.seconds >= 0 for each in done.values())


def test_partial_machine_needs_gpus_and_driver() -> None:
    """Before that, "no card" and "no driver" would look like answers."""
    after_gpus = threading.Event()

    def driver() -> Driver:
        assert after_gpus.wait(60)
        return Driver(version="1.0")

    def report(each: Any) -> None:
        events.append(each)
        if isinstance(each, ProbeFinished) and each.probe == "gpus":
            after_gpus.set()

    events: list[Any] = []
    probes = (*usual()[:2], Probe(name="driver", read=driver))
    machine = DetectJob(FakeSystem(), CATALOG, probes=probes).run(JobContext(report=report))
    shown = [each for each in events if isinstance(each, Machine)]
    assert shown == [machine]
    assert machine.driver == Driver(version="1.0")


def test_raising_probe_loses_only_its_field() -> None:
    def broken() -> Cpu:
        raise OSError("the table is upside down")

    events: list[Any] = []
    log: list[str] = []
    machine = look(*usual(), Probe(name="cpu", read=broken), events=events, log=log)
    assert machine.cpu is None
    assert machine.os == OS
    assert machine.notes == (
        ProbeNote(probe="cpu", code="detect.cpu.failed", detail="OSError: the table is upside down"),
    )
    assert [each.ok for each in events if isinstance(each, ProbeFinished) and each.probe == "cpu"] == [False]
    assert log == ["cpu: OSError: the table is upside down"]


def test_hanging_probe_loses_only_its_field_after_timeout(gate: threading.Event) -> None:
    def hangs() -> Cpu:
        gate.wait()
        return Cpu(cores=1)

    started = time.monotonic()
    machine = look(*usual(), Probe(name="cpu", read=hangs, timeout=0.2))
    assert 0.2 <= time.monotonic() - started < 5
    assert machine.cpu is None
    assert machine.notes == (ProbeNote(probe="cpu", code="detect.cpu.slow"),)


def test_required_fields_can_fail(gate: threading.Event) -> None:
    probes = tuple(Probe(name=probe.name, read=gate.wait, timeout=0.1) for probe in usual())
    machine = look(*probes)
    assert machine.os == OperatingSystem(system="linux")
    assert machine.gpus == ()
    assert {note.probe for note in machine.notes} == {"os", "gpus", "driver"}


def test_probes_run_side_by_side() -> None:
    meeting = threading.Barrier(3)

    def meet(value: Any) -> Any:
        meeting.wait(timeout=10)
        return value

    values = {"os": OS, "gpus": (), "driver": None}
    machine = look(*(Probe(name=name, read=lambda value=value: meet(value)) for name, value in values.items()))
    assert machine.notes == ()


def test_cancel_takes_effect_immediately(gate: threading.Event) -> None:
    context: JobContext[Any] = JobContext()
    timer = threading.Timer(0.1, context.cancel.set)
    timer.start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        DetectJob(FakeSystem(), CATALOG, probes=(Probe(name="os", read=gate.wait, timeout=60),)).run(context)
    assert time.monotonic() - started < 5
    timer.join()


def test_cancel_ends_child_processes(tmp_path: Path) -> None:
    """A Python that never answers is asked; the look is stopped while it waits."""
    queried = threading.Event()
    ended = threading.Event()

    def run(argv: Any, *, cancel: threading.Event, **_: Any) -> Any:
        queried.set()
        assert cancel.wait(60)
        ended.set()
        raise Cancelled

    system = FakeSystem(run=run, python_candidates=(Path(sys.executable),))
    context: JobContext[Any] = JobContext()
    stopper = threading.Thread(target=lambda: queried.wait(60) and context.cancel.set())
    stopper.start()
    with pytest.raises(Cancelled):
        DetectJob(system, CATALOG, snapshot=nothing).run(context)
    stopper.join()
    assert ended.wait(60)


def test_simulated_machine_is_returned_unchanged() -> None:
    simulated = core_json.decode(
        (Path(__file__).parents[1] / "machines/windows11-rtx4060-566.json").read_bytes(), Machine
    )
    system = FakeSystem(run=lambda *_, **__: pytest.fail("a simulated machine asks nobody"))
    events: list[Any] = []
    assert DetectJob(system, CATALOG, simulated=simulated).run(JobContext(report=events.append)) is simulated
    done = [each for each in events if isinstance(each, ProbeFinished)]
    assert {"os", "gpus", "driver", "pythons"} <= {each.probe for each in done}
    assert {name: value for each in done for name, value in each.fields.items()}["driver"] == simulated.driver
    assert events[-1] is simulated


RTX_4060 = Gpu(index=0, vendor="nvidia", pci_id="10de:2882")
SNAPSHOT = NvmlSnapshot(
    driver=Driver(version="566.03", cuda_max="12.7", model="WDDM"),
    gpus=(Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 4060", pci_id="10de:2882", memory_bytes=8585740288),),
)


def test_driver_and_gpus_come_from_one_query() -> None:
    queries = []

    def snapshot() -> NvmlSnapshot:
        queries.append(1)
        return SNAPSHOT

    machine = DetectJob(FakeSystem(display_adapters=(RTX_4060,)), CATALOG, snapshot=snapshot).run(JobContext())
    assert machine.driver == SNAPSHOT.driver
    assert [(gpu.name, gpu.compute_capability, gpu.memory_bytes) for gpu in machine.gpus] == [
        ("NVIDIA GeForce RTX 4060", "8.9", 8585740288)
    ]
    assert queries == [1]


def test_gpu_is_named_without_driver() -> None:
    machine = DetectJob(FakeSystem(display_adapters=(RTX_4060,)), CATALOG, snapshot=nothing).run(JobContext())
    assert machine.driver is None
    assert machine.notes == ()
    assert machine.gpus[0].name == "NVIDIA GeForce RTX 4060"
    assert machine.gpus[0].compute_capability == "8.9"


def test_failing_driver_query_keeps_gpus() -> None:
    def snapshot() -> NvmlSnapshot:
        raise OSError("no")

    machine = DetectJob(FakeSystem(display_adapters=(RTX_4060,)), CATALOG, snapshot=snapshot).run(JobContext())
    assert [note.probe for note in machine.notes] == ["driver"]
    assert machine.gpus[0].pci_id == "10de:2882"


def test_sleeping_gpus_are_not_woken() -> None:
    system = FakeSystem(display_adapters=(RTX_4060,), sleeping_driver=Driver(version="570.195.03"))
    machine = DetectJob(system, CATALOG, snapshot=lambda: pytest.fail("this wakes the card")).run(JobContext())
    assert machine.driver == Driver(version="570.195.03")
    assert machine.gpus[0].name == "NVIDIA GeForce RTX 4060"


def test_every_probe_has_a_machine_field_and_texts() -> None:
    probes = all_probes(FakeSystem(), CATALOG, threading.Event(), nothing)
    fields = {field.name for field in msgspec.structs.fields(Machine)}
    assert {probe.name for probe in probes} == fields - {"schema", "notes"}
    for texts in (Texts("en"), Texts("zh_CN")):
        for probe in probes:
            assert texts.translate(f"detect.{probe.name}.slow")
            assert "why" in texts.translate(f"detect.{probe.name}.failed", {"detail": "why"})


def test_this_machine_fits_the_schema() -> None:
    """The real system, the real NVML, the real Pythons."""
    machine = DetectJob(current_system(), CATALOG).run(JobContext())
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(core_json.encode(machine)))
    # A busy computer may leave something out, which its note says; nothing may fail.
    assert [note for note in machine.notes if note.code.endswith(".failed")] == []
    assert machine.os.system == current_system().name
    assert machine.memory_bytes is not None
    assert machine.memory_bytes > 2**28
    assert machine.user is not None
    assert machine.user.home == str(Path.home())
    assert machine.pythons
    assert "torch" not in sys.modules
