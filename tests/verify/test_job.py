"""Environments that work and environments that do not: real processes, and for each fault a sentence."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jsonschema
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts
from gpu_assistant.verify.child import unavailable_reason
from gpu_assistant.verify.child_protocol import exception_summary
from gpu_assistant.verify.job import CHECK_IDS, CHILD, VerifyJob, _DeviceNames

from ..fakes.environments import FALSIFIED_TORCH, environment_with, site_packages, torch_with_card

HALF_TORCH = """
import types
__version__ = "2.13.0+cpu"
version = types.SimpleNamespace(cuda=None, hip=None)
"""


def verified(environment: Path, *, time_limit: float = 60.0, log: list[str] | None = None) -> Checks:
    events: list[Check] = []
    lines: list[str] = [] if log is None else log
    checks = VerifyJob(environment, current_system(), time_limit=time_limit).run(
        JobContext(events.append, lines.append)
    )
    assert checks.checks == tuple(events), "every check is told as it comes"
    return localized(checks)


def localized(checks: Checks) -> Checks:
    """The same with its English sentences; every one exists in both languages, and the whole fits the schema."""
    schema = json.loads((resources_dir() / "schemas" / "checks.schema.json").read_text(encoding="utf-8"))
    for language in ("zh_CN", "en"):
        spoken = Texts(language).localize_checks(checks)
        jsonschema.Draft202012Validator(schema).validate(json.loads(encode(spoken)))
        for check in spoken.checks:
            assert check.text
            assert bool(check.fix) == (check.state in ("warn", "fail"))
    assert {check.id for check in checks.checks} >= set(CHECK_IDS)
    return spoken


def one(checks: Checks, check_id: str) -> Check:
    (check,) = [check for check in checks.checks if check.id == check_id]
    return check


def states(checks: Checks) -> dict[str, str]:
    return {check.id: check.state for check in checks.checks}


@pytest.mark.real_install
def test_real_environment(torch_environment: Path) -> None:
    checks = verified(torch_environment, time_limit=200)
    assert checks.verdict == "pass"
    results = states(checks)
    for check_id in ("environment", "packages", "python", "torch-import", "torch-variant", "cpu-compute"):
        assert results[check_id] == "pass", check_id
    assert results["torch-cuda"] == "skip"
    assert "CPU build" in (one(checks, "torch-cuda").text or "")
    assert one(checks, "torch-variant").value == one(checks, "torch-variant").expected


def test_missing_environment(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        VerifyJob(tmp_path / "nothing", current_system()).run(JobContext())
    assert (caught.value.code, caught.value.exit_code) == ("environment-missing", 1)
    assert str(tmp_path) in Texts("en").error_text(caught.value)


def test_folder_without_environment(tmp_path: Path) -> None:
    checks = verified(tmp_path)
    assert checks.verdict == "fail"
    assert (
        one(checks, "environment").text == f"{tmp_path} is not a Python environment: there is no Python in this folder."
    )
    assert {state for check_id, state in states(checks).items() if check_id != "environment"} == {"skip"}


def test_without_torch(tmp_path: Path) -> None:
    checks = verified(environment_with(tmp_path / "env", None))
    assert checks.verdict == "fail"
    assert states(checks)["python"] == "pass"
    assert "No module named 'torch'" in (one(checks, "torch-import").text or "")
    assert one(checks, "cpu-compute").state == "skip"


def test_import_error_is_quoted(tmp_path: Path) -> None:
    torch = 'raise OSError("[WinError 126] 找不到指定的模块 shm.dll\\nand much more")'
    checks = verified(environment_with(tmp_path / "环境 one", torch))
    assert one(checks, "torch-import").text == "PyTorch does not load: OSError: [WinError 126] 找不到指定的模块 shm.dll"


def test_falsifying_variables_are_cleared_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    environment = environment_with(tmp_path / "env", FALSIFIED_TORCH)
    checks = verified(environment)
    assert one(checks, "torch-import").data["reason"] == "RuntimeError: CUDA_LAUNCH_BLOCKING is None"
    assert checks.cleared == ("CUDA_LAUNCH_BLOCKING",)


def test_crash_fails_running_check(tmp_path: Path) -> None:
    log: list[str] = []
    torch = 'import os, sys; print("dying", file=sys.stderr, flush=True); os._exit(5)'
    checks = verified(environment_with(tmp_path / "env", torch), log=log)
    assert one(checks, "torch-import").text == "PyTorch does not load: Python crashed during the check"
    assert "dying" in log
    assert states(checks)["python"] == "pass"


def test_crash_after_first_checks(tmp_path: Path) -> None:
    torch = HALF_TORCH + "import os\nfloat32 = 0\ndef arange(*a, **k): os._exit(7)"
    checks = verified(environment_with(tmp_path / "env", torch))
    assert states(checks)["torch-import"] == "pass"
    assert one(checks, "cpu-compute").data["reason"] == "@verify.reason.crashed"


def test_broken_torch_fails_at_its_check(tmp_path: Path) -> None:
    checks = verified(environment_with(tmp_path / "env", HALF_TORCH))
    assert one(checks, "cpu-compute").text is not None
    assert "AttributeError" in str(one(checks, "cpu-compute").data["reason"])
    assert one(checks, "torch-cuda").state == "skip"


def test_library_output_is_ignored(tmp_path: Path) -> None:
    torch = HALF_TORCH + 'import os\nprint("hello")\nprint(\'{"end": true}\')\nos.write(1, b"\\xff\\xfe{[[\\n")'
    checks = verified(environment_with(tmp_path / "env", torch))
    assert states(checks)["torch-import"] == "pass"
    assert one(checks, "cpu-compute").state == "fail"


def test_garbage_output(tmp_path: Path) -> None:
    """Something that runs in every start of this Python takes the conversation over."""
    environment = environment_with(tmp_path / "env", None)
    noise = 'import os, sys; ("child" in str(sys.orig_argv)) and (os.write(1, b"{[\\xff garbage\\n" * 99), os._exit(0))'
    (site_packages(environment) / "noise.pth").write_text(noise + "\n", encoding="utf-8")
    log: list[str] = []
    checks = verified(environment, log=log)
    assert one(checks, "python").text == "The environment's Python does not run: Python gave an unexpected answer."
    assert sum("garbage" in line for line in log) == 99


def test_a_hang_ends_at_the_time_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    checks = verified(environment_with(tmp_path / "env", "import threading; threading.Event().wait()"), time_limit=8)
    assert time.monotonic() - started < 30
    assert one(checks, "torch-import").text == "PyTorch does not load: there was no answer within the time limit"


@pytest.mark.skipif(current_system().name == "windows", reason="the silent interpreter is a shell script")
def test_silent_python_times_out_early(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", "")
    interpreter = environment / "bin" / "python"
    interpreter.unlink()
    interpreter.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    interpreter.chmod(0o755)
    started = time.monotonic()
    with patch("gpu_assistant.verify.job.TIME_LIMIT_S", 2.0):
        checks = localized(VerifyJob(environment, current_system(), first_line_timeout=2.0).run(JobContext()))
    assert time.monotonic() - started < 30
    assert (one(checks, "packages").state, one(checks, "python").state) == ("skip", "fail")
    for check_id in ("packages", "python"):
        assert "there was no answer within the time limit" in (one(checks, check_id).text or "")


def test_packages_are_read_while_pytorch_is_imported(tmp_path: Path) -> None:
    """uv asks the environment's Python, which answers here only once PyTorch is being imported."""
    importing = tmp_path / "importing"
    environment = environment_with(tmp_path / "env", f"open({str(importing)!r}, 'w').close()\n{HALF_TORCH}")
    (site_packages(environment) / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "patience = 2000 if '-c' in sys.orig_argv else 0\n"
        f"while patience and not os.path.exists({str(importing)!r}):\n"
        "    patience -= 1\n"
        "    time.sleep(0.01)\n"
        "    patience or os._exit(1)\n",
        encoding="utf-8",
    )
    checks = verified(environment)
    assert states(checks)["packages"] == "pass"
    ids = [check.id for check in checks.checks]
    assert ids.index("packages") < ids.index("python") < ids.index("torch-import")


