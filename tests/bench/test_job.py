"""The benchmark's job on a stand-in with a card: what it measures and what it says of it."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.bench import gpu_log, scaling
from gpu_assistant.bench.child_protocol import BENCHMARK_NOTES, CHILD_PROGRAM, BenchmarkProgress
from gpu_assistant.bench.expected_ranges import CAUSES, repair_steps
from gpu_assistant.bench.history import read_benchmarks
from gpu_assistant.bench.measurements import is_complete
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import WORKLOAD_UNITS, BenchResult, GpuSample
from gpu_assistant.system import current_system
from gpu_assistant.system.base import PowerStatus
from gpu_assistant.texts.benchmark import verdict_text
from gpu_assistant.texts.localized import Texts

from ..fakes.benchmarks import slow_benchmark
from ..fakes.environments import environment_with, torch_with_card
from .run import Run

GIB = 2**30


def test_gpu_in_every_precision(with_card: Path, tmp_path: Path) -> None:
    result = Run(with_card, tmp_path, workloads=["matmul"]).go()
    assert {r.dtype for r in result.results if r.device == "cuda:0"} == {"float32", "tf32", "float16", "bfloat16"}
    assert {r.dtype for r in result.results if r.device == "cpu"} == {"float32"}
    assert {r.size[0] for r in result.results} == {1024, 2048, 4096, 8192, 10000}
    assert set(result.speedup) == {f"matmul-{dtype}" for dtype in ("float32", "tf32", "float16", "bfloat16")}
    assert result.speedup["matmul-float32"] > 1
    assert result.verdict == "bench.verdict.measured"
    assert result.devices[1].name == "NVIDIA GeForce RTX 4060"
    assert result.devices[1].memory_bytes == 8585740288


def test_falsifying_variables_are_cleared_and_named(
    with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # which cards to use is the user's choice
    result = Run(with_card, tmp_path, workloads=["copy-within"]).go()
    assert result.cleared == ("CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE")


def test_single_device_option(with_card: Path, tmp_path: Path) -> None:
    result = Run(with_card, tmp_path, device="cuda:0", workloads=["matmul"]).go()
    assert {r.device for r in result.results} == {"cuda:0"}
    assert result.speedup == {}


def test_verdict_for_known_gpu(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = load_catalog(resources_dir() / "catalog")
    options = {"device": "cuda:0", "workloads": ["matmul"], "catalog": catalog}
    good = Run(with_card, tmp_path, **options).go()
    assert good.expected is not None
    above = any(r.median > good.expected[f"cuda:0/matmul-{r.dtype}"][1] for r in good.results)
    assert good.verdict == f"bench.verdict.{'above' if above else 'as-expected'}"
    assert set(good.expected) == {f"cuda:0/matmul-{dtype}" for dtype in ("float32", "tf32", "float16", "bfloat16")}
    assert good.causes == ()
    monkeypatch.setenv("FAKE_CARD", "slow")
    slow = Run(with_card, tmp_path, **{**options, "workloads": ["copy-within"]}).go()
    assert slow.verdict == "bench.verdict.below"
    assert slow.causes == ("bench.cause.unknown",)


def test_unfair_conditions_are_noted(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "slow")
    catalog = load_catalog(resources_dir() / "catalog")
    hot = GpuSample(index=0, name="NVIDIA GeForce RTX 4060", util=80, temp=88, throttle=("hardware-thermal",))
    power = PowerStatus(source="battery", power_saving=True)
    options = {"device": "cuda:0", "workloads": ["copy"], "catalog": catalog, "read_gpus": lambda: (hot,)}
    result = Run(with_card, tmp_path, power=power, **options).go()
    assert result.on_battery is True
    assert {"bench.note.battery", "bench.note.saving", "bench.note.busy"} <= set(result.notes)
    (watch,) = result.watched
    assert (watch.name, watch.util_before, watch.temp_start) == ("NVIDIA GeForce RTX 4060", 80, 88)
    if watch.samples > 2:  # what held it back before the run, or once, held back nothing
        assert "bench.note.throttled" in result.notes
    assert result.verdict == "bench.verdict.below"
    assert result.causes[0] == "bench.cause.battery"


def test_parallel_training_failure_is_noted(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in has no torch.distributed; what each card did alone stays."""
    monkeypatch.setenv("FAKE_CARD", "two")
    result = Run(with_card, tmp_path, workloads=["copy-within", "parallel"]).go()
    assert [r.device for r in result.results] == ["cpu", "cuda:0", "cuda:1"]
    assert "bench.note.parallel" in result.notes


