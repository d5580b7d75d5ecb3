"""Environment variables that every system has: PATH, the proxy, and those that would falsify figures."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from gpu_assistant.system import variables

from .programs import program


def test_first_on_path_wins_and_relative_folders_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program(tmp_path / "planted", "git")
    first = program(tmp_path / "a", "git")
    program(tmp_path / "b", "git")
    entries = ["planted", ".", "", str(tmp_path / "none"), str(tmp_path / "a"), str(tmp_path / "b")]
    environ = {"PATH": os.pathsep.join(entries)}
    assert variables.find_on_path(("git",), environ) == first
    assert variables.find_on_path(("hg",), environ) is None
    assert variables.find_on_path(("git",), {}) is None


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"https_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ({"HTTP_PROXY": "http://b:1", "HTTPS_PROXY": "http://a:1"}, "http://a:1"),
        ({"https_proxy": "", "ALL_PROXY": "socks5://c:1"}, "socks5://c:1"),
        ({"https_proxy": "http://lin:secret@proxy:3128/"}, "http://proxy:3128/"),
        ({"https_proxy": "lin:sec@ret@proxy:3128"}, "proxy:3128"),
    ],
)
def test_proxy_without_credentials(environ: dict[str, str], proxy: str | None) -> None:
    assert variables.proxy_from_environment(environ) == proxy


def test_real_programs_are_found() -> None:
    name = Path(sys.executable).name
    result = variables.find_on_path((name,), {"PATH": str(Path(sys.executable).parent)})
    assert result is not None
    assert shutil.which(name, path=str(result.parent)) is not None


def test_only_falsifying_variables_are_named() -> None:
    environ = {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "ONEDNN_DEFAULT_FPMATH_MODE": "BF16",
        "CUDNN_DETERMINISTIC": "",
    }
    assert variables.falsifying_variables(environ) == ("CUDNN_DETERMINISTIC", "ONEDNN_DEFAULT_FPMATH_MODE")
