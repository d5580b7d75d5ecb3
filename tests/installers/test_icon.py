"""The icon files that are committed are what their drawings make."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat
from PySide6.QtGui import QImage

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "installers"))

import icon  # noqa: E402


def opaque(picture: Image.Image) -> Image.Image:
    """On grey, so that what lies under transparent pixels does not count."""
    made = Image.new("RGBA", picture.size, "#808080")
    made.alpha_composite(picture.convert("RGBA"))
    return made.convert("RGB")


def assert_alike(one: Image.Image, other: Image.Image) -> None:
    """The same but for what another Qt's anti-aliasing may change."""
    assert one.size == other.size
    difference = ImageStat.Stat(ImageChops.difference(opaque(one), opaque(other)))
    assert max(difference.mean) < 2, difference.mean


def made(side: int, folder: Path) -> Image.Image:
    file = folder / f"{side}.png"
    file.write_bytes(icon.png(side))
    return Image.open(file)


@pytest.mark.parametrize("side", icon.HICOLOR_SIZES)
def test_linux_pictures_are_the_drawing(side: int, tmp_path: Path) -> None:
    assert_alike(Image.open(icon.hicolor(side)), made(side, tmp_path))


def test_the_ico_holds_every_size_drawn_for_itself(tmp_path: Path) -> None:
    with Image.open(icon.ICO) as committed:
        sizes = sorted(committed.ico.sizes())  # type: ignore[attr-defined]
        assert sizes == [(side, side) for side in icon.ICO_SIZES]
        for side in icon.ICO_SIZES:
            assert_alike(committed.ico.getimage((side, side)), made(side, tmp_path))  # type: ignore[attr-defined]


def test_the_setup_programs_picture_is_the_drawing() -> None:
    with Image.open(icon.SIDE) as committed:
        assert committed.size == icon.SIDE_SIZE
        assert_alike(committed, Image.open(io.BytesIO(icon.side_picture())))


def test_small_sizes_have_a_drawing_of_their_own() -> None:
    small, large = (QImage.fromData(icon.png(side)) for side in (16, 256))
    shrunk = large.scaled(16, 16).convertToFormat(small.format())
    assert small.pixelColor(8, 1).name() == "#2f55d4", "the ground is our blue"
    assert small != shrunk
