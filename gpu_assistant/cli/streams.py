"""stdout and stderr as byte streams: what an old code page cannot show, and what happens when writing fails."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TextIO

from ..core.errors import AppError, os_error_text

# Characters that old code pages lack (a pipe on Windows), and how their users write them; all others become "?".
ASCII_REPLACEMENTS = {"✓": "+", "✗": "x", "■": "#", "–": "-", "—": "-", "…": "...", "•": "*", "·": "-"}
ERROR_HANDLER = "gpu-assistant-plain"


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(ASCII_REPLACEMENTS.get(letter, "?") for letter in characters), error.end


codecs.register_error(ERROR_HANDLER, _replace_unencodable)


def allow_any_character() -> None:
    """Let stdout and stderr replace characters that their code page lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        # pythonw has no streams at all.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ERROR_HANDLER)


def stdout_encoding() -> str:
    """The encoding of text for people on stdout."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def write_stdout(data: bytes = b"") -> None:
    """Write and flush, together with what was printed before.

    Raises AppError("output-unwritable"), and BrokenPipeError where the reader has gone (`… | head`).
    """
    if sys.stdout is None:  # closed by whoever started us, or pythonw
        raise AppError("output-unwritable", detail="@os.closed")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise AppError("output-unwritable", detail=os_error_text(error)) from error


def write_stderr(text: str, *, end: str = "\n") -> None:
    """Print for people. A stderr that is closed or full changes neither the work nor the exit code."""
    if sys.stderr is None:  # print() would take stdout in its place
        return
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def discard_stdout() -> None:
    """Send what is still buffered for stdout nowhere: the interpreter would try again to write it at exit."""
    if sys.stdout is not None:
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)
