"""What stands in large above a recommendation: it is on its way, why there is none, what was let go, all is there."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.errors import AppError
from ...texts import Texts
from ..components import Hero
from . import words as said
from .along import dropped_choices_text, reset_choices_text
from .road import WizardController

translate = QCoreApplication.translate


def show_recommendation_verdict(
    hero: Hero, controller: WizardController, texts: Texts, *, has_recommendation: bool, blocking_error: AppError | None, error: AppError | None
) -> None:
    """Words and way out of now; hidden where the cards say all. `known` tells that an earlier recommendation is still
    to be read.
    """
    state, visible = controller.flow.state, True
    undo_text = translate("RecommendationPage", "Take this change back")
    if controller.is_recommending and not has_recommendation:
        hero.set("neutral", translate("RecommendationPage", "Working out what suits this computer"), icon="search")
    elif controller.is_recommending:
        visible = False
    elif blocking_error is not None and state.plan is not None:
        title = translate("RecommendationPage", "This does not work out")
        can_retry = blocking_error.data.get("path") == str(controller.app.data.root)
        action = translate("RecommendationPage", "Choose another folder")
        action = translate("RecommendationPage", "Try again") if can_retry else action
        hero.set("error", title, said.error_text(texts, blocking_error), action)
    elif blocking_error is not None:
        title = translate("RecommendationPage", "This has to be set up by hand")
        action = translate("RecommendationPage", "Set up PyTorch instead") if state.goal != "pytorch" else ""
        hero.set("warn", title, said.error_text(texts, blocking_error), action)
    elif error is not None:
        action = translate("RecommendationPage", "Try again")
        if state.choice is not None:
            action = translate("RecommendationPage", "Back to the recommendation")
        title = translate("RecommendationPage", "This does not work out")
        hero.set("error", title, said.error_text(texts, error), undo_text if state.undo_state is not None else action)
    elif state.dropped_choices:
        hero.set("neutral", *dropped_choices_text(state.dropped_choices), undo_text, icon="info")
    elif state.undo_state is not None and state.undo_state.is_reset and state.undo_state.choice is not None:
        hero.set("neutral", *reset_choices_text(state.undo_state.choice), undo_text, icon="undo")
    elif state.already_installed:
        title = translate("RecommendationPage", "You have all you need")
        hero.set("ok", title, state.plan.env if state.plan is not None else "")
    else:
        visible = False
    hero.setVisible(visible)
