"""Versions and compute capabilities: order, and their text in JSON."""

from __future__ import annotations

import msgspec
import pytest

from gpu_assistant.core import json
from gpu_assistant.core.versions import Capability, Version, version_key


class Record(msgspec.Struct, frozen=True):
    version: Version
    capabilities: tuple[Capability, ...] = ()
    drivers: dict[str, Version] = {}
    newest: Version | None = None


@pytest.mark.parametrize(
    ("older", "newer"),
    [("566.03", "580"), ("580.65.06", "580.126.20"), ("9.99", "10.0"), ("2.9.1", "2.10.0"), ("528.2", "528.33")],
)
def test_versions_compare_as_numbers(older: str, newer: str) -> None:
    low, high = Version(older), Version(newer)
    assert low < high
    assert low <= high
    assert high > low
    assert high >= low
    assert sorted([newer, older], key=version_key) == [older, newer]


def test_trailing_zeros_do_not_count() -> None:
    assert Version("580") == Version("580.0.0")
    assert len({Version("580"), Version("580.0")}) == 1
    assert Version("580") != Version("580.1")


def test_series_is_major_and_minor() -> None:
    assert [Version(text).series.text for text in ("12.6.3", "12.6", "13", "13.0.1")] == [
        "12.6",
        "12.6",
        "13.0",
        "13.0",
    ]
    assert (Version("12.6.3").major, Version("12.6.3").minor, Version("13").minor) == (12, 6, 0)


@pytest.mark.parametrize("text", ["", "abc", "2.0a1", "2.15.0+cu130", "1.", "\u0663.\u0661", "-1", "1." * 8 + "1"])
def test_text_that_is_no_version(text: str) -> None:
    assert Version.parse(text) is None
    assert version_key(text) == ()
    with pytest.raises(ValueError, match="no Version"):
        Version(text)


def test_capability_has_two_parts() -> None:
    assert Capability.parse("8.9") == Capability("8.9")
    assert Capability("8.9") < Capability("12.0")
    assert [Capability.parse(text) for text in (None, "", "8", "8.9.1", "a.b", "sm_89")] == [None] * 6


def test_version_is_no_capability() -> None:
    assert Version("8.9") != Capability("8.9")


def test_json_keeps_the_text() -> None:
    text = b'{"version":"580.65.06","capabilities":["8.9","12.0"],"drivers":{"linux":"590.0"},"newest":null}'
    record = json.decode(text, Record)
    assert record.version == Version("580.65.6")
    assert json.encode(record) == text


@pytest.mark.parametrize(
    ("text", "fault", "where"),
    [
        ('{"version": "2.0a1"}', "form", "version"),
        ('{"version": 580}', "kind", "version"),
        ('{"version": "1", "capabilities": ["8.9", "8"]}', "form", "capabilities[1]"),
        ('{"version": "1", "drivers": {"linux": ["1"]}}', "kind", "drivers[...]"),
    ],
)
def test_wrong_form_is_a_fault_of_its_field(text: str, fault: str, where: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        json.decode(text, Record)
    assert json.describe_fault(caught.value, text.encode()) == (f"@file.fault.{fault}", where)
