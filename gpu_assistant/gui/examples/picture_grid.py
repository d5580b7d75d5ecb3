"""Small pictures in rows, each with what a network says of it: a tick where that is right, a cross where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...examples.child_protocol import ShownPicture
from .. import theme
from ..widgets.base import Themed, draw_rounded_rect
from ..widgets.icons import draw_icon

TILE_SIDE, WIDE_TILE_SIDE, TILE_GAP, BORDER = 46, 78, 6, 2  # pixels at 100 % text
MAX_SHORT_CAPTION = 3  # letters; below pictures with longer ones there must be more room
ICON_SIDE = 14
FORMATS = {1: QImage.Format.Format_Grayscale8, 3: QImage.Format.Format_RGB888}


class PictureGrid(Themed, QWidget):
    """As many pictures in a row as fit; the captions are elided where they are wider than a picture."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures: tuple[ShownPicture, ...] = ()
        self._images: list[QImage] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    @property
    def pictures(self) -> tuple[ShownPicture, ...]:
        """What is shown."""
        return self._pictures

    def set_pictures(self, pictures: Sequence[ShownPicture]) -> None:
        """Show other pictures, or other answers to the same ones."""
        is_resized = len(pictures) != len(self._pictures)
        self._pictures = tuple(pictures)
        # A copy: the image does not own the bytes that it is made from.
        self._images = [
            QImage(each.pixels, each.width, each.height, each.width * each.channels, FORMATS[each.channels]).copy()
            for each in pictures
        ]
        right = sum(each.correct is True for each in pictures)
        self.setAccessibleName(self.tr("{right} of {total} correct").format(right=right, total=len(pictures)))
        if is_resized:
            self.updateGeometry()
        self.update()

    @property
    def _side(self) -> int:
        longest = max((len(each.caption) for each in self._pictures), default=0)
        return theme.px(TILE_SIDE if longest <= MAX_SHORT_CAPTION else WIDE_TILE_SIDE)

    @property
    def _row_height(self) -> int:
        return self._side + self.fontMetrics().height() + TILE_GAP + 2

    def _columns(self, width: int) -> int:
        return max(1, (width + TILE_GAP) // (self._side + TILE_GAP))

    def refresh(self) -> None:
        self.setFont(theme.font("caption-strong"))
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return ceil(len(self._pictures) / self._columns(width)) * self._row_height

    def sizeHint(self) -> QSize:
        width = 8 * (self._side + TILE_GAP)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * (self._side + TILE_GAP), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setFont(self.font())
        side, columns, line_height = self._side, self._columns(self.width()), self.fontMetrics().height()
        icon_side = theme.px(ICON_SIDE)
        for index, (picture, image) in enumerate(zip(self._pictures, self._images, strict=True)):
            left, top = index % columns * (side + TILE_GAP), index // columns * self._row_height
            tone = "soft" if picture.correct is None else "ok" if picture.correct else "error"
            frame = QRectF(left, top, side, side)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(frame.adjusted(BORDER, BORDER, -BORDER, -BORDER), image)
            draw_rounded_rect(painter, frame, 3, None, theme.color(tone), width=BORDER)
            caption_rect = QRectF(left, top + side + 1, side, line_height)
            if picture.correct is not None:
                icon = "check" if picture.correct else "cross"
                draw_icon(painter, icon, tone, ICON_SIDE, QRectF(left, caption_rect.top(), icon_side, line_height))
                caption_rect.setLeft(left + icon_side + 2)
            painter.setPen(theme.color(tone))
            text = self.fontMetrics().elidedText(
                picture.caption, Qt.TextElideMode.ElideRight, round(caption_rect.width())
            )
            painter.drawText(caption_rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
