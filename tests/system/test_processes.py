"""Programs from start to end, with real programs on the real system."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.system.processes import ChildProcess, decode_output, gather_with_timeout, run_process
from gpu_assistant.texts.localized import Texts

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = current_system()
RECORDED = ROOT / "tests/machines/windows11-desktop/cp936-output"

# Prints its own number and that of a child, then both wait for ever. The child ignores a polite SIGTERM.
TREE = """
import subprocess, sys, os, time
stubborn = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)
child = subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE)
child.stdout.readline()
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


def python(code: str, *, timeout: float = 60, **more: object) -> ProcessResult:
    return SYSTEM.run([sys.executable, "-c", code], timeout=timeout, **more)  # type: ignore[arg-type]


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_gone(pids: list[int], limit: float = 10) -> bool:
    end = time.monotonic() + limit
    while any(lives(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_output_returncode_environ_and_cwd(tmp_path: Path) -> None:
    code = "import os, sys; print(os.environ['EXTRA'], os.getcwd()); print('bad', file=sys.stderr); sys.exit(3)"
    done = python(code, environ={"EXTRA": "yes"}, cwd=tmp_path)
    assert done.returncode == 3
    word, _, folder = done.stdout.strip().partition(" ")
    assert word == "yes"
    assert Path(folder).samefile(tmp_path)
    assert done.stderr == "bad\n"


def test_own_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ASSISTANT_TEST_WORD", "inherited")
    assert python("import os; print(os.environ['GPU_ASSISTANT_TEST_WORD'])").stdout == "inherited\n"


def test_lines_arrive_while_program_runs(tmp_path: Path) -> None:
    """The program goes on only after we have seen its first line, on our own thread."""
    sign = tmp_path / "seen"
    code = (
        "import pathlib, sys, time\n"
        "print('first', flush=True)\n"
        "while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)\n"
        "print('second')\n"
    )
    lines, threads = [], set()

    def on_line(line: str) -> None:
        lines.append(line)
        threads.add(threading.current_thread())
        sign.touch()

    SYSTEM.run([sys.executable, "-c", code, sign], timeout=60, on_line=on_line)
    assert lines == ["first", "second"]
    assert threads == {threading.current_thread()}


def test_large_output_on_both_streams_does_not_block() -> None:
    code = "import sys\nfor _ in range(20000): print('o' * 60); print('e' * 60, file=sys.stderr)"
    done = python(code)
    assert done.stdout.count("\n") == done.stderr.count("\n") == 20000


def test_input_is_empty() -> None:
    assert python("import sys; print(repr(sys.stdin.read()))").stdout == "''\n"


def test_invalid_bytes_are_replaced() -> None:
    code = "import sys; sys.stdout.buffer.write(b'a\\xff\\xfe\\x81b\\n\\x00c'); sys.stdout.buffer.flush()"
    out = python(code).stdout
    assert out.startswith("a")
    assert out.endswith("b\n\x00c")


def test_chinese_code_page_is_decoded() -> None:
    data = RECORDED.read_bytes()
    assert decode_output(data, "cp936") == "您好，世界"
    assert decode_output("您好".encode(), "cp936") == "您好"
    assert "�" in decode_output(data)


def test_utf16_of_an_old_wsl_is_decoded_line_by_line() -> None:
    text = "Copyright\n一一一\n在上面 above\n上上\n\n操作超时。\n"  # with zeros as lower bytes, and the byte of "\n"
    code = f"import sys; sys.stdout.buffer.write({text!r}.replace('\\n', '\\r\\n').encode('utf-16-le'))"
    lines: list[str] = []
    assert python(code, on_line=lines.append).stdout == text
    assert lines == text.splitlines()
    assert SYSTEM.run_to_end([sys.executable, "-c", code]).stdout == text


def test_relative_program_path_is_refused() -> None:
    with pytest.raises(ValueError, match="full path"):
        SYSTEM.run(["python", "-c", "pass"], timeout=5)
    with pytest.raises(ValueError, match="full path"):
        SYSTEM.run([Path("bin") / "python"], timeout=5)


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        SYSTEM.run([tmp_path / "none"], timeout=5)
    assert error.value.code == "program-missing"
    assert error.value.data["program"] == str(tmp_path / "none")


def test_cancelled_before_start_starts_nothing(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        SYSTEM.run(
            [sys.executable, "-c", "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()", tmp_path / "ran"],
            timeout=5,
            cancel=cancel,
        )
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.name == "nt", reason="nobody is asked politely there")
def test_program_ignoring_sigterm_is_killed_within_a_second() -> None:
    from gpu_assistant.system import processes
    from gpu_assistant.system.linux import processes as linux_processes

    assert processes.POLL_INTERVAL_S + linux_processes.TERMINATE_GRACE_S < 0.9  # and something for the kernel
    cancel = threading.Event()
    cancelled_at = 0.0

    def on_line(_: str) -> None:
        nonlocal cancelled_at
        cancelled_at = time.monotonic()
        cancel.set()

    with pytest.raises(Cancelled):
        python(TREE, cancel=cancel, on_line=on_line)
    waited = time.monotonic() - cancelled_at
    assert linux_processes.TERMINATE_GRACE_S <= waited < 10  # a busy test machine may take longer


def test_cancel_terminates_process_tree() -> None:
    cancel = threading.Event()
    pids: list[int] = []

    def on_line(line: str) -> None:
        pids.extend(map(int, line.split()))
        cancel.set()

    with pytest.raises(Cancelled):
        python(TREE, cancel=cancel, on_line=on_line)
    assert len(pids) == 2
    assert wait_gone(pids)


def test_timeout_terminates_process_tree() -> None:
    for limit in (4, 16, 64):  # on a busy machine two processes may take long to start
        pids: list[int] = []
        started = time.monotonic()
        with pytest.raises(AppError) as error:
            python(TREE, timeout=limit, on_line=lambda line, pids=pids: pids.extend(map(int, line.split())))
        assert error.value.code == "program-timeout"
        assert error.value.data["limit_seconds"] == limit
        assert time.monotonic() - started >= limit
        if len(pids) == 2:
            break
    assert len(pids) == 2
    assert wait_gone(pids)


def test_callback_error_terminates_tree_and_propagates() -> None:
    pids: list[int] = []

    def on_line(line: str) -> None:
        pids.extend(map(int, line.split()))
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        python(TREE, on_line=on_line)
    assert wait_gone(pids)


def test_orphaned_child_does_not_block() -> None:
    """A background process that keeps the output open is ended soon after its program."""
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)\n"
    )
    done = python(code, timeout=120)
    assert done.returncode == 0
    assert wait_gone([int(done.stdout)])


