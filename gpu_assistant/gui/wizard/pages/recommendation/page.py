"""The page of the recommendation: what should I install, and why?

From top to bottom: a hero that says why there is no recommendation or what changed, the OptionsBar, WayCards where a
driver update is needed, a PartCard for the driver and one for the framework, warnings, CostCard, and three buttons that
open the ReasonsCard, the PlanList and MoreOptions. "Customise" beside the title shows the OptionsBar and a card with
drop-downs for every part. `draw` fills all of them from the wizard's state; widgets that stay are never hidden in
between, since hiding one moves the keyboard focus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .....advise.reasons import main_reasons
from .....core.errors import AppError, InsufficientDiskSpace, SetupNotSupported
from .....core.machine import Gpu, Machine
from .....core.plan import Plan, manual_driver, needs_manual_driver, steps_before_restart
from .....core.recommendation import (
    RETRYABLE_CODES,
    SOURCE_WARNINGS,
    UNAVAILABLE_CODES,
    Alternative,
    Reason,
    Recommendation,
    Way,
)
from .....texts.format import format_size, join_list, short_name
from .....texts.localized import Texts
from .... import messages, theme
from ....environment_name import EnvironmentNameField
from ....machine_facts import InstalledEnvironment
from ....widgets.base import Themed, announce
from ....widgets.buttons import Button
from ....widgets.cards import Banner, Card, Hero
from ....widgets.claims import SourcedClaim
from ....widgets.dialogs import folder_dialog
from ....widgets.icons import IconWidget
from ....widgets.inputs import Dropdown
from ....widgets.layouts import FlowLayout
from ....widgets.text import label
from ...controller import WizardController
from ...page import SCROLL_PASSES, ViewStateKeeper, WizardPage, set_tab_order
from ...state import OptionNotes, SmallerChoice, WizardState
from ..machine_summary import ALREADY_WORKING_CODES, main_gpu
from .cost_card import CostCard
from .notices import GOAL_OF_ALTERNATIVE, NoticesCard
from .options_bar import OptionsBar, has_chosen_versions, is_choosing
from .part_card import ColumnHeadings, PartCard, column_widths, fields_indent
from .part_summary import (
    PART_IDS,
    PartSummary,
    max_cuda_of_driver,
    part_summaries,
    uncovered_parts,
)
from .plan_view import PlanList
from .reasons_card import ReasonsCard, ReasonsTopic
from .source_check import SourceCheckRow
from .version_pickers import (
    dropped_choices_text,
    part_options_for_card,
    reset_choices_text,
    side_effects_text,
    warnings_for_card,
)
from .way_cards import WayCards

translate = QCoreApplication.translate

# Errors of a plan that cannot be downloaded now.
VENDOR_OF_ACCELERATOR = {"rocm": "amd", "xpu": "intel"}

PROBLEM_KINDS = ("error", "warn")  # of a hero that says why nothing can be installed
DISK_WARNINGS = "disk-space"  # how the codes of warnings about a disk that is too small begin

# Below these widths, times the text scale, a card's button stands below its text.
FOLDER_ROW_MIN_WIDTH, SOURCE_ROW_MIN_WIDTH = 600, 700
# What computes, and why this version.
SUBTITLE_REASONS = 2


class RecommendationPage(WizardPage):
    """`offline_requested` asks for the page that creates an offline folder."""

    offline_requested = Signal()

    def build(self) -> None:
        self.options_bar = OptionsBar(self.controller)
        column = self.page.column
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._resolve_problem)
        self.smaller_choice_button = Button()
        self.smaller_choice_button.setObjectName("smallerChoice")
        self.smaller_choice_button.clicked.connect(self._take_smaller_choice)
        self.hero.add_action(self.smaller_choice_button, below=True)
        self.way_cards = WayCards()
        self.way_cards.way_chosen.connect(self.controller.choose_way)
        self.column_headings = ColumnHeadings()
        self.part_cards = {name: PartCard(name) for name in PART_IDS}
        self.warnings_card, self.alternatives_card = NoticesCard(), NoticesCard()
        self.cost_card = CostCard()
        self.source_check_row = SourceCheckRow()
        self.source_check_row.stop_requested.connect(self.controller.stop_source_check)
        self.source_check_row.check_requested.connect(self.controller.check_sources)
        self.folder_card, self.bundle_controls = InstallFolderCard(), BundleControls(self)
        self.folder_card.name_field.field.textEdited.connect(self._name_environment)
        self.folder_card.name_field.changed.connect(self._update_footer)
        self.bundle_controls.create_button.clicked.connect(self.offline_requested)
        self.bundle_controls.source_card.use_internet_button.clicked.connect(lambda: self.controller.use_bundle(None))
        self.reasons_card, self.plan_list = ReasonsCard(), PlanList(self.controller)
        self.plan_list.hide()
        self.more_options = MoreOptions(self.folder_card, self.alternatives_card, self.bundle_controls.create_button)
        lower_widgets = (
            *(self.warnings_card, self.source_check_row, self.cost_card),
            *(self.more_options.buttons, self.reasons_card, self.plan_list, self.more_options),
        )
        for widget in (
            self.hero,
            self.options_bar,
            self.way_cards,
            self.column_headings,
            *self.part_cards.values(),
            *lower_widgets,
        ):
            column.addWidget(widget)
        column.insertWidget(column.indexOf(self.column_headings), self.bundle_controls.source_card)
        self.page.add_action(self.options_bar.buttons)
        self.page.breakpoints.changed.connect(self._update_layout)
        column.addStretch(1)
        for card in self.part_cards.values():
            card.version_chosen.connect(self._choose_version)
        self.alternatives_card.alternative_chosen.connect(self._accept_alternative)
        self.warnings_card.undo_requested.connect(self.controller.undo)
        self.more_options.reasons_button.clicked.connect(self._toggle_reasons)
        self.more_options.steps_button.clicked.connect(self._toggle_plan)
        self.more_options.toggled.connect(self._update_tab_order)
        self.more_options.toggle_button.clicked.connect(self._show_options)
        self.folder_card.folder_chosen.connect(self.use_folder)
        self.back_button = self.add_back_button()
        self.footer.add_button(self.primary_button)
        self._has_columns = False  # as ColumnHeadings and the cards have them
        self._is_cost_seen = False
        scroll_bar = self.page.verticalScrollBar()
        scroll_bar.valueChanged.connect(self._on_scrolled)
        scroll_bar.rangeChanged.connect(self._on_scrolled)
        self._has_recommendation = self._plan_expanded = self._reasons_expanded = self._was_blocked = False
        self._parts: tuple[PartSummary, ...] = ()
        self._update_layout()

    def _update_layout(self) -> None:
        """In a low window all decisions are seen at once."""
        low = self.page.breakpoints.is_low
        self.page.column.setSpacing(6 if low else 12)
        self.way_cards.set_low(low)
        self.cost_card.set_low(low)
        self.options_bar.set_low(low)
        for card in self.part_cards.values():
            card.set_low(low)
        self.draw_if_visible()

    def draw(self) -> None:
        view_state = ViewStateKeeper(self.page)
        controller, state = self.controller, self.controller.flow.state
        error = controller.errors.get("recommend") or controller.errors.get("verify")
        machine, recommendation, plan = state.machine, state.recommendation, state.plan
        self.back_button.setText(self.tr("Back"))
        self.column_headings.set_texts(self.tr("Now"), self.tr("After setup"))
        self.options_bar.draw()
        uses_bundle = self.bundle_controls.draw(state)
        self.options_bar.setVisible(not uses_bundle and shows_options(state))
        self.options_bar.buttons.setVisible(not uses_bundle)
        # The last recommendation is shown until the next one is computed.
        if not (controller.is_recommending and recommendation is None and self._has_recommendation):
            self._has_recommendation = machine is not None and recommendation is not None
            for widget in (self.cost_card, self.folder_card, self.more_options.steps_button):
                widget.setVisible(plan is not None)
            self.more_options.buttons.setVisible(self._has_recommendation)
            if not self._has_recommendation:
                lower_cards = (self.warnings_card, self.alternatives_card)
                for each in (self.way_cards, *self.part_cards.values(), *lower_cards, self.reasons_card):
                    each.hide()
            self.plan_list.setVisible(plan is not None and self._plan_expanded)
            small = self.page.breakpoints.is_low or self.page.breakpoints.is_tight
            reasons = 1 if small else SUBTITLE_REASONS
            self._update_title(reasons, uses_bundle=uses_bundle)
            if machine is not None and recommendation is not None:
                self._show_recommendation(machine, recommendation)
                self._update_cost(machine, plan)
                self._update_reasons()
        show_recommendation_verdict(
            self.hero,
            controller,
            self.texts,
            has_recommendation=self._has_recommendation,
            blocking_error=self.blocking_error,
            error=error,
        )
        self._update_smaller_choice()
        self.source_check_row.draw(controller)
        # What keeps the recommendation from being installed, or its folder from being taken, is not folded away.
        folder_refused = "check-folder" in controller.errors
        has_no_plan = self._has_recommendation and not self._is_installable and not controller.is_recommending
        self.more_options.draw(
            is_required=folder_refused or (has_no_plan and self.alternatives_card.has_notices),
            has_content=self._has_recommendation,
        )
        self._update_footer()
        self._update_widths()
        option_buttons = (self.options_bar.recommended_button, self.options_bar.customize_button)
        undo_buttons = (self.warnings_card.undo_button,) if self.warnings_card.undo_button is not None else ()
        view_state.restore(
            (self.hero.button, *undo_buttons, *self._pickers(), *option_buttons, self.primary_button, self.back_button)
        )
        self._point_at_problem()

    def _update_smaller_choice(self) -> None:
        """The button is there where a smaller choice lifts the block; until the next answer it stays as it is."""
        if self.controller.is_recommending:
            return
        smaller = self.controller.flow.state.smaller_choice
        self.smaller_choice_button.setVisible(smaller is not None and smaller.fits)
        if smaller is not None:
            self.smaller_choice_button.setText(smaller_choice_texts(smaller)[1])

    def _take_smaller_choice(self) -> None:
        # The button goes with the block: Install gets the focus then.
        self.page.setFocus()
        self.controller.take_smaller_choice()

    def _update_title(self, reason_count: int, *, uses_bundle: bool) -> None:
        state, error = self.controller.flow.state, self.blocking_error
        is_blocked = error is not None and not isinstance(error, SetupNotSupported)
        # Versions are recommended for any goal; where they cannot be installed, the goal was the user's choice.
        is_custom = has_chosen_versions(state) or (is_blocked and state.goal != "pytorch" and not uses_bundle)
        title, subtitle = recommendation_heading(
            state.machine, state.recommendation, self.texts, reason_count, is_custom=is_custom
        )
        if is_custom and is_blocked:
            title, subtitle = self.tr("This setup cannot be installed yet"), ""
        self.page.set_title(title, subtitle)

    def _point_at_problem(self) -> None:
        """Announce what has come to block the install, and focus the button that mends it, unless the user is at a
        choice: that may mend it as well, and a focus that leaves a drop-down by itself confuses.
        """
        if self.controller.is_recommending:
            return
        is_blocked = self.default_button is self.hero.button
        if is_blocked and not self._was_blocked:
            announce(self.hero, self.hero.accessibleName())
            focus = self.focusWidget()
            if not self._has_option_focus or (focus is not None and self.options_bar.buttons.isAncestorOf(focus)):
                self.focus_primary()
        self._was_blocked = is_blocked

    def _show_recommendation(self, machine: Machine, recommendation: Recommendation) -> None:
        texts, state, undo_state = self.texts, self.controller.flow.state, self.controller.flow.state.undo_state
        localized = texts.localize_recommendation(recommendation)
        options = state.options if state.customizing else None
        side_effects = side_effects_text(undo_state, recommendation, state.option_notes)
        visible_ids = []
        is_disk_too_small = isinstance(self.blocking_error, InsufficientDiskSpace)  # as the hero says
        self.way_cards.set_blocked(is_disk_too_small)
        self.way_cards.draw(recommendation, texts, customizing=state.customizing)
        max_cuda = max_cuda_of_driver(self.controller.app.catalog, recommendation.driver)
        self._parts = part_summaries(
            machine,
            recommendation,
            texts,
            already_installed=state.already_installed,
            plan=state.plan,
            max_cuda=max_cuda,
            all_parts=state.customizing,
        )
        for part in self._parts:
            card = self.part_cards[part.id]
            card.set_part(part)
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
        # A card that stays is not hidden in between: that would move the focus.
        for name, card in self.part_cards.items():
            card.setVisible(name in visible_ids)
        uncovered = join_list(uncovered_parts(recommendation, state.plan), texts.language)
        alternative_taken = undo_state is not None and undo_state.part is None and state.choice is not None
        driver = manual_driver(localized, state.plan)
        # A warning that a card shows is not repeated below.
        shown_codes = {
            code for name, card in self.part_cards.items() if name in visible_ids for code in card.warning_codes
        }
        shown_codes |= {f"warning.{code}.text" for code in UNAVAILABLE_CODES}  # which the hero says
        open_warnings = [
            warning
            for warning in localized.warnings
            if f"warning.{warning.code}.text" not in shown_codes
            and not (is_disk_too_small and warning.code.startswith(DISK_WARNINGS))
            # Where nothing is downloaded it does not matter where from.
            and not (state.already_installed and warning.code.startswith(SOURCE_WARNINGS))
        ]
        driver_required = state.plan is not None and needs_manual_driver(state.plan)
        self.warnings_card.set(
            open_warnings,
            (),
            driver,
            uncovered,
            side_effects if alternative_taken else "",
            driver_required=driver_required,
        )
        # A part that the hero offers to leave out is not offered below, too.
        offered = state.smaller_choice.code if state.smaller_choice is not None and state.smaller_choice.fits else None
        shown_ways = () if state.customizing else recommendation.ways
        alternatives = [
            alternative
            for alternative in localized.alternatives
            if alternative.code != offered and not _is_offered_as_way(alternative, shown_ways)
        ]
        self.alternatives_card.set((), alternatives, None, "")
        for each in (self.warnings_card, self.alternatives_card):
            each.setVisible(each.has_notices)

    def _update_reasons(self) -> None:
        """What the card of the reasons has, and whether it is open."""
        self.reasons_card.set_topics(tuple(self._reasons_topics()))
        self.reasons_card.set_open(self._reasons_expanded and self.reasons_card.has_topics)
        button = self.more_options.reasons_button
        button.setVisible(self.reasons_card.has_topics)
        button.setText(self.tr("Hide the reasons") if self._reasons_expanded else self.tr("Why this?"))
        button.set_icon(None, "up" if self._reasons_expanded else "down")
        self._update_tab_order()

    def _reasons_topics(self) -> Iterator[ReasonsTopic]:
        """The parts in the order of their cards, then the figures of the cost."""
        for part in self._parts:
            yield ReasonsTopic(title=part.title, reasons=part.reasons, terms=part.terms)
        if not self.cost_card.isHidden():
            notes = tuple(SourcedClaim(text=note) for note in self.cost_card.notes)
            yield ReasonsTopic(title=self.tr("Download, disk space and time"), reasons=notes)

    def _update_cost(self, machine: Machine, plan: Plan | None) -> None:
        texts = self.texts
        if plan is not None:
            recommendation = self.controller.flow.state.recommendation
            has_manual_driver = recommendation is not None and manual_driver(recommendation, plan) is not None
            self.cost_card.set_cost(plan, machine, texts, manual_driver=has_manual_driver)
            template = self.tr("Hide the steps") if self._plan_expanded else self.tr("Show all {n} steps")
            self.more_options.steps_button.setText(template.format(n=len(plan.steps) + len(steps_before_restart(plan))))
            self.more_options.steps_button.set_icon(None, "up" if self._plan_expanded else "down")
            other_system = plan.simulated and machine.os.system != self.controller.app.system.name
            error, refusal = self.controller.errors.get("check-folder"), ""
            if error is not None:
                unchanged = self.tr("The folder you chose cannot be used.")
                refusal = messages.join_sentences(unchanged, messages.error_text(texts, error))
            self.folder_card.set(self.tr("Installed into"), plan.env, self.tr("Choose another folder"), refusal)
            # A path of this computer says nothing about another system.
            self.folder_card.set_folder_shown(not other_system or error is not None)
            entered, given = self.controller.environment_name, self.controller.app.settings.environment_names
            name = given.get(plan.env, "") if entered is None else entered
            self.folder_card.set_name(self.tr("Environment name"), name, plan.env, self.controller.environments)
            if self._plan_expanded:
                self.plan_list.draw()
        self._update_tab_order()

    def _update_tab_order(self) -> None:
        option_controls = (
            self.options_bar.customize_button,
            self.options_bar.recommended_button,
            self.hero.button,
            self.smaller_choice_button,
            self.options_bar.goal_picker,
            self.options_bar.channel_picker,
            self.options_bar.environment_picker,
        )
        card_controls = [control for card in self.part_cards.values() for control in card.controls]
        lower_controls = (
            self.source_check_row.button,
            self.more_options.reasons_button,
            self.more_options.steps_button,
            self.more_options.toggle_button,
            *self.reasons_card.source_buttons,
            *self.plan_list.controls,
            self.folder_card.name_field.field,
            self.folder_card.change_button,
            *self.alternatives_card.controls,
        )
        last_controls = (*lower_controls, self.bundle_controls.create_button, self.back_button)
        # In reading order, but from the primary button, which has the focus first.
        set_tab_order(
            self.primary_button,
            *option_controls,
            *self.way_cards.controls,
            self.bundle_controls.source_card.use_internet_button,
            *card_controls,
            *self.warnings_card.controls,
            *last_controls,
        )

    def _pickers(self) -> list[Dropdown]:
        """All drop-downs, that of the part that was changed last first."""
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
        """Why the options cannot be installed: a goal that is not supported here, or an unusable folder."""
        error = self.controller.errors.get("recommend")
        if isinstance(error, SetupNotSupported):
            return error
        return self.controller.flow.state.blocking_error

    @property
    def default_button(self) -> Button:
        """The primary button, or the hero's if nothing can be installed."""
        blocked = self.hero.kind == "warn" or (self.hero.kind == "error" and not self._is_installable)
        return self.hero.button if self.hero.isVisible() and blocked else self.primary_button

    @property
    def _is_installable(self) -> bool:
        is_named = not self.folder_card.name_field.problem
        return self.controller.flow.state.plan is not None and self.blocking_error is None and is_named

    def _update_footer(self) -> None:
        state = self.controller.flow.state
        error = self.blocking_error
        nothing_changed = self.tr("Nothing is changed before you press Install.")
        self.footer.set_hint(nothing_changed, "ok")
        # While the user chooses, the cost of each choice is in sight, unless large text would fill the window with it.
        breakpoints, cost = self.page.breakpoints, self.cost_card.summary
        self._is_cost_seen = self._is_cost_in_sight
        is_cost_wanted = is_choosing(state) and self._has_recommendation and not self._is_cost_seen
        if is_cost_wanted and cost and self._has_columns:
            is_small = breakpoints.is_low or breakpoints.is_tight
            self.footer.set_hint(cost if is_small else f"{cost}\n{nothing_changed}", "ok")
        if state.already_installed:
            self.footer.set_hint("")
        elif isinstance(error, InsufficientDiskSpace):
            size = format_size(error.missing_bytes)
            self.footer.set_hint(self.tr("You need {size} more disk space.").format(size=size), "warn")
        self.primary_button.setText(self.tr("Check it") if state.already_installed else self.tr("Install"))
        self.primary_button.set_icon("check" if state.already_installed else "download")
        # While the next recommendation is computed the button stays enabled, so that it keeps the focus.
        waiting = self.controller.is_recommending and self._has_recommendation and self.primary_button.isEnabled()
        ready = waiting or (self._is_installable and not self.controller.is_recommending)
        source_text = ""
        if self.controller.awaits_sources and not state.already_installed:
            ready, source_text = False, self.tr("Checking the downloads first…")
            self.footer.set_hint(source_text, "clock")
        self.primary_button.setToolTip(source_text)
        was_enabled = self.primary_button.isEnabled()
        if was_enabled and not ready and self.primary_button.hasFocus():
            self.page.setFocus()  # a disabled button would hand it to the rail
        self.primary_button.setEnabled(ready)
        self.primary_button.set_busy(self.controller.is_verifying or (waiting and ready))
        self.highlight_default_button(self.hero.button)
        if ready and not was_enabled and not self._has_option_focus:
            self.focus_primary()

    @property
    def _is_cost_in_sight(self) -> bool:
        """Whether the figures of the cost are not scrolled away."""
        viewport, card = self.page.viewport(), self.cost_card
        top = card.mapTo(self.page.content, QPoint()).y() - self.page.verticalScrollBar().value()
        return card.isVisible() and top >= 0 and top + card.height() <= viewport.height()

    def _on_scrolled(self) -> None:
        if self._is_cost_in_sight != self._is_cost_seen:
            self._update_footer()

    @property
    def _has_option_focus(self) -> bool:
        """Whether the user is at something on the page: a choice, a reason, the name of the environment."""
        focus = self.focusWidget()
        containers = (self.page.content, self.options_bar.buttons)
        return focus is not None and focus.isVisible() and any(each.isAncestorOf(focus) for each in containers)

    def run_primary_action(self) -> None:
        """Install, or verify what is installed."""
        self.controller.errors.pop("verify", None)
        self.controller.install()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._update_widths)

    def refresh(self) -> None:
        super().refresh()
        QTimer.singleShot(0, self, self._update_widths)

    def _update_widths(self) -> None:
        available_width = self.page.available_width()
        self.options_bar.set_available_width(available_width, fields_indent(available_width))
        choosing = any(card.has_lists for card in self.part_cards.values() if not card.isHidden())
        for card in self.part_cards.values():
            card.set_available_width(available_width, choosing=choosing)
        for each in (self.way_cards, self.warnings_card, self.alternatives_card):
            each.set_available_width(available_width)
        self.cost_card.set_available_width(available_width)
        self.folder_card.set_available_width(available_width)
        self.bundle_controls.source_card.set_available_width(available_width)
        visible_cards = (each for each in self.part_cards.values() if not each.isHidden())
        self.column_headings.align_to(next(visible_cards, None), available_width, choosing=choosing)
        self.reasons_card.set_available_width(available_width)
        has_columns = column_widths(available_width) is not None
        if has_columns != self._has_columns:
            self._has_columns = has_columns
            self._update_footer()

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
        if blocking_error is not None and blocking_error.code in RETRYABLE_CODES:
            self.controller.check_sources()
        elif blocking_error is not None and not isinstance(blocking_error, SetupNotSupported):
            # The user mends the data folder outside of the program, then retries.
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

    def _toggle_reasons(self) -> None:
        self._reasons_expanded = not self._reasons_expanded
        self._update_reasons()
        self._update_widths()
        if self._reasons_expanded:
            self._schedule_scroll(SCROLL_PASSES)

    def _toggle_plan(self) -> None:
        self._plan_expanded = not self._plan_expanded
        self.draw()
        if self._plan_expanded:
            self._schedule_scroll(SCROLL_PASSES)

    def _show_options(self) -> None:
        # What opens by itself, as a refused folder does, leaves the page where the user is.
        if not self.more_options.isHidden():
            self._schedule_scroll(SCROLL_PASSES)

    def _schedule_scroll(self, passes: int) -> None:
        QTimer.singleShot(0, self, lambda: self._scroll_to_buttons(passes))

    def _scroll_to_buttons(self, passes: int) -> None:
        """Scroll to what was opened, leaving the button that closes it visible; again, since what is shown for the
        first time gets its height only then.
        """
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.verticalScrollBar().setValue(self.cost_card.mapTo(self.page.content, QPoint()).y())
        if passes > 1:
            self._schedule_scroll(passes - 1)

    def _name_environment(self, _: str) -> None:
        self.controller.environment_name = self.folder_card.name_field.name

    def use_folder(self, folder: str) -> None:
        """Install into a subfolder named after the goal."""
        goal = self.controller.flow.state.goal
        path = Path(folder)
        self.controller.set_folder(str(path if path.name == goal else path / goal))


