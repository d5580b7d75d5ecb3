"""The sampling thread: when it runs, on which thread its results arrive, how it fails."""

from __future__ import annotations

import threading
import time

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.results import Sample
from gpu_assistant.gui.monitor.metrics import CPU_UTILIZATION
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.monitor.history import History

pytestmark = pytest.mark.gui


class Source:
    closed = 0

    def close(self) -> None:
        self.closed += 1


class Counting(Source):
    """Gives numbered samples and records the threads and arguments of the calls."""

    def __init__(self) -> None:
        self.count = 0
        self.detailed: list[bool] = []
        self.threads: set[str] = set()

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        self.count += 1
        self.detailed.append(detailed)
        self.threads.add(threading.current_thread().name)
        return Sample(t=float(self.count), gpus=())


class Failing(Source):
    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        raise AppError("internal", detail="no")


@pytest.fixture
def sampling(qtbot):
    source = Counting()
    sampling = SamplingService(lambda: source, History, interval=0.01)
    sampling.source = source
    yield sampling
    assert sampling.stop()


def test_samples_arrive_on_window_thread(qtbot, sampling):
    arrived_on = []
    sampling.sampled.connect(lambda _: arrived_on.append(threading.current_thread()))
    with qtbot.waitSignals([sampling.sampled] * 3, timeout=5000):
        sampling.request_samples("home", True)
    assert set(arrived_on) == {threading.main_thread()}
    assert sampling.source.threads == {"sampling"}
    assert sampling.history.latest.t >= 3
    assert not any(sampling.source.detailed)


def test_no_sampling_without_request(qtbot, sampling):
    sampling.request_samples("home", True)
    sampling.request_samples("monitor", True)
    qtbot.waitSignal(sampling.sampled, timeout=5000).wait()
    sampling.request_samples("home", False)
    assert sampling.running
    sampling.request_samples("monitor", False)
    assert not sampling.running
    # The driver is closed: an open one keeps idle GPUs from sleeping.
    qtbot.waitUntil(lambda: sampling.source.closed == 1, timeout=5000)
    with qtbot.waitSignal(sampling.sampled, timeout=5000):
        sampling.request_samples("home", True)


def test_thread_starts_at_first_request(qtbot):
    created: list[int] = []
    sampling = SamplingService(lambda: created.append(1), History)
    assert "sampling" not in {thread.name for thread in threading.enumerate()}
    assert sampling.stop()
    assert created == []


def test_failing_source_reports_and_retries(qtbot):
    sampling = SamplingService(Failing, History, interval=0.01)
    try:
        errors = []
        sampling.failed.connect(errors.append)
        with qtbot.waitSignals([sampling.failed] * 2, timeout=5000):
            sampling.request_samples("home", True)
        assert {error.code for error in errors} == {"internal"}
    finally:
        assert sampling.stop()


def test_no_signal_after_stop(qtbot, sampling):
    sampling.request_samples("home", True)
    qtbot.waitSignal(sampling.sampled, timeout=5000).wait()
    received = []
    assert sampling.stop()
    sampling.sampled.connect(received.append)
    qtbot.wait(50)
    sampling.request_samples("home", True)
    assert received == []
    assert not sampling.running


def test_stop_does_not_wait_for_hung_driver(qtbot):
    entered, released = threading.Event(), threading.Event()

    class Hanging(Source):
        def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
            entered.set()
            released.wait(10)
            return Sample(t=0.0, gpus=())

    sampling = SamplingService(Hanging, History)
    sampling.request_samples("home", True)
    assert entered.wait(5)
    assert not sampling.stop(timeout=0.01)
    released.set()
    assert sampling.stop()


def test_expensive_fields_sampled_only_while_visible(qtbot, sampling):
    sampling.request_samples("home", True)
    qtbot.waitSignal(sampling.sampled, timeout=5000).wait()
    sampling.request_samples("monitor", True, detailed=True)
    qtbot.waitUntil(lambda: sampling.source.detailed[-1], timeout=5000)
    sampling.request_samples("monitor", True)
    qtbot.waitUntil(lambda: not sampling.source.detailed[-1], timeout=5000)
    assert sampling.running


def test_history_io_runs_on_sampling_thread(qtbot, tmp_path):
    def recorded(cpu):
        """One run of the program, until its samples are in the history."""
        threads = []

        def store():
            threads.append(threading.current_thread().name)
            return History(tmp_path)

        class Machine(Source):
            def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
                return Sample(t=time.time(), gpus=(), cpu=cpu)

        sampling = SamplingService(Machine, store, interval=0.01)
        sampling.load_now()
        with qtbot.waitSignals([sampling.sampled] * 3, timeout=5000):
            sampling.request_samples("monitor", True)
        window = sampling.history.since(CPU_UTILIZATION, -1, time.time() - 60)
        assert sampling.stop()
        assert threads == ["sampling"]
        return window.mean.tolist()

    assert set(recorded(20.0)) == {20.0}
    # The same second may have begun before the restart.
    assert {20.0, 30.0} >= set(recorded(30.0)) >= {20.0}


def test_write_error_reported_and_sampling_continues(qtbot, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    sampling = SamplingService(Counting, lambda: History(tmp_path / "file" / "history"), interval=0.01)
    sampling.load_now()
    errors = []
    sampling.failed.connect(errors.append)
    with qtbot.waitSignal(sampling.failed, timeout=5000):
        sampling.request_samples("home", True)
    qtbot.waitSignals([sampling.sampled] * 2, timeout=5000).wait()
    sampling.stop()
    assert len(errors) == 1
