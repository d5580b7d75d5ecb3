"""The result of a benchmark on the page, and its texts."""
