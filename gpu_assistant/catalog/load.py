"""The catalog: compatibility data from a folder, each file decoded when it is first asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ..core import json
from ..core.errors import AppError
from ..core.json import fault_of
from ..core.machine import SystemName
from ..core.refusal import why
from .names import card_name, chip_name, listed_names, plain_name, portable_name
from .records import Cuda, Drivers, Environments, GpuRow, Gpus, PythonBuild, Pythons, Sizes, Subject, Updates
from .refreshed import Refreshed
from .torch_builds import PyTorch, TorchRelease, TorchVariant, kind_of
from .versions import numbers

if TYPE_CHECKING:
    from .accelerators import Accelerators, AmdDevice, IntelDevice
    from .libraries import Cudnn, CudnnRelease, TensorFlow, VcNeed, VcRedist
    from .places import Mirror, Mirrors
    from .reference import Reference, ReferenceCard
    from .refreshing import Refreshing

Kind = TypeVar("Kind", bound=Subject)
Device = TypeVar("Device", "AmdDevice", "IntelDevice")


class Catalog:
    """What exists in the world. Every access may raise AppError("catalog-broken", file=…, detail=…)."""

    def __init__(self, folder: Path, refreshed: Path | None = None) -> None:
        self.folder = folder
        self.refreshed = Refreshed(refreshed) if refreshed is not None else None

    def read(self, name: str, kind: type[Kind]) -> Kind:
        """One file as one kind of subject: the refreshed one where it is sound, else the built-in one."""
        path = self.folder / name
        newer = self.refreshed.read(name, kind, path) if self.refreshed is not None else None
        if newer is not None:
            return newer
        try:
            return json.decode(path.read_bytes(), kind)
        except OSError as error:
            raise AppError("catalog-broken", file=str(path), detail=why(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AppError("catalog-broken", file=str(path), detail=fault_of(error)[0]) from error

    @cached_property
    def gpus(self) -> Gpus:
        """Cards by PCI id."""
        return self.read("gpus.json", Gpus)

    @cached_property
    def pytorch(self) -> PyTorch:
        """PyTorch's releases and builds."""
        return self.read("pytorch.json", PyTorch)

    @cached_property
    def cuda(self) -> Cuda:
        """CUDA's demands on the driver."""
        return self.read("cuda.json", Cuda)

    @cached_property
    def drivers(self) -> Drivers:
        """The newest drivers for each generation of cards."""
        return self.read("drivers.json", Drivers)

    @cached_property
    def pythons(self) -> Pythons:
        """Standalone Python builds."""
        return self.read("pythons.json", Pythons)

    @cached_property
    def environments(self) -> Environments:
        """Measured sizes of environments."""
        return self.read("sizes.json", Environments)

    @cached_property
    def updates(self) -> Updates:
        """Where to ask for new versions, and who may answer."""
        return self.read("updates.json", Updates)

    @cached_property
    def cudnn(self) -> Cudnn:
        """cuDNN's releases."""
        from .libraries import Cudnn

        return self.read("cudnn.json", Cudnn)

    @cached_property
    def tensorflow(self) -> TensorFlow:
        """TensorFlow's releases and the ways to a GPU."""
        from .libraries import TensorFlow

        return self.read("tensorflow.json", TensorFlow)

    @cached_property
    def vc_redist(self) -> VcRedist:
        """Microsoft's Visual C++ runtime."""
        from .libraries import VcRedist

        return self.read("vc_redist.json", VcRedist)

    @cached_property
    def accelerators(self) -> Accelerators:
        """AMD's, Intel's and Apple's graphics."""
        from .accelerators import Accelerators

        return self.read("accelerators.json", Accelerators)

    @cached_property
    def mirrors(self) -> Mirrors:
        """Publishers and their mirrors."""
        from .places import Mirrors

        return self.read("mirrors.json", Mirrors)

    @cached_property
    def reference(self) -> Reference:
        """What cards can do at most."""
        from .reference import Reference

        return self.read("reference.json", Reference)

    @cached_property
    def refreshing(self) -> Refreshing:
        """Whom to ask for newer facts."""
        from .refreshing import Refreshing

        return self.read("refresh.json", Refreshing)

    @cached_property
    def _gpus_by_id(self) -> dict[str, GpuRow]:
        return {row.pci_id: row for row in self.gpus.gpus}

    @cached_property
    def _gpus_by_name(self) -> dict[str, GpuRow | None]:
        found: dict[str, GpuRow | None] = {}
        for row in self.gpus.gpus:
            name = plain_name(row.name)
            other = found.get(name, row)
            # One name on different chips tells nothing about the chip.
            same = other is not None and other.compute_capability == row.compute_capability
            found[name] = other if same else None
        return found

    @cached_property
    def _gpus_by_chip_name(self) -> dict[str, tuple[GpuRow, ...]]:
        found: dict[str, list[GpuRow]] = {}
        for row in self.gpus.gpus:
            for name in {chip_name(part) for part in row.name.split(" / ")} - {""}:
                found.setdefault(name, []).append(row)
        # Here too, one name on different chips tells nothing.
        return {name: tuple(rows) for name, rows in found.items() if len({r.compute_capability for r in rows}) == 1}

    @cached_property
    def _releases_by_version(self) -> dict[str, TorchRelease]:
        return {release.version: release for release in self.pytorch.releases}

    def gpu(self, pci_id: str) -> GpuRow | None:
        """The card with a "10de:2882" PCI id; None if it is not known."""
        return self._gpus_by_id.get(pci_id.lower())

    def gpu_capability(self, pci_id: str) -> str | None:
        """The compute capability of a card by its PCI id: its own row's, else that of the stretch of ids around it;
        None if neither is known.
        """
        wanted = pci_id.lower()
        row = self._gpus_by_id.get(wanted)
        if row is not None:
            return row.compute_capability
        place = bisect_right(self.gpus.ranges, wanted, key=lambda stretch: stretch.first)
        stretch = self.gpus.ranges[place - 1] if place else None
        inside = stretch is not None and len(wanted) == len(stretch.last) and wanted <= stretch.last
        return stretch.compute_capability if stretch is not None and inside else None

    def gpu_named(self, name: str) -> GpuRow | None:
        """A card with the name that a driver reports, or one of the same chip that is built in otherwise; None if
        unknown or if cards of that name differ in compute capability. Its memory and id are one example's, not
        necessarily this card's.
        """
        exact = self._gpus_by_name.get(plain_name(name))
        if exact is not None:
            return exact
        like = self._gpus_by_chip_name.get(chip_name(name), ())
        portable = portable_name(name)
        return next((row for row in like if row.laptop == portable), like[0] if like else None)

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
        wanted = (system, arch, variant)
        return next((v for v in release.variants if (v.system, v.arch, v.variant) == wanted), None)

    def default_variant(self, version: str, system: SystemName, arch: str) -> str | None:
        """The build that the general package index serves for this kind of computer; None if none is known."""
        release = self.release(version)
        if release is None or any((p.system, p.arch) == (system, arch) for p in self.pytorch.not_on_general_index):
            return None
        mine = [v for v in release.variants if (v.system, v.arch) == (system, arch)]
        # What has no index of its own can only lie there.
        return next((v.variant for v in mine if v.index_url is None), release.default_variant.get(system))

    def held_for(self, version: str | None, system: SystemName) -> tuple[str, ...]:
        """The requirements that hold other packages back for a PyTorch release: ("numpy<2",), or none."""
        here = numbers(version)
        for bound in self.pytorch.numpy_bounds:
            below = numbers(bound.below_release)
            if bound.system in (None, system) and here is not None and below is not None and here < below:
                return (f"numpy<{bound.numpy_below}",)
        return ()

    @cached_property
    def date(self) -> str:
        """The day the PyTorch facts were gathered, as 2026-11-21."""
        return self.pytorch.as_of

    def standalone_python(self, series: str, system: SystemName, arch: str) -> PythonBuild | None:
        """The standalone build of a "3.13" series for a system; None if none is known."""
        wanted = (series, system, arch)
        return next((b for b in self.pythons.builds if (b.series, b.system, b.arch) == wanted), None)

    def sizes(self, variant: str, system: SystemName, release: str | None = None) -> Sizes:
        """What an environment with this kind of PyTorch build needs; unknown figures are None.

        Figures of another release than the one asked for, or for none in particular, are `approximate`; so are those
        of another CUDA or ROCm build where nothing is known of this one.
        """
        like = [size for size in self.environments.environments if kind_of(size.variant) == kind_of(variant)]
        known = [size for size in like if size.system == system]
        found = next((size for size in known if size.variant == variant), known[0] if known else None)
        if found is None:
            return Sizes(variant=variant, system=system)
        exact = (found.variant, found.release) == (variant, release)
        return found if exact else msgspec.structs.replace(found, approximate=True)

    def disk_about(self, variant: str) -> int | None:
        """About how many bytes an environment with this kind of build takes, by any system on which that was measured:
        the same build's, else the most that any build for CUDA, or for ROCm, takes; None where nobody measured such a
        one. Where only the download was, it takes no less than that.
        """
        like = [size for size in self.environments.environments if kind_of(size.variant) == kind_of(variant)]
        same = [size for size in like if size.variant == variant]
        for sizes in (same, like):
            if unpacked := [size.disk_bytes for size in sizes if size.disk_bytes is not None]:
                return max(unpacked)
        return max((size.download_bytes for size in like if size.download_bytes is not None), default=None)

    def cudnn_release(self, version: str) -> CudnnRelease | None:
        """One cuDNN by its exact version."""
        return next((release for release in self.cudnn.releases if release.version == version), None)

    @cached_property
    def _amd(self) -> dict[str, AmdDevice]:
        return {device.pci_id: device for device in self.accelerators.amd_devices}

    @cached_property
    def _intel(self) -> dict[str, IntelDevice]:
        return {device.pci_id: device for device in self.accelerators.intel_devices}

    @cached_property
    def _amd_by_name(self) -> dict[str, AmdDevice | None]:
        return _by_card_name(self.accelerators.amd_devices, lambda device: device.gfx)

    @cached_property
    def _intel_by_name(self) -> dict[str, IntelDevice | None]:
        return _by_card_name(self.accelerators.intel_devices, lambda device: device.family)

    def amd_named(self, name: str) -> AmdDevice | None:
        """An AMD card with the name that a driver reports; None if unknown or if such cards differ in their chip."""
        return self._amd_by_name.get(card_name(name))

    def intel_named(self, name: str) -> IntelDevice | None:
        """An Intel card with the name that a driver reports; None if unknown or if such cards differ in family."""
        return self._intel_by_name.get(card_name(name))

    def amd_device(self, pci_id: str) -> AmdDevice | None:
        """The AMD card with a "1002:744c" PCI id; None if it is not known."""
        return self._amd.get(pci_id.lower())

    def rocm_variants(self, gfx: str) -> tuple[str, ...]:
        """The ROCm builds with code for a chip, newest first; empty where there is none. Linux only."""
        return next((chip.variants for chip in self.accelerators.amd_chips if chip.gfx == gfx), ())

    def intel_device(self, pci_id: str) -> IntelDevice | None:
        """The Intel processor of a validated family with a "8086:56a0" PCI id; None if it is none of them."""
        return self._intel.get(pci_id.lower())

    def mirrors_of(self, publisher: str) -> tuple[Mirror, ...]:
        """The mirrors of a publisher's files."""
        return tuple(mirror for mirror in self.mirrors.mirrors if mirror.publisher == publisher)

    def reference_card(self, name: str, memory_bytes: int | None = None) -> ReferenceCard | None:
        """The maker's figures for the card that a driver calls `name`.

        Cards of one name with several memory sizes are told apart by `memory_bytes`; None where that is not
        possible, for laptops' cards, and for cards that are not known.
        """
        from .reference import match

        return match(self.reference.cards, name, memory_bytes)

    def vc_need(self, release: str) -> VcNeed | None:
        """What a PyTorch release needs of the Visual C++ runtime; None for versions that say nothing."""
        return _need(self.vc_redist.needs, release)

    def vc_need_tensorflow(self, release: str) -> VcNeed | None:
        """What a TensorFlow release on Windows itself needs of it; None for versions that say nothing."""
        return _need(self.vc_redist.tensorflow_needs, release)

    def source(self, subject: Subject, key: str) -> str | None:
        """The public address of one of a file's sources."""
        found = subject.sources.get(key)
        return found.url if found is not None else None


def _need(needs: tuple[VcNeed, ...], release: str) -> VcNeed | None:
    wanted = numbers(release)
    for need in needs:
        if wanted is not None and wanted >= (numbers(need.from_release) or ()):
            return need
    return None


def _by_card_name(devices: Iterable[Device], chip: Callable[[Device], str]) -> dict[str, Device | None]:
    """Devices by each of their names; None for a name that stands for several chips."""
    found: dict[str, Device | None] = {}
    for device in devices:
        for name in {card_name(listed) for listed in listed_names(device.name)} - {""}:
            other = found.get(name, device)
            found[name] = other if other is not None and chip(other) == chip(device) else None
    return found


def load(folder: Path, refreshed: Path | None = None) -> Catalog:
    """The catalog in a folder, with the newer files of a refreshed one where they are sound.

    Nothing is read yet: each file is decoded when it is first asked for.
    """
    if not folder.is_dir():
        raise AppError("catalog-broken", file=str(folder), detail="@file.fault.absent")
    return Catalog(folder, refreshed)
