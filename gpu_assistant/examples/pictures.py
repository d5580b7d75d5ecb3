"""A folder of the user's own pictures, as the picture sorter takes it: one folder inside for each class."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from ..core.errors import UsageError, storage_errors

# What Pillow reads without further packages, and cameras and browsers write.
PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
MIN_CLASSES, MIN_PICTURES = 2, 4  # to learn from three and to be examined with one


class PictureFolder(Struct, frozen=True, kw_only=True):
    """The classes by the names of their folders, with the number of pictures in each."""

    path: Path
    classes: dict[str, int]


def read_picture_folder(folder: Path) -> PictureFolder:
    """Count the pictures. Raises UsageError: picture-classes (fewer than two folders with pictures), picture-few, and
    AppError as `storage_errors` does.
    """
    counts: dict[str, int] = {}
    with storage_errors(folder):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.is_dir() and not entry.name.startswith("."):
                counts[entry.name] = sum(
                    name.lower().endswith(tuple(PICTURE_SUFFIXES))
                    for _, _, names in os.walk(entry.path)
                    for name in names
                )
    counts = {name: count for name, count in counts.items() if count}
    if len(counts) < MIN_CLASSES:
        raise UsageError("picture-classes", path=str(folder))
    smallest = min(counts, key=lambda name: counts[name])
    if counts[smallest] < MIN_PICTURES:
        raise UsageError("picture-few", path=str(folder / smallest), count=counts[smallest], least=MIN_PICTURES)
    return PictureFolder(path=folder, classes=counts)
