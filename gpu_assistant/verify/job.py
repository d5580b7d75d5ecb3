"""Proves an environment: asks its folder, uv, and `child.py` running in its own Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import json
from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.names import called
from ..core.recommendation import Recommendation
from ..core.results import Check, Checks, CheckState, Verdict
from ..system.json_lines import Patience, run_child
from .packages import packages_agree

if TYPE_CHECKING:
    from ..system.base import System

CHILD = Path(__file__).with_name("child.py")
TENSORFLOW_CHILD = Path(__file__).with_name("child_tensorflow.py")
MANIFEST = "gpu-assistant.json"
# Its first word comes before anything heavy is loaded, and uv has just started the same interpreter.
FIRST_WORD_S = 30.0

TORCH_IDS = (
    "torch-import",
    "torch-variant",
    "cpu-compute",
    "torch-cuda",
    "cuda-version",
    "device-query",
    "device-compute",
    "cudnn",
    "copy-bandwidth",
)
# In the order in which they build on each other.
CHECK_IDS = ("environment", "packages", "python", *TORCH_IDS)
# Told only where they mean something: on Windows, and where TensorFlow was installed.
TENSORFLOW_IDS = ("tensorflow-import", "tensorflow-compute", "tensorflow-devices")
KNOWN_IDS = (*CHECK_IDS, "visual-cpp", *TENSORFLOW_IDS)


class _Manifest(Struct, frozen=True):
    recommendation: Recommendation | None = None


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child."""

    begin: str | None = None
    check: Check | None = None
    end: bool = False


