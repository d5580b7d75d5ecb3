"""What Python was doing when the process died of a fault that no exception tells of: kept for the next start."""

from __future__ import annotations

import faulthandler
import logging
from pathlib import Path
from typing import IO

from ..core.log import without_home

log = logging.getLogger(__name__)

NOW, KEPT = "window-now.txt", "crash.txt"
MOST_BYTES = 200_000  # a hundred threads of a hundred lines each would be more than anybody reads


class CrashReport:
    """From `begin` to `end` a file in `folder` waits for the last words of this process; an end as it should be leaves
    none. Only one process at a time may use a folder. Where it cannot be written, nothing is kept, and nothing breaks.
    """

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self._now, self._kept = folder / NOW, folder / KEPT
        self._home = Path.home() if home is None else home
        self._file: IO[bytes] | None = None

    def begin(self) -> Path | None:
        """Wait from now on; the report of the last run, where that one crashed."""
        kept = None
        try:
            self._now.parent.mkdir(parents=True, exist_ok=True)
            kept = self._keep()
            self._file = self._now.open("wb", buffering=0)
        except OSError as error:
            log.warning("no report would be kept of a crash: %s", error)
            return kept
        faulthandler.enable(self._file)
        return kept

    def survived(self) -> None:
        """The process is about to be ended from outside. What was written so far took no process down: on Windows a
        fault is written down that another part then deals with.
        """
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError as error:
                log.warning("%s stays as it is: %s", self._now.name, error)

    def end(self) -> None:
        """All went well."""
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        try:
            self._now.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s stays: %s", self._now.name, error)

    def _keep(self) -> Path | None:
        """An empty file is of a process that was ended from outside, or lost its power: nothing to tell."""
        if not self._now.is_file():
            return None
        with self._now.open("rb") as file:
            words = file.read(MOST_BYTES).decode("ascii", "replace")
        if not words.strip():
            return None
        if len(words) == MOST_BYTES:  # half a line might hold half of the home folder's name
            words = words[: words.rfind("\n") + 1]
        self._kept.write_text(without_home(words, self._home), encoding="utf-8")
        log.error("the last run crashed: see %s", self._kept.name)
        return self._kept
