"""Where the program lies that runs in an environment's own Python."""

from __future__ import annotations

from pathlib import Path

CHILD_PROGRAM = Path(__file__).parent / "child" / "__main__.py"
