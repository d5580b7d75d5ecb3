"""The refreshed files on disk: written beside, checked whole, then put in place; the last good ones are kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..catalog.records.base import CatalogFile
from ..catalog.store import STAMP_NAME, CatalogStamp
from ..catalog.validation import validate_catalog
from ..core import filesystem, json
from ..core.errors import AppError, storage_errors
from ..core.ownership import claim_folder


def store_subjects(folder: Path, base_folder: Path, subjects: Mapping[str, CatalogFile], day: str) -> None:
    """Put refreshed subjects in place, all or none; raises AppError.

    The folder's name never points at half a catalog: a run that ends in the middle leaves the old one or, between
    the two renames, none at all and the old one beside it, which the next look brings back.
    """
    # What is in it under the names below is replaced and deleted.
    if not claim_folder(folder.parent):
        raise AppError("folder-not-ours", path=str(folder.parent))
    restore_backup(folder)
    staging, backup = _sibling_folders(folder)
    try:
        with storage_errors(folder):
            filesystem.rmtree(staging, ignore_errors=True)
            staging.mkdir(parents=True)
            for name, subject in subjects.items():
                json.write_file(staging / f"{name}.json", json.encode_pretty(subject))
            stamp = CatalogStamp(schema="gpu-assistant/catalog/1", day=day)
            json.write_file(staging / STAMP_NAME, json.encode_pretty(stamp))
            _validate(staging, base_folder)
            filesystem.rmtree(backup, ignore_errors=True)
            if folder.exists():
                filesystem.rename(folder, backup)
            filesystem.rename(staging, folder)
    finally:
        restore_backup(folder)
        filesystem.rmtree(staging, ignore_errors=True)


def _validate(staging: Path, base_folder: Path) -> None:
    issues = validate_catalog(staging, base_folder)
    if issues:
        first = issues[0]
        raise AppError("catalog-refused", file=first.file, rule=first.rule, detail=f"{first.where} {first.detail}")


def restore_backup(folder: Path) -> None:
    """Bring the last good catalog back, where a run ended between the two renames."""
    _, backup = _sibling_folders(folder)
    if not folder.exists() and backup.is_dir():
        with suppress(OSError):
            filesystem.rename(backup, folder)


def _sibling_folders(folder: Path) -> tuple[Path, Path]:
    return folder.with_name("partial"), folder.with_name("last")
