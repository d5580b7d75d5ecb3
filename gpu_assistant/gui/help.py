"""The help window of F1: the guide's page about what is on the screen, with its words explained, search and all topics.

It stays open beside the page that it is about; F1 on another page shows that page's topic in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QCursor,
    QFont,
    QImage,
    QKeySequence,
    QPainter,
    QPainterPath,
    QResizeEvent,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextImageFormat,
    QTextOption,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from ..core.errors import AppError
from ..texts.guide import (
    CONTENTS,
    GLOSSARY,
    guide_dir,
    guide_sections,
    heading_anchor,
    load_glossary,
    load_guide,
    search_guide,
    terms_of,
)
from . import theme
from .language import texts
from .theme.stylesheet import set_style_sheet
from .widgets.base import Breakpoints, Themed, draw_rounded_rect
from .widgets.buttons import Button
from .widgets.cards import Banner, Card
from .widgets.inputs import SearchField, use_slim_scroll_bars
from .widgets.layouts import FlowLayout
from .widgets.text import label
from .worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..app import App

DIALOG_SIZE, MINIMUM_SIZE = (980, 680), (480, 360)  # pixels at 100 % text
LIST_WIDTH = 252
MAX_HISTORY = 50
FRAME_RADIUS = 8  # pixels of a picture's corners
REPORT_TOPIC = "files"  # its last heading is about reports
HEADING_KINDS = {1: "title", 2: "heading", 3: "strong"}
BULLET_STRETCH = 250  # percent of a space's width, which is between a bullet and its text
SPACE_ABOVE = {1: 4, 2: 24, 3: 14}
MAX_LINE_WIDTH = 760  # pixels at 100 % text of lines with the page's margins: longer ones are hard to follow
MAX_PAGE_WIDTH = 940  # of a page: its pictures are wider than its lines, so that their texts can be read
DARK_BELOW = 0.5  # lightness of the theme's cards
DARK_FOLDER = "dark"  # beside the light pictures
PICTURE_LINE = re.compile(r"^(!\[([^\]]+)\]\([^)\s]+\))$", re.MULTILINE)
translate = QCoreApplication.translate

ROW_PADDING = 16, 8  # of a topic's row, left and right, above and below: its border, the sheet's padding, Qt's own
TOPIC_LIST = """
QListWidget { background: transparent; border: none; outline: none; color: $text; }
QListWidget::item { padding: 6px 10px; border: 2px solid transparent; border-radius: 6px; color: $text; }
QListWidget::item:disabled { color: $soft; background: transparent; }
QListWidget::item:hover:enabled { background: $hover; }
QListWidget::item:selected { background: $accent_soft; color: $accent_text; }
QListWidget::item:selected:focus { border-color: $focus; }
"""


class GuideBrowser(Themed, QTextBrowser):
    """A page of the guide in the theme's fonts and colours; lines break anywhere they must and pictures are as wide as
    the page, so that it never scrolls sideways.

    `link_opened` brings a topic (the shown one if empty) and an anchor.
    """

    link_opened = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._markdown, self._text_margin = "", 0
        self._pictures: dict[str, QImage] = {}  # of the page that is shown, by their paths
        self._fitted: dict[str, tuple[int, float, QImage]] = {}  # with their width in device pixels and its ratio
        self._has_size = False
        self._rendered: tuple[object, ...] = ()  # page and looks of the document
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        use_slim_scroll_bars(self)
        self.anchorClicked.connect(self._on_link)
        self.highlighted.connect(self._explain_term)
        self.apply_theme()

    def set_markdown(self, markdown: str) -> None:
        """Show a page from its beginning."""
        self._markdown = markdown
        self._render()
        self.verticalScrollBar().setValue(0)

    def scroll_to_heading(self, anchor: str) -> bool:
        """Bring a heading to the top; False if the page has none with this anchor."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and heading_anchor(block.text()) == anchor:
                top = self.document().documentLayout().blockBoundingRect(block).top()
                self.verticalScrollBar().setValue(round(top))
                return True
            block = block.next()
        return False

    def refresh(self) -> None:
        super().refresh()
        self._render()

    def update_colours(self) -> None:
        super().update_colours()
        self._render()

    def _render(self) -> None:
        """Make the document anew where its page is another, or fonts or colours, which are part of it.

        Before the view has its size, lines would be broken and pictures scaled for nothing.
        """
        wanted = (self._markdown, theme.current(), theme.text_scale(), theme.line_height())
        if not self._has_size or wanted == self._rendered:
            return
        self._rendered = wanted
        position = self.verticalScrollBar().value()
        document = self.document()
        document.clear()  # else each of the next settings would lay out the page before
        self._pictures.clear()  # those of another theme
        self._fitted.clear()
        self._limit_lines()
        document.setDefaultFont(theme.font("body"))
        document.setDocumentMargin(theme.px(20))
        document.setIndentWidth(theme.px(22))
        document.setMarkdown(self._markdown, QTextDocument.MarkdownFeature.MarkdownNoHTML)
        cursor, block = QTextCursor(document), document.begin()
        cursor.beginEditBlock()  # one layout for all changes
        while block.isValid():
            _format_block(block)
            block = block.next()
        self._limit_text(is_new=True)
        self._fit_pictures()
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(position)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """A picture of the page, as wide as the page at most; nothing else is loaded."""
        url = QUrl(name)
        if kind != QTextDocument.ResourceType.ImageResource.value or not url.isRelative():
            return None
        return self._fitted_picture(url.path())

    def _fitted_picture(self, name: str) -> QImage:
        """A picture as wide as the page at most, in a frame: its ground may be that of the page, or far from it."""
        if name not in self._pictures:
            self._pictures[name] = QImage(str(_picture_path(name)))
        picture, ratio = self._pictures[name], self.devicePixelRatioF()
        width = min(round(min(picture.width(), self._page_width) * ratio), picture.width())
        known = self._fitted.get(name)
        if known is not None and known[:2] == (width, ratio):
            return known[2]
        if not picture.isNull() and width < picture.width():
            picture = picture.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        fitted = picture.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
        fitted.setDevicePixelRatio(ratio)
        if not fitted.isNull():
            _draw_frame(fitted)
        self._fitted[name] = width, ratio, fitted
        return fitted

    @property
    def _page_width(self) -> int:
        """The pixels between the margins."""
        return max(self.lineWrapColumnOrWidth() - 2 * round(self.document().documentMargin()), 1)

    def _limit_lines(self) -> None:
        """A page as wide as the view, or as a picture is at most."""
        self.setLineWrapColumnOrWidth(min(self.viewport().width(), theme.px(MAX_PAGE_WIDTH)))

    def _limit_text(self, *, is_new: bool = False) -> None:
        """Lines of text as wide as the page, or as the eye can follow."""
        margin = max(self.lineWrapColumnOrWidth() - theme.px(MAX_LINE_WIDTH), 0)
        if margin == self._text_margin and not is_new:
            return
        self._text_margin = margin
        cursor, block = QTextCursor(self.document()), self.document().begin()
        cursor.beginEditBlock()  # one layout for all of them
        while block.isValid():
            if not _pictures_in(block):
                form = QTextBlockFormat()
                form.setRightMargin(margin)
                cursor.setPosition(block.position())
                cursor.mergeBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def _fit_pictures(self) -> None:
        """Scale the pictures to the width of the page."""
        document = self.document()
        for position, form in _picture_formats(document):
            name = form.name()
            fitted = self._fitted_picture(name)
            width = min(self._pictures[name].width(), self._page_width)
            if form.width() == width:
                continue
            document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), fitted)
            form.setWidth(width)
            form.setHeight(round(width * fitted.height() / max(fitted.width(), 1)))
            cursor = QTextCursor(document)
            cursor.setPosition(position)
            cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(form)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._has_size:
            self._has_size = True
            self._render()
        self._limit_lines()
        self._limit_text()
        self._fit_pictures()

    def _on_link(self, url: QUrl) -> None:
        self.link_opened.emit(url.path().removesuffix(".md"), url.fragment())

    def _explain_term(self, url: QUrl) -> None:
        """Show the meaning of a term while the mouse is over it."""
        term = load_glossary(texts().language).get(url.fragment()) if GLOSSARY in url.path() else None
        QToolTip.showText(QCursor.pos(), f"{term.name}: {term.meaning}" if term is not None else "", self)


