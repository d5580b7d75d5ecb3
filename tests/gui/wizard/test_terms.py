"""Terms that a beginner may not know are explained where they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_assistant.gui.wizard.cards import parts
from gpu_assistant.gui.wizard.plan_row import PlanRow
from gpu_assistant.texts import Texts
from gpu_assistant.texts.sentences import table
from gpu_assistant.texts.terms import explained
from tests.fakes.examples import make_plan, rtx4060, rtx4060_recommendation

pytestmark = pytest.mark.gui
LANGUAGES: tuple[Any, ...] = ("en", "zh_CN")


def test_terms_are_explained_in_the_order_in_which_they_stand() -> None:
    texts = Texts("en")
    found = explained(texts, "PyTorch's wheels come from its own index", "for compute capability 8.9")
    assert [sentence.split(":")[0] for sentence in found] == ["wheel", "index", "compute capability"]
    assert explained(texts, "Sets CUDA_PATH; indexes and cartwheels") == (
        texts.say("term.explained", {"name": "index", "meaning": texts.say("term.index.meaning")}),
    )
    assert explained(texts, "Nothing is changed.") == ()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_term_has_a_meaning_and_stands_in_some_text(code) -> None:
    texts = Texts(code)
    names = {key: match[1] for key in table() if (match := re.match(r"term\.(.+)\.name", key))}
    said = "\n".join(text[code] for key, text in table().items() if not key.startswith("term."))
    for key, term in names.items():
        assert texts.has(f"term.{term}.meaning")
        assert len(explained(texts, texts.say(key))) == 1
        assert texts.say(key) in explained(texts, said)[-1] or any(
            sentence.startswith(texts.say(key)) for sentence in explained(texts, said)
        ), f"{key} is used nowhere"


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_why_explains_its_terms(language, code) -> None:
    texts = Texts(code)
    found = parts(rtx4060(), rtx4060_recommendation(), texts, settled=False)
    whole = "\n".join(claim.text for part in found for claim in part.why)
    told = {term for part in found for term in part.terms}
    # A card's own second line explains its title.
    titles = tuple(f"{part.title}{colon}" for part in found for colon in (":", "："))
    assert told
    for sentence in explained(texts, whole):
        assert sentence in told or sentence.startswith(titles)


def test_a_step_explains_its_terms(qapp, qtbot, language, seen) -> None:
    texts = Texts("en")
    step = next(s for s in texts.plan(make_plan(rtx4060_recommendation(), "D:\\env")).steps if s.kind == "resolve")
    row = PlanRow(step, texts, "windows")
    qtbot.addWidget(row)
    row.show()
    row.unfold()
    assert "checksum: a number" in seen(row)
