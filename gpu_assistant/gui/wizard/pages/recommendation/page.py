"""What stands in large above a recommendation: it is on its way, why there is none, what was let go, all is there.

The folder that an environment goes to.

On the recommendation's page: the folder that all comes from, where there is one, else the way to make one.

Recommendation: what should I install, and why?
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout

from .....core.errors import AppError, SetupNotSupported
from .....core.machine import Machine
from .....core.plan import Plan, needs_manual_driver
from .....core.recommendation import Alternative, Recommendation
from .....texts.localized import Texts
from .... import theme
from ....widgets.buttons import Button
from ....widgets.cards import Card, Hero
from ....widgets.dialogs import folder_dialog
from ....widgets.icons import IconWidget
from ....widgets.inputs import Dropdown
from ....widgets.text import label
from ... import messages
from ...controller import WizardController
from ...page import ViewStateKeeper, WizardPage, set_tab_order
from ...state import OptionNotes, WizardState
from ..machine_summary import recommendation_heading
from .cost_card import CostCard
from .notices import GOAL_OF_ALTERNATIVE, NoticesCard
from .options_bar import OptionsBar
from .part_card import ColumnHeadings, PartCard
from .part_summary import (
    PART_IDS,
    manual_driver,
    max_cuda_of_driver,
    open_alternatives,
    part_summaries,
    uncovered_parts,
)
from .plan_view import PlanList
from .version_pickers import (
    dropped_choices_text,
    part_options_for_card,
    reset_choices_text,
    side_effects_text,
    warnings_for_card,
)

translate = QCoreApplication.translate


def show_recommendation_verdict(
    hero: Hero,
    controller: WizardController,
    texts: Texts,
    *,
    has_recommendation: bool,
    blocking_error: AppError | None,
    error: AppError | None,
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
        hero.set("error", title, messages.error_text(texts, blocking_error), action)
    elif blocking_error is not None:
        title = translate("RecommendationPage", "This has to be set up by hand")
        action = translate("RecommendationPage", "Set up PyTorch instead") if state.goal != "pytorch" else ""
        hero.set("warn", title, messages.error_text(texts, blocking_error), action)
    elif error is not None:
        action = translate("RecommendationPage", "Try again")
        if state.choice is not None:
            action = translate("RecommendationPage", "Back to the recommendation")
        title = translate("RecommendationPage", "This does not work out")
        hero.set(
            "error", title, messages.error_text(texts, error), undo_text if state.undo_state is not None else action
        )
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


FOLDER_ROW_MIN_WIDTH = (
    600  # below this width, times the text scale, the path and the button stand on lines of their own
)


class InstallFolderCard(Card):
    """Where it goes, and a button to put it elsewhere; `chosen` brings the folder that was picked."""

    folder_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 4, 10, 4)
        self._layout, name_row = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        self._layout.setSpacing(12)
        name_row.setSpacing(12)
        self._name_label, self._path_label = label("small"), label("mono")
        self.change_button = Button(kind="ghost", icon_name="folder")
        self.change_button.clicked.connect(self.choose_folder)
        name_row.addWidget(IconWidget("folder", "soft", 20))
        name_row.addWidget(self._name_label, 1)
        self._layout.addLayout(name_row)
        self._layout.addWidget(self._path_label, 1)
        self._layout.addWidget(self.change_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._layout)

    def set_available_width(self, available_width: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        in_row = available_width >= theme.px(FOLDER_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)
        self._layout.setSpacing(12 if in_row else 4)

    def set(self, name: str, path: str, change_text: str) -> None:
        """Its words and the path."""
        self._name_label.setText(name)
        self._path_label.setText(path)
        self.change_button.setText(change_text)
        self.change_button.setAccessibleName(f"{change_text}: {path}")
        self.setAccessibleName(f"{name}: {path}")

    def choose_folder(self) -> None:
        """Ask where to install."""
        dialog = folder_dialog(self, self.tr("Where shall it be installed?"))
        dialog.fileSelected.connect(self.folder_chosen)
        dialog.open()


SOURCE_ROW_MIN_WIDTH = 700


class BundleSourceCard(Card):
    """`away` leads back to the internet."""

    def __init__(self) -> None:
        super().__init__(padding=14)
        self._source_label = label("body")
        self.use_internet_button = Button(kind="ghost")
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        source_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        source_layout.setSpacing(14)
        source_layout.addWidget(IconWidget("folder", "accent", 20), 0, Qt.AlignmentFlag.AlignVCenter)
        source_layout.addWidget(self._source_label, 1)
        self._layout.addLayout(source_layout, 1)
        self._layout.addWidget(self.use_internet_button, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._layout)

    def set_bundle(self, folder: str) -> None:
        """The folder of now."""
        self._source_label.setText(
            self.tr("Everything comes from {folder}; no internet is used.").format(folder=folder)
        )
        self.use_internet_button.setText(self.tr("Use the internet instead"))
        self.setAccessibleName(self._source_label.text())

    def set_available_width(self, available_width: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        in_row = available_width >= theme.px(SOURCE_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)


class BundleControls(QObject):
    """Both: `card` above the parts, the button `make` below all."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.source_card, self.create_button = BundleSourceCard(), Button(kind="ghost", icon_name="net")

    def draw(self, state: WizardState) -> bool:
        """How it stands; says whether everything comes from a folder."""
        uses_bundle = state.bundle is not None
        self.source_card.setVisible(uses_bundle)
        if state.bundle is not None:
            self.source_card.set_bundle(state.bundle)
        self.create_button.setText(self.tr("For a computer without internet…"))
        self.create_button.setVisible(not uses_bundle and state.recommendation is not None)
        return uses_bundle


