"""Chinese in and out of the program, whatever code page Windows gives its pipes."""

from __future__ import annotations

import json
import locale
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.system.windows.parsing import SHORT_ENVIRONMENTS_FOLDER

from .conftest import ROOT, Call

if sys.platform != "win32":
    pytest.skip("Windows' code pages", allow_module_level=True)

import winreg

from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows
RTX = ROOT / "tests/machines/windows11-rtx4060-566.json"
PAGES = pytest.mark.parametrize("pages", [None, "cp936", "cp1252"])
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine file with Chinese letters and a space in its path."""
    folder = tmp_path / "机器 文件"
    folder.mkdir()
    return Path(shutil.copy(RTX, folder / "我的 电脑.json"))


@PAGES
def test_chinese_text_in_every_code_page(call: Call, machine: Path, pages: str | None) -> None:
    done = call("recommend", "--lang", "zh_CN", "--machine", machine, pages=pages)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(pages or "mbcs")
    assert "PyTorch" in text
    assert ("驱动" in text) is ("驱动".encode(pages or "mbcs", "replace").decode(pages or "mbcs") == "驱动")


@PAGES
def test_json_is_utf8_in_every_code_page(call: Call, machine: Path, pages: str | None) -> None:
    done = call("recommend", "--json", "--lang", "zh_CN", "--machine", machine, pages=pages)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not done.stdout.startswith(BOM)
    value = json.loads(done.stdout.decode("utf-8"))
    assert any("显卡" in reason["text"] for reason in value["reasons"])


@PAGES
def test_machine_report_in_every_code_page(call: Call, pages: str | None) -> None:
    done = call("detect", "--lang", "zh_CN", pages=pages)
    assert done.returncode == 0, done.stderr
    assert "Windows" in done.stdout.decode(pages or "mbcs")


@PAGES
def test_an_error_with_a_chinese_path(call: Call, tmp_path: Path, pages: str | None) -> None:
    done = call("recommend", "--lang", "zh_CN", "--machine", tmp_path / "没有 这个.json", pages=pages)
    assert (done.returncode, done.stdout) == (2, b"")
    lines = done.stderr.decode(pages or "mbcs").splitlines()
    assert len(lines) == 1
    assert "Traceback" not in lines[0]
    assert lines[0].endswith(("。", "?"))
    if pages == "cp936":
        assert "没有 这个.json" in lines[0]


def test_a_machine_file_from_an_editor_on_windows(call: Call, machine: Path) -> None:
    machine.write_bytes(BOM + machine.read_bytes().replace(b"\n", b"\r\n"))
    assert call("recommend", "--machine", machine).returncode == 0


@PAGES
def test_the_log_is_utf8(call: Call, tmp_path: Path, pages: str | None) -> None:
    wheels = tmp_path / "轮子 文件夹"
    wheels.mkdir()
    environ = {"GPU_ASSISTANT_WHEELHOUSE": str(wheels)}
    done = call("detect", "--verbose", "--json", "--data-dir", tmp_path / "数据", pages=pages, environ=environ)
    assert done.returncode == 0, done.stderr
    logs = list((tmp_path / "数据" / "logs").glob("*.log"))
    for log in logs:
        assert not log.read_bytes().startswith(BOM)
        log.read_text(encoding="utf-8")


def test_a_profile_with_a_chinese_name(call: Call, tmp_path: Path) -> None:
    """What %USERPROFILE% of such a user looks like: data goes there, environments to plain ASCII."""
    profile = tmp_path / "张三"
    local = profile / "AppData" / "Local"
    local.mkdir(parents=True)
    environ = {"LOCALAPPDATA": str(local), "USERPROFILE": str(profile)}
    done = call("plan", "--json", "--data-dir", local / "gpu-assistant", environ=environ)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["env"] == f"{SHORT_ENVIRONMENTS_FOLDER}\\pytorch"


def test_the_programs_code_page_is_that_of_windows() -> None:
    """A manifest may ask for UTF-8 instead; then what tools write in Windows' code page is garbled, and what is written
    for them: https://learn.microsoft.com/windows/apps/design/globalizing/use-utf8-code-page
    """
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SYSTEM\CurrentControlSet\Control\Nls\CodePage") as key:
        page, _kind = winreg.QueryValueEx(key, "ACP")
    assert locale.getencoding() == f"cp{page}"


@pytest.mark.parametrize("written", ["utf-8", "mbcs"])
def test_output_of_other_programs(written: str) -> None:
    """Localised tools write in the code page of Windows, newer ones in UTF-8: both are read."""
    text = "é" if "é".encode("mbcs", "replace") != b"e" else "驱动程序"
    text = text if text.encode("mbcs", "replace").decode("mbcs") == text else "驱动程序"
    code = f"import sys; sys.stdout.buffer.write({text!r}.encode({written!r}))"
    finished = WindowsSystem(os.environ).run([sys.executable, "-c", code], timeout=60)
    assert finished.stdout == text


def test_the_console_program_needs_no_streams() -> None:
    """pythonw and services have neither stdout nor stderr."""
    windowed = Path(sys.executable).with_name("pythonw.exe")
    if not windowed.is_file():
        pytest.skip("this Python has no pythonw.exe")
    done = subprocess.run([windowed, "-m", "gpu_assistant", "detect", "--quiet"], cwd=ROOT, timeout=120, check=False)
    assert done.returncode in (0, 1)
