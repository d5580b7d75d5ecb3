"""The refreshed part of the catalog: newer files beside the built-in ones, each taken only where it is sound.

The catalog: compatibility data from a folder, each file decoded when it is first asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec
from msgspec import Struct

from ..core import json
from ..core.errors import AppError, os_error_text
from ..core.json import describe_fault
from ..core.machine import SystemName
from .records.base import CatalogFile, IsoDate
from .records.catalog import (
    CudaCatalog,
    DriverCatalog,
    EnvironmentSizeCatalog,
    EnvironmentSizes,
    GpuCatalog,
    GpuRecord,
    PythonBuild,
    PythonCatalog,
    UpdateCatalog,
)
from .records.hardware import card_name, chip_name, is_laptop_name, normalize_name, split_listed_names
from .records.software import PyTorchCatalog, TorchRelease, TorchVariant, variant_family
from .versions import parse_version

if TYPE_CHECKING:
    from .records.catalog import MirrorCatalog, MirrorRecord, RefreshSettings
    from .records.hardware import AcceleratorCatalog, AmdDevice, IntelDevice, ReferenceCard, ReferenceCatalog
    from .records.software import CudnnCatalog, CudnnRelease, TensorFlowCatalog, VcRuntimeCatalog, VcRuntimeRequirement


IgnoreReason = Literal["older", "broken", "other-schema"]

STAMP_NAME = "stamp"
MAX_FILE_BYTES = 32 << 20


class CatalogStamp(Struct, frozen=True, kw_only=True):
    """What a refreshed folder says about itself: the form of its files, and the day it was written."""

    schema: Literal["gpu-assistant/catalog/1"]
    day: IsoDate


class IgnoredFile(Struct, frozen=True, kw_only=True):
    """A refreshed file that is not used, and why; `file` is the stamp's where the whole folder is not."""

    file: str
    why: IgnoreReason


class _DatedFile(Struct):
    as_of: IsoDate


