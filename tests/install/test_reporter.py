"""What an install passes on of what its tools wrote."""

from __future__ import annotations

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import LogEvent
from gpu_assistant.install.reporter import ProgressReporter


def test_advice_for_the_folder_that_is_moved_afterwards_is_not_passed_on():
    heard: list[object] = []
    reporter = ProgressReporter(JobContext(report=heard.append))
    for line in ("Using CPython 3.11.2", "Activate with: source pytorch.partial/bin/activate", "Installed 11 packages"):
        reporter.log(line)
    assert [event.line for event in heard if isinstance(event, LogEvent)] == [
        "Using CPython 3.11.2",
        "Installed 11 packages",
    ]
