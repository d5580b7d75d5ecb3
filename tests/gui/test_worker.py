from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpu_assistant.core.errors import AppError, NetworkError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import LogEvent, PlanEvent, StepEvent
from gpu_assistant.gui.worker import JobRunner


class FakeJob:
    """A job that does what the test says."""

    def __init__(self, work: Callable[[JobContext[Any]], Any]) -> None:
        self.work = work
        self.thread: QThread | None = None

    def run(self, context: JobContext[Any]) -> Any:
        self.thread = QThread.currentThread()
        return self.work(context)


@pytest.fixture
def runner(qtbot: QtBot) -> JobRunner:
    return JobRunner()


def heard(signal: Any) -> list[Any]:
    received: list[Any] = []
    signal.connect(lambda *args: received.append(args[0] if args else None))
    return received


def test_result_delivered_from_other_thread(runner: JobRunner, qtbot: QtBot) -> None:
    job = FakeJob(lambda _context: 42)
    ends = {name: heard(getattr(runner, name)) for name in ("failed", "cancelled", "finished")}
    with qtbot.waitSignal(runner.done) as done:
        runner.start(job)
        assert runner.running
    assert done.args == [42]
    assert job.thread is not QThread.currentThread()
    assert not runner.running
    assert [len(each) for each in ends.values()] == [0, 0, 1]


def test_app_error_is_delivered(runner: JobRunner, qtbot: QtBot) -> None:
    error = NetworkError("no-source", host="here")

    def work(_context: JobContext[Any]) -> None:
        raise error

    done = heard(runner.done)
    with qtbot.waitSignals([runner.failed, runner.finished]):
        failed = heard(runner.failed)
        runner.start(FakeJob(work))
    assert failed == [error]
    assert not done


def test_unexpected_exception_becomes_app_error(
    runner: JobRunner, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_context: JobContext[Any]) -> None:
        raise ZeroDivisionError("ouch")

    with caplog.at_level(logging.ERROR), qtbot.waitSignal(runner.failed) as failed:
        runner.start(FakeJob(work))
    error = failed.args[0]
    assert isinstance(error, AppError)
    assert error.code == "internal"
    assert "ouch" in str(error.data["detail"])
    assert "Traceback" in caplog.text


def test_cancel_ends_in_cancelled(runner: JobRunner, qtbot: QtBot) -> None:
    begun = threading.Event()

    def work(context: JobContext[Any]) -> None:
        begun.set()
        context.cancel.wait(20)
        context.check_cancelled()

    failed = heard(runner.failed)
    with qtbot.waitSignals([runner.cancelled, runner.finished]):
        runner.start(FakeJob(work))
        assert begun.wait(10)
        runner.cancel()
    assert not failed


def test_progress_is_throttled_other_reports_kept(runner: JobRunner, qtbot: QtBot) -> None:
    plan = PlanEvent(steps=())

    def work(context: JobContext[Any]) -> None:
        context.report(plan)
        for count in range(5000):
            context.report(StepEvent(id="a", state="running", done=count, total=5000))
            context.report(StepEvent(id="b", state="running", done=count))
        context.report(StepEvent(id="a", state="done", done=5000, total=5000))
        context.report("a word")
        context.report("a word")

    events = heard(runner.reported)
    with qtbot.waitSignal(runner.done):
        runner.start(FakeJob(work))
    assert events[0] == plan
    assert len(events) < 100
    assert events.count("a word") == 2
    of_a = [each for each in events if isinstance(each, StepEvent) and each.id == "a"]
    assert [each.done for each in of_a] == sorted(each.done or 0 for each in of_a)
    assert of_a[-1].state == "done"
    assert of_a[-2].done == 4999
    assert [each for each in events if isinstance(each, StepEvent) and each.id == "b"][-1].done == 4999


def test_reports_at_most_ten_per_second(runner: JobRunner, qtbot: QtBot) -> None:
    go_on = threading.Event()

    def work(context: JobContext[Any]) -> None:
        count = 0
        while not go_on.wait(0.001):
            count += 1
            context.report(StepEvent(id="a", state="running", done=count))

    ticks: list[Any] = []
    runner.findChild(QTimer).timeout.connect(lambda: ticks.append(len(ticks)))
    events = heard(runner.reported)
    with qtbot.waitSignal(runner.finished):
        runner.start(FakeJob(work))
        qtbot.waitUntil(lambda: len(ticks) >= 4)
        go_on.set()
    assert len(events) <= len(ticks) + 1


def test_log_lines_are_batched_without_loss(runner: JobRunner, qtbot: QtBot) -> None:
    def work(context: JobContext[Any]) -> None:
        for count in range(1000):
            context.log(f"line {count}")
            context.report(LogEvent(id="a", line=f"event {count}"))

    batches, events = heard(runner.logged), heard(runner.reported)
    with qtbot.waitSignal(runner.finished):
        runner.start(FakeJob(work))
    lines = [line for batch in batches for line in batch]
    assert len(lines) == 2000
    assert lines[:2] == ["line 0", "event 0"]
    assert len(batches) < 100
    assert not events


def test_wait_delivers_final_signal(runner: JobRunner, qtbot: QtBot) -> None:
    go_on = threading.Event()
    done = heard(runner.done)
    runner.start(FakeJob(lambda _context: go_on.wait(20)))
    assert not runner.wait(20)
    assert runner.running
    go_on.set()
    assert runner.wait(10_000)
    assert done == [True]
    assert not runner.running
    assert runner.wait(0)
    qtbot.wait(20)
    assert done == [True], "the ending comes once"


def test_job_goes_on_where_its_runner_is_deleted(qapp: QApplication, qtbot: QtBot) -> None:
    """Qt would end the process over a running thread that goes with it."""
    begun, go_on = threading.Event(), threading.Event()

    def work(_context: JobContext[Any]) -> None:
        begun.set()
        go_on.wait(20)

    runner = JobRunner()
    runner.start(FakeJob(work))
    assert begun.wait(10)
    (thread,) = (each for each in qapp.findChildren(QThread) if each.objectName() == "FakeJob")
    with qtbot.waitSignal(thread.destroyed):
        shiboken6.delete(runner)
        assert thread.isRunning()
        go_on.set()


def test_runner_runs_one_job_at_a_time(runner: JobRunner, qtbot: QtBot) -> None:
    go_on = threading.Event()
    runner.start(FakeJob(lambda _context: go_on.wait(20)))
    with pytest.raises(RuntimeError):
        runner.start(FakeJob(lambda _context: None))
    go_on.set()
    assert runner.wait(10_000)
    with qtbot.waitSignal(runner.done) as done:
        runner.start(FakeJob(lambda _context: "second"))
    assert done.args == ["second"]


def test_next_job_can_start_from_finished_signal(runner: JobRunner, qtbot: QtBot) -> None:
    results = heard(runner.done)
    left = [FakeJob(lambda _context: 2), FakeJob(lambda _context: 3)]
    runner.finished.connect(lambda: runner.start(left.pop(0)) if left else None)
    runner.start(FakeJob(lambda _context: 1))
    qtbot.waitUntil(lambda: results == [1, 2, 3])
    qtbot.waitUntil(lambda: not runner.running)