def _picture_path(name: str) -> Path:
    """A picture of the guide: the dark one in a dark theme, where there is one."""
    light = guide_dir(texts().language) / name
    dark = light.parent / DARK_FOLDER / light.name
    return dark if theme.color("card").lightnessF() < DARK_BELOW and dark.is_file() else light


def _draw_frame(picture: QImage) -> None:
    """Round a picture's corners and draw a line around it."""
    area = QRectF(QPointF(), picture.deviceIndependentSize())
    corners = QPainterPath()
    corners.addRect(area)
    inside = QPainterPath()
    inside.addRoundedRect(area, FRAME_RADIUS, FRAME_RADIUS)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.fillPath(corners - inside, theme.color("card"))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
    draw_rounded_rect(painter, area, FRAME_RADIUS, border=theme.color("control"), width=theme.current().line_width)
    painter.end()


def _format_block(block: QTextBlock) -> None:
    """Give a paragraph, heading or list entry its fonts and distances."""
    cursor = QTextCursor(block)
    level = block.blockFormat().headingLevel()
    is_code = _is_code(block)
    distances = QTextBlockFormat()
    if not _pictures_in(block):  # its line is as high as the picture
        distances.setLineHeight(100 * theme.line_height(), QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    distances.setTopMargin(theme.px(SPACE_ABOVE.get(level, 0)))
    distances.setBottomMargin(theme.px(_space_below(block)))
    distances.setNonBreakableLines(False)
    if is_code:
        distances.setBackground(theme.color("sunken"))
        distances.setLeftMargin(theme.px(4))
    cursor.mergeBlockFormat(distances)
    if block.textList():
        # Qt draws the bullet as far from the text as a space of the paragraph's own font is wide.
        marker = QTextCharFormat(block.charFormat())
        marker.setFontStretch(BULLET_STRETCH)
        cursor.setBlockCharFormat(marker)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    if level:
        # Not merged: what Markdown gives a heading scales the font's size.
        cursor.setCharFormat(_char_format(theme.font(HEADING_KINDS.get(level, "strong"))))
        return
    for start, length, kind, is_link in _runs(block, is_code=is_code):
        run = QTextCursor(block)
        run.setPosition(start)
        run.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        token = "accent_text" if is_link else "soft" if kind == "small" else ""
        run.mergeCharFormat(_char_format(theme.font(kind), token))


def _pictures_in(block: QTextBlock) -> list[tuple[int, QTextImageFormat]]:
    """The position and the format of each picture."""
    pictures = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.charFormat().isImageFormat():
            pictures.append((fragment.position(), fragment.charFormat().toImageFormat()))
        iterator += 1
    return pictures


def _picture_formats(document: QTextDocument) -> list[tuple[int, QTextImageFormat]]:
    pictures = []
    block = document.begin()
    while block.isValid():
        pictures += _pictures_in(block)
        block = block.next()
    return pictures


def _is_code(block: QTextBlock) -> bool:
    return block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _space_below(block: QTextBlock) -> int:
    """Less within a list, none within code."""
    below = block.next()
    if _is_code(block) and _is_code(below):
        return 0
    if block.blockFormat().headingLevel() > 1:
        return 6
    if _is_link(block):
        return 0  # a topic that a search found, and what it says
    return 6 if block.textList() and below.textList() else 12


def _is_link(block: QTextBlock) -> bool:
    """Whether a paragraph is one link."""
    iterator = block.begin()
    if iterator.atEnd() or block.textList():
        return False
    fragment = iterator.fragment()
    return fragment.charFormat().isAnchor() and fragment.length() == len(block.text())


def _runs(block: QTextBlock, *, is_code: bool) -> list[tuple[int, int, str, bool]]:
    """(position, length, kind of the type scale, whether it is a link) of each run of equal format."""
    runs = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        form = fragment.charFormat()
        if form.isImageFormat():
            iterator += 1
            continue
        is_mono = is_code or form.fontFixedPitch()
        is_strong = form.fontWeight() > QFont.Weight.Normal
        kind = "mono" if is_mono else "strong" if is_strong else "small" if form.fontItalic() else "body"
        runs.append((fragment.position(), fragment.length(), kind, form.isAnchor()))
        iterator += 1
    return runs


def _char_format(font: QFont, token: str = "") -> QTextCharFormat:
    form = QTextCharFormat()
    form.setFont(font)
    form.setForeground(theme.color(token or "text"))
    return form


def _list_rows() -> Iterator[tuple[str, str]]:
    """The names and titles of the topics under the headings of the contents page, which have no name. The rows are the
    same in every language.
    """
    topics = load_guide(texts().language)
    yield CONTENTS, translate("Help", "All topics")
    for heading, names in guide_sections(texts().language):
        yield "", heading
        for name in names:
            yield name, topics[name].title


class TopicList(Themed, QListWidget):
    """All topics of the guide; `topic_chosen` brings the name of one."""

    topic_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        use_slim_scroll_bars(self)
        # The rows stay: to clear a list that is being shown or dressed crashes PySide6 6.11.
        for name, text in _list_rows():
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, name)
            if not name:  # the heading of the topics below it; neither mouse nor keyboard selects it
                item.setFlags(Qt.ItemFlag.NoItemFlags)
                item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
            self.addItem(item)
        self.currentItemChanged.connect(self._on_current_changed)
        self.apply_theme()

    def set_current(self, name: str) -> None:
        """Mark the topic that is shown."""
        blocked = self.blockSignals(True)
        items = [self.item(row) for row in range(self.count())]
        item = next((item for item in items if item.data(Qt.ItemDataRole.UserRole) == name), None)
        if item is not None:
            self.setCurrentItem(item)
        else:
            self.setCurrentRow(-1)
        self.blockSignals(blocked)

    def retranslate(self) -> None:
        for row, (_, text) in enumerate(_list_rows()):
            self.item(row).setText(text)
        self._fit_rows()
        self.setAccessibleName(translate("Help", "Topics"))

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        for heading in self._headings():
            heading.setFont(theme.font("small-strong"))
            heading.setSizeHint(QSize(0, self.fontMetrics().height() + theme.px(26)))
        self.setFixedWidth(theme.px(LIST_WIDTH))
        self._fit_rows()
        self.update_colours()
        super().refresh()

    def update_colours(self) -> None:
        set_style_sheet(self, TOPIC_LIST)
        for heading in self._headings():
            heading.setForeground(theme.color("soft"))
        super().update_colours()

    def _fit_rows(self) -> None:
        """A title that needs two lines has them: Qt wraps it, and leaves the row as high as one line."""
        width = theme.px(LIST_WIDTH) - self.verticalScrollBar().sizeHint().width() - 2 * ROW_PADDING[0]
        for item in (self.item(row) for row in range(self.count())):
            if item.data(Qt.ItemDataRole.UserRole):
                lines = self.fontMetrics().boundingRect(0, 0, width, 0, Qt.TextFlag.TextWordWrap, item.text())
                item.setSizeHint(QSize(0, lines.height() + 2 * ROW_PADDING[1]))

    def _headings(self) -> list[QListWidgetItem]:
        items = (self.item(row) for row in range(self.count()))
        return [item for item in items if not item.data(Qt.ItemDataRole.UserRole)]

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.topic_chosen.emit(item.data(Qt.ItemDataRole.UserRole))


