"""The catalog: compatibility data from a folder of JSON files, with newer files from a refresh.

`load_catalog` reads nothing; each file becomes its structs (`records/`) when it is first asked for:

    resources/catalog/<file>.json ──┐
                                    ├─ the newer one that decodes ─→ Catalog.<file> ─→ look-ups by id, name, version
    <data folder>/catalog/<file> ───┘  (RefreshedCatalog)

Raises AppError("catalog-broken", file=…, detail=…) from every access to a built-in file that is missing or damaged; a
refreshed file with a fault is ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ..core import filesystem, json
from ..core.errors import AppError, os_error_text
from ..core.files import is_plain_authority
from ..core.json import describe_fault
from ..core.machine import SystemName
from ..core.versions import Capability, Version
from .gpu_names import card_name, chip_name, is_laptop_name, normalize_name, split_listed_names
from .records.base import CatalogFile, IsoDate
from .records.cuda import CudaCatalog
from .records.drivers import DriverCatalog
from .records.environment_contents import (
    EnvironmentSizeCatalog,
    EnvironmentSizes,
    PythonBuild,
    PythonCatalog,
    TensorFlowSize,
)
from .records.gpus import GpuCatalog, GpuRecord
from .records.pytorch import PyTorchCatalog, TorchRelease, TorchVariant, variant_family
from .records.updates import UpdateCatalog

if TYPE_CHECKING:
    from .records.accelerators import AcceleratorCatalog, AmdChip, AmdDevice, IntelDevice
    from .records.libraries import CudnnCatalog, TensorFlowCatalog, VcRuntimeCatalog, VcRuntimeRequirement
    from .records.mirrors import MirrorCatalog, MirrorRecord
    from .records.peak_specs import ReferenceCard, ReferenceCatalog
    from .records.updates import RefreshSettings

Kind = TypeVar("Kind", bound=CatalogFile)
Device = TypeVar("Device", "AmdDevice", "IntelDevice")


def load_catalog(folder: Path, refreshed_folder: Path | None = None, *, today: date | None = None) -> Catalog:
    """The catalog of a folder, and of a refreshed one over it; `today` replaces the clock's day in UTC.

    Reads no file yet; raises AppError("catalog-broken") where there is no such folder.
    """
    if not folder.is_dir():
        raise AppError("catalog-broken", file=str(folder), detail="@file.fault.absent")
    return Catalog(folder, refreshed_folder, today or datetime.now(UTC).date())


class Catalog:
    """Hardware and software that exist, and which of it works with which."""

    def __init__(self, folder: Path, refreshed_folder: Path | None, today: date) -> None:
        self.folder = folder
        self.refreshed_catalog = RefreshedCatalog(refreshed_folder, today) if refreshed_folder is not None else None

    def read(self, name: str, kind: type[Kind]) -> Kind:
        """One file: the refreshed one if it is valid and not older, else the built-in one."""
        path = self.folder / name
        refreshed_file = self.refreshed_catalog.read(name, kind, path) if self.refreshed_catalog is not None else None
        if refreshed_file is not None:
            return refreshed_file
        try:
            return json.decode(path.read_bytes(), kind)
        except OSError as error:
            raise AppError("catalog-broken", file=str(path), detail=os_error_text(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AppError("catalog-broken", file=str(path), detail=describe_fault(error)[0]) from error

    @cached_property
    def gpus(self) -> GpuCatalog:
        """NVIDIA GPUs by PCI id."""
        return self.read("gpus.json", GpuCatalog)

    @cached_property
    def pytorch(self) -> PyTorchCatalog:
        """PyTorch's releases and builds."""
        return self.read("pytorch.json", PyTorchCatalog)

    @cached_property
    def cuda(self) -> CudaCatalog:
        """CUDA Toolkits, and the driver that each CUDA version needs."""
        return self.read("cuda.json", CudaCatalog)

    @cached_property
    def drivers(self) -> DriverCatalog:
        """The newest NVIDIA drivers for each generation of GPUs."""
        return self.read("drivers.json", DriverCatalog)

    @cached_property
    def pythons(self) -> PythonCatalog:
        """Standalone Python builds."""
        return self.read("pythons.json", PythonCatalog)

    @cached_property
    def environments(self) -> EnvironmentSizeCatalog:
        """Measured sizes of environments."""
        return self.read("sizes.json", EnvironmentSizeCatalog)

    @cached_property
    def updates(self) -> UpdateCatalog:
        """Where new versions of this program are announced, and which keys sign them."""
        return self.read("updates.json", UpdateCatalog)

    @cached_property
    def cudnn(self) -> CudnnCatalog:
        """cuDNN's releases."""
        from .records.libraries import CudnnCatalog

        return self.read("cudnn.json", CudnnCatalog)

    @cached_property
    def tensorflow(self) -> TensorFlowCatalog:
        """TensorFlow's releases, and how each system gets one that uses the GPU."""
        from .records.libraries import TensorFlowCatalog

        return self.read("tensorflow.json", TensorFlowCatalog)

    @cached_property
    def vc_redist(self) -> VcRuntimeCatalog:
        """Microsoft's Visual C++ runtime."""
        from .records.libraries import VcRuntimeCatalog

        return self.read("vc_redist.json", VcRuntimeCatalog)

    @cached_property
    def accelerators(self) -> AcceleratorCatalog:
        """GPUs of AMD, Intel and Apple."""
        from .records.accelerators import AcceleratorCatalog

        return self.read("accelerators.json", AcceleratorCatalog)

    @cached_property
    def mirrors(self) -> MirrorCatalog:
        """Publishers and their mirrors."""
        from .records.mirrors import MirrorCatalog

        return self.read("mirrors.json", MirrorCatalog)

    @cached_property
    def reference(self) -> ReferenceCatalog:
        """Peak specifications of GPUs."""
        from .records.peak_specs import ReferenceCatalog

        return self.read("reference.json", ReferenceCatalog)

    @cached_property
    def refresh_settings(self) -> RefreshSettings:
        """The publishers' pages with newer facts."""
        from .records.updates import RefreshSettings

        return self.read("refresh.json", RefreshSettings)

    @cached_property
    def releases(self) -> tuple[TorchRelease, ...]:
        """PyTorch's releases that can be installed, newest first: not those that are wheel variants only."""
        return tuple(release for release in self.pytorch.releases if release.variants)

    @cached_property
    def date(self) -> str:
        """The day on which the PyTorch facts were gathered, as "2026-11-21"."""
        return self.pytorch.as_of

    def gpu(self, pci_id: str) -> GpuRecord | None:
        """The NVIDIA GPU with a PCI id ("10de:2882")."""
        return self._gpus_by_id.get(pci_id.lower())

    def gpu_capability(self, pci_id: str) -> Capability | None:
        """The compute capability by PCI id: the GPU's own, else that of the range of ids around it."""
        normalized_id = pci_id.lower()
        row = self._gpus_by_id.get(normalized_id)
        if row is not None:
            return row.compute_capability
        index = bisect_right(self.gpus.ranges, normalized_id, key=lambda id_range: id_range.first)
        id_range = self.gpus.ranges[index - 1] if index else None
        in_range = id_range is not None and len(normalized_id) == len(id_range.last) and normalized_id <= id_range.last
        return id_range.compute_capability if id_range is not None and in_range else None

    def gpu_by_name(self, name: str) -> GpuRecord | None:
        """The GPU with the name that a driver reports, else one with the same chip on another board.

        None if unknown, or if GPUs of that name differ in compute capability. PCI id and memory size are those of one
        of several possible GPUs.
        """
        exact = self._gpus_by_name.get(normalize_name(name))
        if exact is not None:
            return exact
        same_chip = self._gpus_by_chip_name.get(chip_name(name), ())
        is_laptop = is_laptop_name(name)
        return next((row for row in same_chip if row.is_laptop == is_laptop), same_chip[0] if same_chip else None)

    @cached_property
    def _gpus_by_id(self) -> dict[str, GpuRecord]:
        return {row.pci_id: row for row in self.gpus.gpus}

    @cached_property
    def _gpus_by_name(self) -> dict[str, GpuRecord | None]:
        """None for a name that stands for several compute capabilities."""
        gpus: dict[str, GpuRecord | None] = {}
        for row in self.gpus.gpus:
            name = normalize_name(row.name)
            other = gpus.get(name, row)
            same_chip = other is not None and other.compute_capability == row.compute_capability
            gpus[name] = other if same_chip else None
        return gpus

    @cached_property
    def _gpus_by_chip_name(self) -> dict[str, tuple[GpuRecord, ...]]:
        """Without the names that stand for several compute capabilities."""
        gpus: dict[str, list[GpuRecord]] = {}
        for row in self.gpus.gpus:
            for name in {chip_name(part) for part in row.name.split(" / ")} - {""}:
                gpus.setdefault(name, []).append(row)
        return {name: tuple(rows) for name, rows in gpus.items() if len({r.compute_capability for r in rows}) == 1}

    def amd_device(self, pci_id: str) -> AmdDevice | None:
        """The AMD GPU with a PCI id ("1002:744c")."""
        return self._amd_by_id.get(pci_id.lower())

    def amd_device_by_name(self, name: str) -> AmdDevice | None:
        """The AMD GPU with the name that a driver reports; None if unknown or if such GPUs differ in their chip."""
        return self._amd_by_name.get(card_name(name))

    def intel_device(self, pci_id: str) -> IntelDevice | None:
        """The Intel GPU with a PCI id ("8086:56a0"), if it is of a family that PyTorch validates."""
        return self._intel_by_id.get(pci_id.lower())

    def intel_device_by_name(self, name: str) -> IntelDevice | None:
        """The Intel GPU with the name that a driver reports; None if unknown or if such GPUs differ in family."""
        return self._intel_by_name.get(card_name(name))

    @cached_property
    def _amd_by_id(self) -> dict[str, AmdDevice]:
        return {device.pci_id: device for device in self.accelerators.amd_devices}

    @cached_property
    def _intel_by_id(self) -> dict[str, IntelDevice]:
        return {device.pci_id: device for device in self.accelerators.intel_devices}

    @cached_property
    def _amd_by_name(self) -> dict[str, AmdDevice | None]:
        return _index_by_card_name(self.accelerators.amd_devices, lambda device: device.gfx)

    @cached_property
    def _intel_by_name(self) -> dict[str, IntelDevice | None]:
        return _index_by_card_name(self.accelerators.intel_devices, lambda device: device.family)

    def rocm_variants(self, gfx: str) -> tuple[str, ...]:
        """The ROCm builds with code for a chip, newest first; Linux only."""
        return next((chip.variants or () for chip in self.accelerators.amd_chips if chip.gfx == gfx), ())

    def unproven_amd_chip(self, gfx: str | None) -> AmdChip | None:
        """The record of a chip of which it is not known whether PyTorch's ROCm builds work on it."""
        chips = self.accelerators.amd_chips
        return next((chip for chip in chips if chip.gfx == gfx and chip.variants is None), None)

    def reference_card(self, name: str, memory_bytes: int | None = None) -> ReferenceCard | None:
        """The peak specifications of the GPU that a driver calls `name`.

        `memory_bytes` distinguishes GPUs of one name. None where it cannot, for laptops and for unknown GPUs.
        """
        from .records.peak_specs import find_reference_card

        return find_reference_card(self.reference.cards, name, memory_bytes)

    def release(self, version: str) -> TorchRelease | None:
        """A PyTorch release by its exact version."""
        return self._releases_by_version.get(version)

    @cached_property
    def _releases_by_version(self) -> dict[str, TorchRelease]:
        return {release.version.text: release for release in self.pytorch.releases}

    def build(self, version: str, variant: str, system: SystemName, arch: str) -> TorchVariant | None:
        """One published PyTorch build."""
        release = self.release(version)
        if release is None:
            return None
        key = (system, arch, variant)
        return next((v for v in release.variants if (v.system, v.arch, v.variant) == key), None)

    def default_variant(self, version: str, system: SystemName, arch: str) -> str | None:
        """The build of a release that PyPI serves for a platform; None if there is none."""
        release = self.release(version)
        if release is None or any((p.system, p.arch) == (system, arch) for p in self.pytorch.not_on_general_index):
            return None
        variants = [v for v in release.variants if (v.system, v.arch) == (system, arch)]
        # A build without an index of its own can only be on PyPI.
        return next((v.variant for v in variants if v.index_url is None), release.default_variant.get(system))

    def numpy_constraints(self, version: str | None, system: SystemName) -> tuple[str, ...]:
        """The constraints that a PyTorch release needs: ("numpy<2",), or none."""
        release = Version.parse(version)
        for bound in self.pytorch.numpy_bounds:
            if bound.system in (None, system) and release is not None and release < bound.below_release:
                return (f"numpy<{bound.numpy_below}",)
        return ()

    def standalone_python(self, series: str, system: SystemName, arch: str) -> PythonBuild | None:
        """The standalone build of a Python series ("3.13") for a platform."""
        key = (series, system, arch)
        return next((b for b in self.pythons.builds if (b.series, b.system, b.arch) == key), None)

    def sizes(self, variant: str, system: SystemName, release: str | None = None) -> EnvironmentSizes:
        """The size of an environment with such a PyTorch build; unknown figures are None.

        Figures of another release than the given one, or of another CUDA or ROCm version, are `approximate`.
        """
        same_system = [size for size in self._sizes_of_family(variant) if size.system == system]
        match = next((size for size in same_system if size.variant == variant), same_system[0] if same_system else None)
        if match is None:
            return EnvironmentSizes(variant=variant, system=system)
        is_exact = (match.variant, match.release) == (variant, Version.parse(release))
        return match if is_exact else msgspec.structs.replace(match, approximate=True)

    def driver_bytes(self, system: SystemName, distribution: str | None) -> int | None:
        """About how many bytes an NVIDIA driver downloads, as measured on one for this system; on Linux on the one of
        this distribution. None where none was.
        """
        rows = (row for row in self.environments.drivers if (row.system, row.distribution) == (system, distribution))
        return next((row.bytes for row in rows), None)

    def tensorflow_size(self, system: SystemName, cuda: Version | None) -> TensorFlowSize | None:
        """What an environment with TensorFlow alone downloads, as measured on a release with libraries of the same CUDA
        major (None: without any); None where none was.
        """
        major = cuda.major if cuda is not None else None
        rows = (
            row
            for row in self.environments.tensorflow
            if row.system == system and (row.cuda.major if row.cuda is not None else None) == major
        )
        return next(rows, None)

    def estimate_disk_bytes(self, variant: str) -> int | None:
        """About how many bytes an environment with such a build takes on disk, measured on any system: the same
        build's size, else the largest of its family (CUDA, ROCm). Where only downloads were measured, the largest
        download, as a lower bound; None where nothing was.
        """
        same_family = self._sizes_of_family(variant)
        same_variant = [size for size in same_family if size.variant == variant]
        for sizes in (same_variant, same_family):
            if disk_sizes := [size.disk_bytes for size in sizes if size.disk_bytes is not None]:
                return max(disk_sizes)
        return max((size.download_bytes for size in same_family if size.download_bytes is not None), default=None)

    def _sizes_of_family(self, variant: str) -> list[EnvironmentSizes]:
        family = variant_family(variant)
        return [size for size in self.environments.environments if variant_family(size.variant) == family]

    def vc_requirement(self, release: str) -> VcRuntimeRequirement | None:
        """What a PyTorch release needs of the Visual C++ runtime; None for a text that is no version."""
        return _find_vc_requirement(self.vc_redist.needs, release)

    def tensorflow_vc_requirement(self, release: str) -> VcRuntimeRequirement | None:
        """What a TensorFlow release on Windows needs of it; None for a text that is no version."""
        return _find_vc_requirement(self.vc_redist.tensorflow_needs, release)

    def mirrors_of(self, publisher: str) -> tuple[MirrorRecord, ...]:
        """The mirrors of a publisher's files."""
        return tuple(mirror for mirror in self.mirrors.mirrors if mirror.publisher == publisher)

    def index_publisher(self, index_url: str | None) -> str | None:
        """Who publishes the builds of an index, by its host: "pytorch-wheels"; None for an unknown host."""
        host = urlsplit(index_url or "").hostname
        return next((each.id for each in self.mirrors.publishers if host is not None and host in each.hosts), None)

    def index_site(self, index_url: str | None) -> str:
        """Whose site an index is, as the code of a text."""
        return f"@site.{self.index_publisher(index_url) or 'unknown'}"

    def is_driver_installer(self, url: str | None, version: str | None) -> bool:
        """Whether an address is that of a package with this driver for Windows: one with a published checksum, or one
        on NVIDIA's own servers, whose signer is checked before it runs (decision 0014).
        """
        parts, lookup = urlsplit(url or ""), self.drivers.lookup
        if url is None or not version or lookup is None or self.drivers.windows_install is None:
            return False
        if self.driver_checksum(url) is not None:
            return True
        name = PurePosixPath(parts.path).name
        is_nvidia = parts.scheme == "https" and _host(url).endswith(lookup.hosts)
        return is_nvidia and name.startswith(f"{version}-") and name.endswith(".exe")

    def driver_checksum(self, url: str) -> str | None:
        """The published SHA-256 of a driver's package; None where nobody published one."""
        return next((package.sha256 for package in self.drivers.packages if package.url == url), None)

    def source_url(self, subject: CatalogFile, key: str) -> str | None:
        """The public address of one of a file's sources."""
        source = subject.sources.get(key)
        return source.url if source is not None else None


