"""Three NVIDIA cards: what serves two of them may leave out the third."""

from __future__ import annotations

import json

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.json import encode

from .build import RTX_5090, catalog, check, codes, machine, nvidia
from .oracle.judge import judge
from .oracle.world import World

GTX_1060, RTX_2060 = nvidia("10de:1c03"), nvidia("10de:1f08")


@pytest.mark.parametrize(
    ("driver", "action", "recommended"), [(None, "install", "581.57"), ("581.57", "keep", "581.57")]
)
def test_oldest_of_three_gpus_keeps_its_driver(driver: str | None, action: str, recommended: str) -> None:
    box = machine("windows", GTX_1060, RTX_2060, nvidia(RTX_5090), driver=driver)
    found = check(recommend(box, catalog()))
    assert (found.driver.action, found.driver.recommended) == (action, recommended)
    assert "driver-last-branch" in codes(found.reasons)
    assert "driver-drops-other" not in codes(found.warnings)
    assert "newer-driver-own" not in codes(found.alternatives)
    plain = json.loads(encode(box))
    assert not list(judge(World(), plain, "pytorch", "studio", msgspec.to_builtins(found)))
