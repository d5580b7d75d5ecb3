"""Recommendation: what should I install, and why?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent

from ...core.errors import AppError, SetupNotSupported
from ...core.machine import Machine
from ...core.plan import Plan, needs_manual_driver
from ...core.recommendation import Alternative, Recommendation
from ..bundle.source_card import BundleControls
from ..components import Button, Hero
from ..components.picker import Dropdown
from . import words as said
from .along import side_effects_text
from .base import WizardPage, set_tab_order
from .cards import PART_IDS, open_alternatives, part_summaries
from .choosers import warnings_for_card, part_options_for_card
from .coverage import manual_driver, uncovered_parts
from .driver_reach import max_cuda_of_driver
from .folder_card import InstallFolderCard
from .headline import recommendation_heading
from .held import ViewStateKeeper
from .offers import GOAL_OF_ALTERNATIVE, NoticesCard
from .option_notes import OptionNotes
from .part_card import ColumnHeadings, PartCard
from .plan_list import PlanList
from .price_card import CostCard
from .road import WizardController
from .verdict_hero import show_recommendation_verdict
from .wishes import OptionsBar


class RecommendationPage(WizardPage):
    """A card for each part, what else would do, the price, the folder, the steps. `offline_wanted` asks for a folder
    for a computer without internet.
    """

    offline_requested = Signal()

    def __init__(self, controller: WizardController, cards: dict[str, PartCard] | None = None) -> None:
        # Cards that were made before their page (`ahead.py`).
        self.part_cards = cards if cards is not None else {}
        super().__init__(controller)

    def build(self) -> None:
        """The parts."""
        self.options_bar = OptionsBar(self.controller)
        column = self.page.column
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._resolve_problem)
        self.column_headings = ColumnHeadings()
        self.part_cards = {name: self.part_cards.get(name) or PartCard(name) for name in PART_IDS}
        self.warnings_card, self.alternatives_card = NoticesCard(), NoticesCard()
        self.cost_card = CostCard()
        self.folder_card, self.bundle_controls = InstallFolderCard(), BundleControls(self)
        self.bundle_controls.create_button.clicked.connect(self.offline_requested)
        self.bundle_controls.source_card.use_internet_button.clicked.connect(lambda: self.controller.use_bundle(None))
        self.plan_list = PlanList(self.controller)
        self.plan_list.hide()
        lower_widgets = (self.warnings_card, self.cost_card, self.plan_list, self.folder_card, self.alternatives_card)
        for widget in (self.options_bar, self.hero, self.column_headings, *self.part_cards.values(), *lower_widgets):
            column.addWidget(widget)
        column.insertWidget(column.indexOf(self.column_headings), self.bundle_controls.source_card)
        column.addWidget(self.bundle_controls.create_button, 0, Qt.AlignmentFlag.AlignLeft)
        # All that is decided here stays in sight on a small laptop, with a system's tall font, too.
        column.setSpacing(8)
        column.addStretch(1)
        for card in self.part_cards.values():
            card.alternative_chosen.connect(self.controller.accept_alternative)
            card.version_chosen.connect(self.controller.choose_version)
            card.only_version_chosen.connect(self.controller.choose_only_version)
            card.reasons.toggled.connect(self._update_reasons)
        self.alternatives_card.alternative_chosen.connect(self._accept_alternative)
        self.warnings_card.undo_requested.connect(self.controller.undo)
        self.cost_card.steps_button.clicked.connect(self._toggle_plan)
        self.folder_card.folder_chosen.connect(self.use_folder)
        self.back_button = self.add_back_button()
        self.footer.add_button(self.primary_button)
        self._has_recommendation = self._plan_expanded = self._focus_moved = False

    def draw(self) -> None:
        """The recommendation of now."""
        view_state = ViewStateKeeper(self.page)
        controller, state = self.controller, self.controller.flow.state
        error = controller.errors.get("reckon") or controller.errors.get("prove")
        machine, recommendation, plan = state.machine, state.recommendation, state.plan
        self.back_button.setText(self.tr("Back"))
        self.column_headings.set_texts(self.tr("Now"), self.tr("After"))
        self.options_bar.draw()
        self.options_bar.setVisible(not self.bundle_controls.draw(state))
        # What was worked out last stays to be read until the next is there.
        if not (controller.is_recommending and recommendation is None and self._has_recommendation):
            self._has_recommendation = machine is not None and recommendation is not None
            for widget in (self.cost_card, self.folder_card):
                widget.setVisible(plan is not None)
            if not self._has_recommendation:
                self._focus_moved = False
                for each in (*self.part_cards.values(), self.warnings_card, self.alternatives_card):
                    each.hide()
            self.plan_list.setVisible(plan is not None and self._plan_expanded)
            self.page.set_title(*recommendation_heading(machine, recommendation))
            if machine is not None and recommendation is not None:
                self._show_recommendation(machine, recommendation)
                self._update_cost(machine, plan)
        show_recommendation_verdict(self.hero, controller, self.texts, has_recommendation=self._has_recommendation, blocking_error=self.blocking_error, error=error)
        self._update_footer()
        self._update_widths()
        option_buttons = (self.options_bar.recommended_button, self.options_bar.customize_button)
        undo_buttons = (self.warnings_card.undo_button,) if self.warnings_card.undo_button is not None else ()
        view_state.restore((self.hero.button, *undo_buttons, *self._pickers(), *option_buttons, self.primary_button, self.back_button))

    def _show_recommendation(self, machine: Machine, recommendation: Recommendation) -> None:
        texts, state, undo_state = self.texts, self.controller.flow.state, self.controller.flow.state.undo_state
        localized = texts.localize_recommendation(recommendation)
        options = state.options if state.customizing else None
        side_effects = side_effects_text(undo_state, recommendation, state.option_notes)
        visible_ids = []
        max_cuda = max_cuda_of_driver(self.controller.app.catalog, recommendation.driver)
        for part in part_summaries(machine, recommendation, texts, already_installed=state.already_installed, plan=state.plan, max_cuda=max_cuda):
            card, alternative = self.part_cards[part.id], part.alternative
            button_text = self.tr("Use that instead") if alternative is not None else ""
            card.set_part(part, button_text, said.alternative_texts(texts, alternative)[0] if alternative is not None else "")
            card.set_column_labels(self.column_headings.installed_label.text(), self.column_headings.planned_label.text())
            part_options = part_options_for_card(part.id, options, card.version_pickers, recommendation)
            changed_here = undo_state is not None and any(each.name == undo_state.part for each in part_options)
            warnings = warnings_for_card(part.id, localized.warnings)
            card.set_version_options(part_options, state.option_notes or OptionNotes(), texts, side_effects if changed_here else "", warnings)
            visible_ids.append(part.id)
        # What stays is never hidden in between: the keyboard would leave it.
        for name, card in self.part_cards.items():
            card.setVisible(name in visible_ids)
        self._update_reasons()
        uncovered = self.tr(", ").join(uncovered_parts(recommendation, state.plan))
        alternative_taken = undo_state is not None and undo_state.part is None and state.choice is not None
        driver = manual_driver(localized, state.plan)
        # What a card says beside the pick that brings it is not said again below.
        shown_codes = {code for name, card in self.part_cards.items() if name in visible_ids for code in card.warning_codes}
        open_warnings = [warning for warning in localized.warnings if f"warning.{warning.code}.text" not in shown_codes]
        driver_required = state.plan is not None and needs_manual_driver(state.plan)
        self.warnings_card.set(open_warnings, (), driver, uncovered, side_effects if alternative_taken else "", driver_required=driver_required)
        self.alternatives_card.set((), open_alternatives(localized, state.plan), None, "")
        for each in (self.warnings_card, self.alternatives_card):
            each.setVisible(each.has_notices)

    def _update_reasons(self) -> None:
        """Each word is explained once: in the first reason that stands open."""
        explained_terms: tuple[str, ...] = ()
        for card in self.part_cards.values():
            explained_terms = card.show_reasons(explained_terms)
        self._update_tab_order()

    def _update_cost(self, machine: Machine, plan: Plan | None) -> None:
        """What the plan costs, where there is one."""
        texts = self.texts
        if plan is not None:
            recommendation = self.controller.flow.state.recommendation
            has_manual_driver = recommendation is not None and manual_driver(recommendation, plan) is not None
            self.cost_card.set_cost(plan, machine, texts, manual_driver=has_manual_driver)
            template = self.tr("Hide the steps") if self._plan_expanded else self.tr("Show all {n} steps")
            self.cost_card.steps_button.setText(template.format(n=len(plan.steps)))
            self.cost_card.steps_button.set_icon(None, "up" if self._plan_expanded else "down")
            other_system = plan.simulated and machine.os.system != self.controller.app.system.name
            folder_text = self.tr("Installed into (named as on this computer)") if other_system else self.tr("Installed into")
            self.folder_card.set(folder_text, plan.env, self.tr("Change"))
            if self._plan_expanded:
                self.plan_list.draw()
        self._update_tab_order()

    def _update_tab_order(self) -> None:
        """The order of Tab, which is that of reading."""
        option_controls = (self.options_bar.goal_picker, self.options_bar.channel_picker, self.options_bar.environment_picker, self.options_bar.customize_button, self.options_bar.recommended_button)
        card_controls = [control for card in self.part_cards.values() for control in card.controls]
        lower_controls = (self.cost_card.steps_button, *self.plan_list.controls, self.folder_card.change_button, *self.alternatives_card.controls)
        last_controls = (*lower_controls, self.bundle_controls.create_button, self.back_button)
        # From the primary, where the keyboard begins, on to what is on the page; the foot and the rail come last.
        set_tab_order(self.primary_button, *option_controls, self.hero.button, self.bundle_controls.source_card.use_internet_button, *card_controls, *self.warnings_card.controls, *last_controls)

    def _pickers(self) -> list[Dropdown]:
        """The drop-downs, that of the part changed last before all others."""
        undo_state = self.controller.flow.state.undo_state
        pickers = {name: part_picker for card in self.part_cards.values() if card.version_pickers for name, part_picker in card.version_pickers.pickers.items()}
        return [picker for _, picker in sorted(pickers.items(), key=lambda each: undo_state is None or each[0] != undo_state.part)]

    def preload_steps(self) -> list[Callable[[], object]]:
        """The plan's steps."""
        return self.plan_list.preload_steps() if not self._plan_expanded else []

    @property
    def blocking_error(self) -> AppError | None:
        """Why what is wanted cannot be carried out: its goal is still to come, or its folder will not do."""
        error = self.controller.errors.get("reckon")
        if isinstance(error, SetupNotSupported):
            return error
        return self.controller.flow.state.blocking_error

    @property
    def default_button(self) -> Button:
        """The primary; where there is nothing to install, the way out of that."""
        blocked = self.hero.kind == "warn" or (self.hero.kind == "error" and not self._is_installable)
        return self.hero.button if self.hero.isVisible() and blocked else self.primary_button

    @property
    def _is_installable(self) -> bool:
        return self.controller.flow.state.plan is not None and self.blocking_error is None

    def _update_footer(self) -> None:
        state = self.controller.flow.state
        self.footer.set_hint(self.tr("Nothing is changed before you press Install."), "ok")
        if state.already_installed:
            self.footer.set_hint("")
        self.primary_button.setText(self.tr("Check it") if state.already_installed else self.tr("Install"))
        self.primary_button.set_icon("check" if state.already_installed else "download")
        # While another answer is on its way, the keyboard stays where it is.
        waiting = self.controller.is_recommending and self._has_recommendation and self.primary_button.isEnabled()
        ready = waiting or (self._is_installable and not self.controller.is_recommending)
        was_enabled = self.primary_button.isEnabled()
        self.primary_button.setEnabled(ready)
        self.primary_button.set_busy(self.controller.is_verifying or waiting)
        self.highlight_default_button(self.hero.button)
        if ready and not was_enabled and not (self._focus_moved and self._has_option_focus):
            self._focus_moved = True
            self.focus_primary()

    @property
    def _has_option_focus(self) -> bool:
        """Whether the keyboard is on what the user chooses with."""
        focus = self.focusWidget()
        containers = (self.options_bar, self.hero, self.warnings_card, self.alternatives_card, *self.part_cards.values())
        return focus is not None and any(container.isAncestorOf(focus) for container in containers)

    def run_primary_action(self) -> None:
        """Install, or prove what is there."""
        self.controller.errors.pop("prove", None)
        self.controller.install()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the heads over their columns."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._update_widths)

    def refresh(self) -> None:
        """Larger text needs other columns."""
        super().refresh()
        QTimer.singleShot(0, self, self._update_widths)

    def _update_widths(self) -> None:
        margins = self.page.content.layout().contentsMargins()  # type: ignore[union-attr]
        available_width = self.page.viewport().width() - margins.left() - margins.right()
        self.options_bar.set_available_width(available_width)
        for card in self.part_cards.values():
            card.set_available_width(available_width)
        for each in (self.warnings_card, self.alternatives_card):
            each.set_available_width(available_width)
        self.cost_card.set_available_width(available_width)
        self.folder_card.set_available_width(available_width)
        self.bundle_controls.source_card.set_available_width(available_width)
        visible_cards = (each for each in self.part_cards.values() if not each.isHidden())
        self.column_headings.align_to(next(visible_cards, None), available_width)

    def _accept_alternative(self, alternative: Alternative) -> None:
        goal = GOAL_OF_ALTERNATIVE.get(alternative.code)
        if goal is not None:
            self.controller.change_options(goal=goal)
        else:
            self.controller.accept_alternative(alternative)

    def _resolve_problem(self) -> None:
        state, blocking_error = self.controller.flow.state, self.blocking_error
        if blocking_error is not None and state.plan is not None:
            # What is wrong with the data folder is mended outside of us.
            if blocking_error.data.get("path") == str(self.controller.app.data.root):
                self.controller.recommend()
            else:
                self.folder_card.choose_folder()
        elif blocking_error is not None:
            self.controller.change_options(goal="pytorch")
        elif state.undo_state is not None:
            self.controller.undo()
        elif state.choice is not None:
            self.controller.reset_choices()
        else:
            self.controller.recommend()

    def _toggle_plan(self) -> None:
        self._plan_expanded = not self._plan_expanded
        self.draw()
        if self._plan_expanded:
            QTimer.singleShot(0, self, self._scroll_to_plan)

    def _scroll_to_plan(self) -> None:
        """Bring the steps into view, below the button that closes them."""
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.verticalScrollBar().setValue(self.cost_card.mapTo(self.page.content, QPoint()).y())

    def use_folder(self, folder: str) -> None:
        """Install below a folder: the environment gets one of its own in it."""
        goal = self.controller.flow.state.goal
        path = Path(folder)
        self.controller.set_folder(str(path if path.name == goal else path / goal))