def _find_vc_requirement(requirements: tuple[VcRuntimeRequirement, ...], release: str) -> VcRuntimeRequirement | None:
    version = Version.parse(release)
    newest_first = (row for row in requirements if version is not None and version >= row.from_release)
    return next(newest_first, None)


def _index_by_card_name(devices: Iterable[Device], chip: Callable[[Device], str]) -> dict[str, Device | None]:
    """Devices by each of their names; None for a name that stands for several chips."""
    index: dict[str, Device | None] = {}
    for device in devices:
        for name in {card_name(listed_name) for listed_name in split_listed_names(device.name)} - {""}:
            other = index.get(name, device)
            index[name] = other if other is not None and chip(other) == chip(device) else None
    return index


IgnoreReason = Literal["older", "broken", "other-schema", "future", "foreign-host"]

# What a refresh writes. The data folder is untrusted: update keys, mirrors, Python builds and all other files are read
# from the program's own resources alone.
REFRESHED_FILES = frozenset({"pytorch.json", "cuda.json", "cudnn.json", "drivers.json"})

STAMP_NAME = "stamp"
MAX_FILE_BYTES = 32 << 20
_URL_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class CatalogStamp(Struct, frozen=True, kw_only=True):
    """What a refreshed folder says about itself: the schema of its files, and the day on which it was written."""

    schema: Literal["gpu-assistant/catalog/1"]
    day: IsoDate


