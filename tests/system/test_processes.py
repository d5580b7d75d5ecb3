"""Programs from start to end, with real programs on the real system."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.system.processes import decode_output

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
    asked = 0.0

    def on_line(_: str) -> None:
        nonlocal asked
        asked = time.monotonic()
        cancel.set()

    with pytest.raises(Cancelled):
        python(TREE, cancel=cancel, on_line=on_line)
    assert linux_processes.TERMINATE_GRACE_S <= time.monotonic() - asked < 10  # a busy test machine may take longer


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
    pids: list[int] = []
    started = time.monotonic()
    with pytest.raises(AppError) as error:
        python(TREE, timeout=4, on_line=lambda line: pids.extend(map(int, line.split())))
    assert error.value.code == "program-timeout"
    assert error.value.data["limit_seconds"] == 4
    assert time.monotonic() - started >= 4
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
