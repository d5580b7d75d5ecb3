"""The main window: Home, Monitor, Benchmark, Settings."""