class VerifyJob:
    """Looks at one environment. News are `Check`s, as they come.

    `time_limit` in seconds is for everything that runs in the environment: the first import of PyTorch from a
    slow disk, scanned on the way, takes a minute. A Python that has not said its first word after `first_word`
    seconds, before it loads anything heavy, never will.
    """

    def __init__(
        self, environment: Path, system: System, *, time_limit: float = 300.0, first_word: float = FIRST_WORD_S
    ) -> None:
        self.environment = environment
        self._system = system
        self._time_limit, self._first_word = time_limit, first_word

    def run(self, context: JobContext[Any]) -> Checks:
        """All checks; what is broken is a failed check.

        Raises AppError("environment-missing") where there is no such folder, and Cancelled.
        """
        if not self.environment.is_dir():
            raise AppError("environment-missing", path=str(self.environment))
        found: list[Check] = []

        def report(check: Check) -> None:
            found.append(check)
            context.report(check)

        context.check_cancelled()
        interpreter = self._system.environment_python(self.environment)
        recommendation, check = self._environment(interpreter)
        flow = recommendation.tensorflow if recommendation is not None else None
        report(check)
        if check.state != "fail":
            report(packages_agree(self._system, interpreter, context))
            self._in_its_python([interpreter, CHILD, *_expectations(recommendation)], "python", report, context)
            if flow is not None:
                words = ["--version", flow.version, *(["--gpu"] if flow.gpu else [])]
                self._in_its_python([interpreter, TENSORFLOW_CHILD, *words], TENSORFLOW_IDS[0], report, context)
        done = {check.id for check in found}
        for check_id in _ids(recommendation):
            if check_id not in done:
                report(_check(check_id, "skip", reason="@verify.reason.earlier"))
        return Checks(schema="gpu-assistant/checks/1", verdict=verdict(found), checks=tuple(found))

    def _environment(self, interpreter: Path) -> tuple[Recommendation | None, Check]:
        """What install wrote down, if anything, and whether the folder is a Python environment at all."""
        place = str(self.environment)
        marks = (self.environment / "pyvenv.cfg", self.environment / "conda-meta")
        if not interpreter.is_file() or not any(mark.exists() for mark in marks):
            return None, _check("environment", "fail", value=place, reason="@verify.reason.no-interpreter")
        try:
            manifest = json.decode((self.environment / MANIFEST).read_bytes(), _Manifest)
        except FileNotFoundError:
            # An environment that somebody else made is as good as ours.
            return None, _check("environment", "pass", value=place)
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return None, _check("environment", "warn", value=place, reason="@verify.reason.record-unreadable")
        return manifest.recommendation, _check("environment", "pass", value=place)

    def _in_its_python(
        self,
        words: list[str | Path],
        stage: str,
        report: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """Run a program in the environment's Python; `stage` is laid to it where it dies before it said a word."""
        ended = False
        told: set[str] = set()
        cards = _Cards()
        patience = Patience(context.cancel, self._first_word)

        def line(news: _Line) -> None:
            nonlocal stage, ended
            patience.give(math.inf)
            ended = ended or news.end
            if news.begin in KNOWN_IDS:
                stage = str(news.begin)
            if news.check is not None and news.check.id in KNOWN_IDS:
                told.add(news.check.id)
                report(cards.named(news.check))

        try:
            finished = run_child(
                self._system,
                words,
                _Line,
                line,
                timeout=self._time_limit,
                cancel=patience,
                log=context.log,
            )
        except Cancelled:
            if patience.cancelled:
                raise
            report(_check(stage, "fail", reason=_STOPPED["program-timeout"]))
            return
        except AppError as error:
            if error.code not in _STOPPED:
                raise
            report(_check(stage, "fail", reason=_STOPPED[error.code]))
            return
        if not ended:
            reason = "@verify.reason.crashed" if finished.code or told else "@verify.reason.garbage"
            report(_check(stage, "fail", reason=reason))


class _Cards:
    """Calls each card as everywhere: by its name, of several with its number first."""

    def __init__(self) -> None:
        self._several = False
        self._names: dict[str, str] = {}

    def named(self, check: Check) -> Check:
        """A check of the child's; how many cards there are and their names come with the first ones."""
        count, device, name = (check.data.get(key) for key in ("devices", "device", "name"))
        self._several = count > 1 if isinstance(count, int) else self._several
        if not isinstance(device, str):
            return check
        case = {"case": "named"} if check.id == "device-query" and isinstance(name, str) else {}
        if isinstance(name, str):
            self._names[device] = name
        by = called(device, self._names.get(device), several=self._several)
        return replace(check, data={**check.data, "device": by, **case})


_STOPPED = {
    "program-endless": "@verify.reason.garbage",
    "program-timeout": "@verify.reason.timeout",
    "program-missing": "@verify.reason.not-started",
    "program-refused": "@verify.reason.not-started",
}


def _ids(recommendation: Recommendation | None) -> Iterator[str]:
    """What is told of an environment in any case."""
    without = recommendation is not None and recommendation.pytorch is None
    yield from (check_id for check_id in CHECK_IDS if not (without and check_id in TORCH_IDS))
    if recommendation is not None and recommendation.tensorflow is not None:
        yield from TENSORFLOW_IDS


def _expectations(recommendation: Recommendation | None) -> list[str]:
    """The child's arguments: what install had decided."""
    if recommendation is None:
        return []
    torch = recommendation.pytorch
    alone = ["--without-torch"] if torch is None else []
    pairs = {
        "--python": recommendation.python,
        "--torch": torch.version if torch else None,
        "--variant": torch.variant if torch else None,
        "--cuda": torch.cuda if torch else None,
    }
    return [*alone, *(word for name, value in pairs.items() if value is not None for word in (name, value))]


def _check(check_id: str, state: CheckState, *, value: str | None = None, reason: str | None = None) -> Check:
    return Check(
        id=check_id, state=state, value=value, data={"value": value, "expected": None, "reason": reason, "device": None}
    )


def verdict(checks: list[Check]) -> Verdict:
    """The worst state; skipped checks do not count."""
    states = {check.state for check in checks}
    return "fail" if "fail" in states else "warn" if "warn" in states else "pass"
