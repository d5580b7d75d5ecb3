"""The page of the health test: opened from the rail, Home and alarms; a test, its end, its options."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.results import HealthTestCurve
from gpu_assistant.gui import language as current
from gpu_assistant.gui import theme
from gpu_assistant.gui.health.levels import AreaRow, retest_level
from gpu_assistant.gui.health.page import HealthPage, HealthTestJob
from gpu_assistant.gui.health.result import ROWS_PER_TURN, PassedFold
from gpu_assistant.gui.main.main_area import BENCHMARK, HEALTH, HOME, MONITOR
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.gui.widgets.cards import Pill
from gpu_assistant.gui.widgets.choice_card import INDICATOR_SIZE, PADDING
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.health.checks import make_check
from gpu_assistant.health.headline import COMPUTED_AREAS, REPORTED_AREAS, SETUP_CHECKS
from gpu_assistant.health.job import NEVER_COVERED, PRIORITY_AREAS
from gpu_assistant.texts.localized import Texts
from tests.fakes.health_findings import NAME, PROGRESS, health_checks, progress_reports
from tests.fakes.main_window import ENVIRONMENT, FakeMain, feed, gpu, sample

pytestmark = pytest.mark.gui


@pytest.fixture
def app(tmp_path):
    app = FakeMain(tmp_path)
    app.results["health"] = health_checks()
    app.events["health"] = progress_reports()
    return app


@pytest.fixture
def sampling(app):
    """Takes no sample of its own."""
    service = SamplingService(app.monitoring.sampler, app.monitoring.history)
    yield service
    service.stop()


@pytest.fixture
def open_page(app, sampling, qtbot, language):
    def opened(*, level: int = 1, gpu: int | None = None, gpus=(), busy: bool = False) -> HealthPage:
        sampling.deliver(sample(*gpus), None)
        page = HealthPage(app, sampling, lambda: busy)
        qtbot.addWidget(page)
        page.resize(900, 700)
        page.show()
        page.choose(level, gpu)
        qtbot.waitUntil(lambda: not page.environment_runner.running, timeout=5000)
        return page

    return opened


@pytest.mark.parametrize(("found", "level", "retest"), [("mains", 2, 2), ("card-heat", 3, 2), ("driver", 2, 1)])
def test_retest_is_the_lowest_level_that_tests_what_was_found(found, level, retest):
    checks = (make_check(found, "warn"), make_check("matmul-bits", "pass"))
    assert retest_level(replace(health_checks(), level=level, checks=checks)) == retest


def test_duration_shown_before_and_scope_after(open_page, app, qtbot, seen):
    page = open_page(level=2)
    assert page.levels.buttons[1].cost_label.text() == "A few minutes"
    assert page.limit_label.text() == "You can cancel at any time. It stops by itself if the card gets too hot."
    page.levels.buttons[2].click()
    assert page.levels.buttons[2].cost_label.text() == "More than 10 minutes"
    page.levels.buttons[1].click()
    page.monotonic = lambda: 100.0
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    assert app.calls[-1] == f"health 2 {Path(ENVIRONMENT.path)}"
    states = [row.check.state for row in page.result_view.rows]
    assert states == ["warn", *["pass"] * (len(states) - 2), "skip"]
    finding = page.result_view.rows[0]
    assert finding.text == "RTX 4060 reached 86 °C, which is hot. At 87 °C it slows itself down."
    # The only finding and its remedy are said by the verdict: its row is the evidence.
    assert page.result_view.verdict.detail_label.text() == f"You can keep using it. {finding.fix}"
    assert [part.text() for part in finding.findChildren(TextLabel) if part.isVisible()] == [finding.text]
    assert page.result_view.level == health_checks().level == 2
    assert page.level == 2  # for the retest, once the card is cooler: the quick check does not heat it
    assert (page.start_button.text(), page.start_button.kind) == ("Repeat thorough check", "secondary")
    assert page.result_view.verdict.title_label.text() == "It works, but the card runs hot: 86 °C"
    assert page.subtitle_label.text().startswith("Thorough check · RTX 4060 · today ")
    assert page.subtitle_label.text().endswith(" · took 1 second")
    assert page.hasFocus()  # not the rail, nor "Repeat thorough check"
    qtbot.waitUntil(lambda: "Check that all fans turn" in seen(page), timeout=5000)
    assert page.result_view.verdict.kind == "warn"
    # The result comes first, then the levels and the button to test again.
    assert (
        page.result_view.verdict.y()
        < page.result_view.parentWidget().y()
        < page.next_test_label.y()
        < page.levels.y()
        < page.start_button.parentWidget().y()
    )
    assert page.verticalScrollBar().value() == 0
    assert page.result_view.title == "Thorough check · RTX 4060"
    # What was not tested is counted, and named on demand with the reasons.
    skipped, scope = page.result_view.rows[-1], page.result_view.scope
    assert not skipped.isVisible()
    assert not scope.isVisible()
    page.result_view.expand_button.click()
    assert skipped.isVisible()
    assert scope.text().startswith("Not tested: calculations under a long full load; ")
    assert "The stress test covers some of these." in scope.text()
    page.result_view.expand_button.click()
    page.copy_button.click()
    verdict, *rows = QGuiApplication.clipboard().text().splitlines()
    assert verdict == "Thorough check: The card works, but it runs hot. See below for what to do."
    assert rows[0].startswith("needs attention: ")
    assert rows[-1].startswith("This verdict covers: the driver; whether each card responds; ")
    assert page.copy_button.text() == "Copied"


def test_one_list_says_what_is_found_tested_and_to_come(open_page, app, qtbot, seen):
    app.gate = threading.Event()
    page = open_page(level=1, gpus=(gpu(0),))
    assert page.areas_card.isVisible()
    qtbot.waitUntil(lambda: "The driver" in seen(page), timeout=5000)
    assert "The free memory, bit by bit" not in seen(page)
    page.levels.buttons[1].click()
    qtbot.waitUntil(lambda: "The free memory, bit by bit" in seen(page), timeout=5000)
    page.start_button.click()
    assert not page.cancel_button.hasFocus()
    pending = page.result_view.pending
    qtbot.waitUntil(pending.current_row.isVisible, timeout=5000)
    assert not page.areas_card.isVisible()
    assert page.live_card.isVisible()
    assert page.title_label.text() == "Testing your graphics card"
    assert not page.copy_button.isVisible()  # there is no result to copy yet
    assert len(page.result_view.rows) == len(progress_reports()) - 1
    assert pending.current_row.accessibleName() == "testing now: The free memory, bit by bit"
    # The memory test is the last calculation of this level; the rest is judged at the end, from all samples.
    assert not any(row.isVisible() for row in pending.rows.values())
    assert pending.sampled_row.isVisible()
    assert pending.sampled_row.accessibleName() == "to come: At the end: what the driver reported during the test"
    assert "Whether each card responds" not in seen(page.result_view)
    qtbot.waitUntil(lambda: pending.y() > page.result_view.passed_fold.y(), timeout=5000)
    page.test_runner.reported.emit(health_checks().checks[8])
    assert not pending.current_row.isVisible()
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)
    assert page.title_label.text() == "Result of the health test"
    assert page.copy_button.isVisible()
    assert not pending.isVisible()
    assert not page.areas_card.isVisible()
    assert not page.live_card.isVisible()


def test_the_list_names_the_gpu_and_its_wrong_results_where_there_are_several(open_page, app, qtbot):
    app.gate = threading.Event()
    app.events["health"] = (replace(PROGRESS, device="cuda:1", errors=3),)
    page = open_page(level=2, gpus=(gpu(0), gpu(1)))
    page.start_button.click()
    row = page.result_view.pending.current_row
    qtbot.waitUntil(row.isVisible, timeout=5000)
    assert row.name_label.text() == "The free memory, bit by bit · GPU 1 · wrong results: 3"
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)


def test_the_bar_and_the_line_below_it_are_of_the_whole_test(open_page, app, qtbot):
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    app.gate = threading.Event()
    page = open_page(level=2, gpus=(gpu(0),))
    page.monotonic = lambda: 100.0
    page.start_button.click()
    qtbot.waitUntil(lambda: "the free memory" in page.progress_label.text(), timeout=5000)
    assert page.progress_label.text() == "Testing now: the free memory, bit by bit"
    assert page.time_label.text() == "34% of the test · running for 1 second · a few minutes in all"
    assert page.progress_bar.fraction() == pytest.approx(4.42 / 13)
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)


def test_a_running_test_says_how_long_it_still_takes(open_page, app, qtbot):
    app.gate = threading.Event()
    app.events["health"] = (PROGRESS,)
    page = open_page(level=3)
    page.monotonic = lambda: 100.0
    page.start_button.click()
    qtbot.waitUntil(lambda: "the free memory" in page.progress_label.text(), timeout=5000)
    assert page.time_label.text() == "0% of the test · running for 1 second · then 10 minutes of full load"
    page.test_runner.reported.emit(replace(PROGRESS, check="load", done=0.8))
    assert page.time_label.text() == "80% of the test · running for 1 second · about 2 minutes left"
    assert page.progress_bar.fraction() == pytest.approx(0.8, abs=0.01)
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)


@pytest.mark.parametrize("gpus", [(), (gpu(0),)])
def test_the_cpu_is_not_listed_where_a_card_is_tested(open_page, app, qtbot, seen, gpus):
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    page = open_page(level=1, gpus=gpus)
    qtbot.waitUntil(lambda: "A small calculation on the card" in seen(page), timeout=5000)
    assert ("A small calculation on the CPU" in seen(page)) == (not gpus)


COUNTING = gpu(1, ecc=True, ecc_uncorrected=0)


@pytest.mark.parametrize(
    ("gpus", "chosen", "listed"),
    [
        ((gpu(0),), None, False),
        ((gpu(0), COUNTING), None, True),
        ((gpu(0), COUNTING), 0, False),
        ((gpu(0, state="asleep"),), None, True),
    ],
)
def test_memory_error_counts_are_listed_unless_the_card_reports_none(open_page, qtbot, seen, gpus, chosen, listed):
    page = open_page(gpus=gpus, gpu=chosen)
    qtbot.waitUntil(lambda: "Errors that the driver reports" in seen(page.areas_card), timeout=5000)
    assert ("The card's own memory error counts" in seen(page.areas_card)) == listed


def test_durations_of_levels_are_in_line_whatever_stands_above(open_page, qtbot):
    page = open_page()
    costs = [card.cost_label for card in page.levels.buttons]
    qtbot.waitUntil(lambda: len({cost.geometry().bottom() for cost in costs}) == 1, timeout=5000)


def test_areas_are_split_into_even_columns(open_page):
    page = open_page()
    page.choose(1, None)
    lengths = [len(group.findChildren(AreaRow)) for group in page.areas_card.groups]
    assert len(lengths) > 1
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("width", [832, 900, 1100])
def test_areas_of_the_quick_check_have_one_line_each(open_page, qtbot, width):
    page = open_page()
    page.resize(width, 700)

    def heights():
        return {row.height() for row in page.areas_card.findChildren(AreaRow) if row.isVisible()}

    qtbot.waitUntil(lambda: len(heights()) == 1, timeout=5000)


def test_groups_of_two_levels_share_the_whole_width(open_page, qtbot):
    page = open_page(level=2)

    def share():
        return sum(group.width() for group in page.areas_card.groups) / page.areas_card.width()

    assert len(page.areas_card.groups) == 2
    qtbot.waitUntil(lambda: 0.85 < share() <= 1, timeout=5000)


@pytest.mark.parametrize(("height", "shown"), [(520, False), (700, True)])
def test_levels_below_a_result_are_brief_in_a_low_window(open_page, app, qtbot, height, shown):
    page = open_page()
    page.resize(900, height)
    card = page.levels.buttons[0]
    assert card.line_label.isVisible()
    page.start_test()
    qtbot.waitUntil(lambda: not page.testing and card.isVisible(), timeout=5000)
    assert card.line_label.isVisible() == shown
    assert card.cost_label.isVisible()
    assert card.line_label.text() in card.accessibleName()
    assert bool(card.toolTip()) != shown


@pytest.mark.parametrize(("width", "rows"), [(900, 1), (560, 3)])
def test_levels_are_side_by_side_where_they_fit(open_page, qtbot, width, rows):
    page = open_page()
    page.resize(width, 700)
    qtbot.waitUntil(lambda: len({card.y() for card in page.levels.buttons}) == rows, timeout=5000)


def test_the_mark_of_a_level_stands_clear_of_its_name_at_any_text_size(open_page, qapp, qtbot):
    page = open_page()
    for scale in (1.0, 1.5, 2.0):
        theme.set_text_scale(qapp, scale)
        card = page.levels.buttons[0]
        qtbot.waitUntil(lambda card=card: card.title_label.x() >= PADDING + theme.px(INDICATOR_SIZE) + 8, timeout=5000)


@pytest.mark.parametrize("nvml", ["absent", "ready"])
def test_a_computer_without_driver_is_told_before_the_test(open_page, sampling, nvml):
    page = open_page()
    sampling.deliver(replace(sample(), nvml=nvml), None)
    page.update_state()
    assert page.no_card_banner.isVisible() == (nvml == "absent")


def test_progress_follows_the_language(open_page, app, language, qtbot):
    app.gate = threading.Event()
    page = open_page(level=2)
    page.start_button.click()
    qtbot.waitUntil(lambda: "bit by bit" in page.progress_label.text(), timeout=5000)
    language.set("zh_CN")
    qtbot.waitUntil(lambda: page.progress_label.text() == "正在测试：逐位检查空闲显存", timeout=5000)
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)


@pytest.mark.parametrize(
    ("verdict", "extra", "title"),
    [
        ("warn", make_check("mains", "warn", value=80), "It works, but the card runs hot: 86 °C, and 1 more"),
        ("fail", make_check("memory-test", "fail", device=NAME), "The card's memory test failed, and 1 more"),
    ],
)
def test_verdict_names_the_worst_finding_first(open_page, verdict, extra, title):
    page, found = open_page(), health_checks()
    page.show_result(replace(found, verdict=verdict, checks=(*found.checks, extra)))
    assert page.result_view.verdict.title_label.text() == title
    assert page.result_view.verdict.detail_label.text() == "See below for what to do."


def test_verdict_on_several_cards_names_the_card(open_page):
    found = health_checks()
    second = [replace(each, data={**each.data, "device": "GPU 1"}) for each in found.checks if each.state == "pass"]
    page = open_page()
    page.show_result(replace(found, checks=(*found.checks, *second)))
    assert page.result_view.verdict.title_label.text() == "It works, but the card runs hot: 86 °C · RTX 4060"


def test_verdict_without_calculations_does_not_say_that_it_works(open_page):
    page, found = open_page(), health_checks(1)
    page.show_result(replace(found, covers=("driver", "card-answers", "card-heat")))
    assert page.result_view.verdict.title_label.text() == "The card runs hot: 86 °C"


def test_only_finding_without_remark_leaves_what_to_do(open_page):
    page, found = open_page(), health_checks()
    passed = [each for each in found.checks if each.state == "pass"]
    link = make_check("link-speed", "warn", device=NAME, value=3, expected=25, share=12, link="@health.link.desktop")
    page.show_result(replace(found, checks=(*passed, link)))
    verdict, row = page.result_view.verdict, next(row for row in page.result_view.rows if row.check is link)
    assert verdict.title_label.text() == "It works, but copies are slow: 3 GB/s of 25 GB/s"
    assert verdict.detail_label.text() == row.fix
    assert [part.text() for part in row.findChildren(TextLabel) if part.isVisible()] == [row.text]


def test_only_finding_of_an_alarm_is_the_verdict_above_its_evidence(open_page):
    page, found = open_page(), health_checks()
    passed = [each for each in found.checks if each.state == "pass"]
    errors = make_check("card-errors", "warn", device=NAME, name=NAME, alarm="memory-errors-before", count=3)
    page.show_result(replace(found, checks=(*passed, errors)))
    row = next(row for row in page.result_view.rows if row.check is errors)
    evidence = f"Since the driver was loaded, {NAME} has counted 3 memory errors that it could not correct."
    assert page.result_view.verdict.title_label.text() == "It works, but your GPU's memory had errors"
    assert [part.text() for part in row.findChildren(TextLabel) if part.isVisible()] == [evidence]


@pytest.mark.parametrize("code", ["en", "zh_CN"])
@pytest.mark.parametrize("check_id", sorted({*COMPUTED_AREAS, *REPORTED_AREAS, *SETUP_CHECKS} - {"card-fan"}))
def test_every_check_that_can_fail_has_a_headline(check_id, code):
    data = {"dtype": "float16", "free_memory_bytes": 1, "total_memory_bytes": 2}
    assert Texts(code).check_headline(make_check(check_id, "fail", value=1, **data))


def test_start_button_names_the_level(open_page):
    page = open_page()
    texts = []
    for card in page.levels.buttons:
        card.click()
        texts.append(page.start_button.text())
    assert texts == ["Start quick check", "Start thorough check", "Start stress test"]


def visible_pills(fold: PassedFold) -> list[tuple[str, str]]:
    return [(pill.kind, pill.text) for pill in fold.findChildren(Pill) if pill.isVisible()]


def test_what_passed_is_folded_and_names_no_card(open_page, qtbot, seen):
    page = open_page()
    page.show_result(health_checks())
    fold = page.result_view.passed_fold
    assert visible_pills(fold) == [("ok", "16 checks passed"), ("warn", "1 warning"), ("neutral", "6 not tested")]
    assert "The card responds." not in seen(page)
    fold.button.click()
    qtbot.waitUntil(lambda: "The card responds." in seen(page), timeout=5000)
    assert "Copies to the card run at 12.6 GB/s" in seen(page)
    assert "PyTorch sees RTX 4060 with 8 GB." in seen(page)
    assert fold.button.text() == "Hide"
    page.retranslate()
    assert page.result_view.passed_fold.is_open
    fold.button.click()
    qtbot.waitUntil(lambda: "The card responds." not in seen(page), timeout=5000)


@pytest.mark.parametrize(
    ("code", "states", "pills"),
    [
        ("en", ("pass", "pass"), [("ok", "2 checks passed")]),
        (
            "en",
            ("pass", "fail", "warn", "warn"),
            [("ok", "1 check passed"), ("error", "1 failed"), ("warn", "2 warnings")],
        ),
        (
            "zh_CN",
            ("pass", "fail", "warn"),
            [("ok", "1 项检查通过"), ("error", "1 项未通过"), ("warn", "1 项需要留意")],
        ),
    ],
)
def test_what_did_not_pass_is_counted_and_open_below_the_count(open_page, language, qtbot, code, states, pills):
    language.set(code)
    page = open_page()
    verdict = next((each for each in ("fail", "warn") if each in states), "pass")
    checks = [
        make_check("card-heat", state, device=NAME, value=86, limit=87, air="@health.air.desktop") for state in states
    ]
    page.show_result(replace(health_checks(), verdict=verdict, checks=tuple(checks), leaves_out=()))
    fold = page.result_view.passed_fold
    assert visible_pills(fold) == pills
    findings = [row for row in page.result_view.rows if row.check.state != "pass"]
    assert all(row.isVisible() for row in findings)
    qtbot.waitUntil(lambda: all(row.y() > fold.y() for row in findings), timeout=5000)


def test_the_program_helps_with_a_finding_before_it_is_tested_again(home, app, qtbot):
    window, _ = home(app)
    area = window.main_area
    area.open_page(HEALTH)
    page = area.pages[HEALTH]
    view = page.result_view
    page.show_result(health_checks())
    assert (view.remedy_button.text(), view.remedy_button.kind) == ("Watch temperature", "primary")
    view.remedy_button.click()
    qtbot.waitUntil(lambda: area.current_page == MONITOR, timeout=20_000)
    area.open_page(HEALTH)
    busy = make_check("card-memory", "warn", device=NAME, busy=50, free_memory_bytes=1, total_memory_bytes=2)
    page.show_result(replace(health_checks(), checks=(busy,)))
    assert view.remedy_button.text() == "Show programs"
    view.remedy_button.click()
    assert area.current_page == MONITOR
    feed(window, sample(gpu()))
    card = area.pages[MONITOR].gpu_details.processes_card
    qtbot.waitUntil(lambda: card.isVisible() and not card.visibleRegion().isEmpty(), timeout=5000)


@pytest.mark.parametrize("checks", [(make_check("driver", "pass", value="617.42"),), (make_check("mains", "warn"),)])
def test_where_the_program_cannot_help_the_test_is_repeated(open_page, checks):
    page = open_page()
    page.choose(2, None)
    page.show_result(replace(health_checks(), verdict=checks[0].state, checks=checks))
    page.update_state()
    assert not page.result_view.remedy_button.isVisible()
    assert (page.start_button.text(), page.start_button.kind) == ("Repeat thorough check", "primary")


def test_folded_checks_get_labels_when_they_are_unfolded_some_a_turn(open_page, qtbot):
    page = open_page()
    page.show_result(replace(health_checks(), checks=health_checks().checks * 4))
    passed = [row for row in page.result_view.rows if row.check.state == "pass"]
    assert not any(row.findChildren(TextLabel) for row in passed)
    counts = [0]
    heart = QTimer(page, interval=0)
    heart.timeout.connect(lambda: counts.append(sum(row.isVisible() for row in passed)))
    heart.start()
    page.result_view.passed_fold.button.click()
    qtbot.waitUntil(lambda: counts[-1] == len(passed), timeout=5000)
    assert max(after - before for before, after in pairwise(counts)) <= ROWS_PER_TURN < len(passed)
    assert all(row.findChildren(TextLabel) for row in passed)


def test_another_language_keeps_the_rows_and_the_curves(open_page, language, qtbot, seen):
    page = open_page(level=3)
    curve = HealthTestCurve(gpu=0, t=(0.0, 60.0), temp=(40, 80), clock_sm=(2700, 1800), throttle=((), ("thermal",)))
    page.show_result(replace(health_checks(3), curves=(curve,)))
    page.result_view.passed_fold.button.click()
    qtbot.waitUntil(lambda: "The card responds." in seen(page), timeout=5000)
    rows, curves = list(page.result_view.rows), list(page.result_view.curves)
    language.set("zh_CN")
    qtbot.waitUntil(lambda: "显卡有响应。" in seen(page), timeout=5000)
    assert "The card responds." not in seen(page)
    assert "Temperature" not in seen(page)
    assert (page.result_view.rows, page.result_view.curves) == (rows, curves)


def test_what_passed_names_the_card_where_several_are_tested(open_page):
    second = [
        replace(check, data={**check.data, "device": "NVIDIA GeForce RTX 4090"}) for check in health_checks().checks
    ]
    page = open_page()
    page.show_result(replace(health_checks(), checks=(*health_checks().checks, *second)))
    assert "RTX 4090 responds." in [row.text for row in page.result_view.rows]
    assert "RTX 4060 responds." in [row.text for row in page.result_view.rows]


def test_chinese_has_no_space_around_the_unnamed_card(open_page, language):
    page = open_page()
    language.set("zh_CN")
    page.show_result(health_checks())
    assert "显卡有响应。" in [row.text for row in page.result_view.rows]


@pytest.mark.parametrize(
    ("verdict", "level", "text"),
    [("warn", 2, "Repeat thorough check"), ("pass", 3, "Start stress test"), ("fail", 2, "Repeat thorough check")],
)
def test_one_button_starts_the_next_test_and_says_whether_it_is_the_same(open_page, app, qtbot, verdict, level, text):
    app.results["health"] = replace(health_checks(), verdict=verdict)
    page = open_page(level=2, gpus=(gpu(0),))
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    assert (page.level, page.start_button.text()) == (level, text)
    page.levels.buttons[0].click()
    assert page.start_button.text() == "Start quick check"
    page.levels.buttons[1].click()
    assert page.start_button.text() == "Repeat thorough check"
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    assert app.calls[-1] == f"health 2 {Path(ENVIRONMENT.path)}"


def test_the_last_calculation_says_how_long_the_test_still_takes(open_page, app, qtbot):
    app.gate = threading.Event()
    app.events["health"] = (PROGRESS,)  # 42 % of the memory test
    page = open_page(level=2, gpus=(gpu(0),))
    page.start_button.click()
    qtbot.waitUntil(lambda: "the free memory" in page.progress_label.text(), timeout=5000)
    assert "a few minutes in all" in page.time_label.text()
    now = page.monotonic()
    page.monotonic = lambda: now + 84
    page.update_state()
    assert "about 2 minutes left" in page.time_label.text()
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing, timeout=5000)


def test_a_verdict_that_covers_nothing_lists_no_dash(language):
    untested = replace(health_checks(1), covers=(), leaves_out=("device-compute", *NEVER_COVERED))
    assert current.texts().scope_text(untested).startswith("Not tested: a small calculation on the card; ")
    assert "—" not in current.texts().scope_text(untested)


@pytest.mark.parametrize("first", ["health test", "benchmark"])
def test_health_test_and_benchmark_switch_each_other_off(home, app, qtbot, first):
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, _ = home(app)
    area = window.main_area
    area.open_page(BENCHMARK)
    bench = area.pages[BENCHMARK]
    area.open_page(HEALTH)
    health = area.pages[HEALTH]
    qtbot.waitUntil(health.start_button.isEnabled)
    qtbot.waitUntil(lambda: bench.can_measure)
    app.gate = threading.Event()
    if first == "health test":
        health.start_button.click()
        area.open_page(BENCHMARK)
        assert not bench.empty_state.button.isEnabled()
        assert "health test" in bench.busy_banner.label.text()
        assert bench.busy_banner.isVisible()
        bench.measure()
        assert not bench.measuring
    else:
        bench.measure()
        assert not health.start_button.isEnabled()
        assert "benchmark" in health.limit_label.text()
    app.gate.set()
    qtbot.waitUntil(lambda: not (health.testing or bench.measuring), timeout=5000)
    assert health.start_button.isEnabled()
    assert not bench.busy_banner.isVisible()
    assert bench.empty_state.button.isEnabled() or bench.measure_button.isEnabled()


def test_cancel_keeps_finished_checks(open_page, app, qtbot, seen):
    app.gate = threading.Event()
    page = open_page(level=2)
    page.start_button.click()
    qtbot.waitUntil(page.result_view.pending.current_row.isVisible, timeout=5000)
    found = len(page.result_view.rows)
    assert found == len(progress_reports()) - 1
    assert not page.levels.isEnabled()
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.cancel_button.click()
    assert "without a verdict" in seen(page)
    assert len(page.result_view.rows) == found
    assert not page.result_view.pending.isVisible()
    assert page.start_button.isVisible()


@pytest.mark.parametrize("stop", [False, True])
def test_closing_the_window_asks_first_while_a_test_runs(home, app, qtbot, monkeypatch, stop):
    window, _ = home(app)
    app.gate = threading.Event()
    window.main_area.open_health_test(3)
    page = window.main_area.pages[HEALTH]
    qtbot.waitUntil(page.start_button.isEnabled)
    page.start_button.click()
    titles = []
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *texts, **options: titles.append(texts[1]) or stop)
    window.close()
    assert titles == ["Stop the health test?"]
    if stop:
        qtbot.waitUntil(window.isHidden)
        return
    assert window.isVisible()
    assert page.testing
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing)


def test_a_test_goes_on_while_another_page_is_open(home, app, qtbot):
    window, _ = home(app)
    app.gate = threading.Event()
    window.main_area.rail.buttons[HEALTH].click()
    page = window.main_area.pages[HEALTH]
    qtbot.waitUntil(page.start_button.isEnabled)
    page.start_button.click()
    window.main_area.open_page(HOME)
    app.gate.set()
    qtbot.waitUntil(lambda: not page.testing)
    window.main_area.open_page(HEALTH)
    assert page.result_view.verdict.isVisible()


def test_another_language_keeps_the_result(open_page, language, qtbot):
    page = open_page()
    page.show_result(health_checks())
    language.set("zh_CN")
    qtbot.waitUntil(lambda: "显卡偏热" in page.result_view.verdict.title_label.text())
    assert len(page.result_view.rows) == len(health_checks().checks)
    assert page.result_view.verdict.isVisible()


def test_minutes_and_gpu_can_be_selected(open_page, app, qtbot):
    page = open_page(level=3, gpus=(gpu(0), gpu(1)), gpu=1)
    page.test_options.minutes.buttons[2].click()
    assert page.levels.buttons[2].cost_label.text() == "More than 30 minutes"
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    assert app.calls[-1] == f"health 3 {Path(ENVIRONMENT.path)} cuda:1 1800.0"
    page.test_options.gpu_dropdown.choose(page.test_options.gpu_dropdown.entries[0])
    page.levels.buttons[1].click()
    assert not page.test_options.minutes.isVisible()
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    assert app.calls[-1] == f"health 2 {Path(ENVIRONMENT.path)}"


def test_single_gpu_hides_selection(open_page):
    page = open_page(gpus=(gpu(0),), gpu=0)
    assert not page.test_options.isVisible()
    assert page.test_options.device is None


def test_gpu_curves_are_drawn(open_page, seen, qtbot):
    t = tuple(float(second) for second in range(900))
    hot = replace(
        health_checks(3),
        curves=(
            HealthTestCurve(
                gpu=0,
                t=t,
                temp=tuple(40 + min(second, 400) // 10 for second in range(900)),
                clock_sm=tuple(2700 if second < 450 else 1800 for second in range(900)),
                throttle=tuple(() if second < 450 else ("thermal",) for second in range(900)),
            ),
        ),
    )
    page = open_page(level=3)
    page.show_result(hot)
    qtbot.waitUntil(lambda: "Temperature: 40 °C at the start, 80 °C at most" in seen(page), timeout=5000)
    assert "Slowed down for 50% of the time" in seen(page)
    temperature, clock, throttle = page.result_view.curves[0].sparklines
    assert max(value for _, value in temperature.points()) == 80
    assert min(value for _, value in clock.points()) == 1800
    assert {value for _, value in throttle.points()} == {0.0, 1.0}
    page.show_result(health_checks())
    assert page.result_view.curves == []


def test_verdict_shows_level_and_untested_gpu(open_page):
    page = open_page()
    page.show_result(replace(health_checks(1), verdict="pass"))
    assert page.result_view.verdict.title_label.text() == "Everything that was tested passed"
    assert page.result_view.title == "Quick check · RTX 4060"
    assert page.result_view.verdict.kind == "ok"
    page.show_result(replace(health_checks(2), verdict="pass", covers=("cpu-compute", "memory-test-cpu")))
    assert page.result_view.verdict.kind == "neutral"
    assert "No card was tested" in page.result_view.verdict.title_label.text()


def test_checks_precede_scope(open_page, qtbot):
    page = open_page()
    page.show_result(health_checks())
    page.result_view.expand_button.click()
    qtbot.waitUntil(lambda: page.result_view.scope.y() > page.result_view.rows[-1].y(), timeout=5000)


@pytest.mark.parametrize("gpus", [(gpu(0),), (gpu(0), gpu(1, temp=80))])
def test_home_opens_health_test_of_all_cards(home, app, qtbot, gpus):
    window, shown = home(app)
    feed(window, sample(*gpus))
    qtbot.waitUntil(shown.live_card.test_button.isVisible, timeout=5000)
    shown.live_card.test_button.click()
    assert window.main_area.current_page == HEALTH
    assert window.main_area.pages[HEALTH].test_options.device is None


def test_only_level_1_without_environment(open_page, app, seen):
    app.known = ()
    page = open_page(level=2)
    assert not page.start_button.isEnabled()
    assert "The quick check works without it" in page.limit_label.text()
    page.levels.buttons[0].click()
    assert page.start_button.isEnabled()
    assert "without calculations" in page.levels.buttons[0].line_label.text()
    assert "small calculation on the card" not in seen(page)


@pytest.mark.parametrize(("variant", "warned"), [("cpu", True), ("cu130", False)])
def test_cpu_only_pytorch_shows_warning(open_page, app, variant, warned):
    app.known = (replace(ENVIRONMENT, variant=variant),)
    page = open_page(level=3)
    assert page.cpu_only_banner.isVisible() == warned
    assert "only on the CPU" in page.cpu_only_banner.label.text()
    assert page.start_button.isEnabled()
    page.levels.buttons[0].click()
    assert not page.cpu_only_banner.isVisible()


def test_health_test_blocked_during_benchmark(open_page):
    page = open_page(busy=True)
    assert not page.start_button.isEnabled()
    assert "benchmark" in page.limit_label.text()


def test_alarm_opens_test_at_level_2(home, app, qtbot):
    window, page = home(app)
    for _ in range(3):
        feed(window, sample(gpu(ecc_uncorrected=5)))
    row = next(iter(page.alarms_card.rows.values()))
    assert row.test_button.isVisible()
    row.test_button.click()
    page = window.main_area.pages[HEALTH]
    assert page.level == 2
    assert window.main_area.current_page == HEALTH


def test_scope_lists_most_important_first(open_page, app, qtbot):
    app.results["health"] = replace(health_checks(1), leaves_out=(*PRIORITY_AREAS, "card-fan", *NEVER_COVERED))
    page = open_page(level=1)
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.start_button.click()
    scope = page.result_view.scope
    page.result_view.expand_button.click()
    assert "a small calculation on the card; calculations in each precision; the free memory, bit by bit; " in (
        scope.text()
    )
    assert "screens, games and video" in scope.text()
    page.result_view.expand_button.click()
    assert "screens" not in scope.text()
    page.copy_button.click()
    assert "screens, games and video" in QGuiApplication.clipboard().text()


def test_real_job_runs_without_environment(tmp_path):
    """On this computer, in the way that the window runs it."""
    real_app = App(data_dir=str(tmp_path / "d"), environ={})
    checks = HealthTestJob(real_app, None, 1).run(JobContext())
    assert checks.level == 1
    assert "cpu-compute" in checks.leaves_out
