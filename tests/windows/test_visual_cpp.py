"""A Windows without the C++ runtime that PyTorch asks for: said before PyTorch is loaded, in plain words."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify.job import VerifyJob
from tests.fakes.environments import environment_with, site_packages

if sys.platform != "win32":
    pytest.skip("only Windows has this runtime", allow_module_level=True)

pytestmark = pytest.mark.windows


def library(*asks_for: str) -> bytes:
    """A 64-bit library whose import directory names these libraries, and which holds nothing else."""
    base, start = 0x1000, 0x200
    names = b"".join(name.encode() + b"\0" for name in asks_for)
    first = base + 20 * (len(asks_for) + 1)
    places = [first + sum(len(name) + 1 for name in asks_for[:number]) for number in range(len(asks_for))]
    entries = b"".join(struct.pack("<5I", 0, 0, 0, place, 0) for place in places) + bytes(20)
    section = (entries + names).ljust(0x200, b"\0")
    dos = b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 240, 0x2022)
    optional = (struct.pack("<H", 0x20B) + bytes(118) + struct.pack("<II", base, len(section))).ljust(240, b"\0")
    table = b".idata\0\0" + struct.pack("<4I", len(section), base, len(section), start) + bytes(16)
    return (dos + coff + optional + table).ljust(start, b"\0") + section


def environment(folder: Path, *asks_for: str) -> Path:
    """An environment whose PyTorch brings such a library, and fails as the real one does."""
    made = environment_with(folder, 'raise OSError("[WinError 126] Error loading shm.dll")')
    libraries = site_packages(made) / "torch" / "lib"
    libraries.mkdir()
    (libraries / "torch_cpu.dll").write_bytes(library(*asks_for))
    return made


def test_missing_runtime_reported_before_loading_torch(tmp_path: Path) -> None:
    asks_for = ("KERNEL32.dll", "VCRUNTIME140.dll", "VCRUNTIME140_NOTHERE.dll", "nothing_of_microsofts.dll")
    checks = VerifyJob(environment(tmp_path / "环境 one", *asks_for), current_system()).run(JobContext())
    result = {check.id: check for check in checks.checks}
    assert checks.verdict == "fail"
    assert (result["visual-cpp"].state, result["visual-cpp"].value) == ("fail", "vcruntime140_nothere.dll")
    assert [check.id for check in checks.checks if check.state == "fail"] == ["visual-cpp"]
    assert result["torch-import"].state == "skip"
    for language in ("en", "zh_CN"):
        [text] = [check for check in Texts(language).localize_checks(checks).checks if check.id == "visual-cpp"]
        assert "Visual C++" in (text.text or "")
        assert "vcruntime140_nothere.dll" in (text.text or "")
        assert "vc_redist.x64.exe" in (text.fix or "")
        assert "WinError" not in (text.text or "")


def test_complete_runtime_loads_torch(tmp_path: Path) -> None:
    checks = VerifyJob(environment(tmp_path / "env", "KERNEL32.dll", "VCRUNTIME140.dll"), current_system()).run(
        JobContext()
    )
    states = {check.id: check.state for check in checks.checks}
    assert (states["visual-cpp"], states["torch-import"]) == ("pass", "fail")


def test_damaged_library_reported_by_torch(tmp_path: Path) -> None:
    made = environment(tmp_path / "env")
    (site_packages(made) / "torch" / "lib" / "c10.dll").write_bytes(b"MZ nothing more")
    states = {check.id: check.state for check in VerifyJob(made, current_system()).run(JobContext()).checks}
    assert "visual-cpp" not in states
    assert states["torch-import"] == "fail"
