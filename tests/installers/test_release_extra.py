"""A build with a Python that lacks the packages for it ends at once, and says what to run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_missing_packages_are_said_at_once(system: str) -> None:
    script = f"installers/{system}/build.py"
    done = subprocess.run(
        [sys.executable, "-S", ROOT / script], capture_output=True, encoding="utf-8", timeout=60, check=False
    )  # -S: without any installed package
    assert (done.returncode, done.stdout) == (1, "")
    assert "pyelftools" in done.stderr
    assert "dev.py test --version" in done.stderr
    assert done.stderr.strip().endswith(f"{script}`.")
