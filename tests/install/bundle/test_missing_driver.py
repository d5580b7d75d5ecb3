"""Which driver a bundle lacks, and where the user is sent for it."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from msgspec.structs import replace

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import DriverAdvice
from gpu_assistant.install.bundle.missing_driver import MissingDriver, find_missing_driver
from tests.fakes.examples import cpu_recommendation, make_plan

NEWEST: dict[str, Any] = {"action": "install", "recommended": "617.42", "url": "https://example.org/617.42.exe"}
PAGE: dict[str, Any] = {"action": "install", "way": "page", "page": "https://example.org/wiki"}


def found(system: Literal["windows", "linux"], advice: dict[str, Any], *excluded_codes: str) -> MissingDriver | None:
    recommendation = replace(cpu_recommendation(), driver=DriverAdvice(**advice))
    return find_missing_driver(
        recommendation,
        make_plan(recommendation, "/somewhere"),
        load_catalog(resources_dir() / "catalog"),
        excluded_codes=excluded_codes,
        system=system,
    )


def test_driver_that_is_there_is_not_missing() -> None:
    assert found("windows", {"action": "keep"}) is None
    assert found("linux", {"action": "none"}, "wsl2-install") is None


def test_windows_takes_a_file_along() -> None:
    assert found("windows", NEWEST) == MissingDriver(source="file", version="617.42", url=NEWEST["url"])
    any_new_enough = found("windows", {"action": "update", "minimum": "580.65"})
    assert any_new_enough is not None
    assert (any_new_enough.source, any_new_enough.version) == ("file", None)
    assert str(any_new_enough.url).startswith("https://www.nvidia.com/")


def test_page_of_the_system_is_named() -> None:
    assert found("linux", PAGE) == MissingDriver(source="page", url=PAGE["page"])


def test_packages_come_over_the_internet() -> None:
    packages = found("linux", {"action": "install", "way": "packages"}, "nvidia-driver-linux")
    assert packages is not None
    assert packages.source == "packages"


@pytest.mark.parametrize(
    ("system", "advice"),
    [
        ("windows", {**NEWEST, "action": "back"}),  # the newer one is removed first
        ("windows", {"action": "install", "below": "590"}),  # a newer one would not support the card
        ("linux", {**PAGE, "action": "back"}),
        ("linux", {**PAGE, "below": "590"}),
        ("linux", {**PAGE, "recommended": "580.65.06"}),  # the user picked it
        ("linux", {**PAGE, "way": "commands", "commands": (("sudo", "dnf", "install", "akmod-nvidia"),)}),
        ("linux", {"action": "install", "way": "unsure"}),
        ("linux", {"action": "install", "way": "nvidia-source", "recommended": "580.65.06"}),
        ("linux", NEWEST),  # in WSL, where Windows' driver serves
    ],
)
def test_what_is_more_than_a_file_is_explained_there(
    system: Literal["windows", "linux"], advice: dict[str, Any]
) -> None:
    assert found(system, advice) == MissingDriver(source="guided")
