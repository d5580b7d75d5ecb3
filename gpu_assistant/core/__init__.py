"""Types that all packages share: data classes, errors, paths, settings, jobs."""
