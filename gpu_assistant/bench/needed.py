"""The command that brings a package of our example programs in the release that belongs to an environment's PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..core.machine import OperatingSystem

TORCHVISION = "torchvision"  # built against one PyTorch: beside another one neither of them loads


def install_command(
    package: str, python: Path, torch: str | None, catalog: Catalog, system: OperatingSystem
) -> tuple[str, ...] | None:
    """What to run for it with an environment's own Python; `torch` is the version there, as "2.13.0+cu126".

    None where the package is bound to a PyTorch and nobody knows which release of it belongs to this one.
    """
    pip_command = (str(python), "-m", "pip", "install")
    if package != TORCHVISION:
        return (*pip_command, package)
    version, _, tag = (torch or "").partition("+")
    release = catalog.release(version)
    if release is None or release.torchvision is None or system.arch is None:
        return None
    variant = tag or catalog.default_variant(version, system.system, system.arch)
    build = catalog.build(version, variant, system.system, system.arch) if variant is not None else None
    if build is None or build.alone:
        return None
    index_options = ("--index-url", build.index_url) if build.index_url is not None else ()
    # Of the very same build: pip's configuration may name further sources, and beside another build it does not load.
    local_version = f"+{tag}" if tag else ""
    return (*pip_command, f"{package}=={release.torchvision}{local_version}", *index_options)
