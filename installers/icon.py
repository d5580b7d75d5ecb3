"""Makes the program's icon files from their drawings in `resources/icons/`, and writes them where they are needed:
there, for Linux, and the picture at the side of the Windows setup program.

python installers/icon.py

Qt draws (the same code that draws the window's icon), Pillow writes: Qt itself writes one picture into an .ico only.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ICO = ROOT / "resources/icons/gpu-assistant.ico"
ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
SIDE = ROOT / "installers/windows/side.bmp"
# Twice what the setup program's page takes at 100 %, for screens with small pixels.
SIDE_SIZE = (328, 628)
HICOLOR = ROOT / "installers/linux/icons"
HICOLOR_SIZES = (16, 22, 24, 32, 48, 64, 128, 256)


def ico() -> bytes:
    """The .ico that Windows' launcher, installer and shortcuts carry, each size drawn for itself."""
    from PIL import Image

    pictures = [Image.open(io.BytesIO(png(side))) for side in ICO_SIZES]
    made = io.BytesIO()
    sizes = [(side, side) for side in ICO_SIZES]
    pictures[-1].save(made, format="ICO", sizes=sizes, append_images=pictures[:-1])
    return made.getvalue()


def png(side: int) -> bytes:
    """The icon as a PNG file of `side` × `side` pixels."""
    from PySide6.QtCore import QBuffer, QIODevice

    from gpu_assistant.gui.widgets.icons import app_image

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    app_image(side).save(buffer, "PNG")  # type: ignore[call-overload]  # PySide6 takes str here, its stubs want bytes
    return bytes(buffer.data().data())


def side_picture() -> bytes:
    """The picture at the side of the setup program's first and last page, as a .bmp: the icon on the rail's ground."""
    import json

    from PIL import Image

    theme = json.loads((ROOT / "resources/theme.json").read_text(encoding="utf-8"))["themes"]["light"]
    picture = Image.new("RGBA", SIDE_SIZE, theme["rail"])
    icon = Image.open(io.BytesIO(png(160))).convert("RGBA")
    picture.alpha_composite(icon, ((SIDE_SIZE[0] - icon.width) // 2, SIDE_SIZE[1] // 4))
    made = io.BytesIO()
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=256).save(made, format="BMP")
    return made.getvalue()


def hicolor(side: int) -> Path:
    """Where the PNG of a size lies in this tree."""
    return HICOLOR / f"{side}x{side}.png"


def main() -> None:
    """Write all of them."""
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    ICO.write_bytes(ico())
    SIDE.write_bytes(side_picture())
    HICOLOR.mkdir(exist_ok=True)
    for side in HICOLOR_SIZES:
        hicolor(side).write_bytes(png(side))


if __name__ == "__main__":
    main()
