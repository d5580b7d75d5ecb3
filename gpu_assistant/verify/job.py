"""Verifies an environment by its files, by uv, and by `child.py` in its own Python.

Do the packages of an environment agree with each other? Asked of uv, which reads them without running them.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import filesystem, json
from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.recommendation import Recommendation
from ..core.results import Check, Checks, CheckState, Verdict
from ..core.types import Value, device_label
from ..core.versions import Version, format_cudnn_version
from ..system.nvml.monitor import NvmlMonitor, NvmlSnapshot
from ..system.processes import DeadlineEvent, gather_with_timeout, run_json_lines
from ..system.variables import falsifying_variables
from .cuda_program import CASE_STARTED, TOOLKIT_CHECK_IDS, HostPrograms, ToolkitProof, prove_toolkit

if TYPE_CHECKING:
    from ..system.base import Processes, ProcessResult, System


TIME_LIMIT_S = 60.0


def check_packages(
    system: Processes, interpreter: Path, *, cancel: threading.Event, log: Callable[[str], None]
) -> Check:
    """The check "packages": every requirement of every installed package is met. Raises Cancelled."""
    from uv import find_uv_bin

    try:
        argv = (find_uv_bin(), "pip", "check", "--no-config", "--no-cache", "--offline", "--python", str(interpreter))
        # The user's configuration of uv does not apply to this environment.
        uv_variables = dict.fromkeys(name for name in os.environ if name.upper().startswith("UV_"))
        process_result = system.run(argv, timeout=TIME_LIMIT_S, environ=uv_variables, cancel=cancel)
    except Cancelled:
        raise
    except (AppError, FileNotFoundError) as error:
        timed_out = isinstance(error, AppError) and error.code == "program-timeout"
        return Check(
            id="packages", state="skip", data={"reason": f"@verify.reason.{'timeout' if timed_out else 'no-uv'}"}
        )
    return _check_from_output(process_result, log)


def _check_from_output(process_result: ProcessResult, log: Callable[[str], None]) -> Check:
    if process_result.returncode == 0:
        return Check(id="packages", state="pass")
    lines = [line.strip() for line in process_result.stderr.splitlines() if line.strip()]
    for line in lines:
        log(line)
    if not any(re.match(r"Found \d+ incompatibilit", line) for line in lines):
        # uv failed because the interpreter does not run, which the next check reports.
        return Check(id="packages", state="skip", data={"reason": "@verify.reason.not-started"})
    conflicts = [line for line in lines if line.startswith("The package")]
    first = conflicts[0] if conflicts else lines[-1]
    return Check(id="packages", state="fail", value=len(conflicts), data={"count": len(conflicts), "reason": first})


CHILD = Path(__file__).with_name("child.py")
TENSORFLOW_CHILD = Path(__file__).with_name("child_tensorflow.py")
EXTENSION_CHILD = Path(__file__).with_name("child_extension.py")
# Beside much other work on two cores it takes two minutes.
EXTENSION_TIME_LIMIT_S = 900.0
NVML_TIMEOUT_S = 10.0
MANIFEST = "gpu-assistant.json"
# The child writes its first line before it imports anything large, and uv has just started the same interpreter.
FIRST_LINE_TIMEOUT_S = 30.0

TORCH_CHECK_IDS = (
    "torch-import",
    "torch-variant",
    "cpu-compute",
    "torch-cuda",
    "cuda-version",
    "device-query",
    "device-compute",
    "cudnn",
    "copy-bandwidth",
)
# Each check depends on those before it.
CHECK_IDS = ("environment", "packages", "python", *TORCH_CHECK_IDS)
# Checks that apply only where they are asked for, on Windows, or where TensorFlow is installed.
TENSORFLOW_CHECK_IDS = ("tensorflow-import", "tensorflow-compute", "tensorflow-devices")
# The check of NVIDIA's driver, where it answers and has a card.
DRIVER_CHECK_ID = "driver"
CASE_OLD_DRIVER = "old"
# The check of NVIDIA's libraries, where the environment has any.
LIBRARIES_CHECK_ID = "cuda-libraries"
# What finds no card where the driver's kernel module is of another version than its library, or not loaded, and the
# reasons that CUDA has for the latter: to it that is a computer without a card.
DRIVER_CHECK_IDS = ("torch-cuda", "tensorflow-devices", "cuda-run")
NO_DEVICE_REASONS = frozenset(f"@verify.reason.{name}no-device" for name in ("", "tensorflow-", "program-"))
# Checks of an environment with a CUDA Toolkit.
EXTENSION_CHECK_ID = "torch-extension"
ALL_CHECK_IDS = (
    *(*CHECK_IDS, DRIVER_CHECK_ID, "files", "visual-cpp", LIBRARIES_CHECK_ID, *TENSORFLOW_CHECK_IDS),
    *(*TOOLKIT_CHECK_IDS, EXTENSION_CHECK_ID),
)


class _Manifest(Struct, frozen=True):
    recommendation: Recommendation | None = None


class _ChildMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """One JSON line of the child."""

    begin: str | None = None
    check: Check | None = None
    end: bool = False


class FileProgress(Struct, frozen=True, kw_only=True):
    """Bytes of the environment's files that were compared, of all."""

    done: int
    total: int


