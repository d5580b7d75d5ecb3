"""The hint at NVIDIA's own installer names the file for this kind of processor."""

from __future__ import annotations

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.steps.cuda_redist import installer_hint
from gpu_assistant.texts.translate import Translator


@pytest.mark.parametrize(
    ("arch", "file"),
    [("x86_64", "cuda_13.2.2_595.71.05_linux.run"), ("arm64", "cuda_13.2.2_595.71.05_linux_sbsa.run")],
)
def test_installer_is_that_of_the_processor(arch: str, file: str) -> None:
    catalog = load_catalog(resources_dir() / "catalog")
    toolkit = catalog.cuda.toolkit("13.2.2")
    assert toolkit is not None
    assert f"sh {file} " in str(installer_hint(catalog, toolkit, "linux", arch)["command"])


def test_step_for_toolkit_that_catalog_does_not_list_has_whole_text() -> None:
    """PyTorch decides about the update of its own CUDA."""
    catalog = load_catalog(resources_dir() / "catalog")
    data = installer_hint(catalog, None, "linux", "x86_64") | {"version": "13.2.9", "path": "/env", "bytes": 1}
    assert "13.2.9" in Translator("en").translate("step.cuda-wheels-beside-pytorch.what", data)
