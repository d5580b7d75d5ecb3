"""Refreshed files over the built-in ones: each is used only where it is sound and not older."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import STAMP_NAME, Catalog, load_catalog
from gpu_assistant.core.paths import resources_dir

FLOOR = resources_dir() / "catalog"


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
    catalog = refresh(tmp_path, "2999-01-01")
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
    catalog = refresh(tmp_path, "2999-01-01")
    (tmp_path / "cuda.json").write_bytes(content)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [("cuda.json", "broken")]


@pytest.mark.parametrize("stamp", [b"", b"{}", b'{"schema": "gpu-assistant/catalog/2", "day": "2999-01-01"}', b"\xff"])
def test_folder_with_other_schema_is_ignored(tmp_path: Path, stamp: bytes) -> None:
    catalog = refresh(tmp_path, "2999-01-01")
    (tmp_path / STAMP_NAME).write_bytes(stamp)
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == [(STAMP_NAME, "other-schema")]


def test_missing_stamp_means_not_refreshed(tmp_path: Path) -> None:
    catalog = refresh(tmp_path, "2999-01-01")
    (tmp_path / STAMP_NAME).unlink()
    assert catalog.cuda == load_catalog(FLOOR).cuda
    assert why(catalog) == []


def test_valid_refreshed_file_replaces_broken_builtin(tmp_path: Path) -> None:
    floor, fresh = tmp_path / "floor", tmp_path / "fresh"
    shutil.copytree(FLOOR, floor)
    fresh.mkdir()
    refresh(fresh, "2999-01-01")
    (floor / "cuda.json").write_bytes(b"{")
    assert load_catalog(floor, fresh).cuda.subject == "refreshed"
