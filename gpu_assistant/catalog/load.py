"""The catalog: compatibility data from a folder, each file decoded when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from ..core.errors import AppError
from ..core.machine import SystemName
from .names import plain_name
from .records import (
    Cuda,
    Drivers,
    Environments,
    GpuRow,
    Gpus,
    PythonBuild,
    Pythons,
    PyTorch,
    Sizes,
    Subject,
    TorchRelease,
    TorchVariant,
    Updates,
)

Kind = TypeVar("Kind", bound=Subject)


class Catalog:
    """What exists in the world. Every access may raise AppError("catalog-broken", file=…, detail=…)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _read(self, name: str, kind: type[Kind]) -> Kind:
        path = self.folder / name
        try:
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except OSError as error:
            raise AppError("catalog-broken", file=str(path), detail=error.strerror or str(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AppError("catalog-broken", file=str(path), detail=str(error)) from error

    @cached_property
    def gpus(self) -> Gpus:
        """Cards by PCI id."""
        return self._read("gpus.json", Gpus)

    @cached_property
    def pytorch(self) -> PyTorch:
        """PyTorch's releases and builds."""
        return self._read("pytorch.json", PyTorch)

    @cached_property
    def cuda(self) -> Cuda:
        """CUDA's demands on the driver."""
        return self._read("cuda.json", Cuda)

    @cached_property
    def drivers(self) -> Drivers:
        """The newest drivers for each generation of cards."""
        return self._read("drivers.json", Drivers)

    @cached_property
    def pythons(self) -> Pythons:
        """Standalone Python builds."""
        return self._read("pythons.json", Pythons)

    @cached_property
    def environments(self) -> Environments:
        """Measured sizes of environments."""
        return self._read("sizes.json", Environments)

    @cached_property
    def updates(self) -> Updates:
        """Where to ask for new versions, and who may answer."""
        return self._read("updates.json", Updates)

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
    def _releases_by_version(self) -> dict[str, TorchRelease]:
        return {release.version: release for release in self.pytorch.releases}

    def gpu(self, pci_id: str) -> GpuRow | None:
        """The card with a "10de:2882" PCI id; None if it is not known."""
        return self._gpus_by_id.get(pci_id.lower())

    def gpu_named(self, name: str) -> GpuRow | None:
        """A card with the name that a driver reports; None if unknown or if cards of that name differ in
        compute capability. Its memory and id are one example's, not necessarily this card's.
        """
        return self._gpus_by_name.get(plain_name(name))

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

    def default_variant(self, version: str, system: SystemName) -> str | None:
        """The build that the general package index serves for this system; None if not known."""
        release = self.release(version)
        return release.default_variant.get(system) if release is not None else None

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

        Figures of another release than the one asked for, or for none in particular, are `approximate`.
        """
        for size in self.environments.environments:
            if (size.variant, size.system) == (variant, system):
                return size if size.release == release else msgspec.structs.replace(size, approximate=True)
        return Sizes(variant=variant, system=system)

    def source(self, subject: Subject, key: str) -> str | None:
        """The public address of one of a file's sources."""
        found = subject.sources.get(key)
        return found.url if found is not None else None


def load(folder: Path) -> Catalog:
    """The catalog in a folder. Nothing is read yet: each file is decoded when it is first asked for."""
    if not folder.is_dir():
        raise AppError("catalog-broken", file=str(folder), detail="folder missing")
    return Catalog(folder)
