"""What a running health test is at, and what is still to come: the lower part of the list of findings.

The rows are made once for a test, in the order in which it comes to its areas; a report only shows, hides or changes
them.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.types import device_name
from ...health.child_protocol import HealthProgress
from ...health.job import SAMPLED_AREAS
from ...health.progress import HealthTestProgress
from .. import language
from ..widgets.progress import StepStateIcon
from ..widgets.text import label

ICON_SIZE = 18
ROW_GAP = 10
translate = QCoreApplication.translate


class AreaProgressList(QWidget):
    """The area that is tested now, then those to come."""

    def __init__(self) -> None:
        super().__init__()
        self.current_row = AreaProgressRow(is_current=True)
        self.rows: dict[str, AreaProgressRow] = {}  # by area, those to come
        self._progress: HealthTestProgress | None = None
        self._has_several_gpus = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(ROW_GAP)
        self.sampled_row = AreaProgressRow()  # what the samples of the whole test show: all judged at its end
        self._column.addWidget(self.current_row)
        self._column.addWidget(self.sampled_row)

    def start(self, progress: HealthTestProgress, *, has_several_gpus: bool) -> None:
        """Follow this test; `has_several_gpus`: the area that is tested now names its GPU."""
        self.clear()
        self._progress, self._has_several_gpus = progress, has_several_gpus
        for area in progress.areas_to_come:
            if area not in SAMPLED_AREAS:
                self.rows[area] = row = AreaProgressRow()
                self._column.insertWidget(self._column.indexOf(self.sampled_row), row)
        self.refresh()

    def clear(self) -> None:
        """Follow no test any more."""
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows, self._progress = {}, None
        self.hide()

    def refresh(self) -> None:
        """Show how far the test is, in the current language."""
        if self._progress is None:
            return
        current, to_come = self._progress.current, self._progress.areas_to_come
        self.current_row.setVisible(current is not None)
        if current is not None:
            self.current_row.set(self._current_text(current))
        for area, row in self.rows.items():
            row.setVisible(area in to_come)
            row.set(area_text(area))
        self.sampled_row.setVisible(any(area in SAMPLED_AREAS for area in to_come))
        self.sampled_row.set(translate("Health", "At the end: what the driver reported during the test"))
        self.setVisible(current is not None or bool(to_come))

    def _current_text(self, current: HealthProgress) -> str:
        """What is tested now, with its GPU and wrong results; how much is done of the whole test stands above."""
        parts = [area_text(current.check)]
        if self._has_several_gpus and current.device is not None:
            parts.append(device_name(current.device))
        if current.errors:
            parts.append(translate("Health", "wrong results: {count}").format(count=current.errors))
        return " · ".join(parts)


class AreaProgressRow(QWidget):
    """One area: an arc where it `is_current`, else a ring."""

    def __init__(self, *, is_current: bool = False) -> None:
        super().__init__()
        self._is_current = is_current
        kind, tone = ("strong", "text") if is_current else ("body", "soft")
        self.name_label = label(kind, "", tone)
        state_icon = StepStateIcon(size=ICON_SIZE)
        state_icon.set_state("running" if is_current else "waiting")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(state_icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.name_label, 1)

    def set(self, name: str) -> None:
        """Show the name of the area."""
        self.name_label.setText(name)
        state = translate("Health", "testing now") if self._is_current else translate("Health", "to come")
        self.setAccessibleName(f"{state}: {name}")


def area_text(area: str) -> str:
    """What is tested, as the start of a line."""
    text = area_name(area)
    return text[:1].upper() + text[1:]


def area_name(area: str) -> str:
    """What is tested, within a sentence."""
    texts, key = language.texts(), f"health.area.{area}"
    return texts.translate(key) if texts.has_text(key) else area
