"""What stands in large above a recommendation: it is on its way, why there is none, what was let go, all is there."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.errors import AppError
from ...texts import Texts
from ..components import Hero
from . import words as said
from .along import fallen_words, let_go_words
from .road import Road

translate = QCoreApplication.translate


def show_verdict(
    hero: Hero, road: Road, texts: Texts, *, known: bool, obstacle: AppError | None, error: AppError | None
) -> None:
    """Words and way out of now; hidden where the cards say all. `known` tells that an earlier recommendation is still
    to be read.
    """
    facts, visible = road.flow.facts, True
    back = translate("RecommendationPage", "Take this change back")
    if road.reckoning and not known:
        hero.set("neutral", translate("RecommendationPage", "Working out what suits this computer"), icon="search")
    elif road.reckoning:
        visible = False
    elif obstacle is not None and facts.plan is not None:
        words = translate("RecommendationPage", "This does not work out")
        again = obstacle.data.get("path") == str(road.app.data.root)
        action = translate("RecommendationPage", "Choose another folder")
        action = translate("RecommendationPage", "Try again") if again else action
        hero.set("error", words, said.error(texts, obstacle), action)
    elif obstacle is not None:
        words = translate("RecommendationPage", "This has to be set up by hand")
        action = translate("RecommendationPage", "Set up PyTorch instead") if facts.goal != "pytorch" else ""
        hero.set("warn", words, said.error(texts, obstacle), action)
    elif error is not None:
        action = translate("RecommendationPage", "Try again")
        if facts.choice is not None:
            action = translate("RecommendationPage", "Back to the recommendation")
        words = translate("RecommendationPage", "This does not work out")
        hero.set("error", words, said.error(texts, error), back if facts.turn is not None else action)
    elif facts.fell:
        hero.set("neutral", *fallen_words(facts.fell), back, icon="info")
    elif facts.turn is not None and facts.turn.let_go and facts.turn.choice is not None:
        hero.set("neutral", *let_go_words(facts.turn.choice), back, icon="undo")
    elif facts.settled:
        words = translate("RecommendationPage", "You have all you need")
        hero.set("ok", words, facts.plan.env if facts.plan is not None else "")
    else:
        visible = False
    hero.setVisible(visible)