class RefreshedCatalog:
    """A folder of refreshed files over the built-in floor. Nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ignored_files: list[IgnoredFile] = []
        self.used_files: set[str] = set()
        self._stamp: CatalogStamp | None = None
        self._stamp_read = False

    @property
    def stamp(self) -> CatalogStamp | None:
        """The folder's stamp; None where there is no folder, or one of another form."""
        if not self._stamp_read:
            self._stamp_read = True
            try:
                self._stamp = json.decode((self.folder / STAMP_NAME).read_bytes(), CatalogStamp)
            except OSError:
                pass  # never refreshed
            except (msgspec.DecodeError, UnicodeDecodeError):
                self.ignored_files.append(IgnoredFile(file=STAMP_NAME, why="other-schema"))
        return self._stamp

    def read(self, name: str, kind: type[Kind], builtin: Path) -> Kind | None:
        """The refreshed file, if there is a sound one that is not older than the floor's."""
        if self.stamp is None:
            return None
        path = self.folder / name
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise msgspec.DecodeError("too large")
            content = json.decode(path.read_bytes(), kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.ignored_files.append(IgnoredFile(file=name, why="broken"))
            return None
        if content.as_of < _read_date(builtin):
            self.ignored_files.append(IgnoredFile(file=name, why="older"))
            return None
        self.used_files.add(name)
        return content


def _read_date(path: Path) -> str:
    try:
        return json.decode(path.read_bytes(), _DatedFile).as_of
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return ""  # the floor is broken: anything sound is better


Kind = TypeVar("Kind", bound=CatalogFile)
Device = TypeVar("Device", "AmdDevice", "IntelDevice")


class Catalog:
    """What exists in the world. Every access may raise AppError("catalog-broken", file=…, detail=…)."""

    def __init__(self, folder: Path, refreshed_folder: Path | None = None) -> None:
        self.folder = folder
        self.refreshed_catalog = RefreshedCatalog(refreshed_folder) if refreshed_folder is not None else None

    def read(self, name: str, kind: type[Kind]) -> Kind:
        """One file as one kind of subject: the refreshed one where it is sound, else the built-in one."""
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
        """Cards by PCI id."""
        return self.read("gpus.json", GpuCatalog)

    @cached_property
    def pytorch(self) -> PyTorchCatalog:
        """PyTorch's releases and builds."""
        return self.read("pytorch.json", PyTorchCatalog)

    @cached_property
    def cuda(self) -> CudaCatalog:
        """CUDA's demands on the driver."""
        return self.read("cuda.json", CudaCatalog)

    @cached_property
    def drivers(self) -> DriverCatalog:
        """The newest drivers for each generation of cards."""
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
        """Where to ask for new versions, and who may answer."""
        return self.read("updates.json", UpdateCatalog)

    @cached_property
    def cudnn(self) -> CudnnCatalog:
        """cuDNN's releases."""
        from .records.software import CudnnCatalog

        return self.read("cudnn.json", CudnnCatalog)

    @cached_property
    def tensorflow(self) -> TensorFlowCatalog:
        """TensorFlow's releases and the ways to a GPU."""
        from .records.software import TensorFlowCatalog

        return self.read("tensorflow.json", TensorFlowCatalog)

    @cached_property
    def vc_redist(self) -> VcRuntimeCatalog:
        """Microsoft's Visual C++ runtime."""
        from .records.software import VcRuntimeCatalog

        return self.read("vc_redist.json", VcRuntimeCatalog)

    @cached_property
    def accelerators(self) -> AcceleratorCatalog:
        """AMD's, Intel's and Apple's graphics."""
        from .records.hardware import AcceleratorCatalog

        return self.read("accelerators.json", AcceleratorCatalog)

    @cached_property
    def mirrors(self) -> MirrorCatalog:
        """Publishers and their mirrors."""
        from .records.catalog import MirrorCatalog

        return self.read("mirrors.json", MirrorCatalog)

    @cached_property
    def reference(self) -> ReferenceCatalog:
        """What cards can do at most."""
        from .records.hardware import ReferenceCatalog

        return self.read("reference.json", ReferenceCatalog)

    @cached_property
    def refresh_settings(self) -> RefreshSettings:
        """Whom to ask for newer facts."""
        from .records.catalog import RefreshSettings

        return self.read("refresh.json", RefreshSettings)

    @cached_property
    def _gpus_by_id(self) -> dict[str, GpuRecord]:
        return {row.pci_id: row for row in self.gpus.gpus}

    @cached_property
    def _gpus_by_name(self) -> dict[str, GpuRecord | None]:
        gpus: dict[str, GpuRecord | None] = {}
        for row in self.gpus.gpus:
            name = normalize_name(row.name)
            other = gpus.get(name, row)
            # One name on different chips tells nothing about the chip.
            same_chip = other is not None and other.compute_capability == row.compute_capability
            gpus[name] = other if same_chip else None
        return gpus

    @cached_property
    def _gpus_by_chip_name(self) -> dict[str, tuple[GpuRecord, ...]]:
        gpus: dict[str, list[GpuRecord]] = {}
        for row in self.gpus.gpus:
            for name in {chip_name(part) for part in row.name.split(" / ")} - {""}:
                gpus.setdefault(name, []).append(row)
        # Here too, one name on different chips tells nothing.
        return {name: tuple(rows) for name, rows in gpus.items() if len({r.compute_capability for r in rows}) == 1}

    @cached_property
    def _releases_by_version(self) -> dict[str, TorchRelease]:
        return {release.version: release for release in self.pytorch.releases}

    def gpu(self, pci_id: str) -> GpuRecord | None:
        """The card with a "10de:2882" PCI id; None if it is not known."""
        return self._gpus_by_id.get(pci_id.lower())

    def gpu_capability(self, pci_id: str) -> str | None:
        """The compute capability of a card by its PCI id: its own row's, else that of the stretch of ids around it;
        None if neither is known.
        """
        normalized_id = pci_id.lower()
        row = self._gpus_by_id.get(normalized_id)
        if row is not None:
            return row.compute_capability
        index = bisect_right(self.gpus.ranges, normalized_id, key=lambda stretch: stretch.first)
        id_range = self.gpus.ranges[index - 1] if index else None
        in_range = id_range is not None and len(normalized_id) == len(id_range.last) and normalized_id <= id_range.last
        return id_range.compute_capability if id_range is not None and in_range else None

    def gpu_by_name(self, name: str) -> GpuRecord | None:
        """A card with the name that a driver reports, or one of the same chip that is built in otherwise; None if
        unknown or if cards of that name differ in compute capability. Its memory and id are one example's, not
        necessarily this card's.
        """
        exact = self._gpus_by_name.get(normalize_name(name))
        if exact is not None:
            return exact
        same_chip = self._gpus_by_chip_name.get(chip_name(name), ())
        is_laptop = is_laptop_name(name)
        return next((row for row in same_chip if row.is_laptop == is_laptop), same_chip[0] if same_chip else None)

    @property
    def releases(self) -> tuple[TorchRelease, ...]:
        """PyTorch's releases, newest first."""
        return self.pytorch.releases

    def release(self, version: str) -> TorchRelease | None:
        """One PyTorch release by its exact version."""
        return self._releases_by_version.get(version)

    def build(self, version: str, variant: str, system: SystemName, arch: str) -> TorchVariant | None:
        """One published PyTorch build."""
        release = self.release(version)
        if release is None:
            return None
        key = (system, arch, variant)
        return next((v for v in release.variants if (v.system, v.arch, v.variant) == key), None)

    def default_variant(self, version: str, system: SystemName, arch: str) -> str | None:
        """The build that the general package index serves for this kind of computer; None if none is known."""
        release = self.release(version)
        if release is None or any((p.system, p.arch) == (system, arch) for p in self.pytorch.not_on_general_index):
            return None
        variants = [v for v in release.variants if (v.system, v.arch) == (system, arch)]
        # What has no index of its own can only lie there.
        return next((v.variant for v in variants if v.index_url is None), release.default_variant.get(system))

    def numpy_constraints(self, version: str | None, system: SystemName) -> tuple[str, ...]:
        """The requirements that hold other packages back for a PyTorch release: ("numpy<2",), or none."""
        release = parse_version(version)
        for bound in self.pytorch.numpy_bounds:
            below = parse_version(bound.below_release)
            if bound.system in (None, system) and release is not None and below is not None and release < below:
                return (f"numpy<{bound.numpy_below}",)
        return ()

    @cached_property
    def date(self) -> str:
        """The day the PyTorch facts were gathered, as 2026-11-21."""
        return self.pytorch.as_of

    def standalone_python(self, series: str, system: SystemName, arch: str) -> PythonBuild | None:
        """The standalone build of a "3.13" series for a system; None if none is known."""
        key = (series, system, arch)
        return next((b for b in self.pythons.builds if (b.series, b.system, b.arch) == key), None)

    def sizes(self, variant: str, system: SystemName, release: str | None = None) -> EnvironmentSizes:
        """What an environment with this kind of PyTorch build needs; unknown figures are None.

        Figures of another release than the one asked for, or for none in particular, are `approximate`; so are those
        of another CUDA or ROCm build where nothing is known of this one.
        """
        same_family = [
            size for size in self.environments.environments if variant_family(size.variant) == variant_family(variant)
        ]
        same_system = [size for size in same_family if size.system == system]
        match = next((size for size in same_system if size.variant == variant), same_system[0] if same_system else None)
        if match is None:
            return EnvironmentSizes(variant=variant, system=system)
        is_exact = (match.variant, match.release) == (variant, release)
        return match if is_exact else msgspec.structs.replace(match, approximate=True)

    def estimate_disk_bytes(self, variant: str) -> int | None:
        """About how many bytes an environment with this kind of build takes, by any system on which that was measured:
        the same build's, else the most that any build for CUDA, or for ROCm, takes; None where nobody measured such a
        one. Where only the download was, it takes no less than that.
        """
        same_family = [
            size for size in self.environments.environments if variant_family(size.variant) == variant_family(variant)
        ]
        same_variant = [size for size in same_family if size.variant == variant]
        for sizes in (same_variant, same_family):
            if disk_sizes := [size.disk_bytes for size in sizes if size.disk_bytes is not None]:
                return max(disk_sizes)
        return max((size.download_bytes for size in same_family if size.download_bytes is not None), default=None)

    def cudnn_release(self, version: str) -> CudnnRelease | None:
        """One cuDNN by its exact version."""
        return next((release for release in self.cudnn.releases if release.version == version), None)

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

    def amd_device_by_name(self, name: str) -> AmdDevice | None:
        """An AMD card with the name that a driver reports; None if unknown or if such cards differ in their chip."""
        return self._amd_by_name.get(card_name(name))

    def intel_device_by_name(self, name: str) -> IntelDevice | None:
        """An Intel card with the name that a driver reports; None if unknown or if such cards differ in family."""
        return self._intel_by_name.get(card_name(name))

    def amd_device(self, pci_id: str) -> AmdDevice | None:
        """The AMD card with a "1002:744c" PCI id; None if it is not known."""
        return self._amd_by_id.get(pci_id.lower())

    def rocm_variants(self, gfx: str) -> tuple[str, ...]:
        """The ROCm builds with code for a chip, newest first; empty where there is none. Linux only."""
        return next((chip.variants for chip in self.accelerators.amd_chips if chip.gfx == gfx), ())

    def intel_device(self, pci_id: str) -> IntelDevice | None:
        """The Intel processor of a validated family with a "8086:56a0" PCI id; None if it is none of them."""
        return self._intel_by_id.get(pci_id.lower())

    def mirrors_of(self, publisher: str) -> tuple[MirrorRecord, ...]:
        """The mirrors of a publisher's files."""
        return tuple(mirror for mirror in self.mirrors.mirrors if mirror.publisher == publisher)

    def reference_card(self, name: str, memory_bytes: int | None = None) -> ReferenceCard | None:
        """The maker's figures for the card that a driver calls `name`.

        Cards of one name with several memory sizes are told apart by `memory_bytes`; None where that is not
        possible, for laptops' cards, and for cards that are not known.
        """
        from .records.hardware import find_reference_card

        return find_reference_card(self.reference.cards, name, memory_bytes)

    def vc_requirement(self, release: str) -> VcRuntimeRequirement | None:
        """What a PyTorch release needs of the Visual C++ runtime; None for versions that say nothing."""
        return _find_vc_requirement(self.vc_redist.needs, release)

    def tensorflow_vc_requirement(self, release: str) -> VcRuntimeRequirement | None:
        """What a TensorFlow release on Windows itself needs of it; None for versions that say nothing."""
        return _find_vc_requirement(self.vc_redist.tensorflow_needs, release)

    def source_url(self, subject: CatalogFile, key: str) -> str | None:
        """The public address of one of a file's sources."""
        source = subject.sources.get(key)
        return source.url if source is not None else None


def _find_vc_requirement(requirements: tuple[VcRuntimeRequirement, ...], release: str) -> VcRuntimeRequirement | None:
    version = parse_version(release)
    for requirement in requirements:
        if version is not None and version >= (parse_version(requirement.from_release) or ()):
            return requirement
    return None


def _index_by_card_name(devices: Iterable[Device], chip: Callable[[Device], str]) -> dict[str, Device | None]:
    """Devices by each of their names; None for a name that stands for several chips."""
    index: dict[str, Device | None] = {}
    for device in devices:
        for name in {card_name(listed_name) for listed_name in split_listed_names(device.name)} - {""}:
            other = index.get(name, device)
            index[name] = other if other is not None and chip(other) == chip(device) else None
    return index


def load_catalog(folder: Path, refreshed_folder: Path | None = None) -> Catalog:
    """The catalog in a folder, with the newer files of a refreshed one where they are sound.

    Nothing is read yet: each file is decoded when it is first asked for.
    """
    if not folder.is_dir():
        raise AppError("catalog-broken", file=str(folder), detail="@file.fault.absent")
    return Catalog(folder, refreshed_folder)
