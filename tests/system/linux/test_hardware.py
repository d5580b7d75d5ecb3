"""Power on Linux, from a tree of sysfs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own; the same module in tests/system/windows has Windows'", allow_module_level=True)


from gpu_assistant.system.base import PowerStatus
from gpu_assistant.system.linux.system import LinuxSystem

pytestmark = pytest.mark.linux


def supply(root: Path, name: str, **files: str) -> None:
    folder = root / "sys/class/power_supply" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file).write_text(text + "\n", encoding="ascii")


def test_laptop_power(tmp_path: Path) -> None:
    power = LinuxSystem(tmp_path).power
    assert power() == PowerStatus()
    supply(tmp_path, "hidpp_battery_0", type="Battery", scope="Device", capacity="12", status="Discharging")
    assert power() == PowerStatus(source="mains")
    supply(tmp_path, "BAT0", type="Battery", capacity="80", status="Discharging")
    supply(tmp_path, "BAT1", type="Battery", capacity="41", status="Unknown")
    supply(tmp_path, "AC", type="Mains", online="0")
    supply(tmp_path, "ucsi", type="USB", online="0")
    profile = tmp_path / "sys/firmware/acpi/platform_profile"
    profile.parent.mkdir(parents=True)
    profile.write_text("low-power\n", encoding="ascii")
    assert power() == PowerStatus(source="battery", percent=60, power_saving=True)
    supply(tmp_path, "ucsi", online="1")
    profile.write_text("balanced\n", encoding="ascii")
    assert power() == PowerStatus(source="mains", percent=60, power_saving=False)


@pytest.mark.parametrize(
    ("status", "source"), [("Discharging", "battery"), ("Charging", "mains"), ("Full", "mains"), ("Unknown", None)]
)
def test_battery_without_charger(tmp_path: Path, status: str, source: str | None) -> None:
    supply(tmp_path, "BAT0", type="Battery", capacity="x", status=status)
    assert LinuxSystem(tmp_path).power() == PowerStatus(source=source)
