"""A benchmark's own child on 1 and on 8 GPUs, with the library of tests/nvml in NVML's place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.nvml.machines import RTX_4060, eight_h100
from tests.nvml.scenario import Scenario, built


def measured(script: str, rounds: int, **changed: str) -> Iterator[tuple[int, Any]]:
    """How many cards, and the JSON that `script --child --rounds N` printed for them; `changed` replaces their answers.

    It ends the program where there is no C compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = built(Path(folder))
        if library is None:
            sys.exit("no C compiler")
        for cards in ((RTX_4060,), eight_h100()):
            scenario = Scenario(Path(folder) / "scenario", library, *({**card, **changed} for card in cards))
            scenario.set(fixed="1")
            done = subprocess.run(
                [sys.executable, script, "--child", "--rounds", str(rounds)],
                env={**os.environ, "FAKE_NVML_SCENARIO": str(scenario.path), "LD_LIBRARY_PATH": folder},
                capture_output=True,
                check=True,
            )
            yield len(cards), json.loads(done.stdout)
