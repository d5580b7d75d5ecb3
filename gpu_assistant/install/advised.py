"""Whether a recommendation that came with a plan file is one that we could have made; its reasons are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import structs

from ..catalog import distributions
from ..catalog.versions import parse_version
from ..core.errors import AppError
from ..core.machine import OperatingSystem
from ..core.recommendation import Alternative, DriverAdvice, Recommendation
from .door.packages import allowed_packages
from .untrusted import plan_refused_error

if TYPE_CHECKING:
    from ..catalog.load import Catalog

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
# What a card or a driver is called: nothing that could be typed into a terminal.
_NAME = re.compile(r"@?[\w(][\w .,()+/-]{0,79}\Z")


def sound(value: Recommendation, here: OperatingSystem, catalog: Catalog) -> Recommendation:
    """The same without all that nobody can check again: reasons, warnings, and offers that no step is planned by.

    Raises CallError("plan-refused") for a version that is none, and for a package, a command or a page that the
    catalog does not give for this computer.
    """
    torch, flow = value.pytorch, value.tensorflow
    if torch is not None:
        _versions("pytorch", torch.cuda, torch.cudnn)
    if flow is not None and not _asks_for(flow.requirement, flow.version):
        raise plan_refused_error(f"tensorflow: {flow.version}", part="resolve")
    _driver(value.driver, here, catalog)
    return structs.replace(
        value,
        reasons=(),
        warnings=(),
        alternatives=tuple(_offer(each) for each in value.alternatives if _plans(each)),
        catalog_date=value.catalog_date if _DATE.match(value.catalog_date or "") else None,
    )


def _driver(advice: DriverAdvice, here: OperatingSystem, catalog: Catalog) -> None:
    drivers, part = catalog.drivers, "nvidia-driver"
    _versions(part, advice.minimum, advice.recommended, advice.below)
    if advice.installed is not None and _NAME.match(advice.installed) is None:
        raise plan_refused_error("driver.installed", part=part)
    if advice.url is not None and advice.url not in _addresses(advice.recommended, catalog):
        raise plan_refused_error("driver.url", part=part)
    if advice.page is not None and advice.page not in {source.url for source in drivers.sources.values()}:
        raise plan_refused_error("driver.page", part=part)
    if advice.packages:
        try:
            names = allowed_packages(here, catalog)
        except AppError as error:
            raise plan_refused_error("driver.packages", part=part) from error
        if not all(names.match(name) for name in advice.packages):
            raise plan_refused_error("driver.packages", part=part)
    if advice.commands and advice.commands not in _taught(here, catalog):
        raise plan_refused_error("driver.commands", part=part)


def _addresses(version: str | None, catalog: Catalog) -> set[str]:
    """Every address that the catalog has, or builds, for a driver."""
    patterns = (pattern.url for pattern in catalog.drivers.address_patterns.values())
    built = {pattern.replace("{version}", version) for pattern in patterns} if version is not None else set()
    return built | {package.url for package in catalog.drivers.packages if package.url is not None}


def _taught(here: OperatingSystem, catalog: Catalog) -> list[distributions.CommandLines | None]:
    """What the catalog teaches to type on this distribution, with and without a key for Secure Boot."""
    own = (here.distro or "").casefold()
    rows = [row for row in catalog.drivers.linux_commands if own in row.distributions]
    orders = [(row.commands, (*row.enrol, *row.commands), (*row.commands, *row.enrol)) for row in rows]
    return [distributions.fill_commands(commands, here) for order in orders for commands in order]


def _versions(part: str, *versions: str | None) -> None:
    for version in versions:
        if version is not None and parse_version(version) is None:
            raise plan_refused_error(f"{part}: {version}", part=part if part == "nvidia-driver" else "resolve")


def _asks_for(requirement: str, version: str) -> bool:
    """Whether a requirement of the catalog's is for this very version."""
    from packaging.requirements import Requirement

    return Requirement(requirement).specifier.contains(version)


def _plans(offer: Alternative) -> bool:
    from .steps.wsl2 import OFFER_CODE

    return offer.code == OFFER_CODE


def _offer(offer: Alternative) -> Alternative:
    gpu = offer.data.get("gpu")
    if gpu is not None and (not isinstance(gpu, str) or _NAME.match(gpu) is None):
        raise plan_refused_error("alternatives: gpu", part="wsl2")
    return Alternative(code=offer.code, change={}, data={"gpu": gpu})
