"""The list of parts: valid, complete, and the same whenever it is made."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import gpu_assistant

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "installers"))

import sbom

PARTS: list[sbom.Part] = [
    ("shiboken6", "6.11.3", "LGPL-3.0-only OR GPL-2.0-only", None, "pkg:pypi/shiboken6@6.11.3"),
    ("CPython", "3.13.15", "PSF-2.0", "ab" * 32, None),
    ("oddity", "1", "Do what the author says", None, None),
    ("silent", "2", "", None, None),
]


def test_it_passes_the_strict_validator_and_names_every_part(tmp_path: Path) -> None:
    out = tmp_path / "sbom.json"
    sbom.write_sbom(PARTS, out)
    text = out.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bom = json.loads(text)
    assert bom["metadata"]["component"]["version"] == gpu_assistant.__version__
    result = {part["name"]: part for part in bom["components"]}
    assert set(result) == {name for name, *_ in PARTS}
    assert result["CPython"]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert result["CPython"]["licenses"] == [{"license": {"id": "PSF-2.0"}}]
    assert result["shiboken6"]["licenses"] == [{"expression": "LGPL-3.0-only OR GPL-2.0-only"}]
    assert result["oddity"]["licenses"] == [{"license": {"name": "Do what the author says"}}]
    assert "licenses" not in result["silent"]
    needed = next(each for each in bom["dependencies"] if each["ref"] == "gpu-assistant")
    assert len(needed["dependsOn"]) == len(PARTS)


def test_the_same_parts_make_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    one, other, changed = (tmp_path / name for name in ("one", "other", "changed"))
    sbom.write_sbom(PARTS, one)
    sbom.write_sbom(PARTS[::-1], other)
    sbom.write_sbom(PARTS[1:], changed)
    assert one.read_bytes() == other.read_bytes()
    content, less = json.loads(one.read_text()), json.loads(changed.read_text())
    assert content["metadata"]["timestamp"] == "2026-01-01T00:00:00+00:00"
    assert content["serialNumber"] != less["serialNumber"]