def _is_offered_as_way(alternative: Alternative, ways: Sequence[Way]) -> bool:
    """Whether an alternative is the build of a way that is chosen on a card of its own."""
    builds = [
        {"pytorch": way.pytorch.version, "variant": way.pytorch.variant} for way in ways if way.pytorch is not None
    ]
    return alternative.change in builds


class MoreOptions(Themed, QWidget):
    """What few people need: another folder, other versions that would do, an offline folder; closed at first.

    `buttons` is a row with `reasons_button`, the plan's `steps_button` and `toggle_button`. `toggled` is emitted with
    the new state.
    """

    toggled = Signal(bool)
    defers_while_hidden = False  # its buttons are seen beside it

    def __init__(self, *contents: QWidget) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in contents:
            column.addWidget(
                widget, 0, Qt.AlignmentFlag.AlignLeft if isinstance(widget, Button) else Qt.AlignmentFlag(0)
            )
        self.reasons_button = Button(kind="ghost", trailing_icon="down", flush="left")
        self.steps_button = Button(kind="ghost", trailing_icon="down", flush="left")
        self.toggle_button = Button(kind="ghost", trailing_icon="down", flush="left")
        self.toggle_button.clicked.connect(lambda: self._set_open(not self._is_open))
        self.buttons: QWidget = QWidget()
        row = FlowLayout(self.buttons, spacing=16)
        for button in (self.reasons_button, self.steps_button, self.toggle_button):
            row.addWidget(button)
        self._is_open: bool = False
        self._was_required: bool = False
        self.hide()
        self.apply_theme()

    def retranslate(self) -> None:
        self.toggle_button.setText(self.tr("Fewer options") if self._is_open else self.tr("More options"))
        self.toggle_button.set_icon(None, "up" if self._is_open else "down")

    def draw(self, *, is_required: bool, has_content: bool) -> None:
        """Open once where the user needs it; hidden without content."""
        if is_required and not self._was_required:
            self._set_open(True)
        self._was_required = is_required
        self.setVisible(self._is_open and has_content)

    def _set_open(self, is_open: bool) -> None:
        self._is_open = is_open
        self.setVisible(is_open)
        self.retranslate()
        self.toggled.emit(is_open)


