"""The right column of a running install: what the current step does and what limits it, or what went wrong.

CurrentStepPanel shows a StepProgress with its DownloadControls (pause, speed limit); ErrorPanel shows a Failure and
what can be done about it. Speeds are bytes per second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from .....core.plan import Bottleneck
from .....core.types import Value
from .....texts.format import UNKNOWN_VALUE, format_percent, format_size, format_speed
from .....texts.localized import Texts
from .... import messages
from ....widgets.base import Themed, announce
from ....widgets.buttons import MAX_WIDTH, Button
from ....widgets.cards import Card, Hero, MetricValue
from ....widgets.charts import SpeedSparkline
from ....widgets.icons import IconWidget
from ....widgets.inputs import Dropdown, DropdownEntry
from ....widgets.progress import ProgressBar
from ....widgets.text import label
from ...failure import Failure
from .messages import alternative_texts, split_first_sentence
from .progress import StepProgress

MEGABYTE = 1_000_000
# Codes of a download's step whose description has its size.
SIZED_DOWNLOAD_CODES = frozenset({"download", "download-about", "download-some", "download-all"})
BUNDLE_CHECK_CODE = "bundle-check"
FILE_NAME_CODE = "progress.fetching"  # of a message that is only the name of the file that is downloaded
REMEDY_MARGIN = 16  # pixels at each side of a remedy
AT_LIMIT_FROM = 0.8  # share of the user's limit from which that limit, not the connection, sets the speed
# Errors by which no source has the release.
NO_SOURCE_CODES = ("error.release-unavailable", "error.release-nowhere", "error.no-source")
UNAVAILABLE_CODE = "error.release-unavailable"
NO_BUILD_ANSWERS = {"@answer.absent", "@answer.not-asked"}  # of a source: there is no such build
SPEED_LIMITS = (None, *(count * MEGABYTE for count in (20, 10, 5, 2, 1)))


class SpeedLimitPicker(Dropdown):
    """A speed limit for downloads; `chosen` brings bytes per second, None for no limit. Where it `is_labelled`, what
    it is about stands beside it.
    """

    def __init__(self, parent: QWidget | None = None, *, is_labelled: bool = False) -> None:
        self.rate: int | None = None
        self._is_labelled = is_labelled
        super().__init__(parent)
        self.chosen.connect(self.set_rate)

    def set_rate(self, rate: int | None) -> None:
        """Show another limit, without a signal."""
        self.rate = rate
        self.retranslate()

    def retranslate(self) -> None:
        entries = [DropdownEntry(value=each, text=self._rate_text(each)) for each in SPEED_LIMITS]
        text = self._rate_text(self.rate)
        if self.rate is None and not self._is_labelled:
            text = self.tr("Speed limit: none")
        self.set_entries(entries, self.rate, text, self.tr("Speed limit"))

    def _rate_text(self, rate: int | None) -> str:
        if rate is None:
            return self.tr("None")
        return self.tr("At most {count} MB/s").format(count=f"{rate / MEGABYTE:g}")


class DownloadControls(Themed, QWidget):
    """Pause button and speed limit; `pause_toggled` brings whether the download is paused."""

    pause_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.paused = False
        self.pause_button, self.limit_picker = Button(icon_name="pause"), SpeedLimitPicker()
        self.controls = (self.pause_button, self.limit_picker)
        self.pause_button.clicked.connect(self._toggle_pause)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.pause_button)
        row.addStretch(1)
        row.addWidget(self.limit_picker)
        self.apply_theme()

    def set(self, *, paused: bool, rate: int | None) -> None:
        """Show the current state, without a signal."""
        if paused != self.paused:
            self.paused = paused
            self.retranslate()
        if rate != self.limit_picker.rate:
            self.limit_picker.set_rate(rate)

    def retranslate(self) -> None:
        self.pause_button.setText(self.tr("Resume") if self.paused else self.tr("Pause"))
        self.pause_button.set_icon("play" if self.paused else "pause")

    def _toggle_pause(self) -> None:
        self.paused = not self.paused
        self.retranslate()
        announce(self.pause_button, self.tr("Download paused.") if self.paused else self.tr("Download resumed."))
        self.pause_toggled.emit(self.paused)


BOTTLENECK_ICONS: dict[Bottleneck, str] = {
    "network": "net",
    "source": "globe",
    "disk": "disk",
    "checking": "search",
    "installing": "cpu",
    "consent": "shield",
    "elsewhere": "clock",
    "mending": "search",
}


class CurrentStepPanel(Card):
    """Progress bar, figures, speed curve and bottleneck; in compact form all figures are in one line of text."""

    def __init__(self) -> None:
        super().__init__()
        self._compact = False
        self._shown_step: tuple[StepProgress, Texts] | None = None
        self._is_stopping = False
        self.heading_label, self.description_label, self.percent_figure = (
            label("heading"),
            label("small"),
            MetricValue(),
        )
        self.percent_figure.tone = "accent_text"
        self.progress_bar = ProgressBar()
        self._figure_labels = [label("caption") for _ in range(2)]
        self.done_figure, self.speed_figure = MetricValue(), MetricValue()
        self.speed_caption, self.speed_line = label("caption"), SpeedSparkline()
        self.bottleneck_row, self.download_controls = QWidget(), DownloadControls()
        self._bottleneck_icon = IconWidget("net", "soft", 18)
        self._bottleneck_title, self._bottleneck_detail = label("small", "", "text"), label("small")
        head, text_layout = QHBoxLayout(), QVBoxLayout()
        text_layout.setSpacing(2)
        text_layout.addWidget(self.heading_label)
        text_layout.addWidget(self.description_label)
        head.addLayout(text_layout, 1)
        head.addWidget(self.percent_figure, 0, Qt.AlignmentFlag.AlignTop)
        figures = QHBoxLayout()
        for name, figure in zip(self._figure_labels, (self.done_figure, self.speed_figure), strict=True):
            column = QVBoxLayout()
            column.setSpacing(1)
            column.addWidget(name)
            column.addWidget(figure)
            figures.addLayout(column, 1)
        bottleneck_layout, bottleneck_texts = QHBoxLayout(self.bottleneck_row), QVBoxLayout()
        bottleneck_layout.setContentsMargins(0, 0, 0, 0)
        bottleneck_layout.setSpacing(8)
        bottleneck_texts.setSpacing(1)
        bottleneck_texts.addWidget(self._bottleneck_title)
        bottleneck_texts.addWidget(self._bottleneck_detail)
        bottleneck_layout.addWidget(self._bottleneck_icon)
        bottleneck_layout.addLayout(bottleneck_texts, 1)
        self.column.setSpacing(10)
        self.column.addLayout(head)
        self.column.addWidget(self.progress_bar)
        self.column.addLayout(figures)
        for widget in (self.speed_caption, self.speed_line, self.bottleneck_row, self.download_controls):
            self.column.addWidget(widget)

    def set_compact(self, on: bool) -> None:
        """Switch between figures with the speed curve, and one or two lines of text."""
        if on != self._compact:
            self._compact = on
            self.column.setContentsMargins(*((16, 12, 16, 12) if on else (20, 16, 20, 16)))
            self.column.setSpacing(8 if on else 10)
            if self._shown_step is not None:
                self.set_step(*self._shown_step, is_stopping=self._is_stopping)

    def set_step(self, step: StepProgress, texts: Texts, *, is_stopping: bool = False) -> None:
        """Show a step. What limits one that the user stops, how fast it is and what it could be slowed down to does not
        matter any more.
        """
        self._shown_step, self._is_stopping = (step, texts), is_stopping
        self.heading_label.setText(texts.translate(f"step.{step.code}.title", step.data))
        # The names of one file after the other, which are of one line or two, stand in the log's header.
        shown = step.message is not None and step.message.code != FILE_NAME_CODE
        message = texts.message_text(step.message) if step.message is not None and shown else ""
        self.description_label.setText(message or texts.translate(*_description(step)))
        fraction = step.fraction
        self.progress_bar.set_fraction(fraction)
        self.percent_figure.setVisible(fraction is not None)
        self.percent_figure.set(format_percent(100 * fraction) if fraction is not None else None)
        names = (self.tr("Done"), self.tr("Speed"))
        for name, text in zip(self._figure_labels, names, strict=True):
            name.setText(text)
        downloading = step.unit == "bytes"
        # Files that are here already are only read: no speed, no line of it, and nothing to pause.
        was_downloading = any(value for _x, value in self.speed_line.points())
        has_speed = not is_stopping and (bool(step.speed) or step.bottleneck != "checking" or was_downloading)
        for figure_widget in (self._figure_labels[0], self.done_figure):
            figure_widget.setVisible(downloading and not self._compact)
        for widget in (
            *self._figure_labels[1:],
            self.speed_figure,
            self.speed_caption,
            self.speed_line,
        ):
            widget.setVisible(downloading and has_speed and not self._compact)
        self.download_controls.setVisible(downloading and has_speed)
        if downloading:
            self._update_figures(step)
        if is_stopping:
            self.bottleneck_row.hide()
        elif downloading and self.download_controls.paused:
            kept_text = self.tr("Your download is kept.") if step.done else self.tr("Nothing downloaded yet.")
            self._show_bottleneck("pause", self.tr("Paused"), kept_text)
        elif downloading and self._is_limited_by_user(step):
            limit = format_speed(self.download_controls.limit_picker.rate or 0)
            self._show_bottleneck(
                "clock",
                self.tr("Limited by your speed limit"),
                self.tr("You set a limit of {speed}.").format(speed=limit),
            )
        else:
            # That an offline folder is checked is what its step says.
            self._update_bottleneck(step.bottleneck if step.code != BUNDLE_CHECK_CODE else None, step.kind)
        if downloading and self._compact:
            self._show_compact(step)

    def _is_limited_by_user(self, step: StepProgress) -> bool:
        """Whether it is the user's own limit that the download waits for, not the connection."""
        rate = self.download_controls.limit_picker.rate
        return (
            step.bottleneck == "network"
            and rate is not None
            and step.speed is not None
            and step.speed >= AT_LIMIT_FROM * rate
        )

    def _show_compact(self, step: StepProgress) -> None:
        """Figures and the bottleneck in one line, where there is room."""
        parts = [
            f"{format_size(step.done or 0)} / {format_size(step.total)}" if step.total else format_size(step.done or 0)
        ]
        if step.speed and not self._is_stopping:
            parts.append(format_speed(step.speed))
        # Not isVisible: the panel itself may still be hidden.
        bottleneck_texts = [self._bottleneck_title.text()] if self.bottleneck_row.isVisibleTo(self) else []
        if self.download_controls.paused:
            bottleneck_texts.append(self._bottleneck_detail.text())
        self.description_label.setText(" · ".join((*parts, *bottleneck_texts)))
        self.bottleneck_row.hide()

    def _update_figures(self, step: StepProgress) -> None:
        done, unit = format_size(step.done or 0).rsplit(" ", 1)
        self.done_figure.set(done, f"{unit} / {format_size(step.total)}" if step.total else unit)
        self.speed_figure.set(*_split_unit(format_speed(step.speed) if step.speed else UNKNOWN_VALUE))
        self.speed_caption.setText(self.tr("Speed over the last 90 seconds"))

    def _update_bottleneck(self, bottleneck: Bottleneck | None, kind: str | None) -> None:
        self.bottleneck_row.setVisible(bottleneck is not None)
        if bottleneck is None:
            return
        self._show_bottleneck(BOTTLENECK_ICONS[bottleneck], *self._bottleneck_texts(bottleneck, kind))

    def _show_bottleneck(self, icon: str, title: str, line: str) -> None:
        self.bottleneck_row.show()
        self._bottleneck_icon.set(icon)
        self._bottleneck_title.setText(title)
        self._bottleneck_detail.setText(line)
        self._bottleneck_detail.setVisible(bool(line))
        self.bottleneck_row.setAccessibleName(f"{title}. {line}" if line else title)

    def _bottleneck_texts(self, bottleneck: Bottleneck, kind: str | None) -> tuple[str, str]:
        if bottleneck == "checking" and kind == "verify":
            return self.tr("Trying it out"), self.tr("Loading PyTorch takes longest the first time.")
        return {
            "network": (self.tr("Limited by your internet connection"), ""),
            "source": (self.tr("Limited by the download server"), ""),
            "disk": (self.tr("Limited by your disk"), ""),
            "checking": (
                self.tr("Checking what was downloaded"),
                self.tr("Every file must match the official one exactly."),
            ),
            "installing": (self.tr("Installing the files"), self.tr("Limited by your disk")),
            "consent": (self.tr("Waiting for your permission"), self.tr("The system is waiting for your answer.")),
            "elsewhere": (
                self.tr("Another download is fetching this file"),
                self.tr("It is used here as soon as it is complete."),
            ),
            "mending": (
                self.tr("Some data arrived damaged"),
                self.tr("Downloading it again."),
            ),
        }[bottleneck]


