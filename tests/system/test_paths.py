"""Programs, interpreters and proxies, each found once and by full path."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from gpu_assistant.system import paths, probes


def program(folder: Path, name: str, content: bytes = b"\x7fELF") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def test_first_on_path_wins_and_relative_folders_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program(tmp_path / "planted", "git")
    first = program(tmp_path / "a", "git")
    program(tmp_path / "b", "git")
    entries = ["planted", ".", "", str(tmp_path / "none"), str(tmp_path / "a"), str(tmp_path / "b")]
    environ = {"PATH": os.pathsep.join(entries)}
    assert paths.find_on_path(("git",), environ) == first
    assert paths.find_on_path(("hg",), environ) is None
    assert paths.find_on_path(("git",), {}) is None


def test_interpreters_are_unique_and_shims_excluded(tmp_path: Path) -> None:
    real = program(tmp_path / "usr", "python3.11")
    shim = program(tmp_path / "shims", "python3", b"#!/bin/sh\nexec true\n")
    environment = tmp_path / "env"
    in_environment = program(environment / "bin", "python")
    again = program(environment / "bin", "python3")
    (environment / "pyvenv.cfg").touch()
    found = paths.unique_interpreters([real, shim, in_environment, again, real, tmp_path / "none"])
    assert found == (real, in_environment)


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs rights on Windows")
def test_environment_with_linked_interpreter_is_listed(tmp_path: Path) -> None:
    real = program(tmp_path / "usr", "python3.11")
    link = tmp_path / "usr/python3"
    link.symlink_to(real)
    environment = tmp_path / "env"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    inside = environment / "bin/python"
    inside.symlink_to(real)
    assert paths.unique_interpreters([link, real, inside]) == (link, inside)


def test_folders_are_listed_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    found = paths.unique_folders([tmp_path / "a", tmp_path / "a/../a", tmp_path / "none"])
    assert found == (tmp_path / "a",)


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
    assert paths.proxy_from_environment(environ) == proxy


@pytest.mark.parametrize(
    ("device_class", "maker", "display"),
    [
        ("030000", "10de", True),
        ("030200", "10de", True),
        ("040300", "10de", False),
        ("120000", "1002", True),  # an Instinct card
        ("120000", "1da3", False),  # somebody else's accelerator
        ("060000", "8086", False),
    ],
)
def test_display_adapter_classes(device_class: str, maker: str, display: bool) -> None:
    assert probes.is_display_adapter(device_class, maker) is display


def test_real_programs_are_found() -> None:
    name = Path(sys.executable).name
    found = paths.find_on_path((name,), {"PATH": str(Path(sys.executable).parent)})
    assert found is not None
    assert shutil.which(name, path=str(found.parent)) is not None
