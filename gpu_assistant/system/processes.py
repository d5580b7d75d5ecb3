"""Running programs, the same on every system: lines as they come, a time limit, cancelling, calls that may hang.

How a program is started so that it and all its descendants can be ended is each system's own:
`linux/processes.py`, `windows/processes.py`.

    run_child           a program of ours in an environment's Python, which may misbehave, until it ends or is late
    run_json_lines      each line of its stdout becomes a struct
      System.run        linux/system.py, windows/system.py: their `start_process` goes in
        run_process     a thread reads each stream; the caller's thread collects lines, asks `cancel` and the clock
          ChildProcess  LinuxChildProcess (a session), WindowsChildProcess (a job object): `terminate` ends the tree
"""

from __future__ import annotations

import math
import os
import queue
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, Protocol, TypeVar

import msgspec

from ..core import filesystem, json
from ..core.errors import AppError, Cancelled, os_error_text
from .base import KILLED_RETURNCODE, Processes, ProcessResult
from .variables import falsifying_variables

POLL_INTERVAL_S = 0.05  # how soon a cancel is seen
ORPHANED_OUTPUT_S = 1.0  # how long output may stay open after its program ended, held by a process left behind

MAX_LINE_BYTES = 1024**2  # the longest line of a program of ours has some 100 kB
MAX_OUTPUT_BYTES = 256 * 1024**2  # of a program's whole stdout, and of its stderr
OUTPUT_LIMIT_REACHED = b""  # stands for output beyond these limits: no line is empty

MAX_FOREIGN_LINES = 10_000  # lines of a child that are no messages, before it is terminated
FIRST_CRASH_STATUS = 0xC0000000  # NTSTATUS values of severity "error", as Windows reports an unhandled exception
OUT_OF_MEMORY_MESSAGES = ("MemoryError", "Cannot allocate memory", "failed to map segment")
TORCH_MISSING_MESSAGE = "ModuleNotFoundError: No module named 'torch'"

OutputLine = tuple[int, bytes | None]  # 0 stdout, 1 stderr; None at its end

Key = TypeVar("Key")
Value = TypeVar("Value")
LineMessage = TypeVar("LineMessage")


