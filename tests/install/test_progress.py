"""What an install passes on of what its tools wrote."""

from __future__ import annotations

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import LogEvent, StepEvent
from gpu_assistant.install.progress import ProgressReporter


def test_activation_advice_of_uv_is_dropped():
    heard: list[object] = []
    reporter = ProgressReporter(JobContext(report=heard.append))
    for line in ("Using CPython 3.11.2", "Activate with: source pytorch.partial/bin/activate", "Installed 11 packages"):
        reporter.log(line)
    assert [event.line for event in heard if isinstance(event, LogEvent)] == [
        "Using CPython 3.11.2",
        "Installed 11 packages",
    ]


def test_end_of_a_step_is_reported_once_though_empty_files_follow():
    heard: list[object] = []
    reporter = ProgressReporter(JobContext(report=heard.append), clock=lambda: 0.0)
    for done in (1, 5, 9, 9, 9):
        reporter.report_progress(done=done, total=9, unit="bytes")
    assert [event.done for event in heard if isinstance(event, StepEvent)] == [1, 9]


def test_second_amount_of_a_step_is_reported_though_it_ends_at_the_same_time():
    heard: list[object] = []
    reporter = ProgressReporter(JobContext(report=heard.append), clock=lambda: 0.0)
    for done, unit in ((9, "bytes"), (9, "items")):
        reporter.report_progress(done=done, total=9, unit=unit)
    assert [event.unit for event in heard if isinstance(event, StepEvent)] == ["bytes", "items"]