class RecommendationPage(WizardPage):
    """A card for each part, what else would do, the price, the folder, the steps. `offline_wanted` asks for a folder
    for a computer without internet.
    """

    offline_requested = Signal()

    def build(self) -> None:
        """The parts."""
        self.options_bar = OptionsBar(self.controller)
        column = self.page.column
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._resolve_problem)
        self.column_headings = ColumnHeadings()
        self.part_cards = {name: PartCard(name) for name in PART_IDS}
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
            card.version_chosen.connect(self._choose_version)
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
        error = controller.errors.get("recommend") or controller.errors.get("verify")
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
        show_recommendation_verdict(
            self.hero,
            controller,
            self.texts,
            has_recommendation=self._has_recommendation,
            blocking_error=self.blocking_error,
            error=error,
        )
        self._update_footer()
        self._update_widths()
        option_buttons = (self.options_bar.recommended_button, self.options_bar.customize_button)
        undo_buttons = (self.warnings_card.undo_button,) if self.warnings_card.undo_button is not None else ()
        view_state.restore(
            (self.hero.button, *undo_buttons, *self._pickers(), *option_buttons, self.primary_button, self.back_button)
        )

    def _show_recommendation(self, machine: Machine, recommendation: Recommendation) -> None:
        texts, state, undo_state = self.texts, self.controller.flow.state, self.controller.flow.state.undo_state
        localized = texts.localize_recommendation(recommendation)
        options = state.options if state.customizing else None
        side_effects = side_effects_text(undo_state, recommendation, state.option_notes)
        visible_ids = []
        max_cuda = max_cuda_of_driver(self.controller.app.catalog, recommendation.driver)
        for part in part_summaries(
            machine,
            recommendation,
            texts,
            already_installed=state.already_installed,
            plan=state.plan,
            max_cuda=max_cuda,
        ):
            card, alternative = self.part_cards[part.id], part.alternative
            button_text = self.tr("Use that instead") if alternative is not None else ""
            card.set_part(
                part, button_text, messages.alternative_texts(texts, alternative)[0] if alternative is not None else ""
            )
            card.set_column_labels(
                self.column_headings.installed_label.text(), self.column_headings.planned_label.text()
            )
            part_options = part_options_for_card(part.id, options, card.version_pickers, recommendation)
            changed_here = undo_state is not None and any(each.name == undo_state.part for each in part_options)
            warnings = warnings_for_card(part.id, localized.warnings)
            card.set_version_options(
                part_options, state.option_notes or OptionNotes(), texts, side_effects if changed_here else "", warnings
            )
            visible_ids.append(part.id)
        # What stays is never hidden in between: the keyboard would leave it.
        for name, card in self.part_cards.items():
            card.setVisible(name in visible_ids)
        self._update_reasons()
        uncovered = self.tr(", ").join(uncovered_parts(recommendation, state.plan))
        alternative_taken = undo_state is not None and undo_state.part is None and state.choice is not None
        driver = manual_driver(localized, state.plan)
        # What a card says beside the pick that brings it is not said again below.
        shown_codes = {
            code for name, card in self.part_cards.items() if name in visible_ids for code in card.warning_codes
        }
        open_warnings = [warning for warning in localized.warnings if f"warning.{warning.code}.text" not in shown_codes]
        driver_required = state.plan is not None and needs_manual_driver(state.plan)
        self.warnings_card.set(
            open_warnings,
            (),
            driver,
            uncovered,
            side_effects if alternative_taken else "",
            driver_required=driver_required,
        )
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
            folder_text = (
                self.tr("Installed into (named as on this computer)") if other_system else self.tr("Installed into")
            )
            self.folder_card.set(folder_text, plan.env, self.tr("Change"))
            if self._plan_expanded:
                self.plan_list.draw()
        self._update_tab_order()

    def _update_tab_order(self) -> None:
        """The order of Tab, which is that of reading."""
        option_controls = (
            self.options_bar.goal_picker,
            self.options_bar.channel_picker,
            self.options_bar.environment_picker,
            self.options_bar.customize_button,
            self.options_bar.recommended_button,
        )
        card_controls = [control for card in self.part_cards.values() for control in card.controls]
        lower_controls = (
            self.cost_card.steps_button,
            *self.plan_list.controls,
            self.folder_card.change_button,
            *self.alternatives_card.controls,
        )
        last_controls = (*lower_controls, self.bundle_controls.create_button, self.back_button)
        # From the primary, where the keyboard begins, on to what is on the page; the foot and the rail come last.
        set_tab_order(
            self.primary_button,
            *option_controls,
            self.hero.button,
            self.bundle_controls.source_card.use_internet_button,
            *card_controls,
            *self.warnings_card.controls,
            *last_controls,
        )

    def _pickers(self) -> list[Dropdown]:
        """The drop-downs, that of the part changed last before all others."""
        undo_state = self.controller.flow.state.undo_state
        pickers = {
            name: part_picker
            for card in self.part_cards.values()
            if card.version_pickers
            for name, part_picker in card.version_pickers.pickers.items()
        }
        return [
            picker
            for _, picker in sorted(pickers.items(), key=lambda each: undo_state is None or each[0] != undo_state.part)
        ]

    @property
    def blocking_error(self) -> AppError | None:
        """Why what is wanted cannot be carried out: its goal is still to come, or its folder will not do."""
        error = self.controller.errors.get("recommend")
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
        containers = (
            self.options_bar,
            self.hero,
            self.warnings_card,
            self.alternatives_card,
            *self.part_cards.values(),
        )
        return focus is not None and any(container.isAncestorOf(focus) for container in containers)

    def run_primary_action(self) -> None:
        """Install, or prove what is there."""
        self.controller.errors.pop("verify", None)
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

    def _choose_version(self, part: str, value: str | None, exclusive: bool) -> None:
        self.controller.choose_version(part, value, exclusive=exclusive)

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
