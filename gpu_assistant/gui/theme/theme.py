"""The current theme: tokens and type scale of `resources/theme.json`, text scale, the application's palette and fonts.

    settings ──> set_theme, set_text_scale ─┬─> QPalette, QFont ──> all widgets (Qt)
    system ────> colorSchemeChanged ────────┘
    language ──> set_chinese ──> fonts        notifier.changed ──> Themed (widgets/base.py)

The theme changes while the program runs. `notifier.changed(True)` says that sizes changed too, not only colours.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import ceil
from typing import Literal, get_args

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPalette, QTextLayout
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip

from ...core.theme import Tokens, load_theme_file

_MIN_SCALE, _MAX_SCALE = 1.0, 2.0
# From one baseline to the next, in sizes of the font.
ENGLISH_LINE_HEIGHT = 1.42


class _FontState:
    scale = 1.0
    chinese = False


def text_scale() -> float:
    """The factor by which text is enlarged, 1.0 to 2.0."""
    return _FontState.scale


def set_font_options(*, scale: float | None = None, chinese: bool | None = None) -> None:
    """Set text scale and Chinese fonts; the caller emits the change."""
    if scale is not None:
        _FontState.scale = min(max(scale, _MIN_SCALE), _MAX_SCALE)
    if chinese is not None:
        _FontState.chinese = chinese
    for cache in (_cached_font, advance, text_height, line_height):
        cache.cache_clear()


def px(length: float) -> int:
    """A length in pixels at 100 %, scaled with the text."""
    return round(length * _FontState.scale)


@lru_cache(maxsize=1)
def line_height() -> float:
    """Line height of wrapped text as a factor of the font's own, which differs: that of a Chinese family, which draws
    English too on most Linux desktops, is as tall as lines of English should be apart.
    """
    if _FontState.chinese:
        return 1.12
    body = _cached_font("body")
    return max(1.0, ENGLISH_LINE_HEIGHT * body.pixelSize() / QFontMetricsF(body).height())


def font(kind: str = "body") -> QFont:
    """A font of the type scale: display, figure, title, verdict, heading, body, strong, small, caption, mono…"""
    return QFont(_cached_font(kind))


@lru_cache(maxsize=4096)
def advance(kind: str, text: str) -> float:
    """The width of a text in one line, in pixels; layouts ask for the same texts many times."""
    return QFontMetricsF(_cached_font(kind)).horizontalAdvance(text)


@lru_cache(maxsize=64)
def text_height(kind: str) -> int:
    """The height in pixels of one line with Latin and Chinese glyphs: they may come from two fonts."""
    layout = QTextLayout("x中", _cached_font(kind))
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    return ceil(line.height())


@lru_cache(maxsize=64)
def _cached_font(kind: str) -> QFont:
    size, weight = load_theme_file().type[kind]
    result = QFont()
    language = "chinese" if _FontState.chinese else "english"
    result.setFamilies(list(_installed_families("mono" if kind == "mono" else language)))
    result.setPixelSize(px(size))
    # Chinese families have no 600.
    result.setWeight(QFont.Weight(700 if weight == 600 and _FontState.chinese else weight))
    if kind in load_theme_file().tabular:
        result.setFeature(QFont.Tag("tnum"), 1)
    if kind == "mono":
        result.setStyleHint(QFont.StyleHint.Monospace)
    return result


@lru_cache(maxsize=3)
def _installed_families(role: str) -> tuple[str, ...]:
    """The families that are installed, in order of preference; all of them if none is."""
    families = load_theme_file().families[role]
    return tuple(name for name in families if QFontDatabase.hasFamily(name)) or families


ThemeChoice = Literal["system", "light", "dark", "contrast"]


class ThemeNotifier(QObject):
    """`changed` is emitted after theme, text scale or fonts changed, with True if sizes changed."""

    changed = Signal(bool)


class _ThemeState:
    choice: ThemeChoice = "system"
    tokens: Tokens = load_theme_file().themes["light"]
    sizes: tuple[float, float, int] | None = None
    style_applied = False
    listening = False


notifier = ThemeNotifier()


def current() -> Tokens:
    """The tokens of the current theme."""
    return _ThemeState.tokens


def choice() -> ThemeChoice:
    """The user's choice."""
    return _ThemeState.choice


def color(token: str, alpha: float = 1.0) -> QColor:
    """A token's colour; `alpha` is 0 to 1."""
    return QColor(_cached_color(getattr(_ThemeState.tokens, token), alpha))


@lru_cache(maxsize=256)
def _cached_color(name: str, alpha: float) -> QColor:
    result = QColor(name)
    result.setAlphaF(alpha)
    return result


