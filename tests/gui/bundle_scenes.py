"""Scenes of offline folders: asked for, being made, whole, and one that was brought here."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.plan import PlanEvent, StepEvent, StepSummary

from ..fakes import bundles

if TYPE_CHECKING:
    from gpu_assistant.gui.wizard.wizard import Wizard

    from ..fakes.app import FakeApp
    from .screenshots import Studio


CHECK = PlanEvent(steps=(StepSummary(id="check", code="bundle-check", data={"path": "/media/mei/stick/pytorch"}),))


def open_recommendation(studio: Studio, app: FakeApp) -> Wizard:
    from .screenshots import recommendation

    made = recommendation(studio, app)
    made.recommendation.bundle_controls.create_button.click()
    studio.settle()
    return made


def open_other_recommendation(studio: Studio, app: FakeApp) -> Wizard:
    from .rtx4060_run import RECORDED_MACHINE, Rtx4060Run

    made = open_recommendation(studio, app)
    run = Rtx4060Run(app.folder)
    app.recommendation = run.recommend
    app.plan = lambda *_, **__: run.plan()
    page = made.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(app.folder / "stick")
    page.use_machine_file(RECORDED_MACHINE)
    studio.until(lambda: "RTX 4060" in page.target_card.description_label.text())
    studio.settle()
    return made


def gathering(studio: Studio, app: FakeApp) -> Wizard:
    from .rtx4060_run import SPEEDS

    made = open_recommendation(studio, app)
    app.gate = threading.Event()
    app.events["bundle"] = bundles.gathering(done=1_190_000_000)
    made.side_pages.create_page.use_folder(app.folder / "stick")
    made.side_pages.create_page.primary_button.click()
    studio.until(
        lambda: (
            made.side_pages.bundle_creator.progress is not None
            and made.side_pages.bundle_creator.progress.running_step is not None
        )
    )
    made.side_pages.create_page.step_panel.speed_line.set_points(list(enumerate(SPEEDS)))
    return made


def gathered(studio: Studio, app: FakeApp) -> Wizard:
    folder = app.folder / "stick"
    app.results["bundle"] = lambda: bundles.write(folder, bundles.contents(excluded_codes=("nvidia-driver-linux",)))
    app.events["bundle"] = bundles.gathering()
    made = open_recommendation(studio, app)
    made.side_pages.create_page.use_folder(folder)
    made.side_pages.create_page.primary_button.click()
    studio.until(lambda: made.side_pages.bundle_creator.state == "done")
    return made


def gathered_with_help(studio: Studio, app: FakeApp) -> Wizard:
    made = gathered(studio, app)
    made.side_pages.create_page.ready_card.trouble_button.click()
    studio.settle()
    return made


def broken(studio: Studio, app: FakeApp) -> Wizard:
    app.results["bundle"] = UsageError("bundle-folder-occupied", path=str(app.folder / "Pictures"))
    made = open_recommendation(studio, app)
    made.side_pages.create_page.use_folder(app.folder / "Pictures")
    made.side_pages.create_page.primary_button.click()
    studio.until(lambda: made.side_pages.bundle_creator.state == "failed")
    return made


def checking(studio: Studio, app: FakeApp) -> Wizard:
    from .screenshots import wizard

    app.gate = threading.Event()
    half = StepEvent(
        id="check", state="running", done=1_400_000_000, total=bundles.WHOLE, unit="bytes", bottleneck="checking"
    )
    app.events["check"] = (CHECK, StepEvent(id="check", state="running"), half)
    made = wizard(studio, app)
    made.side_pages.load_page.check_folder(app.folder / "stick")
    studio.settle()
    return made


def refused(studio: Studio, app: FakeApp) -> Wizard:
    from .screenshots import wizard

    app.results["check"] = AppError("bundle-damaged", path=str(app.folder / "stick"), files=bundles.WHEEL)
    made = wizard(studio, app)
    made.side_pages.load_page.check_folder(app.folder / "stick")
    studio.until(lambda: made.side_pages.load_page.error is not None)
    return made


def from_folder(studio: Studio, app: FakeApp) -> Wizard:
    from .screenshots import wizard

    made = wizard(studio, app)
    made.side_pages.load_page.check_folder(app.folder / "stick")
    studio.until(lambda: made.flow.page == "computer" and not made.controller.busy)
    made.controller.go_next()
    studio.settle()
    return made


SCENES = {
    "offline-asked": (open_recommendation, False),
    "offline-asked-for-another": (open_other_recommendation, False),
    "offline-gathering": (gathering, False),
    "offline-gathered": (gathered, False),
    "offline-gathered-help": (gathered_with_help, False),
    "offline-broken": (broken, False),
    "offline-checking": (checking, False),
    "offline-refused": (refused, False),
    "offline-recommendation": (from_folder, False),
}
