"""Asks a driver that may be slow or hang, without waiting for it longer than a window can."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..core.results import GpuSample, NvmlState

if TYPE_CHECKING:
    from ..system.nvml import Nvml

WAIT_S = 2.0  # a healthy driver takes some milliseconds, and a second or two to wake up
HUNG_S = 15.0  # eight server cards without persistence mode take this long to open


class Answer(Struct, frozen=True, kw_only=True):
    """What the driver said last."""

    state: NvmlState = "untried"
    driver: str | None = None
    gpus: tuple[GpuSample, ...] = ()


class Patient:
    """Asks in a thread of its own; one thread at a time may call.

    A call that hangs inside the driver cannot be ended: it is left behind (the thread is a daemon), said, and
    taken up again when it comes back.
    """

    def __init__(self, nvml: Nvml, *, wait_s: float = WAIT_S, hung_s: float = HUNG_S) -> None:
        self._nvml = nvml
        self._wait_s, self._hung_s = wait_s, hung_s
        self._turn = threading.Condition()
        self._answer: Answer | Exception = Answer()
        self._gpus: tuple[GpuSample, ...] = ()
        self._asked_at: float | None = None
        self._late = False
        self._looking = self._programs = True
        self._over = False
        self._thread: threading.Thread | None = None

    def ask(self, *, looking: bool, programs: bool) -> Answer:
        """The cards just now. While the driver does not answer, they are "silent", and `state` says why."""
        with self._turn:
            fresh = self._asked_at is None
            if fresh and not self._late:
                self._asked_at, self._looking, self._programs = time.monotonic(), looking, programs
                self._begin()
                self._turn.notify_all()
            # Who was waited for once is not waited for again: processor and memory are shown meanwhile.
            answered = self._turn.wait_for(lambda: self._asked_at is None, self._wait_s if fresh else 0)
            self._late = not answered
            if not answered:
                waited = time.monotonic() - (self._asked_at or 0.0)
                known = self._gpus or self._nvml.named()
                silent = tuple(gpu if gpu.state == "gone" else replace(gpu, state="silent") for gpu in known)
                return Answer(state="hung" if waited >= self._hung_s else "slow", gpus=silent)
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
        with self._turn:
            self._over = True
            self._turn.notify_all()
        if self._thread is not None:
            self._thread.join(0.0 if self._asked_at is not None else self._wait_s)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="nvml", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            while self._wait():
                try:
                    gpus = self._nvml.sample(looking=self._looking, programs=self._programs)
                    answer: Answer | Exception = Answer(state=self._nvml.state, driver=self._nvml.driver, gpus=gpus)
                except Exception as error:  # noqa: BLE001 - raised where it was asked
                    answer = error
                with self._turn:
                    self._answer, self._asked_at = answer, None
                    self._turn.notify_all()
        finally:
            self._nvml.close()

    def _wait(self) -> bool:
        """Until somebody asks; False once it is over."""
        with self._turn:
            self._turn.wait_for(lambda: self._over or self._asked_at is not None)
            return not self._over
