"""Where the window stood when it was closed, kept for the next start."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

from ...core import json
from ...core.errors import AppError

DEFAULT_SIZE = (1180, 760)
MINIMUM_SIZE = (880, 520)
# Left, top, right, bottom: as far as the widest usual frame reaches, while nobody knows the one that comes.
DEFAULT_FRAME = (8, 40, 8, 8)


class WindowGeometry(msgspec.Struct, frozen=True, kw_only=True):
    """Position and size in pixels without the frame, and whether the window filled the screen.

    `frame` is how far the frame reached beyond: left, top, right, bottom.
    """

    x: int
    y: int
    width: int
    height: int
    frame: tuple[int, int, int, int] = (0, 0, 0, 0)
    maximized: bool = False


def save_geometry(window: QMainWindow, file: Path) -> None:
    """Write where the window stands; not worth a word to the user where that fails."""
    normal_rect = window.normalGeometry() if window.isMaximized() else window.geometry()
    inner_rect, outer_rect = window.geometry(), window.frameGeometry()
    geometry = WindowGeometry(
        x=normal_rect.x(),
        y=normal_rect.y(),
        width=normal_rect.width(),
        height=normal_rect.height(),
        frame=(
            max(inner_rect.left() - outer_rect.left(), 0),
            max(inner_rect.top() - outer_rect.top(), 0),
            max(outer_rect.right() - inner_rect.right(), 0),
            max(outer_rect.bottom() - inner_rect.bottom(), 0),
        ),
        maximized=window.isMaximized(),
    )
    try:
        json.write_file(file, json.encode(geometry))
    except AppError:
        return


def restore_geometry(window: QMainWindow, file: Path) -> None:
    """Put the window where it stood, or at its first size; always wholly on a screen that is there."""
    geometry: WindowGeometry | None = None
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        geometry = json.decode(file.read_bytes(), WindowGeometry)
    stored_rect = QRect(geometry.x, geometry.y, geometry.width, geometry.height) if geometry is not None else QRect(0, 0, *DEFAULT_SIZE)
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    available_rect = next((screen for screen in screens if screen.contains(stored_rect.center())), screens[0])
    is_visible_there = geometry is not None and available_rect.contains(stored_rect.center())
    left, top, right, bottom = geometry.frame if geometry is not None else DEFAULT_FRAME
    available_rect = available_rect.adjusted(left, top, -right, -bottom)
    size = stored_rect.size().boundedTo(available_rect.size())
    window.resize(size)
    if is_visible_there:
        # Without the frame, as it was kept: `move` means the frame's corner, and the window would creep.
        x = min(max(stored_rect.x(), available_rect.x()), available_rect.right() - size.width() + 1)
        y = min(max(stored_rect.y(), available_rect.y()), available_rect.bottom() - size.height() + 1)
        window.setGeometry(QRect(QPoint(x, y), size))
    if geometry is not None and geometry.maximized:
        window.showMaximized()
