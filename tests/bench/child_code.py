"""Code that runs in the environment with the real PyTorch, with the benchmark's child as a package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from gpu_assistant.bench.child_protocol import CHILD_PROGRAM
from gpu_assistant.system import current_system

PRELUDE = f"""
import importlib.util, json, warnings
warnings.simplefilter("ignore")
spec = importlib.util.spec_from_file_location("launcher", {str(CHILD_PROGRAM)!r})
launcher = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launcher)
launcher.load()
import torch
torch.set_num_threads(1)
from gpu_assistant_bench import devices
cpu = devices.CpuDevice(torch, 1)
"""


def inside(environment: Path, code: str) -> Any:
    """What `code` leaves in `result`, as JSON carries it."""
    python = current_system().environment_python(environment)
    command = [str(python), "-I", "-X", "utf8", "-c", f"{PRELUDE}\n{code}\nprint(json.dumps(result))"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
