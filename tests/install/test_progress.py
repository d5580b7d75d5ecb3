"""What an install passes on of what its tools wrote."""

from __future__ import annotations

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import LogEvent
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