def test_cancel_ends_it(tmp_path: Path) -> None:
    cancel = threading.Event()

    def on_event(check: Check) -> None:
        if check.id == "python":
            cancel.set()

    job = VerifyJob(environment_with(tmp_path / "env", "import threading; threading.Event().wait()"), current_system())
    with pytest.raises(Cancelled):
        job.run(JobContext(on_event, cancel=cancel))


def manifest(environment: Path, **pytorch: str) -> None:
    recommendation = {
        "schema": "gpu-assistant/recommendation/1",
        "goal": "pytorch",
        "accelerator": "cuda",
        "python": "2.7",
        "pytorch": pytorch,
        "driver": {"action": "none"},
        "cuda_toolkit": {"action": "none"},
        "cudnn": {"action": "none"},
    }
    text = json.dumps({"schema": "gpu-assistant/environment/1", "recommendation": recommendation})
    (environment / "gpu-assistant.json").write_text(text, encoding="utf-8")


def test_bytecode_is_cached_in_environment_only(tmp_path: Path) -> None:
    for path in CHILD.parent.rglob("child*.pyc"):
        path.unlink()
    verified(environment_with(tmp_path / "env", HALF_TORCH))
    assert not list(CHILD.parent.rglob("child*.pyc"))
    assert list((tmp_path / "env").rglob("torch/__pycache__/*.pyc"))


