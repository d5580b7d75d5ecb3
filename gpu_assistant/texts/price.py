"""How much a plan or a step of it fetches, in the same words wherever it is told."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.message import Value
from ..core.price import Price, share
from .sentences import Sentences


def fetched(found: Price, texts: Sentences) -> str | None:
    """A plan's download: "2.6 GB", "about 2.6 GB", "at least 2.6 GB"; None where nothing of it is known."""
    if not found.bytes and not found.exact:
        return None
    if not found.bytes:
        return texts.say("price.none")
    return _figure(found.bytes, texts, about=found.measured is not None, more=bool(found.lacks))


def lacking(found: Price, texts: Sentences) -> str:
    """What is not in that, because nobody tells how large it is; nothing where all is."""
    gap = "、" if texts.language == "zh_CN" else ", "
    return gap.join(texts.say(f"price.part.{part}") for part in found.lacks)


def kept(found: Price, texts: Sentences) -> str | None:
    """What stays on the disk; None where nothing of it is known."""
    if found.disk_bytes is None:
        return None
    about = found.disk_about and not found.disk_more
    return _figure(found.disk_bytes, texts, about=about, more=found.disk_about)


def of_step(code: str, count: int | None, data: Mapping[str, Value], texts: Sentences) -> str:
    """A step's download; nothing where it has none, or nothing of it is known."""
    known = share(code, count, data)
    if not known.known:
        return ""
    more = known.lacks is not None
    return _figure(known.bytes, texts, about=known.measured is not None and not more, more=more)


def lasts(minutes: float, texts: Sentences, *, least: bool) -> str:
    """How long something takes: "7 minutes", "at least 7 minutes"."""
    return texts.say("price.time-at-least" if least else "price.time", {"work_seconds": 60 * minutes})


def _figure(count: int, texts: Sentences, *, about: bool, more: bool) -> str:
    code = "price.about" if about else "price.at-least" if more else "price.exact"
    return texts.say(code, {"bytes": count})
