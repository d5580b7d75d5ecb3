"""How a CUDA Toolkit is fetched and installed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.machine import SystemName
from .subject import Arch, Bytes, Confidence, Hex32, Https, Md5, Numbers

InstallerKind = Literal["local", "network"]


class Installer(Struct, frozen=True, kw_only=True):
    """One installer file. NVIDIA itself publishes MD5 only; `sha256` where somebody fetched and hashed it."""

    system: SystemName
    arch: Arch
    kind: InstallerKind
    file: str
    url: Https
    md5: Md5 | None
    sha256: Hex32 | None
    bytes: Bytes | None
    source: str
    confidence: Confidence = "high"


class ToolkitAddress(Struct, frozen=True, kw_only=True):
    """How installers' addresses are built ({version}, {driver}), for toolkits from one up to (not with) another."""

    system: SystemName
    kind: InstallerKind
    from_version: Numbers | None
    before_version: Numbers | None
    url: Https
    source: str
    confidence: Confidence = "high"


class CudaRedist(Struct, frozen=True, kw_only=True):
    """NVIDIA's index of single parts; `minimal_for_compiling` by CUDA major."""

    index: Https
    file: str
    platforms: tuple[str, ...]
    minimal_for_compiling: dict[str, tuple[str, ...]]
    source: str


class OddSuccess(Struct, frozen=True, kw_only=True):
    """An exit code other than 0 after which the toolkit is complete."""

    code: int
    meaning: str
    confidence: Confidence = "high"


class ToolkitInstall(Struct, frozen=True, kw_only=True):
    """How the installer runs in silence: "{components}" in `arguments` stands for the chosen component names with
    `component_suffix` behind each. `avoid` never belongs in the list; `complete_when` are files that tell a
    success, whatever the exit code.
    """

    system: SystemName
    arguments: tuple[str, ...]
    components: tuple[str, ...]
    minimal_for_compiling: tuple[str, ...]
    avoid: tuple[str, ...]
    component_suffix: str | None
    no_restart: str | None
    folder: str | None
    complete_when: tuple[str, ...]
    also_success: tuple[OddSuccess, ...]
    uninstall_key: str | None
    needs: str | None
    source: str