def test_replaced_build_fails(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", HALF_TORCH)
    manifest(environment, version="2.13.0", variant="cu126")
    checks = verified(environment)
    build = one(checks, "torch-variant")
    assert (build.state, build.value, build.expected) == ("fail", "2.13.0+cpu", "2.13.0+cu126")
    assert build.fix == "Install again to get 2.13.0 (CUDA 12.6 build) back."
    assert one(checks, "python").state == "warn"


@pytest.mark.parametrize("content", [b"", b"{", b'{"recommendation": 5}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_record_is_a_warning(tmp_path: Path, content: bytes) -> None:
    environment = environment_with(tmp_path / "env", HALF_TORCH)
    (environment / "gpu-assistant.json").write_bytes(content)
    checks = verified(environment)
    assert one(checks, "environment").state == "warn"
    assert one(checks, "torch-import").state == "pass"


def test_package_conflict(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", HALF_TORCH)
    info = site_packages(environment) / "demo-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(
        "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: absent>=2\n", encoding="utf-8"
    )
    info.joinpath("WHEEL").write_text("Wheel-Version: 1.0\n", encoding="utf-8")
    info.joinpath("RECORD").write_text("", encoding="utf-8")
    checks = verified(environment)
    packages = one(checks, "packages")
    assert (packages.state, packages.value) == ("fail", 1)
    assert "absent>=2" in (packages.text or "")


def test_interpreter_does_not_start(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    interpreter = current_system().environment_python(environment)
    interpreter.parent.mkdir(parents=True)
    interpreter.write_bytes(b"this is no program")
    interpreter.chmod(0o755)
    (environment / "pyvenv.cfg").write_text("", encoding="utf-8")
    checks = verified(environment)
    assert one(checks, "python").state == "fail"
    assert one(checks, "packages").state == "skip"


def test_several_gpus_are_numbered() -> None:
    cards = _DeviceNames()
    cards.with_device_name(Check(id="torch-cuda", state="pass", data={"devices": 2}))
    data: dict[str, Any] = {"device": "cuda:1", "name": "NVIDIA GeForce RTX 4060", "memory_bytes": 8 * 2**30}
    seen = cards.with_device_name(Check(id="device-query", state="pass", data=data))
    assert Texts("en").localize_checks(Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(seen,))).checks[
        0
    ].text == ("PyTorch sees GPU 1 (NVIDIA GeForce RTX 4060) with 8 GB.")
    later = cards.with_device_name(Check(id="device-compute", state="pass", data={"device": "cuda:1"}))
    assert later.data["device"] == "GPU 1 (NVIDIA GeForce RTX 4060)"


def test_gpu_passes(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", torch_with_card())
    manifest(environment, version="2.13.0", variant="cu126", cuda="12.6")
    checks = verified(environment)
    assert [check for check in checks.checks if check.state != "pass"] == [one(checks, "python")]
    assert one(checks, "device-query").text == "PyTorch sees NVIDIA GeForce RTX 4060 with 8 GB."
    assert one(checks, "device-query").data["compute_capability"] == "8.9"
    assert one(checks, "cuda-version").value == "12.6"
    assert one(checks, "cudnn").value == "9.10.2"
    assert one(checks, "cudnn").text == "cuDNN 9.10.2 calculates correctly on NVIDIA GeForce RTX 4060."
    speed = one(checks, "copy-bandwidth").value
    assert isinstance(speed, float)
    assert speed > 0


@pytest.mark.parametrize(
    ("fault", "failed", "reason"),
    [
        ("wrong", {"device-compute", "cudnn"}, "@verify.reason.wrong-result"),
        ("no-kernel", {"device-compute"}, "RuntimeError: CUDA error: no kernel image is available"),
        ("no-driver", {"torch-cuda"}, "@verify.reason.no-driver"),
    ],
)
def test_failing_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, failed: set[str], reason: str
) -> None:
    monkeypatch.setenv("FAKE_CARD", fault)
    checks = verified(environment_with(tmp_path / "env", torch_with_card()))
    assert {check.id for check in checks.checks if check.state == "fail"} == failed
    for check_id in failed:
        assert str(one(checks, check_id).data["reason"]).startswith(reason)
    assert states(checks)["cpu-compute"] == "pass"


class RefusingTorch:
    """Torch whose CUDA does not start, with the words of the real one."""

    def __init__(self, message: str) -> None:
        self.cuda, self._message = self, message

    def init(self) -> None:
        raise RuntimeError(self._message)


@pytest.mark.parametrize(
    ("recorded", "visible", "reason"),
    [
        ("no-driver", None, "@verify.reason.no-driver"),
        ("driver-too-old", None, "@verify.reason.driver-too-old"),
        # Hiding the cards is not why an old driver does not serve.
        ("driver-too-old", "", "@verify.reason.driver-too-old"),
        ("driver-stub", None, "@verify.reason.driver-stub"),
        (None, "", "@verify.reason.hidden-devices"),
        (None, "-1", "@verify.reason.hidden-devices"),
        (None, "0", "@verify.reason.no-device"),
    ],
)
def test_cuda_that_does_not_start_is_named(
    monkeypatch: pytest.MonkeyPatch, recorded: str | None, visible: str | None, reason: str
) -> None:
    folder = Path(__file__).parents[1] / "fixtures/cuda"
    message = "No CUDA GPUs are available" if recorded is None else (folder / f"{recorded}.txt").read_text("utf-8")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert unavailable_reason(RefusingTorch(message)) == reason
    if reason.startswith("@"):
        assert Texts("zh_CN").translate(reason[1:]) != Texts("en").translate(reason[1:])


RECORDED = Path(__file__).parents[1] / "fixtures/cuda"
RUNTIME_ERRORS = {
    int(line.split()[0]): line.split(None, 2)[2]
    for line in (RECORDED / "runtime-errors.txt").read_text("utf-8").splitlines()
}


@pytest.mark.parametrize(
    ("number", "reason", "fix"),
    [
        (34, "driver-stub", "Remove the folder “stubs” from LD_LIBRARY_PATH, then check again."),
        (802, "driver-not-ready", "Start the service nvidia-fabricmanager, then check again."),
        (803, "driver-mismatch", "Restart the computer, then check again."),
        (804, "driver-compat", "or uninstall the package cuda-compat, then check again."),
        (999, "driver-unknown", "Restart the computer, then check again."),
    ],
)
def test_errors_of_the_cuda_runtime_are_named_with_their_mend(number: int, reason: str, fix: str) -> None:
    frame = (RECORDED / "driver-stub.txt").read_text("utf-8").partition("Error 34")[0]
    code = unavailable_reason(RefusingTorch(f"{frame}Error {number}: {RUNTIME_ERRORS[number]}"))
    assert code == f"@verify.reason.{reason}"
    check = Check(id="torch-cuda", state="fail", data={"reason": code})
    checks = Checks(schema="gpu-assistant/checks/1", verdict="fail", checks=(check,))
    assert (Texts("en").localize_checks(checks).checks[0].fix or "").endswith(fix)
    assert Texts("zh_CN").localize_checks(checks).checks[0].fix != Texts("en").localize_checks(checks).checks[0].fix


def test_every_check_has_a_text() -> None:
    for check_id in CHECK_IDS:
        for state in ("pass", "fail"):
            assert f"check.{check_id}.{state}" in load_texts()
        assert f"check.{check_id}.fix" in load_texts()
        if check_id != "environment":
            assert f"check.{check_id}.skip" in load_texts()


def test_a_library_that_a_rule_of_windows_blocks_is_said() -> None:
    blocked = OSError(22, "An Application Control policy has blocked this file")
    blocked.winerror = 4551  # type: ignore[attr-defined, unused-ignore]
    imported = ImportError("DLL load failed while importing _C: An Application Control policy has blocked this file.")
    for error in (blocked, imported):
        assert exception_summary(error) == "@verify.reason.blocked"
    assert exception_summary(OSError(22, "other")) == "OSError: [Errno 22] other"
