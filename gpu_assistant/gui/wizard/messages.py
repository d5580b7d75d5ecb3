"""The core's sentences as the window says them: with buttons at hand, no command-line options in them."""

from __future__ import annotations

from urllib.parse import urlsplit

from ...core.errors import AppError
from ...core.recommendation import Alternative
from ...core.message import Message
from ...texts.localized import Texts
from ..language import texts as spoken


def message_text(texts: Texts, message: Message) -> str:
    """The window's own sentence where there is one, else the common one."""
    window_code = f"window.{message.code}"
    return texts.translate(window_code if texts.has_text(window_code) else message.code, message.data)


def join_sentences(*sentences: str | None) -> str:
    """Sentences one after the other; Chinese has no gaps between them."""
    separator = "" if spoken().language == "zh_CN" else " "
    return separator.join(sentence for sentence in sentences if sentence)


def error_text(texts: Texts, error: AppError) -> str:
    """What is wrong and what to do."""
    return message_text(texts, error.message)


def publisher_name(texts: Texts, address: str) -> str:
    """Who says it, from a source's address; a host that we have no name for is named as it is."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.")
    code = f"publisher.{host}"
    return texts.translate(code, {"project": "/".join(parts.path.split("/")[1:3])}) if texts.has_text(code) else host


def alternative_texts(texts: Texts, alternative: Alternative) -> tuple[str, str]:
    """An alternative's sentence and the words of its button."""
    text = message_text(texts, Message(f"alternative.{alternative.code}.text", alternative.data))
    return text, texts.translate(f"alternative.{alternative.code}.label", alternative.data)
