"""What an environment is made of besides its packages, and its size.

Files: `pythons.json`, `sizes.json`.
"""

from __future__ import annotations

from msgspec import Struct, field

from ...core.machine import SystemName
from ...core.versions import Version
from .base import (
    Arch,
    ByteCount,
    CatalogFile,
    Fact,
    Hex32Bytes,
    HttpsUrl,
    PythonSeries,
    Variant,
)


class PythonBuild(Struct, frozen=True, kw_only=True):
    """One standalone Python archive; `bytes` is its size, None where it is unknown."""

    series: PythonSeries
    version: Version
    system: SystemName
    arch: Arch
    url: HttpsUrl
    sha256: Hex32Bytes
    bytes: ByteCount | None


class PythonCatalog(CatalogFile, frozen=True, kw_only=True):
    """`pythons.json`, newest series first. `preferred` are the series to download rather than a newer one, for which
    packages around PyTorch have no wheels yet; the best one first.
    """

    builds: tuple[PythonBuild, ...]
    preferred: tuple[PythonSeries, ...] = ()
    preferred_source: str | None = None


class EnvironmentSizes(Struct, frozen=True, kw_only=True):
    """Measured bytes to download and to keep on disk for an environment with one variant; None where not measured.

    `release` was measured; `approximate` tells that it is not the release in question. `includes_dependencies`: the
    download includes all dependencies, otherwise PyTorch's own wheel alone.
    """

    variant: Variant | None = None
    system: SystemName | None = None
    release: Version | None = None
    download_bytes: ByteCount | None = None
    disk_bytes: ByteCount | None = None
    source: str | None = None
    includes_dependencies: bool = field(default=False, name="whole")
    approximate: bool = False


class DriverSize(Fact, frozen=True, kw_only=True):
    """Bytes of an NVIDIA driver: of NVIDIA's own package, or of all packages of a distribution that it needs."""

    system: SystemName
    distribution: str | None
    release: Version | None
    bytes: ByteCount


class TensorFlowSize(Fact, frozen=True, kw_only=True):
    """Bytes to download for an environment with TensorFlow alone: the release that was measured, with the libraries of
    `cuda` (None: without).
    """

    system: SystemName
    cuda: Version | None
    release: Version
    download_bytes: ByteCount


class EnvironmentSizeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`sizes.json`."""

    environments: tuple[EnvironmentSizes, ...]
    drivers: tuple[DriverSize, ...] = ()
    tensorflow: tuple[TensorFlowSize, ...] = ()