def shows_options(state: WizardState) -> bool:
    """Whether the drop-downs for goal, driver and environment show: while the user chooses, or has chosen by them."""
    return is_choosing(state) or (state.goal, state.channel, state.environment_kind) != ("pytorch", "studio", "venv")


def recommendation_heading(
    machine: Machine | None,
    recommendation: Recommendation | None,
    texts: Texts,
    reason_count: int = SUBTITLE_REASONS,
    *,
    is_custom: bool = False,
) -> tuple[str, str]:
    """The page's title, and in one line why this was chosen, in `reason_count` sentences; the cards tell the rest.
    `is_custom`: the user chose versions.
    """
    gpu = _gpu_in_title(machine, recommendation) if machine is not None else None
    is_gpu_used = recommendation is None or recommendation.accelerator != "cpu"
    if gpu is not None and gpu.name and is_gpu_used:
        title = translate("RecommendationPage", "Recommended for your {gpu}")
        if is_custom:
            title = translate("RecommendationPage", "Custom setup for your {gpu}")
        title = title.format(gpu=short_name(gpu.name))
    elif is_custom:
        title = translate("RecommendationPage", "Custom setup for this computer")
    else:
        title = translate("RecommendationPage", "Recommended for this computer")
    if recommendation is None:
        return title, ""
    if any(each.code in ALREADY_WORKING_CODES for each in recommendation.alternatives):
        return title, translate(
            "RecommendationPage",
            "The PyTorch on this computer already works, so you do not need to do anything. This is optional.",
        )
    if gpu is not None and gpu.name and not is_gpu_used:
        # An unused GPU is named first; the cards below say why.
        framework = "TensorFlow" if recommendation.pytorch is None else "PyTorch"
        subtitle = translate("RecommendationPage", "{tool} runs on the CPU here; your {gpu} is not used.")
        return title, subtitle.format(tool=framework, gpu=short_name(gpu.name))
    reasons = main_reasons(recommendation)
    if reason_count == 1 and gpu is not None and len(reasons) > 1:
        reasons = reasons[1:]  # the title names the card already
    reasons = reasons[:reason_count]
    return title, messages.join_sentences(*(_brief_text(reason, recommendation, texts) for reason in reasons))


