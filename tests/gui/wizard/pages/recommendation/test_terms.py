"""Terms that a beginner may not know are explained where they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_assistant.gui.wizard.pages.recommendation.part_summary import part_summaries
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import PlanRow
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import explain_terms, load_texts
from tests.fakes.examples import make_plan, rtx4060, rtx4060_recommendation

pytestmark = pytest.mark.gui
LANGUAGES: tuple[Any, ...] = ("en", "zh_CN")


def test_terms_are_explained_in_order_of_appearance() -> None:
    texts = Texts("en")
    terms = explain_terms(texts, "PyTorch's wheels come from its own index", "for compute capability 8.9")
    assert [sentence.split(":")[0] for sentence in terms] == ["wheel", "index", "compute capability"]
    assert explain_terms(texts, "Sets CUDA_PATH; indexes and cartwheels") == (
        texts.translate("term.explained", {"name": "index", "meaning": texts.translate("term.index.meaning")}),
    )
    assert explain_terms(texts, "Nothing is changed.") == ()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_term_has_meaning_and_use(code) -> None:
    texts = Texts(code)
    names = {key: match[1] for key in load_texts() if (match := re.match(r"term\.(.+)\.name", key))}
    every_text = "\n".join(
        text[code] for key, text in load_texts().items() if not key.startswith(("term.", "glossary."))
    )
    for key, term in names.items():
        assert texts.has_text(f"term.{term}.meaning")
        assert len(explain_terms(texts, texts.translate(key))) == 1
        assert texts.translate(key) in explain_terms(texts, every_text)[-1] or any(
            sentence.startswith(texts.translate(key)) for sentence in explain_terms(texts, every_text)
        ), f"{key} is used nowhere"


@pytest.mark.parametrize("code", LANGUAGES)
def test_reasons_explain_terms(language, code) -> None:
    texts = Texts(code)
    summaries = part_summaries(rtx4060(), rtx4060_recommendation(), texts, already_installed=False)
    whole = "\n".join(claim.text for part in summaries for claim in part.reasons)
    terms = {term for part in summaries for term in part.terms}
    # A card's own second line explains its title.
    titles = tuple(f"{part.title}{colon}" for part in summaries for colon in (":", "："))
    assert terms
    for sentence in explain_terms(texts, whole):
        assert sentence in terms or sentence.startswith(titles)


def test_step_explains_terms(qapp, qtbot, language, seen) -> None:
    texts = Texts("en")
    step = next(
        s for s in texts.localize_plan(make_plan(rtx4060_recommendation(), "D:\\env")).steps if s.kind == "resolve"
    )
    row = PlanRow(step, texts, "windows")
    qtbot.addWidget(row)
    row.show()
    row.toggle_details()
    assert "checksum: a number" in seen(row)
