"""What Windows writes about itself, from recorded words; runs everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.machine import Gpu
from gpu_assistant.system.windows_read import adapter, environments_folder, quoted, system_name

DEVICES = json.loads(
    (Path(__file__).resolve().parents[1] / "machines/windows11-desktop/devices.json").read_text(encoding="utf-8")
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
    assert system_name(product, build) == name


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device["what"])
def test_adapters(device: dict[str, Any]) -> None:
    expected = Gpu(**device["adapter"]) if device["adapter"] else None
    assert adapter(**{key: device[key] for key in device if key not in ("what", "adapter")}) == expected


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
def test_environments_lie_where_nothing_trips_over_them(data_root: str, folder: str) -> None:
    assert environments_folder(data_root) == folder
    assert len(folder) <= 90


@pytest.mark.parametrize(
    ("word", "shown"), [(r"C:\AI\activate", r"C:\AI\activate"), (r"C:\a b\activate", r'"C:\a b\activate"')]
)
def test_quoted(word: str, shown: str) -> None:
    assert quoted(word) == shown