class FileFindings(Struct, frozen=True, kw_only=True):
    """The files of an environment that differ from their packages, and those among them that no package lists."""

    corrupt: tuple[str, ...]
    unlisted: tuple[str, ...]


# Of an environment's folder; the function is called with the bytes read and those of all. Raises AppError, Cancelled.
FileChecker = Callable[[Path, threading.Event, Callable[[int, int], None]], FileFindings]


class VerifyJob:
    """Verifies one environment; reports each `Check` as it completes.

    `time_limit` in seconds is for all programs run in the environment: the first import of PyTorch from a slow disk,
    with a virus scanner, takes a minute. `first_line_timeout` in seconds is for the child's first message, which it
    writes before it imports anything large; without one it hangs. With `check_files` every file of every package is
    read, too; `FileProgress` is reported meanwhile. With `toolkit` a program and a PyTorch extension are compiled.
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        *,
        time_limit: float = 300.0,
        first_line_timeout: float = FIRST_LINE_TIMEOUT_S,
        check_files: FileChecker | None = None,
        toolkit: ToolkitProof | None = None,
    ) -> None:
        self.environment = environment
        self._system = system
        self._toolkit = toolkit
        self._check_files = check_files
        self._time_limit, self._first_line_timeout = time_limit, first_line_timeout

    def run(self, context: JobContext[Any]) -> Checks:
        """Run all checks; anything broken is a failed check, not an exception.

        Raises AppError("environment-missing") where there is no such folder, and Cancelled.
        """
        if not self.environment.is_dir():
            raise AppError("environment-missing", path=str(self.environment))
        results: list[Check] = []

        def report(check: Check) -> None:
            results.append(check)
            context.report(check)

        context.check_cancelled()
        interpreter = self._system.environment_python(self.environment)
        recommendation, check = self._check_environment(interpreter)
        tensorflow = recommendation.tensorflow if recommendation is not None else None
        report(check)
        if check.state != "fail":
            if self._check_files is not None:
                report(self._file_check(self._check_files, context))
            self._check_packages_and_torch(interpreter, recommendation, report, context)
            if tensorflow is not None:
                child_arguments = ["--version", tensorflow.version, *(["--gpu"] if tensorflow.gpu else [])]
                self._run_child(
                    [interpreter, TENSORFLOW_CHILD, *child_arguments], TENSORFLOW_CHECK_IDS[0], report, context
                )
            if self._toolkit is not None:
                self._prove_toolkit(self._toolkit, recommendation, interpreter, report, context)
        reported_ids = {check.id for check in results}
        for check_id in _expected_ids(recommendation):
            if check_id not in reported_ids:
                report(_make_check(check_id, "skip", reason="@verify.reason.earlier"))
        return Checks(
            schema="gpu-assistant/checks/1",
            verdict=worst_state(results),
            checks=tuple(results),
            cleared=falsifying_variables(os.environ),
        )

    def _check_packages_and_torch(
        self,
        interpreter: Path,
        recommendation: Recommendation | None,
        report: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """uv reads the packages and the driver is asked while PyTorch is imported, which keeps one core busy. Their
        checks are reported first.
        """
        lines: list[str] = []
        pending: list[Future[Check | None]] = []

        def report_in_order(check: Check | None) -> None:
            while pending:
                first = pending.pop(0).result()
                while lines:
                    context.log(lines.pop(0))
                if first is not None:
                    report(first)
            if check is not None:
                report(check)

        packages = partial(check_packages, self._system, interpreter, cancel=context.cancel, log=lines.append)
        with ThreadPoolExecutor(2, "packages") as threads:
            pending.append(threads.submit(packages))
            if _uses_nvidia(recommendation):
                pending.append(threads.submit(check_driver, self._system, recommendation))
            self._run_child([interpreter, CHILD, *_child_arguments(recommendation)], "python", report_in_order, context)
            report_in_order(None)

    def _prove_toolkit(
        self,
        toolkit: ToolkitProof,
        recommendation: Recommendation | None,
        interpreter: Path,
        report: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """The checks of the toolkit, and with the compilers that it found an extension of PyTorch."""
        capabilities = _card_capabilities(self._system)
        programs = prove_toolkit(
            toolkit,
            capabilities,
            self._system,
            cancel=context.cancel,
            report=lambda check: report(_with_driver_state(check, self._system)),
            log=context.log,
        )
        if recommendation is not None and recommendation.pytorch is None:
            return
        if programs is None:
            reason = "@verify.reason.earlier" if toolkit.folder is None else "@verify.reason.no-compiler"
            report(_make_check(EXTENSION_CHECK_ID, "skip", reason=reason))
            return
        self._run_child(
            [interpreter, EXTENSION_CHILD, *_extension_arguments(programs, capabilities)],
            EXTENSION_CHECK_ID,
            report,
            context,
            time_limit=EXTENSION_TIME_LIMIT_S,
        )

    def _check_environment(self, interpreter: Path) -> tuple[Recommendation | None, Check]:
        """The recommendation in the environment's manifest, if any, and the check "environment"."""
        folder = str(self.environment)
        environment_markers = (self.environment / "pyvenv.cfg", self.environment / "conda-meta")
        if not interpreter.is_file() or not any(marker.exists() for marker in environment_markers):
            return None, _make_check("environment", "fail", value=folder, reason="@verify.reason.no-interpreter")
        try:
            manifest = json.decode(filesystem.read_bytes(self.environment / MANIFEST), _Manifest)
        except FileNotFoundError:
            # An environment made by other means has no manifest; it is not worse for that.
            return None, _make_check("environment", "pass", value=folder)
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return None, _make_check("environment", "warn", value=folder, reason="@verify.reason.record-unreadable")
        return manifest.recommendation, _make_check("environment", "pass", value=folder)

    def _file_check(self, check_files: FileChecker, context: JobContext[Any]) -> Check:
        """The check "files": every file has the content that its package came with, and belongs to a package."""
        findings = check_files(
            self.environment, context.cancel, lambda done, total: context.report(FileProgress(done=done, total=total))
        )
        for name in (*findings.corrupt, *findings.unlisted):
            context.log(name)
        state: CheckState = "fail" if findings.corrupt else "warn" if findings.unlisted else "pass"
        if state == "pass":
            return Check(id="files", state="pass")
        names = findings.corrupt or findings.unlisted
        return Check(id="files", state=state, value=len(names), data={"count": len(names), "reason": names[0]})

    def _run_child(
        self,
        command: list[str | Path],
        current_check: str,
        report: Callable[[Check], None],
        context: JobContext[Any],
        *,
        time_limit: float | None = None,
    ) -> None:
        """Run a program in the environment's Python; `current_check` fails where it ends before its first message."""
        has_ended = False
        reported_ids: set[str] = set()
        device_names = _DeviceNames()
        deadline = DeadlineEvent(context.cancel, self._first_line_timeout)

        def handle_message(message: _ChildMessage) -> None:
            nonlocal current_check, has_ended
            deadline.extend(math.inf)
            has_ended = has_ended or message.end
            if message.begin in ALL_CHECK_IDS:
                current_check = str(message.begin)
            if message.check is not None and message.check.id in ALL_CHECK_IDS:
                reported_ids.add(message.check.id)
                check = _with_cudnn_version(device_names.with_device_name(message.check))
                report(_with_driver_state(check, self._system))

        try:
            process_result = run_json_lines(
                self._system,
                command,
                _ChildMessage,
                handle_message,
                timeout=time_limit or self._time_limit,
                cancel=deadline,
                log=context.log,
            )
        except Cancelled:
            if deadline.cancelled:
                raise
            report(_make_check(current_check, "fail", reason=_FAILURE_REASONS["program-timeout"]))
            return
        except AppError as error:
            if error.code not in _FAILURE_REASONS:
                raise
            report(_make_check(current_check, "fail", reason=_FAILURE_REASONS[error.code]))
            return
        if not has_ended:
            reason = "@verify.reason.crashed" if process_result.returncode or reported_ids else "@verify.reason.garbage"
            report(_make_check(current_check, "fail", reason=reason))


