"""Whether the named X server can be reached, on one that resets when its last client leaves (Xvfb as it is)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.system.probes import display_state

PROBE = "from gpu_assistant.system.probes import display_state; print(display_state(), flush=True); input()"


@pytest.fixture
def display():
    """The name of a fresh X server's display."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as numbers:
            yield f":{numbers.readline().strip()}"
        server.terminate()


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("Xvfb") is None, reason="needs Xvfb")
def test_probe_stays_connected_until_its_process_ends(display) -> None:
    environ = {"DISPLAY": display, "PATH": os.environ.get("PATH", "")}
    with subprocess.Popen(
        [sys.executable, "-c", PROBE], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as probe:
        assert probe.stdout is not None
        assert probe.stdout.readline().strip() == "there"
        # The probe is a client of the server until Qt is: the server has had no reason to reset.
        opened = [str(each.readlink()) for each in Path(f"/proc/{probe.pid}/fd").iterdir()]
        assert any(each.startswith("socket:") for each in opened)
        probe.communicate("\n", timeout=10)


@pytest.mark.skipif(sys.platform != "linux", reason="X11")
def test_server_that_is_not_there_is_silent() -> None:
    assert display_state({"DISPLAY": ":4711"}) == "silent"
