"""The program's log: five files of at most 1 MB, in which "~" stands for the user's home folder.

A module of its own, because `logging` takes as long to load as all else that `--help` needs of this room.
"""

from __future__ import annotations

import logging
from pathlib import Path

from .errors import AppError
from .ownership import claim_folder
from .paths import home_dir

LOG_MAX_BYTES = 1_000_000
LOG_FILE_COUNT = 5


class RedactingFormatter(logging.Formatter):
    """Writes "~" for the home folder, so that a log can be shown to others."""

    def __init__(self, home: Path) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._home = home

    def format(self, record: logging.LogRecord) -> str:
        """The record's line with every home path shortened."""
        return redact_home(super().format(record), self._home)


class LogFile(logging.Handler):
    """The log in `folder`. What rotates its files is loaded by the first line: the standard library's module for it
    loads sockets, pickles and queues, which was a quarter of what the window's first paint took beside an empty one's.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / "gpu-assistant.log"
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        if self._file is None:
            from .log_file import SharedFileHandler

            self._file = SharedFileHandler(
                self._path, maxBytes=LOG_MAX_BYTES, backupCount=LOG_FILE_COUNT - 1, encoding="utf-8", delay=True
            )
            self._file.setFormatter(self.formatter)
        self._file.handle(record)

    def close(self) -> None:
        """Close the file; another line would open it again."""
        if self._file is not None:
            self._file.close()
        super().close()


def redact_home(text: str, home: Path) -> str:
    """The text with "~" for the home folder, also where letters beyond ASCII are written as their numbers."""
    home_texts = {str(home), home.as_posix()} - {"/", "\\", "."}
    for each in home_texts | {each.encode("ascii", "backslashreplace").decode() for each in home_texts}:
        text = text.replace(each, "~")
    return text


def start_logging(folder: Path, *, verbose: bool) -> None:
    """Log to `folder`; without a writable folder of ours nothing is logged, and nothing breaks for it."""
    root = logging.getLogger()
    root.setLevel(logging.DEBUG if verbose else logging.INFO)
    try:
        claim_folder(folder.parent)
        if not claim_folder(folder):
            raise AppError("folder-not-ours", path=str(folder))
        handler: logging.Handler = LogFile(folder)
    except (OSError, AppError):
        handler = logging.NullHandler()
    handler.setFormatter(RedactingFormatter(home_dir()))
    root.addHandler(handler)
    # Errors of logging (disk full) print no traceback; operations that need the disk report it.
    logging.raiseExceptions = False
    # Libraries log every request at DEBUG.
    logging.getLogger("urllib3").setLevel(logging.INFO)