class _DeviceNames:
    """Adds GPU names to checks: the name alone, or after the GPU's number where there are several."""

    def __init__(self) -> None:
        self._has_several = False
        self._names: dict[str, str] = {}

    def with_device_name(self, check: Check) -> Check:
        """The check with its GPU's name, which is taken, with the number of GPUs, from earlier checks."""
        count, device, name = (check.data.get(key) for key in ("devices", "device", "name"))
        self._has_several = count > 1 if isinstance(count, int) else self._has_several
        if not isinstance(device, str):
            return check
        case = {"case": "named"} if check.id == "device-query" and isinstance(name, str) else {}
        if isinstance(name, str):
            self._names[device] = name
        label = device_label(device, self._names.get(device), several=self._has_several)
        return replace(check, data={**check.data, "device": label, **case})


_FAILURE_REASONS = {
    "program-endless": "@verify.reason.garbage",
    "program-timeout": "@verify.reason.timeout",
    "program-missing": "@verify.reason.not-started",
    "program-refused": "@verify.reason.not-started",
}


def _expected_ids(recommendation: Recommendation | None) -> Iterator[str]:
    """The figures that every result about an environment has."""
    torch_excluded = recommendation is not None and recommendation.pytorch is None
    yield from (check_id for check_id in CHECK_IDS if not (torch_excluded and check_id in TORCH_CHECK_IDS))
    if recommendation is not None and recommendation.tensorflow is not None:
        yield from TENSORFLOW_CHECK_IDS


