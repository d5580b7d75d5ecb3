"""Where words go: results to stdout, progress and complaints to stderr; with --json stdout is JSON alone.

How texts come out where the code page is an old one (a pipe on Windows): as far as it can, never broken.
"""

from __future__ import annotations

import codecs
import sys
from typing import Any

from ..core import json
from ..core.errors import AppError, Cancelled, RebootRequired, os_error_text
from ..core.plan import EndEvent, EndState, Event, LogEvent
from ..core.types import Value
from ..texts.localized import Texts

# What an old code page lacks, as its users write it; everything else becomes "?".
ASCII_REPLACEMENTS = {"✓": "+", "✗": "x", "■": "#", "–": "-", "—": "-", "…": "...", "•": "*", "·": "-"}
ERROR_HANDLER = "gpu-assistant-plain"


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(ASCII_REPLACEMENTS.get(letter, "?") for letter in characters), error.end


codecs.register_error(ERROR_HANDLER, _replace_unencodable)


class Output:
    """One call's way of speaking."""

    def __init__(self, texts: Texts, *, json: bool, quiet: bool) -> None:
        self.texts = texts
        self.json = json
        self.quiet = quiet
        self._result_written = False

    def translate(self, code: str, /, **data: Value) -> str:
        """A text of the command line's own."""
        return self.texts.translate(f"cli.{code}", data)

    def write_line(self, text: str = "") -> None:
        """One line of the result for people."""
        self._write(text.encode(sys.stdout.encoding or "utf-8", errors=ERROR_HANDLER) + b"\n")

    def write_json(self, value: Any) -> None:  # noqa: ANN401 - any struct of ours
        """One JSON object on one line, UTF-8 whatever the console thinks, and out at once."""
        self._result_written = True
        self._write(json.encode(value) + b"\n")

    def write_error(self, error: AppError) -> None:
        """Why there is no result, as the JSON object in its place: the text's code, its figures and the sentence.

        An answer that was given, of what was found until it failed, stays the only one.
        """
        if self._result_written:
            return
        document = {"schema": "gpu-assistant/error/1", "code": error.code, "exit": error.exit_code, "data": error.data}
        self.write_json({**document, "text": self.texts.error_text(error)})

    def write_event(self, event: Event) -> None:
        """What a job tells, one JSON object a line; its log is none of it."""
        if not isinstance(event, LogEvent):
            self._result_written = self._result_written or isinstance(event, EndEvent)
            self._write(json.encode(self.texts.localize_event(event)) + b"\n")

    def write_end_event(self, error: AppError, environment: str | None = None) -> None:
        """The last event, where something failed before a job could tell it."""
        if self._result_written:
            return
        state: EndState = "cancelled" if isinstance(error, Cancelled) else "failed"
        if isinstance(error, RebootRequired):
            state = "reboot-needed"
        message = error.message
        self.write_event(EndEvent(state=state, env=environment, code=message.code, data=message.data))

    def flush(self) -> None:
        """Get out what was printed past this class. Raises AppError."""
        self._write(b"")

    def _write(self, data: bytes) -> None:
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise AppError("output-unwritable", detail=os_error_text(error)) from error

    def write_note(self, message: str) -> None:
        """A word beside the result, for people only."""
        if not self.quiet:
            print(message, file=sys.stderr)

    def write_table(self, rows: list[tuple[str, str]]) -> None:
        """Two columns; Chinese characters take two cells."""
        width = max((display_width(name) for name, _ in rows), default=0)
        for name, value in rows:
            first, *continuation = value.split("\n")
            self.write_line(f"{name}{' ' * (width - display_width(name))}  {first}")
            for extra_line in continuation:
                self.write_line(" " * (width + 2) + extra_line)


def display_width(text: str) -> int:
    """How many terminal cells a text takes."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