def test_program_ends_when_parent_is_killed() -> None:
    """A parent of ours is killed without a chance to clean up; the program that it ran goes too."""
    if SYSTEM.name == "linux":
        from gpu_assistant.system.linux.processes import parent_death_prefix

        if not parent_death_prefix():
            pytest.skip("this Linux has no setpriv that knows --pdeathsig")
    inner = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    outer = (
        "import sys\n"
        "from gpu_assistant.system import current_system\n"
        "system = current_system()\n"
        f"system.run([sys.executable, '-c', {inner!r}], timeout=600, on_line=lambda line: print(line, flush=True))\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", outer],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        assert lives(pid)
        parent.kill()
    assert wait_gone([pid])


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_line_is_refused(stream: str) -> None:
    with pytest.raises(AppError) as error:
        python(f"import sys\nwhile True: sys.{stream}.write('x' * 65536)")
    assert error.value.code == "program-endless"


def test_long_line_is_read() -> None:
    assert len(python("print('x' * 500_000)").stdout) == 500_001


class StopHere(Exception):
    """The check says no."""


def until_written(path: Path, text: str) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.is_file() and path.read_text(encoding="utf-8").strip() == text:
            return True
        time.sleep(0.02)
    return False


def script(path: Path, output_file: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\necho {text} > '{output_file}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def output_file(tmp_path: Path) -> Path:
    return tmp_path / "output.txt"


@pytest.fixture
def program(tmp_path: Path, output_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real program that writes "good" into a file and ends; on Windows it is this Python, told so as it starts."""
    if sys.platform != "win32":
        return script(tmp_path / "program", output_file, "good")
    (tmp_path / "sitecustomize.py").write_text(
        f"import os\nopen({str(output_file)!r}, 'w', encoding='utf-8').write('good')\nos._exit(0)\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Path(sys.executable)


def test_program_runs_after_check(program: Path, output_file: Path) -> None:
    seen = []
    SYSTEM.start_checked(program, lambda file: seen.append(hashlib.sha256(file.read()).hexdigest()))
    assert seen == [hashlib.sha256(program.read_bytes()).hexdigest()]
    assert until_written(output_file, "good")


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="there the file cannot be replaced meanwhile: tested below")
def test_replaced_file_does_not_run(program: Path, tmp_path: Path, output_file: Path) -> None:
    SYSTEM.start_checked(program, lambda _file: script(tmp_path / "other", output_file, "evil").replace(program))
    assert until_written(output_file, "good")


@pytest.mark.windows
@pytest.mark.skipif(sys.platform != "win32", reason="Windows' own way of holding a file")
def test_file_is_locked_during_check(tmp_path: Path) -> None:
    program, other = tmp_path / "setup.exe", tmp_path / "other.exe"
    program.write_bytes(b"good")
    other.write_bytes(b"evil")

    def attacked(file) -> None:
        for attack in (
            lambda: program.write_bytes(b"evil"),
            lambda: other.replace(program),
            program.unlink,
            lambda: program.rename(tmp_path / "away.exe"),
        ):
            with pytest.raises(PermissionError):
                attack()
        assert file.read() == b"good"
        raise StopHere

    with pytest.raises(StopHere):
        SYSTEM.start_checked(program, attacked)
    program.unlink()  # and it is let go of afterwards


def test_failed_check_starts_nothing(program: Path, output_file: Path) -> None:
    def wrong(file) -> None:
        raise AppError("update-changed", path=str(program))

    with pytest.raises(AppError):
        SYSTEM.start_checked(program, wrong)
    # Had it been started, one that is started now would not be the first to speak.
    assert not output_file.exists()
    SYSTEM.start_checked(program, lambda file: None)
    assert until_written(output_file, "good")


def test_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SYSTEM.start_checked(tmp_path / "nothing.exe", lambda file: None)


def test_non_executable_raises(tmp_path: Path) -> None:
    (tmp_path / "text.exe").write_bytes(b"no program")
    with pytest.raises(OSError, match=r"193|Permission denied|format"):
        SYSTEM.start_checked(tmp_path / "text.exe", lambda file: None)


@pytest.mark.windows
@pytest.mark.skipif(sys.platform != "win32", reason="Windows' own kind of file")
def test_batch_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "setup.bat").write_bytes(b"echo hi")
    with pytest.raises(ValueError, match="batch"):
        SYSTEM.start_checked(tmp_path / "setup.bat", lambda file: None)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Whoever waits at it hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_late_answer_loses_only_its_entry(gate: threading.Event) -> None:
    def no() -> int:
        raise OSError

    calls = {"late": lambda: int(gate.wait()), "good": lambda: 1, "broken": no}
    assert gather_with_timeout(calls, 0.3) == {"good": 1}
    assert gather_with_timeout({}, 0.3) == {}


def test_parallel_queries_are_limited() -> None:
    here = threading.Semaphore(2)

    def one() -> bool:
        free = here.acquire(blocking=False)
        time.sleep(0)
        if free:
            here.release()
        return free

    assert all(gather_with_timeout(dict.fromkeys(range(20), one), 10.0, max_workers=2).values())


def test_programming_error_is_not_hidden() -> None:
    def wrong() -> None:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - the one above
        gather_with_timeout({"x": wrong}, 5.0)


def test_program_that_a_rule_of_windows_blocks_is_said(tmp_path: Path) -> None:
    program = Path(sys.executable)

    def blocked(*_: object) -> ChildProcess:
        error = OSError(errno.EINVAL, "An Application Control policy has blocked this file")
        error.winerror = 4551  # type: ignore[attr-defined, unused-ignore]
        raise error

    with pytest.raises(AppError) as raised:
        run_process(blocked, [program], timeout=9, environ=None, cwd=tmp_path, cancel=None, on_line=None)
    assert (raised.value.code, raised.value.data) == ("program-blocked", {"program": str(program)})
    assert "Smart App Control" in Texts("en").error_text(raised.value)


# Works for two seconds and then says so, while a program that it started still runs and has the output open.
INSTALLER = """
import subprocess, sys, time
print("begun", flush=True)
open(sys.argv[1] + ".begun", "w").close()
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
time.sleep(2)
print("done", flush=True)
open(sys.argv[1], "w").close()
sys.exit(3)
"""
CALLER = """
import sys
from gpu_assistant.system import current_system
current_system().run_to_end([sys.executable, "-c", sys.argv[1], sys.argv[2]])
"""


class TestRunToEnd:
    @pytest.fixture(autouse=True)
    def no_left_behind(self) -> Iterator[None]:
        before = set(psutil.pids())
        yield
        for process in psutil.process_iter(["cmdline"]):
            if process.pid not in before and "time.sleep(60)" in " ".join(process.info["cmdline"] or ()):
                process.kill()

    def test_output_and_exit_code_do_not_wait_for_what_stays_running(self, tmp_path: Path) -> None:
        done = tmp_path / "done"
        began = time.monotonic()
        result = current_system().run_to_end([sys.executable, "-c", INSTALLER, done], cwd=tmp_path)
        assert (result.returncode, result.stdout) == (3, "begun\ndone\n")
        assert time.monotonic() - began < 30

    def test_program_comes_to_its_end_after_the_death_of_its_caller(self, tmp_path: Path) -> None:
        done = tmp_path / "done"
        environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        with subprocess.Popen([sys.executable, "-c", CALLER, INSTALLER, str(done)], env=environ) as caller:
            end = time.monotonic() + 60
            while not Path(f"{done}.begun").exists() and time.monotonic() < end:
                time.sleep(0.02)
            caller.kill()
        assert not done.exists()
        end = time.monotonic() + 60
        while not done.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert done.exists()

    def test_missing_program_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(AppError) as caught:
            current_system().run_to_end([tmp_path / "none"])
        assert caught.value.code == "program-missing"
