"""Making the environment from files already on disk, against plain `uv venv` and `uv pip install` of the same files.

    GPU_ASSISTANT_WHEELHOUSE=<folder> python benchmarks/environment_build.py [--rounds N] [--folder DIR]

The wheelhouse holds a CPU build of PyTorch. Plain uv is given the same hashes, the fastest of its ways: without
them it unpacks differently and takes up to twice as long here.

Ours is everything from "files are here and checked" to "manifest is written": the environment, the packages with
their hashes checked once more, lock, constraints, size and manifest. Both start with an empty uv cache, in turns.
Target: ratio of the medians <= 1.15.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.core import json, paths
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Plan
from gpu_assistant.fetch.request import Limits
from gpu_assistant.install.host import Host
from gpu_assistant.install.jobs.install import make_verify_job
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.packages.uv import find_uv, uv_environment
from gpu_assistant.install.progress import ProgressReporter
from gpu_assistant.install.steps.context import (
    BaseInterpreter,
    DownloadContext,
    FetchedPackages,
    InstallContext,
    ResolvedLock,
)
from gpu_assistant.install.steps.kinds import STEP_KINDS

TARGET = 1.15


def prepared(root: Path, journal: Journal, plan: Plan) -> InstallContext:
    """Everything resolved and fetched: what both sides start from."""
    from gpu_assistant.catalog.store import load_catalog
    from gpu_assistant.system import current_system

    downloads = DownloadContext(
        Host(current_system(), paths.DataDir(root / "data")),
        load_catalog(paths.resources_dir() / "catalog"),
        reporter=ProgressReporter(JobContext()),
        cancel=threading.Event(),
        limits=Limits(),
    )
    context = InstallContext(plan, downloads, journal=journal, verifier=make_verify_job)
    for step in plan.steps[:4]:
        kind = STEP_KINDS[step.kind]
        outcome = kind.is_satisfied(step, context) or kind.run(step, context)
        context.provide(*outcome.produces)
    return context


def assistant(context: InstallContext) -> float:
    """Seconds of GPU Assistant's step."""
    shutil.rmtree(context.data.uv_cache, ignore_errors=True)
    shutil.rmtree(context.partial, ignore_errors=True)
    step = next(step for step in context.plan.steps if step.kind == "python-packages")
    began = time.perf_counter()
    STEP_KINDS[step.kind].run(step, context)
    return time.perf_counter() - began


def plain(context: InstallContext, root: Path) -> float:
    """Seconds of what a person would type."""
    cache, folder = root / "plain-cache", root / "plain"
    shutil.rmtree(cache, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    common: list[str | Path] = ["--quiet", "--no-config", "--cache-dir", cache]
    python = context.system.environment_python(folder)
    folders = dict.fromkeys(file.parent for file in context.require(FetchedPackages).files)
    links = [word for place in folders for word in ("--find-links", place)]
    wanted = root / "requirements.txt"
    rows = [
        f"{p.name}=={p.version} --hash=sha256:{p.file.sha256}\n" for p in context.require(ResolvedLock).lock.packages
    ]
    wanted.write_text("".join(rows), encoding="utf-8")
    began = time.perf_counter()
    commands: tuple[list[str | Path], ...] = (
        ["venv", "--python", context.require(BaseInterpreter).path, folder],
        [
            "pip",
            "install",
            "--offline",
            "--no-index",
            "--no-deps",
            "--python",
            python,
            *links,
            "--requirements",
            wanted,
        ],
    )
    for command in commands:
        finished = context.system.run([find_uv(), *command, *common], timeout=600, environ=uv_environment())
        if finished.returncode != 0:
            raise SystemExit(finished.stderr)
    return time.perf_counter() - began


def main() -> None:
    """Alternate, take medians, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where to work; one in memory leaves the disk's moods out")
    given = parser.parse_args()
    wheelhouse = paths.wheelhouse_dir(None)
    if wheelhouse is None:
        raise SystemExit("GPU_ASSISTANT_WHEELHOUSE names no folder")
    from tests.fixtures.torch_env import real_torch_plan

    with tempfile.TemporaryDirectory(prefix="environment-build-", dir=given.folder) as name:
        root = Path(name)
        plan = real_torch_plan(root, wheelhouse)
        with Journal(paths.DataDir(root / "data"), plan) as journal:
            context = prepared(root, journal, plan)
            plain(context, root)  # the files are in the system's cache for both
            times: dict[str, list[float]] = {"assistant": [], "plain": []}
            for number in range(given.rounds):
                for label in ("assistant", "plain") if number % 2 else ("plain", "assistant"):
                    times[label].append(assistant(context) if label == "assistant" else plain(context, root))
    medians = {label: statistics.median(values) for label, values in times.items()}
    ratio = medians["assistant"] / medians["plain"]
    figures = {"rounds": given.rounds, "seconds": times, "median_s": medians, "ratio": ratio, "target": TARGET}
    print(json.encode_pretty(figures))
    print(
        f"environment build: GPU Assistant {medians['assistant']:.2f} s, plain uv {medians['plain']:.2f} s, "
        f"ratio {ratio:.3f}"
    )


if __name__ == "__main__":
    main()
