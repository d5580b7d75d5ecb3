"""Where a driver's package lies."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, Segment
from ..core.recommendation import Channel


def addressed(catalog: Catalog, package: DriverPackage, segment: Segment, channel: Channel) -> DriverPackage:
    """A package with its address: the one that was seen, else as addresses of its kind are built, if that is known."""
    if package.url is not None or package.system != "windows":
        return package
    own = package.channel or ("game-ready" if segment == "laptop" else channel)
    names = {"laptop": f"{own.replace('-', '_')}_notebook", "workstation": "rtx_quadro"}
    names["datacenter"] = "data_center_windows"
    pattern = catalog.drivers.address_patterns.get(names.get(segment, ""))
    return package if pattern is None else replace(package, url=pattern.url.replace("{version}", package.version))
