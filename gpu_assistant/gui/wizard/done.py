"""Done: does it really work?"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout

from ...texts.format import format_duration
from ..components import (
    Button,
    Card,
    CommandBox,
    Hero,
    LogDrawer,
    Pill,
    StepList,
    announce,
    label,
)
from ..ways import EnvironmentActionsPanel
from . import proof
from . import words as said
from .base import WizardPage
from .proof_card import VerificationCard
from .speed_card import QuickBenchmarkCard


class DonePage(WizardPage):
    """Verdict, proof, speed, what now, the command. `home_wanted` comes from the primary."""

    home_requested = Signal()

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        column.setSpacing(14)
        self.hero = Hero("neutral")
        self.checks_pill = Pill("ok", "", on_tint=True)
        self.hero.add_widget(self.checks_pill)
        self.hero.button.clicked.connect(self.controller.verify)
        self.verification_card, self.benchmark_card = VerificationCard(), QuickBenchmarkCard()
        self.benchmark_card.start_requested.connect(self._start_benchmark)
        self.benchmark_card.stop_requested.connect(self.controller.stop_benchmark)
        self._cards_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards_row.setSpacing(16)
        self._cards_row.addWidget(self.verification_card, 54)
        self._cards_row.addWidget(self.benchmark_card, 46)
        self.next_steps_heading = label("heading")
        self.actions_panel = EnvironmentActionsPanel(self.controller.app, self.controller.language)
        self.actions_panel.message_shown.connect(self._scroll_to_result)
        self.command_label, self.command_box = label("small"), CommandBox()
        self.log_card = Card(" ", padding=16)
        self._step_list, self._log_drawer = StepList(), LogDrawer()
        self.log_card.column.addWidget(self._step_list)
        self.log_card.column.addWidget(self._log_drawer)
        self.log_card.hide()
        column.addWidget(self.hero)
        column.addLayout(self._cards_row)
        column.addWidget(self.next_steps_heading)
        for widget in (self.actions_panel, self.command_label, self.command_box, self.log_card):
            column.addWidget(widget)
        column.addStretch(1)
        self.back_button = self.add_back_button()
        self.toggle_log_button = self.footer.add_button(Button())
        self.toggle_log_button.clicked.connect(self._toggle_log_card)
        self.footer.add_button(self.primary_button)
        self.controller.benchmark_progress.connect(self.benchmark_card.show_progress)
        self.page.breakpoints.changed.connect(self._update_layout)
        self._update_layout()
        self._announced_title: object = None

    def draw(self) -> None:
        """Everything of now."""
        controller, state = self.controller, self.controller.flow.state
        simulated = controller.flow.simulated
        self.page.setAccessibleName(self.tr("Done"))
        self._update_verdict()
        checks = state.checks
        self.verification_card.set_title(self.tr("The proof"))
        self.verification_card.set_rows(proof.verification_rows(checks, self.texts) if checks is not None else ())
        verified = checks is not None and not simulated
        is_working = verified and checks is not None and checks.verdict != "fail"
        self.verification_card.setVisible(verified)
        self.benchmark_card.setVisible(is_working)
        error = controller.errors.get("measure")
        self.benchmark_card.draw(state.benchmark, running=controller.is_benchmarking, error=error, texts=self.texts)
        self.next_steps_heading.setText(self.tr("What now?"))
        self.actions_panel.set_environment(controller.environment if is_working else None)
        self.command_label.setText(self.tr("Or type this in any terminal"))
        if controller.environment is not None and not simulated:
            self.command_box.set_text(controller.app.system.activation_command(controller.environment))
        for widget in (self.next_steps_heading, self.actions_panel, self.command_label, self.command_box):
            widget.setVisible(is_working)
        self._update_log_card()
        hint = self.tr("Everything is written down: a lock file and a log.") if is_working else ""
        self.footer.set_hint(hint, "file")
        self.back_button.setText(self.tr("Back"))
        self.back_button.setVisible(not is_working)
        log_expanded = not self.log_card.isHidden()
        self.toggle_log_button.setText(self.tr("Hide what was done") if log_expanded else self.tr("Show what was done"))
        self.toggle_log_button.setVisible(controller.progress is not None and not simulated)
        self.primary_button.setText(self.tr("Go to Home"))

    def run_primary_action(self) -> None:
        """On to Home."""
        self.home_requested.emit()

    def _update_verdict(self) -> None:
        controller, state = self.controller, self.controller.flow.state
        checks, error = state.checks, controller.errors.get("prove")
        self.checks_pill.hide()
        retry_text = self.tr("Check again")
        if controller.flow.simulated:
            title = self.tr("Nothing was installed: this machine is simulated")
            self.hero.set("neutral", title, self.tr("On the real one, the proof would stand here."), icon="sim")
        elif controller.is_verifying:
            title = self.tr("Proving that it works…")
            self.hero.set(
                "neutral", title, self.tr("PyTorch is loaded and computes; takes some seconds."), icon="search"
            )
        elif error is not None:
            title = self.tr("It could not be proven")
            self.hero.set("error", title, said.error_text(self.texts, error), retry_text)
        elif checks is not None:
            verdict = proof.verification_verdict(checks, state.recommendation, state.machine)
            title, detail = verdict.title, verdict.detail
            if state.end_event is not None and verdict.kind == "ok":
                detail = self.tr("Installed and proven. Nothing else on your computer was changed.")
                if not state.resumed:
                    template = self.tr("Installed and proven in {time}. Nothing else on your computer was changed.")
                    detail = template.format(time=format_duration(state.end_event.elapsed_s, self.texts.language))
            self.hero.set(verdict.kind, title, detail, "" if verdict.kind == "ok" else retry_text)
            all_passed = verdict.passed == verdict.total
            passed_text = self.tr("All {counted} checks passed") if all_passed else self.tr("{passed} of {counted} checks passed")
            self.checks_pill.set("ok" if all_passed else "warn", passed_text.format(passed=verdict.passed, counted=verdict.total))
            self.checks_pill.show()
        else:
            title = self.tr("Not proven yet")
            self.hero.set("neutral", title, "", self.tr("Check it"))
        if title != self._announced_title and self.isVisible():
            self._announced_title = title
            announce(self.hero, title)

    def _update_log_card(self) -> None:
        self.log_card.set_title(self.tr("What was done"))
        progress = self.controller.progress
        if self.log_card.isHidden() or progress is None:
            return
        texts = self.texts
        self._step_list.clear()
        for step in progress.steps.values():
            title = texts.translate(f"step.{step.code}.title", step.data)
            duration_s = step.reported_seconds
            duration_text = format_duration(duration_s, texts.language) if duration_s is not None else ""
            message = texts.message_text(step.message) if step.message is not None else ""
            self._step_list.add_step(step.id, title)
            self._step_list.set_state(step.id, step.state, message or texts.translate(f"step.{step.code}.undo", step.data), duration_text)
        self._log_drawer.clear()
        self._log_drawer.append(self.controller.log_lines)

    def _toggle_log_card(self) -> None:
        self.log_card.setVisible(self.log_card.isHidden())
        self.draw()
        if not self.log_card.isHidden():
            self.page.content.layout().activate()  # type: ignore[union-attr]
            self.page.ensureWidgetVisible(self.log_card)

    def _scroll_to_result(self) -> None:
        """What came of a press stands where it can be read."""
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.ensureWidgetVisible(self.actions_panel.result_banner)

    def _start_benchmark(self) -> None:
        self.benchmark_card.show_started()
        self.controller.run_benchmark()

    def _update_layout(self) -> None:
        narrow = self.page.breakpoints.is_tight
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._cards_row.setDirection(down if narrow else right)
