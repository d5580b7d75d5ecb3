"""The hint at NVIDIA's own installer names the file for this kind of processor."""

from __future__ import annotations

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.steps.cuda_redist import installer_hint


@pytest.mark.parametrize(
    ("arch", "file"),
    [("x86_64", "cuda_13.2.2_595.71.05_linux.run"), ("arm64", "cuda_13.2.2_595.71.05_linux_sbsa.run")],
)
def test_installer_is_that_of_the_processor(arch: str, file: str) -> None:
    catalog = load_catalog(resources_dir() / "catalog")
    toolkit = catalog.cuda.toolkit("13.2.2")
    assert toolkit is not None
    assert f"sh {file} " in str(installer_hint(catalog, toolkit, "linux", arch)["command"])
