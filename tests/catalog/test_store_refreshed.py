"""Refreshed files over the built-in ones: each is used only where it is sound and not older."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import STAMP_NAME, Catalog, load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir

FLOOR = resources_dir() / "catalog"
TODAY = max(datetime.now(UTC).date().isoformat(), load_catalog(FLOOR).cuda.as_of)


def refresh(folder: Path, day: str, **changes: object) -> Catalog:
    data = json.loads((FLOOR / "cuda.json").read_text(encoding="utf-8"))
    data.update(as_of=day, subject="refreshed", **changes)
    (folder / "cuda.json").write_text(json.dumps(data), encoding="utf-8")
    (folder / STAMP_NAME).write_text(json.dumps({"schema": "gpu-assistant/catalog/1", "day": day}), encoding="utf-8")
    return load_catalog(FLOOR, folder)


def why(catalog: Catalog) -> list[tuple[str, str]]:
    assert catalog.refreshed_catalog is not None
    return [(ignored.file, ignored.why) for ignored in catalog.refreshed_catalog.ignored_files]


def test_newer_file_is_used_others_are_builtin(tmp_path: Path) -> None:
    catalog = refresh(tmp_path, TODAY)
    assert catalog.cuda.subject == "refreshed"
    assert catalog.pytorch == load_catalog(FLOOR).pytorch
    assert catalog.refreshed_catalog is not None
    assert catalog.refreshed_catalog.used_files == {"cuda.json"}
    assert why(catalog) == []


def test_file_of_same_day_is_used(tmp_path: Path) -> None:
    assert refresh(tmp_path, load_catalog(FLOOR).cuda.as_of).cuda.subject == "refreshed"


def test_older_file_is_ignored(tmp_path: Path) -> None:
    catalog = refresh(tmp_path, "2020-01-01")
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [("cuda.json", "older")]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"as_of": "2999-01-01"}', b"\xff\xfe", b"[" * 100_000])
def test_broken_file_is_ignored(tmp_path: Path, content: bytes) -> None:
    catalog = refresh(tmp_path, TODAY)
    (tmp_path / "cuda.json").write_bytes(content)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [("cuda.json", "broken")]


@pytest.mark.parametrize("stamp", [b"", b"{}", b'{"schema": "gpu-assistant/catalog/2", "day": "2999-01-01"}', b"\xff"])
def test_folder_with_other_schema_is_ignored(tmp_path: Path, stamp: bytes) -> None:
    catalog = refresh(tmp_path, TODAY)
    (tmp_path / STAMP_NAME).write_bytes(stamp)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [(STAMP_NAME, "other-schema")]


def test_missing_stamp_means_not_refreshed(tmp_path: Path) -> None:
    catalog = refresh(tmp_path, TODAY)
    (tmp_path / STAMP_NAME).unlink()
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == []


def test_nothing_is_trusted_without_the_builtin_file(tmp_path: Path) -> None:
    floor, fresh = tmp_path / "floor", tmp_path / "fresh"
    shutil.copytree(FLOOR, floor)
    fresh.mkdir()
    refresh(fresh, TODAY)
    (floor / "cuda.json").write_bytes(b"{")
    with pytest.raises(AppError) as caught:
        _ = load_catalog(floor, fresh).cuda
    assert caught.value.code == "catalog-broken"


def test_future_file_is_ignored(tmp_path: Path) -> None:
    """Else no later refresh would ever replace it."""
    day = (datetime.now(UTC).date() + timedelta(days=400)).isoformat()
    catalog = refresh(tmp_path, day)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [("cuda.json", "future")]


@pytest.mark.parametrize("name", ["updates", "mirrors", "pythons", "refresh", "vc_redist", "tensorflow"])
def test_root_of_trust_in_data_folder_is_not_read(tmp_path: Path, name: str) -> None:
    """Whoever writes into the data folder replaces no key, no mirror and no Python."""
    planted = json.loads((FLOOR / f"{name}.json").read_text(encoding="utf-8"))
    planted |= {"as_of": TODAY, "subject": "planted"}
    if name == "updates":
        planted |= {"address": "https://evil.example/newest.json", "keys": [{"id": "evil", "ed25519": "0" * 64}]}
    (tmp_path / f"{name}.json").write_text(json.dumps(planted), encoding="utf-8")
    catalog = refresh(tmp_path, TODAY)
    read = {"refresh": "refresh_settings"}.get(name, name)
    assert getattr(catalog, read) == getattr(load_catalog(FLOOR), read)
    assert catalog.cuda.subject == "refreshed"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/cuda.run",
        "https://developer.download.nvidia.com.evil.example/cuda.run",
        "https://developer.download.nvidia.com@evil.example/cuda.run",
        "https://developer.download.nvidia.com:8443/cuda.run",
        "http://developer.download.nvidia.com/cuda.run",
        "file:///home/somebody/cuda.run",
    ],
)
def test_address_of_another_host_is_ignored(tmp_path: Path, url: str) -> None:
    catalog = refresh(tmp_path, TODAY, note=url)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [("cuda.json", "foreign-host")]


def test_address_of_a_known_host_is_used(tmp_path: Path) -> None:
    catalog = refresh(tmp_path, TODAY, note="https://developer.download.nvidia.com/compute/cuda/new")
    assert catalog.cuda.subject == "refreshed"


def test_driver_of_a_host_that_only_seems_to_be_nvidias_is_ignored(tmp_path: Path) -> None:
    """urllib takes the backslash for a part of the host, urllib3 connects to what stands before it."""
    data = json.loads((FLOOR / "drivers.json").read_text(encoding="utf-8"))
    url = "https://evil.example\\.download.nvidia.com/Windows/999.99-desktop.exe"
    data |= {"as_of": TODAY, "note": url}
    (tmp_path / "drivers.json").write_text(json.dumps(data), encoding="utf-8")
    stamp = {"schema": "gpu-assistant/catalog/1", "day": TODAY}
    (tmp_path / STAMP_NAME).write_text(json.dumps(stamp), encoding="utf-8")
    catalog = load_catalog(FLOOR, tmp_path)
    assert catalog.drivers == load_catalog(FLOOR).drivers
    assert why(catalog) == [("drivers.json", "foreign-host")]
    assert not catalog.is_driver_installer(url, "999.99")
