"""The packages that an environment shall have, and the wheels on this computer that may serve.

`build_request` turns a recommendation into a `PackageRequest`; `resolver.py` turns that into a lock file. A `Platform`
says which computer the packages are for, in the names of uv and of wheel files.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ...catalog.wheel_variants import split_variant_label
from ...core import json
from ...core.errors import SetupNotSupported, storage_errors
from ...core.files import hash_file
from ...core.machine import OperatingSystem, SystemName
from ...core.paths import DataDir
from ...core.recommendation import LocalWheel, Recommendation
from ...core.versions import Version
from ...fetch.credentials import user_index_url

if TYPE_CHECKING:
    from ...catalog.store import Catalog

# pip, so that `pip install` in an activated environment installs into it and not elsewhere.
BASE_PACKAGES = ("numpy", "pip")
# What builds a package from its source.
BUILD_PACKAGES = ("setuptools",)
# What torch.utils.cpp_extension builds an extension with.
EXTENSION_PACKAGES = ("setuptools", "wheel", "ninja")
PACKAGE_FIELDS = (
    *("python", "torch", "variant", "extras", "torchvision", "torchaudio", "tensorflow", "constraints"),
    *("toolkit", "build_tools"),
)

# What uv takes from a folder: wheels and, for `sdists`, archives of source.
PACKAGE_SUFFIXES = (".whl", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip")

# Processors as uv and wheel files name them.
_UV_ARCHITECTURES = {"x86_64": "x86_64", "arm64": "aarch64"}
_WINDOWS_TAGS = {"x86_64": "win_amd64", "arm64": "win_arm64"}
# The minor version of glibc that PyTorch's wheels need, and those that uv has platform names for.
_DEFAULT_GLIBC = 28
_UV_GLIBCS = (17, 28, *range(31, 41))
# The tags of wheels for old versions of glibc have a year instead of the number.
_LEGACY_TAGS = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_CPYTHON_TAG = re.compile(r"cp3(\d+)$")


class Platform(Struct, frozen=True, kw_only=True):
    """A kind of computer; `glibc` like "2.39", None if unknown and for Windows."""

    system: Literal["windows", "linux"]
    arch: Literal["x86_64", "arm64"]
    glibc: str | None = None

    @property
    def uv_platform(self) -> str:
        """The value of uv's `--python-platform`."""
        architecture = _UV_ARCHITECTURES[self.arch]
        if self.system == "windows":
            return f"{architecture}-pc-windows-msvc"
        glibc = max(minor for minor in _UV_GLIBCS if minor <= max(self._glibc_minor, _UV_GLIBCS[0]))
        return f"{architecture}-manylinux_2_{glibc}"

    @property
    def label(self) -> str:
        """The name that users see."""
        if self.system == "windows":
            return f"Windows {self.arch}"
        return f"Linux {self.arch}, glibc {self.glibc or f'2.{_DEFAULT_GLIBC}'}"

    @property
    def platform_tags(self) -> tuple[str, ...]:
        """The platform tags of wheels that it can install, best first."""
        if self.system == "windows":
            return (_WINDOWS_TAGS[self.arch],)
        machine, tags = _UV_ARCHITECTURES[self.arch], []
        for minor in range(self._glibc_minor, 4, -1):
            tags.append(f"manylinux_2_{minor}_{machine}")
            if minor in _LEGACY_TAGS:
                tags.append(f"{_LEGACY_TAGS[minor]}_{machine}")
        return (*tags, f"linux_{machine}")

    def is_compatible_with(self, platform: Platform) -> bool:
        """Whether packages for this platform run on the other one."""
        is_same_system = (self.system, self.arch) == (platform.system, platform.arch)
        return is_same_system and (platform.glibc is None or platform._glibc_minor >= self._glibc_minor)

    @property
    def _glibc_minor(self) -> int:
        major, _, minor = (self.glibc or "").partition(".")
        return int(minor.partition(".")[0]) if major == "2" and minor[:1].isdigit() else _DEFAULT_GLIBC


def platform_for(operating_system: OperatingSystem, release: str) -> Platform:
    """The platform of an operating system; raises SetupNotSupported for a Mac, on which no step installs a `release`
    (`release_label`).
    """
    if operating_system.system == "darwin":
        raise SetupNotSupported("setup-on-mac", release=release)
    glibc = operating_system.glibc if operating_system.system == "linux" else None
    return Platform(system=operating_system.system, arch=operating_system.arch or "x86_64", glibc=glibc)


