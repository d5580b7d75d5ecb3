"""Operating systems that are too old: said, and never called fitting."""

from __future__ import annotations

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Choice

from .build import RTX_4060, catalog, check, codes, machine, nvidia, python, reason, wheel


def windows(*, build: int | None = None, version: str | None = None) -> Machine:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    return msgspec.structs.replace(box, os=msgspec.structs.replace(box.os, build=build, version=version))


@pytest.mark.parametrize(
    ("glibc", "lacking"), [("2.17", True), ("2.27", True), ("2.28", False), ("2.39", False), (None, False)]
)
def test_glibc_of_the_index_builds(glibc: str | None, lacking: bool) -> None:
    found = check(recommend(machine("linux", glibc=glibc), catalog()))
    assert ("glibc-too-old" in codes(found.warnings)) is lacking
    assert reason(found, "pytorch.version").code == ("version-newest-only" if lacking else "version-newest")


def test_no_floor_is_claimed_for_releases_that_nobody_looked_into() -> None:
    found = check(recommend(machine("linux", glibc="2.17"), catalog(), choice=Choice(pytorch="2.5.1")))
    assert "glibc-too-old" not in codes(found.warnings)


def test_a_wheel_from_a_folder_says_itself_which_glibc_it_needs() -> None:
    box = machine("linux", glibc="2.17", pythons=(python("3.11.2"),))
    choice = Choice(pytorch="2.13.0", variant="cpu", python="3.11")
    own = check(recommend(box, catalog(), choice=choice, wheels=(wheel("2.13.0", platform="linux_x86_64"),)))
    assert "glibc-too-old" not in codes(own.warnings)
    from_index = check(recommend(box, catalog(), choice=choice, wheels=(wheel("2.13.0"),)))
    assert "glibc-too-old" in codes(from_index.warnings)
    assert reason(from_index, "pytorch.version").code == "version-by-hand-only"


@pytest.mark.parametrize(
    ("build", "version", "lacking"),
    [
        (7601, "6.1.7601", True),
        (9600, None, True),
        (None, "6.3.9600", True),
        (None, "10.0.19045", False),
        (10240, None, False),
        (26100, "10.0.26100", False),
        (None, None, False),
        (None, "seven", False),
    ],
)
def test_windows_before_10(build: int | None, version: str | None, lacking: bool) -> None:
    found = check(recommend(windows(build=build, version=version), catalog()))
    assert ("windows-too-old" in codes(found.warnings)) is lacking
    assert (reason(found, "pytorch.version").code == "version-newest") is not lacking
