"""The rotating files of the log (`log.py`)."""

from __future__ import annotations

from logging.handlers import RotatingFileHandler


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
