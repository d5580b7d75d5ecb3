"""uv's preview feature for wheel variants, asked itself: it selects what the page on our advice and uv's says."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from .uv_variants import RECORDED, Answer, ask_uv, our_advice

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uv's answers are recorded for Linux")
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in RECORDED["cases"]}
AGREED = next(case for case in RECORDED["cases"] if case["why"] is None)


@pytest.mark.parametrize("name", CASES)
def test_uv_selects_what_is_recorded(name: str) -> None:
    assert ask_uv(CASES[name], preview=True) == Answer(CASES[name]["uv"], "")


@pytest.mark.parametrize("name", CASES)
def test_every_difference_is_explained(name: str) -> None:
    case = CASES[name]
    is_same = our_advice(case).partition(",")[0] == case["uv"]
    assert is_same == (case["why"] is None)
    assert case["why"] is None or case["why"] in RECORDED["why"]


def test_without_preview_uv_takes_the_plain_wheel() -> None:
    assert ask_uv(AGREED, preview=False) == Answer("plain", "")
    assert ask_uv(AGREED, preview=False, lock=True) == Answer("plain", "")
    assert "only unsupported wheel variants" in ask_uv(AGREED, preview=False, plain=False).error


def test_uv_does_not_lock_a_wheel_variant() -> None:
    assert "which pylock.toml export does not support" in ask_uv(AGREED, preview=True, lock=True).error


def test_uv_refuses_the_metadata_as_it_was_published() -> None:
    assert "Unknown variant metadata schema" in ask_uv(AGREED, preview=True, published=True).error