class PackageRequest(Struct, frozen=True, kw_only=True):
    """`torch` "2.13.0" with `variant` "cpu"; `python` like "3.11". `tensorflow` is a requirement, like
    "tensorflow[and-cuda]==2.21.*"; `constraints` are requirements that limit other packages.

    `serves_variant`: PyPI has this build of PyTorch for this system, under a version without a label. `default_index`
    is the address of the index that the user put in PyPI's place; `platform` the computer that the packages are for,
    if it is not this one. `extras` are those of PyTorch and torchvision; `sdists` the packages that may come as source.
    `toolkit` are the requirements of the CUDA Toolkit and cuDNN, where those come as packages; `build_tools`: with what
    PyTorch's extensions are built with.
    `site` is the code of the text that says whose the build's own index is. `added` are packages for an environment
    that is finished, which has no other part then; all that is in it is among the `constraints`.
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
    default_index: str | None
    platform: Platform | None = None
    extras: tuple[str, ...] = ()
    sdists: tuple[str, ...] = ()
    toolkit: tuple[str, ...] = ()
    build_tools: bool = False
    site: str = "@site.unknown"
    added: tuple[str, ...] = ()

    @property
    def base_packages(self) -> tuple[str, ...]:
        """The packages that every environment has, and what builds packages from source or extensions."""
        builders = (*(BUILD_PACKAGES if self.sdists else ()), *(EXTENSION_PACKAGES if self.build_tools else ()))
        return (*BASE_PACKAGES, *dict.fromkeys(builders))

    @property
    def label(self) -> str:
        """Its main packages, for people."""
        torch = f"PyTorch {self.torch} ({self.variant})" if self.torch is not None else None
        return " + ".join(part for part in (torch, self.tensorflow) if part is not None)

    @property
    def cache_key(self) -> str:
        """Equal for equal requests: the name under which a lock file is cached."""
        return hashlib.sha256(json.encode(self)).hexdigest()[:32]

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        """The wheels in the wheelhouse that this Python can install."""
        if self.wheelhouse is None:
            return ()
        platforms = self.platform.platform_tags if self.platform is not None else None
        return compatible_wheels(Path(self.wheelhouse), self.python, platforms)

    def has_same_packages(self, request: PackageRequest) -> bool:
        """Whether another request asks for the same packages, whatever their sources."""
        return all(getattr(self, name) == getattr(request, name) for name in PACKAGE_FIELDS)


def release_label(recommendation: Recommendation) -> str:
    """What an environment is for: "PyTorch 2.13.0+cpu", "TensorFlow 2.21.0", or both."""
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    labels = [f"PyTorch {torch.version}+{torch.variant}"] if torch is not None else []
    return " + ".join([*labels, *([f"TensorFlow {tensorflow.version}"] if tensorflow is not None else [])])


def build_request(
    recommendation: Recommendation, catalog: Catalog, target: OperatingSystem | Platform, *, wheelhouse: str | None
) -> PackageRequest:
    """The request for a recommendation's PyTorch, TensorFlow, or both, for this computer's operating system, or for
    the platform of another one.
    """
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    torch_version = torch.version if torch is not None else None
    arch = target.arch or "x86_64"
    record = catalog.build(torch.version, torch.variant, target.system, arch) if torch is not None else None
    serves_variant = torch is not None and catalog.default_variant(torch.version, target.system, arch) == torch.variant
    return PackageRequest(
        python=str(recommendation.python),
        torch=torch_version,
        variant=torch.variant if torch is not None else None,
        torchvision=torch.torchvision if torch is not None else None,
        torchaudio=torch.torchaudio if torch is not None else None,
        tensorflow=tensorflow.requirement if tensorflow is not None else None,
        constraints=(
            *catalog.numpy_constraints(torch_version, target.system),
            *(tensorflow.constraints if tensorflow is not None else ()),
        ),
        index_url=torch.index_url if torch is not None else None,
        wheelhouse=wheelhouse,
        serves_variant=serves_variant,
        default_index=user_index_url(),
        platform=target if isinstance(target, Platform) else None,
        extras=torch.extras or () if torch is not None else (),
        sdists=record.sdists if record is not None else (),
        toolkit=toolkit_requirements(recommendation, catalog, target.system),
        build_tools=torch is not None and recommendation.cuda_toolkit.action != "none",
        site=catalog.index_site(record.index_url if record is not None else None),
    )


def toolkit_requirements(recommendation: Recommendation, catalog: Catalog, system: SystemName) -> tuple[str, ...]:
    """The requirements of the toolkit and cuDNN where they come as packages: "cuda-toolkit[nvcc,crt]==13.2.*".

    PyTorch itself decides which update of its own CUDA it is, and which cuDNN, on the systems where it requires them.
    """
    wheels, toolkit, cudnn = catalog.cuda.wheels, recommendation.cuda_toolkit, recommendation.cudnn
    version = Version.parse(toolkit.version)
    if wheels is None or version is None or (toolkit.action, toolkit.way) != ("install", "wheels"):
        return ()
    beside_pytorch = joins_pytorch_packages(recommendation, catalog, system)
    extras = ",".join(part.extra for part in wheels.missing_parts(system, beside_pytorch=beside_pytorch))
    pin = f"{version.series.text}.*" if beside_pytorch else version.text
    requirements = [f"{wheels.package}[{extras}]=={pin}"]
    if (cudnn.action, cudnn.way) == ("install", "wheels"):
        name = wheels.cudnn_package.format(major=version.major)
        requirements.append(name if beside_pytorch else f"{name}=={cudnn.version}")
    return tuple(requirements)


def joins_pytorch_packages(recommendation: Recommendation, catalog: Catalog, system: SystemName) -> bool:
    """Whether PyTorch requires packages of the very CUDA series that the toolkit is of."""
    wheels, torch = catalog.cuda.wheels, recommendation.pytorch
    cuda = Version.parse(torch.cuda) if torch is not None else None
    version = Version.parse(recommendation.cuda_toolkit.version)
    if wheels is None or cuda is None or version is None or version.series != cuda.series:
        return False
    return wheels.come_with_pytorch(cuda, system)


def cached_lock_path(data: DataDir, request: PackageRequest) -> Path:
    """The path of the cached lock file of a request."""
    return data.locks / f"{request.cache_key}.toml"


def scan_wheelhouse(folder: Path) -> tuple[LocalWheel, ...]:
    """The wheels in a folder, for any system, by project, newest version first; wheel variants with their label.

    Reads file names only. Files that are not named as wheels are skipped; an unreadable folder has no wheels.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    from packaging.version import Version as PackageVersion

    rows: list[tuple[str, PackageVersion, LocalWheel]] = []
    try:
        paths = sorted(folder.glob("*.whl"))
    except OSError:
        return ()
    for path in paths:
        try:
            plain_name, label = split_variant_label(path.name)
            project, version, _build, tags = parse_wheel_filename(plain_name)
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
            label=label,
        )
        rows.append((project, version, wheel))
    rows.sort(key=lambda row: row[1], reverse=True)
    rows.sort(key=lambda row: row[0])
    return tuple(wheel for _project, _version, wheel in rows)


