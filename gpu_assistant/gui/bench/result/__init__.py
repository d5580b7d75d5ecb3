"""The result of a benchmark."""
