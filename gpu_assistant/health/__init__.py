"""Is the card well? Rules over what the monitor sees, and graded tests that make it work."""
