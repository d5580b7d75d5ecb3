"""Which alarms send the user to the health test, and to which level of it."""

from __future__ import annotations

ADVISED_TEST_LEVEL = 2
# The alarms whose advice names the test; a test holds this to resources/texts/health.json.
ALARMS_ADVISING_TEST = frozenset({"memory-errors", "memory-errors-before", "memory-mended", "xid-card", "xid-memory", "xid-program"})