def _child_arguments(recommendation: Recommendation | None) -> list[str]:
    """The child's command line, with the versions that were recommended."""
    if recommendation is None:
        return []
    torch = recommendation.pytorch
    flags = ["--without-torch"] if torch is None else []
    if torch is not None and recommendation.accelerator == "cpu":
        flags.append("--on-cpu")
    options = {
        "--python": recommendation.python,
        "--torch": torch.version if torch else None,
        "--variant": torch.variant if torch else None,
        "--cuda": torch.cuda if torch else None,
    }
    return [*flags, *(argument for name, value in options.items() if value is not None for argument in (name, value))]


def _uses_nvidia(recommendation: Recommendation | None) -> bool:
    """Whether the environment was made for an NVIDIA card, or by other means."""
    if recommendation is None or recommendation.accelerator == "cuda":
        return True
    return recommendation.tensorflow is not None and recommendation.tensorflow.gpu


def check_driver(system: System, recommendation: Recommendation | None) -> Check | None:
    """The check "driver": NVIDIA's driver answers, and is no older than this environment needs.

    None without an answer or a card: then the checks that compute say what is wrong.
    """
    snapshot = _nvml_snapshot(system)
    if snapshot is None or not snapshot.gpus:
        return None
    version, minimum = snapshot.driver.version, recommendation.driver.minimum if recommendation is not None else None
    running, needed = (Version.parse(each) if each is not None else None for each in (version, minimum))
    is_old = running is not None and needed is not None and running < needed
    data: dict[str, Value] = {"value": version, "expected": minimum}
    if is_old:
        data["case"] = CASE_OLD_DRIVER
    return Check(id=DRIVER_CHECK_ID, state="warn" if is_old else "pass", value=version, expected=minimum, data=data)


