"""Linux' power: mains or battery as the kernel's power_supply and platform_profile tell, and staying awake."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from .services import Power

INHIBIT = Path("/usr/bin/systemd-inhibit")
CAT = Path("/bin/cat")
HELD_S = 2.0  # logind answers at once or not at all
SAVING = "low-power"  # Documentation/ABI/testing/sysfs-platform_profile


def power(root: Path) -> Power:
    """A mouse's battery (its scope is "Device") is not the computer's."""
    supplies = [each for each in sorted(root.glob("sys/class/power_supply/*")) if _read(each / "scope") != "Device"]
    batteries = [each for each in supplies if _read(each / "type") == "Battery"]
    chargers = [each for each in supplies if _read(each / "type") in ("Mains", "USB", "Wireless")]
    percents = [int(text) for each in batteries if (text := _read(each / "capacity")).isdecimal()]
    profile = _read(root / "sys/firmware/acpi/platform_profile")
    return Power(
        source=_source(batteries, chargers, known=bool(supplies) or (root / "sys/class/power_supply").is_dir()),
        percent=round(sum(percents) / len(percents)) if percents else None,
        saving=profile == SAVING if profile else None,
    )


def _source(batteries: Sequence[Path], chargers: Sequence[Path], *, known: bool) -> Literal["mains", "battery"] | None:
    if not batteries:
        return "mains" if known else None
    online = [_read(each / "online") for each in chargers]
    if "1" in online:
        return "mains"
    states = {_read(each / "status") for each in batteries}
    if "Discharging" in states or "0" in online:
        return "battery"
    return "mains" if states & {"Charging", "Full", "Not charging"} else None


@contextmanager
def keep_awake(why: str, program: Path = INHIBIT) -> Iterator[bool]:
    """Hold logind's sleep inhibitor; says whether it holds.

    The inhibitor lasts as long as `cat`, and `cat` as long as our end of its pipe: it goes when we go. What
    `cat` is given comes back only once it runs, and it runs only once logind agreed.
    """
    holder = None
    if program.is_file():
        with suppress(OSError):
            holder = subprocess.Popen(
                [program, "--what=sleep:idle", "--who=GPU Assistant", f"--why={why}", "--mode=block", CAT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    try:
        holds = holder is not None and _holds(holder)
        if holder is not None and not holds:  # what ended by itself would be a zombie until we go on
            _let_go(holder)
            holder = None
        yield holds
    finally:
        if holder is not None:
            _let_go(holder)


def _holds(holder: subprocess.Popen[bytes]) -> bool:
    if holder.stdin is None or holder.stdout is None:
        return False
    with suppress(OSError):
        holder.stdin.write(b"\n")
        holder.stdin.flush()
    ready, _, _ = select.select([holder.stdout], [], [], HELD_S)
    return bool(ready) and holder.stdout.read(1) == b"\n"


def _let_go(holder: subprocess.Popen[bytes]) -> None:
    for pipe in (holder.stdin, holder.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        holder.wait(timeout=2)
    except subprocess.TimeoutExpired:
        holder.kill()
        holder.wait()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
