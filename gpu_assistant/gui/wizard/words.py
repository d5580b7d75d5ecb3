"""The core's sentences as the window says them: with buttons at hand, no command-line options in them."""

from __future__ import annotations

from urllib.parse import urlsplit

from ...core.errors import AppError
from ...core.message import Message
from ...core.recommendation import Alternative
from ...texts import Texts
from ..language import texts as spoken


def say(texts: Texts, message: Message) -> str:
    """The window's own sentence where there is one, else the common one."""
    own = f"window.{message.code}"
    return texts.say(own if texts.has(own) else message.code, message.data)


def joined(*sentences: str | None) -> str:
    """Sentences one after the other; Chinese has no gaps between them."""
    gap = "" if spoken().language == "zh_CN" else " "
    return gap.join(sentence for sentence in sentences if sentence)


def error(texts: Texts, found: AppError) -> str:
    """What is wrong and what to do."""
    return say(texts, found.message)


def publisher(texts: Texts, address: str) -> str:
    """Who says it, from a source's address; a host that we have no name for is named as it is."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.")
    code = f"publisher.{host}"
    return texts.say(code, {"project": "/".join(parts.path.split("/")[1:3])}) if texts.has(code) else host


def offer(texts: Texts, found: Alternative) -> tuple[str, str]:
    """An alternative's sentence and the words of its button."""
    text = say(texts, Message(f"alternative.{found.code}.text", found.data))
    return text, texts.say(f"alternative.{found.code}.label", found.data)
