"""Wheel variants in the user's wheelhouse: said, and never taken."""

from __future__ import annotations

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.recommendation import LocalWheel
from gpu_assistant.texts.localized import Texts

from .build import catalog, codes, machine, nvidia

LABELLED = LocalWheel(
    project="torch",
    version="2.15.0",
    variant=None,
    python="3.13",
    path="C:\\wheels\\torch-2.15.0-cp313-cp313-win_amd64-cu132.whl",
    bytes=1,
    label="cu132",
)


def test_wheel_variant_of_wheelhouse_is_said() -> None:
    card = nvidia("10de:2684", name="NVIDIA GeForce RTX 4090")
    found = recommend(machine("windows", card), catalog(), wheels=(LABELLED,))
    assert "wheelhouse-torch" not in codes(found.alternatives)
    told = next(warning for warning in found.warnings if warning.code == "wheelhouse-variants")
    assert told.data == {"count": 1, "name": "torch-2.15.0-cp313-cp313-win_amd64-cu132.whl"}
    for language in ("en", "zh_CN"):
        text = next(w.text for w in Texts(language).localize_recommendation(found).warnings if w.code == told.code)
        assert "cu132.whl" in (text or "")


def test_wheel_variant_for_another_system_is_not_said() -> None:
    assert "wheelhouse-variants" not in codes(recommend(machine("linux"), catalog(), wheels=(LABELLED,)).warnings)