def set_theme(app: QApplication, name: str) -> None:
    """Apply "system", "light", "dark" or "contrast"; anything else follows the system."""
    _ThemeState.choice = next((option for option in get_args(ThemeChoice) if option == name), "system")
    hints = app.styleHints()
    if not _ThemeState.style_applied:
        _ThemeState.style_applied = True
        keys = {key.lower() for key in QStyleFactory.keys()}  # noqa: SIM118 - a static method, no mapping
        app.setStyle("windows11" if "windows11" in keys else "fusion")
    if not _ThemeState.listening:
        _ThemeState.listening = True
        hints.colorSchemeChanged.connect(_on_system_theme_changed)
    schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark, "contrast": Qt.ColorScheme.Dark}
    hints.setColorScheme(schemes.get(_ThemeState.choice, Qt.ColorScheme.Unknown))
    _apply_theme(app)


def set_text_scale(app: QApplication, scale: float) -> None:
    """Enlarge all text by 1.0 to 2.0."""
    set_font_options(scale=scale)
    _defer_painting(app)
    _apply_theme(app)


def set_chinese(app: QApplication, chinese: bool) -> None:
    """Use the weights and leading of Chinese fonts, before Qt sends widgets their LanguageChange.

    `Themed` refreshes sizes at that event: emitting `changed` here would do it twice.
    """
    set_font_options(chinese=chinese)
    _update_sizes()
    _apply_font(app)
    _defer_painting(app)


def _on_system_theme_changed() -> None:
    app = QApplication.instance()
    if _ThemeState.choice == "system" and isinstance(app, QApplication):
        _apply_theme(app)


def _apply_theme(app: QApplication) -> None:
    """Set palette and font. An application-wide style sheet would polish every widget again: far too slow."""
    tokens = _resolve_tokens(app)
    colours_changed, _ThemeState.tokens = tokens != _ThemeState.tokens, tokens
    palette = _make_palette(tokens)
    if app.palette() != palette:
        app.setPalette(palette)
        QToolTip.setPalette(palette)
        # Qt tells the widgets in the loop's next turn; whoever looks at one before that would find the old ground.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationPaletteChange)
    sizes_changed = _update_sizes()
    if sizes_changed:
        _apply_font(app)
    if colours_changed or sizes_changed:
        notifier.changed.emit(sizes_changed)


def _update_sizes() -> bool:
    current_sizes = (text_scale(), line_height(), _ThemeState.tokens.line_width)
    changed, _ThemeState.sizes = current_sizes != _ThemeState.sizes, current_sizes
    return changed


def _defer_painting(app: QApplication) -> None:
    """Paint windows only after everything in them was laid out, which is two turns of the event loop: no half-way
    picture.
    """
    for window in app.topLevelWidgets():
        if window.isVisible() and window.updatesEnabled():
            window.setUpdatesEnabled(False)
            # A timer of 0 would have its turn among what moves the widgets.
            QTimer.singleShot(1, window, partial(window.setUpdatesEnabled, True))


def _apply_font(app: QApplication) -> None:
    """Set the application's font if it is another: Qt updates every widget even for the same one."""
    app_font = font("body")
    if app.font() != app_font:
        app.setFont(app_font)


def _resolve_tokens(app: QApplication) -> Tokens:
    if _ThemeState.choice != "system":
        return load_theme_file().themes[_ThemeState.choice]
    hints = app.styleHints()
    dark = hints.colorScheme() == Qt.ColorScheme.Dark
    # Qt tells of a system's contrast theme from 6.10 on.
    accessibility = hints.accessibility() if hasattr(hints, "accessibility") else None
    if accessibility is not None and accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast:
        return _system_contrast(dark)
    return load_theme_file().themes["dark" if dark else "light"]


def _system_contrast(dark: bool) -> Tokens:
    """The high-contrast tokens in the colours of the system's own contrast theme."""
    palette = QGuiApplication.palette()
    background, text = palette.window().color().name(), palette.windowText().color().name()
    background_tokens = ("window", "rail", "card", "sunken", "accent_soft", "ok_soft", "warn_soft", "error_soft")
    text_tokens = ("line", "control", "text", "soft", "s5", "focus", "ok", "warn", "error", "s1", "s2", "s3", "s4")
    accent_tokens = ("accent", "accent_hover", "accent_pressed")
    changes: dict[str, str | bool] = {"dark": dark, "accent_text": palette.link().color().name()}
    changes |= dict.fromkeys(background_tokens, background)
    changes |= dict.fromkeys(text_tokens, text)
    changes |= dict.fromkeys(accent_tokens, palette.highlight().color().name())
    changes["on_accent"] = palette.highlightedText().color().name()
    return msgspec.structs.replace(load_theme_file().themes["contrast"], **changes)


def _make_palette(tokens: Tokens) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for name, roles in {
        "window": (role.Window,),
        "card": (role.Base, role.Button, role.ToolTipBase),
        "sunken": (role.AlternateBase,),
        "text": (role.Text, role.WindowText, role.ButtonText, role.ToolTipText, role.BrightText),
        "soft": (role.PlaceholderText,),
        "accent": (role.Highlight, role.Accent),
        "on_accent": (role.HighlightedText,),
        "accent_text": (role.Link, role.LinkVisited),
    }.items():
        for each in roles:
            palette.setColor(each, QColor(getattr(tokens, name)))
    for each in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(tokens.disabled))
    return palette
