"""What Windows writes about itself, from recorded words; runs everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Gpu
from gpu_assistant.system.base import PowerStatus
from gpu_assistant.system.windows.parsing import (
    MAX_PATH_VARIABLE,
    append_to_path,
    environments_folder,
    nvidia_driver_version,
    parse_display_adapter,
    parse_gpu_instance,
    parse_power_status,
    parse_processor_feature,
    powershell_script_line,
    quote_for_shell,
    remove_folder_from_path,
    windows_product_name,
)


@pytest.mark.parametrize(
    ("present", "build", "arm", "answer"),
    [(True, 17763, False, True), (False, 26100, False, False), (False, 17763, False, None), (False, 26100, True, None)],
)
def test_processor_feature(present: bool, build: int, arm: bool, answer: bool | None) -> None:
    assert parse_processor_feature(present, build, arm=arm) is answer


DEVICES = json.loads(
    (Path(__file__).resolve().parents[2] / "machines/windows11-desktop/devices.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("product", "build", "name"),
    [
        ("Windows 10 Pro", 26100, "Windows 11 Pro"),
        ("Windows 10 Pro", 22000, "Windows 11 Pro"),
        ("Windows 10 Home", 19045, "Windows 10 Home"),
        ("Windows Server 2025 Standard", 26100, "Windows Server 2025 Standard"),
        ("", 26100, None),
        (None, 26100, None),
    ],
)
def test_system_name(product: str | None, build: int, name: str | None) -> None:
    assert windows_product_name(product, build) == name


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device["what"])
def test_adapters(device: dict[str, Any]) -> None:
    expected = Gpu(**device["adapter"]) if device["adapter"] else None
    assert parse_display_adapter(**{key: device[key] for key in device if key not in ("what", "adapter")}) == expected


@pytest.mark.parametrize(
    ("data_root", "folder"),
    [
        (r"C:\Users\lin\AppData\Local\gpu-assistant", r"C:\Users\lin\AppData\Local\gpu-assistant\environments"),
        (r"C:\Users\张三\AppData\Local\gpu-assistant", r"C:\AI"),
        (r"C:\Users\lin\OneDrive\data", r"C:\AI"),
        (r"C:\Users\lin\OneDrive - Contoso\data", r"C:\AI"),
        ("C:\\" + "a" * 74, "C:\\" + "a" * 74 + r"\environments"),  # 90 characters
        ("C:\\" + "a" * 75, r"C:\AI"),
    ],
)
def test_environments_folder_is_short_and_ascii(data_root: str, folder: str) -> None:
    assert environments_folder(data_root) == folder
    assert len(folder) <= 90


@pytest.mark.parametrize(
    ("word", "shown"), [(r"C:\AI\activate", r"C:\AI\activate"), (r"C:\a b\activate", r'"C:\a b\activate"')]
)
def test_quote_for_shell(word: str, shown: str) -> None:
    assert quote_for_shell(word) == shown


def upper(text: str) -> str:
    """Stands for Windows' filling in of names."""
    return text.replace("%HOME%", r"C:\Users\x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, r"C:\AI"),
        ("", r";C:\AI"),
        (r"C:\a", r"C:\a;C:\AI"),
        (r"C:\a;", r"C:\a;C:\AI;"),
        (r"%HOME%\a;;C:\b;;", r"%HOME%\a;;C:\b;;C:\AI;"),
    ],
)
def test_path_round_trip_is_exact(before: str | None, after: str) -> None:
    assert append_to_path(before, r"C:\AI", True, upper) == after
    assert remove_folder_from_path(after, r"C:\AI") == before
    # What others added meanwhile stays.
    assert remove_folder_from_path(after + r"D:\later" if after.endswith(";") else after + r";D:\later", r"C:\AI") == (
        r"D:\later" if before is None else before + (r"D:\later" if before.endswith(";") else r";D:\later")
    )


@pytest.mark.parametrize(
    ("path", "folder", "expand", "there"),
    [
        (r"c:\ai\;C:\b", r"C:\AI", True, True),
        (r'"C:/AI"', r"C:\AI", False, True),
        (r"%HOME%\bin", r"C:\Users\x\bin", True, True),
        (r"%HOME%\bin", r"C:\Users\x\bin", False, False),
        (r"C:\AI\more", r"C:\AI", True, False),
    ],
)
def test_folder_already_on_path(path: str, folder: str, expand: bool, there: bool) -> None:
    assert (append_to_path(path, folder, expand, upper) is None) is there


def test_folder_not_allowed_on_path() -> None:
    for folder, expand in ((r"C:\a;b", False), (r"%HOME%\a", True)):
        with pytest.raises(AppError) as error:
            append_to_path("x", folder, expand, upper)
        assert error.value.code == "path-not-addable"
    assert append_to_path("x", r"%HOME%\a", False, upper) == r"x;%HOME%\a"
    assert len(append_to_path("x" * (MAX_PATH_VARIABLE - 3), "ab", False, upper) or "") == MAX_PATH_VARIABLE
    with pytest.raises(AppError) as error:
        append_to_path("x" * (MAX_PATH_VARIABLE - 3), "abc", False, upper)
    assert (error.value.code, error.value.data["length"]) == ("path-too-long", MAX_PATH_VARIABLE + 1)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ((1, 128, 255, 0), PowerStatus(source="mains", power_saving=False)),
        ((0, 1, 83, 1), PowerStatus(source="battery", percent=83, power_saving=True)),
        ((1, 8, 40, 0), PowerStatus(source="mains", percent=40, power_saving=False)),
        ((255, 255, 255, 0), PowerStatus(source=None, power_saving=False)),
    ],
)
def test_power(status: tuple[int, int, int, int], expected: PowerStatus) -> None:
    assert parse_power_status(*status) == expected


@pytest.mark.parametrize(
    ("windows", "nvidia"),
    [
        ("32.0.15.6603", "566.03"),
        ("32.0.15.6094", "560.94"),
        ("31.0.15.3623", "536.23"),
        ("27.21.14.5671", "456.71"),
        ("32.0.15.79", "500.79"),
        ("6603", None),
        ("32.0.x.6603", None),
        (None, None),
    ],
)
def test_nvidia_driver_version(windows: str | None, nvidia: str | None) -> None:
    assert nvidia_driver_version(windows) == nvidia


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pid_9876_luid_0x00000000_0x0000C9D1_phys_0", (9876, (0xC9D1, 0))),
        ("pid_4_luid_0x00000001_0x00abcdef_phys_1_eng_3_engtype_3D", (4, (0xABCDEF, 1))),
        ("luid_0x00000000_0x0000C9D1_phys_0", None),
        ("_Total", None),
    ],
)
def test_parse_gpu_instance(name: str, expected: tuple[int, tuple[int, int]] | None) -> None:
    assert parse_gpu_instance(name) == expected


@pytest.mark.parametrize("folder", [r"C:\AI\env", r"C:\Users\张 三\env", r"C:\it's & $HOME"])
def test_powershell_line_allows_scripts_for_its_window_and_quotes_the_path(folder: str) -> None:
    line = powershell_script_line(folder)
    allow, _, call = line.partition("; ")
    assert allow == "Set-ExecutionPolicy -Scope Process RemoteSigned -Force"
    # In single quotes PowerShell reads everything as it stands, and two of them as one.
    assert call.startswith("& '")
    assert call.endswith("'")
    assert call[3:-1].replace("''", "'") == folder
