"""The look as data: colours, type scale and families from `resources/theme.json`. No Qt in here.

Fonts of the type scale: families, weight by language, size by text scale.

Which theme is on, and how the application is dressed in it, in one pass and without a restart.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Literal, get_args

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip

from ...core import json
from ...core.paths import resources_dir


class Tokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One theme. Colours are "#RRGGBB"; `line_width` is in pixels at 100 %; `dark` says what Qt should assume."""

    window: str
    rail: str
    card: str
    sunken: str
    hover: str
    pressed: str
    line: str
    control: str
    text: str
    soft: str
    disabled: str
    accent: str
    accent_hover: str
    accent_pressed: str
    on_accent: str
    accent_text: str
    accent_soft: str
    ok: str
    ok_soft: str
    warn: str
    warn_soft: str
    error: str
    error_soft: str
    focus: str
    s1: str
    s2: str
    s3: str
    s4: str
    s5: str
    grid: str
    line_width: int
    dark: bool

    def colours(self) -> dict[str, str]:
        """Every colour by its token's name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if isinstance(value, str)}


class ThemeFile(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. `type` gives pixel size at 100 % and weight; `tabular` names the kinds with even digits."""

    themes: dict[str, Tokens]
    type: dict[str, tuple[int, int]]
    tabular: frozenset[str]
    families: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def load_theme_file() -> ThemeFile:
    """The look as shipped."""
    return json.decode((resources_dir() / "theme.json").read_bytes(), ThemeFile)


_MIN_SCALE, _MAX_SCALE = 1.0, 2.0


class _FontState:
    scale = 1.0
    chinese = False


def text_scale() -> float:
    """How much larger than 100 % text is drawn, 1.0 to 2.0."""
    return _FontState.scale


def set_font_options(*, scale: float | None = None, chinese: bool | None = None) -> None:
    """Note the text scale and whether Chinese is shown; whoever calls this announces the change."""
    if scale is not None:
        _FontState.scale = min(max(scale, _MIN_SCALE), _MAX_SCALE)
    if chinese is not None:
        _FontState.chinese = chinese
    for cache in (_cached_font, advance):
        cache.cache_clear()


def px(length: float) -> int:
    """A length of the design in pixels, grown with the text."""
    return round(length * _FontState.scale)


def line_height() -> float:
    """Line height of wrapped text as a factor; CJK fonts bring their own leading."""
    return 1.12 if _FontState.chinese else 1.22


def font(kind: str = "body") -> QFont:
    """A font of the type scale: display, figure, title, verdict, heading, body, strong, small, caption, mono…"""
    return QFont(_cached_font(kind))


@lru_cache(maxsize=4096)
def advance(kind: str, text: str) -> float:
    """How wide a text is in one line, in pixels; layouts ask for the same words over and over."""
    return QFontMetricsF(_cached_font(kind)).horizontalAdvance(text)


@lru_cache(maxsize=64)
def _cached_font(kind: str) -> QFont:
    size, weight = load_theme_file().type[kind]
    result = QFont()
    result.setFamilies(list(_installed_families("mono" if kind == "mono" else "text")))
    result.setPixelSize(px(size))
    # Chinese families have no 600.
    result.setWeight(QFont.Weight(700 if weight == 600 and _FontState.chinese else weight))
    if kind in load_theme_file().tabular:
        result.setFeature(QFont.Tag("tnum"), 1)
    if kind == "mono":
        result.setStyleHint(QFont.StyleHint.Monospace)
    return result


@lru_cache(maxsize=2)
def _installed_families(role: str) -> tuple[str, ...]:
    """The families that this computer has, in our order of preference; all of them if it has none."""
    families = load_theme_file().families[role]
    return tuple(name for name in families if QFontDatabase.hasFamily(name)) or families


ThemeChoice = Literal["system", "light", "dark", "contrast"]


class ThemeNotifier(QObject):
    """Says that theme, text scale or the language's fonts changed, and whether sizes did, too."""

    changed = Signal(bool)


class _ThemeState:
    choice: ThemeChoice = "system"
    tokens: Tokens = load_theme_file().themes["light"]
    sizes: tuple[float, float, int] | None = None
    style_applied = False
    listening = False


notifier = ThemeNotifier()


def current() -> Tokens:
    """The tokens of the theme that is on."""
    return _ThemeState.tokens


def choice() -> ThemeChoice:
    """What the user chose."""
    return _ThemeState.choice


def color(token: str, alpha: float = 1.0) -> QColor:
    """A token's colour, `alpha` from 0 to 1."""
    return QColor(_cached_color(getattr(_ThemeState.tokens, token), alpha))


@lru_cache(maxsize=256)
def _cached_color(name: str, alpha: float) -> QColor:
    result = QColor(name)
    result.setAlphaF(alpha)
    return result


def set_theme(app: QApplication, name: str) -> None:
    """Dress the application: "system", "light", "dark" or "contrast"; anything else follows the system."""
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
    """Draw all text larger: 1.0 to 2.0."""
    set_font_options(scale=scale)
    _defer_painting(app)
    _apply_theme(app)


def set_chinese(app: QApplication, chinese: bool) -> None:
    """Use the weights and leading of Chinese fonts, before Qt tells every widget of another language.

    That takes sizes along (`components/base.py`): to announce them here would dress everything twice.
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
    """Palette and font; no style sheet: an application's sheet polishes every widget anew, which takes far too long.

    What the palette cannot say, our components paint.
    """
    _ThemeState.tokens = _resolve_tokens(app)
    palette = _make_palette(_ThemeState.tokens)
    app.setPalette(palette)
    QToolTip.setPalette(palette)
    # Qt tells the widgets in the loop's next turn; whoever looks at one before that would find the old ground.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationPaletteChange)
    _notify_changed(app)


def _notify_changed(app: QApplication) -> None:
    """Tell everyone, and whether anything that sizes depend on is another than before."""
    sizes_changed = _update_sizes()
    if sizes_changed:
        _apply_font(app)
    notifier.changed.emit(sizes_changed)


def _update_sizes() -> bool:
    current_sizes = (text_scale(), line_height(), _ThemeState.tokens.line_width)
    changed, _ThemeState.sizes = current_sizes != _ThemeState.sizes, current_sizes
    return changed


def _defer_painting(app: QApplication) -> None:
    """Windows stay as they are until everything in them has its new place: that and painting it are two turns of the
    event loop, and nobody sees what stands half way.
    """
    for window in app.topLevelWidgets():
        if window.isVisible() and window.updatesEnabled():
            window.setUpdatesEnabled(False)
            # A timer of 0 would have its turn among what moves the widgets.
            QTimer.singleShot(1, window, partial(window.setUpdatesEnabled, True))


def _apply_font(app: QApplication) -> None:
    """The application's font: Qt looks at every widget for it, even where it is the same."""
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
