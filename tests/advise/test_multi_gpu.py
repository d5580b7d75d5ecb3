"""Three NVIDIA cards: what serves two of them may leave out the third."""

from __future__ import annotations

import json

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.json import encode

from .build import RTX_5090, catalog, check, codes, machine, nvidia
from .oracle.faults import find_faults
from .oracle.published import PublishedFacts

GTX_1060, RTX_2060 = nvidia("10de:1c03"), nvidia("10de:1f08")


@pytest.mark.parametrize(
    ("driver", "action", "recommended"), [(None, "install", "581.57"), ("581.57", "keep", "581.57")]
)
def test_oldest_of_three_gpus_keeps_its_driver(driver: str | None, action: str, recommended: str) -> None:
    box = machine("windows", GTX_1060, RTX_2060, nvidia(RTX_5090), driver=driver)
    advice = check(recommend(box, catalog()))
    assert (advice.driver.action, advice.driver.recommended) == (action, recommended)
    assert "driver-last-branch" in codes(advice.reasons)
    assert "driver-drops-other" not in codes(advice.warnings)
    assert "newer-driver-own" not in codes(advice.alternatives)
    plain = json.loads(encode(box))
    assert not list(find_faults(PublishedFacts(), plain, "pytorch", "studio", msgspec.to_builtins(advice)))
