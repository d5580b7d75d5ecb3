"""Which computer packages are for, where that need not be this one: its names at uv and at the wheels."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.errors import CannotSetUp
from ..core.machine import OperatingSystem

# uv's and the wheels' names of the same processors.
_UV = {"x86_64": "x86_64", "arm64": "aarch64"}
_WINDOWS = {"x86_64": "win_amd64", "arm64": "win_arm64"}
# What PyTorch's own wheels ask for, and the C libraries that uv has a name for.
_USUAL_GLIBC = 28
_GLIBCS = (17, 28, *range(31, 41))
# Wheels of these ages have names without the number.
_OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


class Target(Struct, frozen=True, kw_only=True):
    """A computer for wheels; `glibc` like "2.39", None where nobody knows and for Windows."""

    system: Literal["windows", "linux"]
    arch: Literal["x86_64", "arm64"]
    glibc: str | None = None

    @property
    def uv(self) -> str:
        """What uv calls it."""
        if self.system == "windows":
            return f"{_UV[self.arch]}-pc-windows-msvc"
        return f"{_UV[self.arch]}-manylinux_2_{max(n for n in _GLIBCS if n <= max(self._glibc, _GLIBCS[0]))}"

    @property
    def label(self) -> str:
        """What a person calls it."""
        if self.system == "windows":
            return f"Windows {self.arch}"
        return f"Linux {self.arch}, glibc {self.glibc or f'2.{_USUAL_GLIBC}'}"

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms of its wheels, best first."""
        if self.system == "windows":
            return (_WINDOWS[self.arch],)
        machine, found = _UV[self.arch], []
        for minor in range(self._glibc, 4, -1):
            found.append(f"manylinux_2_{minor}_{machine}")
            if minor in _OLD_NAMES:
                found.append(f"{_OLD_NAMES[minor]}_{machine}")
        return (*found, f"linux_{machine}")

    def serves(self, other: Target) -> bool:
        """Whether what was gathered for this computer runs on the other one."""
        same = (self.system, self.arch) == (other.system, other.arch)
        return same and (other.glibc is None or other._glibc >= self._glibc)

    @property
    def _glibc(self) -> int:
        major, _, minor = (self.glibc or "").partition(".")
        return int(minor.partition(".")[0]) if major == "2" and minor[:1].isdigit() else _USUAL_GLIBC


def target_of(here: OperatingSystem, release: str) -> Target:
    """The computer of an operating system; raises CannotSetUp where no step of ours sets one up for a release."""
    if here.system == "darwin":
        raise CannotSetUp("setup-on-mac", release=release)
    glibc = here.glibc if here.system == "linux" else None
    return Target(system=here.system, arch=here.arch or "x86_64", glibc=glibc)
