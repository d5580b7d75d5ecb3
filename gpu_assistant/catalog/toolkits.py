"""How a CUDA Toolkit is fetched and installed."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..core.machine import SystemName
from .subject import Arch, ByteCount, Confidence, Hex32Bytes, HttpsUrl, Md5, DottedVersion

InstallerKind = Literal["local", "network"]


def parse_version_json(text: str) -> str | None:
    """The version of a toolkit on disk, from its version.json (CUDA 11.1 and newer)."""
    try:
        version: Any = msgspec.json.decode(text)["cuda"]["version"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


class ToolkitInstaller(Struct, frozen=True, kw_only=True):
    """One installer file. NVIDIA itself publishes MD5 only; `sha256` where somebody fetched and hashed it."""

    system: SystemName
    arch: Arch
    kind: InstallerKind
    file: str
    url: HttpsUrl
    md5: Md5 | None
    sha256: Hex32Bytes | None
    bytes: ByteCount | None
    source: str
    confidence: Confidence = "high"

    @property
    def has_checksum(self) -> bool:
        """Whether it is the whole toolkit, with a checksum that somebody published."""
        return self.kind == "local" and (self.md5 is not None or self.sha256 is not None)


class ToolkitUrlPattern(Struct, frozen=True, kw_only=True):
    """How installers' addresses are built ({version}, {driver}), for toolkits from one up to (not with) another."""

    system: SystemName
    kind: InstallerKind
    from_version: DottedVersion | None
    before_version: DottedVersion | None
    url: HttpsUrl
    source: str
    confidence: Confidence = "high"


class RedistPart(Struct, frozen=True, kw_only=True):
    """A part of the toolkit that is installed: its names in NVIDIA's index (the first that is there counts), the CUDA
    majors that have it, and why it is wanted.
    """

    names: tuple[str, ...]
    from_major: int | None
    before_major: int | None
    why: str


class RedistFolders(Struct, frozen=True, kw_only=True):
    """What belongs on PATH in a tree of merged parts, and the links that it needs, by name and target."""

    system: SystemName
    from_major: int | None
    before_major: int | None
    path: tuple[str, ...]
    links: dict[str, str]
    source: str


class RedistSizes(Struct, frozen=True, kw_only=True):
    """Bytes to fetch for each part of one toolkit, by the part's first name."""

    version: DottedVersion
    system: SystemName
    arch: Arch
    bytes: dict[str, ByteCount]
    source: str


class CudaRedist(Struct, frozen=True, kw_only=True):
    """NVIDIA's index of single parts, "{version}" in `file` being the toolkit's."""

    index: HttpsUrl
    file: str
    platforms: tuple[str, ...]
    parts: tuple[RedistPart, ...]
    folders: tuple[RedistFolders, ...]
    sizes: tuple[RedistSizes, ...]
    source: str


class SuccessExitCode(Struct, frozen=True, kw_only=True):
    """An exit code other than 0 after which the toolkit is complete."""

    code: int
    meaning: str
    confidence: Confidence = "high"


class HostCompiler(Struct, frozen=True, kw_only=True):
    """Microsoft's compilers that toolkits from one on take: from `lowest` up to (not with) `below`, None being no
    bound; `products` are the Visual Studios that bring them.
    """

    from_toolkit: DottedVersion
    lowest: DottedVersion
    below: DottedVersion | None
    products: str
    source: str
    confidence: Confidence = "high"


class GnuCompiler(Struct, frozen=True, kw_only=True):
    """The newest major of GNU's compiler that toolkits from one on take on Linux; nvcc refuses a newer one."""

    from_toolkit: DottedVersion
    newest: int
    source: str
    confidence: Confidence = "high"


class ExtraComponents(Struct, frozen=True, kw_only=True):
    """Components that compiling needs besides, from a CUDA major on."""

    from_major: int
    components: tuple[str, ...]
    source: str
    confidence: Confidence = "high"


class ToolkitInstallerSettings(Struct, frozen=True, kw_only=True):
    """How the installer runs in silence: "{components}" in `arguments` stands for the chosen component names with
    `component_suffix` behind each. `avoid` never belongs in the list; `complete_when` are files that tell a
    success, whatever the exit code. `signer` is who must have signed it; after `restart_codes` the computer wants a
    restart. `own_folder` are the words that put it into a folder of the user's ("{folder}"), unpacked below another
    one ("{scratch}"), without an administrator; empty where it cannot.
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
    also_success: tuple[SuccessExitCode, ...]
    uninstall_key: str | None
    needs: str | None
    source: str
    added: tuple[ExtraComponents, ...] = ()
    signer: str | None = None
    restart_codes: tuple[int, ...] = ()
    own_folder: tuple[str, ...] = ()
    own_folder_source: str | None = None

    def installer_arguments(self, version: str) -> tuple[str, ...]:
        """What the installer of a toolkit is called with: all that compiling needs, and nothing else."""
        major, minor = version.split(".")[:2]
        suffix = (self.component_suffix or "").format(major=major, minor=minor)
        extra_names = (name for extra in self.added if extra.from_major <= int(major) for name in extra.components)
        names = tuple(f"{name}{suffix}" for name in (*self.minimal_for_compiling, *extra_names))
        return tuple(each for argument in self.arguments for each in (names if argument == "{components}" else (argument,)))

    @property
    def can_run_unattended(self) -> bool:
        """Whether we may run it: into a folder of the user's, or where it is known who must have signed it."""
        return bool(self.own_folder) or self.signer is not None
