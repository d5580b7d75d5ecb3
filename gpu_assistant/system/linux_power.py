"""Linux' power: mains or battery as the kernel's power_supply and platform_profile tell, and staying awake."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from .services import PowerStatus

SYSTEMD_INHIBIT = Path("/usr/bin/systemd-inhibit")
CAT = Path("/bin/cat")
INHIBIT_TIMEOUT_S = 2.0  # logind answers at once or not at all
POWER_SAVING_PROFILE = "low-power"  # Documentation/ABI/testing/sysfs-platform_profile


def read_power_status(root: Path) -> PowerStatus:
    """A mouse's battery (its scope is "Device") is not the computer's."""
    power_supplies = [supply for supply in sorted(root.glob("sys/class/power_supply/*")) if _read_attribute(supply / "scope") != "Device"]
    batteries = [supply for supply in power_supplies if _read_attribute(supply / "type") == "Battery"]
    chargers = [supply for supply in power_supplies if _read_attribute(supply / "type") in ("Mains", "USB", "Wireless")]
    percentages = [int(text) for supply in batteries if (text := _read_attribute(supply / "capacity")).isdecimal()]
    profile = _read_attribute(root / "sys/firmware/acpi/platform_profile")
    return PowerStatus(
        source=_power_source(batteries, chargers, has_power_supply_class=bool(power_supplies) or (root / "sys/class/power_supply").is_dir()),
        percent=round(sum(percentages) / len(percentages)) if percentages else None,
        power_saving=profile == POWER_SAVING_PROFILE if profile else None,
    )


def _power_source(batteries: Sequence[Path], chargers: Sequence[Path], *, has_power_supply_class: bool) -> Literal["mains", "battery"] | None:
    if not batteries:
        return "mains" if has_power_supply_class else None
    online_states = [_read_attribute(each / "online") for each in chargers]
    if "1" in online_states:
        return "mains"
    states = {_read_attribute(each / "status") for each in batteries}
    if "Discharging" in states or "0" in online_states:
        return "battery"
    return "mains" if states & {"Charging", "Full", "Not charging"} else None


@contextmanager
def keep_awake(reason: str, program: Path = SYSTEMD_INHIBIT) -> Iterator[bool]:
    """Hold logind's sleep inhibitor; says whether it holds.

    The inhibitor lasts as long as `cat`, and `cat` as long as our end of its pipe: it goes when we go. What
    `cat` is given comes back only once it runs, and it runs only once logind agreed.
    """
    inhibitor = None
    if program.is_file():
        with suppress(OSError):
            inhibitor = subprocess.Popen(
                [program, "--what=sleep:idle", "--who=GPU Assistant", f"--why={reason}", "--mode=block", CAT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    try:
        is_inhibited = inhibitor is not None and _is_inhibited(inhibitor)
        if inhibitor is not None and not is_inhibited:  # what ended by itself would be a zombie until we go on
            _stop_inhibitor(inhibitor)
            inhibitor = None
        yield is_inhibited
    finally:
        if inhibitor is not None:
            _stop_inhibitor(inhibitor)


def _is_inhibited(inhibitor: subprocess.Popen[bytes]) -> bool:
    if inhibitor.stdin is None or inhibitor.stdout is None:
        return False
    with suppress(OSError):
        inhibitor.stdin.write(b"\n")
        inhibitor.stdin.flush()
    ready, _, _ = select.select([inhibitor.stdout], [], [], INHIBIT_TIMEOUT_S)
    return bool(ready) and inhibitor.stdout.read(1) == b"\n"


def _stop_inhibitor(inhibitor: subprocess.Popen[bytes]) -> None:
    for pipe in (inhibitor.stdin, inhibitor.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        inhibitor.wait(timeout=2)
    except subprocess.TimeoutExpired:
        inhibitor.kill()
        inhibitor.wait()


def _read_attribute(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
