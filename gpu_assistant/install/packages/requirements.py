"""Which computer packages are for, where that need not be this one: its names at uv and at the wheels.

The user's own folder of wheels: what it offers on this computer.

What an environment shall hold, before any source was asked.

What PyTorch needs and a folder of wheels does not have.

Which of the user's own wheels is damaged.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ...core import json
from ...core.errors import SetupNotSupported
from ...core.machine import OperatingSystem
from ...core.paths import DataDir
from ...core.recommendation import LocalWheel, Recommendation
from .uv import default_index_url

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


_CPYTHON_TAG = re.compile(r"cp3(\d+)$")


def scan_wheelhouse(folder: Path) -> tuple[LocalWheel, ...]:
    """The wheels in a folder, for whatever system, by project, newest version first.

    Only names are read. Files that are not well-named wheels are passed over; an unreadable folder offers
    nothing.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    from packaging.version import Version

    rows: list[tuple[str, Version, LocalWheel]] = []
    try:
        paths = sorted(folder.glob("*.whl"))
    except OSError:
        return ()
    for path in paths:
        try:
            project, version, _build, tags = parse_wheel_filename(path.name)
            size = path.stat().st_size
        except (InvalidWheelFilename, OSError):
            continue
        wheel = LocalWheel(
            project=project,
            version=version.public,
            variant=version.local,
            python=_python_series({(tag.interpreter, tag.abi) for tag in tags}),
            path=str(path),
            bytes=size,
        )
        rows.append((project, version, wheel))
    rows.sort(key=lambda row: row[1], reverse=True)
    rows.sort(key=lambda row: row[0])
    return tuple(wheel for _project, _version, wheel in rows)


def compatible_wheels(
    folder: Path, series: str | None = None, platforms: Sequence[str] | None = None
) -> tuple[LocalWheel, ...]:
    """The wheels in a folder that install on this computer, or on one with these wheel platforms; with a series, into
    a "3.11" Python.
    """
    from packaging.tags import platform_tags

    supported = {"any", *(platform_tags() if platforms is None else platforms)}

    def is_compatible(wheel: LocalWheel) -> bool:
        tags = Path(wheel.path).stem.rpartition("-")[2].split(".")
        fits_series = series is None or wheel.python in (None, series)
        return fits_series and not supported.isdisjoint(tags)

    return tuple(wheel for wheel in scan_wheelhouse(folder) if is_compatible(wheel))


def _python_series(tags: set[tuple[str, str]]) -> str | None:
    """The one Python series that a wheel is for ("3.11"); None if it serves several."""
    python_versions = set()
    for interpreter, abi in tags:
        match = _CPYTHON_TAG.match(interpreter)
        if match is None or abi == "abi3":
            return None
        python_versions.add(f"3.{match[1]}")
    return python_versions.pop() if len(python_versions) == 1 else None


# pip, because a person who types `pip install` means this environment and would otherwise get another's pip.
BASE_PACKAGES = ("numpy", "pip")
PACKAGE_FIELDS = ("python", "torch", "variant", "torchvision", "torchaudio", "tensorflow", "constraints")


class PackageRequest(Struct, frozen=True, kw_only=True):
    """`torch` "2.13.0" with `variant` "cpu"; `python` like "3.11". `tensorflow` is a requirement, like
    "tensorflow[and-cuda]==2.21.*", and `constraints` are requirements that hold other packages back.

    `serves_variant` tells whether the general index is known to serve this very build for this system.
    `general` is the general index's address where the user named one; `target` the computer that it is for where
    that is not this one.
    """

    python: str
    torch: str | None
    variant: str | None
    torchvision: str | None
    torchaudio: str | None
    tensorflow: str | None
    constraints: tuple[str, ...]
    index_url: str | None
    wheelhouse: str | None
    serves_variant: bool
    general: str | None
    target: Platform | None = None

    @property
    def label(self) -> str:
        """What it asks for, as a person says it."""
        torch = f"PyTorch {self.torch} ({self.variant})" if self.torch is not None else None
        return " + ".join(part for part in (torch, self.tensorflow) if part is not None)

    @property
    def cache_key(self) -> str:
        """Equal for equal wishes: the name under which a lock is kept."""
        return hashlib.sha256(json.encode(self)).hexdigest()[:32]

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        """What the wheelhouse has for this Python."""
        if self.wheelhouse is None:
            return ()
        platforms = self.target.platform_tags if self.target is not None else None
        return compatible_wheels(Path(self.wheelhouse), self.python, platforms)

    def has_same_packages(self, request: PackageRequest) -> bool:
        """Whether the other asks for the very same packages, wherever they may come from."""
        return all(getattr(self, name) == getattr(request, name) for name in PACKAGE_FIELDS)


