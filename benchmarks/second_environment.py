"""A second environment, installed and proven from the command line, against what a person would type.

    GPU_ASSISTANT_WHEELHOUSE=<folder> python benchmarks/second_environment.py [--rounds N]

Ours is the whole `gpu-assistant install --yes`: start, detection, recommendation, plan, resolution, environment, proof.
The reference is `uv venv`, `uv pip install` of the same release, and `python -c "import torch"` in it. Both find
every file in their cache from an environment made before, and take turns. Target: ratio of the medians <= 1.25.

Seconds of CPU beside other work, torch 2.13.0+cpu, 16,600 files, 2026-11-27:

    our own process                               1.62 (2.04 with every RECORD parsed twice and four walks)
      of it the hashes of all files               0.57, on two cores
    its children, uv and the proof                the same as uv and `import torch` alone: 4.4

Nothing of an environment runs before all its files were compared with its wheels, so that only what reads wheels or
packages goes beside uv and beside the import. Threads that read the large files while the folder was looked through
brought nothing: 5.5 s of CPU with them and 5.6 without, medians of six turns each on 2026-11-28 beside other work.

Python compiles pip at its first start, 0.27 s of CPU beside other work on 2026-11-28; that is done while PyTorch is
imported, so that the start under the final name, beside which nothing runs, is short. Without requests, of which files
that are here already need nothing, the program's modules take 0.39 s to load, and 0.54 with it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from packaging.utils import parse_wheel_filename

from gpu_assistant.core import paths
from gpu_assistant.install.packages.uv import find_uv

ROOT = Path(__file__).resolve().parent.parent
TARGET = 1.25


def seconds(*commands: Sequence[str | Path], environ: dict[str, str]) -> float:
    """How long they take one after the other; SystemExit where one fails."""
    started_at = time.perf_counter()
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return time.perf_counter() - started_at


def main() -> None:
    """Alternate, take medians, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    wheelhouse = paths.wheelhouse_dir(None)
    if wheelhouse is None:
        raise SystemExit("GPU_ASSISTANT_WHEELHOUSE names no folder")
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="second-environment-") as folder:
        root = Path(folder)
        own: list[str | Path] = [sys.executable, "-m", "gpu_assistant"]
        _, release, _, tags = parse_wheel_filename(next(wheelhouse.glob("torch-*.whl")).name)
        series = next(iter(tags)).interpreter.removeprefix("cp")
        options: list[str | Path] = ["--data-dir", root / "data", "--wheelhouse", wheelhouse]
        options += ["--pytorch", release.public, "--python", f"{series[0]}.{series[1:]}"]

        def assistant(name: str) -> float:
            return seconds([*own, "install", "--yes", "--env", root / name, *options], environ=environ)

        def plain(name: str, requirements: Sequence[str]) -> float:
            environment = root / name
            uv: list[str | Path] = [find_uv(), "--quiet", "--no-config", "--cache-dir", root / "uv-cache"]
            python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
            return seconds(
                [*uv, "venv", "--python", sys.executable, environment],
                [*uv, "pip", "install", "--python", python, "--find-links", wheelhouse, *requirements],
                [python, "-c", "import torch"],
                environ=environ,
            )

        assistant("assistant-first")
        installed = json.loads(
            subprocess.run(
                [find_uv(), "pip", "list", "--python", root / "assistant-first", "--format", "json"],
                capture_output=True,
                check=True,
            ).stdout
        )
        requirements = [f"{package['name']}=={package['version']}" for package in installed]
        plain("plain-first", requirements)
        times: dict[str, list[float]] = {"assistant": [], "plain": []}
        for number in range(rounds):
            for label in ("assistant", "plain") if number % 2 else ("plain", "assistant"):
                name = f"{label}-{number}"
                times[label].append(assistant(name) if label == "assistant" else plain(name, requirements))
    medians = {label: statistics.median(values) for label, values in times.items()}
    ratio = medians["assistant"] / medians["plain"]
    print(json.dumps({"rounds": rounds, "seconds": times, "median_s": medians, "ratio": ratio, "target": TARGET}))
    print(
        f"second environment: GPU Assistant {medians['assistant']:.2f} s, uv and import {medians['plain']:.2f} s, "
        f"ratio {ratio:.3f}"
    )


if __name__ == "__main__":
    main()
