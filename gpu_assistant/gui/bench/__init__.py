"""The benchmark page: running a benchmark, its result, exports, and the memory estimate."""