class IgnoredFile(Struct, frozen=True, kw_only=True):
    """A refreshed file that is not used, and why; `file` is the stamp where the whole folder is ignored."""

    file: str
    why: IgnoreReason


class RefreshedCatalog:
    """The files of a refresh. `used_files` and `ignored_files` grow as files are read."""

    def __init__(self, folder: Path, today: date) -> None:
        self.folder = folder
        # A day for the time zones.
        self._last_day = (today + timedelta(days=1)).isoformat()
        self.ignored_files: list[IgnoredFile] = []
        self.used_files: set[str] = set()

    @cached_property
    def stamp(self) -> CatalogStamp | None:
        """The folder's stamp; None where nothing was refreshed, or by a version with another schema."""
        try:
            return json.decode(filesystem.read_bytes(self.folder / STAMP_NAME), CatalogStamp)
        except OSError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.ignored_files.append(IgnoredFile(file=STAMP_NAME, why="other-schema"))
            return None

    def read(self, name: str, kind: type[Kind], builtin: Path) -> Kind | None:
        """The refreshed file, if a refresh writes such a file, and it is valid, not older than the built-in one, not
        from the future, and names no host that the built-in one does not name.
        """
        if name not in REFRESHED_FILES or self.stamp is None:
            return None
        path = self.folder / name
        try:
            data = filesystem.read_bytes(path, MAX_FILE_BYTES)
            content = json.decode(data, kind)
            urls = tuple(_urls(json.decode(data, object)))
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.ignored_files.append(IgnoredFile(file=name, why="broken"))
            return None
        reason = _reason_to_ignore(content.as_of, self._last_day, urls, builtin, kind)
        if reason is not None:
            self.ignored_files.append(IgnoredFile(file=name, why=reason))
            return None
        self.used_files.add(name)
        return content


