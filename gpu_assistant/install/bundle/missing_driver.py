"""The NVIDIA driver that the computer of a bundle needs and the bundle cannot contain, and where it is from.

What a plan installs with administrator rights from files is in the bundle. Not in it are a distribution's packages,
which its package manager downloads itself, and a driver that a plan leaves to the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ...core.plan import Plan, manual_driver
from ...core.recommendation import Recommendation

if TYPE_CHECKING:
    from ...catalog.store import Catalog


class MissingDriver(Struct, frozen=True, kw_only=True):
    """A driver that is not in a bundle, and its official address. `source`: a file for Windows to bring along ("file"),
    packages of the system that GPU Assistant installs over the internet ("packages"), a way that the system's own page
    describes ("page"), or one that GPU Assistant describes over there ("guided", which has no address).
    `version`: None where any that is new enough will do.
    """

    source: Literal["file", "packages", "page", "guided"]
    version: str | None = None
    url: str | None = None


def find_missing_driver(
    recommendation: Recommendation,
    plan: Plan,
    catalog: Catalog,
    *,
    excluded_codes: Iterable[str],
    system: Literal["windows", "linux"],
) -> MissingDriver | None:
    """The driver that the plan of a bundle for `system` needs, but the bundle lacks; `excluded_codes` are those of its
    steps whose programs need the network themselves.
    """
    if any(code.startswith("nvidia-driver") for code in excluded_codes):
        return MissingDriver(source="packages", url=catalog.source_url(catalog.drivers, "unix"))
    advice = manual_driver(recommendation, plan)
    if advice is None:
        return None
    # An older driver has a bound or goes in after the newer one is removed, and Linux has several ways: of these, GPU
    # Assistant tells. A page describes only the driver that the distribution has now.
    is_bounded = advice.recommended is None and advice.below is not None
    if advice.way == "page" and advice.action != "back" and advice.recommended is None and advice.below is None:
        return MissingDriver(source="page", url=advice.page)
    if system != "windows" or advice.action == "back" or is_bounded:
        return MissingDriver(source="guided")
    url = advice.url or catalog.source_url(catalog.drivers, "nvidia")
    return MissingDriver(source="file", version=advice.recommended, url=url)
