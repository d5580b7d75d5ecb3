"""The judge itself: an answer that is bent in one place is found out."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Machine

from .build import GTX_1060, RTX_4060, RTX_5090, catalog
from .oracle.faults import find_faults
from .oracle.grid import SYSTEMS, cards, machine
from .oracle.published import PublishedFacts

OLD, NEW = {"vendor": "nvidia", "pci_id": GTX_1060}, {"vendor": "nvidia", "pci_id": RTX_4060}
BLACKWELL = {"vendor": "nvidia", "pci_id": RTX_5090}


@cache
def published() -> PublishedFacts:
    return PublishedFacts()


def verdict(box: dict[str, Any], bent: dict[str, Any] | None = None) -> list[str]:
    """What the judge says of our answer with some fields ("pytorch.version") changed."""
    advice: Any = msgspec.to_builtins(recommend(msgspec.convert(box, Machine), catalog()))
    for path, value in (bent or {}).items():
        *way, last = path.split(".")
        node = advice
        for key in way:
            node = node[key]
        node[last] = copy.deepcopy(value)
    return find_faults(published(), box, "pytorch", "studio", advice)


WINDOWS, LINUX = SYSTEMS["windows11"], SYSTEMS["ubuntu24"]


@pytest.mark.parametrize(
    ("box", "bent"),
    [
        # uv's answer for a GTX 1060 on a new driver: it installs and cannot run.
        (machine(WINDOWS, [OLD], "582.78"), {"pytorch.version": "2.15.0", "pytorch.variant": "cu130"}),
        (machine(WINDOWS, [OLD], "582.78"), {"pytorch.version": "2.13.0"}),
        (machine(WINDOWS, [OLD], None), {"driver.recommended": "617.42"}),
        (machine(WINDOWS, [OLD], None), {"driver.recommended": "582.79"}),
        (machine(WINDOWS, [OLD], "582.78"), {"driver.action": "update"}),
        # A driver that has left the card behind is neither new enough nor to be updated.
        (machine(WINDOWS, [OLD], "591.44"), {"driver.action": "keep"}),
        (machine(WINDOWS, [OLD], "591.44"), {"driver.action": "update", "driver.recommended": "617.42"}),
        (machine(LINUX, [OLD], "595.84"), {"driver.recommended": "595.84"}),
        (machine(WINDOWS, [BLACKWELL], "566.03"), {"driver.minimum": "528.33"}),
        (machine(WINDOWS, [NEW], "566.03"), {"driver.action": "keep"}),
        (machine(WINDOWS, [NEW], "566.03"), {"driver.recommended": "566.36"}),
        (machine(WINDOWS, [NEW], "566.03"), {"driver.minimum": "528.33"}),
        (machine(WINDOWS, [NEW], "566.03"), {"driver.channel": "game-ready"}),
        (machine(WINDOWS, [NEW], "620.10"), {"driver.recommended": "617.42"}),
        (machine(WINDOWS, [NEW], None), {"accelerator": "cpu", "pytorch.variant": "cpu"}),
        (machine(WINDOWS, [NEW], "617.42"), {"pytorch.index_url": "https://download.pytorch.org/whl/cu126"}),
        (machine(WINDOWS, [NEW], "617.42"), {"pytorch.torchvision": "0.28.0"}),
        (machine(WINDOWS, [NEW], "617.42"), {"pytorch.torchaudio": "2.11.0"}),
        (machine(WINDOWS, [NEW], "617.42"), {"pytorch.version": "9.9.9"}),
        (machine(WINDOWS, [NEW], "617.42"), {"pytorch.variant": "rocm7.2"}),
        (machine(WINDOWS, [NEW], "617.42"), {"python": "3.9"}),
        (machine(WINDOWS, [NEW], "617.42"), {"python": "3.11"}),
        (machine(WINDOWS, [NEW], "617.42"), {"reasons": []}),
        (machine(LINUX, [NEW], "570.26"), {"driver.recommended": "580.65.05"}),
        (machine(LINUX, [NEW], "570.26"), {"driver.recommended": None}),
        (machine(LINUX, [NEW], "580.65.06"), {"cuda_toolkit.action": "install", "cuda_toolkit.version": "13.2.2"}),
        (machine(LINUX, [NEW], "580.65.06"), {"cudnn.action": "install", "cudnn.version": "9.27.0.42"}),
        (machine(LINUX, [], None), {"accelerator": "cuda", "pytorch.variant": "cu132"}),
        (machine(LINUX, [], None), {"driver.action": "install"}),
        (machine(LINUX, cards(PublishedFacts())["7.0-datacenter"], None), {"pytorch.variant": "cu130"}),
    ],
    ids=str,
)
def test_altered_answer_is_detected(box: dict[str, Any], bent: dict[str, Any]) -> None:
    assert not verdict(box)
    assert verdict(box, bent)


def test_every_reason_needs_a_source() -> None:
    box = machine(WINDOWS, [NEW], "617.42")
    reasons: Any = msgspec.to_builtins(recommend(msgspec.convert(box, Machine), catalog()).reasons)
    bare = [{**reason, "source": None} if reason["about"] == "python" else reason for reason in reasons]
    assert verdict(box, {"reasons": bare}) == ["python: no source"]
