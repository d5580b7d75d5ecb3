"""A disk that is full while uv resolves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import DataDir
from gpu_assistant.install.packages.requirements import PackageRequest
from gpu_assistant.install.packages.resolver import Resolver
from gpu_assistant.install.packages.uv import Uv
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult

REQUEST = PackageRequest(
    python="3.12",
    torch="2.13.0",
    variant="cpu",
    torchvision=None,
    torchaudio=None,
    tensorflow=None,
    constraints=(),
    index_url="https://index.example/whl/cpu",
    wheelhouse=None,
    serves_variant=False,
    default_index=None,
)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("No space left on device (os error 28)", "disk-full"),
        ("Disk quota exceeded (os error 122)", "disk-full"),
        ("There is not enough space on the disk. (os error 112)", "disk-full"),
        ("Permission denied (os error 13)", "resolver-failed"),
    ],
)
def test_full_disk_is_called_so_while_resolving(tmp_path: Path, line: str, code: str) -> None:
    class Failing(type(current_system())):  # type: ignore[misc]
        def run(self, _argv: object, **_: Any) -> ProcessResult:
            return ProcessResult(returncode=2, stdout="", stderr=f"error: Failed to write to the cache\n  {line}")

    data = DataDir(tmp_path)
    with pytest.raises(AppError) as failed:
        Resolver(REQUEST, Uv(Failing(), data), data, Path(sys.executable)).resolve()
    assert failed.value.code == code
