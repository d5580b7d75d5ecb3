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

TILE_SIDE, WIDE_TILE_SIDE, MIN_TILE_SIDE, TILE_GAP, BORDER = 46, 78, 30, 6, 2  # pixels at 100 % text
# Pictures with short captions in a row: so many that each of the ten digits has a column of its own.
ROW_LENGTHS = (10, 5, 2)
MAX_SHORT_CAPTION = 3  # letters; below pictures with longer ones there must be more room
ICON_SIDE = 14
FORMATS = {1: QImage.Format.Format_Grayscale8, 3: QImage.Format.Format_RGB888}


class PictureGrid(Themed, QWidget):
    """Pictures in rows: those with short captions ten in a row, or five where there is little room, and others as many
    as fit. The captions are elided where they are wider than a picture.
    """

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
    def _has_short_captions(self) -> bool:
        return max((len(each.caption) for each in self._pictures), default=0) <= MAX_SHORT_CAPTION

    def shape(self, width: int) -> tuple[int, int]:
        """How many pictures stand in a row of this width, and how wide each is, in pixels."""
        if not self._has_short_captions:
            side = theme.px(WIDE_TILE_SIDE)
            return max(1, (width + TILE_GAP) // (side + TILE_GAP)), side
        sides = {columns: (width + TILE_GAP) // columns - TILE_GAP for columns in ROW_LENGTHS}
        columns = next((each for each in ROW_LENGTHS if sides[each] >= theme.px(MIN_TILE_SIDE)), ROW_LENGTHS[-1])
        return columns, min(sides[columns], theme.px(TILE_SIDE))

    def _row_height(self, side: int) -> int:
        return side + self.fontMetrics().height() + TILE_GAP + 2

    def refresh(self) -> None:
        self.setFont(theme.font("caption-strong"))
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        columns, side = self.shape(width)
        return ceil(len(self._pictures) / columns) * self._row_height(side)

    def sizeHint(self) -> QSize:
        width = ROW_LENGTHS[0] * (theme.px(TILE_SIDE) + TILE_GAP)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * (theme.px(MIN_TILE_SIDE) + TILE_GAP), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setFont(self.font())
        (columns, side), line_height = self.shape(self.width()), self.fontMetrics().height()
        icon_side = theme.px(ICON_SIDE)
        for index, (picture, image) in enumerate(zip(self._pictures, self._images, strict=True)):
            left, top = index % columns * (side + TILE_GAP), index // columns * self._row_height(side)
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
