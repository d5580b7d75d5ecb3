"""PyTorch and TensorFlow in a Python: by their files, and asked in that Python."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.machine import Python, TensorFlowBuild, TorchBuild
from gpu_assistant.core.versions import format_cudnn_version
from gpu_assistant.detect import frameworks
from gpu_assistant.system import current_system

NEVER = threading.Event()


@pytest.mark.parametrize(
    ("code", "build"),
    [
        (
            "class version:\n    cuda = '12.6'\n"
            "class cuda:\n    is_available = staticmethod(lambda: False)\n"
            "class backends:\n    class cudnn:\n        version = staticmethod(lambda: 91002)\nprint('noise')\n",
            TorchBuild(version="2.9", cuda="12.6", cuda_available=False, cudnn="9.10.2"),
        ),
        (
            "class version:\n    cuda = '13.0'\n"
            "class cuda:\n    is_available = staticmethod(lambda: True)\n"
            "    get_arch_list = staticmethod(lambda: ['sm_75', 'compute_120'])\n"
            "class backends:\n    class cudnn:\n        version = staticmethod(lambda: 91002)\n",
            TorchBuild(
                version="2.9", cuda="12.6", cuda_available=True, arch_list=("sm_75", "compute_120"), cudnn="9.10.2"
            ),
        ),
        ("raise OSError('WinError 126')", TorchBuild(version="2.9", cuda="12.6", error="OSError: WinError 126")),
        ("import os; os._exit(3)", TorchBuild(version="2.9", cuda="12.6")),
    ],
)
def test_torch_is_queried_in_its_python(
    code: str, build: TorchBuild, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    python = Python(path=sys.executable, version="3.11", torch=TorchBuild(version="2.9", cuda="12.6"))
    assert frameworks.query_frameworks(current_system(), python, NEVER, timeout_s=60.0).torch == build


def test_build_without_cuda_is_not_queried() -> None:
    build = frameworks.parse_torch_version(
        "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n"
    )
    assert build == TorchBuild(version="2.9.1+cpu", cuda_available=False)
    rocm = frameworks.parse_torch_version("__version__ = '2.9.1+rocm6.4'\ncuda = None\nhip = '6.4.4'\n")
    assert rocm is not None
    assert rocm.cuda_available is None


@pytest.mark.parametrize(
    ("text", "build"),
    [
        (
            'build_info = collections.OrderedDict([("cuda_version", "12.5.1"), ("cudnn_version", "9"), '
            '("is_cuda_build", True), ("is_rocm_build", False)])',
            TensorFlowBuild(cuda="12.5.1", cudnn="9", cuda_build=True),
        ),
        (
            'build_info = collections.OrderedDict([("is_cuda_build", False), ("is_rocm_build", False)])',
            TensorFlowBuild(cuda_build=False, gpu_available=False),
        ),
        ("", None),
    ],
)
def test_tensorflow_build_info(text: str, build: TensorFlowBuild | None) -> None:
    assert frameworks.parse_tensorflow_build_info(text) == build


@pytest.mark.parametrize(("number", "version"), [(91002, "9.10.2"), (8907, "8.9.7"), (7605, "7.6.5"), (None, None)])
def test_cudnn_version_number(number: int | None, version: str | None) -> None:
    assert format_cudnn_version(number) == version


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n", TorchBuild(version="2.13.0+cpu")),
        ("__version__ = '1.13.1+cu117'\ncuda = '11.7'\nhip = None\n", TorchBuild(version="1.13.1+cu117", cuda="11.7")),
        ('__version__ = "2.9.1"\ncuda: Optional[str] = "12.8"\n', TorchBuild(version="2.9.1", cuda="12.8")),
        ("", None),
        ("nothing of that kind", None),
    ],
)
def test_torch_version_file(text: str, build: TorchBuild | None) -> None:
    assert frameworks.parse_torch_version(text) == build


def test_leftover_torch_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "torch-2.9.1.dist-info").mkdir()
    (tmp_path / "tensorflow-2.20.0.dist-info").mkdir()
    assert frameworks.find_torch([tmp_path, tmp_path / "none"]) is None
    assert frameworks.find_tensorflow([tmp_path]) is None
    (tmp_path / "torch").mkdir()
    assert frameworks.find_torch([tmp_path]) == TorchBuild(version="2.9.1")