def hash_wheelhouse(folder: Path) -> dict[str, str]:
    """The SHA-256 of every package file in a folder that uv could choose, by its name; reads all of them.

    Raises AppError as `storage_error` does.
    """
    with storage_errors(folder):
        names = sorted(path.name for path in folder.iterdir() if path.name.lower().endswith(PACKAGE_SUFFIXES))
        return {name: hash_file(folder / name) for name in names if (folder / name).is_file()}


def compatible_wheels(
    folder: Path, series: str | None = None, platforms: Sequence[str] | None = None
) -> tuple[LocalWheel, ...]:
    """The wheels in a folder for this computer, or for these platform tags; with a `series` like "3.11", for that
    Python. Without wheel variants, which no lock file can name yet.
    """
    from packaging.tags import platform_tags

    supported = {"any", *(platform_tags() if platforms is None else platforms)}

    def is_compatible(wheel: LocalWheel) -> bool:
        tags = Path(wheel.path).stem.rpartition("-")[2].split(".")
        fits_series = series is None or wheel.python in (None, series)
        return wheel.label is None and fits_series and not supported.isdisjoint(tags)

    return tuple(wheel for wheel in scan_wheelhouse(folder) if is_compatible(wheel))


def _python_series(tags: set[tuple[str, str]]) -> str | None:
    """The one Python series that a wheel is for ("3.11"); None if it is for several."""
    python_versions = set()
    for interpreter, abi in tags:
        match = _CPYTHON_TAG.match(interpreter)
        if match is None or abi == "abi3":
            return None
        python_versions.add(f"3.{match[1]}")
    return python_versions.pop() if len(python_versions) == 1 else None


def missing_packages(request: PackageRequest) -> tuple[str, ...]:
    """The packages, by name, that the wheelhouse lacks, dependencies of its own wheels included.

    uv names only the first. Versions are not compared: a package that is there in a wrong version is not missing.
    """
    from packaging.utils import canonicalize_name

    newest: dict[str, LocalWheel] = {}
    for wheel in request.local_wheels():
        is_requested_torch = wheel.version == request.torch and wheel.variant in (request.variant, None)
        if wheel.project != "torch" or is_requested_torch:
            newest.setdefault(wheel.project, wheel)
    names: list[str] = ["torch", *map(canonicalize_name, BASE_PACKAGES)]
    for name in names:  # grows while it is read
        if name in newest:
            dependencies = _dependencies(Path(newest[name].path), request.python)
            names += dict.fromkeys(each for each in dependencies if each not in names)
    return tuple(name for name in names if name not in newest)


def _dependencies(wheel: Path, series: str) -> list[str]:
    """The projects that a wheel's metadata requires on this computer; none if it cannot be read."""
    from importlib.metadata import PathDistribution

    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    marker_environment = {"python_version": series, "python_full_version": f"{series}.0", "extra": ""}
    try:
        with zipfile.ZipFile(wheel) as archive:
            dist_info = next(path for path in zipfile.Path(archive).iterdir() if path.name.endswith(".dist-info"))
            requirements = [Requirement(line) for line in PathDistribution(dist_info).requires or ()]
    except (zipfile.BadZipFile, StopIteration, OSError, InvalidRequirement):
        return []
    return [
        canonicalize_name(requirement.name)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(marker_environment)
    ]


def find_corrupt_wheel(wheels: Sequence[LocalWheel], text: str) -> Path | None:
    """The first corrupt wheel of those that are named in a program's error `text`."""
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
