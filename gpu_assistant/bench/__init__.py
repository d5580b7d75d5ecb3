"""The benchmark. `BenchmarkJob` runs here; the package `child` measures, in the environment's own Python."""
