"""Where words go: results to stdout, progress and complaints to stderr; with --json stdout is JSON alone."""

from __future__ import annotations

import sys
from typing import Any

from ..core import json
from ..core.errors import AppError, Cancelled, RebootNeeded
from ..core.message import Value
from ..core.plan import EndEvent, EndState, Event, LogEvent
from ..core.refusal import why
from ..texts import Texts
from .plain import AS_FAR_AS_IT_CAN


class Output:
    """One call's way of speaking."""

    def __init__(self, texts: Texts, *, json: bool, quiet: bool) -> None:
        self.texts = texts
        self.json = json
        self.quiet = quiet
        self._ended = False

    def say(self, code: str, /, **data: Value) -> str:
        """A text of the command line's own."""
        return self.texts.say(f"cli.{code}", data)

    def line(self, text: str = "") -> None:
        """One line of the result for people."""
        self._write(text.encode(sys.stdout.encoding or "utf-8", errors=AS_FAR_AS_IT_CAN))

    def value(self, value: Any) -> None:  # noqa: ANN401 - any struct of ours
        """One JSON object on one line, UTF-8 whatever the console thinks, and out at once."""
        self._ended = True
        self._write(json.encode(value))

    def refusal(self, error: AppError) -> None:
        """Why there is no result, as the JSON object in its place: the text's code, its figures and the sentence.

        An answer that was given, of what was found until it failed, stays the only one.
        """
        if self._ended:
            return
        told = {"schema": "gpu-assistant/error/1", "code": error.code, "exit": error.exit_code, "data": error.data}
        self.value({**told, "text": self.texts.error(error)})

    def event(self, event: Event) -> None:
        """What a job tells, one JSON object a line; its log is none of it."""
        if not isinstance(event, LogEvent):
            self._ended = self._ended or isinstance(event, EndEvent)
            self._write(json.encode(self.texts.event(event)))

    def end(self, error: AppError, environment: str | None = None) -> None:
        """The last event, where something failed before a job could tell it."""
        if self._ended:
            return
        state: EndState = "cancelled" if isinstance(error, Cancelled) else "failed"
        if isinstance(error, RebootNeeded):
            state = "reboot-needed"
        told = error.message
        self.event(EndEvent(state=state, env=environment, code=told.code, data=told.data))

    def _write(self, line: bytes) -> None:
        try:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise AppError("output-unwritable", detail=why(error)) from error

    def note(self, text: str) -> None:
        """A word beside the result, for people only."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def table(self, rows: list[tuple[str, str]]) -> None:
        """Two columns; Chinese characters take two cells."""
        width = max((cells(name) for name, _ in rows), default=0)
        for name, value in rows:
            first, *rest = value.split("\n")
            self.line(f"{name}{' ' * (width - cells(name))}  {first}")
            for more in rest:
                self.line(" " * (width + 2) + more)


def cells(text: str) -> int:
    """How many terminal cells a text takes."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