def card_at_rest() -> tuple[GpuSample, ...]:
    return (GpuSample(index=0, name="NVIDIA GeForce RTX 4060", util=80, temp=40),)


@pytest.mark.parametrize(
    ("build", "options", "why"),
    [
        ("cpu", {"read_gpus": card_at_rest}, "cpu-build"),
        ("cuda", {"read_gpus": card_at_rest}, "card-unseen"),
        ("cpu", {"read_gpus": card_at_rest, "device": "cpu"}, "cpu-chosen"),
        ("cpu", {}, "cpu-only"),
    ],
)
def test_present_gpu_is_not_reported_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: str, options: dict[str, Any], why: str
) -> None:
    monkeypatch.setenv("FAKE_CARD", "no-driver")
    torch = torch_with_card()
    torch = torch if build == "cuda" else torch.replace('cuda="12.6"', "cuda=None")
    result = Run(environment_with(tmp_path / "env", torch), tmp_path, workloads=["copy"], **options).go()
    assert result.verdict == f"bench.verdict.{why}"
    assert "bench.note.busy" not in result.notes  # of a card that was not measured
    if why == "cpu-build":
        text = "Your RTX 4060 was not measured: this PyTorch is the CPU build; install the CUDA build."
        assert verdict_text(result, Texts("en")) == text


def test_copies_in_both_directions(with_card: Path, tmp_path: Path) -> None:
    result = Run(with_card, tmp_path, workloads=["copy"]).go()
    assert [(r.device, r.id) for r in result.results] == [
        ("cpu", "copy-within"),
        ("cuda:0", "copy-within"),
        ("cuda:0", "copy-to-device-pinned"),
        ("cuda:0", "copy-to-device"),
        ("cuda:0", "copy-to-host-pinned"),
        ("cuda:0", "copy-to-host"),
    ]
    assert {(r.unit, r.dtype, r.error) for r in result.results} == {("GB/s", "uint8", 0.0)}


@pytest.mark.parametrize(("load", "noted"), [(85.0, True), (3.0, False), (None, False)])
def test_busy_cpu_is_noted_on_results(with_card: Path, tmp_path: Path, load: float | None, noted: bool) -> None:
    result = Run(with_card, tmp_path, workloads=["copy-within"], read_cpu_load=lambda _: load).go()
    assert [(r.device, "busy-cpu" in r.notes) for r in result.results] == [("cpu", noted), ("cuda:0", False)]
    assert ("bench.note.busy-cpu" in result.notes) == noted


