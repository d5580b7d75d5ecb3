"""Cards that nobody knows, and cards that are ahead of or behind all software: what is said of them."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.recommendation import Recommendation

from .build import catalog, check, codes, machine, nvidia, reason


def recommend_for(*, driver: str | None = "617.42", **fields: str) -> Recommendation:
    return check(recommend(machine("windows", nvidia(**fields), driver=driver), catalog()))


def test_gpu_newer_than_all_builds_is_not_called_old() -> None:
    new = recommend_for(name="NVIDIA GeForce RTX 7090", compute_capability="13.0")
    assert reason(new, "accelerator").code == "cpu-card-new"
    assert codes(new.warnings)[:1] == ["gpu-too-new"]


@pytest.mark.parametrize("capability", ["2.0", "3.0"])
def test_gpu_older_than_all_builds(capability: str) -> None:
    old = recommend_for(name="NVIDIA GeForce GTX 580", compute_capability=capability)
    assert reason(old, "accelerator").code == "cpu-card"
    assert "gpu-too-old" in codes(old.warnings)


@pytest.mark.parametrize("name", ["NVIDIA GeForce RTX 6090", "NVIDIA GeForce GT 730", "NVIDIA Graphics Device"])
@pytest.mark.parametrize("driver", [None, "581.57"])
def test_unknown_chip_gets_no_promise(name: str, driver: str | None) -> None:
    unknown = recommend_for(name=name, driver=driver)
    assert reason(unknown, "accelerator").code == "cuda-unknown"
    assert {"gpu-unknown", "gpu-unknown-to-driver"} & set(codes(unknown.warnings))


def test_known_name_identifies_the_gpu() -> None:
    known = recommend_for(name="NVIDIA GeForce GTX 1060 with Max-Q Design", driver=None)
    assert known.pytorch is not None
    assert known.pytorch.variant == "cu126"
    assert not [code for code in codes(known.warnings) if code.startswith("gpu-unknown")]
