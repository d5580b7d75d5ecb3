"""The words that every other room speaks: data classes, errors, paths, settings, jobs."""