def test_each_workload_kind_runs_first(with_card: Path, tmp_path: Path) -> None:
    run = Run(with_card, tmp_path)
    run.go()
    came = [event for event in run.events if isinstance(event, BenchmarkProgress)]
    for device, copies, trainings in (("cpu", 1, 2), ("cuda:0", 5, 4)):
        first = [event.workload for event in came if event.device == device]
        assert first[0] == "matmul"
        assert all(each.startswith("copy") for each in first[1 : copies + 1])
        # What the guides' table has: on a card in both formats.
        assert first[copies + 1 : copies + 1 + trainings] == ["resnet50", "bert-base"] * (trainings // 2)
        # On a card a product in each of the other formats comes between: each format has a figure early.
        later = [each for each in first[copies + 1 + trainings :] if device == "cpu" or each != "matmul"]
        assert later[0] == "decode"
    assert [event.index for event in came] == list(range(1, came[0].total + 1))


def test_parallel_training_is_reported(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "two")
    run = Run(with_card, tmp_path, workloads=["copy-within", "parallel"])
    run.go()
    came = [event for event in run.events if isinstance(event, BenchmarkProgress)]
    assert [(event.index, event.total) for event in came] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (came[-1].workload, came[-1].device) == ("resnet50-parallel", "cuda")
    # One limit for all: the devices', and that of the cards together.
    (limit_s,) = {event.limit_s for event in came}
    assert limit_s is not None
    assert scaling.parallel_limit_s(full=False) < limit_s < 300


def test_failed_workload_does_not_stop_others(with_card: Path, tmp_path: Path) -> None:
    """The stand-in has no layers: training and writing fail, each for itself."""
    result = Run(with_card, tmp_path, device="cuda:0", workloads=["copy-within", "training", "decode"]).go()
    assert [r.id for r in result.results] == ["copy-within"]
    assert [(left.id, left.why) for left in result.left_out] == [
        (name, "bench.note.failed")
        for name in ("resnet50", "bert-base", "resnet50", "bert-base", "decode", "decode-graph")
    ]
    assert "bench.note.failed" in result.notes


@pytest.mark.parametrize("loss", ["lost", "reset"])
def test_device_lost_midway(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: str) -> None:
    monkeypatch.setenv("FAKE_CARD", loss)
    result = Run(with_card, tmp_path, workloads=["matmul"]).go()
    assert {r.size[0] for r in result.results if r.device == "cuda:0"} == {2048}
    assert {r.dtype for r in result.results if r.device == "cuda:0"} == {"float32"}
    assert {left.why for left in result.left_out} == {f"bench.note.{loss}"}
    assert len(result.left_out) == 4 * 4 - 1  # four sizes in four formats, one of them measured
    assert f"bench.note.{loss}" in result.notes
    assert not is_complete(result)


def test_run_leaves_no_files_in_program_folder(with_card: Path, tmp_path: Path) -> None:
    before = {path for path in CHILD_PROGRAM.parent.rglob("*") if path.suffix == ".pyc"}
    for path in before:
        path.unlink()
    Run(with_card, tmp_path, device="cpu", workloads=["copy"]).go()
    assert not [path for path in CHILD_PROGRAM.parent.rglob("*") if path.suffix == ".pyc"]
    assert list((tmp_path / "env").rglob("torch/__pycache__/*.pyc"))


def test_missing_device(with_card: Path, tmp_path: Path) -> None:
    error = Run(with_card, tmp_path, device="cuda:3").fails(exit_code=2)
    assert error.code == "bench-no-device"
    assert error.data == {"device": "cuda:3", "have": "cpu, cuda:0"}


def test_workload_too_large_is_skipped(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "out-of-memory")
    result = Run(with_card, tmp_path, device="cuda:0", workloads=["matmul"]).go()
    assert {r.size[0] for r in result.results} == {2048}
    assert "bench.note.memory" in result.notes


def test_wrong_result_is_noted(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "wrong")
    result = Run(with_card, tmp_path, device="cuda:0", workloads=["matmul"]).go()
    assert "bench.note.wrong" in result.notes


def test_crashed_child_keeps_its_results(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "dies")
    result = Run(with_card, tmp_path, device="cuda:0", workloads=["matmul"]).go()
    assert [r.size[0] for r in result.results] == [2048]
    assert "bench.note.stopped" in result.notes
    unreached = [(left.dtype, left.size[0]) for left in result.left_out if left.why == "bench.note.stopped"]
    assert len(unreached) == len(result.left_out) == 4 * 4 - 1  # four sizes in four formats, one of them measured
    assert unreached[0] == ("float32", 4096)  # it had begun


def test_slow_torch_import_leaves_time_to_measure(with_card: Path, tmp_path: Path) -> None:
    """Somebody has waited for ten minutes already; torch is loaded only now."""
    python = current_system().environment_python(with_card)
    argv = [
        str(python),
        "-I",
        str(CHILD_PROGRAM),
        "--device",
        "cpu",
        "--only",
        "copy",
        "--since",
        str(time.time() - 600),
    ]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8", timeout=60, check=False)
    start, *lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert start["start"]["limit_s"] > 30
    assert any("result" in line for line in lines)


def test_simulated_machine_is_refused(with_card: Path, tmp_path: Path) -> None:
    run = Run(with_card, tmp_path, simulated=True)
    assert run.fails(exit_code=2).code == "bench-simulated"
    assert run.system.ran == []


def test_cancel_is_quick(with_card: Path, tmp_path: Path) -> None:
    cancel = threading.Event()
    run = Run(with_card, tmp_path, workloads=["matmul"])
    cancelled_at = 0.0

    def on_event(what: object) -> None:
        nonlocal cancelled_at
        if isinstance(what, BenchmarkProgress) and what.index == 2:
            cancelled_at = time.monotonic()
            cancel.set()

    with pytest.raises(Cancelled):
        run.job.run(JobContext(on_event, cancel=cancel))
    assert time.monotonic() - cancelled_at < 1 + 4  # one second is meant; a busy test machine may take longer
    assert not run.data.benchmarks.exists()


def test_cancelled_full_test_keeps_its_results(with_card: Path, tmp_path: Path) -> None:
    cancel = threading.Event()
    run = Run(with_card, tmp_path, workloads=["matmul"], full=True)

    def on_event(what: object) -> None:
        run.events.append(what)  # type: ignore[arg-type]
        if isinstance(what, BenchResult):
            cancel.set()

    result = run.job.run(JobContext(on_event, cancel=cancel))
    assert "bench.note.cancelled" in result.notes
    assert result.results
    assert {left.why for left in result.left_out} == {"bench.note.cancelled"}
    assert read_benchmarks(run.data.benchmarks).benchmarks == (result,)
    assert not is_complete(result)


def test_cpu_results_state_settings(with_card: Path, tmp_path: Path) -> None:
    product, copy = Run(with_card, tmp_path, device="cpu", workloads=["matmul", "copy"]).go().results[:2]
    assert product.settings["float32_matmul_precision"] == "highest"
    assert product.settings["threads"] == copy.settings["threads"]


def test_clock_while_timed_is_stored_with_each_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after the child runs the card is idle at 210 MHz; the second one is another card's clock."""
    monkeypatch.setattr(gpu_log, "INTERVAL_S", 0.001)
    torch = torch_with_card().replace("STATE.worked_s += COPY_S", "time.sleep(COPY_S)")  # copies that take their time
    run = Run(
        environment_with(tmp_path / "env", torch),
        tmp_path,
        workloads=["copy-within"],
        read_gpus=lambda: two_cards(2610 if run.events[1:] else 210),
    )
    cpu, gpu = run.go().results
    assert (cpu.device, cpu.clock_sm) == ("cpu", None)
    assert (gpu.device, gpu.clock_sm) == ("cuda:0", 2610)
    assert gpu.settings["warm_up_s"] == 0.3


def test_log_and_clock_are_of_the_card_with_the_uuid_of_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA_VISIBLE_DEVICES=1: the only card that torch has, "cuda:0", is the driver's second one."""
    monkeypatch.setattr(gpu_log, "INTERVAL_S", 0.001)
    torch = torch_with_card().replace("STATE.worked_s += COPY_S", "time.sleep(COPY_S)")
    torch = torch.replace("major=8, minor=9", 'major=8, minor=9, uuid="bbbbbbbb-0000-1111-2222-333333333333"')
    cards = (
        GpuSample(index=0, uuid="GPU-AAAAAAAA-0000-1111-2222-333333333333", util=99, clock_sm=2610, temp=50),
        GpuSample(index=1, uuid="GPU-BBBBBBBB-0000-1111-2222-333333333333", util=99, clock_sm=1980, temp=70),
    )
    environment = environment_with(tmp_path / "env", torch)
    run = Run(environment, tmp_path, device="cuda:0", workloads=["copy-within"], read_gpus=lambda: cards)
    result = run.go()
    assert [(log.index, log.device, log.temp_max) for log in result.watched] == [(0, None, 50), (1, "cuda:0", 70)]
    assert [each.clock_sm for each in result.results] == [1980]
    assert "bbbbbbbb" not in next(run.data.benchmarks.glob("[!.]*.json")).read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("used_bytes", "lent_bytes", "spilled"),
    [(8 * GIB, 3 * GIB, True), (8 * GIB, GIB // 2, False), (8 * GIB, None, False), (3 * GIB, 3 * GIB, False)],
    ids=["lent", "pinned-only", "uncounted", "roomy"],
)
def test_figure_of_memory_that_windows_lent_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used_bytes: int, lent_bytes: int | None, spilled: bool
) -> None:
    """Counted for the program that computes: on Windows it is not the one that was started."""
    monkeypatch.setattr(gpu_log, "INTERVAL_S", 0.001)
    torch = torch_with_card().replace("STATE.worked_s += COPY_S", "time.sleep(COPY_S)")
    torch += '\nimport pathlib; pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))'
    environment = environment_with(tmp_path / "env", torch)
    card = GpuSample(index=0, util=99, mem_used=used_bytes, mem_total=8 * GIB)
    run = Run(environment, tmp_path, workloads=["copy-within"], read_gpus=lambda: (card,))
    asked: list[int] = []
    monkeypatch.setattr(run.system, "gpu_shared_memory", lambda pid: asked.append(pid) or lent_bytes)
    result = run.go()
    notes = {each.device: "spilled" in each.notes for each in result.results}
    assert notes == {"cpu": False, "cuda:0": spilled}
    assert ("bench.note.spilled" in result.notes) == spilled
    (pid_file,) = environment.rglob("pid")
    assert set(asked) == ({int(pid_file.read_text())} if used_bytes == 8 * GIB else set())


def two_cards(clock: int) -> tuple[GpuSample, ...]:
    return (GpuSample(index=0, util=99, clock_sm=clock), GpuSample(index=1, util=99, clock_sm=1980))


@pytest.mark.parametrize("cause", sorted(CAUSES))
def test_every_cause_has_steps_that_end_with_measuring_and_testing(cause: str) -> None:
    steps = repair_steps(replace(slow_benchmark(), causes=(cause,), on_battery=None, watched=()))
    assert len(steps) > 2
    assert steps[-2:] == ("bench.step.measure-again", "bench.step.health-test")
    assert all(Texts("en").has_text(step) for step in steps)


def test_every_note_and_cause_has_text() -> None:
    for code in (*BENCHMARK_NOTES, *CAUSES, *(f"bench.workload.{name}" for name in WORKLOAD_UNITS)):
        assert Texts("en").has_text(code)


TWO_UNLIKE_CARDS = """
import os, sys

def figure(device, dtype):
    return {"id": "resnet50", "device": device, "dtype": dtype, "size": [3, 224, 224], "batch": 64, "unit": "images/s",
            "median": 100.0, "q1": 99.0, "q3": 101.0, "runs": 9, "seconds": 1.0}

frame = sys._getframe()
while "writer" not in frame.f_locals:
    frame = frame.f_back
send = frame.f_locals["writer"].send
if "--take-part" not in sys.argv:
    measured = [figure("cuda:0", "mixed-bfloat16"), figure("cuda:0", "float32"), figure("cuda:1", "float32")]
    work = [{"n": n, "workload": "resnet50", "device": each["device"], "dtype": each["dtype"], "size": each["size"]}
            for n, each in enumerate(measured, 1)]
    devices = [{"id": "cuda:0", "name": "RTX 3060"}, {"id": "cuda:1", "name": "GTX 1080"}]
    send(start={"torch": "2.15.0", "devices": devices, "of": len(work), "work": work, "limit_s": 60.0})
    for begin, result in zip(work, measured):
        send(begin=begin)
        send(result=result)
    send(end=True)
    os._exit(0)
formats = sys.argv[sys.argv.index("--dtype") + 1].split(",")
together = {**figure("cuda", formats[0]), "id": "resnet50-parallel", "processes": int(os.environ["WORLD_SIZE"]),
            "settings": {"formats": " ".join(formats)}}
if os.environ["RANK"] == "0":
    send(result=together)
os._exit(0)
"""


def test_unlike_cards_train_together_each_in_its_own_format(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", TWO_UNLIKE_CARDS)
    *_, together = Run(environment, tmp_path).go().results
    assert (together.id, together.processes) == ("resnet50-parallel", 2)
    assert together.settings["formats"] == "mixed-bfloat16 float32"
