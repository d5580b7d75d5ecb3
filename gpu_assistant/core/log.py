"""The program's log: five files of at most 1 MB, in which "~" stands for the user's home folder.

A module of its own, because `logging` takes as long to load as all else that `--help` needs of this room.
"""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
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


class SharedFileHandler(RotatingFileHandler):
    """One log for several processes. Windows renames no file that another one has open: then the log grows meanwhile,
    where the standard library's handler would write nothing, and push the earlier files out one by one.
    """

    def doRollover(self) -> None:
        """Rotate where the file can be renamed."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None  # opened again for the next line
        try:
            self.rotate(self.baseFilename, self.baseFilename)  # a rename that changes nothing
        except OSError:
            return
        super().doRollover()


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
        handler: logging.Handler = SharedFileHandler(
            folder / "gpu-assistant.log",
            maxBytes=LOG_MAX_BYTES,
            backupCount=LOG_FILE_COUNT - 1,
            encoding="utf-8",
            delay=True,
        )
    except (OSError, AppError):
        handler = logging.NullHandler()
    handler.setFormatter(RedactingFormatter(home_dir()))
    root.addHandler(handler)
    # Errors of logging (disk full) print no traceback; operations that need the disk report it.
    logging.raiseExceptions = False
    # Libraries log every request at DEBUG.
    logging.getLogger("urllib3").setLevel(logging.INFO)
