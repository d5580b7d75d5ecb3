"""A cuDNN that was here before is proven as well, where NVIDIA's packages for Linux put it."""

from __future__ import annotations

import platform
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.install.steps.toolkit_proof import make_toolkit_proof
from gpu_assistant.system import current_system
from gpu_assistant.verify.cuda_program import ToolkitProof

from ..sandbox import RELEASE, recommendation

pytestmark = pytest.mark.skipif(current_system().name != "linux", reason="the folders of Linux")
KEPT_TOOLKIT = PartAdvice(action="keep", version="13.0")
HEADER = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 14\n#define CUDNN_PATCHLEVEL 0\n"


def proof(root: Path, cudnn: PartAdvice) -> ToolkitProof:
    from gpu_assistant.system.linux.system import LinuxSystem

    advice = msgspec.structs.replace(
        recommendation(RELEASE, "https://example.invalid/whl"), cuda_toolkit=KEPT_TOOLKIT, cudnn=cudnn
    )
    system, data = LinuxSystem(root, environ={"PATH": "/nowhere"}), DataDir(root / "data")
    made = make_toolkit_proof(advice, root / "environment", load_catalog(resources_dir() / "catalog"), data, system)
    assert made is not None
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """What Ubuntu's packages libcudnn9-headers and libcudnn9-dev leave, as seen on Ubuntu 24.04 with cuDNN 9.14."""
    multiarch = f"{platform.machine()}-linux-gnu"
    include, library = tmp_path / "usr/include" / multiarch, tmp_path / "usr/lib" / multiarch
    for folder in (include, library):
        folder.mkdir(parents=True)
    (include / "cudnn_version.h").write_text(HEADER, encoding="utf-8")
    (include / "cudnn.h").touch()
    (library / "libcudnn.so").touch()
    return tmp_path


def test_kept_cudnn_is_linked_where_the_distribution_put_it(root: Path) -> None:
    kept = proof(root, PartAdvice(action="keep", version="9.14.0")).kept_cudnn
    assert kept is not None
    assert kept.include.relative_to(root).parts[:2] == ("usr", "include")
    assert kept.library.relative_to(root).parts[:2] == ("usr", "lib")
    assert kept.dll_folder is None


@pytest.mark.parametrize(
    "advice", [PartAdvice(action="keep", version="9.10.0"), PartAdvice(action="none")], ids=["other-version", "none"]
)
def test_no_other_cudnn_is_linked(root: Path, advice: PartAdvice) -> None:
    assert proof(root, advice).kept_cudnn is None


def test_runtime_package_without_a_library_to_link_is_not_linked(root: Path) -> None:
    next(root.glob("usr/lib/*/libcudnn.so")).unlink()
    assert proof(root, PartAdvice(action="keep", version="9.14.0")).kept_cudnn is None
