"""What `dev.py` decides before it runs anything, and what it says."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import msgspec
import pytest

import dev

OPEN, TEST = dev.wanted("open"), dev.wanted("test")


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_assistant.system.language.user_language", lambda: "en")


@pytest.fixture
def chinese(english: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_assistant.system.language.user_language", lambda: "zh_CN")


class AsciiTerminal(io.TextIOWrapper):
    """A terminal that has no Chinese characters."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="ascii", errors="backslashreplace")

    def shown(self) -> str:
        self.seek(0)
        return self.read()


def test_a_chinese_user_reads_chinese(chinese: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main([]) == 2
    assert capsys.readouterr().err.startswith("在这个文件夹里做好准备，然后打开程序或运行测试。")
    assert dev.progress("  Downloading numpy-2.1.0-cp311.whl (16.3 MB)\n") == "  正在下载 numpy（16.3 MB）"
    assert dev.trouble("pip 没能装好软件包", ["Network is unreachable\n"]).startswith(
        "pip 没能装好软件包：没有服务器响应。"
    )


def test_a_terminal_without_chinese_characters_shows_english(chinese: None, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = AsciiTerminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert dev.main([]) == 2
    assert "set up (first time), then open the program" in terminal.shown()


def test_a_new_lock_forgets_the_old_ones() -> None:
    assert dev.stamp_lines("test", {"test old lines", "open old lines"}) == [dev.made_with(), TEST]
    assert dev.stamp_lines("test", {dev.made_with(), OPEN, "test old"}) == [dev.made_with(), TEST, OPEN]


def test_an_environment_belongs_to_a_python_and_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = dev.made_with()
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    elsewhere = dev.made_with()
    monkeypatch.setattr(sys, "base_prefix", "/another/python")
    assert len({mine, elsewhere, dev.made_with()}) == 3
    assert sys.version.split()[0] in mine


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Collecting numpy==2.1.0 (from -r requirements/run.txt (line 1))\n", ""),
        ("  Downloading numpy-2.1.0-cp311-cp311-manylinux_2_17.whl (16.3 MB)\n", "  Downloading numpy (16.3 MB)"),
        ("Downloading https://a.test/x/uv-0.13.0-py3-none-any.whl (1.2 GB)\n", "  Downloading uv (1.2 GB)"),
        ("  Downloading types_psutil-7.0-py3-none-any.whl (25 kB)\n", ""),
        ("Installing collected packages: uv, numpy\n", "  Installing the packages"),
        ("Installing collected packages: gpu-assistant\n", ""),
    ],
)
def test_pips_lines_become_progress(line: str, expected: str) -> None:
    assert dev.progress(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Retrying (...) 'NameResolutionError(\"...: Failed to resolve 'a.test'\")'\n",
        "WARNING: ... NewConnectionError('...: [Errno 101] Network is unreachable')\n",
        "Err:1 http://a.test/debian stable InRelease\n  Temporary failure resolving 'a.test'\n",
    ],
)
def test_a_missing_connection_is_said(line: str) -> None:
    assert dev.trouble("pip failed", [line]).startswith("pip failed: no server answered.")


def test_another_trouble_is_left_to_what_pip_says() -> None:
    text = dev.trouble("pip failed", ["ERROR: No space left on device\n"])
    assert text.startswith("ERROR: No space left on device\n")
    assert "internet" not in text


@pytest.mark.parametrize("sudo", [True, False])
def test_the_command_for_root_is_one_line_of_shell(sudo: bool) -> None:
    command = shlex.split(
        dev.as_root(("/usr/bin/apt-get", "-q", "update"), ("/usr/bin/apt-get", "install", "x"), sudo=sudo)
    )
    assert command[:-1] == (["sudo", "sh", "-c"] if sudo else ["su", "-", "-c"])
    assert command[-1] == "apt-get -q update && apt-get install x"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Python")
def test_the_tests_compile_modules_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nenv >seen\nexit 5\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(dev, "PYTHON", program)
    monkeypatch.setattr(dev, "HERE", tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("KEPT", "yes")
    assert dev.start("test", []) == 5
    seen = (tmp_path / "seen").read_text(encoding="utf-8").splitlines()
    assert "KEPT=yes" in seen
    assert not [line for line in seen if line.startswith("PYTHONDONTWRITEBYTECODE")]


@pytest.fixture
def plain_user(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Somebody who lacks a library, is not root and has no sudo; the list takes what would have been run."""
    ran: list[str] = []
    monkeypatch.setattr(dev, "QT_LIBRARIES", {"libmissing.so.9": "libmissing9"})
    monkeypatch.setattr(dev, "WINDOWS", False)
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(dev.shutil, "which", lambda name: None if name == "sudo" else f"/usr/bin/{name}")
    monkeypatch.setattr(dev.subprocess, "run", lambda *given, **more: ran.append(str(given)))
    return ran


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux' libraries come from elsewhere")
def test_without_rights_it_stops_before_any_download(plain_user: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["test"]) == 1
    output = capsys.readouterr().err
    assert "su - -c 'apt-get -q update && apt-get -q install -y --no-install-recommends libmissing9" in output
    assert plain_user == []


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="Windows brings its own")
def test_without_apt_the_libraries_are_named(
    plain_user: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    assert dev.main(["open"]) == 1
    assert "libmissing.so.9" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "system_packages", lambda: None)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev.os, "access", lambda path, mode: False)
    assert dev.main(["open"]) == 1
    assert f"{dev.HERE} cannot be written to" in capsys.readouterr().err
    assert not (tmp_path / ".venv").exists()


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux' libraries")
def test_qt_asks_for_the_listed_libraries_and_no_others() -> None:
    import PySide6

    sys.path[:0] = [str(dev.HERE / "installers"), str(dev.HERE / "installers/linux")]
    import needs

    folder = Path(PySide6.__file__).parent / "Qt"
    names = ("Core", "DBus", "Gui", "Network", "Svg", "Widgets", "XcbQpa")
    files = [folder / "lib" / f"libQt6{name}.so.6" for name in names]
    files += [folder / "plugins/platforms" / f"libq{name}.so" for name in ("xcb", "offscreen")]
    libraries = set().union(*(needs.asked(file) for file in files))
    known = msgspec.json.decode(needs.DATA.read_bytes(), type=needs.Libraries).libraries
    packages = {known[name] for name in libraries if not name.startswith(("libQt6", "libicu"))}
    # Every Debian has these.
    assert packages - {"libc6", "libgcc-s1", "libstdc++6", "libzstd1", "zlib1g"} == set(dev.QT_LIBRARIES.values())


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_sizes_are_those_of_the_readme(readme: str) -> None:
    text = (Path(dev.__file__).parent / readme).read_text(encoding="utf-8")
    for sizes in zip(dev.SIZES["open"], dev.SIZES["test"], strict=True):
        assert re.search(r"\| \D*{} \| \D*{} \|".format(*map(re.escape, sizes)), text)
