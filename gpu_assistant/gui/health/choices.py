"""What a health test is made with, besides its level: which card, and for how many minutes it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ...core.results import GpuSample
from ..components import SegmentedControl, label
from ..components.picker import DropdownEntry, Dropdown

LOAD_MINUTES = (10, 20, 30, 60)


class HealthTestOptions(QWidget):
    """The cards are shown where there are several, the minutes where the level loads them. `changed` comes after a
    choice of the user.
    """

    changed = Signal()

    def __init__(self, gpus: Sequence[GpuSample], gpu: int | None, parent: QWidget) -> None:
        super().__init__(parent)
        translate = QCoreApplication.translate
        self._gpus, self._has_load = tuple(gpus), False
        self._gpu = gpu if len(gpus) > 1 else None
        self.gpu_dropdown = Dropdown()
        self.load_label = label("body", translate("Health", "Full load for"))
        minute_labels = [translate("Health", "{count} min").format(count=minutes) for minutes in LOAD_MINUTES]
        self.minutes = SegmentedControl(minute_labels, name=translate("Health", "Full load for"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for widget in (self.gpu_dropdown, self.load_label, self.minutes):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        self.gpu_dropdown.chosen.connect(self._set_gpu)
        self.minutes.chosen.connect(lambda _: self.changed.emit())
        self._update_text()
        self.show_for_level(has_load=False)

    @property
    def device(self) -> str | None:
        """As `HealthJob` calls it; None: all there are."""
        return None if self._gpu is None else f"cuda:{self._gpu}"

    @property
    def load_seconds(self) -> float | None:
        """How long the cards are loaded; None where the level does not."""
        return 60.0 * LOAD_MINUTES[self.minutes.current()] if self._has_load else None

    def show_for_level(self, *, has_load: bool) -> None:
        """What fits a level that loads the cards, or one that does not."""
        self._has_load = has_load
        self.gpu_dropdown.setVisible(len(self._gpus) > 1)
        for widget in (self.load_label, self.minutes):
            widget.setVisible(has_load)
        self.setVisible(has_load or len(self._gpus) > 1)

    def _set_gpu(self, gpu: int | None) -> None:
        self._gpu = gpu
        self._update_text()
        self.changed.emit()

    def _update_text(self) -> None:
        translate = QCoreApplication.translate
        all_text = translate("Health", "All cards")
        entries = [DropdownEntry(value=None, text=all_text)]
        entries += [DropdownEntry(value=gpu.index, text=f"GPU {gpu.index}", detail=gpu.name or "") for gpu in self._gpus]
        text = all_text if self._gpu is None else f"GPU {self._gpu}"
        self.gpu_dropdown.set_entries(entries, self._gpu, text, translate("Health", "Which card"))
