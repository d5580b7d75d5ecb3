"""Where a driver's package lies."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, Segment
from ..core.machine import Machine
from ..core.recommendation import Channel


def with_server_url(catalog: Catalog, package: DriverPackage, machine: Machine) -> DriverPackage:
    """A package for data centres with the address of Windows Server's own where it is that; None where none is known
    for this very one.
    """
    pattern, name = catalog.drivers.address_patterns.get("data_center_server"), machine.os.name or ""
    if pattern is None or package.system != "windows" or package.segment != "datacenter" or machine.os.wsl:
        return package
    if any(name.startswith(prefix) for prefix in pattern.for_names):
        return replace(package, url=pattern.url.replace("{version}", package.version))
    families = {prefix.rpartition(" ")[0] for prefix in pattern.for_names}
    return replace(package, url=None) if any(name.startswith(family) for family in families) else package


def with_download_url(catalog: Catalog, package: DriverPackage, segment: Segment, channel: Channel) -> DriverPackage:
    """A package with its address: the one that was seen, else as addresses of its kind are built, if that is known."""
    if package.url is not None or package.system != "windows":
        return package
    package_channel = package.channel or ("game-ready" if segment == "laptop" else channel)
    names = {"laptop": f"{package_channel.replace('-', '_')}_notebook", "workstation": "rtx_quadro"}
    names["datacenter"] = "data_center_windows"
    pattern = catalog.drivers.address_patterns.get(names.get(segment, ""))
    return package if pattern is None else replace(package, url=pattern.url.replace("{version}", package.version))
