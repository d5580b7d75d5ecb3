"""What the monitor shows, as a picture that says by itself what, where and when."""

from __future__ import annotations

import time

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from .. import theme

EDGE = 16


def titled(image: QImage, title: str, detail: str) -> QImage:
    """`image` below a line with `title` and the time of now, and a smaller one with `detail`."""
    ratio = image.devicePixelRatio()
    large, small = QFontMetricsF(theme.font("heading")), QFontMetricsF(theme.font("small"))
    head = EDGE + large.height() + 4 + small.height() + 4
    width = image.width() / ratio
    whole = QImage(image.width(), image.height() + round(head * ratio), QImage.Format.Format_RGB32)
    whole.setDevicePixelRatio(ratio)
    whole.fill(theme.color("window"))
    painter = QPainter(whole)
    line = QRectF(EDGE, EDGE, width - 2 * EDGE, large.height())
    painter.setPen(theme.color("text"))
    painter.setFont(theme.font("heading"))
    painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft), title)
    painter.drawText(line, int(Qt.AlignmentFlag.AlignRight), time.strftime("%Y-%m-%d %H:%M:%S"))
    painter.setPen(theme.color("soft"))
    painter.setFont(theme.font("small"))
    below = QRectF(EDGE, line.bottom() + 4, line.width(), small.height())
    painter.drawText(
        below, int(Qt.AlignmentFlag.AlignLeft), small.elidedText(detail, Qt.TextElideMode.ElideRight, line.width())
    )
    painter.drawImage(0, round(head), image)
    painter.end()
    return whole
