"""Stands in for PyTorch in the health test's program: when it is loaded, it says what a script tells it to say.

A test copies this file into an environment as its torch package. TORCH_SCRIPT names a file of JSON lines; a line is
sent as it stands, but for {"hang": true}, {"exit": 3}, {"killed": true}, {"deaf": true} (ends only when killed),
{"pid": file} (writes down this process's number and a child's) and {"until": file} (waits until that file is there).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def _find_writer():
    frame = sys._getframe()  # noqa: SLF001 - the standard way to a frame
    while "writer" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["writer"]


def _perform(writer, line):
    match line:
        case {"hang": True}:
            threading.Event().wait()
        case {"killed": True}:
            os.kill(os.getpid(), signal.SIGKILL)
        case {"exit": code}:
            os._exit(code)
        case {"deaf": True}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case {"pid": file}:
            child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
            beside = Path(file).with_suffix(".new")
            beside.write_text(f"{os.getpid()} {child.pid}", encoding="ascii")
            beside.replace(file)
        case {"until": file}:
            while not Path(file).exists():
                threading.Event().wait(0.02)
        case _:
            writer.send(**line)


if __name__ == "torch":
    for _line in Path(os.environ["TORCH_SCRIPT"]).read_text(encoding="utf-8").splitlines():
        _perform(_find_writer(), json.loads(_line))
    os._exit(0)
