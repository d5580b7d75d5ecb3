"""Asks a driver that may be slow or hang, without waiting for it longer than a window can."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..core.results import GpuSample, NvmlState

if TYPE_CHECKING:
    from ..system.nvml import NvmlMonitor

WAIT_S = 2.0  # a healthy driver takes some milliseconds, and a second or two to wake up
HUNG_S = 15.0  # eight server cards without persistence mode take this long to open


class DriverAnswer(Struct, frozen=True, kw_only=True):
    """What the driver said last."""

    state: NvmlState = "untried"
    driver: str | None = None
    gpus: tuple[GpuSample, ...] = ()


class NonBlockingSampler:
    """Asks in a thread of its own; one thread at a time may call.

    A call that hangs inside the driver cannot be ended: it is left behind (the thread is a daemon), said, and
    taken up again when it comes back.
    """

    def __init__(self, nvml: NvmlMonitor, *, wait_s: float = WAIT_S, hung_s: float = HUNG_S) -> None:
        self._nvml = nvml
        self._wait_s, self._hung_s = wait_s, hung_s
        self._condition = threading.Condition()
        self._answer: DriverAnswer | Exception = DriverAnswer()
        self._gpus: tuple[GpuSample, ...] = ()
        self._requested_at: float | None = None
        self._is_late = False
        self._include_details = self._include_processes = True
        self._closed = False
        self._thread: threading.Thread | None = None

    def sample(self, *, looking: bool, programs: bool) -> DriverAnswer:
        """The cards just now. While the driver does not answer, they are "silent", and `state` says why."""
        with self._condition:
            is_new_request = self._requested_at is None
            if is_new_request and not self._is_late:
                self._requested_at, self._include_details, self._include_processes = time.monotonic(), looking, programs
                self._start_thread()
                self._condition.notify_all()
            # Who was waited for once is not waited for again: processor and memory are shown meanwhile.
            has_answer = self._condition.wait_for(lambda: self._requested_at is None, self._wait_s if is_new_request else 0)
            self._is_late = not has_answer
            if not has_answer:
                waited_s = time.monotonic() - (self._requested_at or 0.0)
                gpus = self._gpus or self._nvml.last_known_samples()
                silent_gpus = tuple(gpu if gpu.state == "gone" else replace(gpu, state="silent") for gpu in gpus)
                return DriverAnswer(state="hung" if waited_s >= self._hung_s else "slow", gpus=silent_gpus)
            answer = self._answer
        if isinstance(answer, Exception):
            raise answer
        self._gpus = tuple(
            GpuSample(index=gpu.index, name=gpu.name, uuid=gpu.uuid, address=gpu.address, state=gpu.state)
            for gpu in answer.gpus
        )
        return answer

    def close(self) -> None:
        """Let go of the driver; where a call hangs, as soon as it comes back."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(0.0 if self._requested_at is not None else self._wait_s)

    def _start_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="nvml", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            while self._wait_for_request():
                try:
                    gpus = self._nvml.sample(detailed=self._include_details, processes=self._include_processes)
                    answer: DriverAnswer | Exception = DriverAnswer(state=self._nvml.state, driver=self._nvml.driver, gpus=gpus)
                except Exception as error:  # noqa: BLE001 - raised where it was asked
                    answer = error
                with self._condition:
                    self._answer, self._requested_at = answer, None
                    self._condition.notify_all()
        finally:
            self._nvml.close()

    def _wait_for_request(self) -> bool:
        """Until somebody asks; False once it is over."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._requested_at is not None)
            return not self._closed