def _description(step: StepProgress) -> tuple[str, dict[str, Value]]:
    """Code and data of what the step does; how large a running download is stands below, that it may be interrupted
    in a note.
    """
    if step.code in SIZED_DOWNLOAD_CODES and step.unit == "bytes":
        return "step.download-here.what", step.data
    return f"step.{step.code}.what", step.data


def _split_unit(text: str) -> tuple[str, str]:
    """ "18.4 MB/s" as figure and unit; "1 h 5 min" is not split."""
    parts = text.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else (text, "")


class ErrorPanel(Themed, QWidget):
    """What failed and why, and below it what the user can do about it.

    The first remedy is the page's primary button: here is only its reason. Each further one has a button of its own;
    `alternative_chosen` brings the chosen alternative, `folder_requested` asks for another folder.
    """

    alternative_chosen = Signal(object)
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.hero, self._remedies_card = Hero("error"), Card(" ", padding=16)
        column.addWidget(self.hero)
        column.addWidget(self._remedies_card)
        self._rows: list[RemedyRow] = []
        self._available_width = MAX_WIDTH
        self.apply_theme()

    @property
    def buttons(self) -> list[Button]:
        """The buttons of all remedies but the first."""
        return [row.button for row in self._rows if not row.isHidden() and not row.button.isHidden()]

    def set_failure(self, failure: Failure, texts: Texts, *, nothing_installed: bool = False) -> None:
        """Show a failure; the same one again in another language keeps its widgets, and with them the focus."""
        headline, rest = split_first_sentence(messages.message_text(texts, failure.message))
        answers = {failure.message.data.get(name) for name in ("index", "general")}
        if failure.message.code == UNAVAILABLE_CODE and answers <= NO_BUILD_ANSWERS:
            site = texts.format_value("site", failure.message.data["site"])
            version = texts.format_value("version", failure.message.data["version"])
            headline = self.tr("PyTorch {version} was not found for this computer").format(version=version)
            template = self.tr("Neither {site} nor the general package index has it yet. You can try again later.")
            rest = template.format(site=site)
        if nothing_installed and failure.message.code in NO_SOURCE_CODES:
            rest = messages.join_sentences(rest, self.tr("Nothing was installed."))
        self.hero.set("error", headline.rstrip(".。"), rest)
        self.setAccessibleName(self.hero.accessibleName())
        remedies: list[tuple[str, str, Callable[[], None]]] = []
        for alternative in failure.alternatives:
            choose = partial(self.alternative_chosen.emit, alternative)
            remedies.append((*alternative_texts(texts, alternative), choose))
        if "folder" in failure.remedies:
            remedies.append(("", self.tr("Choose another folder"), self.folder_requested.emit))
        self._remedies_card.set_title(self.tr("What you can do"))
        while len(self._rows) < len(remedies):
            self._rows.append(RemedyRow())
            self._rows[-1].set_available_width(self._available_width)
            self._remedies_card.column.addWidget(self._rows[-1])
        for index, row in enumerate(self._rows):
            row.set(*(remedies[index] if index < len(remedies) else ("", "", None)), is_primary=index == 0)
        self._remedies_card.setVisible(any(not row.isHidden() for row in self._rows))

    def set_available_width(self, available_width: int) -> None:
        """Wrap the texts of buttons that are wider than this many pixels leave room for."""
        self._available_width = max(available_width - 2 * REMEDY_MARGIN, 0)
        for row in self._rows:
            row.set_available_width(self._available_width)


class RemedyRow(QWidget):
    """What a remedy brings, and its button, unless that is the page's primary one."""

    def __init__(self) -> None:
        super().__init__()
        self.text_label, self.button = label("body"), Button()
        self._action: Callable[[], None] | None = None
        self.button.clicked.connect(lambda: self._action() if self._action is not None else None)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(8)
        column.addWidget(self.text_label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)

    def set(self, text: str, button_text: str, action: Callable[[], None] | None, *, is_primary: bool) -> None:
        """Show a remedy; without anything to show the row is hidden."""
        self._action = action
        self.text_label.setText(text)
        self.text_label.setVisible(bool(text))
        self.button.setText(button_text)
        self.button.setVisible(bool(button_text) and not is_primary)
        self.setVisible(bool(text) or (bool(button_text) and not is_primary))

    def set_available_width(self, available_width: int) -> None:
        self.button.set_max_width(available_width)
