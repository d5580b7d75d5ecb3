"""Where text goes: results to stdout, progress and errors to stderr; with --json stdout holds nothing but JSON."""

from __future__ import annotations

from typing import Any

from ..core import json
from ..core.errors import AppError, Cancelled, RebootRequired
from ..core.plan import EndEvent, EndState, Event, LogEvent
from ..core.types import Value
from ..texts.localized import Texts
from .streams import ERROR_HANDLER, stdout_encoding, write_stderr, write_stdout


class Output:
    """The output of one call: its language, and whether it is JSON or quiet. Writing raises AppError."""

    def __init__(self, texts: Texts, *, json: bool, quiet: bool) -> None:
        self.texts = texts
        self.json = json
        self.quiet = quiet
        self._result_written = False

    def translate(self, code: str, /, **data: Value) -> str:
        """The text `cli.<code>`."""
        return self.texts.translate(f"cli.{code}", data)

    def write_line(self, text: str = "") -> None:
        """One line of the result for people."""
        write_stdout(text.encode(stdout_encoding(), errors=ERROR_HANDLER) + b"\n")

    def write_json(self, value: Any) -> None:  # noqa: ANN401 - any struct of ours
        """One JSON object on one line, as UTF-8 whatever the console's encoding, flushed at once."""
        self._result_written = True
        write_stdout(json.encode_for_display(value) + b"\n")

    def write_error(self, error: AppError) -> None:
        """The JSON object in place of a result: the error's code, its values and its text.

        Nothing is written after a result, even one that is incomplete because of this error.
        """
        if self._result_written:
            return
        document = {"schema": "gpu-assistant/error/1", "code": error.code, "exit": error.exit_code, "data": error.data}
        self.write_json({**document, "text": self.texts.error_text(error)})

    def write_event(self, event: Event) -> None:
        """An event of a job as one JSON object on one line; lines of its log are left out."""
        if not isinstance(event, LogEvent):
            self._result_written = self._result_written or isinstance(event, EndEvent)
            write_stdout(json.encode_for_display(self.texts.localize_event(event)) + b"\n")

    def write_end_event(self, error: AppError, environment: str | None = None) -> None:
        """The last event of a job that failed before it could report its end."""
        if self._result_written:
            return
        state: EndState = "cancelled" if isinstance(error, Cancelled) else "failed"
        if isinstance(error, RebootRequired):
            state = "reboot-needed"
        message = error.message
        self.write_event(EndEvent(state=state, env=environment, code=message.code, data=message.data))

    def write_note(self, message: str) -> None:
        """A line for people beside the result, on stderr."""
        if not self.quiet:
            write_stderr(message)

    def write_table(self, rows: list[tuple[str, str]]) -> None:
        """Two columns; a value of several lines stays in its column."""
        width = max((display_width(name) for name, _ in rows), default=0)
        for name, value in rows:
            first, *continuation = value.split("\n")
            self.write_line(f"{name}{' ' * (width - display_width(name))}  {first}")
            for extra_line in continuation:
                self.write_line(" " * (width + 2) + extra_line)


def display_width(text: str) -> int:
    """The number of terminal cells of a text: a Chinese character takes two."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
