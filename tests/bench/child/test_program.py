"""How the benchmark's child begins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from gpu_assistant.bench.child_protocol import CHILD_PROGRAM


def test_gpus_have_driver_indexes(tmp_path: Path) -> None:
    """Without it "cuda:0" is the fastest card, and what was watched along the run would be another's."""
    (tmp_path / "torch.py").write_text("import os\nraise ImportError(os.environ.get('CUDA_DEVICE_ORDER'))\n")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "CUDA_DEVICE_ORDER": "FASTEST_FIRST"}
    done = subprocess.run(
        [sys.executable, str(CHILD_PROGRAM)], capture_output=True, env=environ, timeout=60, check=False
    )
    assert json.loads(done.stdout.splitlines()[0]) == {"broken": "ImportError: PCI_BUS_ID"}