def _reason_to_ignore(
    as_of: str, last_day: str, urls: Iterable[str], builtin: Path, kind: type[CatalogFile]
) -> IgnoreReason | None:
    """Compare a refreshed file's date and addresses with the built-in file; without that one nothing is trusted."""
    try:
        data = builtin.read_bytes()
        floor = json.decode(data, kind)
        hosts = {_host(url) for url in _urls(json.decode(data, object))} - {""}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "broken"
    if as_of < floor.as_of:
        return "older"
    # A clock that is behind does not make the built-in day a future one.
    if as_of > max(last_day, floor.as_of):
        return "future"
    suffixes = floor.lookup.hosts if isinstance(floor, DriverCatalog) and floor.lookup is not None else ()
    is_known = all(_is_https(url) and (_host(url) in hosts or _host(url).endswith(suffixes)) for url in urls)
    return None if is_known else "foreign-host"


def _urls(value: object) -> Iterator[str]:
    """Every text in a JSON value that has an address in it, from there on."""
    if isinstance(value, str):
        match = _URL_SCHEME.search(value)
        if match is not None:
            yield value[match.start() :]
    elif isinstance(value, dict):
        for item in value.values():
            yield from _urls(item)
    elif isinstance(value, list):
        for item in value:
            yield from _urls(item)


def _is_https(url: str) -> bool:
    return url.startswith("https://")


def _host(url: str) -> str:
    """ "" for an address without one; a port or a user's name make it another host."""
    try:
        host = urlsplit(url).netloc.lower()
    except ValueError:
        return ""
    return host if is_plain_authority(host) else ""