def _brief_text(reason: Reason, recommendation: Recommendation, texts: Texts) -> str:
    """A reason in one short sentence; the newest release does not run here before the driver is updated."""
    if reason.code == "version-newest" and recommendation.driver.action == "update":
        sentence = translate("RecommendationPage", "The newest PyTorch, {version}, needs a newer driver.")
        return sentence.format(version=reason.data["version"])
    return texts.brief_text(reason)


def _gpu_in_title(machine: Machine, recommendation: Recommendation | None) -> Gpu | None:
    """The GPU that is used, else one of NVIDIA."""
    gpu = main_gpu(machine, recommendation)
    if gpu is not None and gpu.vendor == "nvidia":
        return gpu
    vendor = VENDOR_OF_ACCELERATOR.get(recommendation.accelerator) if recommendation is not None else None
    return next((each for each in machine.gpus if each.vendor == vendor), None)


def show_recommendation_verdict(
    hero: Hero,
    controller: WizardController,
    texts: Texts,
    *,
    has_recommendation: bool,
    blocking_error: AppError | None,
    error: AppError | None,
) -> None:
    """Show in the hero why there is no recommendation, or what changed, with a button to resolve it; hide the hero
    otherwise. `has_recommendation`: an earlier recommendation is still shown.
    """
    state, visible = controller.flow.state, True
    note = _change_note(state)
    undo_text = translate("RecommendationPage", "Undo")
    if controller.is_recommending and not has_recommendation:
        hero.set("neutral", translate("RecommendationPage", "Preparing your recommendation"), icon="search")
    elif controller.is_recommending:
        # What blocks the install is said until the next answer: the page does not jump up and down meanwhile.
        visible = hero.kind in PROBLEM_KINDS and not hero.isHidden()
    elif blocking_error is not None and blocking_error.code in RETRYABLE_CODES:
        title = translate("RecommendationPage", "This cannot be downloaded right now")
        action = translate("RecommendationPage", "Try again")
        hero.set("error", title, messages.error_text(texts, blocking_error), action)
    elif blocking_error is not None and not isinstance(blocking_error, SetupNotSupported):
        title = translate("RecommendationPage", "This folder cannot be used")
        if isinstance(blocking_error, InsufficientDiskSpace):
            title = translate("RecommendationPage", "Not enough disk space")
        can_retry = blocking_error.data.get("path") == str(controller.app.data.root)
        action = translate("RecommendationPage", "Choose another folder")
        action = translate("RecommendationPage", "Try again") if can_retry else action
        smaller = state.smaller_choice
        hint = "" if smaller is None else smaller_choice_texts(smaller)[0]
        hero.set("error", title, f"{messages.error_text(texts, blocking_error)}\n{hint}".strip(), action)
    elif blocking_error is not None:
        title = translate("RecommendationPage", "This has to be set up by hand")
        action = translate("RecommendationPage", "Set up PyTorch instead") if state.goal != "pytorch" else ""
        hero.set("warn", title, messages.error_text(texts, blocking_error), action)
    elif error is not None:
        action = translate("RecommendationPage", "Try again")
        if state.choice is not None:
            action = translate("RecommendationPage", "Back to the recommendation")
        title = translate("RecommendationPage", "This choice does not work here")
        if state.choice is None and state.undo_state is None:
            title = translate("RecommendationPage", "No recommendation could be made")
        hero.set(
            "error", title, messages.error_text(texts, error), undo_text if state.undo_state is not None else action
        )
    elif note is not None:
        hero.set("neutral", *note, undo_text, icon="info")
    elif state.already_installed:
        title = translate("RecommendationPage", "You have everything you need")
        hero.set("ok", title, state.plan.env if state.plan is not None else "")
    else:
        visible = False
    # What the user has just done is no verdict on the whole.
    is_note = visible and note is not None and hero.kind == "neutral"
    hero.set_compact(is_note)
    is_undo = hero.button.text() == undo_text
    hero.button.set_icon("undo" if is_undo else None, None if is_undo else "right")
    hero.button.set_busy(controller.is_recommending and has_recommendation)
    hero.setVisible(visible)


