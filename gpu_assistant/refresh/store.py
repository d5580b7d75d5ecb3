"""The refreshed files on disk: written beside, checked whole, then put in place; the last good ones are kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..catalog.check import check
from ..catalog.refreshed import STAMP, Stamp
from ..catalog.subject import Subject
from ..core import json
from ..core.errors import AppError


def store(folder: Path, floor: Path, subjects: Mapping[str, Subject], day: str) -> None:
    """Put refreshed subjects in place, all or none; raises AppError.

    The folder's name never points at half a catalog: a run that ends in the middle leaves the old one or, between
    the two renames, none at all and the old one beside it, which the next look brings back.
    """
    recover(folder)
    fresh, last = _beside(folder)
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for name, subject in subjects.items():
            json.write_file(fresh / f"{name}.json", json.encode_pretty(subject))
        json.write_file(fresh / STAMP, json.encode_pretty(Stamp(schema="gpu-assistant/catalog/1", day=day)))
        found = check(fresh, floor)
        if found:
            first = found[0]
            raise AppError("catalog-refused", file=first.file, rule=first.rule, detail=f"{first.where} {first.detail}")
        shutil.rmtree(last, ignore_errors=True)
        if folder.exists():
            folder.rename(last)
        fresh.rename(folder)
    except OSError as error:
        recover(folder)
        raise json.storage_error(error, folder) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def recover(folder: Path) -> None:
    """Bring the last good catalog back, where a run ended between the two renames."""
    _, last = _beside(folder)
    if not folder.exists() and last.is_dir():
        with suppress(OSError):
            last.rename(folder)


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name("partial"), folder.with_name("last")
