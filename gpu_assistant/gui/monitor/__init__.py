"""The monitor page, its sampling thread and its plots; the live values of Home."""
