"""What the monitor shows, as a picture that says by itself what, where and when."""

from __future__ import annotations

import time

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from .. import theme

IMAGE_MARGIN = 16


def add_title(image: QImage, title: str, detail: str) -> QImage:
    """`image` below a line with `title` and the time of now, and a smaller one with `detail`."""
    ratio = image.devicePixelRatio()
    large, small = QFontMetricsF(theme.font("heading")), QFontMetricsF(theme.font("small"))
    header_height = IMAGE_MARGIN + large.height() + 4 + small.height() + 4
    width = image.width() / ratio
    result = QImage(image.width(), image.height() + round(header_height * ratio), QImage.Format.Format_RGB32)
    result.setDevicePixelRatio(ratio)
    result.fill(theme.color("window"))
    painter = QPainter(result)
    title_rect = QRectF(IMAGE_MARGIN, IMAGE_MARGIN, width - 2 * IMAGE_MARGIN, large.height())
    painter.setPen(theme.color("text"))
    painter.setFont(theme.font("heading"))
    painter.drawText(title_rect, int(Qt.AlignmentFlag.AlignLeft), title)
    painter.drawText(title_rect, int(Qt.AlignmentFlag.AlignRight), time.strftime("%Y-%m-%d %H:%M:%S"))
    painter.setPen(theme.color("soft"))
    painter.setFont(theme.font("small"))
    detail_rect = QRectF(IMAGE_MARGIN, title_rect.bottom() + 4, title_rect.width(), small.height())
    painter.drawText(
        detail_rect, int(Qt.AlignmentFlag.AlignLeft), small.elidedText(detail, Qt.TextElideMode.ElideRight, title_rect.width())
    )
    painter.drawImage(0, round(header_height), image)
    painter.end()
    return result
