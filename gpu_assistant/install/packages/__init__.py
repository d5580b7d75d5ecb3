"""Python packages: requirements, resolving, lock file, sizes; uv and conda."""
