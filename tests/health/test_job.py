"""The test of cards from outside: a real program in a real environment, watched through the real binding of NVML."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Checks, GpuSample
from gpu_assistant.health.child_protocol import CHILD_CHECK_IDS, HealthProgress
from gpu_assistant.health.job import AREAS_BY_LEVEL, NEVER_COVERED
from gpu_assistant.system.base import PowerStatus
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts

from ..fakes.environments import FALSIFIED_TORCH, environment_with, torch_with_card
from ..nvml.scenario import Scenario
from ..schemas import struct_schema
from .conftest import Play
from .job_fixture import END, PASSED, START, Run, copies, one, states


def test_slice_is_watched_as_its_gpu(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    slices = {"slice1.uuid": "MIG-1111", "slice2.uuid": "MIG-2222"}
    scenario.card(mig="1", util="!3", event_reasons="0x1", pcie_gen="1", **slices)
    seen = tmp_path / "seen"

    def before_sample(count: int) -> None:
        if count == 2:
            scenario.card(event_reasons="0x0", pcie_gen="4")
        if count == 3:
            seen.touch()

    tested = {"id": "cuda:0", "name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "uuid": "2222"}
    start = {"start": {"torch": "2.13.0+cu126", "devices": [tested]}}
    environment = play(start, PASSED, copies(12.5), {"until": str(seen)}, END)
    checks = Run(environment, scenario, level=2, before_sample=before_sample).go()
    assert {check: states(checks)[check] for check in ("card-link", "card-held-back", "link-speed")} == {
        "card-link": "pass",
        "card-held-back": "pass",
        "link-speed": "pass",
    }
    assert one(checks, "copy-bandwidth").data["device"] == tested["name"]
    assert [curve.gpu for curve in checks.curves] == [0]


@pytest.mark.usefixtures("cuda_driver")
def test_tested_card_is_found_where_torch_tells_no_uuid(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As torch before 2.4. Of two equal cards CUDA_VISIBLE_DEVICES leaves the second, which torch calls "cuda:0"."""
    for number, temp in ((0, "50"), (1, "40")):
        scenario.card(number, util="0", temp=temp, uuid=f"GPU-{uuid.UUID(bytes=bytes([number] * 16))}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    recorded: list[tuple[Checks, list[int]]] = []

    def record(result: Checks, gpus: tuple[GpuSample, ...]) -> None:
        recorded.append((result, [gpu.index for gpu in gpus]))

    environment = environment_with(tmp_path / "env", torch_with_card())
    checks = Run(environment, scenario, device="cuda:0", record=record).go()
    assert [(result.level, gpus) for result, gpus in recorded] == [(1, [1])]
    assert one(checks, "device-compute").text == "GPU 1 (NVIDIA GeForce RTX 4060) gives the same results as the CPU."
    assert {check.data["gpu"] for check in checks.checks if check.id.startswith("card-")} == {1}
    assert one(checks, "card-heat").value == 40


def test_falsifying_variables_are_cleared_and_named(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.card()
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    environment = environment_with(tmp_path / "env", FALSIFIED_TORCH)
    checks = Run(environment, scenario).go()
    assert one(checks, "torch-import").data["reason"] == "RuntimeError: CUDA_LAUNCH_BLOCKING is None"
    assert checks.cleared == ("CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG")
    driver_alone = Run(environment, scenario)
    driver_alone.test(None)  # nothing runs that a variable could change
    assert driver_alone.go().cleared == ()


def test_healthy_gpu_passes(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="0", temp="42", event_reasons="0x1", pcie_gen="1")
    seen = tmp_path / "seen"

    def before_sample(count: int) -> None:
        if count == 2:
            scenario.card(util="99", temp="71", event_reasons="0x0", pcie_gen="4")
        if count == 3:
            seen.touch()

    environment = play(START, PASSED, copies(12.5), {"until": str(seen)}, END)
    checks = Run(environment, scenario, level=2, before_sample=before_sample).go()
    assert states(checks) == {
        "driver": "pass",
        "mains": "pass",
        "torch-import": "pass",
        "copy-bandwidth": "pass",
        "card-answers": "pass",
        "card-link": "pass",
        "card-memory": "pass",
        "card-errors": "skip",
        "card-xid": "pass",
        "card-heat": "pass",
        "card-fan": "pass",
        "card-held-back": "pass",
        "link-speed": "pass",
    }
    assert checks.verdict == "pass"
    assert one(checks, "driver").value == "566.03"
    assert one(checks, "card-heat").value == 71
    (curve,) = checks.curves
    assert (curve.gpu, curve.name, curve.temp[:2]) == (0, "NVIDIA GeForce RTX 4060", (42, 71))
    assert "the speed of the PCIe link" in checks.covers
    assert checks.leaves_out[:2] == ("a small calculation on the card", "calculations in each precision")
    assert "does not guarantee" in (checks.scope or "")


def test_busy_gpu_is_a_warning(scenario: Scenario, play: Play) -> None:
    scenario.card(util="60")
    checks = Run(play(START, PASSED, END), scenario, level=2).go()
    assert one(checks, "card-memory").state == "warn"
    assert "60%" in (one(checks, "card-memory").text or "")


def test_narrow_link_and_slow_copies(scenario: Scenario, play: Play) -> None:
    scenario.card(util="99", pcie_width="4", temp="60")
    checks = Run(play(START, PASSED, copies(2.1), END), scenario, level=2).go()
    assert one(checks, "card-link").state == "warn"
    assert one(checks, "card-link").expected == "PCIe 4 x8"
    assert one(checks, "link-speed").state == "warn"
    assert checks.verdict == "warn"


def test_idle_link_is_skipped(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0", pcie_gen="1")
    checks = Run(play(START, PASSED, END), scenario, level=1).go()
    assert one(checks, "card-link").state == "skip"
    assert "the thorough check" in (one(checks, "card-link").text or "")
    assert checks.verdict == "pass"
    assert checks.curves == ()


def test_counted_memory_errors(scenario: Scenario, play: Play) -> None:
    scenario.card(ecc="1", ecc_corrected="4", ecc_uncorrected="2", util="0")
    checks = Run(play(START, PASSED, END), scenario).go()
    assert one(checks, "card-errors").state == "fail"
    assert checks.verdict == "fail"


def test_xid_during_test(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="0", xid="13 4")
    seen = tmp_path / "seen"

    def before_sample(count: int) -> None:
        if count == 2:
            scenario.card(xid="48 5")
        if count == 4:
            seen.touch()

    environment = play(START, PASSED, {"until": str(seen)}, END)
    check = one(Run(environment, scenario, before_sample=before_sample).go(), "card-xid")
    assert (check.state, check.value) == ("fail", 48)
    assert "memory" in (check.text or "")
    assert "replaced" in (check.fix or "")


def test_battery_is_a_warning(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    battery = PowerStatus(source="battery", percent=60)
    checks = Run(play(START, PASSED, END), scenario, level=2, power=battery).go()
    assert one(checks, "mains").state == "warn"
    assert "60%" in (one(checks, "mains").text or "")


def gone(pid_file: Path) -> bool:
    """Whether the test program and what it started have ended; a zombie waits for its parent alone."""

    def lives(pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    return not any(lives(int(word)) for word in pid_file.read_text(encoding="ascii").split())


def test_overheating_stops_test(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="99", temp="70")
    pids = tmp_path / "pids"
    begin = {"begin": "memory-test", "device": "cuda:0"}
    environment = play(START, PASSED, {"pid": str(pids)}, begin, {"hang": True})

    def heat(event: Any) -> None:
        if isinstance(event, HealthProgress) and event.check == "memory-test":
            assert event.temp == 70
            scenario.card(temp="86")  # it slows itself down from 87 on

    started = time.monotonic()
    checks = Run(environment, scenario, level=2).go(heat)
    assert time.monotonic() - started < 30
    assert gone(pids)
    assert one(checks, "memory-test").state == "skip"
    assert "too hot" in (one(checks, "memory-test").text or "")
    assert (one(checks, "card-heat").state, one(checks, "card-heat").value) == ("fail", 86)
    assert "the free memory, bit by bit" in checks.leaves_out


def test_lost_gpu_ends_test(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="99")
    environment = play(START, PASSED, {"begin": "load", "device": "cuda:0"}, {"hang": True})

    def fall(event: Any) -> None:
        if isinstance(event, HealthProgress) and event.check == "load":
            scenario.card(util="!15", temp="!15", mem_used="!15", power="!15")

    checks = Run(environment, scenario, level=3).go(fall)
    assert one(checks, "load").state == "skip"
    assert "no longer responded" in (one(checks, "load").text or "")
    assert one(checks, "card-answers").state == "fail"


@pytest.mark.parametrize("deaf", [False, True], ids=["polite", "deaf"])
def test_cancel_stops_at_once(scenario: Scenario, play: Play, tmp_path: Path, deaf: bool) -> None:
    scenario.card()
    pids = tmp_path / "pids"
    lines = [{"deaf": True}] if deaf else []
    environment = play(*lines, START, PASSED, {"pid": str(pids)}, {"begin": "load", "device": "cuda:0"}, {"hang": True})
    cancel = threading.Event()
    cancelled_at = 0.0

    def stop(event: Any) -> None:
        nonlocal cancelled_at
        if isinstance(event, HealthProgress) and event.check == "load":
            cancelled_at = time.monotonic()
            cancel.set()

    with pytest.raises(Cancelled):
        Run(environment, scenario, level=3).go(stop, cancel)
    assert (
        time.monotonic() - cancelled_at < (2 if deaf else 0) + 1 + 4
    )  # a second is meant; a busy machine takes longer
    assert gone(pids)


def test_no_card_and_no_driver(scenario: Scenario, play: Play) -> None:
    scenario.set(init="!12")
    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}]}}
    checks = Run(play(cpu, PASSED, END), scenario).go()
    assert one(checks, "driver").state == "skip"
    assert checks.verdict == "warn"


def test_gpu_unseen_by_pytorch(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}]}}
    environment = play(cpu, PASSED, END)
    assert one(Run(environment, scenario).go(), "torch-cuda").state == "fail"
    assert Run(environment, scenario, device="cpu").go().verdict == "pass"