class StartedProgram(Protocol):
    """What is used of subprocess.Popen, which Windows' own `JobProcess` has, too."""

    @property
    def stdout(self) -> IO[bytes] | None: ...

    @property
    def stderr(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """The exit code once it has ended; raises subprocess.TimeoutExpired."""
        ...


class ChildProcess(Protocol):
    """A started program with everything that it starts."""

    @property
    def process(self) -> StartedProgram: ...

    def terminate(self) -> None:
        """End the whole tree, and return when it has ended."""
        ...

    def close(self) -> None:
        """Release what the system keeps for the child, which has ended."""
        ...


StartProcess = Callable[[Sequence[str], Mapping[str, str], Path | None], ChildProcess]


def run_process(
    start: StartProcess,
    argv: Sequence[str | Path],
    *,
    timeout: float,
    environ: Mapping[str, str | None] | None,
    cwd: Path | None,
    cancel: threading.Event | None,
    on_line: Callable[[str], None] | None,
    fallback_encoding: str = "utf-8",
) -> ProcessResult:
    """What `base.Processes.run` promises. `on_line` is called on the calling thread; what it raises ends the program.

    `fallback_encoding` decodes lines that are not UTF-8.
    """
    command = check_command(argv)
    limits = _RunLimits(command[0], timeout, cancel)
    limits.check()
    try:
        child = start(command, _merged_environ(environ), cwd)
    except OSError as error:
        raise program_missing_error(command[0], os_error_text(error)) from error
    try:
        stdout, stderr = _collect_output(child, limits, on_line, fallback_encoding)
        returncode = _wait_for_returncode(child, limits)
    except BaseException:
        child.terminate()
        raise
    finally:
        child.close()
    return ProcessResult(returncode=returncode, stdout=stdout, stderr=stderr)


def run_to_end(
    start: Callable[[Sequence[str], Mapping[str, str], Path | None, BinaryIO], subprocess.Popen[bytes]],
    argv: Sequence[str | Path],
    *,
    environ: Mapping[str, str | None] | None,
    cwd: Path | None,
    fallback_encoding: str = "utf-8",
) -> ProcessResult:
    """What `base.Processes.run_to_end` promises. The output goes to a file: a pipe would end with us, and what the
    program leaves running could hold it open.
    """
    command = check_command(argv)
    with tempfile.TemporaryFile(prefix="gpu-assistant-") as output:
        try:
            process = start(command, _merged_environ(environ), cwd, output)
        except OSError as error:
            raise program_missing_error(command[0], os_error_text(error)) from error
        returncode = process.wait()
        output.seek(0)
        text = decode_output(filesystem.read_up_to(output, MAX_OUTPUT_BYTES), fallback_encoding).replace("\r\n", "\n")
    return ProcessResult(returncode=returncode, stdout=text, stderr="")


def _merged_environ(changes: Mapping[str, str | None] | None) -> dict[str, str]:
    merged: dict[str, str | None] = {**os.environ, **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}


def check_command(argv: Sequence[str | Path]) -> list[str]:
    """The arguments as text. Raises ValueError for a program that is not named by its full path, and
    AppError("program-missing") for one that is not there.
    """
    command = [str(argument) for argument in argv]
    program = Path(command[0])
    if not program.is_absolute():
        raise ValueError(f"a program is started by its full path, not as {command[0]!r}")
    if not program.is_file() or not os.access(program, os.X_OK):
        raise program_missing_error(command[0], None)
    return command


def check_command_line(argv: Sequence[str | Path]) -> list[str]:
    """The arguments as text, for a command that is stored in one line.

    Raises ValueError for a program that is not named by its full path, and for an argument of several lines.
    """
    arguments = [str(argument) for argument in argv]
    if not arguments or not Path(arguments[0]).is_absolute():
        raise ValueError(f"a program is named by its full path, not as {arguments[:1]!r}")
    if any(re.search(r"[\0\r\n]", argument) for argument in arguments):
        raise ValueError("a command is one line")
    return arguments


def program_missing_error(program: str, detail: str | None) -> AppError:
    """The error of a program that cannot be started; `detail` is what `os_error_text` says of the reason."""
    if detail == "@os.blocked":
        return AppError("program-blocked", program=program)
    return AppError("program-missing", program=program, detail=detail)


def decode_output(data: bytes, fallback_encoding: str = "utf-8") -> str:
    """A program's output as text: UTF-8, else the fallback; bytes that neither has are replaced.

    The wsl.exe that is a part of Windows 10 writes UTF-16 into pipes (https://github.com/microsoft/WSL/issues/4607): no
    other text has zero bytes, and its ASCII has them.
    """
    if _is_utf16(data):
        return data.decode("utf-16-le", errors="replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(fallback_encoding, errors="replace")


def _is_utf16(data: bytes) -> bool:
    """Whether it is UTF-16, low byte first, of whole lines or with more ASCII than Chinese whose lower byte is zero."""
    if b"\0" not in data:
        return False
    return (len(data) % 2 == 0 and data.endswith(b"\n\0")) or data[1::2].count(0) > data[::2].count(0)


def reap_in_background(process: subprocess.Popen[bytes]) -> None:
    """Wait, in a thread, for a program that outlives us.

    Otherwise it would stay a zombie (Linux) or an open handle (Windows) for as long as we run.
    """
    threading.Thread(target=process.wait, name=f"waits for process {process.pid}", daemon=True).start()


class _RunLimits:
    """When a running program has to end."""

    def __init__(self, program: str, timeout: float, cancel: threading.Event | None) -> None:
        self.program = program
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._cancel = cancel

    def check(self) -> None:
        """Raise Cancelled, or AppError("program-timeout")."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        if time.monotonic() >= self._deadline:
            raise AppError("program-timeout", program=self.program, limit_seconds=self._timeout)


def _collect_output(
    child: ChildProcess, limits: _RunLimits, on_line: Callable[[str], None] | None, fallback_encoding: str
) -> tuple[str, str]:
    output_queue: queue.SimpleQueue[OutputLine] = queue.SimpleQueue()
    process = child.process
    streams = [(stream_index, stream) for stream_index, stream in enumerate((process.stdout, process.stderr)) if stream]
    for stream_index, stream in streams:
        # Daemon threads: a pipe that a stray process holds open must not keep us from ending.
        threading.Thread(
            target=_read_lines, args=(stream, stream_index, output_queue), name="program output", daemon=True
        ).start()
    lines_by_stream: tuple[list[str], list[str]] = ([], [])
    open_streams = len(streams)
    ended_at: float | None = None
    while open_streams:
        limits.check()
        try:
            stream_index, line = output_queue.get(timeout=POLL_INTERVAL_S)
        except queue.Empty:
            if process.poll() is None:
                continue
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > ORPHANED_OUTPUT_S:
                child.terminate()
                break
            continue
        if line == OUTPUT_LIMIT_REACHED:
            raise AppError("program-endless", program=limits.program)
        if line is None:
            open_streams -= 1
            continue
        text = decode_output(line, fallback_encoding).replace("\r\n", "\n")
        lines_by_stream[stream_index].append(text)
        if on_line is not None and stream_index == 0:
            on_line(text.rstrip("\n"))
    return "".join(lines_by_stream[0]), "".join(lines_by_stream[1])


def _read_lines(stream: IO[bytes], stream_index: int, output_queue: queue.SimpleQueue[OutputLine]) -> None:
    remaining_bytes = MAX_OUTPUT_BYTES
    with stream:
        for line in _whole_lines(stream):
            remaining_bytes -= len(line)
            if len(line) > MAX_LINE_BYTES or remaining_bytes < 0:
                output_queue.put((stream_index, OUTPUT_LIMIT_REACHED))
                return
            output_queue.put((stream_index, line))
    output_queue.put((stream_index, None))


def _whole_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines, and as much as is too long of one; in UTF-16 the byte of "\\n" is a part of other characters, too."""
    is_utf16 = False
    while line := stream.readline(MAX_LINE_BYTES + 1):
        is_utf16 = is_utf16 or _is_utf16(line)
        while is_utf16 and line.endswith(b"\n") and len(line) <= MAX_LINE_BYTES:
            if len(line) % 2:  # the lower byte of a character
                upper = stream.read(1)
                line += upper
                if upper in (b"\0", b""):
                    break
            more = stream.readline(MAX_LINE_BYTES + 1)
            line += more
            if not more:
                break
        yield line


def _wait_for_returncode(child: ChildProcess, limits: _RunLimits) -> int:
    while True:
        try:
            return child.process.wait(timeout=POLL_INTERVAL_S)
        except subprocess.TimeoutExpired:
            limits.check()


def run_json_lines(
    system: Processes,
    argv: Sequence[str | Path],
    message_type: type[LineMessage],
    on_line: Callable[[LineMessage], None],
    *,
    timeout: float,
    cancel: threading.Event,
    log: Callable[[str], None],
) -> ProcessResult:
    """Run `[python, script, arguments…]` to its end; `on_line` gets each line that decodes as `message_type`.

    Python runs isolated (`-I`): neither the user's site folder nor PYTHONPATH is used. The variables that
    `falsifying_variables` names are removed for it. Other lines and everything on stderr go to the log. Raises what
    `Processes.run` raises.
    """
    python, *arguments = argv

    def handle_line(text: str) -> None:
        try:
            message = json.decode(text, message_type)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            if text.strip():
                log(text.rstrip())
        else:
            on_line(message)

    result = system.run(
        [python, "-I", "-X", "utf8", *arguments],
        timeout=timeout,
        environ=dict.fromkeys(falsifying_variables(os.environ)),
        cancel=cancel,
        on_line=handle_line,
    )
    for text in result.stderr.splitlines():
        log(text)
    return result


class DeadlineEvent(threading.Event):
    """A cancel event that is also set when its time is up, which can be extended (None: no limit)."""

    def __init__(self, cancel: threading.Event, timeout_s: float | None) -> None:
        super().__init__()
        self._cancel = cancel
        self.extend(math.inf if timeout_s is None else timeout_s)

    def extend(self, timeout_s: float) -> None:
        """Set the deadline to so many seconds from now."""
        self.timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s

    def is_set(self) -> bool:
        """Whether it was cancelled or the time is up. It has to be polled: nothing wakes a `wait`."""
        return self._cancel.is_set() or time.monotonic() >= self._deadline

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled, and not merely late."""
        return self._cancel.is_set()


class ChildExit(NamedTuple):
    """How a child ended: exit status (None: it was terminated), number of other lines, last line on stderr."""

    status: int | None
    foreign_lines: int
    last_line: str

    @property
    def reason(self) -> str:
        """A note's code: "killed", "crashed", "stopped"."""
        if self.status == KILLED_RETURNCODE:
            return "killed"
        return (
            "crashed"
            if self.status is not None and (self.status < 0 or self.status >= FIRST_CRASH_STATUS)
            else "stopped"
        )

    @property
    def is_garbled(self) -> bool:
        """Whether it was terminated because it printed nothing but lines that are no messages."""
        return self.status is None and self.foreign_lines > MAX_FOREIGN_LINES


class _TooManyForeignLines(Exception):
    """The child prints nothing but lines that are not messages."""


def run_child(
    system: Processes,
    argv: Sequence[str | Path],
    message_type: type[LineMessage],
    on_message: Callable[[LineMessage], None],
    *,
    deadline: DeadlineEvent,
    log: Callable[[str], None],
) -> ChildExit:
    """Run a program as `run_json_lines` does, until it ends or until its deadline, which `on_message` may extend.

    Raises Cancelled and AppError("program-missing").
    """
    foreign_lines = 0

    def count_foreign_line(text: str) -> None:
        nonlocal foreign_lines
        foreign_lines += 1
        log(text)
        if foreign_lines > MAX_FOREIGN_LINES:
            raise _TooManyForeignLines

    try:
        result = run_json_lines(
            system,
            argv,
            message_type,
            on_message,
            timeout=threading.TIMEOUT_MAX,
            cancel=deadline,
            log=count_foreign_line,
        )
    except _TooManyForeignLines:
        return ChildExit(None, foreign_lines, "")
    except Cancelled:
        if deadline.cancelled:
            raise
        return ChildExit(None, foreign_lines, "")
    except AppError as error:
        if error.code != "program-endless":
            raise
        log(error.code)
        return ChildExit(None, MAX_FOREIGN_LINES + 1, "")
    error_lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return ChildExit(
        result.returncode, foreign_lines - len(result.stderr.splitlines()), error_lines[-1] if error_lines else ""
    )


def torch_load_error(environment: Path, reason: str) -> AppError:
    """The error for a torch that does not load in a child, whose exception is `reason`."""
    if reason == TORCH_MISSING_MESSAGE:
        return AppError("bench-torch-missing", path=str(environment))
    if any(fragment in reason for fragment in OUT_OF_MEMORY_MESSAGES):
        return AppError("bench-memory", reason=reason)
    return AppError("bench-no-torch", path=str(environment), reason=reason)


def gather_with_timeout(
    calls: Mapping[Key, Callable[[], Value]], timeout_s: float, max_workers: int | None = None
) -> dict[Key, Value]:
    """Results that came within `timeout_s` seconds, in the order of `calls`, at most `max_workers` calls at a time.

    A call that raised OSError or is late is left out; what else one raises is raised here. A call that hangs is
    abandoned: its thread is a daemon and keeps nobody from ending.
    """
    pending: queue.SimpleQueue[tuple[Key, Callable[[], Value]]] = queue.SimpleQueue()
    completed: queue.SimpleQueue[tuple[Key, tuple[Value] | BaseException]] = queue.SimpleQueue()
    stopped = threading.Event()
    for item in calls.items():
        pending.put(item)

    def work() -> None:
        while not stopped.is_set():
            try:
                key, call = pending.get_nowait()
            except queue.Empty:
                return
            try:
                completed.put((key, (call(),)))
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                completed.put((key, error))

    deadline = time.monotonic() + timeout_s
    for _ in range(min(max_workers or len(calls), len(calls))):
        threading.Thread(target=work, name="gather_with_timeout", daemon=True).start()
    results: dict[Key, Value] = {}
    try:
        for _ in calls:
            key, answer = completed.get(timeout=max(0.0, deadline - time.monotonic()))
            if isinstance(answer, tuple):
                results[key] = answer[0]
            elif not isinstance(answer, OSError):
                raise answer
    except queue.Empty:
        pass
    finally:
        stopped.set()
    return {key: results[key] for key in calls if key in results}