def lock_path(data: DataDir, request: PackageRequest) -> Path:
    """Where the lock of a wish is kept."""
    return data.locks / f"{request.cache_key}.toml"


def build_request(
    recommendation: Recommendation,
    *,
    python: str,
    wheelhouse_folder: str | None,
    serves_variant: bool,
    constraints: tuple[str, ...] = (),
    platform: Platform | None = None,
) -> PackageRequest:
    """The packages that a recommendation asks for: PyTorch, TensorFlow, or both. `held` are the requirements that
    hold packages back for PyTorch.
    """
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    return PackageRequest(
        python=python,
        torch=torch.version if torch is not None else None,
        variant=torch.variant if torch is not None else None,
        torchvision=torch.torchvision if torch is not None else None,
        torchaudio=torch.torchaudio if torch is not None else None,
        tensorflow=tensorflow.requirement if tensorflow is not None else None,
        constraints=(*constraints, *(tensorflow.constraints if tensorflow is not None else ())),
        index_url=torch.index_url if torch is not None else None,
        wheelhouse=wheelhouse_folder,
        serves_variant=serves_variant,
        general=default_index_url(),
        target=platform,
    )


def missing_packages(request: PackageRequest) -> tuple[str, ...]:
    """The packages, by name, that the wheelhouse lacks for a wish, what its own wheels need included.

    Versions are not looked at: a package that is there in an unfit version does not count as lacking.
    """
    from packaging.utils import canonicalize_name

    newest: dict[str, LocalWheel] = {}
    for wheel in request.local_wheels():
        if wheel.project != "torch" or (wheel.version, wheel.variant) in (
            (request.torch, request.variant),
            (request.torch, None),
        ):
            newest.setdefault(wheel.project, wheel)
    pending: list[str] = ["torch", *(canonicalize_name(name) for name in BASE_PACKAGES)]
    is_available: dict[str, bool] = {}
    while pending:
        name = pending.pop(0)
        if name in is_available:
            continue
        is_available[name] = name in newest
        if name in newest:
            pending += _wheel_dependencies(Path(newest[name].path), request.python)
    return tuple(name for name, available in is_available.items() if not available)


def _wheel_dependencies(wheel: Path, series: str) -> list[str]:
    """What a wheel's own metadata asks for on this computer; nothing if it cannot be read."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    marker_environment = {"python_version": series, "python_full_version": f"{series}.0", "extra": ""}
    dependencies = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            lines = HeaderParser().parsestr(archive.read(name).decode("utf-8", "replace")).get_all("Requires-Dist", [])
        for line in lines:
            requirement = Requirement(str(line))
            if requirement.marker is None or requirement.marker.evaluate(marker_environment):
                dependencies.append(str(canonicalize_name(requirement.name)))
    except (zipfile.BadZipFile, StopIteration, OSError, InvalidRequirement):
        return []
    return dependencies


def find_corrupt_wheel(wheels: Sequence[LocalWheel], text: str) -> Path | None:
    """The first damaged wheel of those that a failed program's `text` names; None if they are all whole."""
    for wheel in wheels:
        path = Path(wheel.path)
        if (path.name in text or f"{wheel.project}==" in text) and not is_wheel_intact(path):
            return path
    return None


def is_wheel_intact(path: Path) -> bool:
    """Whether every file in a wheel can be unpacked and has its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return False