def test_gpu_without_driver(scenario: Scenario, play: Play) -> None:
    scenario.card()
    scenario.set(init="!9")
    checks = Run(play(START, PASSED, END), scenario).go()
    assert one(checks, "driver").state == "fail"
    assert "not running" in (one(checks, "driver").text or "")


def test_cpu_only_result_does_not_cover_gpu(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    cpu = {"start": {"torch": "2.13.0+cpu", "for_cards": False, "devices": [{"id": "cpu"}]}}
    computed = [
        {"check": {"id": which, "state": "pass", "data": {"device": "cpu", **data}}}
        for which, data in (
            ("matmul-bits", {"dtype": "float32", "runs": 2}),
            ("memory-test", {"tested_memory_bytes": 1 << 28, "passes": 5}),
        )
    ]
    checks = Run(play(cpu, PASSED, *computed, END), scenario, level=2).go()
    assert "calculations in each precision, on the CPU only" in checks.covers
    assert "calculations in each precision" in checks.leaves_out
    assert "the free memory, bit by bit" in checks.leaves_out


def test_interrupted_check_names_precision(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    begin = {"begin": "matmul-bits", "device": "cuda:0", "dtype": "bfloat16"}
    check = one(Run(play(START, PASSED, begin, {"exit": 9}), scenario, level=2).go(), "matmul-bits")
    assert "bfloat16" in (check.text or "")
    assert "bfloat16" in Texts("en").translate("check.matmul-bits.skip", check.data)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell who ended a program")
@pytest.mark.parametrize(
    "begun", [[], [START, PASSED, {"begin": "matmul-bits", "device": "cuda:0", "dtype": "bfloat16"}]]
)
def test_killed_program_blames_no_gpu(scenario: Scenario, play: Play, begun: list[dict[str, Any]]) -> None:
    scenario.card(util="0")
    checks = Run(play(*begun, {"killed": True}), scenario, level=2).go()
    (failed,) = [check for check in checks.checks if check.state == "fail"]
    assert (failed.id, checks.verdict) == ("test-end", "fail")
    assert "nothing about the card" in (failed.text or "")
    assert states(checks)["matmul-bits" if begun else "torch-import"] == "skip"


@pytest.mark.parametrize(
    ("lines", "check_id", "expected"),
    [
        (
            [START, PASSED, {"begin": "matmul-bits", "device": "cuda:0"}, {"exit": 9}],
            "matmul-bits",
            "crashed during the check",
        ),
        ([{"exit": 0}], "torch-import", "unexpected answer"),
        ([START, PASSED, {"begin": "memory-test", "device": "cuda:0"}, {"hang": True}], "memory-test", "time limit"),
    ],
    ids=["dies", "says nothing", "hangs"],
)
def test_crashed_program(
    scenario: Scenario, play: Play, lines: list[dict[str, Any]], check_id: str, expected: str
) -> None:
    scenario.card(util="0")
    checks = Run(play(*lines), scenario, level=2, time_limit=5.0 if expected == "time limit" else 60.0).go()
    assert checks.verdict == "fail"
    assert one(checks, check_id).state == "fail"
    assert expected in (one(checks, check_id).text or "")


def test_hanging_import_times_out_early(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    checks = Run(play({"begin": "torch-import"}, {"hang": True}), scenario, start_limit=2.0, time_limit=3000.0).go()
    assert one(checks, "torch-import").state == "fail"
    assert "time limit" in (one(checks, "torch-import").text or "")


def test_unknown_check_ids_are_ignored(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    strange = {"check": {"id": "driver", "state": "fail", "data": {}}}
    checks = Run(play(START, PASSED, strange, {"begin": "x"}, {"nothing": 1}, END), scenario).go()
    assert one(checks, "driver").state == "pass"


def test_missing_device(scenario: Scenario, play: Play) -> None:
    scenario.card()
    run = Run(play({"missing": "cuda:3", "have": ["cpu", "cuda:0"]}, {"exit": 3}), scenario, device="cuda:3")
    with pytest.raises(AppError) as caught:
        run.go()
    assert (caught.value.code, caught.value.exit_code) == ("health-no-device", 2)
    assert "cpu, cuda:0" in Texts("en").error_text(caught.value)


def test_no_environment_and_no_torch(scenario: Scenario, tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        Run(tmp_path / "nothing", scenario).go()
    assert caught.value.code == "environment-missing"
    checks = Run(environment_with(tmp_path / "env", None), scenario).go()
    assert "No module named 'torch'" in (one(checks, "torch-import").text or "")


def test_only_requested_gpu_is_tested(scenario: Scenario, play: Play) -> None:
    scenario.card(util="99", temp="60")
    scenario.card(1, util="0", temp="40")
    environment = play(START, PASSED, END)
    both = Run(environment, scenario, level=2).go()
    assert [curve.gpu for curve in both.curves] == [0]
    alone = Run(environment, scenario, level=2, device="cuda:0").go()
    assert [check.value for check in alone.checks if check.id == "card-heat"] == [60]


def test_slowing_load_is_a_warning(scenario: Scenario, play: Play) -> None:
    scenario.card(util="99")
    kinds = ("float32", "float16")
    lines = [
        {
            "load": {
                "t": float(second),
                "device": "cuda:0",
                "dtype": kinds[second % 2],
                "tflops": (10.0 if second % 2 else 40.0) * (0.7 if second > 20 else 1.0),
                "errors": 0,
                "done": second / 30,
            }
        }
        for second in range(30)
    ]
    passed = {"check": {"id": "load", "state": "pass", "data": {"device": "cuda:0", "runs": 9, "seconds": 30}}}
    checks = Run(play(START, PASSED, *lines, passed, END), scenario, level=3).go()
    assert (one(checks, "load-speed").state, one(checks, "load-speed").value) == ("warn", 30)
    assert len(checks.curves[0].speed) == 30
    assert "whether the card keeps its speed" in checks.covers


def test_schema_matches_struct() -> None:
    schema = json.loads((resources_dir() / "schemas" / "checks.schema.json").read_text(encoding="utf-8"))
    made = struct_schema(Checks)["$defs"]
    for definition in made.values():
        if "properties" in definition:
            definition["required"] = list(definition["properties"])  # every field is always written
    assert schema["$defs"] == made


def test_every_check_has_a_text() -> None:
    ids = {*CHILD_CHECK_IDS, *(area for areas in AREAS_BY_LEVEL.values() for area in areas)}
    for check_id in ids:
        assert f"check.{check_id}.pass" in load_texts()
        judged = any(f"check.{check_id}.{state}" in load_texts() for state in ("warn", "fail"))
        assert (f"check.{check_id}.fix" in load_texts()) == judged
    for area in {area for areas in AREAS_BY_LEVEL.values() for area in areas} | set(NEVER_COVERED):
        assert f"health.area.{area}" in load_texts()