class HelpDialog(Themed, QDialog):
    """The guide. `topic` is the page that is shown; what was shown before is a step back."""

    def __init__(self, app: App, parent: QWidget, topic: str, anchor: str = "") -> None:
        super().__init__(parent)
        self._app = app
        self._ready = False
        self._failure: AppError | None = None
        self._history: list[tuple[str, str]] = []
        self.topic, self._anchor = topic, anchor
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.back_button = Button(kind="ghost", icon_name="left", flush="left")
        self.contents_button = Button(kind="ghost", icon_name="book", flush="left")
        self.title_label, self.search_field = label("title"), SearchField()
        self.topic_list, self.browser = TopicList(), GuideBrowser()
        self.banner = Banner("warn")
        self.banner.hide()
        self.folder_button, self.logs_button = Button(icon_name="folder"), Button(icon_name="log")
        self.report_button, self.close_button = Button(icon_name="flag"), Button()
        self._open_runner = JobRunner(self)
        self._build_layout()
        self._connect_signals()
        self._breakpoints = Breakpoints(self)
        self._breakpoints.changed.connect(self._arrange)
        self._ready = True
        self.apply_theme()
        self.browser.setFocus(Qt.FocusReason.OtherFocusReason)

    def _build_layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        header = QHBoxLayout()
        header.setSpacing(12)
        header.addWidget(self.title_label)
        header.addWidget(self.back_button)
        header.addWidget(self.contents_button)
        header.addWidget(self.search_field, 1)
        column.addLayout(header)
        body = QHBoxLayout()
        body.setSpacing(12)
        body.addWidget(self.topic_list)
        page = Card()
        page.column.setContentsMargins(4, 4, 4, 4)
        page.column.addWidget(self.browser, 1)
        body.addWidget(page, 1)
        column.addLayout(body, 1)
        column.addWidget(self.banner)
        left_buttons = FlowLayout(spacing=8)
        for button in (self.folder_button, self.logs_button, self.report_button):
            left_buttons.addWidget(button)
        footer = QHBoxLayout()
        footer.setSpacing(8)
        footer.addLayout(left_buttons, 1)
        footer.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignBottom)
        column.addLayout(footer)
        available = self.screen().availableGeometry()
        self.setMinimumSize(*MINIMUM_SIZE)
        self.resize(
            min(theme.px(DIALOG_SIZE[0]), available.width() - 80),
            min(theme.px(DIALOG_SIZE[1]), available.height() - 80),
        )

    def _connect_signals(self) -> None:
        self.back_button.clicked.connect(self.go_back)
        self.contents_button.clicked.connect(lambda: self.open_topic(CONTENTS))
        self.topic_list.topic_chosen.connect(self.open_topic)
        self.browser.link_opened.connect(lambda topic, anchor: self.open_topic(topic or self.topic, anchor))
        self.search_field.textChanged.connect(lambda _: self._show())
        self.search_field.returnPressed.connect(self._open_first_hit)
        data = self._app.data
        self.folder_button.clicked.connect(lambda: self._open_folder(data.root))
        self.logs_button.clicked.connect(lambda: self._open_folder(data.logs))
        self.report_button.clicked.connect(self._open_report_section)
        self.close_button.clicked.connect(self.reject)
        self._open_runner.failed.connect(self._on_failed)
        for key, action in (("Alt+Left", self.go_back), ("Ctrl+F", self.search_field.setFocus)):
            QShortcut(QKeySequence(key), self).activated.connect(action)

    # What is shown

    def open_topic(self, topic: str, anchor: str = "") -> None:
        """Show a topic, from one of its headings if an anchor is given."""
        if topic not in load_guide(texts().language):
            return
        if (topic, anchor) != (self.topic, self._anchor):
            self._history.append((self.topic, self._anchor))
            del self._history[:-MAX_HISTORY]
        self.topic, self._anchor = topic, anchor
        self._clear_search()
        self._show()

    def go_back(self) -> None:
        """Show what was shown before; from the results of a search, the topic."""
        if self.search_field.text():
            self._clear_search()
        elif self._history:
            self.topic, self._anchor = self._history.pop()
        self._show()

    def _clear_search(self) -> None:
        blocked = self.search_field.blockSignals(True)
        self.search_field.clear()
        self.search_field.blockSignals(blocked)

    def _show(self) -> None:
        query = self.search_field.text().strip()
        self.topic_list.set_current("" if query else self.topic)
        self.browser.set_markdown(self._results_markdown(query) if query else self._topic_markdown())
        if self._anchor and not query:
            self.browser.scroll_to_heading(self._anchor)
        self.back_button.setVisible(bool(query or self._history))
        self._arrange()

    def _topic_markdown(self) -> str:
        """The page, and below it the words of the glossary that it uses."""
        code = texts().language
        topic = load_guide(code)[self.topic]
        terms = terms_of(topic, code)
        markdown = PICTURE_LINE.sub(r"\1\n\n*\2*", topic.markdown)  # what it shows, as small text below it
        if not terms:
            return markdown
        colon = "：" if code == "zh_CN" else ": "
        words = "\n".join(f"- **{term.name}**{colon}{term.meaning}" for term in terms)
        return f"{markdown}\n## {texts().translate('guide.words-here')}\n\n{words}\n"

    def _results_markdown(self, query: str) -> str:
        hits = search_guide(texts().language, query)
        title = texts().translate("guide.search.title", {"query": query.replace("\\", "").replace("`", "")})
        if not hits:
            return f"# {title}\n\n{texts().translate('guide.search.none')}\n"
        words = re.compile("|".join(map(re.escape, query.split())), re.IGNORECASE)
        results = "\n\n".join(
            f"**[{hit.topic.title}]({hit.topic.name}.md)**  \n{words.sub(_strong, hit.snippet)}" for hit in hits
        )
        return f"# {title}\n\n{results}\n"

    def _open_first_hit(self) -> None:
        hits = search_guide(texts().language, self.search_field.text())
        if hits:
            self.open_topic(hits[0].topic.name)

    def _open_report_section(self) -> None:
        self.open_topic(REPORT_TOPIC, load_guide(texts().language)[REPORT_TOPIC].anchors[-1])

    # Folders

    def _open_folder(self, folder: Path) -> None:
        """Show a folder in the file manager; one that does not exist yet by the nearest one above it."""
        self.banner.hide()
        if not self._open_runner.running:
            self._open_runner.start(FunctionJob(partial(_open_nearest, self._app.system.open_folder, folder)))

    def _on_failed(self, error: AppError) -> None:
        self._failure = error
        self.banner.set("warn", texts().error_text(error))
        self.banner.show()

    # Texts and state

    def retranslate(self) -> None:
        if not self._ready:
            return
        self.setWindowTitle(translate("Help", "Help"))
        self.title_label.setText(translate("Help", "Help"))
        self.back_button.setText(translate("Help", "Back"))
        self.contents_button.setText(translate("Help", "All topics"))
        self.search_field.setPlaceholderText(translate("Help", "Search help"))
        self.search_field.setAccessibleName(translate("Help", "Search help"))
        self.browser.setAccessibleName(translate("Help", "Help"))
        self.folder_button.setText(translate("Help", "Open data folder"))
        self.logs_button.setText(translate("Help", "Open logs"))
        self.report_button.setText(translate("Help", "Report a problem"))
        self.close_button.setText(translate("Help", "Close"))
        if self._failure is not None:
            self.banner.set("warn", texts().error_text(self._failure))
        self._show()

    def _arrange(self) -> None:
        """Leave the page most of the room: a small window has no list, and the buttons for folders are there where the
        page is about them.
        """
        small = self._breakpoints.is_small
        self.topic_list.setVisible(not small)
        self.title_label.setVisible(not small)
        self.title_label.setFixedWidth(self.topic_list.width())  # what follows begins where the page does
        self.contents_button.setVisible(small)
        about_files = self.topic == REPORT_TOPIC
        self.folder_button.setVisible(about_files)
        self.logs_button.setVisible(about_files)


def _strong(found: re.Match[str]) -> str:
    return f"**{found[0]}**"


def _open_nearest(open_folder: Callable[[Path], None], folder: Path) -> None:
    open_folder(next(each for each in (folder, *folder.parents) if each.is_dir()))


def open_help(app: App, parent: QWidget, topic: str, anchor: str = "") -> HelpDialog:
    """Show a topic, from one of its headings if an anchor is given, beside the window of `parent`: in the help window
    that is open there already, if any.
    """
    window = parent.window()
    dialog = window.findChild(HelpDialog, options=Qt.FindChildOption.FindDirectChildrenOnly)
    if dialog is None:
        dialog = HelpDialog(app, window, topic, anchor)
        dialog.show()
        if anchor:
            dialog.browser.scroll_to_heading(anchor)
    else:
        dialog.open_topic(topic, anchor)
        dialog.activateWindow()
    return dialog


def add_help_shortcut(dialog: QDialog, app: App, topic: str) -> None:
    """Let F1 in a dialog open the topic about it."""
    QShortcut(QKeySequence("F1"), dialog).activated.connect(lambda: open_help(app, dialog, topic))
