"""What several tests of the benchmark need."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..fakes.environments import environment_with, torch_with_card


@pytest.fixture
def with_card(tmp_path: Path) -> Path:
    return environment_with(tmp_path / "env", torch_with_card())
