"""How long until the window is painted: the launcher against python.exe with the same program in plain files.

    windows_start.py PROGRAM_FOLDER      on a Windows screen that xdotool sees (Wine)

Reach: the launcher takes at most 1.3 times as long. Both are measured alternately, in one run.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
REACH = 1.3
PATIENCE_S = 120


def until_painted(program: list[str], environ: dict[str, str]) -> float:
    """Seconds from the start to a visible window; the program is ended then."""
    with tempfile.TemporaryDirectory() as data:
        command = ["wine", *program, "--data-dir", f"Z:{data}".replace("/", "\\")]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        while not on_screen():
            if process.poll() is not None or time.perf_counter() - began > PATIENCE_S:
                raise SystemExit(f"{program[0]} shows no window")
        took = time.perf_counter() - began
        process.kill()
        process.communicate()
        while on_screen():
            time.sleep(0.05)
    return took


def on_screen() -> bool:
    """Whether the window is there; each look takes some 10 ms, for both sides alike."""
    look = ["xdotool", "search", "--onlyvisible", "--name", "GPU Assistant"]
    return subprocess.run(look, capture_output=True, check=False).returncode == 0


def main(folder: str) -> int:
    """Measure and print; 0 whatever comes out."""
    launcher = [f"Z:{folder}/GPU Assistant.exe".replace("/", "\\")]
    plain = ["C:\\Python311\\python.exe", "-m", "gpu_assistant"]
    paths = os.environ | {"PYTHONPATH": f"Z:{ROOT}"}
    kinds = {"plain files": (plain, paths), "launcher": (launcher, dict(os.environ))}
    for program, environ in kinds.values():
        until_painted(program, environ)
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(RUNS):
        for name, (program, environ) in kinds.items():
            times[name].append(until_painted(program, environ))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        print(f"{name:12} {1000 * median:7.0f} ms to a window ({RUNS} runs)")
    print(f"launcher / plain files  {medians['launcher'] / medians['plain files']:.2f} (reach {REACH})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