def smaller_choice_texts(smaller: SmallerChoice) -> tuple[str, str]:
    """How much disk space a smaller choice needs, and the button that takes it."""
    sentence, action = {
        "no-tensorflow": (
            translate("RecommendationPage", "Without TensorFlow, only {size} is needed."),
            translate("RecommendationPage", "Leave out TensorFlow"),
        ),
        "no-toolkit": (
            translate("RecommendationPage", "Without the CUDA Toolkit, only {size} is needed."),
            translate("RecommendationPage", "Leave out the CUDA Toolkit"),
        ),
        "pytorch-only": (
            translate("RecommendationPage", "PyTorch alone needs {size}."),
            translate("RecommendationPage", "Set up only PyTorch"),
        ),
        "recommended": (
            translate("RecommendationPage", "Our recommendation needs {size}."),
            translate("RecommendationPage", "Back to the recommendation"),
        ),
    }[smaller.code]
    return sentence.format(size=format_size(smaller.needed_bytes)), action


def _change_note(state: WizardState) -> tuple[str, str] | None:
    """Title and detail of what was dropped of the user's choices: by other options, or by the user."""
    if state.dropped_choices:
        return dropped_choices_text(state.dropped_choices)
    if state.undo_state is not None and state.undo_state.is_reset and state.undo_state.choice is not None:
        return reset_choices_text(state.undo_state.choice)
    return None


