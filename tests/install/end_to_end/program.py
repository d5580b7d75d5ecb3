"""The program in a tried config: `python program.py CONFIG ARGUMENTS`, as `gpu-assistant ARGUMENTS`.

With CUT in the environment, a kind of step, the power is cut where such a step's first effect is made but not yet
written down.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import gpu_assistant.app
from gpu_assistant.cli.main import run
from gpu_assistant.core import json
from gpu_assistant.install.journal import log
from tests.install.end_to_end.sandbox import SandboxConfig, use

CUT = "GPU_ASSISTANT_TEST_CUT"


def cut_at(kind: str) -> None:
    """Die instead of writing that an effect of this kind of step happened."""
    append, last_kind = log.Journal.append, [""]

    def watched(self: log.Journal, record: log.JournalRecord) -> None:
        if isinstance(record, log.EffectStarted):
            last_kind[0] = record.kind
        if isinstance(record, log.EffectDone) and last_kind[0] == kind:
            os._exit(9)
        append(self, record)

    log.Journal.append = watched  # type: ignore[method-assign]


if __name__ == "__main__":
    config = json.decode(Path(sys.argv[1]).read_bytes(), SandboxConfig)
    gpu_assistant.app.App = use(config)  # type: ignore[misc]
    if CUT in os.environ:
        cut_at(os.environ[CUT])
    sys.exit(run(sys.argv[2:]))
