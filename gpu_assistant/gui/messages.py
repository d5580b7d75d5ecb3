"""Messages of the core as the window shows them: it has buttons where the command line has options."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..core.errors import AppError
from ..core.message import Message
from ..core.recommendation import Alternative
from ..texts.localized import Texts
from .language import texts as current_texts


def message_text(texts: Texts, message: Message) -> str:
    """The text with the prefix `window.`, if there is one, else the common one."""
    window_code = f"window.{message.code}"
    return texts.translate(window_code if texts.has_text(window_code) else message.code, message.data)


def join_sentences(*sentences: str | None) -> str:
    """The sentences as one text; Chinese has no spaces between them."""
    separator = "" if current_texts().language == "zh_CN" else " "
    return separator.join(sentence for sentence in sentences if sentence)


def error_text(texts: Texts, error: AppError) -> str:
    """What went wrong and what to do."""
    return message_text(texts, error.message)


def publisher_name(texts: Texts, address: str) -> str:
    """The publisher of a source by its URL; a host that has no name in the texts is shown as it is."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.")
    code = f"publisher.{host}"
    return texts.translate(code, {"project": "/".join(parts.path.split("/")[1:3])}) if texts.has_text(code) else host


def alternative_texts(texts: Texts, alternative: Alternative) -> tuple[str, str]:
    """An alternative's description and the text of its button."""
    text = message_text(texts, Message(f"alternative.{alternative.code}.text", alternative.data))
    return text, texts.translate(f"alternative.{alternative.code}.label", alternative.data)
