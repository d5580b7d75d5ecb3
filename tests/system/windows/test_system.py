"""Windows' own answers, asked of the Windows that the tests run on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' own paths; they run on a Windows Python", allow_module_level=True)

import winreg

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.types import Language
from gpu_assistant.system import current_system
from gpu_assistant.system.windows import registry
from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows
SYSTEM = WindowsSystem()


def test_current_system_is_windows() -> None:
    assert isinstance(current_system(), WindowsSystem)


def test_operating_system() -> None:
    result = SYSTEM.operating_system()
    build = sys.getwindowsversion().build
    assert result.build == build
    assert result.version is not None
    assert result.version.endswith(f".{build}")
    assert result.arch in ("x86_64", "arm64")
    assert result.name is not None
    assert ("Windows 10" in result.name) is (build < 22000 and "Server" not in result.name)


def test_cpu() -> None:
    result = SYSTEM.cpu()
    assert result.name
    assert result.threads == os.cpu_count()


def test_disks_include_the_system_drive() -> None:
    disks = {disk.path: disk for disk in SYSTEM.disks()}
    drive = os.environ["SYSTEMDRIVE"] + "\\"
    assert (disks[drive].total_bytes or 0) > (disks[drive].free_bytes or 0) > 0


def test_adapters_have_pci_ids_and_indexes() -> None:
    result = SYSTEM.display_adapters()
    assert [gpu.index for gpu in result] == list(range(len(result)))
    assert all(gpu.pci_id for gpu in result)


@pytest.mark.needs_card
def test_planted_gpu_is_listed() -> None:
    """The rig can plant an RTX 4060; other machines have what they have."""
    card = next((gpu for gpu in SYSTEM.display_adapters() if gpu.vendor == "nvidia"), None)
    if card is None:
        pytest.skip("no NVIDIA card in this computer (run with -g in the rig)")
    assert card.pci_id is not None
    assert card.name is None or card.name.startswith(("NVIDIA", "Quadro", "Tesla"))
    assert card.memory_bytes is None or card.memory_bytes > 2**30


def test_this_python_is_a_candidate_once() -> None:
    candidates = [path for path in SYSTEM.python_candidates() if path.samefile(sys.base_exec_prefix + "\\python.exe")]
    assert len(candidates) == 1


def test_a_registered_python_is_found(tmp_path: Path) -> None:
    program = tmp_path / "python.exe"
    program.write_bytes(b"MZ")
    company = r"Software\Python\GpuAssistantTest"
    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, company + r"\9.9\InstallPath") as key:
        winreg.SetValueEx(key, "ExecutablePath", 0, winreg.REG_SZ, str(program))
    try:
        assert program in SYSTEM.python_candidates()
    finally:
        for inner in (r"\9.9\InstallPath", r"\9.9", ""):
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, company + inner)


def test_store_alias_is_excluded(tmp_path: Path) -> None:
    store = tmp_path / "Microsoft/WindowsApps"
    store.mkdir(parents=True)
    (store / "python.exe").write_bytes(b"")
    (tmp_path / "other/windowsapps").mkdir(parents=True)  # the same folder by another path
    (tmp_path / "other/windowsapps/python.exe").write_bytes(b"")
    environ = {"LOCALAPPDATA": str(tmp_path), "PATH": f"{store};{tmp_path / 'other/windowsapps'}"}
    candidates = WindowsSystem(environ).python_candidates()
    assert store / "python.exe" not in candidates
    assert tmp_path / "other/windowsapps/python.exe" not in candidates


@pytest.mark.parametrize(
    ("kind", "written", "text", "number"),
    [
        (winreg.REG_SZ, " words\0", "words", None),
        (winreg.REG_SZ, "", None, None),
        (winreg.REG_BINARY, b"\0\0\0\0\2\0\0\0", None, 8 * 2**30),
        (winreg.REG_DWORD, 7, None, 7),
        (winreg.REG_QWORD, 2**33, None, 2**33),
    ],
)
def test_registry_values(kind: int, written: str | bytes | int, text: str | None, number: int | None) -> None:
    key = r"Software\GpuAssistantTest"
    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
        winreg.SetValueEx(opened, "value", 0, kind, written)
    try:
        assert registry.text(registry.USER, key, "value") == text
        assert registry.number(registry.USER, key, "value") == number
        assert registry.text(registry.USER, key, "other") is None
        assert registry.exists(registry.USER, key)
    finally:
        winreg.DeleteKey(winreg.HKEY_CURRENT_USER, key)
    assert not registry.exists(registry.USER, key)
    assert registry.children(registry.USER, key) == []


def proxy_settings(enable: int, server: str) -> None:
    key = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
        winreg.SetValueEx(opened, "ProxyEnable", 0, winreg.REG_DWORD, enable)
        winreg.SetValueEx(opened, "ProxyServer", 0, winreg.REG_SZ, server)


@pytest.mark.parametrize(
    ("enable", "server", "proxy"),
    [
        (0, "proxy:1", None),
        (1, "proxy:1", "proxy:1"),
        (1, "http=a:1;https=b:2", "b:2"),
        (1, "ftp=a:1", None),
    ],
)
def test_proxy_from_windows_settings(enable: int, server: str, proxy: str | None) -> None:
    if "WINELOADERNOEXEC" not in os.environ and "WINEPREFIX" not in os.environ:
        pytest.skip("changes the proxy settings of the user; runs in a Wine prefix only")
    proxy_settings(enable, server)
    try:
        assert WindowsSystem({}).proxy() == proxy
        assert WindowsSystem({"https_proxy": "http://own:1"}).proxy() == "http://own:1"
    finally:
        proxy_settings(0, "")


def test_language_is_ui_language() -> None:
    import ctypes

    expected: Language = "zh_CN" if ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF == 4 else "en"
    assert SYSTEM.language() == expected


def test_a_batch_file_is_refused(tmp_path: Path) -> None:
    batch = tmp_path / "x.bat"
    batch.write_text("echo", encoding="ascii")
    with pytest.raises(ValueError, match="batch"):
        SYSTEM.run([batch, "a & calc"], timeout=5)


def test_non_executable_raises(tmp_path: Path) -> None:
    broken = tmp_path / "x.exe"
    broken.write_bytes(b"nothing")
    with pytest.raises(AppError) as error:
        SYSTEM.run([broken], timeout=5)
    assert error.value.code == "program-missing"


def test_lines_in_windows_code_page() -> None:
    """A program that writes in Windows' own code page, as localised tools do."""
    import locale

    code = "import sys; sys.stdout.buffer.write('\\u00e9'.encode('mbcs', 'replace'))"
    out = SYSTEM.run([sys.executable, "-c", code], timeout=60).stdout
    assert out == "é".encode(locale.getencoding(), "replace").decode("mbcs", "replace")


def test_environment_paths() -> None:
    environment = Path(r"C:\AI\pytorch")
    assert SYSTEM.environment_python(environment) == environment / "Scripts" / "python.exe"
    assert SYSTEM.standalone_python(environment) == environment / "python.exe"
    assert SYSTEM.executable("uv") == "uv.exe"
    assert SYSTEM.activation_command(environment) == r"C:\AI\pytorch\Scripts\activate"


def test_cuda_and_cudnn_folders(tmp_path: Path) -> None:
    toolkit = tmp_path / "NVIDIA GPU Computing Toolkit/CUDA/v12.6"
    (toolkit / "include").mkdir(parents=True)
    cudnn = tmp_path / "NVIDIA/CUDNN/v9.6/include/12.6"
    cudnn.mkdir(parents=True)
    there = WindowsSystem({"ProgramFiles": str(tmp_path)})
    assert there.cuda_folders() == (toolkit,)
    assert there.cudnn_folders() == (cudnn.parent, cudnn, toolkit / "include")
