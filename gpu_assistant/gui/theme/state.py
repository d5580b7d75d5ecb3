"""Which theme is on, and how the application is dressed in it, in one pass and without a restart."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Literal, get_args

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip

from . import fonts
from .tokens import Tokens, look

Choice = Literal["system", "light", "dark", "contrast"]


class Notice(QObject):
    """Says that theme, text scale or the language's fonts changed, and whether sizes did, too."""

    changed = Signal(bool)


class _State:
    choice: Choice = "system"
    tokens: Tokens = look().themes["light"]
    sizes: tuple[float, float, int] | None = None
    styled = False
    listening = False


notice = Notice()


def current() -> Tokens:
    """The tokens of the theme that is on."""
    return _State.tokens


def choice() -> Choice:
    """What the user chose."""
    return _State.choice


def color(token: str, alpha: float = 1.0) -> QColor:
    """A token's colour, `alpha` from 0 to 1."""
    return QColor(_colour(getattr(_State.tokens, token), alpha))


@lru_cache(maxsize=256)
def _colour(name: str, alpha: float) -> QColor:
    made = QColor(name)
    made.setAlphaF(alpha)
    return made


def set_theme(app: QApplication, wanted: str) -> None:
    """Dress the application: "system", "light", "dark" or "contrast"; anything else follows the system."""
    _State.choice = next((known for known in get_args(Choice) if known == wanted), "system")
    hints = app.styleHints()
    if not _State.styled:
        _State.styled = True
        keys = {key.lower() for key in QStyleFactory.keys()}  # noqa: SIM118 - a static method, no mapping
        app.setStyle("windows11" if "windows11" in keys else "fusion")
    if not _State.listening:
        _State.listening = True
        hints.colorSchemeChanged.connect(_system_changed)
    schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark, "contrast": Qt.ColorScheme.Dark}
    hints.setColorScheme(schemes.get(_State.choice, Qt.ColorScheme.Unknown))
    _dress(app)


def set_text_scale(app: QApplication, scale: float) -> None:
    """Draw all text larger: 1.0 to 2.0."""
    fonts.remember(scale=scale)
    _paint_later(app)
    _dress(app)


def set_chinese(app: QApplication, chinese: bool) -> None:
    """Use the weights and leading of Chinese fonts, before Qt tells every widget of another language.

    That takes sizes along (`components/base.py`): to announce them here would dress everything twice.
    """
    fonts.remember(chinese=chinese)
    _remember_sizes()
    _wear(app)
    _paint_later(app)


def _system_changed() -> None:
    app = QApplication.instance()
    if _State.choice == "system" and isinstance(app, QApplication):
        _dress(app)


def _dress(app: QApplication) -> None:
    """Palette and font; no style sheet: an application's sheet polishes every widget anew, which takes far too long.

    What the palette cannot say, our components paint.
    """
    _State.tokens = _wanted_tokens(app)
    palette = _palette(_State.tokens)
    app.setPalette(palette)
    QToolTip.setPalette(palette)
    # Qt tells the widgets in the loop's next turn; whoever looks at one before that would find the old ground.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.ApplicationPaletteChange)
    _announce(app)


def _announce(app: QApplication) -> None:
    """Tell everyone, and whether anything that sizes depend on is another than before."""
    sizes = _remember_sizes()
    if sizes:
        _wear(app)
    notice.changed.emit(sizes)


def _remember_sizes() -> bool:
    now = (fonts.text_scale(), fonts.line_height(), _State.tokens.line_width)
    changed, _State.sizes = now != _State.sizes, now
    return changed


def _paint_later(app: QApplication) -> None:
    """Windows stay as they are until everything in them has its new place: that and painting it are two turns of the
    event loop, and nobody sees what stands half way.
    """
    for window in app.topLevelWidgets():
        if window.isVisible() and window.updatesEnabled():
            window.setUpdatesEnabled(False)
            # A timer of 0 would have its turn among what moves the widgets.
            QTimer.singleShot(1, window, partial(window.setUpdatesEnabled, True))


def _wear(app: QApplication) -> None:
    """The application's font: Qt looks at every widget for it, even where it is the same."""
    font = fonts.font("body")
    if app.font() != font:
        app.setFont(font)


def _wanted_tokens(app: QApplication) -> Tokens:
    if _State.choice != "system":
        return look().themes[_State.choice]
    hints = app.styleHints()
    dark = hints.colorScheme() == Qt.ColorScheme.Dark
    # Qt tells of a system's contrast theme from 6.10 on.
    accessibility = hints.accessibility() if hasattr(hints, "accessibility") else None
    if accessibility is not None and accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast:
        return _system_contrast(dark)
    return look().themes["dark" if dark else "light"]


def _system_contrast(dark: bool) -> Tokens:
    """The high-contrast tokens in the colours of the system's own contrast theme."""
    given = QGuiApplication.palette()
    ground, text = given.window().color().name(), given.windowText().color().name()
    grounds = ("window", "rail", "card", "sunken", "accent_soft", "ok_soft", "warn_soft", "error_soft")
    texts = ("line", "control", "text", "soft", "s5", "focus", "ok", "warn", "error", "s1", "s2", "s3", "s4")
    accents = ("accent", "accent_hover", "accent_pressed")
    changes: dict[str, str | bool] = {"dark": dark, "accent_text": given.link().color().name()}
    changes |= dict.fromkeys(grounds, ground)
    changes |= dict.fromkeys(texts, text)
    changes |= dict.fromkeys(accents, given.highlight().color().name())
    changes["on_accent"] = given.highlightedText().color().name()
    return msgspec.structs.replace(look().themes["contrast"], **changes)


def _palette(tokens: Tokens) -> QPalette:
    role = QPalette.ColorRole
    made = QPalette()
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
            made.setColor(each, QColor(getattr(tokens, name)))
    for each in (role.Text, role.WindowText, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, each, QColor(tokens.disabled))
    return made