def _nvml_snapshot(system: System) -> NvmlSnapshot | None:
    """The driver and its GPUs; None where it does not answer in time.

    `snapshot` closes what it opens: closing here would wait for a call that hangs.
    """
    return gather_with_timeout({"nvml": NvmlMonitor(system).snapshot}, NVML_TIMEOUT_S).get("nvml")


def _card_capabilities(system: System) -> tuple[str, ...]:
    """The compute capabilities of the NVIDIA cards, as the driver's library says; none where it does not answer."""
    snapshot = _nvml_snapshot(system)
    gpus = snapshot.gpus if snapshot is not None else ()
    return tuple(dict.fromkeys(gpu.compute_capability for gpu in gpus if gpu.compute_capability is not None))


def _with_cudnn_version(check: Check) -> Check:
    """The check of cuDNN with its version as people write it, "9.19.0", in place of cuDNN's own number, 91900."""
    number = check.data.get("value")
    if check.id != "cudnn" or not isinstance(number, int):
        return check
    version = format_cudnn_version(number) or str(number)
    return replace(check, value=version, data={**check.data, "value": version})


def _with_driver_state(check: Check, system: System) -> Check:
    """A check that found no card, with the reason where NVML knows it: the driver was changed without a restart, or is
    installed and not running.
    """
    case = check.data.get("case")
    if check.id not in DRIVER_CHECK_IDS or not (check.state == "fail" or case == CASE_STARTED):
        return check
    monitor = NvmlMonitor(system)
    gather_with_timeout({"nvml": monitor.snapshot}, NVML_TIMEOUT_S)
    state = monitor.state
    if state == "version-mismatch":
        reason = "@verify.reason.driver-mismatch"
    elif state == "not-loaded" and check.data.get("reason") in NO_DEVICE_REASONS:
        reason = "@verify.reason.no-driver"
    else:
        return check
    # The text of another case would say something else.
    return replace(check, data={**check.data, "case": case if case == CASE_STARTED else None, "reason": reason})


def _extension_arguments(programs: HostPrograms, capabilities: tuple[str, ...]) -> Iterator[str | Path]:
    yield from ("--toolkit", programs.toolkit, "--compiler", programs.compiler)
    yield from ("--major", str(programs.nvcc_major))
    if capabilities:
        yield from ("--capabilities", ";".join(capabilities))


def _make_check(check_id: str, state: CheckState, *, value: str | None = None, reason: str | None = None) -> Check:
    return Check(
        id=check_id, state=state, value=value, data={"value": value, "expected": None, "reason": reason, "device": None}
    )


def worst_state(checks: list[Check]) -> Verdict:
    """The worst state; skipped checks do not count."""
    states = {check.state for check in checks}
    return "fail" if "fail" in states else "warn" if "warn" in states else "pass"


def first_failure(checks: Checks, recommendation: Recommendation | None) -> Check | None:
    """The first failed check without which an environment is of no use; None where it is of use.

    It is all the same without an extension, and where a toolkit that was here before does not compile.
    """
    is_kept = recommendation is not None and recommendation.cuda_toolkit.action == "keep"
    optional_ids = {EXTENSION_CHECK_ID, *(TOOLKIT_CHECK_IDS if is_kept else ())}
    return next((check for check in checks.checks if check.state == "fail" and check.id not in optional_ids), None)