class InstallFolderCard(Card):
    """What the environment is called; the folder of the install, a button to change it, and why the folder that was
    chosen last is not taken. `folder_chosen` brings the user's folder.
    """

    folder_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 4, 16, 4)
        self._folder_row, name_row = QWidget(), QHBoxLayout()
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._folder_row)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(12)
        name_row.setSpacing(12)
        self._name_label, self._path_label = label("small"), label("mono")
        self.change_button = Button(kind="ghost", icon_name="folder", flush="right")
        self.change_button.clicked.connect(self.choose_folder)
        name_row.addWidget(IconWidget("folder", "soft", 20))
        name_row.addWidget(self._name_label, 1)
        self._title_label, self.name_field = label("small"), EnvironmentNameField()
        self._title_label.setBuddy(self.name_field.field)
        title_row = QHBoxLayout()
        title_row.setSpacing(12)
        title_row.setContentsMargins(0, 8, 0, 0)
        self._title, title = QWidget(), QHBoxLayout()  # as high as the field alone
        title.setContentsMargins(0, 0, 0, 0)
        title.setSpacing(12)
        title.addWidget(IconWidget("pencil", "soft", 20))
        title.addWidget(self._title_label)
        self._title.setLayout(title)
        title_row.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop)
        title_row.addWidget(self.name_field, 1)
        self.column.addLayout(title_row)
        self._layout.addLayout(name_row)
        self._layout.addWidget(self._path_label, 1)
        self._layout.addWidget(self.change_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.column.addWidget(self._folder_row)
        self.error_banner = Banner(inset=True)
        self.error_banner.hide()
        self.column.addWidget(self.error_banner)
        self.column.addSpacing(4)

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels."""
        in_row = available_width >= theme.px(FOLDER_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)
        self._layout.setSpacing(12 if in_row else 4)

    def set(self, name: str, path: str, change_text: str, error: str) -> None:
        """Show where it is installed; `error` is empty, or says why another folder is not taken."""
        self._name_label.setText(name)
        self._path_label.setText(path)
        self.change_button.setText(change_text)
        self.change_button.setAccessibleName(f"{change_text}: {path}")
        self.setAccessibleName(f"{name}: {path}")
        if error and error != self.error_banner.label.text():
            announce(self, error)
        self.error_banner.set("warn", error)
        self.error_banner.setVisible(bool(error))
        self.column.setContentsMargins(16, 4, 16, 12 if error else 4)  # as far from the banner as at its sides

    def set_folder_shown(self, shown: bool) -> None:
        """Show where it is installed, besides what it is called."""
        self._folder_row.setVisible(shown)

    def set_name(self, title: str, name: str, path: str, environments: Sequence[InstalledEnvironment]) -> None:
        """Show what the environment at `path` is called; "" is its folder's name."""
        self._title_label.setText(title)
        field = self.name_field.field
        field.setAccessibleName(title)
        self._title.setFixedHeight(field.sizeHint().height())
        # A name in grey alone looks as if the field could not be used.
        field.setPlaceholderText(self.tr("{name} (default)").format(name=PurePath(path).name))
        if name != self.name_field.name:  # the cursor stays while it is typed
            field.setText(name)
        self.name_field.set_environment(path, environments)

    def choose_folder(self) -> None:
        """Open the dialog for another folder."""
        dialog = folder_dialog(self, self.tr("Choose an installation folder"))
        dialog.fileSelected.connect(self.folder_chosen)
        dialog.open()


class BundleSourceCard(Card):
    """Says that all files come from an offline folder, with a button to use the internet instead."""

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
        self._source_label.setText(
            self.tr("Everything comes from {folder}; no internet is used.").format(folder=folder)
        )
        self.use_internet_button.setText(self.tr("Use the internet instead"))
        self.setAccessibleName(self._source_label.text())

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels."""
        in_row = available_width >= theme.px(SOURCE_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)


class BundleControls(QObject):
    """The card that names the offline folder in use, or else the button to create one."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.source_card, self.create_button = BundleSourceCard(), Button(kind="ghost", icon_name="net", flush="left")

    def draw(self, state: WizardState) -> bool:
        """Show one of them; returns whether an offline folder is in use."""
        uses_bundle = state.bundle is not None
        self.source_card.setVisible(uses_bundle)
        if state.bundle is not None:
            self.source_card.set_bundle(state.bundle)
        self.create_button.setText(self.tr("For a computer without internet…"))
        self.create_button.setVisible(not uses_bundle and state.recommendation is not None)
        return uses_bundle
