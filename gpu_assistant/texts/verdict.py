"""A benchmark's verdict in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import short_name

if TYPE_CHECKING:
    from ..core.results import Benchmark
    from .sentences import Translator


def verdict_text(benchmark: Benchmark, texts: Translator) -> str:
    """What is to be said of it all; "" for nothing. The card is the one that torch has, else the driver's first."""
    if benchmark.verdict is None:
        return ""
    names = [device.name for device in benchmark.devices if device.id != "cpu"]
    names += [card.name for card in benchmark.watched]
    card = next((name for name in names if name is not None), None)
    return texts.translate(benchmark.verdict, {"card": "GPU" if card is None else short_name(card)})
