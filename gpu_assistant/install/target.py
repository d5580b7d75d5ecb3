"""Which computer packages are for, where that need not be this one: its names at uv and at the wheels."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.errors import SetupNotSupported
from ..core.machine import OperatingSystem

# uv's and the wheels' names of the same processors.
_UV_ARCHITECTURES = {"x86_64": "x86_64", "arm64": "aarch64"}
_WINDOWS_TAGS = {"x86_64": "win_amd64", "arm64": "win_arm64"}
# What PyTorch's own wheels ask for, and the C libraries that uv has a name for.
_DEFAULT_GLIBC = 28
_UV_GLIBCS = (17, 28, *range(31, 41))
# Wheels of these ages have names without the number.
_LEGACY_TAGS = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


class Platform(Struct, frozen=True, kw_only=True):
    """A computer for wheels; `glibc` like "2.39", None where nobody knows and for Windows."""

    system: Literal["windows", "linux"]
    arch: Literal["x86_64", "arm64"]
    glibc: str | None = None

    @property
    def uv_platform(self) -> str:
        """What uv calls it."""
        if self.system == "windows":
            return f"{_UV_ARCHITECTURES[self.arch]}-pc-windows-msvc"
        return f"{_UV_ARCHITECTURES[self.arch]}-manylinux_2_{max(n for n in _UV_GLIBCS if n <= max(self._glibc, _UV_GLIBCS[0]))}"

    @property
    def label(self) -> str:
        """What a person calls it."""
        if self.system == "windows":
            return f"Windows {self.arch}"
        return f"Linux {self.arch}, glibc {self.glibc or f'2.{_DEFAULT_GLIBC}'}"

    @property
    def platform_tags(self) -> tuple[str, ...]:
        """The platforms of its wheels, best first."""
        if self.system == "windows":
            return (_WINDOWS_TAGS[self.arch],)
        machine, tags = _UV_ARCHITECTURES[self.arch], []
        for minor in range(self._glibc, 4, -1):
            tags.append(f"manylinux_2_{minor}_{machine}")
            if minor in _LEGACY_TAGS:
                tags.append(f"{_LEGACY_TAGS[minor]}_{machine}")
        return (*tags, f"linux_{machine}")

    def is_compatible_with(self, platform: Platform) -> bool:
        """Whether what was gathered for this computer runs on the other one."""
        is_same_system = (self.system, self.arch) == (platform.system, platform.arch)
        return is_same_system and (platform.glibc is None or platform._glibc >= self._glibc)

    @property
    def _glibc(self) -> int:
        major, _, minor = (self.glibc or "").partition(".")
        return int(minor.partition(".")[0]) if major == "2" and minor[:1].isdigit() else _DEFAULT_GLIBC


def platform_for(operating_system: OperatingSystem, release: str) -> Platform:
    """The computer of an operating system; raises CannotSetUp where no step of ours sets one up for a release."""
    if operating_system.system == "darwin":
        raise SetupNotSupported("setup-on-mac", release=release)
    glibc = operating_system.glibc if operating_system.system == "linux" else None
    return Platform(system=operating_system.system, arch=operating_system.arch or "x86_64", glibc=glibc)
