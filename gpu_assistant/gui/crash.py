"""What Python was doing when the process died of a fault that no exception tells of: kept for the next start."""

from __future__ import annotations

import faulthandler
import logging
from pathlib import Path
from typing import IO

from ..core.log import redact_home

log = logging.getLogger(__name__)

ACTIVE_FILE, CRASH_FILE = "window-now.txt", "crash.txt"
MAX_REPORT_BYTES = 200_000  # a hundred threads of a hundred lines each would be more than anybody reads


class CrashReport:
    """From `begin` to `end` a file in `folder` waits for the last words of this process; an end as it should be leaves
    none. Only one process at a time may use a folder. Where it cannot be written, nothing is kept, and nothing breaks.
    """

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self._active_path, self._crash_path = folder / ACTIVE_FILE, folder / CRASH_FILE
        self._home = Path.home() if home is None else home
        self._file: IO[bytes] | None = None

    def start(self) -> Path | None:
        """Wait from now on; the report of the last run, where that one crashed."""
        report = None
        try:
            self._active_path.parent.mkdir(parents=True, exist_ok=True)
            report = self._save_last_crash()
            self._file = self._active_path.open("wb", buffering=0)
        except OSError as error:
            log.warning("no report would be kept of a crash: %s", error)
            return report
        faulthandler.enable(self._file)
        return report

    def discard(self) -> None:
        """The process is about to be ended from outside. What was written so far took no process down: on Windows a
        fault is written down that another part then deals with.
        """
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError as error:
                log.warning("%s stays as it is: %s", self._active_path.name, error)

    def stop(self) -> None:
        """All went well."""
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        try:
            self._active_path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s stays: %s", self._active_path.name, error)

    def _save_last_crash(self) -> Path | None:
        """An empty file is of a process that was ended from outside, or lost its power: nothing to tell."""
        if not self._active_path.is_file():
            return None
        with self._active_path.open("rb") as file:
            text = file.read(MAX_REPORT_BYTES).decode("ascii", "replace")
        if not text.strip():
            return None
        if len(text) == MAX_REPORT_BYTES:  # half a line might hold half of the home folder's name
            text = text[: text.rfind("\n") + 1]
        self._crash_path.write_text(redact_home(text, self._home), encoding="utf-8")
        log.error("the last run crashed: see %s", self._crash_path.name)
        return self._crash_path
